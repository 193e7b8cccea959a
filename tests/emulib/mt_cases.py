"""The directed cases of the MT ASE, on a processor of two virtual processing elements (VPEs) with a thread context (TC) each: its
registers and instructions, what a VPE reaches of the other, and the other executing.  Expected values were worked out by hand from
the architecture manual (MIPS MT, MD00378).

Not on qemu, which departs from the ASE: MVPControl is not shared, dvpe is not a master's alone, and who is no master reaches the other
VPE; dmt and emt read 0 and change nothing, fork and a yield of nothing do nothing; all TCs say in TCBind that they are the first,
VPEConf0.XTC may be written, register 0 too, but not another VPE's EPC, Config and user mode; registers that there are not read as 0;
a VPE waits on for interrupts that are disabled; and which is let go twice does not start."""

from __future__ import annotations

from tests.isa.system import CPU, CU0, SYS, Case, Fault

THREAD = 25
VPE_CONTROL, VPE_CONF0, TC_STATUS, TC_BIND, TC_RESTART, TC_HALT, TC_CONTEXT = "$1, 1", "$1, 2", "$2, 1", "$2, 2", "$2, 3", "$2, 4", "$2, 5"
YSI, DT = 1 << 21, 1 << 20
FLAG = 0xA0190000  # a word of memory, past the caches


def target(tc: int, other: int = 0) -> str:
    """TargTC.  qemu translates mftr for the target of the moment, so it must not be in the block of code that sets this."""
    return f"LI $t9, {tc | other:#x}\nmtc0 $t9, {VPE_CONTROL}\nehb\nb 1f\nnop\n1:\n"


def show(register: str, mask: int = 0xFFFFFFFF) -> str:
    return f"mfc0 $t1, {register}\nLI $t2, {mask:#x}\nand $t1, $t1, $t2\nRECORD $t1\n"


def read(register: str, mask: int = 0xFFFFFFFF) -> str:
    """What mftc0 reads."""
    return f"mftc0 $t1, {register}\nLI $t2, {mask:#x}\nand $t1, $t1, $t2\nRECORD $t1\n"


def write(register: str, value: int) -> str:
    return f"LI $t1, {value:#x}\nmttc0 $t1, {register}\n"


def put(register: str, value: int) -> str:
    return f"LI $t1, {value:#x}\nmtc0 $t1, {register}\nehb\n"


def both(name: str, register: str, value: int, expect: int, mask: int = 0xFFFFFFFF, qemu: bool = True) -> Case:
    """Written with ones and read back, of the other TC or VPE, and put back."""
    old = f"mftc0 $t8, {register}\n"
    return Case(name, target(1) + old + write(register, value) + read(register, mask) + f"mttc0 $t8, {register}\n", [expect], qemu=qemu)


