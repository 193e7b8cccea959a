"""The machines of the 10 Gb/s NIC, each compiled once, with the firmware in them and its cycles counted by address."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.firmware.conftest import Machine


@pytest.fixture(scope="session")
def nic10g(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Machine]:
    """nic10g(cores=8, ...): the simulator with these parameters."""
    made: dict[tuple, Machine] = {}

    def make(**parameters) -> Machine:
        key = tuple(sorted(parameters.items()))
        if key not in made:
            directory = tmp_path_factory.mktemp("nic10g")
            command = [
                build_dir / "bin/lss",
                "build",
                root / "examples/nic10g/nic10g.lss",
                "-o",
                directory / "simulator",
            ]
            command += [f"-D{name}={value}" for name, value in parameters.items()]
            command += ["--collect", root / "tests/nic10g/cycles.lss"]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            made[key] = Machine(directory / "simulator", build_dir / "firmware/nic10g/nic10g.elf", directory)
        return made[key]

    return make
