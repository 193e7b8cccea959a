"""memory_router: one stream of requests over several targets, in order, with mapped addresses, notifications and filtered snoops."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, collect, happened, read_items
from tests.sample import seldom

ROUTES = """
  route = <<< return address < 0x100 ? lane(out, near) : address < 0x200 ? lane(out, far) : -1; >>>;
  map = <<< return address < 0x100 ? (address & 0x3f) : address - 0x100 + context_value(base); >>>;
  notification = <<< return write && address >= 0x80 && address < 0x100 ? address : 0; >>>;
"""
NETLIST = f"""
instance split : memory_router {{ {ROUTES} tracked_sizes = [32 B, 8 B]; tracked_target = "near"; }};
instance near : memory_state {{ size = 64 B; }};
instance far : memory_state {{ size = 256 B; }};
instance way[2] : memory_delay;
instance place : source {{ generate = <<< return 0x10; >>>; }};
instance heard : sink;
instance dropped : sink;
requester[0].memory -> split.in;
split.out["far"] -> way[1].in;
split.out["near"] -> way[0].in;
way[0].out -> near.port;
way[1].out -> far.port;
requester[1].memory -> near.port;
place.out -> split.context["base"] : uint32;
split.notify -> heard.in;
near.snoop -> split.snoop;
split.snooped -> dropped.in;
split.is_own_write = <<< return tag < 100; >>>;
""" + collect("split", "unmapped(address, write)")


def router(bench: Bench) -> Memory:
    return Memory(bench, NETLIST, 2)


def test_requests_reach_their_targets_at_mapped_addresses(bench: Bench) -> None:
    machine = router(bench)
    script = ["0 write 4 0x44 7", "0 write 4 0x104 9", "0 read 4 0x04", "0 read 4 0x104"]
    replies, _ = machine.play([script, []], 40, outstanding=8)
    assert [a.data for a in replies] == [0, 0, 7, 9]


def test_replies_keep_the_order_of_the_requests(bench: Bench) -> None:
    """A fast target waits for a slow one that was asked before."""
    machine = router(bench)
    script = [f"0 read 4 {address} {tag}" for tag, address in enumerate([0x0, 0x4, 0x100, 0x8, 0x104, 0x108])]
    script = [" ".join([*line.split()[:4], "0", line.split()[4]]) for line in script]
    replies, _ = machine.play([script, []], 100, {"way[0].latency": 9, "way[1].latency": 1}, outstanding=8)
    assert [a.tag for a in replies] == list(range(6))


def test_an_address_of_no_target_gets_an_error(bench: Bench) -> None:
    machine = router(bench)
    replies, _ = machine.play([["0 read 4 0x0", "0 read 4 0x300", "0 read 4 0x4", "0 write 4 0x200 1"], []], 40, outstanding=8)
    assert [a.error for a in replies] == [False, True, False, True]
    assert machine.last.counted("split") == {"requests": 4, "errors": 2}
    assert [told[1:] for told in happened(machine.last, "unmapped")] == [(0x300, 0), (0x200, 1)]


def test_a_notification_follows_the_write_it_is_about(bench: Bench) -> None:
    machine = router(bench)
    replies, _ = machine.play([["0 write 4 0x84 1", "0 read 4 0x84", "20 write 4 0x04 1"], []], 40, {"heard.record": "heard", "way[0].latency": 5}, outstanding=8)
    assert read_items(machine.last.directory / "heard") == [(replies[0].cycle + 1, str(0x84))]


def test_snoops_are_passed_on_for_what_is_held_only(bench: Bench) -> None:
    """Class 0 holds 32 bytes, class 1 holds 8; writes of others that touch them are told at the requester's address."""
    machine = router(bench)
    mine = ["0 read 4 0x40 0 2", "0 read 4 0x60 0 1", "0 read 4 0x68 0 1"]
    others = ["20 write 4 0x1c 1 200", "25 write 4 0x10 1 200", "30 write 4 0x28 1 200", "35 write 4 0x30 1 200", "40 write 4 0x20 1 200"]
    machine.play([mine, others], 60, {"dropped.record": "dropped"}, outstanding=8)
    lines = read_items(machine.last.directory / "dropped")
    assert [cycle for cycle, _ in lines] == [21, 31]
    assert "address=64" in lines[0][1] or "address=0x40" in lines[0][1]
    # One that hits the blocks of both classes is told for each.
    machine.play([["0 read 4 0x40 0 2", "0 read 4 0x48 0 1"], ["20 write 4 0x8 1 200"]], 60, {"dropped.record": "dropped"}, outstanding=8)
    lines = read_items(machine.last.directory / "dropped")
    assert [cycle for cycle, _ in lines] == [21, 22] and "address=64 size=32" in lines[0][1] and "address=72 size=8" in lines[1][1]


