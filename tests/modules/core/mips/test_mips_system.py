"""mips_system: the registers of coprocessor 0, system instructions, what serializes, modes; see system_bench.py."""

import re

import pytest

from tests.modules.core.mips.system_bench import (
    CU0,
    DC,
    ERL,
    EXL,
    IE,
    UM,
    SystemBench,
    item,
    mfc0,
    mtc0,
    registers,
    restart,
)
from tests.modules.harness import Bench
from tests.modules.mips import request
from tests.sample import seldom

ALL = 0xFFFFFFFF
OTHER = {"entries": 64, "big_endian": True, "user_local": True, "prid": 0x12345678, "caches": ((256, 2, 16), (64, 8, 64))}
OTHER_BODY = """tlb_entries = 64; big_endian = true; user_local = true; prid = 0x12345678; cpu_number = 5;
    icache_sets = 256; icache_ways = 2; icache_line = 16; dcache_sets = 64; dcache_ways = 8; dcache_line = 64;"""


def read_all(bench: SystemBench, items: list[str]) -> dict[str, int]:
    found = bench.play(items + [item("mfc0", rt=8, rd=r.number, low=r.select) for r in registers().values()]).results()
    return dict(zip(registers(), found[-len(registers()) :], strict=True))


@seldom
def test_registers_after_reset(bench: Bench) -> None:
    """Count advances meanwhile."""
    found = read_all(SystemBench(bench), [])
    assert found.pop("Count") <= 10
    assert found == {name: r.reset for name, r in registers().items() if name != "Count"}


def test_registers_of_another_processor(bench: Bench) -> None:
    found = read_all(SystemBench(bench, OTHER_BODY), [])
    assert found.pop("Count") <= 10
    assert found == {name: r.reset | (5 if name == "EBase" else 0) for name, r in registers(**OTHER).items() if name != "Count"}


@pytest.mark.parametrize("name", registers())
def test_writes_change_what_may_be_written(bench: Bench, name: str) -> None:
    """All ones, then zeros, in kernel mode; the others stay."""
    r = registers()[name]
    system = SystemBench(bench)
    before, ones, zeros = (read_all(system, writes) for writes in ([], [mtc0(name, ALL)], [mtc0(name, ALL), mtc0(name, 0)]))
    for found in (before, ones, zeros):
        if name not in ("Count", "Cause"):
            found.pop("Count")
    if name == "Count":
        assert 0 <= before["Count"] < 20 and (ones["Count"] + 1) % 2**32 < 20 and 0 <= zeros["Count"] < 20
        return
    if name == "Cause":  # what is written stops Count
        assert (ones.pop("Count"), before.pop("Count") > 0, zeros.pop("Count") > 0) == (0, True, True)
    wanted = r.reset & ~r.writable | r.writable
    assert ones == before | {name: wanted}
    assert zeros == before | {name: r.reset & ~r.writable}


@pytest.mark.parametrize(("mask", "kept"), [(0x6000, 0x6000), (0x1E000, 0x1E000), (0x7E000, 0x7E000), (0x1FFE000, 0x1FFE000), (0x1FFFE000, 0x1FFFE000), (0x2000, 0), (0x18000, 0), (0xE000, 0)])
def test_pages_are_of_4_to_the_power_of_n(bench: Bench, mask: int, kept: int) -> None:
    assert SystemBench(bench).registers_after([mtc0("PageMask", mask | 0x1FFF)], ["PageMask"]) == [kept]


def test_registers_that_there_are_not_are_counted(bench: Bench) -> None:
    known = {(r.number, r.select) for r in registers().values()}
    unknown = [(n, s) for n in range(32) for s in range(8) if (n, s) not in known]
    played = SystemBench(bench).play([item(name, rt=8, rd=n, low=s, b=ALL) for n, s in unknown for name in ("mtc0", "mfc0")])
    assert played.results()[1::2] == [0] * len(unknown)
    assert played.ran.stat("dut", "unimplemented") == 2 * len(unknown)


