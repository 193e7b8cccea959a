"""The fields of RV32I words, and the words of the table's columns (isas.py)."""

from isas import Isa

ISA = Isa(
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
