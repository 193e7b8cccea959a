"""The machines that the firmware runs on, each compiled once, and one way to run frames through them."""

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

# Counts, per instruction address, what processor A executes; appended to the machine's own text.
PROFILE = """
collector profile on "nic.cpu[0].pipeline.writeback" event retire {
  declare <<< uint64_t executed[0x8000]; >>>
  init    <<< for (int i = 0; i < 0x8000; i++) self->executed[i] = 0; >>>
  record  <<< self->executed[(pc >= 0xc00000 ? 0x4000 : 0) + (pc >> 2 & 0x3fff)]++; >>>
  report  <<<
    for (uint32_t i = 0; i < 0x8000; i++)
      if (self->executed[i])
        fprintf(stderr, "executed %#x %llu\\n", i < 0x4000 ? i * 4 : 0xc00000 + (i - 0x4000) * 4,
                (unsigned long long)self->executed[i]);
  >>>
}
"""


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
def machine(root: Path, build_dir: Path, firmware: Path, tmp_path_factory) -> Callable[..., Machine]:
    """machine(cpus=1, name="tigon2", ...): the simulator with these parameters and a firmware; it also counts instructions."""
    made: dict[tuple, Machine] = {}

    def make(name: str = "tigon2", **parameters) -> Machine:
        key = tuple(sorted(parameters.items()))
        if key not in made:
            directory = tmp_path_factory.mktemp("machine")
            source = directory / "profiled.lss"
            source.write_text((root / "examples/tigon2/tigon2.lss").read_text() + PROFILE)
            options = [f"-D{name}={value}" for name, value in parameters.items()]
            options += ["-I", str(root / "examples/tigon2")]
            command = [build_dir / "bin/lss", "build", source, "-o", directory / "simulator", *options]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            made[key] = Machine(directory / "simulator", firmware, directory)
        return replace(made[key], firmware=build_dir / f"firmware/{name}/{name}.elf")

    return make
