"""The directed cases of a processor's system: every exception in every place, in kernel and user mode; the registers of
coprocessor 0; the TLB.  Expected values were worked out by hand from the architecture manual (MIPS32, volume III).

Not on qemu: what the manual leaves open and this processor decides (Random, CACHE and SYNCI that translate, WAIT with interrupts
disabled, a misaligned SC without a link, pages of 8 KiB), the sizes of caches, and bus errors, which its Malta board has not."""

from __future__ import annotations

from tests.isa.system import (
    ADEL,
    ADES,
    BEV,
    BOOT_GENERAL,
    BOOT_INTERRUPT,
    BOOT_REFILL,
    BP,
    CPU,
    CU0,
    DBE,
    ERL,
    EXL,
    FRAMES,
    IBE,
    IE,
    INT,
    INTERRUPT,
    IV,
    MOD,
    OV,
    REFILL,
    RI,
    SYS,
    TLBL,
    TLBS,
    TR,
    Case,
    Fault,
)

PFN = FRAMES >> 12 << 6
VALID, CLEAN, INVALID = PFN | 0x1E, PFN | 0x1A, PFN | 0x18  # dirty; not dirty; nothing there
PAGE = 0x10000000  # of the TLB's cases: a pair of pages
NOWHERE = 0xBD000000  # kseg1; nothing responds there

