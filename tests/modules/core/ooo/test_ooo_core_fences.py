"""Out-of-order cores without system control on one bus: what one may see of the other's stores, and what `fence` of RV32I and `sync` of MIPS forbid."""

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import programs, riscv
from tests.memory_model import agree
from tests.sample import sampled, seldom

ROUNDS = 40
# Each round has two words of its own, at s2 and s3, that are 0 at first.  Both cores begin it together, but for a chance delay.
RISCV = """
  li s0, 0x10000
  li s1, 0
  li s2, 0x20000
  li s3, 0x30000
  li s4, {seed}
  li s5, 0x40000
  li s6, {rounds}
round:
{warm}
  slli t0, s4, 2
  add s4, s4, t0
  addi s4, s4, 97
  jal ra, meet
  srli t0, s4, 5
  andi t0, t0, 15
1: addi t0, t0, -1
  bgez t0, 1b
  li a2, 0
  li a3, 0
  li t6, 1
{body}
  slli a3, a3, 1
  add a2, a2, a3
  addi a2, a2, 97
  sb a2, {own}(s5)
  addi s5, s5, 2
  addi s2, s2, 64
  addi s3, s3, 64
  bne s1, s6, round
  jal ra, meet
2: bnez {own_register}, 2b
  li s5, 0x40000
  li t1, 0xffff0000
  slli s6, s6, 1
3: lbu t0, 0(s5)
  sb t0, 0(t1)
  addi s5, s5, 1
  addi s6, s6, -1
  bnez s6, 3b
  sw zero, 4(t1)
4: j 4b

meet:
  fence
  addi s1, s1, 1
  sw s1, {flag}(s0)
  fence
5: lw t0, {other}(s0)
  blt t0, s1, 5b
  fence
  ret
"""
# The same for MIPS, where what is behind a branch is in its delay slot.
MIPS = """
  lui $s0, 1
  addiu $s1, $zero, 0
  lui $s2, 2
  lui $s3, 3
  addiu $s4, $zero, {seed}
  lui $s5, 4
  addiu $s6, $zero, {rounds}
round:
{warm}
  sll $t0, $s4, 2
  addu $s4, $s4, $t0
  addiu $s4, $s4, 97
  jal meet
  nop
  srl $t0, $s4, 5
  andi $t0, $t0, 15
1: addiu $t0, $t0, -1
  bgez $t0, 1b
  addiu $a2, $zero, 0
  addiu $a3, $zero, 0
  addiu $t9, $zero, 1
{body}
  sll $a3, $a3, 1
  addu $a2, $a2, $a3
  addiu $a2, $a2, 97
  sb $a2, {own}($s5)
  addiu $s5, $s5, 2
  addiu $s2, $s2, 64
  bne $s1, $s6, round
  addiu $s3, $s3, 64
  jal meet
  nop
2: bnez {own_register}, 2b
  lui $s5, 4
  lui $t1, 0xffff
  sll $s6, $s6, 1
3: lbu $t0, 0($s5)
  sb $t0, 0($t1)
  addiu $s6, $s6, -1
  bnez $s6, 3b
  addiu $s5, $s5, 1
  sw $zero, 4($t1)
4: b 4b
  nop

meet:
  sync
  addiu $s1, $s1, 1
  sw $s1, {flag}($s0)
  sync
5: lw $t0, {other}($s0)
  subu $t0, $t0, $s1
  bltz $t0, 5b
  nop
  sync
  jr $ra
  nop
"""


class Riscv:
    processor, text, barrier, zero, one = "rv32i_wide_core", RISCV, "fence", "zero", "s0"
    store_x, store_y, load_x, load_y, copy_x, copy_y = (
        "sw t6, 0(s2)",
        "sw t6, 0(s3)",
        "lw {}, 0(s2)",
        "lw {}, 0(s3)",
        "lw t0, 0(s2)",
        "lw t0, 0(s3)",
    )
    first, second = "a2", "a3"
    late_x, load_late = ["mv t0, s2", *["xor t0, t0, s3", "xor t0, t0, s3"] * 12], "lw {}, 0(t0)"
    options: tuple[str, ...] = ()

    @staticmethod
    def assemble(text: str, output: Path) -> Path:
        return riscv.assemble(text, output, "device")


class Mips:
    processor, text, barrier, zero, one = "mips_wide_core", MIPS, "sync", "$zero", "$s0"
    store_x, store_y, load_x, load_y, copy_x, copy_y = (
        "sw $t9, 0($s2)",
        "sw $t9, 0($s3)",
        "lw {}, 0($s2)",
        "lw {}, 0($s3)",
        "lw $t0, 0($s2)",
        "lw $t0, 0($s3)",
    )
    first, second = "$a2", "$a3"
    late_x, load_late = ["addu $t0, $s2, $zero", *["xor $t0, $t0, $s3", "xor $t0, $t0, $s3"] * 12], "lw {}, 0($t0)"
    options = ("-D", "big_endian=true")

    @staticmethod
    def assemble(text: str, output: Path) -> Path:
        return programs.assemble(text, output, True, "device")


