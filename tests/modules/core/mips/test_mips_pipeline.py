"""mips_pipeline: when instructions retire.  What they compute is the business of tests/isa.

Timings are closed forms: a program of n independent instructions takes n cycles, every dependence adds what the five stages
say.  They are measured as the distance of two retirements at known addresses.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import assemble, tool
from tests.sample import sampled, seldom

MACHINE = """
import memory_types;
import mips_isa_types;
parameter latency = 0 : int;
runtime parameter program = "" : string;
instance start : program_start { program = program; set = "mips32r2"; };
instance core : mips_pipeline { start_halted = true; set = mips_isa.mips32r2; product_cycles = 4; };
instance filter : scratchpad_filter { segments = [{ base = 0, size = 0x800000, target = filter_target.scratchpad }]; };
instance ram : memory_state { width = 32; size = 8 MiB; big_endian = true; image = program; };
instance console : console;
start.control -> core.control;
core.fetch -> filter.in;
core.data -> filter.in;
filter.main -> console.port;
if (latency == 0) {
  filter.scratchpad -> ram.port;
} else {
  instance delay : memory_delay { width = 32; latency = latency; depth = 4; };
  filter.scratchpad -> delay.in;
  delay.out -> ram.port;
}
collector retired on "core.writeback" event retire {
  declare <<< uint64_t n; >>>
  init    <<< self->n = 0; >>>
  record  <<< fprintf(stderr, "retired %08x %llu\\n", (unsigned)pc, (unsigned long long)cycle); self->n++; >>>
  report  <<< report_value("retired", self->n, "instructions", "instructions retired"); >>>
}
"""


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, build_dir: Path):
    directory = tmp_path_factory.mktemp("pipeline")
    (directory / "machine.lss").write_text(MACHINE)
    built = {}

    def build(latency: int = 0) -> Path:
        if latency not in built:
            built[latency] = directory / f"machine{latency}"
            command = [build_dir / "bin" / "lss", "build", directory / "machine.lss", "-o", built[latency], "-D", f"latency={latency}"]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return built[latency]

    return build


@pytest.fixture
def timing(machine, tmp_path: Path):
    """Cycles from the retirement of the nop before the code under test to that of the instruction after it."""

    def measure(code: str, latency: int = 0, prepare: str = "") -> int:
        text = ("lui $t0, %hi(word)\naddiu $t0, $t0, %lo(word)\naddiu $t1, $zero, 5\naddiu $t2, $zero, 7\n" + prepare +
                "\nnop\nnop\nnop\n.globl first\nfirst: nop\n" + code + "\n.globl last\nlast: nop\nnop\nnop\nEXIT 0\n"
                ".data\nword: .word 1, 2, 3, 4\n")
        elf = assemble(text, tmp_path / "x.elf", True, "device", "mips32r2")
        done = subprocess.run([machine(latency), "--program", elf, "--cycles", "20000"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        cycles = {int(pc, 16): int(cycle) for pc, cycle in re.findall(r"^retired (\w+) (\d+)$", done.stderr, re.MULTILINE)}
        listing = subprocess.run([tool("llvm-nm"), elf], capture_output=True, text=True, check=True).stdout
        symbols = {line.split()[2]: int(line.split()[0], 16) for line in listing.splitlines()}
        return cycles[symbols["last"]] - cycles[symbols["first"]]

    return measure


# code: cycles from the instruction before it to the instruction after it
CODE = {
    "nothing": ("", 1),
    "independent": ("addu $t3, $t1, $t2\naddu $t4, $t1, $t2\naddu $t5, $t1, $t2", 4),
    "ALU to ALU": ("addu $t3, $t1, $t2\naddu $t4, $t3, $t2\naddu $t5, $t4, $t3", 4),
    "ALU to store data": ("addu $t3, $t1, $t2\nsw $t3, 0($t0)", 3),
    "load to use": ("lw $t3, 0($t0)\naddu $t4, $t3, $t1", 3 + 1),
    "load, one between, use": ("lw $t3, 0($t0)\nnop\naddu $t4, $t3, $t1", 4 + 1),
    "store, two between": ("sw $t3, 0($t0)\nnop\nnop", 4 + 1),
    "ALU to branch": ("addu $t3, $t1, $t2\nbeq $t3, $zero, 1f\nnop\n1:", 4 + 1),
    "load to branch": ("lw $t3, 0($t0)\nbeq $t3, $zero, 1f\nnop\n1:", 4 + 2),
    "branch not taken": ("beq $t1, $t2, 1f\nnop\n1:", 3),
    "branch taken": ("beq $t1, $t1, 1f\nnop\nnop\nnop\n1:", 3),
    "likely, annulled": ("beql $t1, $t2, 1f\nnop\n1:", 3),
    "call and return": ("jal 1f\nnop\nb 2f\nnop\n1: jr $ra\nnop\n2:", 7),
    "ALU to jump register": ("lui $t3, %hi(last)\naddiu $t3, $t3, %lo(last)\njr $t3\nnop", 5 + 1),
    "multiply and use": ("mult $t1, $t2\nmflo $t3", 1 + 10 + 1),
    "multiply, nine between, use": ("mult $t1, $t2\n" + "nop\n" * 9 + "mflo $t3", 12),
    "multiply, unrelated": ("mult $t1, $t2\naddu $t3, $t1, $t2", 3),
    "divide and use": ("div $zero, $t2, $t1\nmfhi $t3", 1 + 69 + 1),
    "two multiplications": ("mult $t1, $t2\nmult $t2, $t1", 1 + 10 + 1),
    "product for a register": ("mul $t3, $t1, $t2", 1 + 4),
    "product and use": ("mul $t3, $t1, $t2\naddu $t4, $t3, $t3", 2 + 4),
    "product and branch": ("mul $t3, $t1, $t2\nbeq $t3, $zero, 1f\nnop\n1:", 3 + 4 + 1),
    "product of what was just computed": ("addu $t3, $t1, $t2\nmul $t4, $t3, $t3\naddu $t5, $t4, $t3", 3 + 4),
    "product of what was just loaded": ("lw $t3, 0($t0)\nmul $t4, $t3, $t3", 2 + 4 + 1),
    "multiply and product": ("mult $t1, $t2\nmul $t3, $t1, $t2", 1 + 10 + 4),
    "product, HI as it was": ("mul $t3, $t1, $t2\nmfhi $t4", 2 + 4),
    "two accumulations": ("madd $t1, $t2\nmadd $t2, $t1", 1 + 10 + 1),
    "conditional move and use": ("movn $t3, $t1, $t2\naddu $t4, $t3, $t3", 3),
    "conditional move that is not made, and use": ("movz $t3, $t1, $t2\naddu $t4, $t3, $t3", 3),
    "rotation, field, and use": ("rotr $t3, $t1, 3\next $t4, $t3, 0, 5\nins $t4, $t3, 1, 2", 4),
    "prefetch": ("pref 0, 0($t0)", 2),
    "moves to and from": ("mthi $t1\nmfhi $t3", 3),
}


@pytest.mark.parametrize("name", sampled(CODE, 2))
def test_cycles(name: str, timing) -> None:
    """The scratchpad has one port, so a load or store in the memory stage takes the place of the fetch of the third
    instruction behind it, which then comes a cycle later unless something waits anyway."""
    code, cycles = CODE[name]
    assert timing(code) == cycles


@seldom
@pytest.mark.parametrize("latency", sampled([1, 3], 2, 1))
def test_slow_fetches_bound_the_rate(latency: int, timing) -> None:
    """One fetch is under way at a time, so each instruction takes the memory's latency and the cycle of asking."""
    assert timing("addu $t3, $t1, $t2\n" * 4, latency) == 5 * (latency + 1)
