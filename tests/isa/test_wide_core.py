"""The out-of-order core executes RV32I as the interpreter does, which goes with it instruction by instruction: every instruction,
random programs on machines from the smallest to eight instructions wide, memories that take their time and refuse by chance."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.streams import explain
from tests.isa.wide import MACHINES, builder, counted, run, unfriendly
from tests.sample import sampled, seldom

FIRST = int(os.environ.get("SEED", "1"))


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[..., Path]:
    return builder(tmp_path_factory.mktemp("wide"), build_dir, root, 32)


@pytest.mark.parametrize("name", sampled(["smallest slow", "four", "eight slow"], 3, 2))
@pytest.mark.parametrize("nops", sampled([0, 1, 2], 3, 1))
def test_every_instruction(nops: int, name: str, machine, tmp_path: Path) -> None:
    """The exit status is the number of the first case that failed."""
    done = run(machine(name), riscv.assemble(riscv.cases(nops), tmp_path / "cases.elf", "device"), *unfriendly(name))
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    assert counted(done, "compared") == counted(done, "instructions") > 1000


def compare(seed: int, names: list[str], machine, build_dir: Path, tmp_path: Path, *options: str) -> None:
    text = riscv.random_program(seed).text
    plain = riscv.assemble(text, tmp_path / f"oracle{seed}.elf")
    expected = subprocess.run([build_dir / "bin" / "rv32i-oracle", plain], capture_output=True, timeout=60)
    assert expected.returncode == 0, expected.stderr.decode()
    elf = riscv.assemble(text, tmp_path / f"core{seed}.elf", "device")
    for name in names:
        for manners in ([], unfriendly(name)) if unfriendly(name) else ([],):  # a memory that refuses by chance keeps all awake
            printed = tmp_path / f"{name} {seed}"
            done = run(machine(name, *options), elf, *manners, "--seed", seed, "--set", f"console.output={printed}")
            assert done.returncode == 0 and "the program exited" in done.stderr, f"seed {seed} on {name}: {done.stderr}"
            found = printed.read_bytes()
            assert found == expected.stdout, f"seed {seed} on {name}: {explain(expected.stdout, found)}"


@pytest.mark.parametrize("name", sampled(MACHINES, 10, 2))
def test_random_streams(name: str, machine, build_dir: Path, tmp_path: Path) -> None:
    """SEED=n in the environment starts at another seed."""
    for seed in range(FIRST, FIRST + 3):
        compare(seed, [name], machine, build_dir, tmp_path)


@seldom
@pytest.mark.parametrize("name", sampled(["smallest slow", "four cached", "eight slow"], 3, 1))
def test_debug_builds_do_the_same(name: str, machine, tmp_path: Path) -> None:
    """Statistics and all; and each module says when it may sleep."""
    elf = riscv.assemble(riscv.random_program(FIRST).text, tmp_path / "x.elf", "device")
    found = []
    for options in ([], ["--debug"]):
        stats = tmp_path / f"stats{len(found)}.csv"
        checks = ["--check-idle"] if options else []
        done = run(machine(name, *options), elf, *unfriendly(name), *checks, "--stats", stats, "--set", f"console.output={tmp_path / 'out'}")
        assert done.returncode == 0, done.stderr
        found.append(stats.read_text())
    assert found[0] == found[1]


BUSY = """
import memory_types;
module busy_memory {
  parameter width = 64 : int;
  parameter busy = 64 : int;
  inport in : mem(width);
  outport out : mem(width);
  state { uint32 left = busy; bool freed; }
  always out.request.enable, out.reply.ack, in.reply.enable;
  handler pass : in.request.data, in.request.enable -> out.request.data;
  phase_start -> in.request.ack;
  handler reply : out.reply.data, out.reply.enable -> in.reply.data;
  phase_end;
  next_event;
}
"""
BUSY_C = """
phase_start() { accept(in_request, self->left == 0); }
handler(pass) { send_if(out_request, some(in_request) && self->left == 0, data(in_request)); }
handler(reply) { send_if(in_reply, some(out_reply), data(out_reply)); }
phase_end() {
  self->freed = self->left == 1;
  if (self->left > 0) self->left--;
}
next_event() { return self->left > 0 || self->freed ? cycle() : never(); }
"""


@seldom
@pytest.mark.parametrize("busy", sampled([63, 64, 65], 3, 1))
def test_what_memory_refuses_is_offered_on(busy: int, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The core sleeps while it waits, and its request stands there when memory is free.  Whether all sleep for ever is asked before
    each 64th cycle."""
    (tmp_path / "busy_memory.lss").write_text(BUSY)
    (tmp_path / "busy_memory.c").write_text(BUSY_C)
    text = (root / "examples/wide_core/wide_core.lss").read_text()
    busy = "  instance busy : busy_memory { width = 32 * width; busy = BUSY; };\n  core.instructions -> busy.in;\n  busy.out -> code.port;\n".replace("BUSY", str(busy))
    assert text.count("  core.instructions -> code.port;\n") == 1
    (tmp_path / "machine.lss").write_text(text.replace("  core.instructions -> code.port;\n", busy))
    done = subprocess.run([build_dir / "bin/lss", "build", tmp_path / "machine.lss", "-o", tmp_path / "sim"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = run(tmp_path / "sim", riscv.assemble("li a0, 1\nEXIT 0\n", tmp_path / "x.elf", "device"), cycles=1000)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr


@pytest.mark.parametrize("name", sampled(["narrow cached", "four slow"], 2))
def test_restored_runs_go_on(name: str, machine, tmp_path: Path) -> None:
    """From checkpoints in the middle of whatever was in flight, to the same end in the same cycle."""
    elf = riscv.assemble(riscv.random_program(FIRST + 1).text, tmp_path / "x.elf", "device")
    printed = ["--set", f"console.output={tmp_path / 'out'}"]
    whole = run(machine(name), elf, *unfriendly(name), *printed)
    assert whole.returncode == 0, whole.stderr
    end, text = re.findall(r"cycles +(\d+)", whole.stdout + whole.stderr)[0], (tmp_path / "out").read_bytes()
    for cycle in (1000, 1777, 2501):
        saved = tmp_path / f"at{cycle}"
        first = run(machine(name), elf, *unfriendly(name), *printed, "--checkpoint", saved, cycles=cycle)
        assert first.returncode == 0, first.stderr
        done = run(machine(name), elf, *unfriendly(name), *printed, "--restore", saved, "--outputs", "continue")
        assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
        assert re.findall(r"cycles +(\d+)", done.stdout + done.stderr)[0] == end
        assert (tmp_path / "out").read_bytes() == text


STOPS = {
    "ecall": (["nop", "X: ecall"], "syscall"),
    "ebreak": (["nop", "X: ebreak"], "breakpoint"),
    "reserved": (["nop", "X: .word 0x0000007f"], "reserved instruction"),
    "zeros": (["nop", "X: .word 0"], "reserved instruction"),
    "misaligned load": (["addi t0, zero, 2", "X: lw a0, 0(t0)"], "unaligned"),
    "misaligned store": (["addi t0, zero, 1", "X: sh a0, 0(t0)"], "unaligned"),
    "nothing there": (["lui t0, 0x70000", "X: lw a0, 8(t0)"], "nothing responds"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_cannot_be_executed_stops_with_a_report(name: str, machine, tmp_path: Path) -> None:
    """When it is the oldest: the same behind a branch that is taken, where fetch went at first, does nothing."""
    lines, text = STOPS[name]
    code = ["j 1f", ".word 0", "1: beq zero, zero, 2f", *(line.removeprefix("X: ") for line in lines), "2: nop", *lines, "li a0, 1", "EXIT 0"]
    done = run(machine("four"), riscv.assemble("\n".join(code) + "\n", tmp_path / "x.elf", "device"))
    where = 0x400000 + 4 * (3 + 2 * len(lines))
    assert done.returncode == 1 and text in done.stderr and f"pc 0x{where:08x}" in done.stderr, done.stderr


def test_nowhere_to_fetch(machine, tmp_path: Path) -> None:
    elf = riscv.assemble("lui t0, 0x70000\njr 8(t0)\n", tmp_path / "x.elf", "device")
    done = run(machine("four"), elf)
    assert done.returncode == 1 and "nothing to fetch there: pc 0x70000008" in done.stderr, done.stderr