# name: (set-up, instruction, the exception without its place).  Pages: PAGE is invalid (even) and clean (odd).
MAPPED = f"MAP 5, {PAGE:#x}, {INVALID:#x}, {CLEAN:#x}"
KINDS: dict[str, tuple[str, str, dict]] = {
    "overflow": ("LI $t0, 0x7fffffff", "add $t1, $t0, $t0", {"code": OV}),
    "trap": ("", "teq $zero, $zero", {"code": TR}),
    "syscall": ("", "syscall", {"code": SYS}),
    "break": ("", "break 5", {"code": BP}),
    "reserved": ("", ".word 0x7000003e", {"code": RI}),
    "floating point": ("", ".word 0xc4880010", {"code": CPU, "unit": 1}),
    "conditional move of floating point": ("", ".word 0x01051001", {"code": CPU, "unit": 1}),
    "floating point arithmetic": ("", ".word 0x46000000", {"code": CPU, "unit": 1}),
    "floating point indexed": ("", ".word 0x4c000000", {"code": CPU, "unit": 1}),
    "coprocessor 2 load": ("", ".word 0xc8880010", {"code": CPU, "unit": 2}),
    "misaligned lw": ("LI $t0, 0x101001", "lw $t1, 4($t0)", {"code": ADEL, "bad": 0x101005}),
    "misaligned lh": ("LI $t0, 0x101001", "lh $t1, 4($t0)", {"code": ADEL, "bad": 0x101005}),
    "misaligned ll": ("LI $t0, 0x101002", "ll $t1, 0($t0)", {"code": ADEL, "bad": 0x101002}),
    "misaligned sw": ("LI $t0, 0x101001", "sw $t1, 4($t0)", {"code": ADES, "bad": 0x101005}),
    "misaligned sh": ("LI $t0, 0x101001", "sh $t1, 4($t0)", {"code": ADES, "bad": 0x101005}),
    "misaligned sc": ("LI $t0, 0x101002", "sc $t1, 0($t0)", {"code": ADES, "bad": 0x101002}),
    "refill lw": ("LI $t0, 0x20003008", "lw $t1, 4($t0)", {"code": TLBL, "bad": 0x2000300C, "vector": REFILL}),
    "refill lbu": ("LI $t0, 0x20003008", "lbu $t1, 1($t0)", {"code": TLBL, "bad": 0x20003009, "vector": REFILL}),
    "refill lwl": ("LI $t0, 0x20003008", "lwl $t1, 0($t0)", {"code": TLBL, "bad": 0x20003008, "vector": REFILL}),
    "refill lwr": ("LI $t0, 0x20003008", "lwr $t1, 0($t0)", {"code": TLBL, "bad": 0x20003008, "vector": REFILL}),
    "refill ll": ("LI $t0, 0x20003008", "ll $t1, 0($t0)", {"code": TLBL, "bad": 0x20003008, "vector": REFILL}),
    "refill sw": ("LI $t0, 0x20003008", "sw $t1, 4($t0)", {"code": TLBS, "bad": 0x2000300C, "vector": REFILL}),
    "refill sb": ("LI $t0, 0x20003008", "sb $t1, 1($t0)", {"code": TLBS, "bad": 0x20003009, "vector": REFILL}),
    "refill swl": ("LI $t0, 0x20003008", "swl $t1, 0($t0)", {"code": TLBS, "bad": 0x20003008, "vector": REFILL}),
    "refill swr": ("LI $t0, 0x20003008", "swr $t1, 0($t0)", {"code": TLBS, "bad": 0x20003008, "vector": REFILL}),
}
PAGES: dict[str, tuple[str, str, dict]] = {
    "invalid lw": (f"LI $t0, {PAGE:#x}", "lw $t1, 4($t0)", {"code": TLBL, "bad": PAGE + 4}),
    "invalid sw": (f"LI $t0, {PAGE:#x}", "sw $t1, 4($t0)", {"code": TLBS, "bad": PAGE + 4}),
    "modified": (f"LI $t0, {PAGE + 4096:#x}", "sw $t1, 4($t0)", {"code": MOD, "bad": PAGE + 4096 + 4}),
    "modified sb": (f"LI $t0, {PAGE + 4096:#x}", "sb $t1, 7($t0)", {"code": MOD, "bad": PAGE + 4096 + 7}),
}
USER: dict[str, tuple[str, str, dict]] = {
    "mfc0": ("", "mfc0 $t1, $12", {"code": CPU}),
    "mtc0": ("", "mtc0 $t1, $11", {"code": CPU}),
    "di": ("", "di $t1", {"code": CPU}),
    "ei": ("", "ei $t1", {"code": CPU}),
    "tlbwr": ("", "tlbwr", {"code": CPU}),
    "tlbp": ("", "tlbp", {"code": CPU}),
    "eret": ("", "eret", {"code": CPU}),
    "wait": ("", "wait", {"code": CPU}),
    "cache": ("LI $t0, 0x101000", "cache 0x15, 0($t0)", {"code": CPU}),
    "reserved word of coprocessor 0": ("", ".word 0x4200003f", {"code": CPU}),
    "rdhwr 29": ("", ".word 0x7c03e83b", {"code": RI}),
    "rdhwr 2 hidden": ("", ".word 0x7c03103b", {"code": RI}),
    "kernel lw": ("LI $t0, 0x80100000", "lw $t1, 4($t0)", {"code": ADEL, "bad": 0x80100004}),
    "kernel sw": ("LI $t0, 0xa0100000", "sw $t1, 4($t0)", {"code": ADES, "bad": 0xA0100004}),
    "kernel sb": ("LI $t0, 0xfffffff0", "sb $t1, 4($t0)", {"code": ADES, "bad": 0xFFFFFFF4}),
}
# The places of an instruction: before it, after it, and the label that EPC then is.
PLACES = {
    "alone": ("", "", False),
    "beq taken": ("B: beq $zero, $zero, D", "D: nop", True),
    "beq not taken": ("LI $t8, 1\nB: beq $t8, $zero, D", "D: nop", True),
    "beql taken": ("B: beql $zero, $zero, D", "nop\nD: nop", True),
    "bgezal": ("B: bgezal $zero, D", "nop\nD: nop", True),
    "bltzall not taken elsewhere": ("LI $t8, 0xffffffff\nB: bltzall $t8, D", "nop\nD: nop", True),
    "branch to itself": ("B: beq $zero, $zero, B", "", True),
    "branch to its slot": ("B: beq $zero, $zero, X", "", True),
}
REGISTER_JUMPS = {
    "jr": ("{la} $t8, D\nB: jr $t8", "nop\nD: nop", True),
    "jalr": ("{la} $t8, D\nB: jalr $t9, $t8", "nop\nD: nop", True),
    "jr.hb": ("{la} $t8, D\nB: jr.hb $t8", "nop\nD: nop", True),
    "j": ("B: j D", "nop\nD: nop", True),
    "jal": ("B: jal D", "nop\nD: nop", True),
}


