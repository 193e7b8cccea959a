"""What every MIPS instruction must do, as tables of inputs and literal results, and the self-checking programs made
of them.  A program exits with 0, or with the number of the case that failed.

Each case is assembled with 0, 1 or 2 nops between the instructions that produce its inputs, the instruction, and
those that consume its result, so the same tables test the forwarding and the interlocks of a pipeline.  The expected values
were worked out by hand from the architecture manual; nothing here is computed with the code under test.
"""

from __future__ import annotations

import struct
import subprocess
from functools import cache
from pathlib import Path

from tests.isa.programs import assemble, tool

M1 = 0xFFFFFFFF
MIN = 0x80000000
MAX = 0x7FFFFFFF

# name: (a, b, result) for rd = a OP b
REGISTER = {
    "add": [(3, 4, 7), (M1, 1, 0), (MAX - 1, 1, MAX), (MIN, 1, MIN + 1), (0, 0, 0)],
    "addu": [(3, 4, 7), (M1, 1, 0), (MAX, 1, MIN), (MIN, MIN, 0), (0x12345678, 0x11111111, 0x23456789)],
    "sub": [(3, 4, M1), (MIN + 1, 1, MIN), (0, MAX, MIN + 1), (5, 5, 0)],
    "subu": [(3, 4, M1), (MIN, 1, MAX), (0, MIN, MIN), (0x23456789, 0x11111111, 0x12345678)],
    "and": [(0xFF00FF00, 0x0FF00FF0, 0x0F000F00), (M1, 0, 0), (M1, M1, M1)],
    "or": [(0xFF00FF00, 0x0FF00FF0, 0xFFF0FFF0), (0, 0, 0), (MIN, 1, MIN + 1)],
    "xor": [(0xFF00FF00, 0x0FF00FF0, 0xF0F0F0F0), (M1, M1, 0), (MIN, 0, MIN)],
    "nor": [(0xFF00FF00, 0x0FF00FF0, 0x000F000F), (0, 0, M1), (M1, 0, 0)],
    "slt": [(3, 4, 1), (4, 3, 0), (M1, 0, 1), (0, M1, 0), (MIN, MAX, 1), (MAX, MIN, 0), (7, 7, 0)],
    "sltu": [(3, 4, 1), (4, 3, 0), (M1, 0, 0), (0, M1, 1), (MIN, MAX, 0), (MAX, MIN, 1), (7, 7, 0)],
    "pri": [(0, M1, 0), (M1, 0, 0), (1, 1, 1), (M1, M1, 32), (MIN, MIN, 32), (0x60, 0x20, 6), (0xF0, 0x1FF, 8)],
}
REGISTER["mul"] = [(3, 4, 12), (M1, 5, 0xFFFFFFFB), (MIN, 2, 0), (0x10001, 0x10001, 0x00020001), (0x12345678, 0, 0), (M1, M1, 1)]
# name: (a, result)
UNARY = {
    "clz": [(0, 32), (1, 31), (MIN, 0), (0x00FFFFFF, 8), (0x00800000, 8), (M1, 0)],
    "clo": [(0, 0), (M1, 32), (MIN, 1), (0xFFFF0000, 16), (0xFFFFFFFE, 31), (MAX, 0)],
    "seb": [(0x7F, 0x7F), (0x80, 0xFFFFFF80), (0x12345680, 0xFFFFFF80), (0xFFFFFF00, 0)],
    "seh": [(0x7FFF, 0x7FFF), (0x8000, 0xFFFF8000), (0x12348765, 0xFFFF8765), (0xFFFF0001, 1)],
    "wsbh": [(0x12345678, 0x34127856), (0xFF00, 0xFF), (0x80000001, 0x800100)],
}
# name: (a, b, old, result): rd = a if b is zero, or if it is not
MOVE = {
    "movz": [(7, 0, 9, 7), (7, 1, 9, 9), (7, MIN, 9, 9), (M1, 0, 0, M1), (0, 0, M1, 0)],
    "movn": [(7, 0, 9, 9), (7, 1, 9, 7), (7, MIN, 9, 7), (M1, 0x10000, 0, M1), (0, 5, M1, 0)],
}
# name: (a, old, first bit, size, result): rt = bits of a; those bits of rt become the lowest of a
FIELD = {
    "ext": [(0x12345678, 0, 0, 8, 0x78), (0x12345678, 0, 12, 12, 0x345), (M1, 0, 31, 1, 1), (0x80000001, 0, 0, 32, 0x80000001), (0xF0, 7, 4, 3, 7)],
    "ins": [(0xAB, 0x12345678, 0, 8, 0x123456AB), (0xFFAB, 0x12345678, 8, 8, 0x1234AB78), (M1, 0, 31, 1, MIN), (0, M1, 4, 20, 0xFF00000F),
            (0xDEADBEEF, 1, 0, 32, 0xDEADBEEF)],
}
# name: (a, b, HI and LO before, HI and LO after)
ACCUMULATE = {
    "madd": [(3, 4, 0, 5, 0, 17), (M1, 1, 0, 0, M1, M1), (MIN, MIN, 1, 2, 0x40000001, 2), (1, 1, 0, M1, 1, 0)],
    "maddu": [(3, 4, 0, 5, 0, 17), (M1, 1, 0, 0, 0, M1), (M1, M1, 0, M1, M1, 0), (1, 1, M1, M1, 0, 0)],
    "msub": [(3, 4, 0, 5, M1, 0xFFFFFFF9), (M1, 1, 0, 0, 0, 1), (MIN, MIN, 0x40000000, 0, 0, 0), (1, 1, 1, 0, 0, M1)],
    "msubu": [(3, 4, 0, 5, M1, 0xFFFFFFF9), (M1, 1, 0, 0, M1, 1), (M1, M1, 0xFFFFFFFE, 1, 0, 0), (1, 1, 1, 0, 0, M1)],
}
# name: (a, amount, result); the amount comes from a register for ...v, whose upper bits do not count
SHIFT = {
    "sll": [(1, 0, 1), (1, 31, MIN), (0x80000001, 4, 0x10), (0x12345678, 8, 0x34567800)],
    "srl": [(MIN, 0, MIN), (MIN, 31, 1), (0x80000010, 4, 0x08000001), (0x12345678, 8, 0x00123456)],
    "sra": [(MIN, 0, MIN), (MIN, 31, M1), (0x80000010, 4, 0xF8000001), (0x72345678, 8, 0x00723456)],
    "sllv": [(1, 0, 1), (1, 31, MIN), (1, 32, 1), (3, 0xFFFFFFE4, 0x30)],
    "srlv": [(MIN, 0, MIN), (MIN, 31, 1), (MIN, 33, 0x40000000), (0xF0, 0xFFFFFFE4, 0xF)],
    "rotr": [(MIN, 0, MIN), (1, 1, MIN), (0x12345678, 8, 0x78123456), (0x12345678, 31, 0x2468ACF0)],
    "rotrv": [(MIN, 32, MIN), (1, 1, MIN), (0x12345678, 8, 0x78123456), (0x12345678, 0xFFFFFFF0, 0x56781234)],
    "srav": [(MIN, 0, MIN), (MIN, 31, M1), (MIN, 33, 0xC0000000), (0xF0, 0xFFFFFFE4, 0xF)],
}
# name: (a, immediate as written, result)
IMMEDIATE = {
    "addi": [(3, 4, 7), (0, -1, M1), (MIN + 5, -5, MIN), (MAX, -32768, 0x7FFF7FFF)],
    "addiu": [(3, 4, 7), (MAX, 1, MIN), (0, -32768, 0xFFFF8000), (M1, 1, 0)],
    "slti": [(3, 4, 1), (4, 4, 0), (M1, 0, 1), (0, -1, 0), (0xFFFF8000, -32767, 1), (MIN, 32767, 1)],
    "sltiu": [(3, 4, 1), (4, 4, 0), (M1, 0, 0), (0, -1, 1), (M1, -1, 0), (0xFFFF7FFF, -32768, 1)],
    "andi": [(M1, 0xFFFF, 0xFFFF), (0x12345678, 0xF0F0, 0x5070), (0xFFFF0000, 0x8000, 0)],
    "ori": [(0, 0xFFFF, 0xFFFF), (0x12340000, 0x5678, 0x12345678), (M1, 0, M1)],
    "xori": [(M1, 0xFFFF, 0xFFFF0000), (0x1234, 0x1234, 0), (0, 0x8000, 0x8000)],
    "lui": [(0, 0x8000, MIN), (0, 0xFFFF, 0xFFFF0000), (0, 1, 0x10000)],
}
# name: (a, b, HI, LO)
MULTIPLY = {
    "mult": [(3, 4, 0, 12), (M1, 5, M1, 0xFFFFFFFB), (MIN, MIN, 0x40000000, 0), (MAX, MAX, 0x3FFFFFFF, 1)],
    "multu": [(3, 4, 0, 12), (M1, 5, 4, 0xFFFFFFFB), (MIN, MIN, 0x40000000, 0), (M1, M1, 0xFFFFFFFE, 1)],
    "div": [(7, 2, 1, 3), (0xFFFFFFF9, 2, M1, 0xFFFFFFFD), (7, 0xFFFFFFFE, 1, 0xFFFFFFFD), (MIN, 3, 0xFFFFFFFE, 0xD5555556)],
    "divu": [(7, 2, 1, 3), (0xFFFFFFF9, 2, 1, 0x7FFFFFFC), (M1, 0x10000, 0xFFFF, 0xFFFF), (5, 7, 5, 0)],
}
# name: (a, b, taken)
BRANCH = {
    "beq": [(1, 1, True), (1, 2, False), (MIN, MIN, True), (M1, 1, False)],
    "bne": [(1, 1, False), (1, 2, True), (MIN, 0, True), (0, 0, False)],
    "blez": [(0, 0, True), (1, 0, False), (M1, 0, True), (MIN, 0, True), (MAX, 0, False)],
    "bgtz": [(0, 0, False), (1, 0, True), (M1, 0, False), (MIN, 0, False), (MAX, 0, True)],
    "bltz": [(0, 0, False), (1, 0, False), (M1, 0, True), (MIN, 0, True), (MAX, 0, False)],
    "bgez": [(0, 0, True), (1, 0, True), (M1, 0, False), (MIN, 0, False), (MAX, 0, True)],
}
BRANCH |= {"bltzal": BRANCH["bltz"], "bgezal": BRANCH["bgez"]}
BRANCH |= {f"{name}l": cases for name, cases in list(BRANCH.items())}
TWO_OPERANDS = {"beq", "bne", "beql", "bnel"}
# The memory under test: bytes 80 01 7f fe 12 34 56 78.  name: (offset, big-endian result, little-endian result);
# lwl and lwr start from a register of 0xAABBCCDD.
OLD = 0xAABBCCDD
LOAD = {
    "lb": [(0, 0xFFFFFF80, 0xFFFFFF80), (1, 1, 1), (2, 0x7F, 0x7F), (3, 0xFFFFFFFE, 0xFFFFFFFE), (4, 0x12, 0x12)],
    "lbu": [(0, 0x80, 0x80), (1, 1, 1), (2, 0x7F, 0x7F), (3, 0xFE, 0xFE), (7, 0x78, 0x78)],
    "lh": [(0, 0xFFFF8001, 0x180), (2, 0x7FFE, 0xFFFFFE7F), (4, 0x1234, 0x3412)],
    "lhu": [(0, 0x8001, 0x180), (2, 0x7FFE, 0xFE7F), (4, 0x1234, 0x3412)],
    "lw": [(0, 0x80017FFE, 0xFE7F0180), (4, 0x12345678, 0x78563412)],
    "lwl": [(0, 0x80017FFE, 0x80BBCCDD), (1, 0x017FFEDD, 0x0180CCDD), (2, 0x7FFECCDD, 0x7F0180DD), (3, 0xFEBBCCDD, 0xFE7F0180)],
    "lwr": [(0, 0xAABBCC80, 0xFE7F0180), (1, 0xAABB8001, 0xAAFE7F01), (2, 0xAA80017F, 0xAABBFE7F), (3, 0x80017FFE, 0xAABBCCFE)],
    "ll": [(0, 0x80017FFE, 0xFE7F0180), (4, 0x12345678, 0x78563412)],
}
# name: (offset, value, word of zeros afterwards in big-endian, in little-endian)
STORE = {
    "sb": [(0, 0x12345678, 0x78000000, 0x78), (1, 0xFF, 0xFF0000, 0xFF00), (2, 1, 0x100, 0x10000), (3, 0x80, 0x80, 0x80000000)],
    "sh": [(0, 0x12345678, 0x56780000, 0x5678), (2, 0x12348001, 0x8001, 0x80010000)],
    "sw": [(0, 0x12345678, 0x12345678, 0x12345678), (0, M1, M1, M1)],
    "swl": [(0, 0x12345678, 0x12345678, 0x12), (1, 0x12345678, 0x123456, 0x1234), (2, 0x12345678, 0x1234, 0x123456), (3, 0x12345678, 0x12, 0x12345678)],
    "swr": [(0, 0x12345678, 0x78000000, 0x12345678), (1, 0x12345678, 0x56780000, 0x34567800), (2, 0x12345678, 0x34567800, 0x56780000), (3, 0x12345678, 0x12345678, 0x78000000)],
}
# name: (a, b) that must not trap, (a, b) that must; b is an immediate for ...i
TRAP = {
    "tge": [(3, 4), (M1, 0)], "tgeu": [(3, 4), (0, M1)], "tlt": [(4, 3), (4, 4), (0, M1)], "tltu": [(4, 3), (M1, 0)],
    "teq": [(1, 2), (MIN, 0)], "tne": [(5, 5), (M1, M1)],
    "tgei": [(3, 4), (M1, 0)], "tgeiu": [(3, 4), (0, -1)], "tlti": [(4, 3), (0, -1)], "tltiu": [(4, 3), (M1, 0)],
    "teqi": [(1, 2), (0xFFFF, -1)], "tnei": [(5, 5), (M1, -1)],
}
TRAPPING = {
    "tge": (4, 4), "tgeu": (M1, 0), "tlt": (M1, 0), "tltu": (0, M1), "teq": (MIN, MIN), "tne": (0, 1),
    "tgei": (4, -4), "tgeiu": (M1, -1), "tlti": (M1, 0), "tltiu": (0, -1), "teqi": (M1, -1), "tnei": (0, 1),
}
JUMPS = ("j", "jal", "jr", "jalr", "joff", "jr.hb", "jalr.hb")
OTHERS = ("mfhi", "mthi", "mflo", "mtlo", "sc", "sync", "syscall", "break")
NOTHING = {"pref": "pref 5, 4($t0)", "ssnop": "ssnop", "ehb": "ehb"}
PRIJOFF = {"pri", "joff"}
MIPS32 = {"mul", "rotr", "rotrv", "jr.hb", "jalr.hb", *UNARY, *MOVE, *FIELD, *ACCUMULATE, *NOTHING}
# syscall and break do not come back by themselves: tests of exceptions cover them.
NAMES = [*REGISTER, *UNARY, *MOVE, *FIELD, *ACCUMULATE, *NOTHING, *SHIFT, *IMMEDIATE, *MULTIPLY, *BRANCH, *LOAD, *STORE, *TRAP, *JUMPS, *OTHERS[:6]]


