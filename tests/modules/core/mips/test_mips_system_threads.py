"""mips_system of a VPE (MT ASE): its registers, what it asks of others and when it goes on, what others do to it, thread exceptions;
see system_bench.py."""

import re

import pytest

from tests.modules.core.mips.system_bench import BD, CU0, EXL, IE, UM, SystemBench, item, mfc0, mtc0, registers
from tests.modules.harness import Bench
from tests.modules.mips import struct
from tests.sample import sampled, seldom

ALL = 0xFFFFFFFF
THREAD = 25
IXMT, A, DA, DT, YSI, TE = 1 << 10, 1 << 13, 1 << 15, 1 << 20, 1 << 21, 1 << 15


def names(vpe: int) -> dict:
    return registers(vpe=vpe, prid=0x19000)


def added() -> list[str]:
    return [name for name in names(0) if name not in registers()]


@pytest.fixture(scope="module")
def first(bench: Bench) -> SystemBench:
    return SystemBench(bench, "vpes = 4; vpe_number = 0;", mt=True)


@pytest.fixture(scope="module")
def third(bench: Bench) -> SystemBench:
    return SystemBench(bench, "vpes = 4; vpe_number = 2; cpu_number = 2;", mt=True)


def remote(op: str, name: str, value: int = 0, master: bool = True, own: bool = False, vpe: int = 0) -> str:
    r = names(vpe)[name]
    return struct(op=op, tc=vpe, kind="cp0", number=r.number, select=r.select, value=value & ALL, master=master, own=own)


def asked(op: str, tc: int, kind: str, number: int, select: int = 0, value: int = 0) -> str:
    return struct(op=op, tc=tc, kind=kind, number=number, select=select, value=value, master=False, own=False)


def reply(value: int, retry: bool = False) -> str:
    return struct(value=value, retry=retry)


def replied(text: str) -> int:
    """The value of a reply."""
    return int(re.findall(r"value=(\d+)", text)[0])


def read(name: str, vpe: int = 0) -> str:
    r = names(vpe)[name]
    return item("mfc0", rt=8, rd=r.number, low=r.select)


def write(name: str, value: int, vpe: int = 0) -> str:
    r = names(vpe)[name]
    return item("mtc0", rt=8, rd=r.number, low=r.select, b=value & ALL)


def values_after(system: SystemBench, changes: dict[int, str], wanted: list[str], vpe: int = 0) -> dict[str, int]:
    """What registers read behind remote requests."""
    start = max(changes, default=0) + 2
    found = system.play([read(name, vpe) for name in wanted], start + len(wanted) + 4, at={0: start}, remote=changes).results()
    return dict(zip(wanted, found, strict=True))


@pytest.mark.parametrize("vpe", sampled([0, 2], 2, 1))
def test_registers_after_reset(first: SystemBench, third: SystemBench, vpe: int) -> None:
    system, known = (third if vpe else first), names(vpe)
    found = values_after(system, {}, [name for name in known if name != "Count"], vpe)
    special = {"TCRestart": ALL, "TCStatus": known["TCStatus"].reset}
    assert found == {name: special.get(name, r.reset | (vpe if name == "EBase" else 0)) for name, r in known.items() if name != "Count"}


def test_writes_change_what_may_be_written(first: SystemBench) -> None:
    """All ones, by any VPE, of one register after the other, and zeros; the others stay, but for what TCStatus shares with Status and EntryHi."""
    known, watched = names(0), [*added(), "Status", "EntryHi"]
    state = {name: known[name].reset for name in watched} | {"TCRestart": ALL}
    changes: dict[int, str] = {}
    expected: list[int] = []
    for name in added():
        for value in (ALL, 0):
            changes[len(changes)] = remote("write", name, value)
            expected.append(state[name])
            if name != "TCRestart":
                state[name] = known[name].reset & ~known[name].writable | known[name].writable & value
            if name == "TCStatus":
                state["Status"] = state["Status"] & ~(CU0 | UM) | (CU0 | UM) & value
                state["EntryHi"] = state["EntryHi"] & ~0xFF | 0xFF & value
            for other in watched:
                changes[len(changes)] = remote("read", other)
                expected.append(state[other])
        changes[len(changes)] = remote("write", name, known[name].reset)
        expected.append(state[name])
        state |= {name: known[name].reset & known[name].writable | state[name] & ~known[name].writable} if name != "TCRestart" else {}
    played = first.play([], len(changes) + 2, remote=changes)
    assert [replied(line.value) for line in played.seen["remote_reply"] if line.value] == expected


