"""mips_wide_core: its collector `lockstep` lets a right core through, and tells each way in which one can be wrong at the first
instruction that shows it.  The wrong core has a function unit between its parts, which damages one instruction each."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa.programs import assemble
from tests.modules import wrong_core
from tests.modules.core.ooo.conftest import COLLECTOR, Core, steps
from tests.modules.wrong_core import run
from tests.sample import sampled, seldom

# What is damaged on its way, by its own numbers.
DAMAGE = """
if (op->word == 0x24080111) op->dest = 9;
if (op->word == 0x24080222) op->dest = 0;
if (op->word == 0x24080444) op->immediate++;
if (op->word == 0xad0c0040) op->immediate += 4;
if (op->word == 0xa50c0060) op->control = operation_set_size(op->control, 4);
if (op->word == 0xa90c0082) op->control = operation_set_part(op->control, word_part_right);
if (op->word == 0xe10c0000) op->source[1] = 0;
if (op->word == 0x01490018) op->control = operation_set_product(op->control, product_op_low_less);
if (op->word == 0x0149001b && operation_more(op->control)) op->control = operation_set_product(op->control, product_op_quotient);
if (op->word == 0x012a600b) op->control = operation_set_compare(op->control, branch_compare_eq);
if (op->word == 0x11000002) op->control = operation_set_compare(op->control, branch_compare_ne);
if (op->word == 0x51000002) op->control = operation_set_likely(op->control, false);
if (op->word == 0x24080555) op->word = 0x24080556;
"""
AREA = "lui $t0, 0x50\naddiu $t4, $zero, 9\n"
WRONG = {
    "register": ("addiu $t0, $zero, 0x111", "addiu $t0, $zero, 273: wrote $t1 = 0x00000111, expected $t0 = 0x00000111"),
    "no register": ("addiu $t0, $zero, 0x222", "addiu $t0, $zero, 546: wrote no register, expected $t0 = 0x00000222"),
    "value": ("addiu $t0, $zero, 0x444", "addiu $t0, $zero, 1092: wrote $t0 = 0x00000445, expected $t0 = 0x00000444"),
    "address": (f"{AREA}.word 0xad0c0040", "sw $t4, 64($t0): stored 0x9 in 4 bytes at 0x00500044, expected 0x9 in 4 at 0x00500040"),
    "size": (f"{AREA}.word 0xa50c0060", "sh $t4, 96($t0): stored 0x9 in 4 bytes at 0x00500060, expected 0x9 in 2 at 0x00500060"),
    "part": (f"{AREA}.word 0xa90c0082", "swl $t4, 130($t0): stored 0x9 in 3 bytes at 0x00500080, expected 0x0 in 2 at 0x00500082"),
    "conditional": (f"{AREA}ll $t5, 0($t0)\n.word 0xe10c0000", "sc $t4, 0($t0): stored 0x0 in 4 bytes at 0x00500000, expected 0x9 in 4 at 0x00500000"),
    "product": ("addiu $t1, $zero, 3\naddiu $t2, $zero, 5\n.word 0x01490018\nmfhi $t3\nmflo $t3", "mfhi $t3: wrote $t3 = 0xfffffff1, expected $t3 = 0x00000000"),
    "quotient": ("addiu $t1, $zero, 3\naddiu $t2, $zero, -5\n.word 0x0149001b\nmflo $t3", "mflo $t3: wrote $t3 = 0xffffffff, expected $t3 = 0x55555553"),
    "move": ("addiu $t1, $zero, 3\naddiu $t2, $zero, 5\n.word 0x012a600b", "movn $t4, $t1, $t2: wrote $t4 = 0x00000000, expected $t4 = 0x00000003"),
    "branch": ("addiu $t0, $zero, 0\n.word 0x11000002\nnop\naddiu $t1, $t1, 1\nnop", "addiu $t1, $t1, 1: it was completed, expected the one at 0x"),
    "annulled": ("addiu $t0, $zero, 1\n.word 0x51000002\naddiu $t1, $t1, 1\nnop\nnop", "addiu $t1, $t1, 1: it was completed, expected the one at 0x"),
    "word": ("addiu $t0, $zero, 0x555", "addiu $t0, $zero, 1366: wrote $t0 = 0x00000555"),
}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[[bool], Path]:
    return wrong_core.machines(tmp_path_factory.mktemp("lockstep"), build_dir, root, "mips_wide_core", DAMAGE, "-D", "big_endian=true")


@pytest.mark.parametrize("name", sampled(WRONG, 3))
def test_wrong_cores_are_reported(name: str, machines, tmp_path: Path) -> None:
    code, message = WRONG[name]
    elf = assemble(f"nop\n{code}\nEXIT 0\n.data\n.space 256\n", tmp_path / "x.elf", True, "device", "mips32r2")
    right = run(machines(False), elf)
    assert right.returncode == 0 and "the program exited" in right.stderr, right.stderr
    done = run(machines(True), elf)
    (line,) = re.findall(r"^.*: core.core.list: lockstep: pc 0x\w{8}, (.*) \(at .*\)$", done.stderr, re.MULTILINE)
    assert done.returncode == 1 and message in line, line


def test_all_is_compared_and_markers_are_seen(machines, tmp_path: Path) -> None:
    """An instruction of several operations counts once."""
    code = "lui $zero, 1\naddiu $t0, $zero, 3\n1: addiu $t0, $t0, -1\nbne $t0, $zero, 1b\nmadd $t0, $t0\nlui $zero, 2\nEXIT 0\n"
    command = [machines(False), "--program", assemble(code, tmp_path / "x.elf", True, "device", "mips32r2"), "--cycles", "20000", "--until", "marker(2)"]
    done = subprocess.run(command, capture_output=True, text=True)
    counts = {name: int(value) for name, value in re.findall(r"^core\S* +(compared|instructions) +(\d+)", done.stdout + done.stderr, re.MULTILINE)}
    assert done.returncode == 0 and 12 <= counts["compared"] == counts["instructions"] < 16, done.stderr


@pytest.fixture(scope="module")
def retired(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Core:
    machine = (root / "examples/wide_core/wide_core.lss").read_text() + COLLECTOR
    directory = tmp_path_factory.mktemp("cycles")
    return Core(build_dir / "bin/lss", machine, directory, lambda code, path: assemble(code, path, False, "device", "mips32r2"), processor="mips_wide_core")


@seldom
@pytest.mark.parametrize("width", sampled([1, 4], 2, 1))
def test_chains_cost_the_latency_of_their_units(width: int, retired: Core) -> None:
    """Additions, conditional moves, products; quotients: their remainder is a product more."""
    assert steps(retired("addiu $t0, $t0, 1\n" * 60, 0, 60, width=width)) == {1}
    assert steps(retired("movz $t0, $t1, $t2\n" * 60, 0, 60, width=width)) == {1}
    assert steps(retired("mul $t0, $t0, $t0\n" * 30, 0, 30, width=width)) == {6}
    chain = retired("addiu $t0, $zero, 7\naddiu $t1, $zero, 1\n" + "divu $zero, $t0, $t1\nmflo $t0\n" * 20, 2, 40, width=width)
    assert steps(chain[1::2]) == {36}, "quotient and move"
    chain = retired("addiu $t0, $zero, 7\naddiu $t1, $zero, 9\n" + "divu $zero, $t0, $t1\nmfhi $t0\n" * 20, 2, 40, width=width)
    assert steps(chain[1::2]) == {42}, "quotient, remainder and move"


@seldom
def test_multiplications_follow_each_other(retired: Core) -> None:
    """Two operations each, of three cycles; the second one's LO is what both of the next sum of products begin with."""
    cycles = retired("mult $t0, $t1\n" * 30, 5, 20)
    assert cycles[-1] - cycles[0] == 19 * 6
    cycles = retired("madd $t0, $t1\n" * 30, 5, 20)
    assert cycles[-1] - cycles[0] == 19 * (3 + 6)