@pytest.mark.parametrize(("icache", "dcache", "shown"), [((2048, 32), (128, 32), 1 << 10), ((64, 64), (4096, 16), 1 << 16), ((512, 128), (256, 32), 1 << 16 | 1 << 10)])
def test_ways_that_exceed_a_page_have_no_aliases(bench: Bench, icache: tuple[int, int], dcache: tuple[int, int], shown: int) -> None:
    """Config7.IAR and AR say so, and cannot be written; otherwise there is no such register."""
    sizes = "".join(f"{side}_sets = {sets}; {side}_line = {line}; " for side, (sets, line) in (("icache", icache), ("dcache", dcache)))
    config1, config7 = item("mfc0", rt=8, rd=16, low=1), item("mfc0", rt=8, rd=16, low=7)
    played = SystemBench(bench, sizes).play([config7, item("mtc0", rt=8, rd=16, low=7), config7, config1])
    first, _, second, sizes_shown = played.results()
    assert (first, second) == (shown, shown) and played.ran.stat("dut", "unimplemented") == 0
    assert [64 << (sizes_shown >> at & 7) for at in (22, 13)] == [icache[0], dcache[0]]


def test_more_tlb_entries_than_config1_can_show(bench: Bench) -> None:
    """Config3.M says that there is Config4, and that has the rest."""
    config4 = item("mfc0", rt=8, rd=16, low=4)
    known = registers(entries=128)
    played = SystemBench(bench, "tlb_entries = 128;").play([mfc0("Config1"), mfc0("Config3"), config4, mtc0("Index", ALL), mfc0("Index"), mfc0("Random")])
    assert played.results() == [known["Config1"].reset, 1 << 31, 1 << 14 | 1, 0, 127, 127]
    assert known["Config1"].reset >> 25 & 63 == 63 and played.ran.stat("dut", "unimplemented") == 0


def test_a_register_is_written_for_the_next_instruction(bench: Bench) -> None:
    """The context of the micro TLBs, too, follows in the next cycle."""
    played = SystemBench(bench).play([mtc0("EntryHi", 0x12345), mtc0("Config", 3), mtc0("Status", 0), mfc0("Status"), mtc0("Status", UM)])
    assert played.results()[3] == 0 and played.taken() == [1, 2, 3, 4, 5]
    seen = [re.findall(r"=(\w+)", line.value or "") for line in played.seen["context"]]
    assert seen[:7] == [["0", "true", "true", "2"], ["0", "true", "true", "2"], ["69", "true", "true", "2"], ["69", "true", "true", "3"],
                        ["69", "true", "false", "3"], ["69", "true", "false", "3"], ["69", "false", "false", "3"]]  # fmt: skip


def test_di_and_ei_show_status_as_it_was(bench: Bench) -> None:
    items = [mtc0("Status", CU0 | IE | 0x200), item("di", rt=9), mfc0("Status"), item("ei", rt=9), mfc0("Status")]
    assert SystemBench(bench).play(items).results()[1:] == [CU0 | IE | 0x200, CU0 | 0x200, CU0 | 0x200, CU0 | IE | 0x200]


def test_moves_between_sets_of_registers_are_moves(bench: Bench) -> None:
    items = [item("rdpgpr", rt=9, rd=10, b=77), item("wrpgpr", rt=9, rd=10, b=78)]
    assert SystemBench(bench).play(items).results() == [77, 78]


SERIALIZES = {"mtc0": True, "tlbwi": True, "tlbwr": True, "tlbr": True, "tlbp": True, "di": True, "ei": True, "sync": True, "cache": True, "mfc0": False, "rdhwr": False,
              "rdpgpr": False, "addu": False, "lw": False}  # fmt: skip


@pytest.mark.parametrize("name", SERIALIZES)
def test_what_serializes_has_the_next_instruction_fetched_anew(bench: Bench, name: str) -> None:
    """In the cycle in which it leaves: the stage behind refuses it in the first two."""
    operands = {"addu": {"rd": 8}, "rdpgpr": {"rd": 8}, "rdhwr": {"rd": 0}}.get(name, {})
    played = SystemBench(bench).play([item(name, rt=0, **operands)], 8, refused=[0, 1, 2])
    assert played.taken() == [3]
    assert played.kills() == ([3] if SERIALIZES[name] else [])
    assert played.restarts() == ([(3, restart(refetch=True, in_flight=1))] if SERIALIZES[name] else [])


USED_BY_OTHERS = {"Status": 1, "EntryHi": 2, "Config": 2}  # registers that fetch or translation use: how many of two writes change what they use


