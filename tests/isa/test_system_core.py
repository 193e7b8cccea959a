"""mips32r2_core with caches executes what the architecture says: every instruction of programs, on mapped pages; the directed
cases of the system; random programs under a handler of every exception, all compared in lockstep.  Memory answers after 1, 9, 40 and random cycles."""

import os
import re
from pathlib import Path

import pytest

from tests.isa import cases, system
from tests.isa.system_cases import all_cases
from tests.isa.system_core import KSEG0_CACHED, LI, MAPPED, build, large_ways, on_core
from tests.isa.system_streams import random_system_program
from tests.sample import sampled

FIRST = int(os.environ.get("SEED", "1"))
# Little-endian are the hosts of tests/host/test_host.py and the wide core of test_wide_system.py; this machine is so in the soak.
BYTE_ORDERS = pytest.mark.parametrize("big", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["big", "little"])
MEMORIES = {"fast": [], "slow": ["--set", "delay.latency=9"], "slower": ["--set", "delay.latency=40"],
            "random": ["--set", "delay.jitter=20", "--set", "delay.refuse=0.3"]}  # fmt: skip
NAMES = [name for name in cases.NAMES if cases.set_of(name) == "mips32r2" or name in cases.names_of("mips32r2")]


def compare_instructions(names: list[str], machine: Path, nops: int, memory: str, big: bool, tmp_path: Path, cycles: int = 400000) -> None:
    failed = {}
    for name in names:
        elf = cases.program(tmp_path, name, nops, big, "device", "mips32r2")
        done = on_core(machine, elf, tmp_path, big, MAPPED, *MEMORIES[memory], cycles=cycles)
        if done.returncode != 0 or "the program exited" not in done.stderr:
            failed[name] = (done.returncode, done.stderr)
    assert not failed



# A routine in a set of each page of a way is executed, changed past the caches, and executed again, before and after the lines of the instruction cache are
# invalidated by index; then as many lines of the data cache are written, and written back by index.  Exit status: 0, or the number of the step that failed.
INDEXED = f"""{system.HEAD}{LI}
.macro EACH routine, base, past
  LI $s0, \\base
  LI $s1, \\base + {{way}}
1:
  \\routine
  LI $t9, 0x1020
  addu $s0, $s0, $t9
  sltu $t9, $s0, $s1
  bnez $t9, 1b
  nop
.endm
.macro PUT value
  LI $t0, 0x03e00008
  sw $t0, 0($s0)
  LI $t0, 0x24020000 + \\value
  sw $t0, 4($s0)
.endm
.macro RETURNS value
  jalr $s0
  nop
  addiu $t0, $zero, \\value
  bne $t0, $v0, end
  nop
.endm
.macro INDEX operation
  LI $s0, 0x80000000
  LI $s1, 0x80000000 + 2 * {{way}}
1:
  cache \\operation, 0($s0)
  addiu $s0, $s0, 32
  bne $s0, $s1, 1b
  nop
.endm
.text
.globl __start
__start:
  LI $t0, 0x10000000
  mtc0 $t0, $12
  addiu $s7, $zero, 1
  EACH "PUT 1", 0xa0200000
  EACH "RETURNS 1", 0x80200000
  addiu $s7, $zero, 2
  EACH "PUT 2", 0xa0200000
  EACH "RETURNS 1", 0x80200000
  addiu $s7, $zero, 3
  INDEX 0x00
  EACH "RETURNS 2", 0x80200000
  EACH "PUT 3", 0x80300000
  INDEX 0x01
  addiu $s7, $zero, 0
end:
  LI $t0, 0xbf000500
  sw $s7, 4($t0)
9: b 9b
  nop
"""


@pytest.mark.parametrize("wide", [0, pytest.param(4, marks=pytest.mark.soak)])
@pytest.mark.parametrize("kib", [64, pytest.param(16, marks=pytest.mark.soak)])
def test_operations_by_index_reach_every_set(kib: int, wide: int, root: Path, build_dir: Path, tmp_path: Path):
    """As software does them, in kseg0, with the number of the way above the set."""
    machine = build(root, build_dir, tmp_path / "system", *large_ways(kib, wide=wide, coherent="true"))
    elf = system.assemble(INDEXED.replace("{way}", hex(kib << 10)), tmp_path / "indexed.elf", False)
    done = on_core(machine, elf, tmp_path, False, KSEG0_CACHED, cycles=4000000)
    assert done.returncode == 0 and "the program exited" in done.stderr, (done.returncode, done.stderr)
    assert re.search(rf"^dcache\S* +write_backs +{-(-(kib << 10) // 0x1020)} ", done.stdout, re.MULTILINE), done.stdout

