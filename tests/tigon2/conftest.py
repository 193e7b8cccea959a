"""One bench for all tests of the Tigon-2, so that each machine is compiled once."""

from pathlib import Path

import pytest

from tests.modules.harness import Bench
from tests.tigon2.chip import Chip

AS_ELSEWHERE = ("--record", "profile")  # as tests/firmware has it built, so that each machine is optimised once


@pytest.fixture(scope="session")
def bench(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(build_dir / "bin" / "lss", tmp_path_factory.mktemp("tigon2"), "-O0")


@pytest.fixture(scope="session")
def chip(bench: Bench, root: Path) -> Chip:
    """The chip with one scripted processor."""
    return Chip(bench, root)
