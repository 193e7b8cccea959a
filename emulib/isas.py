"""What generate.py must know of an instruction set beyond its table: the fields of its words, and the words that the
table's columns may hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Isa:
    name: str  # as the table's line `isa NAME` says; prefix of everything generated
    major: tuple[int, int]  # the field that groups the instructions of a set: first bit, bits
    minors: tuple[tuple[int, int], ...]  # fields that tell a group's members apart: the first that all of them fix
    fields: dict[str, int | None]  # registers; first of the 5 bits that name one, None: not in the word
    results: tuple[str, ...]  # those that `dest` may name
    classes: tuple[str, ...]
    operands: tuple[str, ...]
    uses: dict[str, str]  # registers in operands that are more than a register
    words: dict[str, tuple[str, ...]]  # the control column; the first word is meant when the column is silent

    @property
    def prefix(self) -> str:
        return self.name.upper()

    def absence(self, key: str) -> str:
        """What a control word is when the table does not give it."""
        return self.words[key][0]


MIPS = Isa(
    name="mips",
    major=(26, 6),
    minors=((0, 6), (16, 5), (21, 5)),  # function, rt, or operation of a coprocessor
    fields={"rs": 21, "rt": 16, "rd": 11, "ra": None, "hi": None, "lo": None},
    results=("rd", "rt", "ra"),
    classes=("alu", "muldiv", "hilo", "jump", "branch", "load", "store", "trap", "system"),
    operands=("rd", "rs", "rt", "sa", "simm", "uimm", "memory", "offset", "target", "code", "code10", "code20",
              "code19", "stype", "hint", "position", "extracted", "inserted", "cp0", "sel", "hwr", "ft", "ct",
              "function", "from", "to", "u", "h", "new"),
    uses={"memory": "rs"},
    words={
        "alu": ("add", "sub", "and", "or", "xor", "nor", "slt", "sltu", "sll", "srl", "sra", "priority",
                "clz", "clo", "ext", "ins", "seb", "seh", "wsbh", "rotr"),
        "a": ("zero", "rs", "rt"),
        "b": ("zero", "rt", "rs", "imm"),
        "imm": ("none", "signed", "unsigned", "upper", "shift", "offset", "target", "extracted", "inserted"),
        "mem": ("none", "load", "store", "linked", "conditional", "barrier"),
        "size": ("0", "1", "2", "4"),
        "part": ("whole", "left", "right"),
        "sign": ("no", "yes"),
        "branch": ("never", "eq", "ne", "lez", "gtz", "ltz", "gez", "jump", "register", "indexed"),
        "likely": ("no", "yes"),
        "link": ("no", "yes"),
        "muldiv": ("none", "mult", "multu", "div", "divu", "mfhi", "mflo", "mthi", "mtlo",
                   "mul", "madd", "maddu", "msub", "msubu"),
        "move": ("none", "zero", "nonzero"),
        "trap": ("none", "overflow", "zero", "nonzero", "syscall", "breakpoint", "system", "coprocessor"),
        "serializes": ("no", "yes"),
        "dest": ("none", "rd", "rt", "ra"),
    },
)

RV32I = Isa(
    name="rv32i",
    major=(2, 5),
    minors=((12, 3),),  # funct3
    fields={"rs1": 15, "rs2": 20, "rd": 7},
    results=("rd",),
    classes=("alu", "jump", "branch", "load", "store", "system"),
    operands=("rd", "rs1", "rs2", "imm", "shamt", "upper", "memory", "place", "offset", "target", "pred", "succ"),
    uses={"memory": "rs1", "place": "rs1"},
    words={
        "alu": ("add", "sub", "and", "or", "xor", "slt", "sltu", "sll", "srl", "sra", "second"),
        "a": ("none", "rs1"),
        "b": ("none", "rs2", "imm"),
        "imm": ("none", "signed", "store", "shift", "upper", "pcupper", "link"),
        "mem": ("none", "load", "store", "barrier"),
        "size": ("0", "1", "2", "4"),
        "sign": ("no", "yes"),
        "branch": ("never", "eq", "ne", "lt", "ge", "ltu", "geu", "jump", "register"),
        "trap": ("none", "syscall", "breakpoint"),
        "dest": ("none", "rd"),
    },
)

ISAS = {isa.name: isa for isa in (MIPS, RV32I)}
