"""Random MIPS programs that terminate, never trap, and print all registers and their memory at the end.

Two machines that run the same program must print the same bytes.  The generator works from instructions.def, so a
new instruction takes part by being in the table.  Registers: k1 is the base of the data area, k0 scratch, s8 (30)
the loop counter, sp is left alone; everything else is fair game.
"""

from __future__ import annotations

import random
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "emulib"))
import generate  # noqa: E402

AREA = 1024  # bytes of data under test
DUMP = 4 * 34
BASE, SCRATCH, COUNTER, STACK = 27, 26, 30, 29
FREE = [n for n in range(1, 32) if n not in (BASE, SCRATCH, COUNTER, STACK)]
SAFE_TRAPS = {
    "tge": "$0, $27", "tgeu": "$0, $27", "tlt": "$27, $0", "tltu": "$27, $0", "teq": "$0, $27", "tne": "$27, $27",
    "tgei": "$0, 1", "tgeiu": "$0, 5", "tlti": "$0, 0", "tltiu": "$27, 1", "teqi": "$27, 0", "tnei": "$0, 0",
}  # fmt: skip


@cache
def table(instruction_set: str) -> list[generate.Instruction]:
    path = Path(__file__).resolve().parents[2] / "emulib" / "mips" / "instructions.def"
    return [i for i in generate.parse(str(path)).instructions if instruction_set in i.sets]


@dataclass
class Stream:
    text: str
    names: set[str]