def placed() -> list[Case]:
    """Every kind in every place, in both modes."""
    cases = []
    for user in (False, True):
        kinds = {**KINDS, **(USER if user else {})}
        for name, (before, instruction, fault) in kinds.items():
            places = PLACES if user else {**PLACES, **{k: (a.format(la="LA"), b, slot) for k, (a, b, slot) in REGISTER_JUMPS.items()}}
            for place, (first, last, slot) in places.items():
                at = "B" if slot else "X"
                cases.append(Case(f"{name}, {place}{', user' if user else ''}", f"{before}\n{first}\nX: {instruction}\n{last}",
                                  [Fault(at=at, slot=slot, **fault)], user=user, status=0 if user else CU0,
                                  qemu=name != "misaligned sc"))  # fmt: skip
    for name, (before, instruction, fault) in PAGES.items():
        for place, (first, last, slot) in PLACES.items():
            cases.append(Case(f"{name}, {place}", f"{MAPPED}\n{before}\n{first}\nX: {instruction}\n{last}", [Fault(at="B" if slot else "X", slot=slot, **fault)]))
    annulled = "LI $t8, 1\nbeql $t8, $zero, D\nsyscall\nD: X: break"
    cases.append(Case("an annulled slot raises nothing", annulled, [Fault(BP)]))
    cases += [Case(f"bus error, {place}", f"LI $t0, {NOWHERE:#x}\n{first}\nX: lw $t1, 0($t0)\n{last}", [Fault(DBE, at="B" if slot else "X", slot=slot)], qemu=False)
              for place, (first, last, slot) in PLACES.items()]  # fmt: skip
    return cases


JUMP = "LI $t0, {}\njr $t0\nnop\nA: nop"
COPY = f"""LI $t0, {0xA0000000 + FRAMES:#x}
LI $t1, 0x1000ffff
sw $t1, 0xffc($t0)
LI $t0, {PAGE + 0xFFC:#x}
jr $t0
nop"""  # a branch as the last word of a page


def fetches() -> list[Case]:
    at, invalid = "0x20000100", f"{PAGE:#x}"
    return [
        Case("fetch refill", JUMP.format(at), [Fault(TLBL, at, 0x20000100, REFILL)]),
        Case("fetch invalid", MAPPED + "\n" + JUMP.format(invalid), [Fault(TLBL, invalid, PAGE)]),
        Case("fetch misaligned", JUMP.format("0x80100002"), [Fault(ADEL, "0x80100002", 0x80100002)]),
        Case("fetch bus error", JUMP.format(f"{NOWHERE:#x}"), [Fault(IBE, f"{NOWHERE:#x}")], qemu=False),
        Case("fetch kernel in user mode", JUMP.format("0x80100000"), [Fault(ADEL, "0x80100000", 0x80100000)], user=True),
        Case("fetch refill in user mode", JUMP.format(at), [Fault(TLBL, at, 0x20000100, REFILL)], user=True),
        Case("slot on a page that is invalid", f"MAP 5, {PAGE:#x}, {VALID:#x}, {INVALID:#x}\n{COPY}",
             [Fault(TLBL, f"{PAGE + 0xFFC:#x}", PAGE + 0x1000, slot=True)]),
        Case("slot on a page that is not there", f"MAP 5, {PAGE + 0x2000:#x}, {VALID:#x}, {VALID:#x}\n{COPY.replace(f'{PAGE + 0xFFC:#x}', f'{PAGE + 0x3FFC:#x}')}",
             [Fault(TLBL, f"{PAGE + 0x3FFC:#x}", PAGE + 0x4000, REFILL, slot=True)]),
    ]  # fmt: skip


NESTED = "LI $t0, 0x12345678\nmtc0 $t0, $14\nehb\n"


