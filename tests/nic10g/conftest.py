"""The machines of the 10 Gb/s NIC, each compiled once, with the firmware in them; they can profile it."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from harness.run import compiler
from harness.study.uses import cost
from tests.firmware.conftest import Machine


@pytest.fixture(scope="session")
def nic10g(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory, optimising) -> Callable[..., Machine]:
    """nic10g(processors=8, ...): the simulator with these parameters, optimised if only the number of cores is given, and that is not 1."""
    made: dict[tuple, Machine] = {}

    def make(**parameters) -> Machine:
        key = tuple(sorted(parameters.items()))
        if key not in made:
            directory = tmp_path_factory.mktemp("nic10g")
            defines = [f"{name}={value}" for name, value in parameters.items()]
            machine, simulator = root / "examples/nic10g/nic10g.lss", directory / "simulator"
            if parameters == {"processors": 1}:  # as docs/tutorial_firmware.md has it built
                compiler.lss(build_dir, "build", machine, "-D", "processors=1", "-o", simulator)
            else:
                with nullcontext() if parameters.keys() - {"processors"} else optimising():
                    cost.build_simulator(machine, simulator, build_dir, defines)
            made[key] = Machine(directory / "simulator", build_dir / "firmware/nic10g/nic10g.elf", directory)
        return made[key]

    return make
