"""mshr_controller on a bus: each state against each snoop with the cache alone, then timing, links, write-backs and maintenance
with others on a bus."""

import random
import re

import pytest

from tests.modules.cache.coherent import (
    EXCLUSIVE,
    INVALID,
    LINE,
    MODIFIED,
    ORDERED,
    SHARED,
    alone,
    machine,
    response,
    scripted,
    snoop,
)
from tests.modules.harness import Bench, Bytes, Memory, Requests, collect, happened, read_items, read_replies
from tests.sample import sampled, seldom


@pytest.fixture(params=sampled([ORDERED, "mshrs = 8;"], first=1), ids=["one miss", "several misses"])
def misses(request: pytest.FixtureRequest) -> str:
    return request.param


# How a state is reached from a line that is filled in cycle 10: shared or not, and then written or not.
REACHED = {SHARED: (True, ""), EXCLUSIVE: (False, ""), MODIFIED: (False, "12 write 8 0 0x3344\n")}
# What each answers to each transaction of another agent, and what it has then.
PROTOCOL = {
    "read_shared": {SHARED: ("shared", SHARED), EXCLUSIVE: ("clean", SHARED), MODIFIED: ("modified", SHARED)},
    "read_exclusive": {SHARED: ("none", INVALID), EXCLUSIVE: ("clean", INVALID), MODIFIED: ("modified", INVALID)},
    "upgrade": {SHARED: ("none", INVALID), EXCLUSIVE: ("clean", INVALID), MODIFIED: ("modified", INVALID)},
    "read_once": {SHARED: ("shared", SHARED), EXCLUSIVE: ("shared", EXCLUSIVE), MODIFIED: ("modified", MODIFIED)},
    "write_line": {SHARED: ("none", INVALID), EXCLUSIVE: ("none", INVALID), MODIFIED: ("none", INVALID)},
    "write_part": {SHARED: ("none", INVALID), EXCLUSIVE: ("none", INVALID), MODIFIED: ("modified", INVALID)},
}


@pytest.mark.parametrize("state", REACHED)
@pytest.mark.parametrize("op", PROTOCOL)
def test_each_state_at_each_snoop(bench: Bench, misses: str, op: str, state: int) -> None:
    """The cache alone: a fill in cycle 10, the snoop in 20, its answer in 21, with the line if it owns it."""
    shared, then = REACHED[state]
    files: dict[str, str | bytes] = {"s": f"5 read 8 0\n{then}", "n": snoop(8, "read_shared", True) + snoop(20, op), "r": response(10, shared=shared)}
    settings = {"requester.script": "s", "snoop.script": "n", "response.script": "r", "request.record": "q", "answer.record": "a"}
    ran = bench.run(bench.build(alone(misses)), 30, settings, files=files)
    assert read_items(ran.directory / "q") == [(6, "{op=read_shared address=0 tag=0 conditional=false seen=0}")]
    own, (cycle, answer) = read_items(ran.directory / "a")
    result, after = PROTOCOL[op][state]
    assert own[0] == 9 and "result=none" in own[1]
    assert cycle == 21 and f"result={result}" in answer
    if result in ("clean", "modified"):
        assert ("3344" if state == MODIFIED else "1122") in answer
    states = [SHARED if shared else EXCLUSIVE] + [MODIFIED] * (state == MODIFIED) + [after] * (after != state)
    assert happened(ran, "transition") == [(cycle, 0, next_) for cycle, next_ in zip([10, 12 if state == MODIFIED else 20, 20], states, strict=False)]


def test_a_snoop_behind_the_response_comes_second(bench: Bench, misses: str) -> None:
    """In one cycle a write gets its line and another agent wants it: the write is done first, and what it wrote is in the answer."""
    files: dict[str, str | bytes] = {"s": "5 write 8 8 0x77\n", "n": snoop(8, "read_exclusive", True) + snoop(12, "read_exclusive"), "r": response(12)}
    settings = {"requester.script": "s", "snoop.script": "n", "response.script": "r", "request.record": "q", "answer.record": "a"}
    ran = bench.run(bench.build(alone(misses)), 30, settings, files=files)
    assert happened(ran, "transition") == [(12, 0, MODIFIED), (12, 0, INVALID)]
    assert read_items(ran.directory / "a")[1][0] == 13 and "770000000000001122}" in read_items(ran.directory / "a")[1][1]