def levels() -> list[Case]:
    """EXL, ERL, BEV, and where interrupts go."""
    software = "LI $t0, {}\nmtc0 $t0, $13\nLI $t0, {}\nmtc0 $t0, $12\nX: nop\nnop\nnop"
    enabled = CU0 | 0x100 | IE
    cases = [
        Case("an exception in a slot, which sets BD", "B: beq $zero, $zero, X\nX: syscall", [Fault(SYS, "B", slot=True)]),
        Case("refill with EXL, which keeps BD", NESTED + "LI $t0, 0x20003008\nX: lw $t1, 0($t0)", [Fault(TLBL, "0x12345678", 0x20003008, slot=True)], status=CU0 | EXL),
        Case("an exception that clears BD", "X: syscall", [Fault(SYS)]),
        Case("syscall with EXL in a slot", NESTED + "beq $zero, $zero, X\nX: syscall", [Fault(SYS, "0x12345678")], status=CU0 | EXL),
        Case("boot vector, refill", "LI $t0, 0x20003008\nX: sw $t1, 0($t0)", [Fault(TLBS, bad=0x20003008, vector=BOOT_REFILL)], status=CU0 | BEV),
        Case("boot vector, general", "X: break", [Fault(BP, vector=BOOT_GENERAL)], status=CU0 | BEV),
        Case("boot vector, refill with EXL", NESTED + "LI $t0, 0x20003008\nX: sw $t1, 0($t0)",
             [Fault(TLBS, "0x12345678", 0x20003008, vector=BOOT_GENERAL)], status=CU0 | BEV | EXL),
        Case("kuseg is not mapped with ERL", "LI $t0, 0x00300000\nLI $t1, 0xcafe\nsw $t1, 0x80($t0)\nlui $t0, 0xa030\nlw $t1, 0x80($t0)\nRECORD $t1",
             [0xCAFE], status=CU0 | ERL),
        Case("software interrupt", software.format("0x100", f"{enabled:#x}"), [Fault(INT, status=enabled, extra=0x100)]),
        Case("software interrupt 1", software.format("0x200", f"{CU0 | 0x200 | IE:#x}"), [Fault(INT, status=CU0 | 0x200 | IE, extra=0x200)]),
        Case("interrupt vector", software.format(f"{IV | 0x100:#x}", f"{enabled:#x}"), [Fault(INT, vector=INTERRUPT, status=enabled, extra=IV | 0x100)]),
        Case("interrupt vector, boot", software.format(f"{IV | 0x100:#x}", f"{enabled | BEV:#x}"),
             [Fault(INT, vector=BOOT_INTERRUPT, status=enabled | BEV, extra=IV | 0x100)]),
        Case("interrupt, boot", software.format("0x100", f"{enabled | BEV:#x}"), [Fault(INT, vector=BOOT_GENERAL, status=enabled | BEV, extra=0x100)]),
        Case("other exceptions keep their vector", f"LI $t0, {IV:#x}\nmtc0 $t0, $13\nX: syscall", [Fault(SYS, extra=IV)]),
    ]  # fmt: skip
    for name, status in {"masked": CU0 | IE, "disabled": CU0 | 0x100, "with EXL": enabled | EXL, "with ERL": enabled | ERL}.items():
        cases.append(Case(f"no interrupt, {name}", software.format("0x100", f"{status:#x}") + "\nmfc0 $t1, $13\nandi $t1, $t1, 0x300\nRECORD $t1", [0x100]))
    slot = f"LI $t0, 0x100\nmtc0 $t0, $13\nLI $t0, {enabled:#x}\nB: beq $zero, $zero, X\nmtc0 $t0, $12\nnop\nX: nop\nnop"
    return [
        *cases,
        Case("interrupt behind a slot", slot, [Fault(INT, status=enabled, extra=0x100)]),
        Case("ei", "LI $t0, 0x100\nmtc0 $t0, $13\nLI $t0, 0x10000100\nmtc0 $t0, $12\nei $t1\nX: nop\nnop", [Fault(INT, status=enabled, extra=0x100)]),
        Case("di and ei show Status", f"LI $t0, {CU0 | IE | 0x200:#x}\nmtc0 $t0, $12\nehb\ndi $t1\nmfc0 $t2, $12\nei $t3\nmfc0 $t4, $12\nRECORD $t1\nRECORD $t2\nRECORD $t3\nRECORD $t4",
             [CU0 | IE | 0x200, CU0 | 0x200, CU0 | 0x200, CU0 | IE | 0x200]),
        Case("eret from an error", f"LA $t0, A\nmtc0 $t0, $30\nLI $t0, 0x80100000\nmtc0 $t0, $14\nLI $t0, {CU0 | ERL | EXL:#x}\nmtc0 $t0, $12\nehb\neret\nsyscall\nA: mfc0 $t1, $12\nRECORD $t1",
             [CU0 | EXL]),
        Case("eret ends a link", "LI $t0, 0x80300000\nll $t1, 0($t0)\nLA $t2, A\nmtc0 $t2, $14\nehb\neret\nA: LI $t1, 7\nsc $t1, 0($t0)\nRECORD $t1", [0]),
        Case("a link stands", "LI $t0, 0x80300000\nll $t1, 0($t0)\naddiu $t2, $t1, 1\nsc $t2, 0($t0)\nRECORD $t2\nsc $t1, 0($t0)\nRECORD $t1", [1, 0]),
        Case("user mode with coprocessor 0", "mfc0 $t1, $12\nX: break", [Fault(BP)], user=True),
        Case("rdhwr that HWREna shows", "LI $t0, 9\nmtc0 $t0, $7\nehb\nLI $t0, 0\n.word 0x7c08003b\nRECORD $t0\n.word 0x7c08183b\nRECORD $t0", [0, 2]),
    ]  # fmt: skip


