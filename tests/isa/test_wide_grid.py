"""Out-of-order cores of every width, list, queue, way to recover and memory execute thousands of random programs, of RV32I and MIPS, each
instruction compared with the interpreter when it is committed; and the two ways to recover commit the same."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.programs import CONSOLE, assemble
from tests.isa.streams import Stream, chained, random_program
from tests.isa.wide import ALL, GRID, builder, counted, run, unfriendly
from tests.sample import sampled, seldom

FIRST = int(os.environ.get("SEED", "1"))
SETS = ("rv32i", "mips2", "mips32r2")  # MIPS II big-endian, MIPS32r2 little-endian
LOGICAL = {"rv32i": 32, "mips2": 35, "mips32r2": 35}
SEEDS = 53  # for each machine of the grid, and each instruction set: 53 * (96 + 14) * (1 + 1) = 11,660 programs


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[..., Path]:
    """machine(name, instruction set)"""
    builders = {}
    for one in SETS:
        processor = [] if one == "rv32i" else ["-D", "processor=mips_wide_core", "-D", f"big_endian={str(one == 'mips2').lower()}"]
        builders[one] = builder(tmp_path_factory.mktemp(one), build_dir, root, LOGICAL[one], *processor)
    return lambda name, instruction_set: builders[instruction_set](name)


def elf_of(text: str, instruction_set: str, output: Path) -> Path:
    if instruction_set == "rv32i":
        return riscv.assemble(text, output, "device")
    return assemble(text, output, instruction_set == "mips2", "device", instruction_set)


def program(seed: int, instruction_set: str) -> Stream:
    return riscv.random_program(seed) if instruction_set == "rv32i" else random_program(seed, instruction_set=instruction_set)


def follow(name: str, instruction_set: str, seeds: range, machine: Callable[..., Path], tmp_path: Path) -> int:
    """Runs random programs, one behind the other, on memory as it is and as it is by chance; how many instructions were compared."""
    elf = elf_of(chained([program(seed, instruction_set) for seed in seeds]), instruction_set, tmp_path / "x.elf")
    compared = 0
    for manners in ([], unfriendly(name)) if unfriendly(name) else ([],):
        done = run(machine(name, instruction_set), elf, *manners, "--seed", seeds[0], cycles=40_000 * len(seeds))
        assert done.returncode == 0 and "the program exited" in done.stderr, f"seeds {seeds} of {instruction_set} on {name}: {done.stderr}"
        assert counted(done, "compared") == counted(done, "instructions") > 400 * len(seeds)
        compared += counted(done, "compared")
    return compared


@pytest.mark.parametrize(("name", "instruction_set"), sampled([
    ("1-wide, list 4, queue 1, walk", "mips32r2"), ("2-wide, list 16, queue 4, walk, slow", "rv32i"), ("8-wide, list 64, queue 16, walk", "mips2"),
], 3))  # fmt: skip
def test_a_slice_of_the_grid(name: str, instruction_set: str, machine, tmp_path: Path) -> None:
    """SEED=n in the environment starts at another seed."""
    follow(name, instruction_set, range(FIRST, FIRST + 10), machine, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", ALL)
def test_the_grid(name: str, machine, tmp_path: Path) -> None:
    """Each machine has programs of its own."""
    number = list(ALL).index(name)
    for instruction_set in ("rv32i", SETS[1 + number % 2]):
        first = FIRST + 100_000 + number * SEEDS
        follow(name, instruction_set, range(first, first + SEEDS), machine, tmp_path)


def test_the_grid_is_one() -> None:
    """Of the names in the quick slice, too: a machine that is not there is an error of the test."""
    assert len(GRID) == 4 * 4 * 3 * 2 and len(ALL) == len(GRID) + 14


COMMITS = """
collector commits on "core.core.list" event retire {
  record <<< fprintf(stderr, "commit %08x %08x %u %08x %08x %u\\n", (unsigned)pc, (unsigned)word, (unsigned)destination, (unsigned)value, (unsigned)address, (unsigned)size); >>>
}
"""


@seldom
@pytest.mark.parametrize("instruction_set", sampled(["rv32i", "mips32r2"], 2))
def test_both_ways_to_recover_commit_the_same(instruction_set: str, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The same instructions with the same results in the same order, and the same registers and memory at the end."""
    (tmp_path / "machine.lss").write_text((root / "examples/wide_core/wide_core.lss").read_text() + COMMITS)
    processor = [] if instruction_set == "rv32i" else ["-D", "processor=mips_wide_core"]
    simulators = []
    for snapshots in (0, 8):
        simulators.append(tmp_path / f"sim{snapshots}")
        given = ["-D", "checked=true", "-D", f"snapshots={snapshots}", "-D", f"registers={LOGICAL[instruction_set] + 32}", *processor]
        done = subprocess.run([build_dir / "bin" / "lss", "build", tmp_path / "machine.lss", *given, "-o", simulators[-1]], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for seed in range(FIRST, FIRST + 5):
        elf = elf_of(program(seed, instruction_set).text, instruction_set, tmp_path / "x.elf")
        found = []
        for simulator in simulators:
            done = run(simulator, elf, "--set", f"console.output={tmp_path / 'printed'}")
            assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
            until_exit = re.split(rf" {CONSOLE + 4:08x} 4\n", done.stderr)[0]
            commits = re.findall(r"^commit .*$", until_exit, re.MULTILINE)
            found.append((commits, (tmp_path / "printed").read_bytes(), counted(done, "mispredicted") > 0))
        assert found[0] == found[1] and len(found[0][0]) > 1000 and found[0][2], f"seed {seed}"
