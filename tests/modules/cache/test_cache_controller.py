"""cache_controller: hits in the cycle of the request, fills, write policies, replacement, invalidation; from one-line buffers to sets and ways."""

import random
from collections.abc import Collection
from itertools import product

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Reply, collect, happened
from tests.sample import sampled, seldom

PREFETCH = "line = 128; sets = 1; ways = 1;"  # a one-line instruction prefetch buffer
BUFFER = "line = 8; sets = 1; ways = 1;"  # a one-line data buffer: write-through, no write-allocate


def cache(
    bench: Bench, body: str, *, latency: bool = True, extra: str = "", order: str = "little", sources: int = 1
) -> Memory:
    """A cache of 32-bit requests before a 64-bit memory of 4 KiB; requester[1], if any, goes to the memory directly."""
    big = str(order == "big").lower()
    text = f"""
instance cache : cache {{ big_endian = {big}; {body} }};
instance delay : memory_delay {{ depth = 20; }};
instance memory : memory_state {{ size = 4 KiB; big_endian = {big}; }};
requester[0].memory -> cache.in;
cache.memory -> delay.in;
delay.out -> memory.port;
"""
    if sources == 2:
        text += "requester[1].memory -> memory.port;\n"
    return Memory(
        bench, text + extra, sources, body="if (i == 0) requester[i].width = 32; else requester[i].width = 64;"
    )


def timing(replies: list[Reply]) -> list[int]:
    return [a.cycle for a in replies]


def contents(cycle: int = 0, count: int = 64) -> bytes:
    return b"".join(k.to_bytes(8, "little") for k in range(count))


def test_a_miss_fills_and_hits_reply_at_once(bench: Bench) -> None:
    """Taken in cycle 0, asked for in cycle 1, answered by the memory in cycle 2; the rest of the line follows."""
    machine = cache(bench, "line = 32; sets = 4;")
    files = {"m.bin": contents()}
    script = ["0 read 4 8 0 1", "10 read 4 0 0 2", "11 read 2 24 0 3", "12 read 4 32 0 4"]
    [replies] = machine.play([script], 40, {"memory.image": "m.bin"}, files=files)
    assert [(a.cycle, a.tag, a.data) for a in replies] == [(2, 1, 1), (10, 2, 0), (11, 3, 3), (14, 4, 4)]
    assert (machine.last.stat("cache.controller", "hits"), machine.last.stat("cache.controller", "misses")) == (2, 2)


@seldom
def test_hits_misses_and_evictions_are_signalled(bench: Bench) -> None:
    """Two lines that share a set; what is dirty is told when it leaves, by the address of its line."""
    events = collect("cache.controller", "hit(address)", "miss(address)", "evict(address)")
    machine = cache(bench, "line = 16; sets = 2; write_back = true; write_allocate = true;", extra=events)
    machine.play([["0 read 4 8", "20 write 4 4 7", "40 read 4 0x24", "60 read 4 0x44", "80 read 4 0x40"]], 100)
    told = [[at for _, at in happened(machine.last, name)] for name in ("hit", "miss", "evict")]
    assert told == [[4, 0x40], [8, 0x24, 0x44], [0]]


@seldom
@pytest.mark.parametrize(("critical_first", "expected"), sampled([(True, 2), (False, 13)], 2))
def test_the_critical_request_comes_first(bench: Bench, critical_first: bool, expected: int) -> None:
    machine = cache(bench, PREFETCH + f"critical_first = {str(critical_first).lower()};")
    [replies] = machine.play([["0 read 4 88"]], 40)
    assert timing(replies) == [expected]


