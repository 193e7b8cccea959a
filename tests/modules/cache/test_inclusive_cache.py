"""inclusive_cache: between scripts, what each state answers to either bus; then under caches of level 1: timing, room, links, and what random operations of
several processors and a device see."""

import re
from pathlib import Path

import pytest

from tests.modules.cache.coherent import (
    DEVICE_GENERATE,
    EXCLUSIVE,
    GENERATE,
    INVALID,
    LINE,
    MODIFIED,
    SHARED,
    checker_of_levels,
    looked_at,
    response,
    snoop,
    two_levels,
)
from tests.modules.harness import Bench, Memory, Ran, collect, happened, read_items, read_replies
from tests.sample import sampled, seldom

ALONE = f"""
import memory_types; import coherence_types;
instance requester : memory_source {{ width = {8 * LINE}; }};
instance up_snoop : source; instance up_response : source; instance up_request : sink; instance up_answer : sink;
instance snoop : source; instance response : source; instance request : sink; instance answer : sink;
instance dut : inclusive_cache {{ line = {LINE}; sets = 2; ways = 2; }};
requester.memory -> dut.in;
dut.above.request -> up_request.in; dut.above.snoop_response -> up_answer.in; up_snoop.out -> dut.above.snoop; up_response.out -> dut.above.response;
dut.below.request -> request.in; dut.below.snoop_response -> answer.in; snoop.out -> dut.below.snoop; response.out -> dut.below.response;
{collect("dut", "transition(address, next)", "recall(address, op, makes_room)", "lost(address)")}
"""
PORTS = ("up_request", "up_answer", "request", "answer")


def play(bench: Bench, *, above: str, below: str, recalls: str = "", fills: str = "", memory: str = "", cycles: int = 60, more: dict[str, object] | None = None) -> tuple[Ran, dict[str, list[tuple[int, str]]]]:
    """Snoops above and below, the responses of both and the requests of the bus above, as scripts; returns what each outport sent."""
    files: dict[str, str | bytes] = {"u": above, "n": below, "v": recalls, "r": fills, "s": memory}
    settings: dict[str, object] = {"up_snoop.script": "u", "snoop.script": "n", "up_response.script": "v", "response.script": "r", "requester.script": "s", "requester.record": "replies"} | (more or {})
    ran = bench.run(bench.build(ALONE), cycles, settings | {f"{port}.record": f"{port}.out" for port in PORTS}, files=files)
    return ran, {port: read_items(ran.directory / f"{port}.out") for port in PORTS}


def told(items: list[tuple[int, str]], *names: str) -> list[tuple[int | str, ...]]:
    """Cycle and these members of what a port sent."""
    return [(cycle, *(match[1] for name in names if (match := re.search(rf"\b{name}=(\w+)", value)))) for cycle, value in items]