def names_of(instruction_set: str) -> list[str]:
    absent = {"mips2": PRIJOFF | MIPS32, "prijoff": MIPS32, "mips32r2": PRIJOFF}[instruction_set]
    return [name for name in NAMES if name not in absent]


def set_of(name: str) -> str:
    """A set that contains the instruction."""
    return "mips32r2" if name in MIPS32 else "prijoff"


def li(register: str, value: int) -> list[str]:
    value &= M1
    return [f"lui ${register}, {value >> 16:#x}", f"ori ${register}, ${register}, {value & 0xFFFF:#x}"]


def special(function: int, rd: int, rs: int, rt: int) -> str:
    return f".word {rs << 21 | rt << 16 | rd << 11 | function:#x}"


class Builder:
    """The program of one instruction: registers t0, t1 are the inputs, v1 the result, s7 the number of the case."""

    def __init__(self, name: str, nops: int, big: bool) -> None:
        self.name, self.nops, self.big = name, nops, big
        self.lines: list[str] = [f".globl test_{name}", f"test_{name}:"]
        self.case = 0

    def emit(self, *lines: str) -> None:
        self.lines += lines

    def gap(self) -> None:
        self.lines += ["nop"] * self.nops

    def begin(self) -> None:
        self.case += 1
        self.emit(f"addiu $s7, $zero, {self.case}")

    def expect(self, register: str, value: int) -> None:
        """Consumes a result twice: in the ALU, and in a branch, which needs it a stage earlier."""
        self.emit(*li("t9", value))
        self.emit(f"bne ${register}, $t9, fail", "nop")

    def result(self, register: str, value: int) -> None:
        self.gap()
        self.emit(f"addu $t8, ${register}, $zero")
        self.expect(register, value)
        self.expect("t8", value)

    def computes(self, code: str, a: int, b: int | None, value: int, old: int | None = None) -> None:
        before = li("v1", old) if old is not None else []
        self.begin()
        self.emit(*li("t0", a), *(li("t1", b) if b is not None else []), *before)
        self.gap()
        self.emit(code)
        self.result("v1", value)
        # Once more with a branch as the first consumer, a shift as the producer, and the second input a cycle older.
        self.begin()
        self.emit(*before, *(li("t1", b) if b is not None else []), *li("t0", a), *li("t9", value))
        self.gap()
        self.emit(code)
        self.gap()
        self.emit("bne $v1, $t9, fail", "nop")

    def data(self, offset: int = 0) -> None:
        self.emit(f"lui $t0, %hi(scratch+{offset})", f"addiu $t0, $t0, %lo(scratch+{offset})")


