"""The collector `lockstep`: a right core runs through, and each way in which one can be wrong is told at the first instruction
that shows it.  The wrong core is mips_pipeline with function units between its stages, which damage one instruction each."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import assemble
from tests.isa.streams import random_program
from tests.sample import sampled, seldom

MACHINE = """
import memory_types;
import mips_isa_types;
parameter big_endian = true : bool;
parameter latency = 0 : int;
runtime parameter program = "" : string;
instance start : program_start { program = program; set = "mips32r2"; };
instance core : CORE { start_halted = true; set = mips_isa.mips32r2; big_endian = big_endian; lockstep = 8 MiB; };
instance filter : scratchpad_filter { segments = [{ base = 0, size = 0x800000, target = filter_target.scratchpad }]; };
instance ram : memory_state { width = 32; size = 8 MiB; big_endian = big_endian; image = program; };
instance console : console;
start.control -> core.control;  core.fetch -> filter.in;  core.data -> filter.in;  filter.main -> console.port;
if (latency == 0) {
  filter.scratchpad -> ram.port[0];
} else {
  instance delay : memory_delay { width = 32; latency = latency; jitter = 3; refuse = 0.3; };
  filter.scratchpad -> delay.in;  delay.out -> ram.port[0];
}
instance other : source { count = 0; };  instance replies : sink;
other.out -> ram.port[1].request;  ram.port[1].reply -> replies.in;
"""
# What is damaged between two stages, by the instruction's own numbers.
DAMAGE = {
    ("alu.out", "execute.result"): "return in.v[0] == 0x11110000 ? 0x11110010 : in.v[0];",
    ("decoder.out", "issue.in"): """
      core_decoded d = in.v[0];
      if (d.word == 0x34192222) d.control = control_word_set_dest(d.control, 24);
      if (d.word == 0x24193333) d.control = control_word_set_dest(d.control, 32);
      if (d.word == 0x00004825) d.control = control_word_set_dest(d.control, 9);
      if (d.word == 0xe3290040) d.control = control_word_set_mem(d.control, memory_access_store);
      if (d.word == 0xaf204444) d.control = control_word_set_mem(d.control, memory_access_none);
      return d;""",
    ("ex_mem.out", "access.in"): """
      core_executed e = in.v[0];
      if (e.b == 0x55555555) e.b = 0x55555554;
      if (e.word == 0xaf206000) e.result += 4;
      if (e.word == 0xa7207000) e.control = control_word_set_size(e.control, 4);
      return e;""",
    ("issue.redirect", "fetcher.redirect"): "return in.v[0] == 0x00401000 ? 0x00401004 : in.v[0];",
}


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path):
    directory = tmp_path_factory.mktemp("lockstep")
    text = (root / "modules/core/mips/mips_pipeline.lss").read_text().replace("module mips_pipeline", "module wrong_pipeline")
    for number, ((sender, receiver), code) in enumerate(DAMAGE.items()):
        assert text.count(f"  {sender} -> {receiver};") == 1
        unit = f"  instance damage{number} : function_unit {{ apply = <<< {code} >>>; }};\n  {sender} -> damage{number}.in;\n  damage{number}.out -> {receiver};"
        text = text.replace(f"  {sender} -> {receiver};", unit)
    (directory / "wrong_pipeline.lss").write_text(text)
    built: dict[tuple, Path] = {}

    def build(core: str = "mips_pipeline", *options: str) -> Path:
        key = (core, *options)
        if key not in built:
            source = directory / f"machine{len(built)}.lss"
            source.write_text(MACHINE.replace("CORE", core))
            built[key] = source.with_suffix(".sim")
            done = subprocess.run([build_dir / "bin" / "lss", "build", source, "-I", directory, *options, "-o", built[key]], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return built[key]

    return build


def run(machine: Path, elf: Path, *options: object) -> subprocess.CompletedProcess:
    return subprocess.run([machine, "--program", elf, "--cycles", "300000", *map(str, options)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("latency", sampled([0, 5], 2, 1))
@pytest.mark.parametrize("big", sampled([True, False], 2), ids=["big", "little"])
def test_right_cores_run_through(big: bool, latency: int, machines, tmp_path: Path):
    machine = machines("mips_pipeline", "-D", f"big_endian={str(big).lower()}", "-D", f"latency={latency}")
    for seed in range(3):
        stream = random_program(seed, instruction_set="mips32r2")
        elf = assemble(stream.text, tmp_path / "x.elf", big, "device", "mips32r2")
        done = run(machine, elf, "--set", f"console.output={tmp_path / 'out'}")
        assert done.returncode == 0 and "the program exited" in done.stderr, f"seed {seed}: {done.stderr}"
        found = {name: int(value) for name, value in re.findall(r"^core\S* +(compared|instructions) +(\d+)", done.stdout + done.stderr, re.MULTILINE)}
        assert found["compared"] == found["instructions"] > 1000


WRONG = {
    "value": ("lui $t0, 0x1111", "lui $t0, 0x1111: wrote $t0 = 0x11110010, expected $t0 = 0x11110000"),
    "register": (".word 0x34192222", "ori $t9, $zero, 0x2222: wrote $t8 = 0x00002222, expected $t9 = 0x00002222"),
    "no register": (".word 0x24193333", "addiu $t9, $zero, 13107: wrote no register, expected $t9 = 0x00003333"),
    "no store": ("lui $t9, 0x50\n.word 0xaf204444", "sw $zero, 17476($t9): stored nothing, expected a store at 0x00504444"),
    "data": ("lui $t9, 0x50\nlui $t0, 0x5555\nori $t0, $t0, 0x5555\nsw $t0, 8($t9)", "sw $t0, 8($t9): stored 0x55555554 in 4 bytes at 0x00500008, expected 0x55555555 in 4 at 0x00500008"),
    "address": ("lui $t9, 0x50\n.word 0xaf206000", "sw $zero, 24576($t9): stored 0x0 in 4 bytes at 0x00506004, expected 0x0 in 4 at 0x00506000"),
    "size": ("lui $t9, 0x50\n.word 0xa7207000", "sh $zero, 28672($t9): stored 0x0 in 4 bytes at 0x00507000, expected 0x0 in 2 at 0x00507000"),
    "link": ("lui $t9, 0x50\nori $t1, $zero, 0x80\n.word 0xe3290040", "sc $t1, 64($t9): stored, expected no link to stand"),
    "branch": ("j 1f\nnop\n.org 0x1000\n1: addiu $t0, $zero, 1\naddiu $t1, $zero, 2", "pc 0x00401004, addiu $t1, $zero, 2: it was completed, expected the one at 0x00401000"),
}  # fmt: skip


@pytest.mark.parametrize("name", sampled(WRONG, 2))
def test_wrong_cores_are_reported(name: str, machines, tmp_path: Path):
    code, message = WRONG[name]
    done = run(machines("wrong_pipeline"), assemble(f"nop\n{code}\nEXIT 0\n", tmp_path / "x.elf", True, "device", "mips32r2"))
    assert done.returncode == 1
    (line,) = re.findall(r"^.*: core.writeback: lockstep: (.*) \(at .*\)$", done.stderr, re.MULTILINE)
    assert line.endswith(message), line
    where = re.match(r"pc 0x(\w{8}), ", line)[1]
    executed = re.findall(r"^ +([0-9a-f]{8})  \S", done.stderr, re.MULTILINE)
    assert executed[-1] == where, done.stderr


LOOP = """
lui $t0, 0x50
addiu $t1, $zero, 1234
sw $t1, 0($t0)
addiu $t2, $zero, 1000
1: {}
addiu $t2, $t2, -1
bnez $t2, 1b
nop
EXIT 0
"""


@seldom
@pytest.mark.parametrize(("code", "address", "value", "message"), [
    ("lw $t3, 0($t0)", 0x500000, 77, "lw $t3, 0($t0): wrote $t3 = 0x0000004d, expected $t3 = 0x000004d2"),
    ("addiu $t3, $t3, 1", 0x400010, 0x256B0002, "addiu $t3, $t3, 2: its word is 0x256b0002, expected 0x256b0001"),
])  # fmt: skip
def test_memory_that_changes_behind_the_core(code: str, address: int, value: int, message: str, machines, tmp_path: Path):
    script = tmp_path / "script"
    script.write_text(f"500 {{op=write size=4 sign=0 combine=0 tag=0 address={address} data={value}}}\n")
    elf = assemble(LOOP.format(code), tmp_path / "x.elf", True, "device", "mips32r2")
    done = run(machines(), elf, "--set", f"other.script={script}", "--set", "other.count=-1")
    assert done.returncode == 1
    (line, cycle) = re.findall(r"lockstep: (.*) \(at .*cycle (\d+)\)$", done.stderr, re.MULTILINE)[0]
    assert line.endswith(message) and 500 < int(cycle) < 520


def test_what_is_no_memory_is_taken_unchecked(machines, tmp_path: Path):
    """A device's register reads otherwise than what was written to it."""
    elf = assemble("lui $t0, 0xffff\nsw $zero, 8($t0)\naddiu $t1, $zero, 65\nsb $t1, 0($t0)\nlw $t1, 0($t0)\nEXIT 0\n", tmp_path / "x.elf", True, "device", "mips32r2")
    assert run(machines(), elf).returncode == 0


def test_sets_that_the_reference_does_not_have(build_dir: Path, tmp_path: Path):
    (tmp_path / "x.lss").write_text("import mips_isa_types; instance c : mips_pipeline { set = mips_isa.prijoff; lockstep = 1 KiB; };")
    done = subprocess.run([build_dir / "bin" / "lss", "check", tmp_path / "x.lss"], capture_output=True, text=True)
    assert done.returncode == 1 and "lockstep does not support PRI and JOFF" in done.stderr
