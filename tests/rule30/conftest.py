"""The accelerator of examples/rule30 in a bench of its own, whose netlists find the module."""

from pathlib import Path

import pytest

from tests.modules.harness import Bench


@pytest.fixture(scope="session")
def bench(request: pytest.FixtureRequest, root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Debug builds, or with --optimized what users build, repeated on a debug build."""
    finds = ["-I", str(root / "examples/rule30")]
    compiler, directory = build_dir / "bin" / "lss", tmp_path_factory.mktemp("rule30")
    if request.config.getoption("--optimized"):
        return Bench(compiler, directory, *finds, again=["--debug", "-O0", *finds])
    return Bench(compiler, directory, "--debug", "-O0", *finds, long=["-O0", *finds])
