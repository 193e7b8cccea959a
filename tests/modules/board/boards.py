"""A system of modules/board with a console and a device beside its memory, and a program that uses all of it."""

from pathlib import Path

from tests.emulib.test_system import bare
from tests.modules.harness import MOST_CHECKED, Bench, Ran

# Prints A from a cached word, B from one past the caches, and what the device writes to a line that is cached, as soon as it is seen.
PROGRAM = """
  LI $s0, 0xbf000000
  LI $s1, 0x80200000
  LI $s2, 0xa0200100
  addiu $t0, $zero, 65
  sw $t0, 0($s1)
  lw $t1, 0($s1)
  sb $t1, 0($s0)
  addiu $t0, $zero, 66
  sw $t0, 0($s2)
  lw $t1, 0($s2)
  sb $t1, 0($s0)
1: lw $t0, 0x40($s1)
  beqz $t0, 1b
  nop
  sb $t0, 0($s0)
  sw $zero, 4($s0)
2: b 2b
  nop
"""
LONGEST = MOST_CHECKED + 1  # that every module sleeps is a matter of its own test
DEVICE = "1200 write 4 0x200040 0x43\n"
BOOT = 'boot = { name = "rom", base = 0x1fc00000, size = 0x1000 };'


def board(system: str, processor: str, body: str = "") -> str:
    """A netlist; the processor may have settings, scalar_processor(ways = 2)."""
    return f"""
import memory_types; import register_types; import core_types; import coherence_types;
instance dut : {system} {{ processor = {processor}; memory = 4 MiB; {BOOT} {body} }};
instance console : console {{ width = 64; base = 0x1f000000; }};
instance device : memory_source;
dut.io -> console.port;
device.memory -> dut.dma["device"];
"""


def runs(bench: Bench, tmp_path: Path, system: str, processor: str, body: str = "", more: str = "", **settings: object) -> Ran:
    """The program on such a board, with more netlist around it; it has to print what it should and end."""
    kernel = bare(PROGRAM, tmp_path / "kernel.elf")
    given = {"dut.kernel": kernel, "device.script": "device", **{f"dut.{name}": value for name, value in settings.items()}}
    ran = bench.run(bench.build(board(system, processor, body) + more), LONGEST, given, files={"device": DEVICE})
    assert "ABC" in ran.out and "the program exited" in ran.err, ran.out + ran.err
    return ran