class Generator:
    def __init__(self, seed: int, length: int, instruction_set: str) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names: set[str] = set()
        self.label = 0
        self.looping = False
        self.budget = length
        self.by_class: dict[str, list[generate.Instruction]] = {}
        for i in table(instruction_set):
            if i.name not in ("syscall", "break"):
                self.by_class.setdefault(i.kind, []).append(i)

    def register(self) -> int:
        """Mostly a few registers, so that instructions depend on one another."""
        return self.random.choice(FREE[:6] if self.random.random() < 0.7 else [0, *FREE])

    def emit(self, line: str) -> None:
        self.lines.append(line)
        self.budget -= 1

    def word(self, i: generate.Instruction) -> str:
        """Any encoding of the instruction, as a word."""
        word = i.match
        for low in (21, 16, 11):  # rs, rt, rd
            if not i.mask >> low & 31:
                word |= self.register() << low
        if not i.mask >> 6 & 31 and "sa" in i.operands:
            word |= self.random.randrange(32) << 6
        if not i.mask >> 16 & 31 and "rd" in i.operands and "rt" not in i.operands:
            word = word & ~(31 << 16) | (word >> 11 & 31) << 16  # clz and clo name their destination twice
        if "position" in i.operands:
            first, last = sorted(self.random.randrange(32) for _ in range(2))
            word = word & ~(0x3FF << 6) | (last - first if "extracted" in i.operands else last) << 11 | first << 6
        if "simm" in i.operands or "uimm" in i.operands:
            word |= self.random.choice([0, 1, 0x7FFF, 0x8000, 0xFFFF, self.random.randrange(65536)])
        self.names.add(i.name)
        return f".word {word:#010x} # {i.name}"

    def plain(self) -> None:
        """One instruction that neither branches nor touches memory; alone it may stand in a delay slot."""
        kind = self.random.choices(["alu", "muldiv", "hilo", "trap", "system"], [60, 4, 6, 3, 1])[0]
        i = self.random.choice(self.by_class[kind])
        if i.kind == "trap":
            self.names.add(i.name)
            self.emit(f"{i.name} {SAFE_TRAPS[i.name]}")
        elif i.control.get("trap") == "overflow" or i.name in ("div", "divu"):
            i = next(j for j in self.by_class["alu"] if j.name == "addu")
            self.emit(self.word(i))
        elif i.name == "sync":
            self.names.add(i.name)
            self.emit("sync")
        else:
            self.emit(self.word(i))

    def guarded(self) -> None:
        """Instructions whose operands must be kept from overflowing or from a division by zero."""
        a, d = self.register(), self.random.choice(FREE)
        name = self.random.choice(["add", "addi", "sub", "div", "divu"])
        self.names.add(name)
        if name in ("div", "divu"):
            self.emit(f"ori ${SCRATCH}, ${a}, 1")
            self.emit(f"srl ${SCRATCH}, ${SCRATCH}, {self.random.randrange(1, 16)}")
            self.emit(f"ori ${SCRATCH}, ${SCRATCH}, 1")
            self.emit(f"{name} $0, ${self.register()}, ${SCRATCH}")
        else:
            self.emit(f"sra ${SCRATCH}, ${a}, {self.random.randrange(2, 9)}")
            other = {"add": f"${SCRATCH}", "sub": "$0", "addi": str(self.random.randrange(-32768, 32768))}[name]
            self.emit(f"{name} ${d}, ${SCRATCH}, {other}")

    def memory(self) -> None:
        """A load or store, off the base register or off one that was just computed from it."""
        i = self.random.choice([*self.by_class["load"], *self.by_class["store"]])
        if i.name in ("ll", "sc"):
            self.linked()
            return
        size = 1 if i.control.get("part") else int(i.control["size"])
        offset = self.random.randrange(AREA // size) * size
        base = BASE
        if self.random.random() < 0.4:
            shift = self.random.randrange(-64, 64) * 4
            self.emit(f"addiu ${SCRATCH}, ${BASE}, {shift}")
            base, offset = SCRATCH, offset - shift
        self.names.add(i.name)
        self.emit(f"{i.name} ${self.register()}, {offset}(${base})")

    def linked(self) -> None:
        """A pair without a store between.  (What a lone sc does is the cases' business: qemu compares values.)"""
        offset = self.random.randrange(AREA // 4) * 4
        self.names |= {"ll", "sc"}
        self.emit(f"ll ${self.random.choice(FREE)}, {offset}(${BASE})")
        for _ in range(self.random.randrange(3)):
            self.plain()
        self.emit(f"sc ${self.random.choice(FREE)}, {offset}(${BASE})")

    def slot(self) -> None:
        """A delay slot: one instruction, a load or a store among them."""
        if self.random.random() < 0.3:
            i = self.random.choice([j for j in (*self.by_class["load"], *self.by_class["store"])
                                    if j.name not in ("ll", "sc")])
            size = 1 if i.control.get("part") else int(i.control["size"])
            self.names.add(i.name)
            self.emit(f"{i.name} ${self.register()}, {self.random.randrange(AREA // size) * size}(${BASE})")
        else:
            self.plain()

    def compared(self, count: int) -> list[int]:
        """The registers of a branch."""
        return [self.register() for _ in range(count)]

    def forward(self) -> None:
        """A conditional branch or a jump over a few instructions."""
        label = f"L{self.label}"
        self.label += 1
        i = self.random.choice([*self.by_class["branch"], *self.by_class["jump"]])
        if i.name == "joff":
            i = next(j for j in self.by_class["jump"] if j.name == "j")
        self.names.add(i.name)
        if i.kind == "branch":
            registers = ", ".join(f"${n}" for n in self.compared(sum(o in ("rs", "rt") for o in i.operands)))
            self.emit(f"{i.name} {registers}, {label}")
        elif i.operands == ["target"]:
            self.emit(f"{i.name} {label}")
        else:
            self.emit(f"lui ${SCRATCH}, %hi({label})")
            self.emit(f"addiu ${SCRATCH}, ${SCRATCH}, %lo({label})")
            link = f"${self.random.choice(FREE)}, " if i.name.startswith("jalr") else ""
            self.emit(f"{i.name} {link}${SCRATCH}")
        self.slot()
        for _ in range(self.random.randrange(4)):
            self.simple()
        self.lines.append(f"{label}:")

    def loop(self) -> None:
        """A counted loop; not inside another, as there is one counter."""
        label = f"L{self.label}"
        self.label += 1
        self.looping = True
        self.emit(f"addiu ${COUNTER}, $0, {self.random.randrange(1, 8)}")
        self.lines.append(f"{label}:")
        for _ in range(self.random.randrange(1, 10)):
            self.step()
        name = self.random.choice(["bne", "bgtz", "bnel", "bgtzl"])
        self.names.add(name)
        self.emit(f"addiu ${COUNTER}, ${COUNTER}, -1")
        self.emit(f"{name} ${COUNTER}, {'$0, ' if name.startswith('bne') else ''}{label}")
        self.slot()
        self.looping = False

    def simple(self) -> None:
        self.random.choices([self.plain, self.memory, self.guarded], [60, 30, 5])[0]()

    def step(self) -> None:
        kind = self.random.random()
        if kind < 0.15:
            self.forward()
        elif kind < 0.2 and not self.looping:
            self.loop()
        else:
            self.simple()

    def program(self) -> Stream:
        self.lines += [f"lui ${BASE}, %hi(area)", f"addiu ${BASE}, ${BASE}, %lo(area)"]
        for n in FREE:
            value = self.random.choice([0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, self.random.getrandbits(32),
                                        self.random.getrandbits(8)])
            self.lines += [f"lui ${n}, {value >> 16:#x}", f"ori ${n}, ${n}, {value & 0xFFFF:#x}"]
        self.lines += [f"lui ${COUNTER}, 0", f"lui ${SCRATCH}, 0", "mtlo $0", "mthi $0"]
        while self.budget > 0:
            self.step()
        for n in range(32):
            # The stack pointer is the machine's own.
            self.lines.append(f"sw ${n if n != STACK else 0}, {AREA + 4 * n}(${BASE})")
        self.lines += [f"mfhi ${SCRATCH}", f"sw ${SCRATCH}, {AREA + 128}(${BASE})",
                       f"mflo ${SCRATCH}", f"sw ${SCRATCH}, {AREA + 132}(${BASE})",
                       f"WRITE area, {AREA + DUMP}", "EXIT 0", ".data", ".balign 8", "area:"]
        self.lines += [f".word {self.random.getrandbits(32):#x}" for _ in range(AREA // 4)]
        self.lines += [f".space {DUMP}"]
        return Stream("\n".join(self.lines) + "\n", self.names)


def random_program(seed: int, length: int = 400, instruction_set: str = "mips2") -> Stream:
    return Generator(seed, length, instruction_set).program()


def chained(programs: list[Stream]) -> str:
    """One program out of several, one behind the other, each with memory and labels of its own.  They print nothing."""
    code, data = "", ""
    for n, program in enumerate(programs):
        text = re.sub(r"\b(L\d+|area)\b", rf"\1of{n}", program.text)
        steps, _, rest = text.partition("\nWRITE ")
        code += steps + "\n"
        data += rest.partition("\n.data\n")[2]
    return f"{code}EXIT 0\n.data\n{data}"


def explain(expected: bytes, found: bytes) -> str:
    """The first words that differ, by name."""
    if len(expected) != len(found):
        return f"{len(found)} bytes printed, {len(expected)} expected"
    words = []
    for n in range(0, len(expected), 4):
        if expected[n : n + 4] != found[n : n + 4]:
            index = (n - AREA) // 4
            what = f"memory +{n:#x}" if n < AREA else ["hi", "lo"][index - 32] if index >= 32 else f"register {index}"
            words.append(f"{what}: {found[n : n + 4].hex()}, expected {expected[n : n + 4].hex()}")
    return "; ".join(words[:8])
