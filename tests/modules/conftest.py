"""Fixtures of the module tests: one bench per worker, so that each netlist is compiled once."""

from pathlib import Path

import pytest

from tests.modules.harness import Bench


@pytest.fixture(scope="session")
def bench(request: pytest.FixtureRequest, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Builds and runs netlists around single modules.

    What the optimiser makes of a module is the same module (tests/examples/test_builds_agree.py), but takes clang three
    times as long: it works only with --optimized, as in make soak, where one run with each module is repeated on a debug
    build.  Debug builds stop at a lane or an index that does not exist and at signals that nobody drove.
    """
    compiler, directory = build_dir / "bin" / "lss", tmp_path_factory.mktemp("modules")
    if request.config.getoption("--optimized"):
        return Bench(compiler, directory, again=["--debug", "-O0"])
    return Bench(compiler, directory, "--debug", "-O0", long=["-O0"])
