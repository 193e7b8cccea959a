"""rv32i_wide_core: its collector `lockstep` lets a right core through, and tells each way in which one can be wrong at the first
instruction that shows it.  The wrong core has function units between its parts, which damage one instruction each."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa.riscv import assemble

# What is damaged on its way, by its own numbers.
DAMAGE = {
    ("decode.out", "buffered.in"): """
      typeof_port(out) g = in.v[0];
      for (int i = 0; i < g.count; i++) {
        if (g.op[i].word == 0x11100293) g.op[i].dest = 6;
        if (g.op[i].word == 0x22200293) g.op[i].dest = 0;
        if (g.op[i].word == 0x33306013) g.op[i].dest = 7, g.op[i].needs = needs_of(&g.op[i]);
        if (g.op[i].word == 0x44400293) g.op[i].immediate++;
        if (g.op[i].word == 0x05c2a023) g.op[i].immediate += 4;
        if (g.op[i].word == 0x07c29023) g.op[i].control = operation_set_size(g.op[i].control, 4);
        if (g.op[i].word == 0x00105463) g.op[i].control = operation_set_compare(g.op[i].control, branch_compare_lt);
        if (g.op[i].word == 0x55500293) g.op[i].word = 0x55600293;
      }
      return g;""",
}
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
    directory = tmp_path_factory.mktemp("lockstep")
    core = (root / "modules/core/ooo/ooo_core.lss").read_text().replace("module ooo_core", "module wrong_core")
    for number, ((sender, receiver), code) in enumerate(DAMAGE.items()):
        assert core.count(f"  {sender} -> {receiver};") == 1
        unit = f"  instance damage{number} : damage_group {{ width = width; }};\n  {sender} -> damage{number}.in;\n  damage{number}.out -> {receiver};"
        core = core.replace(f"  {sender} -> {receiver};", unit)
        (directory / "damage_group.lss").write_text(
            "import wide_types;\nmodule damage_group {\n  parameter width = 4 : int;\n  inport in : op_group(width);\n  outport out : op_group(width);\n"
            "  always in.ack, out.enable;\n  handler damage : in.data, in.enable -> out.data;\n}\n"
        )
        body = code.replace("in.v[0]", "data(in)").replace("return g;", "send(out, g);")
        (directory / "damage_group.c").write_text(
            f'#include "core/ooo/issue_queue.h"\nhandler(damage) {{\n  if (!some(in)) {{\n    send_nothing(out);\n    return;\n  }}\n{body}\n}}\n'
        )
    (directory / "wrong_core.lss").write_text(core)
    wide = (root / "modules/core/rv32i/rv32i_wide_core.lss").read_text()
    (directory / "rv32i_wrong_core.lss").write_text(wide.replace("module rv32i_wide_core", "module rv32i_wrong_core").replace(": ooo_core", ": wrong_core"))
    built: dict[bool, Path] = {}

    def build(wrong: bool) -> Path:
        if wrong not in built:
            text = (root / "examples/wide_core/wide_core.lss").read_text()
            source = directory / f"machine{int(wrong)}.lss"
            source.write_text(text.replace(": rv32i_wide_core", ": rv32i_wrong_core") if wrong else text)
            built[wrong] = source.with_suffix(".sim")
            command = [build_dir / "bin/lss", "build", source, "-I", directory, "-D", "lockstep=true", "-o", built[wrong]]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return built[wrong]

    return build


def run(machine: Path, elf: Path) -> subprocess.CompletedProcess:
    return subprocess.run([machine, "--program", elf, "--cycles", "20000"], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_cores_are_told(name: str, machines, tmp_path: Path) -> None:
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