def timer() -> list[Case]:
    ask = "mfc0 $t2, $13\nsrl $t2, $t2, 30\nandi $t2, $t2, 1\nRECORD $t2\nmfc0 $t2, $13\nsrl $t2, $t2, 15\nandi $t2, $t2, 1\nRECORD $t2"
    begin = "mfc0 $t0, $9\naddiu $t0, $t0, {}\nmtc0 $t0, $11\n"
    reach = "A: mfc0 $t1, $9\nsubu $t2, $t1, $t0\nbltz $t2, A\nnop\nnop\nnop\nnop\nnop\n"
    waits = f"LI $t1, {CU0 | 0x8000 | IE:#x}\nmtc0 $t1, $12\nehb\nwait\nX: nop\nnop\nnop"
    return [
        Case("no timer before its time", begin.format(20000) + ask, [0, 0]),
        Case("the timer", begin.format(500) + reach + ask + "\nmtc0 $t0, $11\nehb\n" + ask, [1, 1, 0, 0]),
        Case("wait for the timer", begin.format(5000) + waits, [Fault(INT, status=CU0 | 0x8000 | IE)]),
        Case("a wait that ends at once", "LI $t0, 0x100\nmtc0 $t0, $13\nLI $t0, 0x10000101\nLI $t1, 0x10000100\nmtc0 $t1, $12\nehb\nmtc0 $t0, $12\nX: wait\nnop",
             [Fault(INT, status=CU0 | 0x100 | IE, extra=0x100)]),
        Case("Count stands still", "LI $t0, 0x08000000\nmtc0 $t0, $13\nehb\nLI $t0, 1234\nmtc0 $t0, $9\nnop\nnop\nnop\nnop\nmfc0 $t1, $9\nRECORD $t1", [1234]),
        Case("a wait with interrupts disabled", begin.format(5000) + f"LI $t1, {CU0 | 0x8000:#x}\nmtc0 $t1, $12\nehb\nwait\n" + ask, [1, 1], qemu=False),
    ]  # fmt: skip


ALL_ONES, STATUS = 0xFFFFFFFF, 0x1278FF17