# How a line gets here: what the transaction of cycle 5 above is, and whether another agent below keeps a copy; then what those above may have of it.
REACHED = {(SHARED, "copies"): ("read_shared", True), (EXCLUSIVE, "owner"): ("read_shared", False), (EXCLUSIVE, "copies"): ("read_once", False), (MODIFIED, "owner"): ("read_exclusive", False)}
# What goes up for each transaction below where those above may have copies or the line itself; "": nothing.
GOES_UP = {
    "read_shared": {"copies": "", "owner": "read_shared"},
    "read_once": {"copies": "", "owner": "read_once"},
    "read_exclusive": {"copies": "read_exclusive", "owner": "read_exclusive"},
    "upgrade": {"copies": "read_exclusive", "owner": "read_exclusive"},
    "write_line": {"copies": "read_exclusive", "owner": "read_exclusive"},
    "write_part": {"copies": "read_exclusive", "owner": "read_exclusive"},
}
# What is answered below in each state, and what is left; as any cache of the bus (test_mshr_controller_bus).
ANSWERS = {
    "read_shared": {SHARED: ("shared", SHARED), EXCLUSIVE: ("clean", SHARED), MODIFIED: ("modified", SHARED)},
    "read_once": {SHARED: ("shared", SHARED), EXCLUSIVE: ("shared", EXCLUSIVE), MODIFIED: ("modified", MODIFIED)},
    "read_exclusive": {SHARED: ("none", INVALID), EXCLUSIVE: ("clean", INVALID), MODIFIED: ("modified", INVALID)},
    "upgrade": {SHARED: ("none", INVALID), EXCLUSIVE: ("clean", INVALID), MODIFIED: ("modified", INVALID)},
    "write_line": {SHARED: ("none", INVALID), EXCLUSIVE: ("none", INVALID), MODIFIED: ("none", INVALID)},
    "write_part": {SHARED: ("none", INVALID), EXCLUSIVE: ("none", INVALID), MODIFIED: ("modified", INVALID)},
}


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("reached", REACHED, ids=str)
@pytest.mark.parametrize("op", GOES_UP)
def test_a_snoop_from_below(bench: Bench, op: str, reached: tuple[int, str], newer: bool) -> None:
    """In cycle 20; its answer is in the cycle behind, or behind the end of the transaction above, whose line is newer or not."""
    state, held = reached
    filled_by, shared = REACHED[reached]
    up = GOES_UP[op][held]
    if newer and (not up or state == SHARED):
        pytest.skip("no newer line can be above")
    ran, sent = play(
        bench,
        above=snoop(5, filled_by) + (snoop(24, up, own=True) if up else ""),
        below=snoop(8, "read_shared", own=True) + snoop(20, op),
        fills=response(10, shared=shared),
        recalls=response(30, filled=newer, data=0x5566) if up else "",
    )
    fetched = "read_exclusive" if filled_by == "read_exclusive" else "read_shared"
    assert told(sent["request"], "op", "tag") == [(6, fetched, "0")]
    assert told(sent["up_request"], "op") == ([(21, up)] if up else [])
    assert told(sent["up_answer"], "result") == [(11, "shared" if state == SHARED else "none")] + ([(25, "shared")] if up else [])
    now = MODIFIED if newer else state
    result, after = ANSWERS[op][now]
    cycle = 31 if up else 21
    assert told(sent["answer"], "result")[1:] == [(cycle, result)]
    if result in ("clean", "modified"):
        assert ("5566" if newer else "1122") in sent["answer"][1][1]
    states = [(10, 0, state)] + [(cycle - 1, 0, MODIFIED)] * (now != state) + [(cycle - 1, 0, after)] * (after != now)
    assert happened(ran, "transition") == states
    assert (ran.stat("dut", "snoops_below"), ran.stat("dut", "snoops_above")) == (1, int(bool(up)))
    assert (ran.stat("dut", "supplied"), ran.stat("dut", "invalidations")) == (int(result in ("clean", "modified")), int(after == INVALID))


def test_what_went_up_need_not_go_again(bench: Bench) -> None:
    """Behind a read_shared those above have copies only, which reads below leave alone."""
    ran, sent = play(bench, above=snoop(5, "read_shared") + snoop(24, "read_shared", own=True), below=snoop(8, "read_shared", own=True) + snoop(20, "read_shared") + snoop(40, "read_once"), fills=response(10), recalls=response(30, filled=False))
    assert told(sent["answer"], "result") == [(9, "none"), (31, "clean"), (41, "shared")]
    assert ran.stat("dut", "snoops_above") == 1


def test_who_keeps_no_copy_is_not_snooped(bench: Bench) -> None:
    """A read_once above leaves nothing there; until the bus has read the line, it has to stay."""
    for memory, up in (("15 read 32 0\n", []), ("", [(21, "read_exclusive")])):
        _, sent = play(bench, above=snoop(5, "read_once"), below=snoop(8, "read_shared", own=True) + snoop(20, "read_exclusive"), fills=response(10), memory=memory)
        assert told(sent["up_request"], "op") == up and len(sent["answer"]) == 2 - len(up)


@pytest.mark.parametrize("when", ["behind", "before", "on its way"])
@pytest.mark.parametrize("op", ["upgrade", "read_exclusive"])
def test_a_copy_that_is_written_above_is_lost_to_one_below(bench: Bench, op: str, when: str) -> None:
    """A shared line, which an agent above wants to write in cycle 20.  Another's write below comes behind that (23); or before (19), and the transaction by which the copies are to be taken
    from those above is not on their bus yet: it is not needed, and where it is under way to the bus, it is withdrawn.  The line is fetched again, and the answer says so."""
    other = 23 if when == "behind" else 19
    ran, sent = play(
        bench,
        above=snoop(5, "read_shared") + snoop(20, op) + (snoop(25, "read_exclusive", own=True, number=1) if when == "on its way" else ""),
        below=snoop(8, "read_shared", own=True) + snoop(other, "read_exclusive") + snoop(30, "read_exclusive", own=True),
        fills=response(10, shared=True) + response(40, data=0x77),
        memory="45 read 32 0\n",
        more={"up_request.pattern": "0"} if when == "before" else {},
    )
    drop = max(other, 20)
    assert told(sent["answer"], "result") == [(9, "none"), (drop + 1, "none"), (31, "none")]
    assert told(sent["up_answer"], "result") == [(11, "shared"), *([(26, "withdrawn")] if when == "on its way" else []), (41, "lost")]
    assert [op for _, op in told(sent["request"], "op")] == ["read_shared", "upgrade" if when == "behind" else "read_exclusive"]
    assert len(sent["up_request"]) == (when == "on its way")
    assert happened(ran, "lost") == [(drop, 0)]
    assert happened(ran, "transition") == [(10, 0, SHARED), (drop, 0, INVALID), (40, 0, MODIFIED)]
    assert [reply.data for reply in read_replies(ran.directory / "replies")] == [0x77]


