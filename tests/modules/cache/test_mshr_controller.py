"""mshr_controller: hits under misses, misses that overlap, requests that join them, both write policies; then random requests against a flat memory,
with memories that take their time, refuse and reply in any order."""

import random
import subprocess
from itertools import pairwise, product
from pathlib import Path

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Reply, collect, happened, read_items, read_replies
from tests.sample import sampled, seldom

LATENCY = 10
WORDS = b"".join(k.to_bytes(8, "little") for k in range(512))  # word k of memory is k
WHOLE = "line = 8; sets = 64; ways = 1;"  # a line is what memory replies with


def machine(bench: Bench, body: str = "", *, lanes: int = 1, latency: int = LATENCY, memory: str = "", more: str = "", order: str = "little", module: str = "mshr_controller") -> Memory:
    """So many requesters before a cache, and a memory of 4 KiB behind it that replies `latency` cycles later; requester[lanes] sees the memory itself."""
    big = str(order == "big").lower()
    text = f"""
instance cache : {module} {{ big_endian = {big}; {body} }};
instance delay : memory_delay {{ depth = 64; latency = {latency}; {memory} }};
instance ram : memory_state {{ size = 4 KiB; big_endian = {big}; image = "m.bin"; }};
for (i = 0; i < {lanes}; i = i + 1) {{ requester[i].memory -> cache.in; }}
cache.memory -> delay.in; delay.out -> ram.port;
requester[{lanes}].memory -> ram.port;
{more}"""
    return Memory(bench, text, lanes + 1)


def play(found: Memory, *scripts: list[str], cycles: int = 300, ok: bool = True, settings: dict[str, object] | None = None, files: dict[str, str | bytes] | None = None) -> list[list[Reply]]:
    """Plays them on the lanes, and what is left on the memory itself."""
    filled = [*scripts, *[[]] * (found.sources - len(scripts))]
    return found.play(filled, cycles, settings, outstanding=64, ok=ok, files={"m.bin": WORDS} | (files or {}))


def reads(addresses: list[int], cycle: int = 0) -> list[str]:
    return [f"{cycle} read 8 {address} 0 {k}" for k, address in enumerate(addresses)]


def cycles_of(replies: list[Reply]) -> list[int]:
    """Of each tag, in the order of tags."""
    return [a.cycle for a in sorted(replies, key=lambda a: a.tag)]


# ---- Time ------------------------------------------------------------------------------------------------------------
MISS = LATENCY + 2  # asks in the next cycle, memory's time, and the reply in the cycle behind memory's


@pytest.mark.parametrize("latency", sampled([1, 4, LATENCY], 3, 1))
def test_a_miss_takes_two_cycles_and_memorys(latency: int, bench: Bench) -> None:
    [replies, _] = play(machine(bench, WHOLE, latency=latency), ["3 read 8 24 0 1", "40 read 8 24 0 2"])
    assert [(a.cycle, a.tag, a.data) for a in replies] == [(3 + latency + 2, 1, 3), (40, 2, 3)]


