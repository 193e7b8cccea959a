"""Several cores on one memory: load-linked and store-conditional, stores that others see, programs that change themselves."""

import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import assemble
from tests.sample import sampled

# Each core takes a number, adds it ROUNDS times to a shared sum with ll/sc, and stops; the last one checks the sum and exits.
COUNT = """
  lui $s0, %hi(next)
  addiu $s0, $s0, %lo(next)
1: ll $t0, 0($s0)
  addiu $t1, $t0, 1
  sc $t1, 0($s0)
  beq $t1, $zero, 1b
  addiu $s1, $t0, 1
  addiu $s2, $zero, ROUNDS
2: ll $t0, 4($s0)
  addu $t1, $t0, $s1
  sc $t1, 4($s0)
  beq $t1, $zero, 4f
  nop
  addiu $s2, $s2, -1
  bne $s2, $zero, 2b
  nop
3: ll $t0, 8($s0)
  addiu $t1, $t0, 1
  addu $t2, $t1, $zero
  sc $t1, 8($s0)
  beq $t1, $zero, 3b
  nop
  addiu $t3, $zero, CPUS
5: bne $t2, $t3, 5b
  nop
  lw $t0, 4($s0)
  lui $t1, %hi(SUM)
  addiu $t1, $t1, %lo(SUM)
  bne $t0, $t1, bad
  nop
  lw $t0, 12($s0)
  WRITE text, 4
  EXIT 0
bad: EXIT 9
4: lw $t0, 12($s0)
  addiu $t0, $t0, 1
  sw $t0, 12($s0)
  j 2b
  nop
.data
.balign 32
next: .word 0, 0, 0, 0
text: .ascii "sum\\n"
"""

# The first core writes data, then a flag; the second waits for the flag, looks at the data and answers, and exits at the end.
MESSAGE = """
  lui $s0, %hi(next)
  addiu $s0, $s0, %lo(next)
1: ll $t0, 0($s0)
  addiu $t1, $t0, 1
  sc $t1, 0($s0)
  beq $t1, $zero, 1b
  addiu $s1, $zero, 200
  bne $t0, $zero, reader
  addiu $t2, $zero, 0
writer:
  addiu $t2, $t2, 1
  sll $t3, $t2, 3
  sw $t3, 32($s0)
  sync
  sw $t2, 64($s0)
2: lw $t4, 96($s0)
  bne $t4, $t2, 2b
  nop
  bne $t2, $s1, writer
  nop
3: b 3b
  nop
reader:
  addiu $t2, $t2, 1
3: lw $t4, 64($s0)
  bne $t4, $t2, 3b
  nop
  lw $t5, 32($s0)
  sll $t3, $t2, 3
  bne $t5, $t3, bad
  nop
  sw $t2, 96($s0)
  bne $t2, $s1, reader
  nop
  EXIT 0
bad: EXIT 9
.data
.balign 32
next: .space 128
"""

# Writes `addiu $v0, $v0, n` for n = 1 to 20 over one instruction and runs it each time; the sum is 210.
SELF_MODIFYING = """
  lui $s0, %hi(patch)
  addiu $s0, $s0, %lo(patch)
  lui $s1, 0x2442
  addiu $s2, $zero, 0
  addiu $v0, $zero, 0
1: addiu $s2, $s2, 1
  or $t0, $s1, $s2
  sw $t0, 0($s0)
  nop
  nop
  nop
  nop
patch: addiu $v0, $v0, 0x7000
  addiu $t1, $zero, 20
  bne $s2, $t1, 1b
  nop
  addiu $t0, $zero, 210
  bne $v0, $t0, bad
  nop
  EXIT 0
bad: EXIT 9
"""


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path):
    directory = tmp_path_factory.mktemp("machines")
    built: dict[tuple, Path] = {}

    def build(name: str, *options: str) -> Path:
        key = (name, options)
        if key not in built:
            built[key] = directory / f"{name}{len(built)}"
            source = root / "examples" / name / f"{name}.lss"
            done = subprocess.run([build_dir / "bin" / "lss", "build", source, "-o", built[key], *options], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return built[key]

    return build


def run(simulator: Path, elf: Path, cycles: int) -> subprocess.CompletedProcess:
    done = subprocess.run([simulator, "--program", elf, "--cycles", str(cycles)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    return done


@pytest.mark.parametrize("big", sampled([True, False], 2), ids=["big", "little"])
@pytest.mark.parametrize("cpus", sampled([1, 2, 4, 8], first=1))
def test_no_increment_is_lost(cpus: int, big: bool, machines, tmp_path: Path):
    rounds = 40
    total = rounds * cpus * (cpus + 1) // 2
    text = COUNT.replace("ROUNDS", str(rounds)).replace("CPUS", str(cpus)).replace("SUM", str(total))
    elf = assemble(text, tmp_path / "count.elf", big, "device")
    simulator = machines("dual_core", "-D", f"processors={cpus}", "-D", f"big_endian={str(big).lower()}")
    assert "sum\n" in run(simulator, elf, 2_000_000).stdout


def test_stores_are_seen_in_order(machines, tmp_path: Path):
    elf = assemble(MESSAGE, tmp_path / "message.elf", True, "device")
    run(machines("dual_core"), elf, 2_000_000)


def test_a_core_runs_what_it_has_just_written(machines, tmp_path: Path):
    """Nothing caches instructions here: the fourth instruction behind a store is fetched after it."""
    elf = assemble(SELF_MODIFYING, tmp_path / "self.elf", True, "device")
    run(machines("single_core"), elf, 100_000)


def test_a_run_is_repeatable(machines, tmp_path: Path):
    elf = assemble(MESSAGE, tmp_path / "message.elf", True, "device")
    stats = []
    for n in range(2):
        path = tmp_path / f"stats{n}.json"
        done = subprocess.run([machines("dual_core"), "--program", elf, "--stats", path], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        stats.append(path.read_bytes())
    assert stats[0] == stats[1]
