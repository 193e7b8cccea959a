"""Several programs at a time on an out-of-order core: each context executes its own, every instruction compared with the
interpreter of that context when it is committed, on machines from the smallest to eight instructions wide with eight contexts."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.programs import assemble
from tests.isa.streams import random_program
from tests.isa.wide import counted
from tests.sample import sampled, seldom

FIRST = int(os.environ.get("SEED", "1"))
NAMED = {"rv32i": 31, "mips2": 34, "mips32r2": 34}  # registers of each context that have names; 0 is one for all
# Machines: contexts, width, and the rest; `registers` are those beside the programs'.
SMALL = {"entries": 4, "queue": 1, "memory_queue": 1, "registers": 1, "snapshots": 1}
MACHINES: dict[str, dict[str, object]] = {
    "three, smallest": {"contexts": 3, "width": 1, **SMALL},
    "eight, smallest": {"contexts": 8, "width": 8, **SMALL},
    "two": {"contexts": 2, "width": 4, "directions": "tournament"},
    "two, in turn": {"contexts": 2, "width": 2, "entries": 8, "queue": 3, "memory_queue": 2, "registers": 6, "snapshots": 2, "fetch_contexts": 1, "round_robin": "true"},
    "four, walk": {"contexts": 4, "width": 4, "entries": 16, "queue": 4, "registers": 12, "snapshots": 0},
    "five, cached": {"contexts": 5, "width": 4, "caches": "true", "mshrs": 4, "dcache_size": "256 B"},
    "eight": {"contexts": 8, "width": 8},
    "eight, long units": {"contexts": 8, "width": 8, "unit_latency": 3, "fetch_contexts": 3},
}
# Every number of contexts with every width, and with lists, queues and ways to recover in turn.
GRID: dict[str, dict[str, object]] = {
    f"{contexts} of {width}, list {entries}, queue {queue}, {'snapshots' if snapshots else 'walk'}{', cached' if cached else ''}": {
        "contexts": contexts, "width": width, "entries": entries, "queue": queue, "memory_queue": max(1, queue // 2), "registers": min(2 * entries, 6 * queue + width),
        "snapshots": snapshots, "fetch_contexts": min(contexts, 1 + (c + w) % 3), "round_robin": str((c + w) % 2 == 0).lower(),
        **({"caches": "true", "dcache_size": "256 B"} if cached else {}),
    }
    for c, contexts in enumerate((2, 3, 4, 6, 8)) for w, width in enumerate((1, 2, 4, 8)) for k in range(3)
    for entries in [(4, 16, 64)[(c + w + k) % 3]] for queue in [(1, 4, 16)[(c + k) % 3]] for snapshots in [(0, 1, 8)[(w + 2 * k) % 3]] for cached in [(c + 2 * w + k) % 4 == 0]
}  # fmt: skip
ALL = MACHINES | GRID
SEEDS = 35  # programs of each context: 316 contexts in all, 11,060 programs


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[..., Path]:
    """machine(name, instruction set, options...)"""
    directory, built = tmp_path_factory.mktemp("contexts"), {}

    def build(name: str, instruction_set: str = "rv32i", *options: str) -> Path:
        key = (name, instruction_set, *options)
        if key not in built:
            settings = {"checked": "true"} | ALL[name]
            if "registers" in settings:
                settings["registers"] = int(str(settings["registers"])) + NAMED[instruction_set] * int(str(settings["contexts"])) + 1
            if instruction_set != "rv32i":
                settings |= {"processor": "mips_wide_core", "big_endian": str(instruction_set == "mips2").lower()}
            given = [word for key_, value in settings.items() for word in ("-D", f"{key_}={value}")]
            built[key] = directory / f"sim{len(built)}"
            command = [build_dir / "bin" / "lss", "build", root / "examples/wide_core/wide_core.lss", *given, *options, "-o", built[key]]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return built[key]

    return build


def run(simulator: Path, directory: Path, programs: str, *options: object, cycles: int = 2_000_000) -> subprocess.CompletedProcess:
    """Of programs in a directory.  Bounded, so that a core that stands still fails instead of running for ever."""
    command = [simulator, "--program", programs, "--cycles", cycles, "--set", "console.output=printed", *options]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, cwd=directory)


def program(seed: int, instruction_set: str, directory: Path) -> str:
    output = directory / f"{seed}.elf"
    if instruction_set == "rv32i":
        riscv.assemble(riscv.random_program(seed).text, output, "device")
    else:
        assemble(random_program(seed, instruction_set=instruction_set).text, output, instruction_set == "mips2", "device", instruction_set)
    return output.name


def unfriendly(name: str) -> list[str]:
    return ["--set", "jitter=5", "--set", "refuse=0.3"] if "caches" in ALL[name] else []


def follow(name: str, instruction_set: str, first: int, rounds: int, machine: Callable[..., Path], directory: Path) -> None:
    """A program for each context, in each round others."""
    contexts = int(str(ALL[name]["contexts"]))
    for k in range(rounds):
        seeds = range(first + k * contexts, first + (k + 1) * contexts)
        programs = ",".join(program(seed, instruction_set, directory) for seed in seeds)
        done = run(machine(name, instruction_set), directory, programs, *unfriendly(name), "--seed", seeds[0])
        assert done.returncode == 0 and "the program exited" in done.stderr, f"seeds from {seeds[0]} on {name}: {done.stderr}"
        assert counted(done, "compared") == counted(done, "instructions") > 500 * contexts


@pytest.mark.parametrize(("name", "instruction_set"), sampled([("three, smallest", "rv32i"), ("eight", "rv32i"), ("two, in turn", "mips2")], 3, 2))
def test_a_slice_of_the_grid(name: str, instruction_set: str, machine, tmp_path: Path) -> None:
    """SEED=n in the environment starts at another seed."""
    follow(name, instruction_set, FIRST, 2, machine, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", ALL)
def test_the_grid(name: str, machine, tmp_path: Path) -> None:
    """Each machine has programs of its own."""
    number = list(ALL).index(name)
    follow(name, ("rv32i", "mips2", "rv32i", "mips32r2")[number % 4], FIRST + 200_000 + 8 * SEEDS * number, SEEDS, machine, tmp_path)


def test_the_grid_is_one() -> None:
    assert len(GRID) == 5 * 4 * 3 and len(ALL) == len(GRID) + 8
    assert SEEDS * sum(int(str(one["contexts"])) for one in ALL.values()) > 10_000


@pytest.mark.soak  # tests/isa/test_wide_system_contexts.py does it with system control
@pytest.mark.parametrize("name", ["two, in turn", pytest.param("five, cached", marks=pytest.mark.soak), pytest.param("eight", marks=pytest.mark.soak)])
def test_debug_builds_and_restored_runs_do_the_same(name: str, machine, tmp_path: Path) -> None:
    """Statistics and all, and in the cycles in between; each module says when it may sleep."""
    contexts, manners, found = int(str(ALL[name]["contexts"])), unfriendly(name), []
    programs = ",".join(program(FIRST + c, "rv32i", tmp_path) for c in range(contexts))
    for options in ([], ["--debug"]):
        checks = ["--check-idle"] if options else []
        done = run(machine(name, "rv32i", *options), tmp_path, programs, *manners, *checks, "--stats", "stats.csv")
        assert done.returncode == 0, done.stderr
        found.append((tmp_path / "stats.csv").read_text())
    assert found[0] == found[1]
    end = re.findall(r"cycles +(\d+)", done.stdout)[0]
    for cycle in (777, 1500):
        run(machine(name), tmp_path, programs, *manners, "--checkpoint", "saved", cycles=cycle)
        done = run(machine(name), tmp_path, programs, *manners, "--restore", "saved", "--outputs", "continue")
        assert done.returncode == 0 and re.findall(r"cycles +(\d+)", done.stdout)[0] == end, done.stderr


TOGETHER = """
  slli s0, a0, 2
  la s1, flags
  add s0, s0, s1
  addi t0, a0, 1
  sw t0, 0(s0)       # context c says c + 1
  li s2, 4