def registers() -> list[Case]:
    return [
        Case("Config3.MT", show("$16, 3", 4), [4]),
        Case("MVPConf0: two VPEs and TCs", show("$0, 2", 0x3CFF), [0x401]),
        Case("MVPConf1, announced", show("$0, 2", 1 << 31) + show("$0, 3"), [1 << 31, 0], qemu=False),
        Case("VPEControl", put(VPE_CONTROL, 0xFFFFFFFF) + show(VPE_CONTROL, 0xFFEFFFFF) + put(VPE_CONTROL, 0), [0x002080FF]),
        Case("VPEConf0", show(VPE_CONF0, 3) + put(VPE_CONF0, 0xFFFFFFFF) + show(VPE_CONF0, 3), [3, 3]),
        Case("XTC is the TC", show(VPE_CONF0, 0x1FE00000) + target(1) + read(VPE_CONF0, 0x1FE00000), [0, 1 << 21], qemu=False),
        Case("TCBind", show(TC_BIND) + target(1) + read(TC_BIND), [0, 1 << 21 | 1], qemu=False),
        Case("TCHalt", show(TC_HALT) + target(1) + read(TC_HALT) + target(0) + read(TC_HALT), [0, 1, 0]),
        Case("TCContext", put(TC_CONTEXT, 0x12345678) + show(TC_CONTEXT) + target(0) + read(TC_CONTEXT), [0x12345678, 0x12345678]),
        Case("MVPControl.VPC", put("$0, 1", 2) + show("$0, 1", 2) + put("$0, 1", 1) + show("$0, 1", 3), [2, 1]),
        both("TCContext of the other", TC_CONTEXT, 0xDEADBEEF, 0xDEADBEEF),
        both("TCSchedule", "$2, 6", 0xFFFFFFFF, 0xFFFFFFFF),
        both("TCScheFBack", "$2, 7", 0xFFFFFFFF, 0xFFFFFFFF),
        both("TCRestart", TC_RESTART, 0x80123454, 0x80123454),
        both("TCBind is fixed", TC_BIND, 0, 1, 15, qemu=False),
        both("VPEConf0 of the other: a master that does not execute", VPE_CONF0, 2, 2, 3),
        both("TCStatus of the other", TC_STATUS, 0x100080FF, 0x100080FF, 0x100080FF),
        both("EntryHi", "$10, 0", 0x00ABE055, 0x00ABE055),
        both("EPC", "$14, 0", 0x87654320, 0x87654320, qemu=False),
        both("EBase", "$15, 1", 0xBFFFF000, 0xBFFFF000, 0xFFFFF000),
        both("software interrupts", "$13, 0", 0x300, 0x300, 0x300),
        both("Config.K0", "$16, 0", 3, 3, 7, qemu=False),
        Case("TC 2 is not there", target(2) + read(TC_HALT) + read("$12, 0"), [0xFFFFFFFF, 0xFFFFFFFF]),
        Case("registers that there are not", target(1) + read("$7, 5") + "mftr $t1, $3, 1, 1, 0\nRECORD $t1\nmftr $t1, $3, 1, 2, 0\nRECORD $t1\n", [0xFFFFFFFF] * 3, qemu=False),
        Case("one that executes", target(0) + "mftgpr $t1, $29\nRECORD $t1\n" + read(TC_RESTART), [0xFFFFFFFF] * 2, qemu=False),
    ]  # fmt: skip


def shared_fields() -> list[Case]:
    """TCStatus, Status and EntryHi have fields in common."""
    return [
        Case("TASID is ASID", put("$10, 0", 0x33) + show(TC_STATUS, 0xFF) + put(TC_STATUS, CU0 | 1 << 13 | 0x44) + show("$10, 0"), [0x33, 0x44]),
        Case("TCU0 is CU0", show(TC_STATUS, 0xF0000000) + put("$12, 0", 0) + show(TC_STATUS, 0xF0000000) + put(TC_STATUS, CU0 | 1 << 13) + show("$12, 0", 0xF0000000), [CU0, 0, CU0]),
        Case("TKSU is UM", put("$12, 0", CU0 | 0x12) + show(TC_STATUS, 0x1800) + put(TC_STATUS, CU0 | 1 << 13) + show("$12, 0", 0x1A), [0x1000, 2]),
        Case("of the other", target(1) + write("$12, 0", CU0 | 0x10) + write("$10, 0", 7) + read(TC_STATUS, 0xF00018FF) + write(TC_STATUS, 9) + read("$12, 0", 0xF0000018) + read("$10, 0"), [CU0 | 0x1007, 0, 9], qemu=False),
    ]  # fmt: skip


