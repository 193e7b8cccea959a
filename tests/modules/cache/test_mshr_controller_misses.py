"""The collector miss_causes: why lines of an mshr_cache missed, on a memory and on a bus."""

import random

import pytest

from tests.modules.cache.coherent import LINE, scripted
from tests.modules.cache.test_mshr_controller import machine, play
from tests.modules.harness import Bench, Memory, Ran, collect, happened
from tests.sample import sampled, seldom

CAUSES = ("compulsory", "displaced", "invalidated", "maintained", "shared", "elsewhere")
INVALIDATE = 8  # of cache_operation


def causes(ran: Ran, path: str = "cache") -> dict[str, int]:
    """Those that were seen."""
    found = {one["name"]: one["value"] for one in ran.stats["statistics"] if one["path"] == path and one["name"] in CAUSES}
    assert set(found) == set(CAUSES)
    return {name: value for name, value in found.items() if value}


def test_by_hand(bench: Bench) -> None:
    """Two lines share the only set: 0 and 64 are new, then 128 takes the place of 0, which takes that of 64; then software invalidates 0."""
    found = machine(bench, "line = 32; sets = 1; ways = 2; miss_causes = 1 KiB;", module="mshr_cache")
    addresses = [0, 64, 0, 128, 64, 2048]
    script = [f"{50 * n} read 8 {address} 0 {n}" for n, address in enumerate(addresses)]
    play(found, [*script, f"400 maintain 1 64 {INVALIDATE} 20", "450 read 8 64 0 21"], cycles=600)
    assert causes(found.last) == {"compulsory": 3, "displaced": 1, "maintained": 1, "elsewhere": 1}


def test_what_is_lost_and_what_is_done_is_reported(bench: Bench) -> None:
    """Two lines in one way; the second takes the place of the first, and software invalidates it. Behind a memory no state is told."""
    told = collect("cache", "displaced(address, tag)", "invalidated(address, maintained)", "performed(op, address, size, value)", "transition(address, next)")
    found = machine(bench, "line = 32; sets = 1; ways = 1;", more=told)
    play(found, ["0 read 8 8 0 1", "50 read 8 64 0 2", f"100 maintain 1 64 {INVALIDATE} 3"], cycles=150)
    assert [at for _, *at in happened(found.last, "displaced")] == [[0, 2]]
    assert [at for _, *at in happened(found.last, "invalidated")] == [[64, 1]]
    assert [at for _, *at in happened(found.last, "performed")] == [[0, 8, 8, 1], [0, 64, 8, 8]]
    assert happened(found.last, "transition") == []


@seldom
def test_contexts_that_share_a_cache(bench: Bench) -> None:
    """Two bits above the lowest of a tag say whose it is.  Line 0 is fetched by one and found by the other, and by itself again; line 64 of the other takes its
    place, and that is the first's next miss; then the first displaces itself."""
    found = machine(bench, "line = 32; sets = 1; ways = 1; miss_causes = 1 KiB; contexts = 3; context_bit = 1;", module="mshr_cache")
    accesses = [(0, 0), (0, 2), (0, 2), (0, 1), (64, 2), (0, 0), (128, 0), (0, 0)]
    play(found, [f"{50 * n} read 8 {address} 0 {context << 1}" for n, (address, context) in enumerate(accesses)], cycles=500)
    assert causes(found.last) == {"compulsory": 3, "displaced": 2}
    assert [found.last.stat("cache", name) for name in ("interthread", "avoided")] == [1, 2]


@pytest.mark.parametrize("ways", sampled([1, 2, 4], 3, 1))
def test_against_a_list(ways: int, bench: Bench) -> None:
    """Random reads and writes: what a list of each set's lines, the latest used last, says of each."""
    print(f"seed {ways}")
    rng, sets, script = random.Random(ways), 4, []
    kept: list[list[int]] = [[] for _ in range(sets)]
    seen: set[int] = set()
    expected = {"compulsory": 0, "displaced": 0}
    for n in range(300):
        number = rng.randrange(4 * sets * ways)
        script.append(f"{30 * n} {rng.choice(['read', 'write'])} 8 {number * 8} {n} {n}")
        lines = kept[number % sets]
        if number in lines:
            lines.remove(number)
        else:
            expected["displaced" if number in seen else "compulsory"] += 1
            seen.add(number)
        kept[number % sets] = [*lines, number][-ways:]
    found = machine(bench, f"line = 8; sets = {sets}; ways = {ways}; miss_causes = 4 KiB;", module="mshr_cache")
    play(found, script, cycles=9500)
    assert causes(found.last) == expected
    assert sum(expected.values()) == found.last.stat("cache.controller", "misses")


def on_a_bus(bench: Bench) -> Memory:
    return scripted(bench, cache="sets = 1; ways = 2; miss_causes = 4 KiB;", module="mshr_cache")


@seldom
def test_on_a_bus(bench: Bench) -> None:
    """A line that is read beside another's copy is upgraded; one that the other has written is fetched again for that; then it makes room."""
    machine = on_a_bus(bench)
    first = ["0 read 8 0", "200 write 8 0 1", "600 read 8 0", *(f"{800 + 100 * n} read 8 {LINE * n}" for n in (1, 2)), "1200 read 8 0"]
    second = ["100 read 8 0", "400 write 8 0 2"]
    replies = machine.play([first, second, []], 1400)
    assert [a.data for a in replies[0]] == [0, 0, 2, 0, 0, 2]
    assert causes(machine.last, "cache[0]") == {"compulsory": 3, "shared": 1, "invalidated": 1, "displaced": 1}
    assert causes(machine.last, "cache[1]") == {"compulsory": 1, "invalidated": 1}