def test_status_and_address_space_show_in_the_thread(first: SystemBench) -> None:
    items = [mtc0("Status", CU0 | UM | EXL), mtc0("EntryHi", 0x55), read("TCStatus")]
    assert first.play(items, 12).results()[-1] == CU0 | A | UM << 8 | 0x55


def test_what_a_master_alone_may_write(first: SystemBench) -> None:
    for master in (False, True):
        wrote = {2: remote("write", "VPEConf0", 0, master, own=True)}
        assert values_after(first, wrote, ["VPEConf0"]) == {"VPEConf0": 1 << 31 | (0 if master else 3)}


def test_others_read_in_the_same_cycle(first: SystemBench) -> None:
    played = first.play([], 12, remote={3: remote("read", "TCStatus"), 5: remote("write", "TCContext", 9), 6: remote("read", "TCContext"), 7: remote("read", "Config3")})
    assert [(line.cycle, replied(line.value)) for line in played.seen["remote_reply"] if line.value] == [(3, A), (5, 0), (6, 9), (7, 4)]
    assert played.written() == [(5, 2, 5, 9)]


def test_when_an_instruction_read_what_others_may_write(first: SystemBench) -> None:
    """What is written in the same cycle is behind it."""
    played = first.play([read("Status"), read("TCContext")], 12, remote={cycle: remote("write", "TCContext", 9) for cycle in range(12)})
    assert [cycle for cycle, _ in played.passed()] == [line.cycle for line in played.left()]


def test_what_a_vpe_writes_itself_is_not_reported(first: SystemBench) -> None:
    assert first.play([], 8, remote={3: remote("write", "TCContext", 9, own=True)}).written() == []


def test_what_says_whether_it_executes(first: SystemBench) -> None:
    """From the cycle behind the write on."""
    changes = {2: remote("write", "TCHalt", 1), 4: remote("write", "TCHalt", 0), 6: remote("write", "TCStatus", 0), 8: remote("write", "TCStatus", A), 10: remote("write", "VPEConf0", 2), 12: remote("write", "VPEConf0", 1)}
    seen = [re.findall(r"=(\w+)", line.value or "") for line in first.play([], 15, remote=changes).seen["vpe"]]
    runs, master = zip(*seen, strict=True)
    off = {3, 4, 7, 8, 11, 12}
    assert list(runs) == ["false" if cycle in off else "true" for cycle in range(15)] and list(master) == ["true"] * 13 + ["false"] * 2


# What instructions ask: the instruction, its operand, and the request that it becomes, with TargTC 3 of VPE 0.
ASKS = {
    "mftc0": (item("mftr", rt=13, rd=9, low=0), asked("read", 3, "cp0", 13)),
    "mftc0 with a selection": (item("mftr", rt=2, rd=9, low=4), asked("read", 3, "cp0", 2, 4)),
    "mftgpr": (item("mftr", rt=29, rd=9, low=0x20), asked("read", 3, "general", 29)),
    "mftlo": (item("mftr", rt=0, rd=9, low=0x21), asked("read", 3, "lo", 0, 1)),
    "mfthi": (item("mftr", rt=1, rd=9, low=0x21), asked("read", 3, "hi", 1, 1)),
    "mftacx": (item("mftr", rt=2, rd=9, low=0x21), asked("read", 3, "nothing", 2, 1)),
    "cftc1": (item("mftr", rt=2, rd=9, low=0x23), asked("read", 3, "nothing", 2, 3)),
    "a high half": (item("mftr", rt=2, rd=9, low=0x30), asked("read", 3, "nothing", 2)),
    "mttc0": (item("mttr", rt=9, rd=13, low=0, b=77), asked("write", 3, "cp0", 13, 0, 77)),
    "mttgpr": (item("mttr", rt=9, rd=31, low=0x20, b=77), asked("write", 3, "general", 31, 0, 77)),
    "mttlo": (item("mttr", rt=9, rd=0, low=0x21, b=77), asked("write", 3, "lo", 0, 1, 77)),
    "mtthi": (item("mttr", rt=9, rd=1, low=0x21, b=77), asked("write", 3, "hi", 1, 1, 77)),
    "dvpe": (item("dvpe", rt=9), asked("dvpe", 0, "cp0", 0, 1)),
    "evpe": (item("evpe", rt=9), asked("evpe", 0, "cp0", 0, 1)),
    "mfc0 of what is shared": (item("mfc0", rt=9, rd=0, low=1), asked("read", 0, "cp0", 0, 1)),
    "mtc0 of what is shared": (item("mtc0", rt=9, rd=0, low=1, b=2), asked("write", 0, "cp0", 0, 1, 2)),
    "mtc0 of what decides whether it executes": (item("mtc0", rt=9, rd=2, low=4, b=1), asked("write", 0, "cp0", 2, 4, 1)),
}


