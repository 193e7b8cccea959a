"""The machine that tests of the MIPS32 core's system share, in both byte orders."""

from pathlib import Path

import pytest

from tests.isa.system_core import build


@pytest.fixture(scope="session")
def systems(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path, optimising) -> dict[bool, Path]:
    """By whether it is big-endian: system_machine.lss, compared in lockstep with the functional processor."""
    directory = tmp_path_factory.mktemp("systems")
    with optimising(True):
        return {big: build(root, build_dir, directory / f"system{big}", "-D", f"big_endian={str(big).lower()}", "-D", "lockstep=true") for big in (True, False)}