@pytest.mark.parametrize("when", ["behind", "before", "granted", "told"])
def test_a_store_conditional_that_fails_takes_nothing(bench: Bench, when: str) -> None:
    """As above, for a store_conditional: the bus below is asked no more, and where it was, behind a crossing, the transaction is withdrawn, or its response says that the copy was void."""
    other = {"behind": 23, "before": 19, "granted": 26}.get(when)
    asked = when in ("granted", "told")
    ran, sent = play(
        bench,
        above=snoop(5, "read_shared") + snoop(20, "upgrade", conditional=True),
        below=snoop(8, "read_shared", own=True) + (snoop(other, "read_exclusive") if other else "") + (snoop(30, "upgrade", own=True, conditional=True) if asked else ""),
        fills=response(10, shared=True) + (response(34, filled=False, lost=True) if when == "told" else ""),
        more={"request.pattern": "1" * 20 + ("1" if asked else "0") * 50} | ({"up_request.pattern": "0"} if when == "before" else {}),
    )
    ended = {"behind": 23, "before": 20, "granted": 26, "told": 34}[when]
    answered = {"granted": 30}.get(when, ended) + 1
    assert told(sent["up_answer"], "result") == [(11, "shared"), (answered, "lost")]
    assert told(sent["request"], "op", "conditional") == [(6, "read_shared", "false"), *([(21, "upgrade", "true")] if asked else [])]
    own = [] if not asked else [(31, "withdrawn" if when == "granted" else "shared")]
    other_answers = [] if when == "told" else [(ended + 1, "none")]
    assert told(sent["answer"], "result") == [(9, "none"), *sorted(own + other_answers)]
    assert happened(ran, "lost") == [(ended, 0)]
    assert happened(ran, "transition") == [(10, 0, SHARED), (ended, 0, INVALID)]
    assert ran.stat("dut", "upgrades") == int(asked or when == "behind")


def test_a_line_that_cannot_be_had_is_an_error_to_whom_reads_it(bench: Bench) -> None:
    failed = response(10).replace("filled=true", "filled=false").replace("error=false", "error=true")
    ran, sent = play(bench, above=snoop(5, "read_shared"), below=snoop(8, "read_shared", own=True), fills=failed, memory="20 read 32 0\n")
    assert told(sent["up_answer"], "result") == [(11, "none")]
    assert [reply.error for reply in read_replies(ran.directory / "replies")] == [True] and happened(ran, "transition") == []


# ---- Under caches of level 1 ----------------------------------------------------------------------------------------
SNOOP, TURN, BEATS, LATENCY = 4, 1, 4, 6


def cached(bench: Bench, more: str = "", caches: int = 2, **options: str) -> Memory:
    return Memory(bench, two_levels(1, caches, **({"cache": "sets = 1; ways = 1;", "level": "sets = 2; ways = 2;"} | options)) + more, caches + 1, 64)


@seldom
@pytest.mark.parametrize("array", sampled([0, 5], 2, 1))
def test_hits_and_misses(bench: Bench, array: int) -> None:
    """A hit of level 2 is a line of a memory of latency 1, and of what its arrays take longer; a miss waits with its answer for the bus below."""
    machine = Memory(bench, two_levels(1, 1, cache="sets = 1; ways = 1;", level="sets = 2; ways = 2;", array=array), 2, 64)
    [replies, _] = machine.play([["0 read 8 0", "100 read 8 64", "200 read 8 0", "300 read 8 0"], []], 400)
    address = 1 + TURN + 1  # offered, turnaround, on the bus
    line = 1 + array + 1 + TURN + BEATS  # memory is asked, replies, and drives the bus
    below = 1 + TURN + 1 + SNOOP + 1 + LATENCY + TURN + BEATS  # offered in the cycle behind the address, and its response
    miss, hit = address + below + line + 2, address + SNOOP + line + 1
    assert [a.cycle - start for a, start in zip(replies, (0, 100, 200, 300), strict=True)] == [miss, miss, hit, 0]
    assert (machine.last.stat("level[0]", "hits"), machine.last.stat("level[0]", "misses")) == (1, 2)