@pytest.fixture(scope="session")
def machine(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[type], Path]:
    """The simulator of two such cores, built once."""
    folder = tmp_path_factory.mktemp("pair")

    def build(isa: type) -> Path:
        output = folder / isa.__name__
        if not output.exists():
            subprocess.run(
                [
                    build_dir / "bin/lss",
                    "build",
                    root / "tests/modules/core/ooo/pair.lss",
                    "-D",
                    f"processor={isa.processor}",
                    *isa.options,
                    "-o",
                    output,
                ],
                check=True,
            )
        return output

    return build


def seen(
    simulator: Path, isa: type, bodies: list[list[str]], warm: list[list[str]], seeds: range, folder: Path
) -> Counter:
    """How often each outcome was seen: the values of each core's two loads."""
    outcomes: Counter = Counter()
    for seed in seeds:
        elves = []
        for n in range(2):
            text = isa.text.format(
                seed=97 * seed + n, rounds=ROUNDS, warm="\n".join(warm[n]), body="\n".join(bodies[n]),
                own=n, flag=128 * n, other=128 * (1 - n), own_register=(isa.zero, isa.one)[n],
            )  # fmt: skip
            elves.append(isa.assemble(text, folder / f"core{n}.elf"))
        done = subprocess.run(
            [simulator, "--first", elves[0], "--second", elves[1], "--cycles", "1000000", "--quiet"],
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0 and len(done.stdout) == 2 * ROUNDS, done.stdout + done.stderr[-1500:]
        values = [((ord(c) - 97) & 1, (ord(c) - 97) >> 1) for c in done.stdout]
        outcomes.update(zip(values[::2], values[1::2], strict=True))
    return outcomes


FEW, MANY = pytest.param(range(1, 3), id="short"), pytest.param(range(1, 200), id="long", marks=pytest.mark.soak)


@pytest.mark.parametrize("isa", sampled([Riscv, Mips]))
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_message_passing(isa: type, seeds: range, machine: Callable[[type], Path], tmp_path: Path) -> None:
    """Who sees the flag may have missed the message: a load passes another, a store that waits for its line is passed. Behind barriers he never has."""
    for order in ([], [isa.barrier]):
        bodies = [
            [isa.store_x, *order, isa.store_y],
            [isa.load_y.format(isa.first), *order, isa.load_x.format(isa.second)],
        ]
        warm = [[isa.copy_y], [isa.copy_x]]
        outcomes = Counter(o[1] for o in seen(machine(isa), isa, bodies, warm, seeds, tmp_path).elements())
        agree("wide", "MP", bool(order), outcomes[1, 0])
        assert outcomes[0, 0] and outcomes[1, 1], outcomes


@seldom
@pytest.mark.parametrize("isa", [Riscv, Mips])
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_store_buffering(isa: type, seeds: range, machine: Callable[[type], Path], tmp_path: Path) -> None:
    """Both may miss the other's store; never behind barriers."""
    for order in ([], [isa.barrier]):
        bodies = [
            [isa.store_x, *order, isa.load_y.format(isa.first)],
            [isa.store_y, *order, isa.load_x.format(isa.first)],
        ]
        warm = [[isa.copy_x, isa.copy_y]] * 2
        outcomes = Counter(
            (o[0][0], o[1][0]) for o in seen(machine(isa), isa, bodies, warm, seeds, tmp_path).elements()
        )
        agree("wide", "SB", bool(order), outcomes[0, 0])
        assert outcomes[0, 1] and outcomes[1, 0], outcomes


@pytest.mark.parametrize("isa", [Riscv, Mips])
@pytest.mark.parametrize("seeds", [MANY])
def test_load_buffering(isa: type, seeds: range, machine: Callable[[type], Path], tmp_path: Path) -> None:
    """A store is done when it is committed, behind the loads before it."""
    for order in ([], [isa.barrier]):
        bodies = [[isa.load_x.format(isa.first), *order, isa.store_y], [isa.load_y.format(isa.first), *order, isa.store_x]]
        for warm in ([[isa.copy_x, isa.copy_y]] * 2, [[], []]):
            outcomes = Counter((o[0][0], o[1][0]) for o in seen(machine(isa), isa, bodies, warm, seeds, tmp_path).elements())
            agree("wide", "LB", bool(order), outcomes[1, 1])


@pytest.mark.parametrize("isa", [Riscv, Mips])
@pytest.mark.parametrize("seeds", [MANY])
def test_two_reads_of_a_word(isa: type, seeds: range, machine: Callable[[type], Path], tmp_path: Path) -> None:
    """The second one may be first, where the address of the other is there late; never behind a barrier."""
    for order in ([], [isa.barrier]):
        bodies = [[isa.store_x], [*isa.late_x, isa.load_late.format(isa.first), *order, isa.load_x.format(isa.second)]]
        outcomes = Counter(o[1] for o in seen(machine(isa), isa, bodies, [[], [isa.copy_x]], seeds, tmp_path).elements())
        agree("wide", "CoRR", bool(order), outcomes[1, 0])