def test_own_writes_under_another_address_are_reported(bench: Bench) -> None:
    machine = router(bench)
    script = ["0 read 4 0x08 0 1", "10 write 4 0x08 5 1", "20 write 4 0x48 6 1"]
    machine.play([script, []], 60, {"dropped.record": "dropped"}, outstanding=8)
    assert [cycle > 20 for cycle, _ in read_items(machine.last.directory / "dropped")] == [True]


def test_bytes_of_words_are_swapped_both_ways(bench: Bench) -> None:
    """Of whole words, where the userpoint says so; a request of the other kind waits for replies of the first."""
    machine = Memory(bench, NETLIST + "split.byte_swapped = <<< return address < 0x20; >>>; split.same_cycle_reply = false;", 2)
    script = ["0 write 4 0x04 0x01020304", "0 read 4 0x44", "0 write 8 0x48 0x0102030405060708", "0 read 8 0x08", "0 write 2 0x10 0xabcd", "0 read 2 0x50", "0 read 4 0x04"]
    replies, _ = machine.play([script, []], 80, {"way[0].latency": 5}, outstanding=8)
    assert [a.data for a in replies] == [0, 0x04030201, 0, 0x0403020108070605, 0, 0xABCD, 0x01020304]


ANONYMOUS = [
    (('split.out["far"]', 'split.out["near"]'), "error[key-missing]: the lanes of `out` are named by keys"),
    (('split.context["base"]',), "error[key-missing]: the lanes of `context` are named by keys"),
    (('tracked_target = "near";',), "tracked_sizes needs tracked_target"),
]


@pytest.mark.parametrize(("named", "words"), ANONYMOUS)
def test_what_userpoints_name_needs_a_name(bench: Bench, named: tuple[str, ...], words: str) -> None:
    text = "import memory_types;\ninstance requester[2] : memory_source;\n" + NETLIST
    for one in named:
        text = text.replace(one, one[: one.index("[")] if "[" in one else "")
    assert words in bench.refuse(text)


SAME_CYCLE = """
instance split : memory_router {{ {options}
  route = <<< return address < 0x40 ? lane(out, near) : address < 0x80 ? lane(out, lines) : -1; >>>;
  notification = <<< return write ? address : 0; >>>;
}};
instance near : memory_state {{ size = 64 B; }};
instance lines : cache {{ width = 64; line = 8; sets = 8; write_back = true; write_allocate = true; }};
instance far : memory_state {{ size = 128 B; }};
instance heard : sink;
requester[0].memory -> split.in;
split.out["near"] -> near.port;
split.out["lines"] -> lines.in;
lines.memory -> far.port;
split.notify -> heard.in;
"""