ADD = "addiu $t1, $zero, 1\n"  # a nop is not executed, and so leaves earlier


def test_a_wrong_prediction_costs_8_cycles(retired: Core) -> None:
    """From the branch to its delay slot, which is fetched once more, 7, and where it goes a cycle later; a branch that was never seen is taken
    to fall through.  One that annuls its slot, when it is not taken, goes on elsewhere at once."""
    code = "nop\n" * 16 + "".join(f"beq $zero, $zero, {n}f\n{ADD}{ADD}{n}: {ADD}" for n in range(1, 9))
    cycles = retired(code, 16, 24)
    assert [(b - a, c - b) for a, b, c in zip(cycles[::3], cycles[1::3], cycles[2::3])] == [(7, 1)] * 8
    code = "addiu $t0, $zero, 1\n" + "nop\n" * 15 + "".join(f"beql $t0, $zero, {n}f\n{ADD}{n}: {ADD}{ADD}" for n in range(1, 9))
    cycles = retired(code, 16, 24)
    assert [b - a for a, b in zip(cycles[::3], cycles[1::3])] == [7] * 8


@seldom
def test_a_loop_is_predicted(retired: Core) -> None:
    """Its delay slot too, wherever in a group the branch is: at its end, the slot is a group of its own."""
    for shift, each in ((0, 1), (1, 1), (2, 2), (3, 2)):
        body = ADD * shift
        cycles = retired(f"addiu $t0, $zero, 200\n1: addiu $t0, $t0, -1\n{body}bne $t0, $zero, 1b\naddiu $t2, $t2, 1\n", 1, (3 + shift) * 190, units=4)
        assert steps(cycles[(3 + shift) * 120 :: 3 + shift]) == {each}, shift
