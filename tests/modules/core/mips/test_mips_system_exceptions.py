"""mips_system: every exception, in and out of delay slots, nested or not, through both sets of vectors, and from each mode; what
Status, Cause, EPC and the registers of addresses hold then is worked out here from the architecture manual."""

from dataclasses import dataclass

import pytest

from tests.modules.core.mips.system_bench import (
    BD,
    BEV,
    CU0,
    EXL,
    IE,
    IV,
    UM,
    SystemBench,
    failed,
    fails,
    item,
    mfc0,
    mtc0,
    restart,
    result_of,
)
from tests.modules.harness import Bench
from tests.sample import sampled

PC, ADDRESS, ASID, BASE = 0x80003004, 0x1234567C, 0x99, 0x7F800000
KEPT = {"EPC": 0x1000, "BadVAddr": 0, "EntryHi": 0xABC00000 | ASID, "Context": BASE}
SHOWN = ["Status", "Cause", "EPC", "BadVAddr", "EntryHi", "Context"]


@dataclass(frozen=True)
class Cause:
    """Why an instruction fails: as it comes, what fails behind it, and what is written about it."""

    code: int
    trap: str = ""  # found by an earlier stage
    word: int = 0
    result: int = ADDRESS
    name: str = ""  # an instruction whose request fails, with this fault
    fault: str = ""
    address: int | None = None  # that BadVAddr gets
    translated: bool = False
    refill: bool = False
    unit: int = 0
    user: bool = False  # in user mode only

    def item(self, slot: bool) -> str:
        if self.trap:
            return failed(self.trap, PC, self.result, slot, self.word)
        return item(self.name, pc=PC, result=ADDRESS, slot=slot)


FETCH = {"bus": Cause(6, "fetch", result=0), "address": Cause(4, "fetch", result=1, address=PC), "refill": Cause(2, "fetch", result=2, address=PC, translated=True, refill=True),
         "invalid": Cause(2, "fetch", result=3, address=PC, translated=True)}  # fmt: skip
CAUSES = {
    **{f"fetch {name}": cause for name, cause in FETCH.items()},
    "syscall": Cause(8, "syscall", 0x0C), "break": Cause(9, "breakpoint", 0x0D), "reserved": Cause(10, "reserved", 0x7000003E),
    "reserved of coprocessor 0": Cause(10, "reserved", 0x4200003F), "overflow": Cause(12, "overflowed"), "trap": Cause(13, "taken"),
    "lwc1": Cause(11, "coprocessor", 0xC4880010, unit=1), "cop1x": Cause(11, "coprocessor", 0x4C000000, unit=1), "movci": Cause(11, "coprocessor", 0x01051001, unit=1),
    "cop1": Cause(11, "coprocessor", 0x46000000, unit=1), "cop2": Cause(11, "coprocessor", 0x4A000000, unit=2), "sdc2": Cause(11, "coprocessor", 0xF8880010, unit=2),
    "rdhwr": Cause(10, "system", 0x7C03E83B),
    "mfc0 in user mode": Cause(11, "system", 0x40086000, user=True), "reserved of coprocessor 0 in user mode": Cause(11, "reserved", 0x4200003F, user=True),
    **{f"{name} {fault}": Cause(code, name=name, fault=fault, address=None if fault == "bus" else ADDRESS, translated=fault in ("refill", "invalid", "modified"), refill=fault == "refill")
       for name, codes in {"lw": (7, 4, 2, 2), "ll": (7, 4, 2, 2), "cache": (7, 4, 2, 2), "synci": (7, 4, 2, 2), "sw": (7, 5, 3, 3, 1), "swl": (7, 5, 3, 3, 1), "sc": (7, 5, 3, 3, 1)}.items()
       for fault, code in zip(("bus", "address", "refill", "invalid", "modified"), codes, strict=False)},
}  # fmt: skip


SITUATIONS = [(slot, nested, boot) for slot in (False, True) for nested in (False, True) for boot in (False, True)]


def set_up(status: int) -> list[str]:
    kept = [mtc0(name, KEPT[name]) for name in ("EPC", "EntryHi", "Context")]
    return [mtc0("Status", 0), *kept, mtc0("EBase", 0x80040000), mtc0("Cause", IV), mtc0("Status", status)]