def test_secondary_misses_wait_for_the_fill(bench: Bench) -> None:
    """A sequential fetch through a prefetch buffer runs at the speed of the beats, two words to the beat."""
    machine = cache(bench, PREFETCH)
    files = {"m.bin": contents()}
    [replies] = machine.play([[f"0 read 4 {4 * k}" for k in range(32)]], 60, {"memory.image": "m.bin"}, files=files)
    assert timing(replies) == list(range(2, 34))
    assert [a.data for a in replies] == [k // 2 if k % 2 == 0 else 0 for k in range(32)]
    [replies] = machine.play([["0 read 4 0", "0 read 4 120", "0 read 4 128"]], 80)
    assert timing(replies) == [2, 17, 20]
    assert machine.last.stat("cache.controller", "joined") == 1


@seldom
def test_writes_go_through_and_update_the_line(bench: Bench) -> None:
    machine = cache(bench, BUFFER, sources=2)
    script = ["0 read 4 16", "5 write 4 20 0x55", "6 read 4 20", "10 write 4 24 0x66", "16 read 4 24"]
    cached, direct = machine.play([script, ["4 read 8 16", "12 read 8 16", "14 read 8 24"]], 40)
    assert [(a.cycle, a.data) for a in cached] == [(2, 0), (5, 0), (6, 0x55), (10, 0), (18, 0x66)]
    assert [a.data for a in direct] == [0, 0x55 << 32, 0x66]


@seldom
def test_a_write_without_buffer_waits_for_the_memory(bench: Bench) -> None:
    machine = cache(bench, BUFFER + "write_buffer = 0;", sources=2)
    cached, direct = machine.play(
        [["0 write 4 16 7", "0 read 4 16", "0 write 4 16 8", "0 read 4 16"], ["20 read 4 16"]], 40
    )
    assert [(a.cycle, a.data) for a in cached] == [(2, 0), (5, 7), (8, 0), (9, 8)]
    assert direct[0].data == 8


BY_INDEX, WRITE_BACK, INVALIDATE = 2, 4, 8  # in a cache_operation


@pytest.mark.parametrize("separate", sampled([False, True], 2))
def test_maintenance_of_a_write_back_cache(bench: Bench, separate: bool) -> None:
    """The other requester reads what is in memory; a line that is kept hits, one that is invalidated is fetched again."""
    machine = cache(bench, f"line = 16; sets = 2; ways = 2; write_back = true; write_allocate = true; separate = {str(separate).lower()};", sources=2, extra=collect("cache.controller", "maintain(address)"))
    operations = [
        (WRITE_BACK, 0x44, 7, 7, False), (WRITE_BACK | INVALIDATE, 0x44, 7, 7, True), (INVALIDATE, 0x44, 0, 0, True),
        (INVALIDATE, 0x64, 0, 7, False), (WRITE_BACK | INVALIDATE | BY_INDEX, 0x100, 7, 7, True),
        (WRITE_BACK | INVALIDATE | BY_INDEX, 0x20, 0, 7, False), (WRITE_BACK | INVALIDATE | BY_INDEX, 0x110, 0, 7, False),
        (INVALIDATE | BY_INDEX, 0x100, 0, 0, True),
    ]  # fmt: skip
    for operation, address, in_memory, read, fetched in operations:
        script = ["0 write 4 0x44 7", f"20 maintain 1 {address:#x} {operation}", "60 read 4 0x44"]
        mine, others = machine.play([script, ["50 read 4 0x44"]], 80)
        assert (mine[2].data, others[0].data) == (read, in_memory), (operation, hex(address))
        assert [not a.error for a in mine] == [True] * 3 and (mine[2].cycle > 60) == fetched
        assert machine.last.counted("cache.controller").get("maintained", 0) == int(fetched)
        found = fetched or operation == WRITE_BACK
        assert [told[1] for told in happened(machine.last, "maintain")] == [address] * found


@seldom
def test_maintenance_of_a_write_through_cache(bench: Bench) -> None:
    """What is in memory is seen once the line is invalidated, and behind a cache the operation goes on to the next one."""
    machine = cache(bench, "line = 16; sets = 2;", sources=2)
    script = ["0 read 4 0x44", "30 read 4 0x44", f"40 maintain 1 0x40 {INVALIDATE}", "60 read 4 0x44"]
    mine, _ = machine.play([script, ["20 write 4 0x44 9"]], 80)
    assert [a.data for a in mine] == [0, 0, 0, 9]
    text = """
        instance near : cache { line = 16; sets = 2; };
        instance next : cache { width = 64; line = 16; sets = 8; };
        instance memory : memory_state { size = 4 KiB; };
        requester[0].memory -> near.in;
        near.memory -> next.in;
        next.memory -> memory.port;
        requester[1].memory -> memory.port;
        """
    stacked = Memory(bench, text, 2, body="if (i == 0) requester[i].width = 32; else requester[i].width = 64;")
    mine, _ = stacked.play([script, ["20 write 4 0x44 9"]], 80)
    assert [a.data for a in mine] == [0, 0, 0, 9]


@pytest.mark.parametrize("order", sampled(["little", "big"], 2, 1))
def test_snooped_writes_invalidate_the_line(bench: Bench, order: str) -> None:
    machine = cache(bench, BUFFER, extra="memory.snoop -> cache.snoop;", order=order, sources=2)
    script = ["0 read 4 16", "5 read 4 16", "11 read 4 16", "15 read 4 16"]
    cached, _ = machine.play([script, ["8 write 1 19 0x99", "13 write 4 32 1"]], 40)
    value = 0x99 if order == "big" else 0x99000000
    assert [(a.cycle, a.data) for a in cached] == [(2, 0), (5, 0), (13, value), (15, value)]
    assert machine.last.stat("cache.controller", "invalidations") == 1


@seldom
def test_a_write_snooped_during_the_fill_invalidates_the_filled_line(bench: Bench) -> None:
    machine = cache(bench, "line = 32; sets = 1;", extra="memory.snoop -> cache.snoop;", sources=2)
    script = ["0 read 4 0", "20 read 4 0"]
    cached, _ = machine.play([script, ["4 write 4 0 5"]], 40)
    assert [(a.cycle, a.data) for a in cached] == [(2, 0), (22, 5)]


@seldom
def test_a_write_over_more_lines_than_there_are_sets_is_snooped(bench: Bench) -> None:
    """Eight bytes of two lines: the later of them, the earlier of them, none of them, and one that is being filled."""
    extra = "memory.snoop -> cache.snoop;" + collect("cache.controller", "invalidate(address)")
    machine = cache(bench, BUFFER, extra=extra, sources=2)
    script = ["0 read 4 8", "11 read 4 8", "20 read 4 0x40", "31 read 4 0x40", "40 read 4 0x40", "45 read 4 0x80", "55 read 4 0x80"]
    writes = ["8 write 8 4 0xffffffffffffffff", "28 write 8 0x44 1", "37 write 8 0x4c 1", "46 write 8 0x7c 0x500000000"]
    cached, _ = machine.play([script, writes], 70)
    assert [(a.cycle, a.data) for a in cached] == [(2, 0), (13, 0xFFFFFFFF), (22, 0), (33, 0), (40, 0), (47, 5), (57, 5)]
    assert machine.last.stat("cache.controller", "invalidations") == 2, "of lines that were there"
    assert happened(machine.last, "invalidate") == [(8, 8), (28, 0x40)]


def test_a_barrier_waits_for_the_fill_and_for_writes_on_their_way(bench: Bench) -> None:
    machine = cache(bench, "line = 32; sets = 4;")
    [replies] = machine.play([["0 read 4 0 0 1", "0 barrier 4 0 0 2", "0 read 4 4 0 3"]], 40, outstanding=4)
    assert [(a.cycle, a.tag) for a in replies] == [(2, 1), (8, 2), (9, 3)]
    [replies] = machine.play([["0 write 4 0 0 1", "0 write 4 8 0 2", "0 barrier 4 0 0 3"]], 40, {"delay.latency": 9}, outstanding=4)
    assert [(a.cycle, a.tag) for a in replies] == [(0, 1), (11, 2), (32, 3)]


@seldom
def test_own_writes_need_not_invalidate_the_line(bench: Bench) -> None:
    body = BUFFER + "is_own_write = <<< return tag == 3; >>>;"  # the tag of writes of a one-beat cache
    machine = cache(bench, body, extra="memory.snoop -> cache.snoop;")
    [replies] = machine.play([["0 read 4 0", "5 write 4 0 9", "9 read 4 0"]], 40)
    assert [(a.cycle, a.data) for a in replies] == [(2, 0), (5, 0), (9, 9)]


@seldom
def test_invalidate_all_invalidates_everything(bench: Bench) -> None:
    extra = "instance f : source; f.out -> cache.invalidate_all : bool;"
    machine = cache(bench, "line = 16; sets = 2;", extra=extra)
    settings = {"f.script": "invalidate.txt"}
    files = {"invalidate.txt": "12 true\n20 false\n"}
    [replies] = machine.play(
        [["0 read 4 0", "6 read 4 16", "11 read 4 0", "13 read 4 0", "22 read 4 4"]], 40, settings, files=files
    )
    assert timing(replies) == [2, 8, 11, 15, 22]


@seldom
def test_what_is_not_cacheable_passes(bench: Bench) -> None:
    body = BUFFER + "cacheable = <<< return address < 0x800; >>>;"
    machine = cache(bench, body, sources=2)
    script = ["0 read 4 0x900", "5 read 4 0x900", "9 write 4 0x900 5", "13 read 4 0x900"]
    cached, _ = machine.play([script, ["3 write 4 0x900 1"]], 40)
    assert [(a.cycle, a.data) for a in cached] == [(2, 0), (7, 1), (11, 0), (15, 5)]
    assert machine.last.stat("cache.controller", "bypassed") == 4


def test_least_recently_used_is_given_up(bench: Bench) -> None:
    machine = cache(bench, "line = 8; sets = 1; ways = 2;")
    script = ["0 read 4 0", "10 read 4 8", "20 read 4 0", "30 read 4 16", "40 read 4 0", "50 read 4 8"]
    [replies] = machine.play([script], 70)
    assert [a.cycle % 10 for a in replies] == [2, 2, 0, 2, 0, 2]


@seldom
@pytest.mark.parametrize("ways", sampled([3, 8], 2))
def test_any_order_of_use_is_remembered(bench: Bench, ways: int) -> None:
    """Against a list of the lines in the order of their latest uses, in two sets."""
    machine, rng = cache(bench, f"line = 8; sets = 2; ways = {ways};"), random.Random(7)
    lines = [rng.randrange(3 * ways) for _ in range(300)]
    [replies] = machine.play([[f"{10 * k} read 4 {8 * line}" for k, line in enumerate(lines)]], 3010)
    recent: tuple[list[int], list[int]] = ([], [])
    for line, reply in zip(lines, replies, strict=True):
        held = recent[line % 2]
        assert (reply.cycle % 10 == 0) == (line in held), line
        if line in held:
            held.remove(line)
        held[:] = [line, *held][:ways]


@seldom
def test_random_replacement_gives_up_different_ways(bench: Bench) -> None:
    machine = cache(bench, "line = 8; sets = 1; ways = 4; replacement = cache_replacement.random;")
    script = [f"{10 * k} read 4 {8 * (k % 5)}" for k in range(200)]
    [replies] = machine.play([script], 2010)
    hits = machine.last.stat("cache.controller", "hits")
    assert 60 < hits < 160  # least recently used would never hit
    assert len(replies) == 200


@seldom
def test_a_write_back_cache_writes_when_it_gives_up(bench: Bench) -> None:
    machine = cache(bench, "line = 16; sets = 1; ways = 1; write_back = true; write_allocate = true;", sources=2)
    script = ["0 write 4 4 0x77", "20 read 4 4", "30 read 4 16", "50 read 4 4"]
    cached, direct = machine.play([script, ["25 read 4 4", "45 read 4 4"]], 80)
    assert [a.data for a in cached] == [0, 0x77, 0, 0x77]
    assert [a.data for a in direct] == [0, 0x77]
    assert machine.last.stat("cache.controller", "evictions") == 1


@seldom
def test_atomic_operations_reach_the_memory(bench: Bench) -> None:
    machine = cache(bench, "line = 16; sets = 2; write_back = true; write_allocate = true;", sources=2)
    cached, direct = machine.play([["0 write 4 0 5", "20 fetch_add 4 0 2", "50 read 4 0"], ["70 read 4 0"]], 90)
    assert [a.data for a in cached] == [0, 5, 7]
    assert direct[0].data == 7


INSIDE = {
    "prefetch": PREFETCH,
    "buffer": BUFFER,
    "buffer_blocking": BUFFER + "write_buffer = 0;",
    "direct": "line = 16; sets = 4;",
    "allocate": "line = 32; sets = 2; ways = 2; write_allocate = true; write_buffer = 2;",
    "allocate_blocking": "line = 16; sets = 2; write_allocate = true; write_buffer = 0;",
    "back": "line = 16; sets = 2; ways = 2; write_back = true; write_allocate = true;",
    "back_around": "line = 32; sets = 2; ways = 1; write_back = true; write_buffer = 3; critical_first = false;",
    "odd": "line = 24; sets = 3; ways = 3; write_allocate = true;",
    "odd_back": "line = 24; sets = 5; ways = 3; write_back = true; write_allocate = true;",
    "random": "line = 8; sets = 2; ways = 4; write_back = true; write_allocate = true; replacement = cache_replacement.random;",
}
CONFIGURATIONS = INSIDE | {f"{name}_separate": body + " separate = true;" for name, body in INSIDE.items()}


@seldom
@pytest.mark.parametrize("name", sampled(INSIDE, every=8, first=4))
def test_lines_inside_or_in_a_memory_of_their_own_make_no_difference(bench: Bench, name: str) -> None:
    script = [f"{7 * k} {'write' if k % 3 == 0 else 'read'} 4 {(k * 52) % 512 & ~3} {k}" for k in range(60)]
    runs = [cache(bench, CONFIGURATIONS[name + end]).play([script], 3000) for end in ("", "_separate")]
    assert len(runs[0][0]) == 60 and runs[0] == runs[1]


@pytest.mark.parametrize(("name", "order"), sampled(product(CONFIGURATIONS, ("little", "big")), every=14))
def test_a_cache_never_changes_what_is_read(bench: Bench, name: str, order: str) -> None:
    """Random requests, some atomic, with refusals, jitter and cancelled requests, against plain bytes."""
    machine = cache(bench, CONFIGURATIONS[name], order=order)
    for seed in range(3):
        rng, model, script, expected = random.Random(seed), Bytes(512, order), [], []
        for k in range(500):
            size = rng.choice([1, 2, 4])
            address = (
                rng.randrange(0, 512 // size) * size if rng.random() < 0.5 else rng.randrange(0, 96 // size) * size
            )
            value, sign, kind = rng.getrandbits(32), rng.random() < 0.3, rng.random()
            if kind < 0.35:
                model.write(address, size, value)
                script.append(f"{k} write {size} {address} {value:#x} {k}")
                expected.append((k, 0))
            elif kind < 0.4:
                expected.append((k, model.read(address, size)))
                model.write(address, size, model.read(address, size) + value)
                script.append(f"{k} fetch_add {size} {address} {value:#x} {k}")
            elif kind < 0.45:
                keeps = (1 | 4 | 8, 1 | 4, 4 | 8 | 2, 4, 4 | 8)  # what changes nothing that is read
                script.append(f"{k} maintain 1 {address} {rng.choice(keeps)} {k}")
                expected.append((k, 0))
            else:
                script.append(f"{k} read {'-' if sign else ''}{size} {address} 0 {k}")
                expected.append((k, model.read(address, size, sign, width=32)))
        settings = {"delay.jitter": 4, "delay.refuse": 0.2, "requester[0].offer": 0.9, "requester[0].cancel": 0.2}
        [replies] = machine.play([script], 60000, settings, outstanding=4, seed=seed)
        assert [(a.tag, a.data) for a in replies] == expected, f"seed {seed}"


# What happens between load_linked of 0x44 and store_conditional of 0x48: by the requester, by another, and whether the link stands.
BETWEEN = {
    "nothing": ([], [], True),
    "own_write": (["20 write 4 0x44 5"], [], True),
    "own_read": (["20 read 4 0x84"], [], True),
    "line_is_given_up": (["20 read 4 0x4", "24 read 4 0x84", "28 read 4 0x104"], [], True),
    "another_link": (["20 load_linked 4 0x60"], [], False),
    "the_same_link": (["20 load_linked 4 0x4c"], [], True),
    "another_stores": (["20 store_conditional 4 0x44 1"], [], False),
    "stores_elsewhere": (["20 store_conditional 4 0x60 1"], [], False),
    "write_of_another": ([], ["20 write 4 0x4c 1 99"], False),
    "write_of_another_across": ([], ["20 write 8 0x3c 1 99"], False),
    "write_of_another_elsewhere": ([], ["20 write 4 0x50 1 99"], True),
    "unlinked": ([], ["30 read 4 0x50"], True),
}
LINKING = {
    "through": "", "blocking": "write_buffer = 0;", "allocate": "ways = 2; write_allocate = true;", "back": "write_back = true; write_allocate = true;",
}  # fmt: skip


@pytest.mark.parametrize(("name", "separate"), sampled(product(LINKING, (False, True)), every=6, first=3))
def test_a_store_conditional_stores_while_its_link_is_valid(bench: Bench, name: str, separate: bool) -> None:
    """Links are kept here: whoever asks memory meanwhile finds no reservation there."""
    body = f"line = 16; sets = 4; links = true; is_own_write = <<< return tag != 99; >>>; {LINKING[name]} separate = {str(separate).lower()};"
    machine = cache(bench, body, sources=2, extra="memory.snoop -> cache.snoop; instance f : source; f.out -> cache.unlink : bool;")
    for between, (mine, others, stands) in BETWEEN.items():
        script = ["0 load_linked 4 0x44 0 1", *mine, "40 store_conditional 4 0x48 7 2", "60 store_conditional 4 0x48 9 3", "80 read 4 0x48 0 4"]
        for unlink in (False, True):
            unlinks = "32 false\n" + ("35 true\n" if unlink else "")
            replies, _ = machine.play([script, others], 120, {"f.script": "unlink.txt"}, files={"unlink.txt": unlinks})
            stored = stands and not unlink
            assert [a.data for a in replies if a.tag >= 2] == [int(stored), 0, 7 if stored else 0], (between, unlink)


@seldom
def test_links_of_what_is_not_cacheable_are_of_memory(bench: Bench) -> None:
    body = BUFFER + "links = true; cacheable = <<< return address < 0x800; >>>;"
    machine = cache(bench, body, extra="instance f : source; f.out -> cache.unlink : bool;")
    script = ["0 load_linked 4 0x900", "20 store_conditional 4 0x900 5", "30 read 4 0x900", "40 store_conditional 4 0x900 6"]
    [replies] = machine.play([script], 60, {"f.script": "unlink.txt"}, files={"unlink.txt": "10 true\n"})
    assert [a.data for a in replies] == [0, 1, 5, 0]


@pytest.mark.parametrize("name", sampled(CONFIGURATIONS, every=14, first=8))
def test_random_links(bench: Bench, name: str) -> None:
    """Against plain bytes and the number of the linked line, with refusals and jitter."""
    machine = cache(bench, CONFIGURATIONS[name] + " links = true;")
    size = int(CONFIGURATIONS[name].split("line = ")[1].split(";")[0])
    for seed in range(2):
        rng, model, script, expected, link = random.Random(seed), Bytes(512), [], [], -1
        for k in range(400):
            address, value, op = 4 * rng.randrange(24), rng.getrandbits(32), rng.choice(("read", "write", "load_linked", "store_conditional"))
            script.append(f"{k} {op} 4 {address} {value:#x} {k}")
            stores = op == "write" or (op == "store_conditional" and link == address // size)
            expected.append((k, model.read(address, 4) if op in ("read", "load_linked") else int(stores and op != "write")))
            if stores:
                model.write(address, 4, value)
            link = address // size if op == "load_linked" else -1 if op == "store_conditional" else link
        settings = {"delay.jitter": 4, "delay.refuse": 0.2, "requester[0].offer": 0.9, "requester[0].cancel": 0.2}
        [replies] = machine.play([script], 60000, settings, outstanding=4, seed=seed)
        assert [(a.tag, a.data) for a in replies] == expected, f"seed {seed}"


# Memory behind each cache ends in the middle of a line: 0x300 to 0x30f are its last bytes, 0x310 to 0x31f reply with an error.
FAILING = {
    "through": "line = 32; sets = 2; ways = 2;",
    "through_blocking": "line = 32; sets = 2; write_buffer = 0;",
    "allocate": "line = 32; sets = 2; write_allocate = true;",
    "allocate_blocking": "line = 32; sets = 2; write_allocate = true; write_buffer = 0;",
    "back": "line = 32; sets = 2; ways = 2; write_back = true; write_allocate = true;",
    "back_in_order": "line = 32; sets = 1; ways = 1; write_back = true; write_allocate = true; critical_first = false;",
    "one_beat": "line = 8; sets = 4;",
    "back_one_beat": "line = 8; sets = 2; write_back = true; write_allocate = true;",
}
FAILING |= {f"{name}_separate": body + " separate = true;" for name, body in FAILING.items()}


def failing(bench: Bench, bodies: Collection[str] = FAILING.values()) -> Memory:
    """All of these caches in one machine, each with a requester and a memory of its own."""
    parts = "".join(
        f"""
instance cache_{i} : cache {{ {body} }};
instance delay_{i} : memory_delay {{ depth = 20; jitter = jitter; refuse = refuse; }};
instance memory_{i} : memory_state {{ size = 784 B; }};
requester[{i}].memory -> cache_{i}.in;
cache_{i}.memory -> delay_{i}.in;
delay_{i}.out -> memory_{i}.port;
"""
        for i, body in enumerate(bodies)
    )
    before = "runtime parameter jitter = 0 : int; runtime parameter refuse = 0.0 : float;\n"
    return Memory(bench, parts, len(bodies), body="requester[i].width = 32;", before=before)


def writes_wait(body: str) -> bool:
    """Whether a write to what the cache does not hold is answered by memory, and so can fail."""
    return "write_allocate" in body or "write_buffer = 0" in body


@seldom
def test_an_error_of_memory_reaches_the_requester_and_nothing_is_kept(bench: Bench) -> None:
    """Reads of what exists are right though their line is not whole, reads beyond are errors, again and again; a write beyond is
    an error where the requester waits for memory, and a write to what exists gets there."""
    machine = failing(bench)
    reads = [
        "0 read 4 0x310 0 1",  # the missing part first
        "0 read 4 0x300 0 2",  # while the fill goes on
        "0 read 4 0x318 0 3",
        "40 read 4 0x310 0 4",  # not kept
        "80 write 4 0x304 0x55 5",
        "120 read 4 0x304 0 6",
        "160 read 4 0x308 0 7",
        "160 read 4 0x314 0 8",  # joins the fill
        "200 read 4 0x800 0 9",  # nothing of this line exists
        "240 read 4 0 0 10",
    ]
    beyond = ["280 write 4 0x31c 1 11", "320 write 4 0x800 1 12"]
    after = ["360 write 4 0x20 0x99 13", "400 read 4 0x310 0 14", "440 read 4 0x20 0 15"]  # a dirty line is evicted
    scripts = [reads + (beyond if writes_wait(body) else []) + after for body in FAILING.values()]
    for seed, jitter in ((1, 0), (2, 5)):
        played = machine.play(scripts, 700, {"jitter": jitter}, outstanding=3, seed=seed)
        for (name, body), script, replies in zip(FAILING.items(), scripts, played, strict=True):
            assert [a.tag for a in replies] == [int(line.split()[-1]) for line in script], name
            wrong = {1, 3, 4, 8, 9, 14} | ({11, 12} if writes_wait(body) else set())
            assert {a.tag for a in replies if a.error} == wrong, name
            right = {a.tag: a.data for a in replies if a.tag in (2, 6, 7, 10, 15)}
            assert right == {2: 0, 6: 0x55, 7: 0, 10: 0, 15: 0x99}, name


@seldom
def test_random_requests_where_half_of_a_line_is_missing(bench: Bench) -> None:
    """Against plain bytes: an error exactly where there is no memory, everything else as if nothing had failed."""
    machine = failing(bench)
    for seed in range(3):
        scripts, expected = [], []
        for number, body in enumerate(FAILING.values()):
            rng, model, script, replies = random.Random(100 * seed + number), Bytes(0x310), [], []
            for k in range(300):
                address, value = rng.choice([rng.randrange(0x2E0, 0x340), rng.randrange(0x40)]) & ~3, rng.getrandbits(32)
                missing = address >= 0x310
                if rng.random() < 0.4 and (writes_wait(body) or not missing):
                    if not missing:
                        model.write(address, 4, value)
                    script.append(f"{k} write 4 {address} {value:#x} {k}")
                    replies.append((k, missing, 0))
                else:
                    script.append(f"{k} read 4 {address} 0 {k}")
                    replies.append((k, missing, 0 if missing else model.read(address, 4)))
            scripts.append(script)
            expected.append(replies)
        settings: dict[str, object] = {"jitter": 4, "refuse": 0.2}
        settings |= {f"requester[{i}].cancel": 0.2 for i in range(len(FAILING))}
        played = machine.play(scripts, 12000, settings, outstanding=4, seed=seed)
        for name, replies, want in zip(FAILING, played, expected, strict=True):
            assert [(a.tag, a.error, 0 if a.error else a.data) for a in replies] == want, f"{name}, seed {seed}"


def test_a_refused_posted_write_ends_the_run_or_is_counted(bench: Bench) -> None:
    machine = failing(bench, [FAILING["through"]])
    scripts = [["0 write 4 0x31c 1", "30 write 4 0x10 5", "60 read 4 0x10"]]
    machine.play(scripts, 60, ok=False)
    assert "a write failed: nothing responds at address 0x0000031c" in machine.last.err
    name = machine.last.err.split("error: ", 1)[1].split(": ", 1)[0]
    replies = machine.play(scripts, 100, {f"{name}.on_memory_error": "drop"})[0]
    assert [(a.error, a.data) for a in replies] == [(False, 0), (False, 0), (False, 5)]
    assert machine.last.stat(name, "memory_errors") == 1 and f"warning: {name}: a write failed: nothing responds at address 0x0000031c" in machine.last.err


BACK = "line = 16; sets = 2; ways = 2; write_back = true; write_allocate = true;"
# Behind an arbiter, the lowest bit of a tag tells the cache (0) from the other writer.
SHARED = """
instance cache : cache {{ big_endian = {big}; {body} is_own_write = <<< return (tag & 1) == 0; >>>; cacheable = <<< return address < 0x800; >>>; }};
instance arbiter : memory_arbiter;
instance delay : memory_delay {{ depth = 20; }};
instance memory : memory_state {{ size = 4 KiB; big_endian = {big}; }};
requester[0].memory -> cache.in;
cache.memory -> arbiter.in;
requester[1].memory -> arbiter.in;
arbiter.out -> delay.in;
delay.out -> memory.port;
memory.snoop -> cache.snoop;
"""


def shared(bench: Bench, body: str = BACK, order: str = "little", extra: str = "") -> Memory:
    text = SHARED.format(big=str(order == "big").lower(), body=body) + extra
    return Memory(bench, text, 2, body="if (i == 0) requester[i].width = 32; else requester[i].width = 64;")


@seldom
@pytest.mark.parametrize("order", sampled(["little", "big"], 2))
def test_a_snooped_write_keeps_what_the_requester_changed_elsewhere_in_the_line(bench: Bench, order: str) -> None:
    """Bytes 1 and 6 of a line are changed here, byte 2 by another: all three are in memory, and what is read again is up to date."""
    machine = shared(bench, order=order)
    mine = ["0 write 1 1 0x11", "6 write 1 6 0x66", "60 read 1 1", "70 read 1 2", "80 read 1 6"]
    cached, direct = machine.play([mine, ["20 write 1 2 0x22", *(f"50 read 1 {k}" for k in range(8))]], 120)
    assert [a.data for a in cached[2:]] == [0x11, 0x22, 0x66]
    assert [a.data for a in direct[1:]] == [0, 0x11, 0x22, 0, 0, 0, 0x66, 0]
    assert machine.last.stat("cache.controller", "invalidations") == 1


def test_of_two_writes_to_one_byte_the_snooped_one_remains(bench: Bench) -> None:
    cached, direct = shared(bench).play([["0 write 4 0 0x1111", "40 read 4 0"], ["20 write 2 0 0x22", "60 read 4 0"]], 90)
    assert (cached[1].data, direct[1].data) == (0x22, 0x22)


def test_a_clean_line_is_invalidated_without_a_write(bench: Bench) -> None:
    machine = shared(bench)
    cached, _ = machine.play([["0 read 4 0", "40 read 4 0"], ["20 write 4 4 1"]], 60)
    assert len(cached) == 2 and machine.last.stat("cache.controller", "evictions") == 0


@seldom
def test_own_write_backs_do_not_disturb(bench: Bench) -> None:
    """A line that is evicted, fetched again and changed again keeps the new change while its first write-back is announced."""
    mine = ["0 write 4 0 1", "1 write 4 64 2", "2 write 4 128 3", "3 write 4 0 4", "4 write 4 64 5", "60 read 4 0", "61 read 4 64", "62 read 4 128"]
    cached, _ = shared(bench, "line = 16; sets = 1; ways = 1; write_back = true; write_allocate = true;").play([mine, []], 160)
    assert [a.data for a in cached[-3:]] == [4, 5, 3]


@seldom
def test_invalidate_all_writes_dirty_lines_back(bench: Bench) -> None:
    """An uncacheable request gets its reply after the write-backs: memory is up to date then."""
    extra = "instance f : source; f.out -> cache.invalidate_all : bool;"
    machine = shared(bench, extra=extra)
    mine = [*(f"0 write 4 {16 * k} {k + 1}" for k in range(4)), "41 read 4 0x900", "90 read 4 0"]
    cached, direct = machine.play([mine, [f"75 read 4 {16 * k}" for k in range(4)]], 120, {"f.script": "f.txt"}, files={"f.txt": "40 true\n"})
    assert [a.data for a in direct] == [1, 2, 3, 4]
    assert cached[4].cycle > 48 and machine.last.stat("cache.controller", "evictions") == 4
    assert cached[5].data == 1 and machine.last.stat("cache.controller", "misses") == 5


@seldom
def test_writes_snooped_together_stop_a_write_back_cache(bench: Bench) -> None:
    body = BACK + "is_own_write = <<< return false; >>>;"
    machine = cache(bench, body, extra="requester[1].memory -> memory.port; requester[2].memory -> memory.port; memory.snoop -> cache.snoop;", sources=3)
    machine.play([["0 write 4 0 1"], ["20 write 1 8 1"], ["20 write 1 12 1"]], 60, ok=False)
    assert "several writes snooped together hit the dirty line at 0x0" in machine.last.err


@seldom
def test_a_request_across_a_line_stops_the_run(bench: Bench) -> None:
    machine = cache(bench, "line = 8; sets = 4;")
    machine.play([["0 read 4 6"]], 10, ok=False)
    assert "a request of 4 bytes at 0x6 crosses a line of 8 bytes: the requester must make two of it" in machine.last.err


SNOOPING = {
    "back": BACK,
    "back_one": "line = 32; sets = 1; ways = 1; write_back = true; write_allocate = true; critical_first = false;",
    "back_around": "line = 16; sets = 2; ways = 1; write_back = true; write_buffer = 3;",
    "back_odd": "line = 24; sets = 3; ways = 1; write_back = true; write_allocate = true;",
    "through": "line = 16; sets = 2; ways = 2;",
    "through_allocate": "line = 32; sets = 2; ways = 1; write_allocate = true; write_buffer = 0;",
}
SNOOPING |= {f"{name}_separate": body + " separate = true;" for name, body in SNOOPING.items()}


@pytest.mark.parametrize("name", sampled(SNOOPING, every=8))
def test_two_writers_of_the_same_lines_lose_nothing(bench: Bench, name: str) -> None:
    """Every other byte belongs to the cache's requester, the rest to another that writes to memory: each reads its own bytes as it
    wrote them, and in the end, after invalidate_all, memory and cache agree on all of them."""
    machine = shared(bench, SNOOPING[name], "big", "instance f : source; f.out -> cache.invalidate_all : bool;")
    for seed in range(3):
        rng, model, scripts, expected = random.Random(seed), Bytes(192, "big"), [[], []], [[], []]
        for k in range(400):
            for who in range(2):
                address, value = rng.randrange(96) * 2 + who, rng.getrandbits(8)
                writes = rng.random() < 0.5
                if writes:
                    model.write(address, 1, value)
                scripts[who].append(f"{4 * k} {'write' if writes else 'read'} 1 {address} {value} {k}")
                expected[who].append((k, 0 if writes else model.read(address, 1)))
        scripts[0].append("9001 read 1 0x900 0 0")
        for who in range(2):
            scripts[who] += [f"{9100 + 3000 * who} read 1 {a} 0 {a}" for a in range(192)]
            expected[who] += [(a, model.read(a, 1)) for a in range(192)]
        expected[0].insert(400, (0, 0))
        settings: dict[str, object] = {"f.script": "f.txt", "delay.jitter": 3, "delay.refuse": 0.1}
        settings |= {"requester[0].cancel": 0.2, "requester[1].offer": 0.8}
        replies = machine.play(scripts, 20000, settings, outstanding=4, seed=seed, files={"f.txt": "9000 true\n"})
        assert [[(a.tag, a.data) for a in lane] for lane in replies] == expected, f"seed {seed}"
        assert machine.last.stat("cache.controller", "invalidations") > 0


@seldom
def test_addresses_of_one_cell_are_one_line(bench: Bench) -> None:
    """A memory of 4 KiB at every multiple of it: loads and stores by any of its addresses see each other at once."""
    body = BUFFER + "write_buffer = 1; canonical_address = <<< return address & 0xfff; >>>;"
    machine, rng, model = cache(bench, body, extra="memory.alias = true;\n"), random.Random(5), Bytes(4096)
    script, right = [], []
    for k in range(400):
        address, value, op = rng.randrange(6) * 4, rng.getrandbits(32), rng.choice(["read", "write"])
        script.append(f"0 {op} 4 {address + 4096 * rng.randrange(4):#x} {value} {k}")
        right.append(model.read(address, 4) if op == "read" else 0)
        if op == "write":
            model.write(address, 4, value)
    [replies] = machine.play([script], 4000)
    assert [a.data for a in replies] == right
    assert machine.last.stat("cache.controller", "hits") > 100


@seldom
@pytest.mark.parametrize("write_buffer", sampled([0, 1, 4], 3, 1))
def test_an_uncached_write_may_invalidate_lines(bench: Bench, write_buffer: int) -> None:
    """The upper half of the address space is the same memory, uncached: what is stored there is loaded at once."""
    options = f"write_buffer = {write_buffer}; post_uncacheable = true; cacheable = <<< return address < 0x1000; >>>; invalidates = <<< return address >= 0x1000; >>>;"
    machine, rng, model = cache(bench, "line = 32; sets = 2;" + options, extra="memory.alias = true;\n"), random.Random(6), Bytes(4096)
    script, right = [], []
    for k in range(400):
        address, value, op = rng.randrange(40) * 4, rng.getrandbits(32), rng.choice(["read", "read", "write"])
        script.append(f"0 {op} 4 {address + (4096 if op == 'write' and k % 3 else 0):#x} {value} {k}")
        right.append(model.read(address, 4) if op == "read" else 0)
        if op == "write":
            model.write(address, 4, value)
    [replies] = machine.play([script], 8000)
    assert [a.data for a in replies] == right
    assert machine.last.stat("cache.controller", "hits") > 50
    refused = bench.refuse("import memory_types;\ninstance c : cache { write_back = true; invalidates = <<< return false; >>>; };")
    assert "invalidates is for write-through caches" in refused
