"""A whole core that runs a few lines of assembly, and when each instruction left it."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.programs import TEXT

COLLECTOR = """
collector retired on "core.core.list" event retire {
  record <<< fprintf(stderr, "retired %08x %llu\\n", (unsigned)pc, (unsigned long long)cycle); >>>
}
"""


class Core:
    """examples/wide_core, built once for each set of parameters.

    Calling it runs code and returns the cycles in which so many instructions left the core, from number `first` of the code
    on.  `change` replaces text of the machine.
    """

    def __init__(self, compiler: Path, machine: str, directory: Path, assemble: Callable[[str, Path], Path], **always: object) -> None:
        self.compiler, self.machine, self.directory, self.assemble, self.always = compiler, machine, directory, assemble, always
        self.built: dict[str, Path] = {}
        self.printed = ""
        self.lines: list[tuple[int, int]] = []

    def build(self, change: tuple[str, str] | None, parameters: dict[str, object]) -> Path:
        words = [word for name, value in parameters.items() for word in ("-D", f"{name}={value}")]
        key = f"{' '.join(words)} {change}"
        if key not in self.built:
            text = self.machine
            if change:
                assert text.count(change[0]) == 1
                text = text.replace(*change)
            source = self.directory / f"machine{len(self.built)}.lss"
            source.write_text(text)
            self.built[key] = source.with_suffix("")
            done = subprocess.run([self.compiler, "build", source, *words, "-o", self.built[key]], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return self.built[key]

    def __call__(self, code: str, first: int = 0, count: int = 1, change: tuple[str, str] | None = None, **parameters: object) -> list[int]:
        simulator = self.build(change, self.always | parameters)
        elf = self.assemble(code + "\nEXIT 0\n", self.directory / "x.elf")
        done = subprocess.run([simulator, "--program", elf, "--cycles", "400000"], capture_output=True, text=True)
        assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
        self.printed = done.stdout + done.stderr
        self.lines = [(int(pc, 16), int(cycle)) for pc, cycle in re.findall(r"^retired (\w{8}) (\d+)$", done.stderr, re.MULTILINE)]
        return [cycle for _, cycle in self.lines[first : first + count]]

    def passed(self, number: int) -> list[int]:
        """Cycles in which instruction `number` of the code left the core in the run before, each time that it did."""
        return [cycle for pc, cycle in self.lines if pc == TEXT + 4 * number]

    def counted(self, path: str, name: str) -> int:
        """A statistic of the run before; those that are 0 are not printed."""
        return int((re.findall(rf"^{re.escape(path)} +{name} +(\d+)", self.printed, re.MULTILINE) or ["0"])[0])


def steps(cycles: list[int]) -> set[int]:
    return {b - a for a, b in zip(cycles, cycles[1:])}


@pytest.fixture(scope="module")
def retired(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Core:
    machine = (root / "examples/wide_core/wide_core.lss").read_text() + COLLECTOR
    return Core(build_dir / "bin/lss", machine, tmp_path_factory.mktemp("cycles"), lambda code, path: riscv.assemble(code, path, "device"))