@pytest.mark.parametrize("name", registers())
def test_a_write_keeps_what_is_younger_unless_it_was_fetched_or_translated_with_the_register(bench: Bench, name: str) -> None:
    """All ones, then zeros; of Status the first changes no mode, because ERL stays."""
    played = SystemBench(bench, "keep_younger = true;").play([mtc0(name, ALL), mtc0(name, 0), mfc0(name)])
    assert played.kills() == played.taken()[2 - USED_BY_OTHERS.get(name, 0) : 2] and [cycle for cycle, _ in played.restarts()] == played.kills()
    if name not in ("Count", "Cause"):
        assert played.results()[-1] == registers()[name].reset & ~registers()[name].writable, "the next instruction sees what was written"


@pytest.mark.parametrize(
    ("name", "before", "after", "keeps"),
    [
        ("Status", EXL | UM, UM, False), ("Status", EXL | UM, EXL | UM | IE, True), ("Status", EXL, IE, True), ("Status", 0, EXL | UM, True), ("Status", 0, ERL, False),
        ("Status", CU0 | IE, 0, True), ("EntryHi", 0x2005, 0x4005, True), ("EntryHi", 0x2005, 0x2006, False), ("Config", 2, 2, True), ("Config", 2, 3, False),
    ],
)  # fmt: skip
def test_a_write_that_changes_no_mode_and_no_address_space(bench: Bench, name: str, before: int, after: int, keeps: bool) -> None:
    """The value decides: the way in and out of a kernel changes Status several times before the mode changes."""
    played = SystemBench(bench, "keep_younger = true;").play([mtc0("Status", 0), mtc0(name, before), mtc0(name, after)])
    assert (played.taken()[2] in played.kills()) != keeps


@pytest.mark.parametrize("name", ["tlbp", "di", "ei", "sync", "tlbwi", "tlbwr", "tlbr", "cache"])
def test_what_else_keeps_what_is_younger(bench: Bench, name: str) -> None:
    played = SystemBench(bench, "keep_younger = true;").play([item(name, rt=0)], 8)
    assert played.kills() == ([] if name in ("tlbp", "di", "ei", "sync") else played.taken())


def test_an_annulled_instruction_does_not_serialize(bench: Bench) -> None:
    played = SystemBench(bench).play([executed_annulled()], 6)
    assert played.taken() == [1] and len(played.left()) == 1 and played.kills() == []
    assert played.ran.counted("dut") == {"kernel_cycles": 6}


def executed_annulled() -> str:
    return "{pc=4096 word=0 control={annulled=true slot=true serializes=true rs=33 rt=33 dest=32} result=0 b=0}"


@pytest.mark.parametrize(("status", "pc", "after"), [(EXL | ERL, 0x9000, EXL), (ERL, 0x9000, 0), (EXL, 0x8000, 0), (EXL | UM | IE, 0x8000, UM | IE), (0, 0x8000, 0)])
def test_eret(bench: Bench, status: int, pc: int, after: int) -> None:
    system = SystemBench(bench)
    items = [mtc0("EPC", 0x8000), mtc0("ErrorEPC", 0x9000), mtc0("Status", status | CU0), item("eret"), mfc0("Status")]
    played = system.play(items)
    assert played.results()[-1] == after | CU0
    assert played.restarts()[3:] == [(4, restart(pc, in_flight=1))]
    assert [line.cycle for line in played.seen["unlink"] if line.value == "true"] == [4]
    assert [told[1] for told in played.mode()] == ([1] if after & UM else [])


def test_modes_are_shown_and_counted(bench: Bench) -> None:
    items = [mtc0("Status", UM | CU0), *[mfc0("EPC")] * 3, mtc0("Status", UM | EXL | CU0), mfc0("EPC")]
    played = SystemBench(bench).play(items, 12)
    assert played.mode() == [(2, 1), (6, 0)]
    assert played.ran.counted("dut") == {"user_cycles": 4, "kernel_cycles": 8, "user_instructions": 4, "kernel_instructions": 2}


HARDWARE = {0: 5, 1: 64, 3: 4, 29: 0xABCD}  # CPU number, step of synci, divider, UserLocal


def hwr(number: int) -> str:
    return item("rdhwr", rt=8, rd=number)