@seldom
def test_targets_may_reply_in_the_cycle_of_the_reference(bench: Bench) -> None:
    """A memory without a controller, and hits of a cache; what misses, and what has no target, takes its time between them."""
    machine = Memory(bench, SAME_CYCLE.format(options=""))
    rng, model, script, right = random.Random(1), Bytes(128), [], []
    for k in range(300):
        address, value = rng.randrange(36) * 4, rng.getrandbits(32)
        op = rng.choice(["read", "write"])
        script.append(f"0 {op} 4 {address} {value} {k}")
        right.append((k, address >= 128, model.read(address, 4) if op == "read" and address < 128 else 0))
        if op == "write" and address < 128:
            model.write(address, 4, value)
    for outstanding in (1, 3):
        (replies,) = machine.play([script], 2000, {"heard.record": "heard"}, outstanding=outstanding)
        assert [(a.tag, a.error, a.data) for a in replies] == right
        told = [int(value, 0) for _, value in read_items(machine.last.directory / "heard")]
        assert told == [int(line.split()[3]) for line in script if "write" in line and 0 < int(line.split()[3]) < 128]
    assert replies[0].cycle == 0 and replies[-1].cycle < 1000, "at once, and mostly so"


@seldom
def test_targets_that_were_to_take_time_and_do_not_are_named(bench: Bench) -> None:
    machine = Memory(bench, SAME_CYCLE.format(options="same_cycle_reply = false;"))
    machine.play([["0 read 4 0x44", "20 read 4 0x44"]], 40, ok=False)
    assert "split: target 1 replies in the cycle of the request" in machine.last.err
    assert "set same_cycle_reply = false" in bench.refuse("import memory_types;\ninstance requester[1] : memory_source;\n" + SAME_CYCLE.format(options="byte_swapped = <<< return true; >>>;"))


def test_an_address_where_nothing_is_may_read_as_zero(bench: Bench) -> None:
    """Answered in its turn, without an error, and nobody is told; what was written there is gone."""
    machine = Memory(bench, SAME_CYCLE.format(options="").replace("? lane(out, lines) : -1", "? lane(out, lines) : address < 0xc0 ? ROUTE_NOTHING : -1"))
    script = ["0 write 4 0x44 7", "0 write 4 0x84 9", "0 read 4 0x84", "0 read 4 0x44", "0 read 4 0xc0"]
    (replies,) = machine.play([script], 60, {"heard.record": "heard"}, outstanding=3)
    assert [(a.data, a.error) for a in replies[2:]] == [(0, False), (7, False), (0, True)]
    assert not any(a.error for a in replies[:2]) and machine.last.stat("split", "errors") == 1
    assert [int(value, 0) for _, value in read_items(machine.last.directory / "heard")] == [0x44]


TARGETS = """
instance split : memory_router { outstanding = 2; route = <<< return address < 64 ? lane(out, way_0) : address < 128 ? lane(out, way_1) : lane(out, way_2); >>>; map = <<< return address & 63; >>>; };
instance way[3] : memory_delay;
instance memory[3] : memory_state { size = 64 B; };
requester[0].memory -> split.in;
for (i = 0; i < 3; i = i + 1) { split.out["way_" + string(i)] -> way[i].in;  way[i].out -> memory[i].port; }
"""


@seldom
def test_no_more_are_outstanding_than_may_be(bench: Bench) -> None:
    """Two here; the target would hold four, 10 cycles each. A request goes out in the cycle after a reply made room."""
    machine = Memory(bench, TARGETS)
    (replies,) = machine.play([[f"0 read 4 {4 * k}" for k in range(4)]], 80, {"way[0].latency": 10}, outstanding=8)
    assert [reply.cycle for reply in replies] == [10, 11, 21, 22]


def test_a_barrier_goes_to_one_target_after_the_other(bench: Bench) -> None:
    """It waits for what is outstanding, and the time it takes is the sum of the targets' times."""
    machine = Memory(bench, TARGETS)
    latencies = {f"way[{i}].latency": latency for i, latency in enumerate((2, 9, 20))}
    for script, expected in (["0 barrier 1 0"], [35]), (["0 write 4 0x40 7", "0 barrier 1 0", "0 read 4 0x40"], [9, 45, 55]):
        (replies,) = machine.play([script], 80, latencies, outstanding=3)
        assert [reply.cycle for reply in replies] == expected and not any(reply.error for reply in replies)
