"""A place to run studies in: a build directory whose compiler is the stand-in of fake_lss.py."""

import sys
from pathlib import Path

import pytest

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
