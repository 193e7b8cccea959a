"""Bare-metal programs that try the system of a processor: exceptions, modes, TLB, coprocessor 0.  A program is a list of
cases; it writes what each case left behind into a buffer and prints that as hexadecimal words, so that machines can be
compared with each other and with what the case expects.

A case is set-up and action in assembly, in kernel mode or, behind a return from an exception, in user mode, with its code
mapped at its physical address.  Exceptions are recorded by the handler as seven words: 0xe0000000 + number of the vector,
Cause, EPC, BadVAddr, Status, EntryHi, Context; the address registers are 0 where the exception does not set them.  The handler
returns in kernel mode to the end of the case.  RECORD adds a word.  Register gp is the end of the buffer, s7 where the handler
returns to, k0 and k1 are the handler's.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.isa.programs import HEAD, executable, symbols, target

KSEG0, TEXT, DATA, BUFFER, FRAMES = 0x80000000, 0x80100000, 0x80180000, 0x80200000, 0x00300000
USER = 0x00400000  # code for user mode, to be mapped where it is
INT, MOD, TLBL, TLBS, ADEL, ADES, IBE, DBE, SYS, BP, RI, CPU, OV, TR = range(14)
REFILL, GENERAL, INTERRUPT, BOOT_REFILL, BOOT_GENERAL, BOOT_INTERRUPT = range(6)
CU0, BEV, UM, ERL, EXL, IE = 1 << 28, 1 << 22, 16, 4, 2, 1
IV, BD = 1 << 23, 1 << 31

VECTOR = """
  lui $k0, %hi(handler)
  addiu $k0, $k0, %lo(handler)
  jr $k0
  addiu $k1, $zero, {}
"""
START = f"""
.macro RECORD r
  sw \\r, 0($gp)
  addiu $gp, $gp, 4
.endm
.macro LI r, value
  lui \\r, (\\value) >> 16
  ori \\r, \\r, (\\value) & 0xffff
.endm
.macro LA r, label
  lui \\r, %hi(\\label)
  addiu \\r, \\r, %lo(\\label)
.endm
.macro MAP index, hi, lo0, lo1, mask=0
  LI $k0, \\index
  mtc0 $k0, $0
  LI $k0, \\hi
  mtc0 $k0, $10
  LI $k0, \\lo0
  mtc0 $k0, $2
  LI $k0, \\lo1
  mtc0 $k0, $3
  LI $k0, \\mask
  mtc0 $k0, $5
  ehb
  tlbwi
  mtc0 $zero, $10
  mtc0 $zero, $5
  ehb
.endm
.section .vectors, "ax", @progbits
{VECTOR.format(REFILL)} .org 0x180
{VECTOR.format(GENERAL)} .org 0x200
{VECTOR.format(INTERRUPT)}
.section .rom, "ax", @progbits
{VECTOR.format(BOOT_REFILL)} .org 0x180
{VECTOR.format(BOOT_GENERAL)} .org 0x200
{VECTOR.format(BOOT_INTERRUPT)}
.text
handler:
  lui $k0, 0xe000
  or $k0, $k0, $k1
  sw $k0, 0($gp)
  mfc0 $k0, $13
  LI $k1, 0xb080037c
  and $k1, $k0, $k1
  sw $k1, 4($gp)
  mfc0 $k1, $14
  sw $k1, 8($gp)
  sw $zero, 12($gp)
  mfc0 $k1, $12
  sw $k1, 16($gp)
  sw $zero, 20($gp)
  sw $zero, 24($gp)
  andi $k0, $k0, 0x7c
  addiu $k0, $k0, -4
  sltiu $k1, $k0, 20
  beqz $k1, 1f
  sltiu $k0, $k0, 12
  mfc0 $k1, $8
  beqz $k0, 1f
  sw $k1, 12($gp)
  mfc0 $k1, $10
  sw $k1, 20($gp)
  mfc0 $k1, $4
  sw $k1, 24($gp)