def build_register(b: Builder) -> None:
    name = b.name
    for x, y, value in REGISTER[name]:
        code = special(0x0B, 3, 8, 9) if name == "pri" else f"{name} $v1, $t0, $t1"
        b.computes(code, x, y, value)
    if name == "mul":  # HI and LO stay as they are
        b.begin()
        b.emit(*li("t0", 7), *li("t1", 9), "mthi $t0", "mtlo $t1")
        b.gap()
        b.emit("mul $v1, $t0, $t1", "mfhi $t2", "mflo $t3")
        for register, value in (("v1", 63), ("t2", 7), ("t3", 9)):
            b.result(register, value)


def build_unary(b: Builder) -> None:
    for x, value in UNARY[b.name]:
        b.computes(f"{b.name} $v1, $t0", x, None, value)


def build_move(b: Builder) -> None:
    for x, y, old, value in MOVE[b.name]:
        b.computes(f"{b.name} $v1, $t0, $t1", x, y, value, old)


def build_field(b: Builder) -> None:
    for x, old, position, size, value in FIELD[b.name]:
        b.computes(f"{b.name} $v1, $t0, {position}, {size}", x, None, value, old)


def build_accumulate(b: Builder) -> None:
    for x, y, hi, lo, new_hi, new_lo in ACCUMULATE[b.name]:
        for first, value, second, other in (("mfhi", new_hi, "mflo", new_lo), ("mflo", new_lo, "mfhi", new_hi)):
            b.begin()
            b.emit(*li("t1", hi), *li("t2", lo), "mthi $t1", "mtlo $t2", *li("t1", y), *li("t0", x))
            b.gap()
            b.emit(f"{b.name} $t0, $t1")
            b.gap()
            b.emit(f"{first} $v1")
            b.result("v1", value)
            b.emit(f"{second} $v1")
            b.result("v1", other)
    # What is accumulated just before, twice.
    b.begin()
    b.emit("mthi $zero", "mtlo $zero", "addiu $t0, $zero, 3", "addiu $t1, $zero, 5")
    b.gap()
    b.emit(f"{b.name} $t0, $t1", f"{b.name} $t1, $t1")
    b.gap()
    b.emit("mflo $v1")
    b.result("v1", 40 if "add" in b.name else -40 & M1)


