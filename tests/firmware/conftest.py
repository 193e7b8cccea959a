"""The machines that the firmware runs on, each compiled once, and one way to run frames through them; the software of the host machine."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from harness.study.uses import cost
from tests.firmware.board import Board
from tests.linux_guest import Guest, guest, pack


@dataclass
class Ran:
    """A finished run."""

    status: int
    err: str
    statistics: dict[tuple[str, str], float]

    def value(self, path: str, name: str) -> float:
        return self.statistics[path, name]

    @property
    def sent(self) -> int:
        return int(self.value("checker", "sent"))

    @property
    def received(self) -> int:
        return int(self.value("checker", "received"))


@dataclass
class Machine:
    """A simulator of the network interface, with this firmware in it."""

    simulator: Path
    firmware: Path
    directory: Path
    runs: Iterator[int] = field(default_factory=count)

    def run(self, *options, ok: bool = True, firmware: Path | None = None, timeout: float = 300) -> Ran:
        stats = self.directory / f"stats{next(self.runs)}.json"
        command = [self.simulator, "--quiet", "--watchdog", "20ms", "--stats", stats]
        command += ["--firmware", firmware or self.firmware, *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout)
        if ok:
            assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr[-4000:]}"
        entries = json.loads(stats.read_text())["statistics"] if stats.exists() else []
        return Ran(done.returncode, done.stderr, {(e["path"], e["name"]): e["value"] for e in entries})


@pytest.fixture(scope="session")
def firmware(build_dir: Path) -> Path:
    return build_dir / "firmware/tigon2/tigon2.elf"


@pytest.fixture(scope="session")
def machine(root: Path, build_dir: Path, firmware: Path, tmp_path_factory, optimising) -> Callable[..., Machine]:
    """machine(processors=1, name="tigon2", ...): the simulator with these parameters and a firmware; it also counts what code costs.
    Most tests run the machines that differ in their processors only; the others are optimised if the test is."""
    made: dict[tuple, Machine] = {}

    def make(name: str = "tigon2", **parameters) -> Machine:
        key = tuple(sorted(parameters.items()))
        if key not in made:
            directory = tmp_path_factory.mktemp("machine")
            defines = [f"{name}={value}" for name, value in parameters.items()]
            with nullcontext() if parameters.keys() - {"processors"} else optimising():
                cost.build_simulator(root / "examples/tigon2/tigon2.lss", directory / "simulator", build_dir, defines)
            made[key] = Machine(directory / "simulator", firmware, directory)
        return replace(made[key], firmware=build_dir / f"firmware/{name}/{name}.elf")

    return make


FIRMWARES = {"one": ("tigon2", 1), "parallel": ("tigon2_parallel", 2), "messages": ("tigon2_messages", 1)}


@pytest.fixture(scope="session")
def chip_model(build_dir: Path, made: Callable[..., Path]) -> Path:
    """The functional model of the chip, as a library."""
    return made(build_dir, "lib/tests/libtigon2model.so")


@pytest.fixture(params=FIRMWARES.values(), ids=FIRMWARES)
def board(build_dir: Path, chip_model: Path, request: pytest.FixtureRequest):
    """board(...): a chip that is up, with each firmware."""
    made: list[Board] = []
    name, processors = request.param

    def make(**options) -> Board:
        firmware = build_dir / f"firmware/{name}/{name}.elf"
        made.append(Board(chip_model, firmware, processors=processors, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def software(build_dir: Path) -> Guest:
    return guest(build_dir)


@pytest.fixture
def packed(software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> Callable[..., Guest]:
    """packed(script, program, ...): the software with a script to run and programs of one's own."""
    return lambda script, *programs: pack(software, script, programs, root, build_dir, tmp_path)