1: li t1, 0          # and waits until all have
  mv t2, s1
  li t3, 4
2: lw t4, 0(t2)
  add t1, t1, t4
  addi t2, t2, 4
  addi t3, t3, -1
  bnez t3, 2b
  li t5, 10
  bne t1, t5, 1b
  EXIT 0
.data
.balign 64
flags: .word 0, 0, 0, 0
.text
"""


@seldom
def test_contexts_with_one_memory(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Find their number in a0, and what the others stored in memory: none ends before all have begun."""
    given = ["-D", "contexts=4", "-D", "shared_memory=true"]
    simulator = tmp_path / "sim"
    done = subprocess.run([build_dir / "bin" / "lss", "build", root / "examples/wide_core/wide_core.lss", *given, "-o", simulator], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    riscv.assemble(TOGETHER, tmp_path / "x.elf", "device")
    done = run(simulator, tmp_path, "x.elf", cycles=20_000)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    riscv.assemble(TOGETHER.replace("li t5, 10", "li t5, 11"), tmp_path / "x.elf", "device")
    done = run(simulator, tmp_path, "x.elf", cycles=20_000)
    assert done.returncode == 0 and "all cycles were simulated" in done.stderr, "what nobody stores nobody finds"


@pytest.mark.parametrize("option", [["contexts=9"], ["contexts=4", "registers=125"], ["contexts=2", "fetch_contexts=3"]])
def test_what_it_cannot_be(option: list[str], root: Path, build_dir: Path, tmp_path: Path) -> None:
    given = [word for one in option for word in ("-D", one)]
    done = subprocess.run([build_dir / "bin" / "lss", "check", "--netlist-only", root / "examples/wide_core/wide_core.lss", *given], capture_output=True, text=True)
    messages = {"9": "`contexts` is 9", "125": "125 registers of programs need at least 126 physical registers, not 125", "3": "groups of 3 contexts are fetched in a cycle, and there are 2"}
    assert done.returncode == 1 and messages[option[-1].partition("=")[2]] in done.stderr, done.stderr