def build_nothing(b: Builder) -> None:
    """It changes nothing, whatever the address is."""
    for value in (0, 3, 0x7FFFFFF1):
        b.begin()
        b.emit(*li("t0", value), *li("v1", OLD))
        b.gap()
        b.emit(NOTHING[b.name])
        b.result("v1", OLD)
        b.result("t0", value)


def build_shift(b: Builder) -> None:
    for x, amount, value in SHIFT[b.name]:
        if b.name.endswith("v"):
            b.computes(f"{b.name} $v1, $t0, $t1", x, amount, value)
        else:
            b.computes(f"{b.name} $v1, $t0, {amount}", x, None, value)


def build_immediate(b: Builder) -> None:
    for x, immediate, value in IMMEDIATE[b.name]:
        source = "" if b.name == "lui" else "$t0, "
        b.computes(f"{b.name} $v1, {source}{immediate}", x, None, value)


def build_multiply(b: Builder) -> None:
    name = b.name
    code = f"{name} $zero, $t0, $t1" if name.startswith("div") else f"{name} $t0, $t1"
    for x, y, hi, lo in MULTIPLY[name]:
        for first, value, second, other in (("mfhi", hi, "mflo", lo), ("mflo", lo, "mfhi", hi)):
            b.begin()
            b.emit(*li("t0", x), *li("t1", y))
            b.gap()
            b.emit(code)
            b.gap()
            b.emit(f"{first} $v1")
            b.result("v1", value)
            b.emit(f"{second} $v1")
            b.result("v1", other)


