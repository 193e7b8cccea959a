"""rv32i_pipeline: when instructions retire, that halting and stepping at any moment change nothing but the time, and that nothing of
the pipeline but decoder and ALU knows of the instruction set.  What instructions compute is the business of tests/isa."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import TEXT, tool
from tests.isa.riscv import assemble, random_program
from tests.isa.streams import explain
from tests.sample import sampled, seldom
from tests.tree import found

MACHINE = f"""
import memory_types;
import core_types;
parameter commanded = false : bool;
runtime parameter program = "" : string;
instance core : rv32i_pipeline {{ reset_pc = {TEXT}; }};
instance filter : scratchpad_filter {{ segments = [{{ base = 0, size = 0x800000, target = filter_target.scratchpad }}]; }};
instance ram : memory_state {{ width = 32; size = 8 MiB; image = program; }};
instance console : console;
core.fetch -> filter.in;
core.data -> filter.in;
filter.main -> console.port;
filter.scratchpad -> ram.port;
if (commanded) {{
  instance commands : source {{
    offer = 0.15;
    generate = <<<
      core_control command = {{.set_halt = index % 6 < 3 || index % 6 == 5, .halt = index % 6 == 0 || index % 6 == 2}};
      command.step = index % 6 == 3 || index % 6 == 4;
      command.flush = index % 7 == 0;
      return command;
    >>>;
  }};
  commands.out -> core.control;
}}
collector retired on "core.writeback" event retire {{
  declare <<< uint64_t n; >>>
  init    <<< self->n = 0; >>>
  record  <<< fprintf(stderr, "retired %08x %llu\\n", (unsigned)pc, (unsigned long long)cycle); self->n++; >>>
  report  <<< report_value("retired", self->n, "instructions", "instructions retired"); >>>
}}
"""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path) -> dict[bool, Path]:
    directory = tmp_path_factory.mktemp("pipeline")
    (directory / "machine.lss").write_text(MACHINE)
    built = {}
    for commanded in (False, True):
        built[commanded] = directory / f"machine{commanded}"
        command = [build_dir / "bin" / "lss", "build", directory / "machine.lss", "-o", built[commanded], "-D", f"commanded={str(commanded).lower()}"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return built


# code: cycles from the instruction before it to the instruction after it
CODE = {
    "nothing": ("", 1),
    "independent": ("add t3, t1, t2\nadd t4, t1, t2\nadd t5, t1, t2", 4),
    "ALU to ALU": ("add t3, t1, t2\nadd t4, t3, t2\nsub t5, t4, t3", 4),
    "load to use": ("lw t3, 0(t0)\nadd t4, t3, t1", 3 + 1),
    "equality, not taken": ("beq t1, t2, 1f\n1:", 2),
    "equality, taken": ("beq t1, t1, 1f\nnop\nnop\n1:", 2 + 1),
    "ALU to equality": ("add t3, t1, t2\nbeq t3, zero, 1f\n1:", 3 + 1),
    "less, not taken": ("blt t2, t1, 1f\n1:", 2 + 2),
    "less, taken": ("blt t1, t2, 1f\nnop\nnop\n1:", 2 + 2 + 1),
    "load to less": ("lw t3, 0(t0)\nbltu t1, t3, 1f\n1:", 3 + 1 + 2),
    "jump": ("j 1f\nnop\nnop\n1:", 2 + 1),
    "call and return": ("jal ra, 1f\nj 2f\n1: jalr zero, 0(ra)\n2:", 4 + 3),
}


@pytest.mark.parametrize("name", sampled(CODE, 2))
def test_cycles(name: str, machines: dict[bool, Path], tmp_path: Path) -> None:
    """A taken branch costs the annulled word behind it, less-than a comparison and the wait for it."""
    code, cycles = CODE[name]
    text = f"la t0, word\nli t1, 5\nli t2, 7\nnop\nnop\nnop\n.globl first\nfirst: nop\n{code}\n.globl last\nlast: nop\nnop\nnop\nEXIT 0\n.data\nword: .word 1, 2\n"
    elf = assemble(text, tmp_path / "x.elf", "device")
    done = subprocess.run([machines[False], "--program", elf, "--cycles", "20000"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    retired = {int(pc, 16): int(cycle) for pc, cycle in re.findall(r"^retired (\w+) (\d+)$", done.stderr, re.MULTILINE)}
    listing = subprocess.run([tool("llvm-nm"), elf], capture_output=True, text=True, check=True).stdout
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in listing.splitlines()}
    assert retired[symbols["last"]] - retired[symbols["first"]] == cycles


@seldom
@pytest.mark.parametrize("seed", range(1, 5))
def test_halts_and_steps_are_invisible(seed: int, machines: dict[bool, Path], build_dir: Path, tmp_path: Path) -> None:
    text = random_program(seed).text
    expected = subprocess.run([build_dir / "bin" / "rv32i-oracle", assemble(text, tmp_path / "oracle.elf")], capture_output=True).stdout
    elf = assemble(text, tmp_path / "core.elf", "device")
    printed = tmp_path / "printed"
    command = [machines[True], "--program", elf, "--cycles", "2000000", "--seed", str(seed), "--set", f"console.output={printed}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    assert printed.read_bytes() == expected, f"seed {seed}: {explain(expected, printed.read_bytes())}"


def test_only_decoder_and_alu_differ_from_the_mips_pipeline(root: Path) -> None:
    """What the two pipelines instantiate: the same modules, but for these."""
    used = {}
    for name in ("mips_pipeline", "rv32i_pipeline"):
        text = found(root / "modules", f"{name}.lss")[0].read_text()
        used[name] = sorted(re.findall(r"^  (?:instance|wraps) \w+ : (\w+)", text, re.MULTILINE))
    own = {"rv32i_decode": "mips_decode", "rv32i_alu": "alu"}
    assert sorted(own.get(m, m) for m in used["rv32i_pipeline"]) == used["mips_pipeline"]