def test_a_request_follows_what_becomes_of_its_line(bench: Bench, misses: str) -> None:
    """An upgrade that the bus has not accepted becomes a read_exclusive when the copy is lost; a store_conditional is given up; a write-back, too."""
    for op, then in (("write", ["upgrade"] * 10 + ["read_exclusive"] * 15), ("store_conditional", ["upgrade"] * 10)):
        files: dict[str, str | bytes] = {"s": f"5 load_linked 8 0\n20 {op} 8 0 1\n", "n": snoop(8, "read_shared", True) + snoop(30, "read_exclusive"), "r": response(10, shared=True)}
        settings: dict[str, object] = {"requester.script": "s", "requester.record": "replies", "snoop.script": "n", "response.script": "r", "request.record": "q", "request.pattern": "1" * 10 + "0" * 90}
        simulator = bench.build(alone(misses).replace("instance request : sink;", "instance request : sink; instance asks : monitor; asks.out -> request.in;").replace("dut.bus.request -> request.in", "dut.bus.request -> asks.in"))
        ran = bench.run(simulator, 46, settings | {"asks.record": "m"}, files=files)
        lines = [line for line in (ran.directory / "m").read_text().splitlines() if int(line.split()[0]) > 20]
        assert [line.split("op=")[1].split()[0] for line in lines] == then
        if op == "store_conditional":
            assert [(a.cycle, a.data) for a in read_replies(ran.directory / "replies")] == [(11, 0x1122), (31, 0)]


@pytest.mark.parametrize(("op", "replies", "state"), [("store_conditional", [(11, 0x1122), (31, 0), (46, 0x99)], INVALID), ("write", [(11, 0x1122), (20, 0), (41, 5)], MODIFIED)])
def test_a_response_may_say_that_copy_and_link_were_void(bench: Bench, misses: str, op: str, replies: list[tuple[int, int]], state: int) -> None:
    """Somebody behind a cache on the same bus wrote the line while the upgrade was under way: a store_conditional does not store and gets no line, a write goes to the new line."""
    fails = op == "store_conditional"
    snoops = snoop(8, "read_shared", True) + snoop(24, "upgrade", True) + (snoop(43, "read_shared", True) if fails else "") + snoop(50, "read_once")
    fills = response(10, shared=True) + response(30, lost=True, filled=not fails, data=0x99) + (response(45, data=0x99) if fails else "")
    files: dict[str, str | bytes] = {"s": f"5 load_linked 8 0\n20 {op} 8 0 5\n41 read 8 0\n", "n": snoops, "r": fills}
    settings = {"requester.script": "s", "requester.record": "replies", "snoop.script": "n", "response.script": "r", "answer.record": "a"}
    ran = bench.run(bench.build(alone(misses)), 60, settings, files=files)
    assert [(a.cycle, a.data) for a in read_replies(ran.directory / "replies")] == replies
    assert happened(ran, "transition")[1] == (30, 0, state)
    assert [re.findall(r"result=(\w+)", value) for _, value in read_items(ran.directory / "a")] == [["none"], ["shared"], *([["none"], ["shared"]] if fails else [["modified"]])]


def cached(bench: Bench, misses: str, cache: str = "sets = 2; ways = 2;", more: str = "", caches: int = 2) -> Memory:
    return scripted(bench, caches, more, cache=cache, misses=misses)


@seldom
def test_hits_and_misses(bench: Bench, misses: str) -> None:
    """A miss takes what the bus says and a cycle at either end; a hit none; a write to an exclusive line is one."""
    machine = cached(bench, misses)
    [replies, _, _] = machine.play([["0 read 8 0", "50 read 8 8", "60 write 8 16 5", "61 read 8 16", "100 write 8 64 1", "101 read 8 0", "102 read 8 64"], [], []], 200, outstanding=4)
    miss = 1 + 1 + 1 + 4 + 1 + 6 + 1 + 4 + 1  # asks, turnaround, address, answers, memory and its six cycles, turnaround, beats, reply
    assert [a.cycle for a in replies[:4]] == [miss, 50, 60, 61]
    assert [a.cycle for a in replies[4:6]] == [100, 101] and replies[6].cycle > 110, "a read passes the write that waits, but not to its line"
    counted = machine.last.counted("cache[0]")
    served = {"hits": 5} if misses == ORDERED else {"hits": 4, "joined": 1}
    assert {name: counted.get(name, 0) for name in ("hits", "joined", "misses")} == {"joined": 0, "misses": 2} | served