def build_branch(b: Builder) -> None:
    """The delay slot is executed, or annulled when a likely branch falls through; $ra is set by ...al in any case."""
    name = b.name
    likely = name.endswith("l") and name != "bltzal" and name != "bgezal"
    link = "zal" in name
    for x, y, taken in BRANCH[name]:
        b.begin()
        label = f"{name}_{b.case}"
        operands = "$t0, $t1" if name in TWO_OPERANDS else "$t0"
        b.emit("addiu $v1, $zero, 0", "addiu $ra, $zero, 0", *li("t1", y), *li("t0", x))
        b.gap()
        b.emit(f"{label}_at: {name} {operands}, {label}_to", "addiu $v1, $v1, 1", "addiu $v1, $v1, 16",
               f"{label}_to: nop")
        value = (0 if likely and not taken else 1) + (0 if taken else 16)
        b.result("v1", value)
        if link:
            b.emit(f"lui $t9, %hi({label}_at + 8)", f"addiu $t9, $t9, %lo({label}_at + 8)", "bne $ra, $t9, fail", "nop")
    # Backwards, and a loop whose condition is computed just before the branch.
    b.begin()
    condition = {"beq": "sltiu $t0, $t2, 5\nsltiu $t1, $zero, 1", "bne": "sltiu $t0, $t2, 5\naddu $t1, $zero, $zero",
                 "ble": "addiu $t0, $t2, -4", "bgt": "subu $t0, $t3, $t2", "blt": "addiu $t0, $t2, -5",
                 "bge": "subu $t0, $t4, $t2"}[name[:3]]
    operands = "$t0, $t1" if name in TWO_OPERANDS else "$t0"
    b.emit("addiu $t2, $zero, 0", "addiu $t3, $zero, 5", "addiu $t4, $zero, 4", "addiu $v1, $zero, 0",
           f"{name}_loop: addiu $t2, $t2, 1", condition)
    b.gap()
    b.emit(f"{name} {operands}, {name}_loop", "addiu $v1, $v1, 1")
    b.emit("addu $t5, $t2, $zero")
    b.result("v1", 4 if likely else 5)
    b.result("t5", 5)