@pytest.mark.parametrize("mshrs", sampled([1, 2, 3, 8, 16], 5, 2))
def test_misses_overlap_until_there_are_as_many_as_mshrs(mshrs: int, bench: Bench) -> None:
    """Misses come in each cycle.  An MSHR is free again in the cycle in which the reply is sent, so m of them serve m misses in MISS cycles."""
    count = 32
    [replies, _] = play(machine(bench, WHOLE + f"mshrs = {mshrs};"), reads([8 * k for k in range(count)]), cycles=600)
    each = max(MISS, mshrs)
    assert cycles_of(replies) == [k // mshrs * each + k % mshrs + MISS for k in range(count)]
    assert [a.data for a in replies] == list(range(count)), "memory replies in order here, so do these"


@seldom
@pytest.mark.parametrize(("critical_first", "first"), sampled([("true", 0), ("false", 2)], 2))
def test_a_line_comes_in_beats(critical_first: str, first: int, bench: Bench) -> None:
    """The one that is wanted first, if that is asked for; then one in a cycle; two lines are asked for one behind the other."""
    found = machine(bench, f"line = 32; critical_first = {critical_first};")
    [replies, _] = play(found, ["0 read 8 16 0 0", "1 read 8 64 0 1"])
    assert cycles_of(replies) == [MISS + first, MISS + 4]
    [replies, _] = play(found, ["0 read 8 16 0 0", f"{1 + LATENCY + 3} read 8 8 0 1", f"{MISS + 4} read 8 8 0 2"])
    assert cycles_of(replies)[1:] == [MISS + 3, MISS + 4], "the last beat but one; a hit"


@seldom
def test_hits_go_on_under_misses(bench: Bench) -> None:
    found = machine(bench, "line = 16; sets = 4; ways = 2;")
    script = ["0 read 8 0 0 1", "40 read 8 0x100 0 2", "41 read 8 0 0 3", "42 write 8 8 7 4", "43 read 8 8 0 5"]
    [replies, _] = play(found, script)
    assert [(a.cycle, a.tag, a.data) for a in replies[1:]] == [(41, 3, 0), (42, 4, 0), (43, 5, 7), (40 + MISS, 2, 32)]
    assert found.last.counted("cache") == {"hits": 3, "misses": 2, "mshr_cycles": 2 * MISS, "miss_cycles": 2 * MISS}


@seldom
def test_who_joins_a_miss_is_served_in_order_one_in_a_cycle(bench: Bench) -> None:
    """A write that joins is behind the reads before it and before those behind it; a request too many waits outside."""
    found = machine(bench, "line = 8; targets = 4; post_writes = false;")
    script = ["0 read 8 8 0 0", "1 read 4 8 0 1", "2 write 4 8 9 2", "3 read 8 8 0 3", "4 read 8 8 0 4"]
    [replies, _] = play(found, script)
    assert [(a.cycle, a.tag, a.data) for a in replies] == [(MISS, 0, 1), (MISS + 1, 1, 1), (MISS + 2, 2, 0), (MISS + 3, 3, 9), (MISS + 4, 4, 9)]
    assert (found.last.stat("cache", "joined"), found.last.stat("cache", "misses")) == (4, 1)


def test_a_reply_of_a_miss_comes_before_a_hit(bench: Bench) -> None:
    """A lane carries one reply in a cycle, so the hit waits; a miss needs none, and does not."""
    found = machine(bench, WHOLE)
    [replies, _] = play(found, ["0 read 8 0 0 0", "40 read 8 8 0 1", f"{40 + MISS} read 8 0 0 2"])
    assert cycles_of(replies) == [MISS, 40 + MISS, 40 + MISS + 1]
    [replies, _] = play(found, ["0 read 8 0 0 0", "40 read 8 8 0 1", f"{40 + MISS} read 8 16 0 2"])
    assert cycles_of(replies)[2] == 40 + 2 * MISS


@seldom
def test_posted_writes_do_not_wait_for_their_line(bench: Bench) -> None:
    """What is read behind one is what it wrote; `post_writes = false` has the reply when it is done."""
    for post, at in (("true", 5), ("false", 5 + MISS)):
        [replies, _] = play(machine(bench, WHOLE + f"post_writes = {post};"), ["5 write 8 16 99 0", "6 read 8 16 0 1"])
        assert cycles_of(replies) == [at, 5 + MISS + (post == "false")] and sorted(replies, key=lambda a: a.tag)[1].data == 99


@seldom
def test_a_bank_accepts_one_request_in_a_cycle(bench: Bench) -> None:
    """Lines of different sets on two lanes: in one bank the second lane waits, in two both go."""
    lanes = [["0 read 8 0", "40 read 8 0"], ["0 read 8 8", "40 read 8 8"]]
    for banks, second in ((1, 41), (2, 40)):
        first, other, _ = play(machine(bench, WHOLE + f"banks = {banks};", lanes=2), *lanes)
        assert (first[1].cycle, other[1].cycle) == (40, second)
    first, other, _ = play(machine(bench, WHOLE + "banks = 2;", lanes=2), ["0 read 8 0", "40 read 8 0"], ["0 read 8 0", "40 read 8 0"])
    assert (first[1].cycle, other[1].cycle) == (40, 41), "one line, one bank"
    assert other[0].cycle == MISS, "each lane has a reply of its own"


@seldom
def test_lanes_that_want_one_bank_take_turns(bench: Bench) -> None:
    """Each of three asks in every cycle, and is accepted in every third; who comes alone does not wait."""
    found = machine(bench, WHOLE, lanes=3)
    always = ["0 read 8 0 0 0", *(f"40 read 8 0 0 {k}" for k in range(1, 31))]
    for first in range(3):
        lanes = [always[:1]] * first + [always] * (3 - first)
        replies = play(found, *lanes, cycles=200)
        accepted = [[one.cycle for one in replies[lane]][1:] for lane in range(first, 3)]
        turns = len(accepted)
        assert sorted(cycle for one in accepted for cycle in one) == list(range(40, 40 + 30 * turns))
        assert all([late - early for early, late in pairwise(one)] == [turns] * 29 for one in accepted), first


@seldom
@pytest.mark.parametrize("penalty", sampled([0, 2, 5], 3, 1))
def test_a_line_that_comes_keeps_its_bank_busy(penalty: int, bench: Bench) -> None:
    found = machine(bench, WHOLE + f"fill_penalty = {penalty}; banks = 2;", lanes=2)
    after = 40 + MISS  # the cycle behind memory's reply
    first, other, _ = play(found, ["0 read 8 0 0 0", "40 read 8 16 0 1"], ["20 read 8 8 0 0", f"{after} read 8 0 0 1", f"{after + 10} read 8 8 0 2"])
    assert first[1].cycle == after and other[1].cycle == after + penalty
    first, other, _ = play(found, ["0 read 8 0 0 0", "40 read 8 16 0 1"], ["20 read 8 8 0 0", f"{after} read 8 8 0 1"])
    assert other[1].cycle == after, "the other bank is free"


# ---- Lines -----------------------------------------------------------------------------------------------------------
def test_changed_lines_are_written_back_and_not_fetched_before_that(bench: Bench) -> None:
    """Three lines of one set with one way; the first comes again while it is still on its way to memory."""
    more = collect("cache", "evict(address)", "fill(address, set, way)", "miss(address, tag)", "hit(address, tag)", "join(address, tag)")
    found = machine(bench, "line = 16; sets = 2; ways = 1;", more=more)
    script = ["0 write 8 8 5 0", "40 read 8 32 0 1", "41 read 8 40 0 2", "55 read 8 8 0 3"]
    [replies, memory] = play(found, script, ["50 read 8 8", "80 read 8 8"])
    by_tag = {a.tag: (a.cycle, a.data) for a in replies}
    assert by_tag[3][1] == 5 and [a.data for a in memory] == [1, 5]
    assert by_tag[1] == (40 + MISS, 4) and by_tag[2] == (40 + MISS + 1, 5)
    events = {name: [arguments[1:] for arguments in happened(found.last, name)] for name in ("evict", "fill", "miss", "hit", "join")}
    assert events == {"evict": [(0,)], "fill": [(0, 0, 0), (32, 0, 0), (0, 0, 0)], "miss": [(8, 0), (32, 1), (8, 3)], "hit": [], "join": [(40, 2)]}
    assert found.last.counted("cache")["write_backs"] == 1


@seldom
def test_which_line_makes_room(bench: Bench) -> None:
    """The least recently used of those that do not wait for memory; when all do, a request waits."""
    found = machine(bench, "line = 8; sets = 1; ways = 2;")
    script = ["0 read 8 0 0 0", "20 read 8 8 0 1", "40 read 8 0 0 2", "60 read 8 16 0 3", "80 read 8 0 0 4", "81 read 8 8 0 5"]
    [replies, _] = play(found, script)
    assert cycles_of(replies)[4:] == [80, 81 + MISS]
    [replies, _] = play(found, reads([0, 8, 16]))
    assert cycles_of(replies) == [MISS, 1 + MISS, 2 * MISS]


@seldom
def test_a_line_may_have_its_set_elsewhere(bench: Bench) -> None:
    """Two lines of one set by their numbers are in two by the userpoint."""
    for index, misses in (("", 4), ("index = <<< return number ^ number >> 2; >>>;", 2)):
        found = machine(bench, f"line = 8; sets = 4; ways = 1; {index}")
        play(found, ["0 read 8 0", "40 read 8 32", "80 read 8 0", "120 read 8 32"])
        assert found.last.stat("cache", "misses") == misses


@seldom
def test_random_replacement_uses_every_way(bench: Bench) -> None:
    found = machine(bench, "line = 8; sets = 1; ways = 4; replacement = cache_replacement.random;", more=collect("cache", "fill(address, set, way)"))
    play(found, [f"{20 * k} read 8 {8 * k}" for k in range(40)], cycles=900)
    assert {way for *_, way in happened(found.last, "fill")[4:]} == {0, 1, 2, 3}


# ---- Writes that go through ------------------------------------------------------------------------------------------
@seldom
def test_write_through(bench: Bench) -> None:
    """A write is in memory soon; its line is not fetched, and one that is here, or on its way, is changed as well."""
    found = machine(bench, "line = 16; sets = 4; ways = 1; write_back = false;", latency=4)
    script = ["0 write 8 8 7 0", "20 read 8 0 0 1", "21 write 8 0 9 2", "22 read 8 0 0 3", "40 write 4 4 6 4", "41 read 8 0 0 5"]
    [replies, memory] = play(found, script, ["10 read 8 8", "39 read 8 0", "60 read 8 0"])
    assert [(a.tag, a.data) for a in sorted(replies, key=lambda a: a.tag)] == [(0, 0), (1, 0), (2, 0), (3, 9), (4, 0), (5, 6 << 32 | 9)]
    assert [a.cycle for a in replies if a.tag in (0, 2, 4)] == [0, 21, 40]
    assert [a.data for a in memory] == [7, 9, 6 << 32 | 9]
    assert found.last.counted("cache") | {"mshr_cycles": 0, "miss_cycles": 0} == {"hits": 2, "misses": 1, "joined": 2, "bypassed": 1, "mshr_cycles": 0, "miss_cycles": 0}


@seldom
def test_the_write_buffer_has_room_for_so_many(bench: Bench) -> None:
    """A place is free again two cycles and memory's time after it was taken."""
    for places in (1, 2, 4):
        found = machine(bench, f"line = 8; write_back = false; write_buffer = {places};")
        [replies, _] = play(found, [f"0 write 8 {64 * k} {k} {k}" for k in range(8)])
        assert cycles_of(replies) == [k // places * MISS + k % places for k in range(8)]


# ---- What is not read or written -------------------------------------------------------------------------------------
def test_errors_are_the_reference_s(bench: Bench) -> None:
    """A part of a line that memory refuses is an error to who reads it alone; the line is not kept; whose write it is cannot be told once that has its reply."""
    found = machine(bench, "line = 32; sets = 1; ways = 1; post_writes = false;", memory="", more="")
    script = ["0 read 8 0x1000 0 0", "1 read 8 0x1008 0 1", "2 write 8 0x1010 5 2", "40 read 8 0x1000 0 3", "60 read 8 8 0 4"]
    [replies, _] = play(found, script)
    assert [(a.tag, a.error) for a in sorted(replies, key=lambda a: a.tag)] == [(0, True), (1, True), (2, True), (3, True), (4, False)]
    assert found.last.stat("cache", "misses") == 3
    posting = machine(bench, "line = 32;")
    play(posting, ["0 write 8 0x1010 5"], ok=False)
    assert "a write failed: nothing responds at address 0x00001010" in posting.last.err
    for action, fails, lost in (("drop", False, 1), ("bus_error", True, 0)):
        [replies, *_] = play(posting, ["0 write 8 0x1010 5", "60 write 8 8 6", "90 read 8 8"], settings={"cache.on_memory_error": action})
        assert [(a.error, a.data) for a in replies] == [(fails, 0), (False, 0), (False, 6)]
        assert posting.last.counted("cache").get("memory_errors", 0) == lost
    through = machine(bench, "line = 32; write_back = false;")
    play(through, ["0 write 8 0x1010 5"], ok=False)
    assert "a write failed: nothing responds at address 0x00001010" in through.last.err
    play(through, ["0 write 8 0x1010 5"], settings={"cache.on_memory_error": "drop"})
    assert through.last.stat("cache", "memory_errors") == 1


@seldom
def test_a_part_of_a_line_may_be_an_error(bench: Bench) -> None:
    """The last line of a memory that ends within it."""
    text = machine(bench, "line = 32; post_writes = false;").text.replace("size = 4 KiB", "size = 16 B")
    found = Memory(bench, text.split("\n", 2)[2].split("\n", 1)[1], 2)
    [replies, _] = found.play([["0 read 8 8 0 0", "0 read 8 24 0 1", "0 write 8 0 7 2", "40 read 8 0 0 3"], []], 100, outstanding=8, files={"m.bin": WORDS[:16]})
    assert [(a.tag, a.error, a.data) for a in sorted(replies, key=lambda a: a.tag)] == [(0, False, 1), (1, True, 0), (2, True, 0), (3, False, 0)]


def test_links_and_atomic_operations(bench: Bench) -> None:
    found = machine(bench, "line = 16;", more="instance breaker : source; breaker.out -> cache.unlink : bool;")
    script = [
        "0 load_linked 4 8 0 0", "1 store_conditional 4 8 5 1", "40 store_conditional 4 8 6 2", "41 load_linked 4 8 0 3", "42 write 4 12 1 4", "43 store_conditional 4 8 7 5",
        "50 load_linked 4 8 0 6", "70 store_conditional 4 8 8 7", "80 fetch_add 4 8 3 8", "81 swap 8 24 0xf0 9", "82 take_run 8 24 4 10", "83 load_linked 4 8 0 11", "84 load_linked 4 40 0 12", "120 store_conditional 4 8 9 13",
        "130 read 8 8 0 14", "131 read 8 24 0 15", "132 read -1 8 0 16", "133 fetch_or 4 8 0xf0 17", "134 fetch_and 4 8 0xff 18", "135 read -1 8 0 19",
    ]  # fmt: skip
    [replies, _] = play(found, script, settings={"breaker.script": "b"}, files={"b": "60 true once\n"})
    assert [a.data for a in sorted(replies, key=lambda a: a.tag)] == [1, 1, 0, 5, 0, 1, 7, 0, 7, 3, 4, 10, 5, 0, 1 << 32 | 10, 0, 10, 10, 0xFA, (1 << 64) - 6]


@seldom
@pytest.mark.parametrize("contexts", sampled([1, 2], 2, 1))
def test_a_barrier_of_one_context_does_not_wait_for_ever(contexts: int, bench: Bench) -> None:
    """Behind those of another, which go on to miss; of one context they are older, or may be in vain, and go on."""
    found = machine(bench, f"{WHOLE} mshrs = 4; contexts = {contexts};", lanes=2)
    many = [f"{k} read 8 {8 * (k % 400)} 0 {1 << 19 | k}" for k in range(200)]
    [[barrier], others, _] = play(found, ["60 barrier 1 0 0 7"], many, cycles=1500)
    assert len(others) == 200 and max(one.cycle for one in others) > 500
    assert barrier.cycle < 60 + 2 * MISS if contexts > 1 else barrier.cycle > 500


@seldom
def test_barriers_and_what_is_not_cacheable_pass_alone(bench: Bench) -> None:
    """They wait until nothing is outstanding, all else until they are done; what is asked for without a cache is asked for each time."""
    found = machine(bench, WHOLE + "cacheable = <<< return address < 0x800; >>>;", lanes=2)
    script = ["0 read 8 0 0 0", "1 barrier 1 0 0 1", "2 read 8 0 0 2", "60 read 8 0x808 0 3", "61 read 8 0x808 0 4", "62 write 4 0x80c 7 5"]
    first, second, memory = play(found, script, ["61 read 8 8 0 0"], ["150 read 8 0x808"])
    assert cycles_of(first) == [MISS, 2 * MISS, 2 * MISS + 1, 60 + MISS, 60 + 2 * MISS, 60 + 4 * MISS]
    assert [a.data for a in sorted(first, key=lambda a: a.tag)] == [0, 0, 0, 0x101, 0x101, 0] and memory[0].data == 7 << 32 | 0x101
    assert second[0].cycle == 60 + 3 * MISS, "its turn comes behind one of the lower lane"
    assert found.last.stat("cache", "bypassed") == 4


BY_INDEX, WRITE_BACK, INVALIDATE = 2, 4, 8  # in a cache_operation


def test_maintenance(bench: Bench) -> None:
    found = machine(bench, "line = 16; sets = 2; ways = 2;", more=collect("cache", "maintain(address, operation)"))
    cases = [
        (WRITE_BACK, 0x44, 7, 7, False), (WRITE_BACK | INVALIDATE, 0x44, 7, 7, True), (INVALIDATE, 0x44, 8, 8, True), (INVALIDATE, 0x64, 8, 7, False),
        (WRITE_BACK | INVALIDATE | BY_INDEX, 0x100, 7, 7, True), (WRITE_BACK | INVALIDATE | BY_INDEX, 0x20, 8, 7, False), (INVALIDATE | BY_INDEX, 0x100, 8, 8, True),
    ]  # fmt: skip
    for operation, address, in_memory, read, fetched in cases:
        replies, memory = play(found, ["0 write 8 0x40 7 0", f"40 maintain 1 {address:#x} {operation} 1", "100 read 8 0x40 0 2"], ["90 read 8 0x40"])
        assert (replies[2].data, memory[0].data) == (read, in_memory), (operation, hex(address))
        assert found.last.counted("cache").get("maintained", 0) == int(fetched) == int(replies[2].cycle > 100)
        assert [told[1:] for told in happened(found.last, "maintain")] == [(address, operation)] * (fetched or operation == WRITE_BACK)


ALONE = """
import memory_types;
instance requester : memory_source; instance asked : sink; instance reply : source;
instance dut : mshr_controller { line = 16; mshrs = 4; };
requester.memory -> dut.in; dut.memory.request -> asked.in; reply.out -> dut.memory.reply;
"""


@seldom
def test_memory_may_reply_in_any_order(bench: Bench) -> None:
    """What memory is asked for, cycle by cycle, and the replies of the second line first and from its end; the tag is the MSHR's number times the beats, and the beat."""
    files: dict[str, str | bytes] = {"s": "0 read 8 8 0 1\n1 read 8 16 0 2\n1 read 8 24 0 3\n", "r": "".join(f"{cycle} {{tag={tag} error=false latency=0 data={data}}} once\n" for cycle, tag, data in ((10, 3, 33), (12, 0, 30), (14, 2, 32), (16, 1, 31)))}
    settings = {"requester.script": "s", "requester.record": "replies", "requester.outstanding": 8, "asked.record": "q", "reply.script": "r"}
    ran = bench.run(bench.build(ALONE), 40, settings, files=files)
    asked = [(cycle, int(value.split("address=")[1].split()[0]), int(value.split("tag=")[1].split()[0])) for cycle, value in read_items(ran.directory / "q")]
    assert asked == [(1, 8, 1), (2, 0, 0), (3, 16, 2), (4, 24, 3)]
    assert [(a.cycle, a.tag, a.data) for a in read_replies(ran.directory / "replies")] == [(15, 2, 32), (16, 3, 33), (17, 1, 31)]


# ---- By chance -------------------------------------------------------------------------------------------------------
def random_requests(rng: random.Random, order: str, lanes: int, count: int, image: bytes) -> list[tuple[list[str], dict[int, int]]]:
    """For each lane a script and what each tag must read; lanes use words of their own of lines that all use."""
    made = []
    for lane in range(lanes):
        model = Bytes(len(image), order)
        model.contents[:] = image
        script, expected = [], {}
        for tag in range(count):
            size = rng.choice([1, 2, 4, 8])
            word = rng.randrange(len(image) // 8 // lanes) if rng.random() < 0.3 else rng.randrange(12)
            address = 8 * (word * lanes + lane) + rng.randrange(8 // size) * size
            value, op = rng.getrandbits(8 * size), rng.random()
            before = model.read(address, size)
            if op < 0.55:
                script.append(f"{tag} read {size} {address} 0 {tag}")
                expected[tag] = before
            elif op < 0.95:
                script.append(f"{tag} write {size} {address} {value} {tag}")
                model.write(address, size, value)
                expected[tag] = 0
            elif op < 0.98:
                script.append(f"{tag} fetch_add {size} {address} {value} {tag}")
                model.write(address, size, before + value)
                expected[tag] = before
            else:
                script.append(f"{tag} {rng.choice(['barrier 1 0 0', f'maintain 1 {address} {WRITE_BACK}', f'maintain 1 {address} {WRITE_BACK | INVALIDATE}'])} {tag}")
                expected[tag] = 0
        made.append((script, expected))
    return made


SHAPES = {
    "smallest": "line = 8; sets = 1; ways = 1; mshrs = 1; targets = 1; write_buffer = 1;",
    "one set": "line = 32; sets = 1; ways = 2; mshrs = 4; targets = 2; write_buffer = 1;",
    "banks": "line = 16; sets = 4; ways = 2; banks = 4; mshrs = 8; targets = 4; fill_penalty = 2;",
    "waiting": "line = 32; sets = 2; ways = 3; banks = 2; mshrs = 3; targets = 8; post_writes = false; critical_first = false;",
    "through": "line = 32; sets = 2; ways = 2; mshrs = 4; targets = 3; write_back = false; write_buffer = 2;",
    "through, waiting": "line = 16; sets = 4; ways = 1; banks = 2; mshrs = 2; targets = 4; write_back = false; write_buffer = 1; post_writes = false;",
}
MANNERS = {"fast": "", "slow": "jitter = 9; refuse = 0.4;"}


def by_chance(bench: Bench, shape: str, manners: str, order: str, seed: int, count: int) -> Memory:
    print(f"seed {seed}")
    rng = random.Random(f"{shape} {manners} {order} {seed}")
    lanes = 3 if "banks" in SHAPES[shape] else 1
    found = machine(bench, SHAPES[shape], lanes=lanes, latency=3, memory=MANNERS[manners], order=order)
    image = rng.randbytes(1024)
    made = random_requests(rng, order, lanes, count, image)
    settings = {f"requester[{i}].cancel": 0.2 for i in range(lanes)} | {f"requester[{i}].offer": 0.9 for i in range(lanes)}
    replies = found.play([*[script for script, _ in made], []], 60 * count + 1000, settings, outstanding=12, seed=seed, files={"m.bin": image})
    for lane, (_, expected) in enumerate(made):
        assert len(replies[lane]) == count and not any(a.error for a in replies[lane])
        assert {a.tag: a.data for a in replies[lane]} == expected
    return found


@pytest.mark.parametrize(("shape", "manners", "order"), sampled(product(SHAPES, MANNERS, ("little", "big")), every=27))
def test_every_request_reads_what_was_written(shape: str, manners: str, order: str, bench: Bench) -> None:
    found = by_chance(bench, shape, manners, order, 1, 400)
    assert found.last.stat("cache", "misses") > 20
    assert (found.last.stat("cache", "joined") > 5) == (shape != "smallest")


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES)
def test_a_million_requests(shape: str, bench: Bench) -> None:
    for seed in range(2, 9):
        for manners in MANNERS:
            by_chance(bench, shape, manners, "big" if seed % 2 else "little", seed, 12_000)


@seldom
@pytest.mark.parametrize("cycle", sampled([31, 100, 333], 3, 1))
def test_a_restored_run_goes_on(cycle: int, bench: Bench, tmp_path: Path) -> None:
    """From checkpoints in the middle of misses, with the same replies in the same cycles."""
    found = machine(bench, SHAPES["banks"], memory=MANNERS["slow"])
    image = random.Random(1).randbytes(1024)
    [(script, expected)] = random_requests(random.Random(2), "little", 1, 200, image)
    (tmp_path / "m.bin").write_bytes(image)
    (tmp_path / "script").write_text("".join(line + "\n" for line in script))

    def run(name: str, *words: str) -> str:
        done = subprocess.run([found.simulator, "--quiet", "--set", f"requester[0].record={name}", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_text()

    start = ["--set", "requester[0].script=script", "--set", "requester[0].outstanding=12"]
    whole = run("whole", *start, "--cycles", "9000")
    first = run("first", *start, "--cycles", str(cycle), "--checkpoint", "point")
    assert 0 < len(first.splitlines()) < len(expected) == len(whole.splitlines())
    assert first + run("rest", "--restore", "point", "--cycles", "9000") == whole


# ---- What cannot be --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("body", "words"), [
    ("width = 64; fill_width = 32;", "fill_width must be a multiple of 8 and not less than width"), ("line = 4;", "a line must be 1 to 64 times fill_width (8 bytes), not 4 bytes"),
    ("sets = 6; banks = 4;", "all banks need the same number of sets: 6 sets cannot be divided among 4 banks"), ("mshrs = 0;", "outside its range, 1 to 64"),
])  # fmt: skip
def test_what_it_cannot_be(body: str, words: str, bench: Bench) -> None:
    text = f"import memory_types; instance s : memory_source; instance c : mshr_controller {{ {body} }}; instance m : memory_state {{ size = 1 KiB; }}; s.memory -> c.in; c.memory -> m.port;"
    assert words in bench.refuse(text)


@seldom
def test_a_request_is_within_a_line(bench: Bench) -> None:
    found = machine(bench, "line = 16;")
    play(found, ["0 read 8 12"], ok=False)
    assert "a request of 8 bytes at 0xc crosses a line of 16 bytes" in found.last.err
