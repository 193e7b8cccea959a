"""RV32I programs for tests: how they are assembled, what every instruction must do as inputs and literal results, and random
programs that terminate, never trap, and print all registers and their memory at the end.

The expected values were worked out by hand from the manual; nothing here is computed with the code under test.  A program says
EXIT and WRITE as in programs.py: system calls for rv32i-oracle and qemu, stores to the console for machines.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from tests.isa import streams
from tests.isa.programs import CONSOLE, DATA, TEXT, executable
from tests.isa.streams import AREA, Stream, generate

TABLE = Path(__file__).resolve().parents[2] / "emulib" / "rv32i" / "instructions.def"
TARGET = ["--target=riscv32", "-march=rv32i", "-mabi=ilp32", "-mno-relax"]
HEAD = {
    "linux": """
.macro EXIT_A0
  li a7, 93
  ecall
.endm
.macro WRITE address, length
  li a0, 1
  la a1, \\address
  li a2, \\length
  li a7, 64
  ecall
.endm
""",
    "device": f"""
.macro EXIT_A0
  li a1, {CONSOLE:#x}
  sw a0, 4(a1)
9: j 9b
.endm
.macro WRITE address, length
  la a1, \\address
  li a2, \\length
  add a2, a2, a1
  li a3, {CONSOLE:#x}
8: lbu a0, 0(a1)
  sb a0, 0(a3)
  addi a1, a1, 1
  bne a1, a2, 8b
.endm
""",
}
COMMON = """
.macro EXIT status
  li a0, \\status
  EXIT_A0
.endm
.text
.globl __start
__start:
"""


@cache
def table() -> list[generate.Instruction]:
    return generate.parse(str(TABLE)).instructions


def assemble(text: str, output: Path, convention: str = "linux") -> Path:
    """Makes an ELF file of assembly text whose code starts at `__start`; data symbols live at DATA."""
    source = output.with_suffix(".s")
    source.write_text(HEAD[convention] + COMMON + text)
    return executable([source], output, [*TARGET, "-g", "-gdwarf-4"], "--image-base=0x300000", f"-Ttext={TEXT:#x}", f"-Tdata={DATA:#x}", "-e", "__start")


M1, MIN, MAX = 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF
# name: (a, b, result) for rd = a OP b
REGISTER = {
    "add": [(3, 4, 7), (M1, 1, 0), (MAX, 1, MIN)],
    "sub": [(3, 4, M1), (MIN, 1, MAX), (0, MIN, MIN)],
    "and": [(0xFF00FF00, 0x0FF00FF0, 0x0F000F00), (M1, M1, M1)],
    "or": [(0xFF00FF00, 0x0FF00FF0, 0xFFF0FFF0), (MIN, 1, MIN + 1)],
    "xor": [(0xFF00FF00, 0x0FF00FF0, 0xF0F0F0F0), (M1, M1, 0)],
    "slt": [(3, 4, 1), (4, 3, 0), (M1, 0, 1), (0, M1, 0), (MIN, MAX, 1), (7, 7, 0)],
    "sltu": [(3, 4, 1), (4, 3, 0), (M1, 0, 0), (0, M1, 1), (MIN, MAX, 0), (7, 7, 0)],
    "sll": [(1, 0, 1), (1, 31, MIN), (1, 32, 1), (3, 0xFFFFFFE4, 0x30)],
    "srl": [(MIN, 0, MIN), (MIN, 31, 1), (MIN, 33, 0x40000000), (0xF0, 0xFFFFFFE4, 0xF)],
    "sra": [(MIN, 0, MIN), (MIN, 31, M1), (MIN, 33, 0xC0000000), (0x72345678, 8, 0x00723456)],
}
# name: (a, immediate as written, result)
IMMEDIATE = {
    "addi": [(3, 4, 7), (0, -1, M1), (MAX, 1, MIN), (0, -2048, 0xFFFFF800), (0, 2047, 0x7FF)],
    "slti": [(3, 4, 1), (4, 4, 0), (M1, 0, 1), (0, -1, 0), (MIN, 2047, 1)],
    "sltiu": [(3, 4, 1), (4, 4, 0), (M1, 0, 0), (0, -1, 1), (0xFFFFF7FF, -2048, 1)],
    "xori": [(M1, -1, 0), (0x1234, 0x234, 0x1000), (0, -2048, 0xFFFFF800)],
    "ori": [(0x12340000, 0x678, 0x12340678), (0, -1, M1)],
    "andi": [(M1, 0x7FF, 0x7FF), (0x12345678, -256, 0x12345600)],
    "slli": [(1, 0, 1), (1, 31, MIN), (0x12345678, 8, 0x34567800)],
    "srli": [(MIN, 31, 1), (0x80000010, 4, 0x08000001)],
    "srai": [(MIN, 31, M1), (0x80000010, 4, 0xF8000001), (0x72345678, 8, 0x00723456)],
}
# name: (a, b, taken)
BRANCH = {
    "beq": [(1, 1, True), (1, 2, False), (M1, 1, False)],
    "bne": [(1, 1, False), (1, 2, True), (MIN, 0, True)],
    "blt": [(3, 4, True), (4, 3, False), (M1, 0, True), (0, M1, False), (7, 7, False), (MIN, MAX, True)],
    "bge": [(3, 4, False), (4, 3, True), (M1, 0, False), (0, M1, True), (7, 7, True), (MIN, MAX, False)],
    "bltu": [(3, 4, True), (4, 3, False), (M1, 0, False), (0, M1, True), (7, 7, False), (MIN, MAX, False)],
    "bgeu": [(3, 4, False), (4, 3, True), (M1, 0, True), (0, M1, False), (7, 7, True), (MIN, MAX, True)],
}
# The memory under test: bytes 80 01 7f fe 12 34 56 78.  name: (offset, result)
LOAD = {
    "lb": [(0, 0xFFFFFF80), (1, 1), (3, 0xFFFFFFFE)], "lbu": [(0, 0x80), (3, 0xFE), (7, 0x78)],
    "lh": [(0, 0x180), (2, 0xFFFFFE7F), (4, 0x3412)], "lhu": [(2, 0xFE7F), (6, 0x7856)],
    "lw": [(0, 0xFE7F0180), (4, 0x78563412)],
}  # fmt: skip
# name: (offset, value, word of zeros afterwards)
STORE = {
    "sb": [(0, 0x12345678, 0x78), (1, 0xFF, 0xFF00), (3, 0x80, 0x80000000)],
    "sh": [(0, 0x12345678, 0x5678), (2, 0x12348001, 0x80010000)],
    "sw": [(0, 0x12345678, 0x12345678)],
}
JUMPS = """
  CASE
  lui a0, 0xfffff
  CHECK a0, 0xfffff000
  CASE
here: auipc a0, 1
  GAP
  la t2, here + 0x1000
  bne a0, t2, fail
  CASE
  li a0, 0
call: jal t2, 1f
  addi a0, a0, 1
  addi a0, a0, 2
1: GAP
  la a1, call + 4
  bne t2, a1, fail
  CHECK a0, 0
  CASE
  la t0, 2f + 17
  li a0, 0
  GAP
again: jalr t0, -16(t0)
  addi a0, a0, 1
2: GAP
  la a1, again + 4
  bne t0, a1, fail
  CHECK a0, 0
  CASE
  jal ra, sub
  j 3f
  addi a0, a0, 1
sub: li a0, 77
  ret
  addi a0, a0, 1
3: CHECK a0, 77
  CASE
  la t0, pattern
  lw t1, 8(t0)
  GAP
  jalr ra, 0(t1)
  CHECK a0, 77
  CASE
  fence rw, rw
"""
COVERED = {*REGISTER, *IMMEDIATE, *BRANCH, *LOAD, *STORE, "lui", "auipc", "jal", "jalr", "fence", "ecall"}


def cases(nops: int) -> str:
    """One program with every case, `nops` instructions between producers and consumers; exits with 0, or with the number of the
    first case that failed."""
    gap = "\n".join(["nop"] * nops)
    lines = [f".macro GAP\n{gap}\n.endm", ".macro CASE\n addi s7, s7, 1\n.endm",
             ".macro CHECK register, value\n GAP\n mv t3, \\register\n li t4, \\value\n bne \\register, t4, fail\n bne t3, t4, fail\n.endm",
             "li s7, 0"]  # fmt: skip
    for name, rows in REGISTER.items():
        for a, b, result in rows:
            for order in ((f"li t0, {a:#x}", f"li t1, {b:#x}"), (f"li t1, {b:#x}", f"li t0, {a:#x}")):
                lines += ["CASE", *order, "GAP", f"{name} a0, t0, t1", f"CHECK a0, {result:#x}"]
            lines += ["CASE", f"{name} zero, t0, t1", "CHECK zero, 0"]
    for name, rows in IMMEDIATE.items():
        for a, immediate, result in rows:
            lines += ["CASE", f"li t0, {a:#x}", "GAP", f"{name} a0, t0, {immediate}", f"CHECK a0, {result:#x}"]
    for name, rows in BRANCH.items():
        for n, (a, b, taken) in enumerate(rows):
            at = f"{name}_{n}"
            lines += ["CASE", "li a0, 0", f"li t1, {b:#x}", f"li t0, {a:#x}", "GAP", f"{name} t0, t1, {at}",
                      "addi a0, a0, 1", "addi a0, a0, 16", f"{at}:", f"CHECK a0, {0 if taken else 17}"]  # fmt: skip
        step = {"beq": ("sltiu t0, t2, 5", 1), "bne": ("addi t0, t2, -5", 0), "blt": ("mv t0, t2", 5),
                "bge": ("sub t0, a2, t2", 1), "bltu": ("mv t0, t2", 5), "bgeu": ("sltiu t0, t2, 5", 1)}[name]  # fmt: skip
        lines += ["CASE", f"li a2, 5\nli t2, 0\nli t1, {step[1]}", f"{name}_loop: addi t2, t2, 1", step[0], "GAP",
                  f"{name} t0, t1, {name}_loop", "CHECK t2, 5"]  # fmt: skip
    for name, rows in LOAD.items():
        for offset, result in rows:
            lines += ["CASE", f"la t0, pattern + {offset + 8}", "GAP", f"{name} a0, -8(t0)", f"CHECK a0, {result:#x}"]
            lines += ["CASE", "GAP", f"{name} a0, -8(t0)", "GAP", f"li t4, {result:#x}", "bltu a0, t4, fail", "bltu t4, a0, fail"]
    for name, rows in STORE.items():
        for offset, value, result in rows:
            lines += ["CASE", f"la t0, scratch + {offset - 4}", f"sw zero, {4 - offset}(t0)", f"li t1, {value:#x}", "GAP",
                      f"{name} t1, 4(t0)", "GAP", f"lw a0, {4 - offset}(t0)", f"CHECK a0, {result:#x}"]  # fmt: skip
    lines += [JUMPS, "EXIT 0", "fail: mv a0, s7", "EXIT_A0", ".data", ".balign 8",
              "pattern: .byte 0x80, 1, 0x7f, 0xfe, 0x12, 0x34, 0x56, 0x78", ".word sub", "scratch: .space 16"]  # fmt: skip
    return "\n".join(lines) + "\n"


BASE, SCRATCH, COUNTER, STACK = 27, 26, 30, 2
FREE = [n for n in range(1, 32) if n not in (BASE, SCRATCH, COUNTER, STACK)]
DUMP = 4 * 32


class Generator(streams.Generator):
    """Random programs from the table: a new instruction takes part by being in it."""

    def __init__(self, seed: int, length: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names: set[str] = set()
        self.labels, self.budget, self.looping = 0, length, False
        self.kinds: dict[str, list[generate.Instruction]] = {}
        for i in table():
            if i.name not in ("ecall", "ebreak", "fence"):
                self.kinds.setdefault(i.kind, []).append(i)

    def register(self) -> int:
        """Mostly a few registers, so that instructions depend on one another."""
        return self.random.choice(FREE[:6] if self.random.random() < 0.7 else [0, *FREE])

    def emit(self, line: str, name: str = "") -> None:
        self.names.add(name or line.split()[0])
        self.lines.append(line)
        self.budget -= 1

    def plain(self) -> None:
        """Any encoding of an instruction that neither branches nor touches memory."""
        if self.random.random() < 0.02:
            self.emit("fence rw, rw")
            return
        i = self.random.choice(self.kinds["alu"])
        word = i.match | self.random.choice([0, M1, MIN, self.random.getrandbits(32)]) & ~i.mask
        for field, low in (("rd", 7), ("rs1", 15), ("rs2", 20)):
            if field in i.reads | i.writes:
                word = word & ~(31 << low) | self.register() << low
        self.emit(f".word {word:#010x} # {i.name}", i.name)

    def memory(self) -> None:
        i = self.random.choice([*self.kinds["load"], *self.kinds["store"]])
        size = int(i.control["size"])
        offset, base = self.random.randrange(AREA // size) * size, BASE
        if self.random.random() < 0.4:
            shift = self.random.randrange(-64, 64) * 4
            self.emit(f"addi x{SCRATCH}, x{BASE}, {shift}")
            base, offset = SCRATCH, offset - shift
        self.emit(f"{i.name} x{self.register()}, {offset}(x{base})")

    def forward(self) -> None:
        """A branch or a jump over a few instructions."""
        label = f"L{self.labels}"
        self.labels += 1
        i = self.random.choice([*self.kinds["branch"], *self.kinds["jump"]])
        if i.kind == "branch":
            self.emit(f"{i.name} x{self.register()}, x{self.register()}, {label}")
        elif i.name == "jal":
            self.emit(f"jal x{self.register()}, {label}")
        else:
            odd = self.random.randrange(-1000, 1000)
            self.emit(f"la x{SCRATCH}, {label} + {odd}", "auipc")
            self.emit(f"jalr x{self.register()}, {-odd + self.random.randrange(2)}(x{SCRATCH})")
        for _ in range(self.random.randrange(4)):
            self.simple()
        self.lines.append(f"{label}:")

    def loop(self) -> None:
        """A counted loop; not inside another, as there is one counter."""
        label = f"L{self.labels}"
        self.labels += 1
        self.looping = True
        self.emit(f"addi x{COUNTER}, x0, {self.random.randrange(1, 8)}")
        self.lines.append(f"{label}:")
        for _ in range(self.random.randrange(1, 10)):
            self.step()
        self.emit(f"addi x{COUNTER}, x{COUNTER}, -1")
        self.emit(self.random.choice([f"bne x{COUNTER}, x0, {label}", f"blt x0, x{COUNTER}, {label}", f"bltu x0, x{COUNTER}, {label}"]))
        self.looping = False

    def simple(self) -> None:
        self.random.choices([self.plain, self.memory], [65, 30])[0]()

    def program(self) -> Stream:
        self.lines.append(f"la x{BASE}, area")
        for n in FREE:
            value = self.random.choice([0, 1, M1, MIN, MAX, self.random.getrandbits(32), self.random.getrandbits(8)])
            self.lines.append(f"li x{n}, {value:#x}")
        self.lines += [f"li x{COUNTER}, 0", f"li x{SCRATCH}, 0"]
        while self.budget > 0:
            self.step()
        # The stack pointer is the machine's own.
        self.lines += [f"sw x{n if n != STACK else 0}, {AREA + 4 * n}(x{BASE})" for n in range(32)]
        self.lines += [f"WRITE area, {AREA + DUMP}", "EXIT 0", ".data", ".balign 8", "area:"]
        self.lines += [f".word {self.random.getrandbits(32):#x}" for _ in range(AREA // 4)]
        self.lines += [f".space {DUMP}"]
        return Stream("\n".join(self.lines) + "\n", self.names)


def random_program(seed: int, length: int = 400) -> Stream:
    return Generator(seed, length).program()