def build_load(b: Builder) -> None:
    name = b.name
    for offset, big, little in LOAD[name]:
        for displacement in (0, 4, -4):
            b.begin()
            b.emit("lui $t0, %hi(pattern)", "addiu $t0, $t0, %lo(pattern)", *li("v1", OLD),
                   f"addiu $t0, $t0, {offset - displacement}")
            b.gap()
            b.emit(f"{name} $v1, {displacement}($t0)")
            b.result("v1", big if b.big else little)
    if name in ("lwl", "lwr"):
        # The pair, in both orders, makes an unaligned word.
        for first, second in (("lwl", "lwr"), ("lwr", "lwl")):
            at = {"lwl": 1, "lwr": 4} if b.big else {"lwl": 4, "lwr": 1}
            b.begin()
            b.emit("lui $t0, %hi(pattern)", "addiu $t0, $t0, %lo(pattern)")
            b.gap()
            b.emit(f"{first} $v1, {at[first]}($t0)")
            b.gap()
            b.emit(f"{second} $v1, {at[second]}($t0)")
            b.result("v1", 0x017FFE12 if b.big else 0x12FE7F01)
    # A loaded value as an address, and as data of a store.
    b.begin()
    if name == "lw":
        b.emit("lui $t0, %hi(pointer)", "addiu $t0, $t0, %lo(pointer)", "lw $t1, 0($t0)")
        b.gap()
        b.emit("lw $v1, 4($t1)")
        b.gap()
        b.emit("sw $v1, 4($t0)")
        b.gap()
        b.emit("lw $v1, 4($t0)")
        b.result("v1", 0x12345678 if b.big else 0x78563412)