@seldom
def test_hits_pass_a_miss(bench: Bench) -> None:
    """Of two processors the one whose line is here does not wait for the one whose line is not."""
    machine = cached(bench, bus="snoop_cycles = 30;")
    first, second, _ = machine.play([["0 read 8 0", "200 read 8 32"], ["100 read 8 0", "150 read 8 96", "201 read 8 0"], []], 400)
    assert second[2].cycle < first[1].cycle - 20


@seldom
def test_a_line_that_leaves_is_taken_from_those_above(bench: Bench) -> None:
    """Three lines of a set with two ways: what was written above is in memory; the link to it, too, is lost; its cache finds out."""
    machine = cached(bench, cache="sets = 4; ways = 1;")
    first = ["0 load_linked 4 0", "50 write 4 4 7", "300 store_conditional 4 0 1", "400 read 8 0"]
    second = ["100 read 8 64", "200 read 8 128"]
    replies = machine.play([first, second, ["260 read 8 0"]], 600)
    assert [a.data for a in replies[0]] == [0, 0, 0, 7 << 32] and [a.data for a in replies[2]] == [7 << 32]
    assert machine.last.counted("level[0]")["rooms_above"] >= 1 and machine.last.stat("level[0]", "write_backs") == 1


@seldom
def test_links_across_both_levels(bench: Bench) -> None:
    """A device's write below ends a link above; its read does not."""
    machine = cached(bench)
    first = ["0 load_linked 4 0", "100 store_conditional 4 0 5", "200 load_linked 4 0", "300 store_conditional 4 0 6"]
    replies = machine.play([first, [], ["50 read 8 0", "250 write 4 8 9"]], 600)
    assert [a.data for a in replies[0]] == [0, 1, 5, 0]


def test_a_miss_fetches_its_block(bench: Bench) -> None:
    """A line that is not asked for follows, and is a hit then, also while it is on its way; a line that is used keeps its block."""
    machine = cached(bench, collect("level[0]", "along(address)"), cache="sets = 1; ways = 1;", level="sets = 4; ways = 2; block_lines = 4;")
    second = 32 * 4
    scripts = [f"{cycle} read 8 {address}" for cycle, address in ((0, 32), (10, 64), (300, 96), (400, second), (600, 0), (700, 2 * second), (1000, 32), (1100, second))]
    replies, *_ = machine.play([scripts, [], []], 1500)
    followed = [[address for cycle, address in happened(machine.last, "along") if start <= cycle < end] for start, end in ((0, 300), (400, 600), (700, 1000), (1100, 1400))]
    assert followed == [[0, 64, 96], [160, 192, 224], [288, 320, 352], [160, 192, 224]]
    assert (machine.last.stat("level[0]", "misses"), machine.last.stat("level[0]", "hits")) == (4, 4)
    assert replies[2].cycle - 300 < replies[3].cycle - 400


@pytest.mark.parametrize("array", [0, 5])
def test_a_missed_line_is_fetched_before_its_block(bench: Bench, array: int) -> None:
    """Also where a line has to leave above for it, and for the others of the block none has to."""
    machine = cached(bench, cache="sets = 8; ways = 2;", level="sets = 4; ways = 1; block_lines = 4;", array=array)
    [replies, *_] = machine.play([["0 read 8 32", "300 read 8 160", "600 read 8 32"], [], []], 1000)
    first, *others = (a.cycle - start for a, start in zip(replies, (0, 300, 600), strict=True))
    recall = 3 + SNOOP + TURN  # its line is taken from the cache above
    assert others == [first + recall] * 2
    assert machine.last.stat("level[0]", "rooms_above") == 2


@pytest.mark.parametrize(("body", "why"), [("block_lines = 3;", "block_lines must not be 3"), ("block_lines = 4; sets = 6;", "sets = 6 must be a multiple of block_lines = 4")])
def test_impossible_blocks(bench: Bench, body: str, why: str) -> None:
    assert why in bench.refuse(ALONE.replace("sets = 2; ways = 2;", f"ways = 2; {body}"))