def registers() -> list[Case]:
    """What writes of ones and of zeros leave.  Identity is checked apart: Config1 differs by the caches."""
    def both(number: int, select: int, ones: int, zeros: int, name: str, qemu: bool = True) -> Case:
        write, read = f"mtc0 $t0, ${number}, {select}\nehb\n", f"mfc0 $t1, ${number}, {select}\n"
        mask = "srl $t1, $t1, 23\nsll $t1, $t1, 23\nsrl $t2, $t2, 23\nsll $t2, $t2, 23\n" if name == "Context" else ""  # the rest is of exceptions
        code = f"LI $t0, 0xffffffff\n{write}{read}LI $t0, 0\n{write}mfc0 $t2, ${number}, {select}\nmtc0 $zero, $13\nLI $t0, {CU0:#x}\nmtc0 $t0, $12\nehb\n{mask}RECORD $t1\nRECORD $t2"
        return Case(f"ones and zeros into {name}", code, [ones, zeros], qemu=qemu)

    constants = {"PRId": (15, 0, 0x00019000), "Config2": (16, 2, 0x80000000), "Config3": (16, 3, 0), "SRSCtl": (12, 2, 0)}
    return [
        both(2, 0, 0x03FFFFFF, 0, "EntryLo0"), both(3, 0, 0x03FFFFFF, 0, "EntryLo1"), both(4, 0, 0xFF800000, 0, "Context"),
        both(5, 0, 0x1FFFE000, 0, "PageMask"), both(6, 0, 15, 0, "Wired"), both(7, 0, 0xF, 0, "HWREna"), both(10, 0, 0xFFFFE0FF, 0, "EntryHi"),
        both(11, 0, ALL_ONES, 0, "Compare"), both(12, 0, STATUS, 0, "Status"), both(12, 1, 0xE00003E0, 0xE0000000, "IntCtl"),
        both(14, 0, ALL_ONES, 0, "EPC"), both(15, 1, 0xBFFFF000, 0x80000000, "EBase"), both(30, 0, ALL_ONES, 0, "ErrorEPC"),
        *[Case(f"{name} is constant", f"LI $t0, 0xffffffff\nmtc0 $t0, ${n}, {s}\nehb\nmfc0 $t1, ${n}, {s}\nRECORD $t1", [value], qemu=name != "SRSCtl") for name, (n, s, value) in constants.items()],
        Case("Index", "LI $t0, 13\nmtc0 $t0, $0\nehb\nmfc0 $t1, $0\nRECORD $t1\nmtc0 $zero, $0\nehb\nmfc0 $t1, $0\nRECORD $t1", [13, 0]),
        Case("Cause", "LI $t0, 0xffffffff\nmtc0 $t0, $13\nehb\nmfc0 $t1, $13\nmtc0 $zero, $13\nLI $t2, 0x08c00300\nand $t1, $t1, $t2\nRECORD $t1", [0x08C00300]),
        Case("Config.K0", "mfc0 $t0, $16\nori $t1, $t0, 7\nmtc0 $t1, $16\nehb\nmfc0 $t2, $16\nmtc0 $t0, $16\nandi $t2, $t2, 7\nRECORD $t2", [7]),
        Case("page masks that there are not", "LI $t0, 0x00018000\nmtc0 $t0, $5\nehb\nmfc0 $t1, $5\nRECORD $t1\nLI $t0, 0x0001e000\nmtc0 $t0, $5\nehb\nmfc0 $t1, $5\nRECORD $t1",
             [0, 0x1E000]),
        Case("pages of 8 KiB", "LI $t0, 0x00002000\nmtc0 $t0, $5\nehb\nmfc0 $t1, $5\nRECORD $t1", [0], qemu=False),
        Case("EBase moves the vectors", "LI $t0, 0x80101000\nmtc0 $t0, $15, 1\nehb\nmfc0 $t1, $15, 1\nLI $t0, 0x80000000\nmtc0 $t0, $15, 1\nehb\nRECORD $t1\nX: syscall", [0x80101000, Fault(SYS)]),
        Case("Config1", "mfc0 $t0, $16, 1\nRECORD $t0", [1 << 31 | 15 << 25 | 1 << 22 | 4 << 19 | 3 << 16 | 1 << 13 | 4 << 10 | 3 << 7], qemu=False),
        Case("Random steps when it is used", "LI $t0, 3\nmtc0 $t0, $6\nehb\nmfc0 $t1, $1\nRECORD $t1\ntlbwr\nmfc0 $t1, $1\nRECORD $t1\ntlbwr\nmfc0 $t1, $1\nRECORD $t1\nmtc0 $zero, $6\nmfc0 $t1, $1\nRECORD $t1",
             [15, 3 + 0xE270 % 13, 3 + 0x7138 % 13, 15], qemu=False),
        Case("registers that there are not", "LI $t0, 7\nmtc0 $t0, $31\nmfc0 $t1, $31\nRECORD $t1", [0], qemu=False),
    ]  # fmt: skip


