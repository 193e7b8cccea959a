"""A place to run studies in: a build directory whose compiler is the stand-in of fake_lss.py."""

import sys
from pathlib import Path

import pytest

from tests.harness.chain import MACHINE, STUDY

FAKE = Path(__file__).with_name("fake_lss.py")


@pytest.fixture
def fake_build(tmp_path: Path) -> Path:
    """A build directory; the machine beside it is machine.lss."""
    (tmp_path / "build" / "bin").mkdir(parents=True)
    lss = tmp_path / "build" / "bin" / "lss"
    lss.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    lss.chmod(0o755)
    (tmp_path / "machine.lss").write_text("")
    return tmp_path / "build"


@pytest.fixture
def place(tmp_path: Path, build_dir: Path) -> Path:
    """A study beside its machine, and a build folder of its own with the real compiler."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "bin").symlink_to(build_dir / "bin")
    (tmp_path / "chain.lss").write_text(MACHINE)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path