@pytest.mark.parametrize("name", ASKS)
def test_an_instruction_requests_once_and_goes_on_behind_the_reply(first: SystemBench, name: str) -> None:
    """In the first cycle in which it is there; not even an interrupt takes its place then."""
    text, request = ASKS[name]
    target = {1: remote("write", "VPEControl", 3)}
    pending = {n: (lambda cycle: cycle > 5) for n in range(5)}
    enabled = {2: remote("write", "Status", CU0 | IE | 0x7C00)}
    played = first.play([text], 16, at={0: 3}, remote={**target, **enabled}, replies={9: reply(1234)}, lines=pending)
    requests = [(line.cycle, line.value) for line in played.seen["threads_request"] if line.value]
    assert requests == [(4, request)]
    assert played.taken() == [10] and played.interrupt() == []
    assert [line.cycle for line in played.left()] == [10]
    if "mt" not in name:
        assert played.results() == [1234]
    assert played.kills() == ([10] if "mfc0" not in name else [])


@pytest.mark.parametrize("slot", [False, True])
def test_what_is_put_off_is_fetched_again(first: SystemBench, slot: bool) -> None:
    """Nothing is done, and fetch goes on at the instruction; at the branch, where it is in a slot, with the link that ends told."""
    text = item("dvpe", rt=9, slot=slot)
    played = first.play([text, text], 20, at={0: 3, 1: 12}, replies={6: reply(0, True), 15: reply(1)})
    assert [line.cycle for line in played.seen["threads_request"] if line.value] == [4, 13]
    assert played.taken() == [7, 16] and [line.cycle for line in played.left()] == [16] and played.kills() == [7, 16]
    pc = int(re.findall(r"pc=(\d+)", text)[0])
    restarts = [line.value for line in played.seen["restart"] if line.value]
    assert f"pc={pc - 4 * slot} " in restarts[0] and "refetch=false" in restarts[0] and "in_flight=0" in restarts[0]
    assert played.written() == ([(7, 2, 3, pc - 4)] if slot else [])
    assert [line.cycle for line in played.seen["unlink"] if line.value == "true"] == ([8] if slot else [])


def test_an_interrupt_comes_before_what_was_not_requested(first: SystemBench) -> None:
    enabled = {1: remote("write", "Status", CU0 | IE | 0x7C00)}
    played = first.play([ASKS["mftc0"][0]], 12, at={0: 5}, remote=enabled, lines={0: lambda cycle: cycle > 2})
    assert [told[0] for told in played.interrupt()] == [6] and not [line for line in played.seen["threads_request"] if line.value]


def test_no_interrupt_is_offered_while_it_waits_for_the_reply(bench: Bench) -> None:
    """To a core that sends only some instructions here; it comes behind."""
    system = SystemBench(bench, "vpes = 4;", mt=True, wide=True)
    enabled = {1: remote("write", "Status", CU0 | IE | 0x7C00)}
    played = system.play([ASKS["mttc0"][0]], 16, at={0: 3}, remote=enabled, replies={9: reply(0)}, lines={0: lambda cycle: cycle > 5})
    assert [line.cycle for line in played.seen["interrupt"] if line.value == "true"] == list(range(11, 16)) and played.taken() == [10]