@seldom
def test_a_write_may_wait_for_its_line(bench: Bench, misses: str) -> None:
    [replies, _, _] = cached(bench, misses, "sets = 2; ways = 2; post_writes = false;").play([["0 write 8 0 1"], [], []], 60)
    assert replies[0].cycle > 10


@seldom
def test_writes_keep_their_order(bench: Bench) -> None:
    """A write to a line that is here waits for one that waits for its line, only in total store order."""
    for order, later in (("total_store_order = true;", True), ("", False)):
        [replies, _, _] = cached(bench, "mshrs = 8; " + order).play([["0 write 8 0 1", "50 write 8 64 2", "51 write 8 8 3"], [], []], 120, outstanding=4)
        assert [a.cycle for a in replies[:2]] == [0, 50] and (replies[2].cycle > 60) == later


def test_a_line_wanders(bench: Bench, misses: str) -> None:
    """Written here, read there, written there, read here: every value arrives, once by an owner's line, once by an upgrade."""
    machine = cached(bench, misses)
    first = ["0 write 8 0 1", "300 read 8 0", "400 write 4 4 9"]
    second = ["100 read 8 0", "200 write 8 0 2", "500 read 8 0"]
    replies = machine.play([first, second, ["600 read 8 0"]], 700)
    assert [[a.data for a in lane] for lane in replies] == [[0, 2, 0], [1, 0, 9 << 32 | 2], [9 << 32 | 2]]
    assert (machine.last.stat("cache[1]", "upgrades"), machine.last.stat("cache[0]", "invalidations"), machine.last.stat("cache[0]", "supplied")) == (1, 1, 2)


def test_changed_lines_make_room(bench: Bench, misses: str) -> None:
    """Three lines of a set with two ways: the least recently used goes to memory, where others find it; a clean one is only forgotten."""
    machine = cached(bench, misses)
    script = ["0 write 8 0 1", "50 write 8 64 2", "100 read 8 0", "150 write 8 128 3", "250 read 8 64"]
    replies = machine.play([script, ["220 read 8 64"], []], 400)
    assert replies[0][-1].data == 2 and replies[1][0].data == 2
    assert machine.last.stat("cache[0]", "write_backs") == 2


def test_links(bench: Bench, misses: str) -> None:
    """A store_conditional stores if nobody else wrote the line behind its load_linked: also when it has to ask for the line first."""
    machine = cached(bench, misses)
    first = ["0 load_linked 4 0", "50 store_conditional 4 0 1", "100 load_linked 4 0", "200 store_conditional 4 0 2", "300 load_linked 4 0", "400 store_conditional 4 0 3", "450 store_conditional 4 0 4"]
    second = ["150 write 4 8 7", "350 read 4 0"]
    replies = machine.play([first, second, []], 600)
    assert [a.data for a in replies[0]] == [0, 1, 1, 0, 1, 1, 0]
    assert machine.last.stat("cache[0]", "failed_conditionals") == 2
    assert machine.last.stat("cache[0]", "upgrades") == 1


def test_links_to_lines_that_left(bench: Bench, misses: str) -> None:
    """The line makes room for two others; somebody else reads it, and writes it, which nobody would see if it had the only copy."""
    machine = cached(bench, misses)
    first = ["0 load_linked 4 0", "50 read 4 64", "100 read 4 128", "400 store_conditional 4 0 1", "500 read 4 0"]
    for second, stores in (["200 read 4 0"], 1), (["200 read 4 0", "300 write 4 0 7"], 0):
        [replies, *_] = machine.play([first, second, []], 600)
        assert [a.data for a in replies[3:]] == [stores, 1 if stores else 7]


def test_of_two_at_once_one_stores(bench: Bench, misses: str) -> None:
    """Both have the line and a link when both ask for it."""
    both = ["0 load_linked 4 0", "100 store_conditional 4 0 5", "200 read 4 0"]
    replies = cached(bench, misses).play([both, both, []], 300)
    assert sorted(lane[1].data for lane in replies[:2]) == [0, 1] and [lane[2].data for lane in replies[:2]] == [5, 5]