BODY_HWR = "cpu_number = 5; icache_line = 128; dcache_line = 64; count_divider = 4; user_local = true;"


@seldom
def test_hardware_registers_in_kernel_mode(bench: Bench) -> None:
    system = SystemBench(bench, BODY_HWR)
    items = [item("mtc0", rt=8, rd=4, low=2, b=0xABCD), mtc0("Cause", DC), mtc0("Count", 123), hwr(2)] + [hwr(n) for n in HARDWARE]
    assert system.play(items).results()[3:] == [123, *HARDWARE.values()]
    reserved = [n for n in range(32) if n not in (0, 1, 2, 3, 29)]
    played = system.play([hwr(n) for n in reserved])
    assert [told[1] for told in played.exception()] == [10] * len(reserved)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 29])
@pytest.mark.parametrize("coprocessor", [False, True])
@pytest.mark.parametrize("shown", [False, True])
def test_hardware_registers_in_user_mode(bench: Bench, number: int, coprocessor: bool, shown: bool) -> None:
    system = SystemBench(bench, BODY_HWR)
    items = [mtc0("HWREna", 1 << number if shown else ~(1 << number)), mtc0("Status", UM | (CU0 if coprocessor else 0)), hwr(number)]
    played = system.play(items)
    assert [told[1] for told in played.exception()] == ([] if coprocessor or shown else [10])


def test_user_local_is_not_there_unless_requested(bench: Bench) -> None:
    played = SystemBench(bench).play([item("mtc0", rt=8, rd=4, low=2, b=5), item("mfc0", rt=8, rd=4, low=2), hwr(29)])
    assert played.results() == [0, 0] and [told[1] for told in played.exception()] == [10]


# What a CACHE instruction asks for, by its field: side, and what it does.
OPERATIONS = {
    0x00: "by_index=true invalidate=true", 0x01: "side=data by_index=true write_back=true invalidate=true", 0x08: "by_index=true invalidate=true",
    0x09: "side=data by_index=true invalidate=true", 0x10: "invalidate=true", 0x11: "side=data invalidate=true", 0x15: "side=data write_back=true invalidate=true",
    0x19: "side=data write_back=true", 0x04: "", 0x05: "side=data", 0x14: "", 0x18: "", 0x02: "side=data", 0x17: "side=data",
}  # fmt: skip
BITS = {"side=data": 1, "by_index=true": 2, "write_back=true": 4, "invalidate=true": 8}
MAINTAIN = "{mem=maintain size=1 serializes=true rs=33 rt=33 dest=32}"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_cache_operations_are_requests(bench: Bench, operation: int) -> None:
    played = SystemBench(bench).play([item("cache", rt=operation, result=0x80004440)], 6)
    [left] = played.left()
    wanted = sum(BITS[word] for word in OPERATIONS[operation].split())
    word = item("cache", rt=operation).split("word=")[1].split()[0]
    assert left.value == f"{{pc={0x80001000} word={word} control={MAINTAIN} result={0x80004440} b={wanted}}}"
    assert played.kills() == [1]


def test_synci_writes_back_and_then_invalidates(bench: Bench) -> None:
    """Each part takes as long as the stage behind wants; the first goes no further there, which its being annulled says."""
    played = SystemBench(bench).play([item("synci", result=0x4440), mfc0("EPC")], 10, refused=[0, 1, 3, 4])
    left = [(line.cycle, re.search(r"control=\{(.*?)\} result=(\d+) b=(\d+)", line.value or "")) for line in played.left()]
    inside = MAINTAIN[1:-1]
    [(first, a), (second, b), (third, _)] = left
    assert a and b and (first, second, third) == (2, 5, 6)
    assert a.groups() == (inside.replace(" serializes", " annulled=true serializes"), str(0x4440), "5")
    assert b.groups() == (inside, str(0x4440), "8")
    assert played.kills() == [5] and played.restarts() == [(5, restart(refetch=True, in_flight=1))]
    assert played.ran.stat("dut", "kernel_instructions") == 2


USER = {"mfc0": 11, "mtc0": 11, "rdpgpr": 11, "wrpgpr": 11, "di": 11, "ei": 11, "tlbr": 11, "tlbwi": 11, "tlbwr": 11, "tlbp": 11, "eret": 11, "wait": 11, "cache": 11,
        "synci": None, "rdhwr": 10, "sync": None}  # fmt: skip