def build_store(b: Builder) -> None:
    for offset, value, big, little in STORE[b.name]:
        for displacement in (0, 8, -8):
            b.begin()
            b.data(offset - displacement)
            b.emit(f"sw $zero, {displacement - offset}($t0)", *li("t1", value))
            b.gap()
            b.emit(f"{b.name} $t1, {displacement}($t0)")
            b.gap()
            b.emit(f"lw $v1, {displacement - offset}($t0)")
            b.result("v1", big if b.big else little)


def build_trap(b: Builder) -> None:
    for x, y in TRAP[b.name]:
        b.begin()
        b.emit(*li("t0", x), *li("t1", y), "addiu $v1, $zero, 1")
        b.gap()
        b.emit(trap_code(b.name, y))
        b.emit("addiu $v1, $v1, 1")
        b.result("v1", 2)


def trap_code(name: str, y: int) -> str:
    immediate = name.endswith(("i", "iu"))
    return f"{name} $t0, {y}" if immediate else f"{name} $t0, $t1"


def build_jump(b: Builder) -> None:
    name = b.name
    for link in ("ra", "t7") if name.startswith("jalr") else ("ra",):
        b.begin()
        to = f"{name}_to_{b.case}"
        jump = {"j": f"j {to}", "jal": f"jal {to}", "jr": "jr $t0", "jalr": f"jalr ${link}, $t0",
                "joff": special(0x0A, 0, 8, 9), "jr.hb": "jr.hb $t0", "jalr.hb": f"jalr.hb ${link}, $t0"}[name]
        b.emit("addiu $v1, $zero, 0", "addiu $ra, $zero, 0", "addiu $t7, $zero, 0", "addiu $t1, $zero, 2")
        b.emit(f"lui $t0, %hi({to})", f"addiu $t0, $t0, %lo({to})")
        if name == "joff":
            b.emit("addiu $t0, $t0, -16")
        b.gap()
        b.emit(f"{to}_at: {jump}", "addiu $v1, $v1, 1", "addiu $v1, $v1, 16", f"{to}: addiu $v1, $v1, 2")
        b.result("v1", 3)
        if name.startswith("jal"):
            b.emit(f"lui $t9, %hi({to}_at + 8)", f"addiu $t9, $t9, %lo({to}_at + 8)", f"bne ${link}, $t9, fail", "nop")
    # A call whose delay slot and whose target use the return address at once.
    if name.startswith("jal"):
        b.begin()
        call = f"jal {name}_sub" if name == "jal" else f"{name} $ra, $t0"
        b.emit(f"lui $t0, %hi({name}_sub)", f"addiu $t0, $t0, %lo({name}_sub)")
        b.gap()
        b.emit(f"{name}_call: {call}", "addu $t1, $ra, $zero", f"b {name}_back", "nop",
               f"{name}_sub: jr $ra", "addiu $v1, $zero, 77", f"{name}_back:")
        b.result("v1", 77)
        b.emit(f"lui $t9, %hi({name}_call + 8)", f"addiu $t9, $t9, %lo({name}_call + 8)", "bne $t1, $t9, fail", "nop")