def instructions() -> list[Case]:
    move = "".join(f"LI $t1, {0x1000 + n:#x}\nmttgpr $t1, ${n}\n" for n in range(1, 32)) + "".join(f"mftgpr $t1, ${n}\nRECORD $t1\n" for n in range(32))
    hilo = "LI $t1, 0x111\nmtthi $t1\nLI $t1, 0x222\nmttlo $t1\nmfthi $t1\nRECORD $t1\nmftlo $t1\nRECORD $t1\n"
    return [
        Case("general registers", target(1) + move, [0, *range(0x1001, 0x1020)]),
        Case("register 0", target(1) + "LI $t1, 5\nmttgpr $t1, $0\nmftgpr $t1, $0\nRECORD $t1\n", [0], qemu=False),
        Case("HI and LO", target(1) + hilo, [0x111, 0x222]),
        Case("dvpe and evpe", "evpe\nehb\ndvpe $t1\nehb\nevpe $t2\nehb\nevpe $t3\nandi $t1, $t1, 1\nandi $t2, $t2, 1\nandi $t3, $t3, 1\nRECORD $t1\nRECORD $t2\nRECORD $t3\n", [1, 0, 1], qemu=False),
        Case("dmt and emt", put(VPE_CONTROL, 0) + "emt $t1\nRECORD $t1\ndmt $t1\nRECORD $t1\nemt\ndmt $t1\nRECORD $t1\n" + show(VPE_CONTROL), [0, 0x8000, 0x8000, 0], qemu=False),
        Case("fork: no TC is free", "LI $t1, 0\nX: fork $t1, $t1, $t1\nnop", [Fault(THREAD)], qemu=False),
        Case("fork: VPEControl", show(VPE_CONTROL, 0x70000), [1 << 16], qemu=False),
        Case("yield: the last thread", "X: yield $zero, $zero", [Fault(THREAD)], qemu=False),
        Case("yield: VPEControl", show(VPE_CONTROL, 0x70000), [0], qemu=False),
        Case("yield: a qualifier", "LI $t1, 5\nX: yield $t1, $t1", [Fault(THREAD)]),
        Case("yield: a qualifier: VPEControl", show(VPE_CONTROL, 0x70000), [2 << 16]),
        Case("yield: to others", "addiu $t1, $zero, -1\nyield $t1, $t1\nRECORD $t1\naddiu $t1, $zero, -2\nyield $t1, $t1\nRECORD $t1\n", [0, 0]),
        Case("yield: the scheduler", put(TC_STATUS, CU0 | 1 << 13 | DT) + put(VPE_CONTROL, YSI) + "addiu $t1, $zero, -2\nyield $t2, $t1\naddiu $t1, $zero, -1\nX: yield $t2, $t1", [Fault(THREAD)]),
        Case("yield: the scheduler: VPEControl", show(VPE_CONTROL, 0x270000) + put(VPE_CONTROL, 0) + put(TC_STATUS, CU0 | 1 << 13), [YSI | 4 << 16]),
        Case("yield in a slot", "LI $t1, 5\nB: b D\nX: yield $t1, $t1\nD: nop", [Fault(THREAD, at="B", slot=True)]),
        Case("yield to others as a user", "addiu $t1, $zero, -1\nyield $t1, $t1\nX: syscall", [Fault(SYS)], user=True),
        Case("yield a qualifier as a user", "LI $t1, 1\nX: yield $t1, $t1", [Fault(THREAD)], user=True),
        *[Case(f"{code} as a user", f"X: {code}", [Fault(CPU)], user=True, status=0) for code in ("mftc0 $t1, $2, 1", "mttc0 $t1, $2, 1", "dvpe $t1", "evpe $t1", "dmt $t1", "emt $t1")],
    ]  # fmt: skip


def let_go(at: str) -> str:
    """The other VPE executes from a label on, as a system does it."""
    return ("dvpe\nehb\n" + put("$0, 1", 2) + target(1) + f"LA $t1, {at}\nmttc0 $t1, {TC_RESTART}\n" + write(TC_STATUS, CU0 | 1 << 13) + "mttc0 $zero, $13\n"
            + write("$12, 0", CU0) + write(TC_HALT, 0) + write(VPE_CONF0, 3) + f"LI $t1, {FLAG:#x}\nmttgpr $t1, $4\n" + put("$0, 1", 0) + "evpe\nehb\n")  # fmt: skip