@pytest.mark.parametrize("name", USER)
@pytest.mark.parametrize("status", [UM, UM | CU0, UM | EXL, UM | ERL, 0])
def test_what_user_mode_may_do(bench: Bench, name: str, status: int) -> None:
    played = SystemBench(bench).play([mtc0("Status", status), item(name)], 8)
    allowed = status != UM
    assert [told[1] for told in played.exception()] == ([] if allowed or USER[name] is None else [USER[name]])
    if not allowed and USER[name] is not None:
        assert len(played.left()) == 1


def test_what_cannot_be_shown_to_software_is_refused(bench: Bench) -> None:
    for body in ("tlb_entries = 20", "dcache_sets = 96", "icache_line = 48"):
        assert "powers of two" in bench.refuse(f"instance dut : mips_system {{ {body}; }};\n")


CP0_WORDS, TIMER, TIMER_HIGH, RANDOM, WAITING = 39, 35, 36, 37, 38  # enum mips_word


@seldom
def test_registers_come_from_outside(bench: Bench) -> None:
    """The instructions behind see them, but for Count, which follows from the time until it is Compare."""
    values = {name: 0x01010101 * n for n, name in enumerate(registers())} | {"Cause": 0, "Status": CU0, "Count": 0, "Compare": 1000, "Random": 3, "Wired": 1}
    words = {TIMER: 500, TIMER_HIGH: 0, RANDOM: 6, WAITING: 1} | {CP0_WORDS + n: value for n, value in enumerate(values.values())}
    writes = {k: request("write", 4 * number, data=value) for k, (number, value) in enumerate(words.items())}
    dut = SystemBench(bench, words=True)
    played = dut.play([mfc0("EPC"), mfc0("Compare"), mfc0("ErrorEPC"), mfc0("Count")], 60, at={0: len(writes) + 2}, words=writes)
    *found, count = played.results()
    assert found == [values[name] for name in ("EPC", "Compare", "ErrorEPC")] and 750 <= count < 760
    assert played.ran.stat("dut", "unimplemented") == 0
    ended = [line.cycle for line in played.seen["unlink"] if line.value == "true"]
    assert ended == list(range(1, len(writes)))  # links


@seldom
def test_a_halted_processor_is_in_no_mode(bench: Bench) -> None:
    """Its cycles are counted as halted alone."""
    stopped = "instance told : source { generate = <<< return index >= 10 && index < 25; >>>; };\ntold.out -> dut.stopped : bool;\n"
    played = SystemBench(bench, after=stopped).play([mfc0("EPC")], 40)
    assert played.ran.counted("dut") == {"kernel_cycles": 25, "halted_cycles": 15, "kernel_instructions": 1}


def test_registers_are_read_from_outside(bench: Bench) -> None:
    """As they are stored; time stands still from the word of the timer to that of the last register, and goes on from there."""
    numbers = [TIMER, TIMER_HIGH, RANDOM, WAITING, *range(CP0_WORDS, CP0_WORDS + len(registers()))]
    dut = SystemBench(bench, words=True)
    before = [mtc0("Count", 100), mtc0("Compare", 200), mtc0("EPC", 0x1234)]
    reads = {20 + 3 * k: request("read", 4 * number) for k, number in enumerate(numbers)}
    last = max(reads)
    played = dut.play([*before, mfc0("Count"), mfc0("Count")], last + 20, at={3: 12, 4: last + 8}, words=reads)
    replies = [int(re.search(r" data=(\d+)", line.value)[1]) for line in played.seen["words_reply"] if line.value]
    found = dict(zip(numbers, replies, strict=True))
    names = list(registers())
    assert (found[CP0_WORDS + names.index("Compare")], found[CP0_WORDS + names.index("EPC")], found[CP0_WORDS + names.index("Count")]) == (200, 0x1234, 0)
    early, late = played.results()[-2:]
    cycles = dict(zip((3, 4), [line.cycle for line in played.left()][-2:], strict=True))
    assert late - early == (cycles[4] - cycles[3] - (last - 20)) // 2
    assert (200 - early) * 2 - (20 - cycles[3]) - found[TIMER] in (0, 1) and found[TIMER_HIGH] == 0
