"""Assembles and compiles small MIPS programs for tests, and knows how a program ends on each kind of machine.

A program says `EXIT(status)` and `WRITE(address, length)`; the convention decides what that becomes:
"linux" system calls for mips-oracle and qemu, "device" stores to the console of modules/console for machines.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

CONSOLE = 0xFFFF0000  # where test machines put the console: +0 a byte to print, +4 the exit status
TEXT = 0x00400000
DATA = 0x00500000

HEAD = """
.set noreorder
.set noat
.set nomacro
"""

PREAMBLE = {
    "linux": """
.macro EXIT status
  addiu $a0, $zero, \\status
  addiu $v0, $zero, 4001
  syscall
  nop
.endm
.macro WRITE address, length
  addiu $a0, $zero, 1
  lui $a1, %hi(\\address)
  addiu $a1, $a1, %lo(\\address)
  addiu $a2, $zero, \\length
  addiu $v0, $zero, 4004
  syscall
  nop
.endm
""",
    "device": f"""
.macro EXIT status
  lui $a1, {CONSOLE >> 16}
  addiu $a0, $zero, \\status
  sw $a0, 4($a1)
9:
  b 9b
  nop
.endm
.macro WRITE address, length
  lui $a1, %hi(\\address)
  addiu $a1, $a1, %lo(\\address)
  addiu $a2, $a1, \\length
  lui $a3, {CONSOLE >> 16}
8:
  lbu $v0, 0($a1)
  addiu $a1, $a1, 1
  bne $a1, $a2, 8b
  sb $v0, 0($a3)
.endm
""",
}


@cache
def tool(name: str) -> str:
    """A tool of LLVM by its newest name."""
    for candidate in (f"{name}-22", f"{name}-19", name):
        if shutil.which(candidate):
            return candidate
    raise AssertionError(f"{name} is not installed; make deps installs it")


def target(big: bool, instruction_set: str = "mips2") -> list[str]:
    return [f"--target={'mips' if big else 'mipsel'}-linux-gnu", f"-{'mips2' if instruction_set == 'prijoff' else instruction_set}", "-G0", "-mno-abicalls", "-fno-pic"]


def run(command: list, **options) -> subprocess.CompletedProcess:
    done = subprocess.run([str(c) for c in command], capture_output=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout.decode()}{done.stderr.decode()}"
    return done


def symbols(elf: Path) -> dict[str, int]:
    """The addresses of an executable's symbols."""
    listing = run([tool("llvm-nm"), elf]).stdout.decode()
    return {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) \w (\w+)$", listing, re.MULTILINE)}


def assemble(text: str, output: Path, big: bool, convention: str = "linux", instruction_set: str = "mips2") -> Path:
    """Makes an ELF file of assembly text whose code starts at `__start`; data symbols live at DATA."""
    source = output.with_suffix(".s")
    source.write_text(HEAD + PREAMBLE[convention] + ".text\n.globl __start\n__start:\n" + text)
    return link([source], output, big, instruction_set=instruction_set)


def link(sources: list[Path], output: Path, big: bool, *flags: str, instruction_set: str = "mips2") -> Path:
    flags = (*target(big, instruction_set), "-O2", "-g", "-gdwarf-4", "-ffreestanding", *flags)
    return executable(sources, output, flags, "--image-base=0x300000", f"-Ttext={TEXT:#x}", f"-Tdata={DATA:#x}", "-e", "__start")


def executable(sources: list[Path], output: Path, flags: Sequence[str], *options: str) -> Path:
    """Compiles or assembles, and links with objects and archives; clang alone would begin twice as many processes."""
    parts = {source: source if source.suffix in (".o", ".a") else output.with_name(f"{output.name}.{source.name}.o") for source in sources}
    for source, made in parts.items():
        if made != source:
            run([tool("clang"), *flags, "-Wno-unused-command-line-argument", "-c", "-o", made, source])
    run([tool("ld.lld"), "-static", *options, "-o", output, *parts.values()])
    return output
