"""rv32i_wide_core: its collector `lockstep` lets a right core through, and tells each way in which one can be wrong at the first
instruction that shows it.  The wrong core has function units between its parts, which damage one instruction each."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa.riscv import assemble
from tests.modules import wrong_core
from tests.modules.wrong_core import run
from tests.sample import sampled

# What is damaged on its way, by its own numbers.
DAMAGE = """
if (op->word == 0x11100293) op->dest = 6;
if (op->word == 0x22200293) op->dest = 0;
if (op->word == 0x33306013) op->dest = 7, op->needs = needs_of(op);
if (op->word == 0x44400293) op->immediate++;
if (op->word == 0x05c2a023) op->immediate += 4;
if (op->word == 0x07c29023) op->control = operation_set_size(op->control, 4);
if (op->word == 0x00105463) op->control = operation_set_compare(op->control, branch_compare_lt);
if (op->word == 0x55500293) op->word = 0x55600293;
"""
WRONG = {
    "register": ("addi t0, zero, 0x111", "addi t0, zero, 273: wrote t1 = 0x00000111, expected t0 = 0x00000111"),
    "no register": ("addi t0, zero, 0x222", "addi t0, zero, 546: wrote no register, expected t0 = 0x00000222"),
    "a register": ("ori zero, zero, 0x333", "ori zero, zero, 819: wrote t2, expected no register"),
    "value": ("addi t0, zero, 0x444", "addi t0, zero, 1092: wrote t0 = 0x00000445, expected t0 = 0x00000444"),
    "address": ("lui t0, 0x500\nli t3, 9\n.word 0x05c2a023", "sw t3, 64(t0): stored 0x9 in 4 bytes at 0x00500044, expected 0x9 in 4 at 0x00500040"),
    "size": ("lui t0, 0x500\nli t3, 9\n.word 0x07c29023", "sh t3, 96(t0): stored 0x9 in 4 bytes at 0x00500060, expected 0x9 in 2 at 0x00500060"),
    "branch": ("li ra, 5\n.word 0x00105463\nnop\naddi t1, t1, 1", "it was completed, expected the one at 0x"),
    "word": ("addi t0, zero, 0x555\naddi t0, zero, 0x556", ""),
}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[[bool], Path]:
    return wrong_core.machines(tmp_path_factory.mktemp("lockstep"), build_dir, root, "rv32i_wide_core", DAMAGE)


@pytest.mark.parametrize("name", sampled(WRONG, 3))
def test_wrong_cores_are_reported(name: str, machines, tmp_path: Path) -> None:
    code, message = WRONG[name]
    elf = assemble(f"nop\n{code}\nEXIT 0\n", tmp_path / "x.elf", "device")
    right = run(machines(False), elf)
    assert right.returncode == 0 and "the program exited" in right.stderr, right.stderr
    done = run(machines(True), elf)
    if not message:  # a word is believed where it is read first
        assert done.returncode == 1 and "addi t0, zero, 1366: wrote t0 = 0x00000555" in done.stderr, done.stderr
        return
    (line,) = re.findall(r"^.*: core.core.list: lockstep: pc 0x\w{8}, (.*) \(at .*\)$", done.stderr, re.MULTILINE)
    assert done.returncode == 1 and message in line, line


def test_all_is_compared_and_markers_are_seen(machines, tmp_path: Path) -> None:
    elf = assemble("lui zero, 1\nli a0, 3\n1: addi a0, a0, -1\nbnez a0, 1b\nlui zero, 2\nEXIT 0\n", tmp_path / "x.elf", "device")
    command = [machines(False), "--program", elf, "--cycles", "20000", "--until", "marker(2)"]
    done = subprocess.run(command, capture_output=True, text=True)
    counts = {name: int(value) for name, value in re.findall(r"^core\S* +(compared|instructions) +(\d+)", done.stdout + done.stderr, re.MULTILINE)}
    assert done.returncode == 0 and counts["compared"] == counts["instructions"] >= 8, done.stderr