WAYS = [(0, "fast"), (0, "random"), (1, "slow")]


@BYTE_ORDERS
@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(map(str, way)))
def test_every_instruction_of_programs(way: tuple[int, str], big: bool, systems: dict[bool, Path], tmp_path: Path):
    """In each byte order once, a third in each way."""
    assert len(NAMES) > 90
    compare_instructions(NAMES[(WAYS.index(way) + big) % len(WAYS) :: len(WAYS)], systems[big], *way, big, tmp_path)


@pytest.mark.soak
@BYTE_ORDERS
@pytest.mark.parametrize(("nops", "memory"), WAYS)
def test_every_instruction_in_every_way(nops: int, memory: str, big: bool, systems: dict[bool, Path], tmp_path: Path):
    compare_instructions(NAMES, systems[big], nops, memory, big, tmp_path)


def compare_cases(machine: Path, cached: bool, memory: str, big: bool, tmp_path: Path, cycles: int = 40000000, write_back: bool = False) -> None:
    """Past the caches, links are reservations of the memory, which knows nothing of ERET; or, where caches write back, there are none.  What such a cache
    invalidates is lost."""
    without = {"eret ends a link", "a link stands"} if write_back else {"eret ends a link"}
    chosen = [case for case in all_cases() if (cached or case.name not in without) and not (write_back and case.name == "cache does nothing else")]
    elf = system.build(chosen, tmp_path / "cases.elf", big)
    done = on_core(machine, elf, tmp_path, big, KSEG0_CACHED if cached else "", "--quiet", *MEMORIES[memory], cycles=cycles)
    assert (done.returncode, done.stderr) == (0, "")
    labels = system.labels_of(elf)
    expected = [system.expected(n, case, labels) for n, case in enumerate(chosen)]
    wrong = system.differences(chosen, system.records(done.stdout, len(chosen)), expected)
    assert not wrong, f"{len(wrong)} of {len(chosen)} cases:\n" + "\n".join(wrong)


@BYTE_ORDERS
@pytest.mark.parametrize(("cached", "memory"), sampled([(True, "fast"), (True, "slower"), (True, "random"), (False, "random"), (False, "fast")], 3))
def test_directed_cases(cached: bool, memory: str, big: bool, systems: dict[bool, Path], tmp_path: Path):
    compare_cases(systems[big], cached, memory, big, tmp_path)


def compare(seed: int, big: bool, memories: list[str], systems: dict[bool, Path], build_dir: Path, tmp_path: Path, cycles: int = 40000000) -> None:
    elf = system.assemble(random_system_program(seed), tmp_path / "stream.elf", big)
    expected = system.on_oracle(elf, big, build_dir, "--limit", "10000000").stdout
    for memory in memories:
        for code in ("", KSEG0_CACHED):
            done = on_core(systems[big], elf, tmp_path, big, code, "--quiet", "--seed", str(seed), *MEMORIES[memory], cycles=cycles)
            assert (done.returncode, done.stdout) == (0, expected), f"seed {seed}, {memory} memory: {done.stderr}"


@BYTE_ORDERS
@pytest.mark.parametrize("seed", sampled(range(FIRST, FIRST + 2), 2))
def test_random_program(seed: int, big: bool, systems: dict[bool, Path], build_dir: Path, tmp_path: Path):
    """SEED=n in the environment starts at another seed."""
    compare(seed, big, ["fast", "random"], systems, build_dir, tmp_path)


@pytest.mark.soak
@BYTE_ORDERS
def test_many_random_programs(big: bool, systems: dict[bool, Path], build_dir: Path, tmp_path: Path):
    for seed in range(5000, 5200):
        compare(seed, big, list(MEMORIES), systems, build_dir, tmp_path)