@seldom
def test_unlink(bench: Bench, misses: str) -> None:
    machine = cached(bench, misses, more="instance breaker : source; breaker.out -> cache[0].unlink : bool;")
    [replies, _, _] = machine.play([["0 load_linked 4 0", "100 store_conditional 4 0 5"], [], []], 200, {"breaker.script": "b"}, files={"b": "50 true once\n"})
    assert replies[1].data == 0


def test_barriers_wait_for_writes(bench: Bench, misses: str) -> None:
    machine = cached(bench, misses)
    [replies, other, _] = machine.play([["0 write 8 0 1", "1 barrier 1 0"], ["0 read 8 64", "30 write 8 64 1"], []], 100, outstanding=2)
    assert replies[0].cycle == 0 and replies[1].cycle > 15 and other[0].cycle > 15


@pytest.mark.parametrize(("operation", "memory"), [(8, 0), (12, 5), (4, 5), (14, 5)])
def test_maintenance(bench: Bench, misses: str, operation: int, memory: int) -> None:
    """8: invalidate, 4: write back, 2: by index.  The device reads what memory has then."""
    more = collect("cache[0]", "maintain(address, operation)")
    machine = cached(bench, misses, more=more)
    replies = machine.play([["0 write 8 0 5", f"50 maintain 1 0 {operation}", "200 read 8 0"], [], ["150 read 8 0"]], 300)
    assert (replies[2][0].data, replies[0][2].data) == (memory, memory)
    assert happened(machine.last, "maintain") == [(50, 0, operation)]
    assert machine.last.stat("cache[0]", "misses") == 2


@pytest.mark.parametrize("order", sampled(["little", "big"], 2))
def test_words_of_a_line_belong_to_different_processors(bench: Bench, misses: str, order: str) -> None:
    """Each of three reads and writes words of its own, of all sizes, in lines that all use: everybody reads what it wrote."""
    rng, big = random.Random(order), "true" if order == "big" else "false"
    text = machine(f"sets = 2; ways = 2; big_endian = {big};", f"big_endian = {big};", f"big_endian = {big};", 2, misses=misses).replace("size = 4 KiB", f"size = 4 KiB; big_endian = {big}")
    requests = [Requests(rng) for _ in range(3)]
    for lane in range(3):
        model = Bytes(8 * LINE, order)
        for _ in range(250):
            size = rng.choice([1, 2, 4, 8])
            word = rng.randrange(2 * LINE // 8) * 32 // (LINE // 8) // 8 * 8
            requests[lane].add(model, (word * 4 + 8 * lane) % (8 * LINE) + rng.randrange(8 // size) * size, size)
    memory = Memory(bench, text, 3, 64)
    replies = memory.play([r.script for r in requests], 60000, outstanding=1)
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == [r.replies for r in requests]
    assert memory.last.stat("cache[0]", "invalidations") > 20


def test_wrong_uses(bench: Bench, misses: str) -> None:
    machine = cached(bench, misses)
    machine.play([["0 read 8 28"], [], []], 20, ok=False)
    assert "a request of 8 bytes at 0x1c crosses a line of 32 bytes" in machine.last.err
    machine.play([["0 write 8 0x2000 1"], [], []], 60, ok=False)
    assert "a write failed: nothing responds at address 0x00002000" in machine.last.err
    for action, fails in (("drop", False), ("bus_error", True)):
        [replies, _, _] = machine.play([["0 write 8 0x2000 1", "50 read 8 0x2000"], [], []], 90, {"cache[0].on_memory_error": action})
        assert [a.error for a in replies] == [fails, True] and machine.last.counted("cache[0]").get("memory_errors", 0) == (not fails)
    [replies, _, _] = machine.play([["0 read 8 0x2000"], [], []], 60)
    assert replies[0].error
    text = "import memory_types; import coherence_types; instance requester : memory_source { width = 512; }; instance c : mshr_controller { %s }; instance b : system_bus; instance m : memory_state { width = 256; size = 4 KiB; }; requester.memory -> c.in; c.bus -> b.agent[\"c\"]; b.memory -> m.port;"
    assert "a line must be 1 to 64 times fill_width (64 bytes), not 32 bytes" in bench.refuse(text % "width = 512;")
    assert "power of two from 8 on, not 24" in bench.refuse(text.replace("width = 512", "width = 64") % "line = 24;")
