"""Fixtures of the module tests: one bench per worker, so that each netlist is compiled once."""

from pathlib import Path

import pytest

from tests.modules.harness import Bench


@pytest.fixture(scope="session")
def bench(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Builds and runs netlists around single modules."""
    return Bench(build_dir / "bin" / "lss", tmp_path_factory.mktemp("modules"))
