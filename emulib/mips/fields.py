"""The fields of MIPS words, and the words of the table's columns (isas.py)."""

from isas import Isa

ISA = Isa(
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
        "serializes": ("no", "yes", "context"),
        "dest": ("none", "rd", "rt", "ra"),
    },
)
