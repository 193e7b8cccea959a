"""coherent_port: what a device without copies reads and writes, beside caches that have some, and its timing."""

import pytest

from tests.modules.cache.coherent import LINE, scripted
from tests.modules.harness import Bench, Memory, collect, happened
from tests.sample import seldom

EVENTS = collect("port", "ordered(op, address, size, tag, value)", "performed(op, address, size, tag, value)")


def device(bench: Bench, port: str = "", **options: str) -> Memory:
    return scripted(bench, 1, EVENTS, port=port, cache="sets = 2; ways = 2;", **options)


@seldom
def test_timing(bench: Bench) -> None:
    """A read takes what the bus says and a cycle at either end; a write until memory has it; what is done is told when it is in order, and when its reply is sent."""
    machine = device(bench)
    [_, replies] = machine.play([[], ["0 read 8 8 0 5", "100 write 8 0 0x1234 6"]], 200)
    read = 1 + 1 + 1 + 4 + 1 + 6 + 1 + 4 + 1  # asks, turnaround, address, answers, memory and its six cycles, turnaround, beats, reply
    write = 1 + 1 + 1 + 4 + 1 + 1 + 6 + 1 + 1  # asks, turnaround, address, answers, a beat, memory and its six cycles, response, reply
    assert [(a.cycle, a.tag) for a in replies] == [(read, 5), (100 + write, 6)]
    assert happened(machine.last, "ordered") == [(4, 0, 8, 8, 5, 0), (104, 1, 0, 8, 6, 0x1234)]
    assert happened(machine.last, "performed") == [(read, 0, 8, 8, 5, 0), (100 + write, 1, 0, 8, 6, 0)]
    assert machine.last.counted("port") == {"reads": 1, "writes": 1}


def test_writes_are_shown_when_they_are_done(bench: Bench) -> None:
    """In the cycle of their replies, with their own bytes; not those that memory refuses, and no reads. A cache that had the line reads what is new behind that only."""
    watched = 'instance seen : write_monitor; port.written -> seen.snoop;\n' + collect("seen", "written(address, size)") + collect("cache[0]", "performed(op, address, size, value)")
    machine = scripted(bench, 1, watched, cache="sets = 2; ways = 2;")
    steps = [f"{cycle} read 4 8" for cycle in range(0, 200, 2)]
    [_, replies] = machine.play([steps, ["50 write 4 8 7 1", "60 write 8 64 9 2", "100 read 8 8", "120 write 8 0x2000 1 4"]], 300, outstanding=8)
    shown = happened(machine.last, "written")
    assert [reply.error for reply in replies] == [False, False, False, True] and len(replies) == 4
    assert shown == [(replies[0].cycle, 8, 4), (replies[1].cycle, 64, 8)]
    reads = [(cycle, value) for cycle, op, address, _, value in happened(machine.last, "performed")]
    assert {value for cycle, value in reads if cycle < shown[0][0]} == {0}
    assert {value for cycle, value in reads if cycle >= shown[0][0]} == {7}


def test_it_sees_what_caches_changed_and_ends_their_copies(bench: Bench) -> None:
    """A cache writes, the device reads that and writes beside it, the cache reads both."""
    replies = device(bench).play([["0 write 4 0 1", "300 read 8 0"], ["100 read 8 0", "200 write 4 4 2", "400 read 8 0"]], 500)
    assert [a.data for a in replies[0]] == [0, 2 << 32 | 1]
    assert [a.data for a in replies[1]] == [1, 0, 2 << 32 | 1]


@seldom
def test_whole_lines(bench: Bench) -> None:
    """A write of a line takes nothing from its owner; as wide as a line, port and cache say the same."""
    wide = f"line = {LINE}; width = {8 * LINE};"
    machine = Memory(
        bench,
        f"""instance cache : mshr_controller {{ {wide} }}; instance port : coherent_port {{ {wide} }}; instance bus : system_bus {{ line = {LINE}; }};
instance memory : memory_state {{ width = {8 * LINE}; size = 4 KiB; }};
requester[0].memory -> cache.in; requester[1].memory -> port.in; cache.bus -> bus.agent["cpu"]; port.bus -> bus.agent["device"]; bus.memory -> memory.port;""",
        2,
        8 * LINE,
    )
    line = int.from_bytes(bytes(range(LINE)), "little")
    replies = machine.play([["0 write 8 0 1", "200 read 32 0"], [f"100 write 32 0 {line:#x}", "300 read 32 0"]], 400)
    assert replies[0][1].data == line and replies[1][1].data == line
    assert machine.last.stat("port", "whole_lines") == 1 and machine.last.stat("cache", "supplied") == 0


@seldom
def test_several_are_outstanding_and_a_barrier_waits_for_all(bench: Bench) -> None:
    """Four reads overlap; the fifth has no room; the barrier comes last; those to one line keep their order."""
    machine = device(bench)
    [_, replies] = machine.play([[], [f"0 read 8 {LINE * k} 0 {k}" for k in range(4)] + ["0 barrier 1 0 0 4"]], 200, outstanding=8)
    assert [a.tag for a in replies] == [0, 1, 2, 3, 4] and replies[3].cycle < 3 * replies[0].cycle
    [_, replies] = device(bench, "entries = 1;").play([[], [f"0 read 8 {LINE * k} 0 {k}" for k in range(4)]], 200, outstanding=8)
    assert replies[3].cycle >= 4 * (replies[0].cycle - 1)
    [_, replies] = machine.play([[], [f"0 write 8 0 {k} {k}" for k in range(3)] + ["0 read 8 0 0 3"]], 300, outstanding=8)
    assert [a.tag for a in replies] == [0, 1, 2, 3] and replies[3].data == 2


@pytest.mark.parametrize("op", ["swap", "fetch_add", "load_linked", "store_conditional", "take_run"])
def test_what_needs_a_cache_is_an_error(bench: Bench, op: str) -> None:
    [_, replies] = device(bench).play([[], [f"0 {op} 4 0 1", "50 maintain 1 0 8", "100 read -1 0"]], 150)
    assert [a.error for a in replies] == [True, False, False]


def test_errors(bench: Bench) -> None:
    machine = device(bench)
    [_, replies] = machine.play([[], ["0 read 8 0x2000", "50 write 8 0x2000 1", "100 read -1 0"]], 200)
    assert [a.error for a in replies] == [True, True, False]
    machine.play([[], ["0 read 8 28"]], 20, ok=False)
    assert "a request of 8 bytes at 0x1c crosses a line" in machine.last.err
    text = 'import memory_types; import coherence_types; instance r : memory_source { width = 512; }; instance c : coherent_port { width = 512; %s }; instance b : system_bus; instance m : memory_state { width = 256; size = 4 KiB; }; r.memory -> c.in; c.bus -> b.agent["c"]; b.memory -> m.port;'
    assert "at most that of a line: 256" in bench.refuse(text % "")
    assert "the size of a line must be a power of two, not 24" in bench.refuse(text % "line = 24;")