def build_hilo(b: Builder) -> None:
    half = b.name[2:]
    for value in (0, M1, 0x12345678):
        b.begin()
        b.emit(*li("t0", value))
        b.gap()
        b.emit(f"mt{half} $t0")
        b.gap()
        b.emit(f"mf{half} $v1")
        b.result("v1", value)


def build_sc(b: Builder) -> None:
    b.begin()
    b.data()
    b.emit(*li("t1", 0x11223344), "sw $zero, 0($t0)", "ll $t2, 0($t0)")
    b.gap()
    b.emit("addu $t1, $t1, $t2")
    b.gap()
    b.emit("sc $t1, 0($t0)")
    b.result("t1", 1)
    b.emit("lw $v1, 0($t0)")
    b.result("v1", 0x11223344)
    b.begin()  # no reservation any more
    b.data()
    b.emit(*li("t1", 0x55667788))
    b.gap()
    b.emit("sc $t1, 0($t0)")
    b.result("t1", 0)
    b.emit("lw $v1, 0($t0)")
    b.result("v1", 0x11223344)


def build_sync(b: Builder) -> None:
    b.begin()
    b.data()
    b.emit(*li("t1", 0x1234), "sw $t1, 0($t0)", "sync", "lw $v1, 0($t0)")
    b.result("v1", 0x1234)


BUILDERS = [(REGISTER, build_register), (UNARY, build_unary), (MOVE, build_move), (FIELD, build_field),
            (ACCUMULATE, build_accumulate), (NOTHING, build_nothing), (SHIFT, build_shift), (IMMEDIATE, build_immediate), (MULTIPLY, build_multiply),
            (BRANCH, build_branch), (LOAD, build_load), (STORE, build_store), (TRAP, build_trap), (JUMPS, build_jump),
            (OTHERS[:4], build_hilo), (("sc",), build_sc), (("sync",), build_sync)]


def section(name: str, nops: int, big: bool) -> list[str]:
    b = Builder(name, nops, big)
    next(build for names, build in BUILDERS if name in names)(b)
    b.emit("j pass", "nop")
    assert b.case > 0
    return b.lines


DATA_SECTION = """
fail:
  lui $t0, %hi(status)
  sw $s7, %lo(status)($t0)
  EXIT_REGISTER $s7
pass:
  EXIT 0
.data
.balign 8
  .word 0
pattern: .byte 0x80, 0x01, 0x7f, 0xfe, 0x12, 0x34, 0x56, 0x78
  .word 0
pointer: .word pattern, 0
  .space 16
scratch: .space 32
status: .word 0
"""
EXIT_REGISTER = {
    "linux": ".macro EXIT_REGISTER r\n addu $a0, \\r, $zero\n addiu $v0, $zero, 4001\n syscall\n nop\n.endm\n",
    "device": ".macro EXIT_REGISTER r\n lui $a1, 0xffff\n sw \\r, 4($a1)\n9: b 9b\n nop\n.endm\n",
}


def build_all(directory: Path, nops: int, big: bool, convention: str, instruction_set: str) -> tuple[Path, dict[str, int]]:
    """One ELF file with the tests of all instructions of a set, and the address of each test."""
    names = names_of(instruction_set)
    lines = [line for name in names for line in section(name, nops, big)]
    path = directory / f"isa-{nops}-{'big' if big else 'little'}-{convention}-{instruction_set}.elf"
    assemble(EXIT_REGISTER[convention] + "\n".join(lines) + DATA_SECTION, path, big, convention, instruction_set)
    listing = subprocess.run([tool("llvm-nm"), path], capture_output=True, text=True, check=True).stdout.split("\n")
    symbols = {words[2]: int(words[0], 16) for words in map(str.split, listing) if len(words) == 3}
    return path, {name: symbols[f"test_{name}"] for name in names}


_build_all = cache(build_all)


def program(directory: Path, name: str, nops: int, big: bool, convention: str, instruction_set: str) -> Path:
    """The ELF file whose entry is the test of one instruction."""
    path, starts = _build_all(directory, nops, big, convention, instruction_set)
    image = bytearray(path.read_bytes())
    struct.pack_into(">I" if big else "<I", image, 24, starts[name])
    one = path.with_name(f"{name}-{path.name}")
    one.write_bytes(image)
    one.chmod(0o755)
    return one