1:
  addiu $gp, $gp, 28
  LI $k0, {CU0 | EXL:#x}
  mtc0 $k0, $12
  mtc0 $s7, $14
  ehb
  eret
reset:
  lui $k0, {CU0 >> 16:#x}
  mtc0 $k0, $12
  mtc0 $zero, $13
  mtc0 $zero, $4
  mtc0 $zero, $6
  mtc0 $zero, $7
  addiu $k0, $zero, 15
  mtc0 $zero, $2
  mtc0 $zero, $3
  mtc0 $zero, $5
1:
  mtc0 $k0, $0
  sll $k1, $k0, 13
  lui $t9, 0x9000
  addu $k1, $k1, $t9
  mtc0 $k1, $10
  ehb
  tlbwi
  bnez $k0, 1b
  addiu $k0, $k0, -1
  MAP 0, 0, 0x1f, 0x401f, 0x1fe000
  mtc0 $zero, $4
  mfc0 $k0, $9
  addiu $k0, $k0, -1
  jr $ra
  mtc0 $k0, $11
.globl __start
__start:
  LI $gp, {BUFFER:#x}
"""
END = f"""
  LI $t0, {BUFFER:#x}
  lui $t3, 0xbf00
1:
  beq $t0, $gp, 4f
  addiu $t4, $zero, 28
  lw $t1, 0($t0)
2:
  srlv $t2, $t1, $t4
  andi $t2, $t2, 15
  sltiu $t5, $t2, 10
  bnez $t5, 3f
  addiu $t2, $t2, 48
  addiu $t2, $t2, 39
3:
  sb $t2, 0x900($t3)
  bnez $t4, 2b
  addiu $t4, $t4, -4
  addiu $t2, $zero, 10
  sb $t2, 0x900($t3)
  b 1b
  addiu $t0, $t0, 4
4:
  sw $zero, 0x504($t3)
  addiu $t0, $zero, 0x42
  sb $t0, 0x500($t3)
5:
  b 5b
  nop
"""


@dataclass(frozen=True)
class Fault:
    """An exception that a case expects: its code, and where its instruction is, the label X or another."""

    code: int
    at: str = "X"
    bad: int | None = None  # an address, for exceptions that have one
    vector: int = GENERAL
    slot: bool = False
    unit: int = 0
    status: int | None = None  # unless it is what the case began with
    asid: int = 0
    extra: int = 0  # more bits of Cause
    base: int = 0  # upper bits of Context


@dataclass
class Case:
    name: str
    code: str
    expect: list = field(default_factory=list)  # of Fault, words, and labels
    user: bool = False
    status: int = CU0
    qemu: bool = True  # whether qemu does the same


def wrap(n: int, case: Case) -> str:
    """The code of a case, with its labels made its own."""
    code = re.sub(r"\b([A-Z]\d*)\b(?=[:\s,)+-]|$)", lambda m: f"{m[1]}_{n}", case.code)
    lines = [f"  LI $k0, {0xCA5E0000 + n:#x}", "  RECORD $k0", "  jal reset", "  nop", f"  LA $s7, E_{n}"]
    if case.user:
        lines += [f"  LA $k0, U_{n} - {KSEG0:#x}", "  mtc0 $k0, $14", f"  LI $k0, {case.status | UM | EXL:#x}", "  mtc0 $k0, $12",
                  "  ehb", "  eret", f"U_{n}:", code, "  syscall", f"E_{n}:"]  # fmt: skip
    else:
        lines += [f"  LI $k0, {case.status:#x}", "  mtc0 $k0, $12", "  ehb", code, f"E_{n}:"]
    return "\n".join(lines)


def expected(n: int, case: Case, labels: dict[str, int]) -> list[int]:
    offset = KSEG0 if case.user else 0
    status = (case.status | UM) if case.user else case.status
    words = []
    for e in case.expect:
        if isinstance(e, str):
            words.append((labels[f"{e}_{n}"] - offset) & 0xFFFFFFFF)
        elif isinstance(e, int):
            words.append(e & 0xFFFFFFFF)
        else:
            translated = e.code in (MOD, TLBL, TLBS)
            bad = e.bad or 0
            at = (labels[f"{e.at}_{n}"] - offset) & 0xFFFFFFFF if not e.at[0].isdigit() else int(e.at, 0)
            words += [0xE0000000 + e.vector, e.code << 2 | e.unit << 28 | (BD if e.slot else 0) | e.extra, at, bad,
                      (status if e.status is None else e.status) | EXL,
                      bad & 0xFFFFE000 | e.asid if translated else 0, e.base | bad >> 13 << 4 if translated else 0]  # fmt: skip
    return words


def build(cases: list[Case], output: Path, big: bool, mt: bool = False) -> Path:
    return assemble(source(cases, mt), output, big)


def source(cases: list[Case], mt: bool = False) -> str:
    """Its assembly text."""
    return HEAD + ".set mt\n" * mt + START + "\n".join(wrap(n, case) for n, case in enumerate(cases)) + END


LAYOUT = f"""
ENTRY(__start)
PHDRS {{ user PT_LOAD; vectors PT_LOAD; text PT_LOAD; data PT_LOAD; rom PT_LOAD; }}
SECTIONS {{
  .user {USER:#x} : {{ *(.user) }} :user
  .vectors {KSEG0:#x} : {{ *(.vectors) }} :vectors
  .text {TEXT:#x} : {{ *(.text) }} :text
  .data {DATA:#x} : {{ *(.data) *(.bss) }} :data
  .rom 0xbfc00200 : {{ *(.rom) }} :rom
  /DISCARD/ : {{ *(.reginfo) *(.MIPS.abiflags) }}
}}
"""


def assemble(text: str, output: Path, big: bool) -> Path:
    source, layout = output.with_suffix(".s"), output.with_suffix(".ld")
    source.write_text(text)
    layout.write_text(LAYOUT)
    return executable([source], output, target(big, "mips32r2"), "-T", str(layout))


def on_oracle(elf: Path, big: bool, build_dir: Path, *options: str) -> subprocess.CompletedProcess:
    command = [build_dir / "bin" / "mips-oracle", "--system", *(["--big-endian"] if big else []), *options, elf]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def qemu_is_there() -> bool:
    return all(shutil.which(f"qemu-system-{name}") for name in ("mips", "mipsel"))


def on_qemu(elf: Path, big: bool, cpu: str = "4KEc", vpes: int = 1) -> subprocess.CompletedProcess:
    """The third UART of its Malta board is where ours is; -icount makes it deterministic, but would give one of several VPEs all the time."""
    time = ["-icount", "shift=3,sleep=off"] if vpes == 1 else ["-accel", "tcg,thread=single"]
    command = [f"qemu-system-{'mips' if big else 'mipsel'}", "-M", "malta", "-cpu", cpu, "-smp", str(vpes), "-m", "64", "-no-reboot", "-nic", "none", "-vga", "none", "-display", "none", "-monitor", "none",
               *time, "-serial", "null", "-serial", "null", "-serial", "stdio", "-kernel", elf]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)


def records(printed: str, count: int) -> list[list[int]]:
    """What each case printed.  Cause names a coprocessor only when one is unusable; else those bits are undefined."""
    found: list[list[int]] = []
    words = [int(line, 16) for line in printed.split()]
    for before, word in zip([0, *words], words, strict=False):
        if word == 0xCA5E0000 + len(found):
            found.append([])
        else:
            cause = before >> 4 == 0xE000000 and word >> 2 & 31 != CPU
            found[-1].append(word & 0xCFFFFFFF if cause else word)
    assert len(found) == count, f"{len(found)} of {count} cases began"
    return found


def differences(cases: list[Case], found: list[list[int]], wanted: list[list[int]]) -> list[str]:
    return [f"{case.name}: {' '.join(f'{w:x}' for w in a)}; expected {' '.join(f'{w:x}' for w in b)}" for case, a, b in zip(cases, found, wanted, strict=True) if a != b]


def labels_of(elf: Path) -> dict[str, int]:
    return symbols(elf)
