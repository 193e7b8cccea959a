"""A program for cores with system control in which something fails, serialises or interrupts, and when that was."""

import re
import subprocess
from pathlib import Path

from tests.isa import system
from tests.isa.system_core import KSEG0_CACHED, boot
from tests.modules.harness import collect

# What comes is done several times, the last with all instructions in the cache; the handler passes over what failed.
PROGRAM = """
.macro LI r, value
  lui \\r, (\\value) >> 16
  ori \\r, \\r, (\\value) & 0xffff
.endm
.section .vectors, "ax", @progbits
refill:
  nop
  j general
  nop
.org 0x180
general:
  mfc0 $k0, $14
  addiu $k0, $k0, 4
  mtc0 $k0, $14
returns:
  eret
.org 0x200
interrupt:
  mtc0 $zero, $13
  eret
.text
.globl __start
__start:
  LI $t0, 0x10000000
  mtc0 $t0, $12
  addiu $s0, $zero, {passes}
  LI $t0, 0x80300000
  lui $t1, 0x2000
  lui $t2, 0x7fff
again:
  {prepare}
  nop
  nop
  nop
X:
  {code}
Y:
  nop
  nop
  nop
  addiu $s0, $s0, -1
  bnez $s0, again
  nop
  LI $t0, 0xbf000500
  sw $zero, 4($t0)
9: b 9b
  nop
"""


def build(root: Path, build_dir: Path, directory: Path, retires: str, *options: str) -> Path:
    """The machine of the tests of the system, with what it reports; `retires` is the part of the core in which instructions leave it."""
    events = collect(f"core.{retires}", "retire(pc)") + collect("core.**", "exception(pc, code)", "interrupt(pc)")
    text = (root / "tests" / "isa" / "system_machine.lss").read_text()
    (directory / "machine.lss").write_text(text + events)
    subprocess.run(
        [build_dir / "bin" / "lss", "build", directory / "machine.lss", "-o", directory / "machine", *options],
        check=True,
    )
    return directory / "machine"


def assemble(elf: Path, code: str, prepare: str, passes: int) -> Path:
    text = PROGRAM.replace("{code}", code).replace("{prepare}", prepare).replace("{passes}", str(passes))
    return system.assemble(system.HEAD + text, elf, False)


class Timeline:
    """When instructions left the core, and when something else than the next came."""

    def __init__(self, machine: Path, directory: Path, code: str, prepare: str = "", passes: int = 2) -> None:
        elf = assemble(directory / "x.elf", code, prepare, passes)
        command = [machine, *boot(elf, directory, False, KSEG0_CACHED), "--cycles", "20000"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
        self.labels = system.labels_of(elf)
        self.seen = [
            (kind, int(cycle), int(pc) & 0xFFFFFFFF)
            for kind, cycle, pc in re.findall(r"^@(\w+) (\d+) (-?\d+)", done.stdout, re.MULTILINE)
        ]

    def last(self, kind: str, label: str) -> int:
        """The cycle in which that was, the last time."""
        return [cycle for what, cycle, pc in self.seen if (what, pc) == (kind, self.labels[label])][-1]