SHOW = "\n".join(f"mfc0 $t1, ${n}\nRECORD $t1" for n in (5, 10, 2, 3))


def tlb() -> list[Case]:
    kseg2 = 0xC0000000

    def probe(hi: int) -> str:
        return f"LI $t0, {hi:#x}\nmtc0 $t0, $10\nehb\ntlbp\nehb\nmfc0 $t1, $0\nsrl $t2, $t1, 31\nRECORD $t2\n"

    def back(index: int, asid: int = 0) -> str:
        return f"LI $t0, {index}\nmtc0 $t0, $0\nLI $t0, {asid}\nmtc0 $t0, $10\nehb\ntlbr\nehb\n{SHOW}"

    def value(address: int) -> str:
        return f"LI $t0, {address:#x}\nlw $t1, 0($t0)\nRECORD $t1\n"

    fill = f"LI $t0, {0xA0000000 + FRAMES:#x}\n" + "".join(f"LI $t1, {n + 1}\nLI $t2, {n * 0x1000}\naddu $t2, $t2, $t0\nsw $t1, 0($t2)\n" for n in range(8))
    frames = [(FRAMES + n * 0x1000) >> 12 << 6 | 0x1E for n in range(8)]
    asid = "LI $t0, {}\nmtc0 $t0, $10\nehb\n"
    return [
        Case("an entry read back", f"MAP 7, 0x10002055, {VALID:#x}, {CLEAN:#x}\n{back(7)}", [0, 0x10002055, VALID, CLEAN]),
        Case("G is that of both", f"MAP 7, 0x10002055, {VALID | 1:#x}, {CLEAN:#x}\n{back(7)}", [0, 0x10002055, VALID, CLEAN]),
        Case("G in both", f"MAP 7, 0x10002055, {VALID | 1:#x}, {CLEAN | 1:#x}\n{back(7)}", [0, 0x10002055, VALID | 1, CLEAN | 1]),
        Case("a large page read back", f"MAP 7, 0x10000000, {VALID:#x}, {CLEAN:#x}, 0x1e000\n{back(7)}", [0x1E000, 0x10000000, VALID, CLEAN]),
        Case("probe", f"MAP 7, 0x10002000, {VALID:#x}, {CLEAN:#x}\n{probe(0x10002000)}RECORD $t1", [0, 7]),
        Case("probe misses", f"MAP 7, 0x10002000, {VALID:#x}, {CLEAN:#x}\n{probe(0x10004000)}", [1]),
        Case("probe in another space", f"MAP 7, 0x10002005, {VALID:#x}, {CLEAN:#x}\n{probe(0x10002004)}", [1]),
        Case("probe of a global entry", f"MAP 7, 0x10002005, {VALID | 1:#x}, {CLEAN | 1:#x}\n{probe(0x10002004)}RECORD $t1", [0, 7]),
        Case("probe in a large page", f"MAP 7, 0x10000000, {VALID:#x}, {CLEAN:#x}, 0x1e000\n{probe(0x1000e000)}RECORD $t1", [0, 7]),
        Case("even and odd", f"{fill}MAP 4, {PAGE:#x}, {frames[2]:#x}, {frames[5]:#x}\n{value(PAGE)}{value(PAGE + 0x1000)}", [3, 6]),
        Case("the lower index counts", f"{fill}MAP 6, {PAGE:#x}, {frames[2]:#x}, {frames[5]:#x}\nMAP 3, {PAGE:#x}, {frames[1]:#x}, {frames[4]:#x}\n{value(PAGE)}{value(PAGE + 0x1000)}",
             [2, 5]),
        Case("pages of 16 KiB", f"{fill}MAP 4, {PAGE:#x}, {frames[0]:#x}, {frames[4]:#x}, 0x6000\n" + "".join(value(PAGE + 0x1000 * n) for n in range(8)), [1, 2, 3, 4, 5, 6, 7, 8]),
        Case("address spaces", f"{fill}MAP 4, {PAGE | 7:#x}, {frames[0]:#x}, {frames[0]:#x}\nMAP 5, {PAGE | 8:#x}, {frames[1]:#x}, {frames[1]:#x}\n"
             f"{asid.format(7)}{value(PAGE)}{asid.format(8)}{value(PAGE)}{asid.format(9)}LI $t0, {PAGE:#x}\nX: lw $t1, 0($t0)",
             [1, 2, Fault(TLBL, bad=PAGE, vector=REFILL, asid=9)]),
        Case("an entry that is replaced", f"{fill}MAP 4, {PAGE:#x}, {frames[0]:#x}, {frames[0]:#x}\n{value(PAGE)}MAP 4, {PAGE + 0x2000:#x}, {frames[1]:#x}, {frames[1]:#x}\n"
             f"{value(PAGE + 0x2000)}LI $t0, {PAGE:#x}\nX: lw $t1, 0($t0)", [1, 2, Fault(TLBL, bad=PAGE, vector=REFILL)]),
        Case("an entry that becomes dirty", f"{fill}MAP 4, {PAGE:#x}, {frames[0] & ~4:#x}, {frames[0]:#x}\n{value(PAGE)}LI $t2, 77\nMAP 4, {PAGE:#x}, {frames[0]:#x}, {frames[0]:#x}\n"
             f"LI $t0, {PAGE:#x}\nsw $t2, 0($t0)\n{value(PAGE)}", [1, 77]),
        Case("kseg2 is mapped", f"{fill}MAP 4, {kseg2:#x}, {frames[3]:#x}, {frames[5]:#x}\n{value(kseg2)}LI $t0, 0xf0000000\nX: lw $t1, 0($t0)",
             [4, Fault(TLBL, bad=0xF0000000, vector=REFILL)]),
        Case("kseg1 is kseg0", "LI $t0, 0x80300000\nLI $t1, 0x1234\nsw $t1, 0x40($t0)\nLI $t0, 0xa0300000\nlw $t1, 0x40($t0)\nRECORD $t1", [0x1234]),
        Case("Context keeps its base", "LI $t0, 0xab800000\nmtc0 $t0, $4\nehb\nLI $t0, 0x20003008\nX: lw $t1, 0($t0)", [Fault(TLBL, bad=0x20003008, vector=REFILL, base=0xAB800000)]),
        Case("cache translates", "LI $t0, 0x20003008\nX: cache 0x15, 0($t0)", [Fault(TLBL, bad=0x20003008, vector=REFILL)], qemu=False),
        Case("cache does nothing else", "LI $t0, 0x80300000\nLI $t1, 5\nsw $t1, 0($t0)\n" + "".join(f"cache {n:#x}, 0($t0)\n" for n in (0, 1, 8, 9, 0x10, 0x11, 0x15, 0x19)) + "lw $t1, 0($t0)\nRECORD $t1", [5]),
        Case("code that is written", "LA $t0, A\nLI $t1, 0x24020007\nsw $t1, 0($t0)\nsynci 0($t0)\nLA $t2, A\njr.hb $t2\nnop\nA: addiu $v0, $zero, 3\nRECORD $v0", [7]),
        Case("synci translates", "LI $t0, 0x20003008\nX: synci 0($t0)", [Fault(TLBL, bad=0x20003008, vector=REFILL)], qemu=False),
        Case("rdpgpr and wrpgpr move", "LI $t0, 99\n.word 0x41484800\n.word 0x41c95000\nRECORD $t1\nRECORD $t2", [99, 99]),
        Case("a marker does nothing", "LI $t0, 3\nlui $zero, 5\nRECORD $t0", [3]),
    ]  # fmt: skip


def all_cases() -> list[Case]:
    return [*placed(), *fetches(), *levels(), *timer(), *registers(), *tlb()]