SMALL = {"cache": "sets = 2; ways = 2;", "level": "sets = 2; ways = 2;"}
MACHINES: dict[str, tuple[int, int, dict[str, str]]] = {
    "four above one": (1, 4, {"cache": "sets = 1; ways = 2;", "level": "sets = 2; ways = 4;"}),
    "two and two, memory by chance": (2, 2, SMALL | {"memory": "memory_delay { width = 256; depth = 8; latency = 6; jitter = 5; refuse = 0.3; }"}),
    "one victim, one miss, few transactions": (2, 2, {
        "cache": "sets = 1; ways = 2; write_buffer = 1; post_writes = false; replacement = cache_replacement.random;",
        "above": "outstanding = 2; snoop_cycles = 1; turnaround = 0;",
        "level": "sets = 1; ways = 3; victims = 1; mshrs = 1; transactions = 2; snoops = 2; replacement = cache_replacement.random;",
        "bus": "outstanding = 2;",
    }),
    "blocks of two": (2, 2, {"cache": "sets = 2; ways = 2;", "level": "sets = 2; ways = 2; block_lines = 2; mshrs = 2;"}),
    "blocks of four, one victim, few transactions": (2, 2, {
        "cache": "sets = 2; ways = 2; replacement = cache_replacement.random;",
        "level": "sets = 8; ways = 2; block_lines = 4; victims = 1; mshrs = 3; transactions = 2; snoops = 2; replacement = cache_replacement.random;",
        "above": "outstanding = 2;",
        "bus": "outstanding = 2;",
    }),
    "blocks of four, a slow bus": (2, 2, {
        "cache": "sets = 2; ways = 2; replacement = cache_replacement.random;",
        "level": "sets = 8; ways = 2; block_lines = 4; victims = 1; mshrs = 3; transactions = 2; snoops = 8; replacement = cache_replacement.random;",
        "above": "outstanding = 2;",
        "bus": "width = 128;",
        "slow": "437.5 MHz",
    }),
    "one way, slow arrays": (2, 3, {"cache": "sets = 4; ways = 1;", "level": "sets = 4; ways = 1;", "port": "entries = 8;", "array": "3"}),
}  # fmt: skip


def generated(name: str, pool: int) -> str:
    levels, caches, options = MACHINES[name]
    array = int(options.get("array", 0))
    text = two_levels(levels, caches, array=array, **{key: value for key, value in options.items() if key != "array"})
    requesters = "clock clk = 1 GHz;\n"          # of all but a slow bus
    text = re.sub(r"    requester\[[^]]*\].memory -> .*\n", "", text).replace(f"requester[{levels * caches}]", f"requester_{levels * caches}")
    for i in range(levels * caches + 1):
        is_device = i == levels * caches
        requesters += f"instance requester_{i} : memory_source;\nrequester_{i}.generate = {(DEVICE_GENERATE if is_device else GENERATE).replace('POOL', str(pool))};\nrequester_{i}.outstanding = {4 if is_device else 2};\n"
        if not is_device:
            text += f"requester_{i}.memory -> cache[{i}].in;\n"
    return "import memory_types;\nimport cache_types;\n" + requesters + text + checker_of_levels(levels, caches)


@pytest.mark.soak
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("seed", range(4))
def test_a_million_operations(build_dir: Path, tmp_path: Path, name: str, seed: int) -> None:
    """In four runs, over few lines and over many."""
    bench = Bench(build_dir / "bin" / "lss", tmp_path)
    ran = bench.run(bench.build(generated(name, 8 * LINE * (seed % 2 + 1))), 3_000_000, seed=seed)
    seen = looked_at(ran)
    assert seen["reads"] + seen["writes"] > 250_000 and seen["conditionals"] > 4_000


@pytest.mark.parametrize("name", sampled(MACHINES, 4, 1))
def test_every_read_sees_the_last_write(bench: Bench, name: str) -> None:
    """No two caches of a level believe that they alone have a line, and none of level 1 uses what its level 2 has not."""
    levels, _, _ = MACHINES[name]
    ran = bench.run(bench.build(generated(name, 8 * LINE)), 15000)
    seen = looked_at(ran)
    assert seen["reads"] > 500 and seen["writes"] > 500 and seen["conditionals"] > 5 and seen["transitions"] > 1000
    assert ran.stat("level[0]", "snoops_above") > 50 and (levels == 1 or ran.stat("level[0]", "upgrades") > 5)
