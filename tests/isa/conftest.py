"""What tests of the MIPS32 cores' systems share, in both byte orders: the machine, and the hostile program with its final state."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.hostile import checked, hostile_program
from tests.isa.system_core import build


class Systems(dict[bool, Path]):
    """Machines by whether they are big-endian, each built when it is first asked for."""

    def __init__(self, make: Callable[[bool], Path]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, big: bool) -> Path:
        self[big] = self.make(big)
        return self[big]


@pytest.fixture(scope="session")
def systems(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path, optimising) -> dict[bool, Path]:
    """By whether it is big-endian: system_machine.lss, compared in lockstep with the functional processor."""
    directory = tmp_path_factory.mktemp("systems")

    def make(big: bool) -> Path:
        with optimising():
            return build(root, build_dir, directory / f"system{big}", "-D", f"big_endian={str(big).lower()}", "-D", "checked=true")

    return Systems(make)


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory, build_dir: Path):
    """expected(big): the hostile program and its final state, on the functional system."""
    known: dict[bool, tuple[Path, list[int]]] = {}

    def run(big: bool) -> tuple[Path, list[int]]:
        if big not in known:
            elf = hostile_program(tmp_path_factory.mktemp("hostile") / "hostile.elf", big)
            known[big] = elf, checked(system.on_oracle(elf, big, build_dir, "--limit", "100000000"))
        return known[big]

    return run