@pytest.mark.parametrize("name", sampled(CAUSES, 2))
def test_an_exception_says_what_it_was_and_where(bench: Bench, name: str) -> None:
    """In the cycle in which the instruction fails what is before it is killed, and nothing of it goes on or reaches write-back."""
    why = CAUSES[name]
    situations = [(slot, nested, boot) for slot, nested, boot in SITUATIONS if not (why.user and nested)]  # that is no user mode
    items, at, statuses = [], [], []
    for slot, nested, boot in situations:
        statuses.append((BEV if boot else 0) | (EXL if nested else 0) | (UM if why.user else 0))
        items += set_up(statuses[-1])
        at.append(len(items) + 1)
        items += [why.item(slot), *[mfc0(register) for register in SHOWN]]
    played = SystemBench(bench).play(items, faults={cycle: fails(why.fault, ADDRESS) for cycle in at} if why.fault else {})
    restarts, told, bad, extra = dict(played.restarts()), [], 0, 0
    for cycle, status, (slot, nested, boot) in zip(at, statuses, situations, strict=True):
        base = 0xBFC00200 if boot else 0x80040000
        assert restarts[cycle] == restart(base + (0 if why.refill and not nested else 0x180))
        assert cycle in played.kills() and cycle in played.taken() and bool(played.seen["out"][cycle].value) == bool(why.fault)
        epc = KEPT["EPC"] if nested else PC - 4 if slot else PC
        before = extra  # BD and CE are those of an exception before, unless this one sets them
        extra = (before if nested else BD if slot else 0) & BD | (why.unit << 28 if why.code == 11 else before & 3 << 28)
        bad = bad if why.address is None else why.address
        page = (bad & 0xFFFFE000 | ASID, BASE | bad >> 13 << 4) if why.translated else (KEPT["EntryHi"], BASE)
        shown = [result_of(line) for line in played.left() if cycle < line.cycle <= cycle + len(SHOWN)]
        assert shown == [status | EXL, IV | why.code << 2 | extra, epc, bad, *page]
        told.append((cycle, why.code, PC, epc, bad))
    assert played.exception() == told
    counted = played.ran.counted("dut")
    assert played.elements("exceptions") == {why.code: len(told)} and counted.get("refills", 0) == why.refill * len(told)
    assert counted["kernel_instructions"] == len(items) - len(told)


def test_what_the_stage_behind_does_not_accept_does_not_fail_yet(bench: Bench) -> None:
    """A late reply fails the load; what comes while it is refused is repeated."""
    faults = {cycle: fails("refill", 0x4000) for cycle in (1, 2, 3)}
    played = SystemBench(bench).play([item("lw", pc=PC, result=0x4000)], 8, faults=faults, refused=[1, 2])
    assert played.kills() == [3] and played.taken() == [3] and len(played.exception()) == 1


@pytest.mark.parametrize("part", [1, 2])
def test_each_part_of_a_synci_may_fail(bench: Bench, part: int) -> None:
    """The next one begins with the first part again."""
    items = [item("synci", pc=PC, result=0x4000), item("synci", pc=PC, result=0x4000)]
    played = SystemBench(bench).play(items, 10, faults={part: fails("invalid", 0x4000)})
    assert played.exception() == [(part, 2, PC, PC, 0x4000)]
    assert played.taken() == [part, part + 2]
    assert [line.cycle for line in played.seen["out"] if line.value and "annulled=true" in line.value] == [1, part + 1]


def test_a_failed_annulled_slot_is_nothing(bench: Bench) -> None:
    annulled = "{pc=4096 word=0 control={annulled=true slot=true rs=33 rt=33 dest=32} result=0 b=0}"
    played = SystemBench(bench).play([mtc0("Status", IE | 0x100), mtc0("Cause", 0x100), annulled, item("addu", rd=8, pc=PC)])
    assert played.exception() == [] and played.interrupt() == [(4, 0, PC)]


def test_coprocessor_0_may_be_given_to_user_mode(bench: Bench) -> None:
    played = SystemBench(bench).play([mtc0("Status", UM | CU0), failed("reserved", PC, word=0x4200003F), mtc0("Status", UM | CU0), mfc0("EPC")])
    assert [told[1] for told in played.exception()] == [10] and played.results()[-1] == PC