def await_flag(value: int) -> str:
    return f"LI $t3, {FLAG:#x}\n2: lw $t1, 0($t3)\nLI $t2, {value}\nbne $t1, $t2, 2b\nnop\n"


HALTS = f"addiu $t1, $zero, 1\nmtc0 $t1, {TC_HALT}\nehb\n3: b 3b\nnop\n"


def together() -> list[Case]:
    """The other VPE executes: it stores, halts itself, and is let go again; it waits for an interrupt from this one."""
    clear = f"LI $t3, {FLAG:#x}\nsw $zero, 0($t3)\n"
    polls = "addiu $t1, $zero, 2\nsw $t1, 0($a0)\n4: mfc0 $t1, $13\nandi $t1, $t1, 0x200\nbeqz $t1, 4b\nnop\nmtc0 $zero, $13\nehb\naddiu $t1, $zero, 3\nsw $t1, 0($a0)\n"
    return [
        Case("it stores and halts", clear + let_go("V") + await_flag(1) + target(1) + f"5: mftc0 $t1, {TC_HALT}\nbeqz $t1, 5b\nnop\nmftgpr $t1, $5\nRECORD $t1\n"
             + "b G\nnop\nV: addiu $a1, $zero, 77\naddiu $t1, $zero, 1\nsw $t1, 0($a0)\n" + HALTS + "G: nop", [77]),
        *[Case(f"it {how} for an interrupt", clear + let_go("V") + await_flag(2) + target(1) + write("$13, 0", 0x200) + await_flag(3)
               + f"5: mftc0 $t1, {TC_HALT}\nbeqz $t1, 5b\nnop\n" + read("$13, 0", 0x300) + "b G\nnop\nV: LI $t1, 0x10000200\nmtc0 $t1, $12\nehb\n"
               + (polls if how == "polls" else polls.replace("4:", "4: wait\n")) + HALTS + "G: nop", [0], qemu=how == "polls") for how in ("polls", "waits")],
        Case("dvpe stops it", clear + let_go("V") + await_flag(1) + "dvpe\nehb\n" + clear + "LI $t4, 300\n6: bnez $t4, 6b\naddiu $t4, $t4, -1\nlw $t1, 0($t3)\nRECORD $t1\nevpe\nehb\n"
             + await_flag(1) + target(1) + write(TC_HALT, 1) + "b G\nnop\nV: addiu $t1, $zero, 1\n7: sw $t1, 0($a0)\nb 7b\nnop\nG: nop", [0]),
    ]  # fmt: skip


def no_master() -> list[Case]:
    """VPE 0 is a master no more: for ever, since a master alone could change that."""
    return [
        Case("a VPE that is no master", put(VPE_CONF0, 1) + show(VPE_CONF0, 3) + put(VPE_CONF0, 3) + show(VPE_CONF0, 3) + target(1) + read(TC_HALT) + write(TC_CONTEXT, 5) + read(TC_CONTEXT) + put("$0, 1", 2) + show("$0, 1", 2),
             [1, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0], qemu=False),
        Case("it reaches itself", target(0) + read(VPE_CONF0, 3) + write(TC_CONTEXT, 6) + read(TC_CONTEXT), [1, 6], qemu=False),
        Case("dvpe without effect", "mfc0 $t1, $0, 1\nevpe $t2\nsubu $t1, $t1, $t2\nRECORD $t1\ndvpe $t1\nmfc0 $t2, $0, 1\nsubu $t1, $t1, $t2\nRECORD $t1\n", [0, 0], qemu=False),
    ]  # fmt: skip


def mt_cases() -> list[Case]:
    return registers() + shared_fields() + instructions() + together() + no_master()


def qemu_programs() -> list[list[Case]]:
    """What qemu does alike, in programs of which each lets the other VPE go once."""
    alone, *others = [case for case in together() if case.qemu]
    return [[case for case in registers() + shared_fields() + instructions() if case.qemu] + [alone], *[[case] for case in others]]