def test_a_user_requests_nothing(first: SystemBench) -> None:
    for name, (text, _) in ASKS.items():
        played = first.play([text], 12, at={0: 4}, remote={2: remote("write", "Status", UM)})
        assert [told[1] for told in played.exception()] == [11] and not [line for line in played.seen["threads_request"] if line.value], name


def test_threads_enabled_or_not(first: SystemBench) -> None:
    items = [item("emt", rt=9), item("dmt", rt=9), item("emt", rt=9), read("VPEControl")]
    assert first.play(items, 12).results() == [0, TE, 0, TE]


FAILS = {"fork": (item("fork", rs=8, rt=9, rd=10), 1), "yield 0": (item("yield", rs=8, rd=9, result=0), 0), "yield a qualifier": (item("yield", rs=8, rd=9, result=1), 2)}


@pytest.mark.parametrize("name", FAILS)
@pytest.mark.parametrize("user", [False, True])
def test_thread_exceptions(first: SystemBench, name: str, user: bool) -> None:
    text, why = FAILS[name]
    status = {1: remote("write", "Status", UM if user else CU0)}
    played = first.play([text, read("VPEControl"), mfc0("Cause")], 14, at={0: 4}, remote=status)
    assert [told[1] for told in played.exception()] == [THREAD] and played.elements("exceptions") == {THREAD: 1}
    assert played.results() == [why << 16, THREAD << 2]


def test_yield(first: SystemBench) -> None:
    """Reads 0, unless the scheduler wants to know of threads that are new; a slot shows in Cause."""
    plain = [item("yield", rs=8, rd=9, result=n) for n in (ALL, ALL - 1, 1 << 31)]
    assert first.play(plain, 10).results() == [0, 0, 0]
    news = {1: remote("write", "TCStatus", A | DT), 2: remote("write", "VPEControl", YSI)}
    played = first.play([item("yield", rs=8, rd=9, result=ALL - 1), item("yield", rs=8, rd=9, result=ALL, slot=True), read("VPEControl"), mfc0("Cause")], 16, at={0: 4}, remote=news)
    assert played.results() == [0, YSI | 4 << 16, BD - (1 << 32) & ALL | THREAD << 2]


def test_an_exempt_thread_takes_no_interrupts(first: SystemBench) -> None:
    for exempt in (False, True):
        changes = {1: remote("write", "TCStatus", A | IXMT * exempt), 2: remote("write", "Status", CU0 | IE | 0x7C00)}
        played = first.play([item("addu", rd=8)], 12, at={0: 6}, remote=changes, lines={0: lambda cycle: True})
        assert len(played.interrupt()) == (0 if exempt else 1)


def test_a_link_ends_where_a_thread_goes_on_elsewhere(first: SystemBench) -> None:
    played = first.play([], 10, remote={3: remote("write", "TCRestart", 0x80001000)})
    assert [line.cycle for line in played.seen["unlink"] if line.value == "true"] == [4]


def test_a_thread_that_waits_says_so(first: SystemBench) -> None:
    played = first.play([item("wait")], 12, remote={8: remote("read", "TCStatus")})
    assert [replied(line.value) for line in played.seen["remote_reply"] if line.value] == [A | 1 << 23]


def test_others_interrupt_by_software(first: SystemBench) -> None:
    """From the next cycle on."""
    changes = {1: remote("write", "Status", CU0 | IE | 0x100), 4: remote("write", "Cause", 0x100)}
    played = first.play([item("addu", rd=8)] * 8, 12, remote=changes)
    assert [told[0] for told in played.interrupt()] == [5]


@seldom
def test_what_is_connected(bench: Bench) -> None:
    with pytest.raises(Exception, match="threads, remote and vpe must be connected on a processor with VPEs"):
        SystemBench(bench, "vpes = 2;")
    with pytest.raises(Exception, match="vpe_number 2 does not exist: the processor has 2 VPEs"):
        SystemBench(bench, "vpes = 2; vpe_number = 2;", mt=True).play([], 1)


def test_a_core_with_a_vpe_number_too_large_is_not_compiled(lss, tmp_path) -> None:
    (tmp_path / "core.lss").write_text("instance core : mips32r2_core { vpes = 2; vpe_number = 2; };")
    assert "error[punt]: vpe_number 2 does not exist: the processor has 2 VPEs" in lss("check", "core.lss", ok=False).err
