"""issue_queue: who is granted when, by age; wake-ups before, in and after the cycle of entry; promises in vain; squashes."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import LOAD, Wide, of_each, registers, renamed, renamed_group
from tests.sample import sampled, seldom

PORTS = {
    "in": ("in", 1, "renamed_group(4)"), "issue": ("out", 2, "issued"), "wakes": ("out", 2, "register_set"), "awake": ("in", 2, "register_set"),
    "cancelled": ("in", 1, "register_set"), "squash": ("in", 1, "squash_order"), "head": ("in", 1, "context_numbers"), "room": ("out", 1, "uint32"),
}  # fmt: skip
TAKES = "takes = <<< return operation_computes(control); >>>;"


def granted(seen: dict, lanes: int = 2) -> dict[int, tuple[int, int]]:
    """Age: cycle and lane."""
    return {one["age"]: (cycle, lane) for lane in range(lanes) for cycle, one in enumerate(seen[f"issue[{lane}]"]) if one}


def test_oldest_first_of_what_is_ready(bench: Bench) -> None:
    """Registers up to 31 are there from the start; what is written by what came is not."""
    device = Wide(bench, "issue_queue", PORTS, f"entries = 8; {TAKES}")
    group = renamed_group(renamed(0, dest=40, source=(1, 2)), renamed(1, dest=41, source=(40, 0)), renamed(2, LOAD, dest=42), renamed(3, dest=43, source=(3, 4)))
    more = renamed_group(renamed(4, dest=44, source=(5, 6)), renamed(5, dest=45, source=(42, 41)))
    seen = device.play({"in": {0: group, 1: more}, "awake[0]": {1: registers(40, 43), 4: registers(42, 41)}}, 7)
    assert granted(seen) == {0: (1, 0), 3: (1, 1), 1: (2, 0), 4: (2, 1), 5: (5, 0)}
    assert seen["wakes[0]"][1] == seen["wakes[1]"][1] == registers(40, 43) and seen["wakes[0]"][2] == registers(41, 44)
    assert seen["room"] == [8, 5, 3, 5, 7, 7, 7], "what was granted in the last cycle may come back"
    assert device.stat("granted") == 5


@seldom
def test_age_goes_round_the_list(bench: Bench) -> None:
    device = Wide(bench, "issue_queue", PORTS, f"list = 4; {TAKES}")
    group = renamed_group(*(renamed(age) for age in (6, 7, 8)))
    seen = device.play({"in": {0: group}, "head": of_each(dict.fromkeys(range(5), 6))}, 5)
    assert granted(seen) == {6: (1, 0), 7: (1, 1), 8: (2, 0)}


@seldom
@pytest.mark.parametrize("latency", sampled([2, 3, 5], 3, 1))
def test_long_units_wake_later(latency: int, bench: Bench) -> None:
    device = Wide(bench, "issue_queue", PORTS, f"latency = {latency}; {TAKES}")
    seen = device.play({"in": {0: renamed_group(renamed(0, dest=40)), 1: renamed_group(renamed(1, dest=41))}}, 12)
    assert granted(seen) == {0: (1, 0), 1: (2, 0)}
    woken = [cycle for cycle, one in enumerate(seen["wakes[0]"]) if one != registers()]
    assert woken == [latency, latency + 1] and seen["wakes[1]"][latency] == registers(40)


def test_what_is_dropped_wakes_nobody(bench: Bench) -> None:
    """Its register may be another instruction's long before a slow unit would be through."""
    device = Wide(bench, "issue_queue", PORTS, f"latency = 5; {TAKES}")
    group = renamed_group(renamed(0, dest=40), renamed(1, dest=41))
    seen = device.play({"in": {0: group}, "squash": {3: {"valid": 1, "age": 0}}}, 9)
    assert granted(seen) == {0: (1, 0), 1: (1, 1)}
    assert [cycle for cycle, one in enumerate(seen["wakes[0]"]) if one == registers(40)] == [5]
    assert all(one in (registers(), registers(40)) for one in seen["wakes[0]"])


@seldom
@pytest.mark.parametrize("interval", sampled([1, 2, 5], 3, 1))
def test_a_unit_that_is_busy_for_some_cycles(interval: int, bench: Bench) -> None:
    ports = PORTS | {"issue": ("out", 1, "issued")}
    device = Wide(bench, "issue_queue", ports, f"latency = 5; interval = {interval}; {TAKES}")
    group = renamed_group(*(renamed(age, dest=40 + age) for age in range(3)))
    seen = device.play({"in": {0: group}}, 14)
    assert [cycle for cycle, one in enumerate(seen["issue"]) if one] == [1, 1 + interval, 1 + 2 * interval]


def test_units_that_are_busy_have_a_queue_each(bench: Bench) -> None:
    text = f"import wide_types;\ninstance dut : issue_queue {{ interval = 2; {TAKES} }};\n"
    text += "".join(f"instance s{p} : source; s{p}.out -> dut.{p};\n" for p in ("in", "awake", "cancelled", "squash", "head"))
    text += "".join(f"instance k{n} : sink; dut.{p} -> k{n}.in;\n" for n, p in enumerate(("issue", "issue", "room", "wakes")))
    assert "units that are busy for 2 cycles have a queue each" in bench.refuse(text)


@seldom
def test_three_sources(bench: Bench) -> None:
    """Each is waited for, and each may be promised in vain."""
    device = Wide(bench, "issue_queue", PORTS, f"sources = 3; {TAKES}")
    group = renamed_group(renamed(0, LOAD, dest=40), renamed(1, dest=41, source=(1, 2, 40)), renamed(2, dest=42, source=(1, 41, 40)))
    seen = device.play({"in": {0: group}, "awake[0]": {2: registers(40), 3: registers(41), 7: registers(40), 8: registers(41)}, "cancelled": {4: registers(40, 41)}}, 11)
    grants = [(cycle, one["age"], one["source"]) for cycle, one in enumerate(seen["issue[0]"]) if one]
    assert grants == [(3, 1, [1, 2, 40]), (8, 1, [1, 2, 40]), (9, 2, [1, 41, 40])]


def test_units_that_wake_others_themselves(bench: Bench) -> None:
    device = Wide(bench, "issue_queue", PORTS, f"latency = 0; {TAKES}")
    seen = device.play({"in": {0: renamed_group(renamed(0, dest=40))}}, 4)
    assert granted(seen) == {0: (1, 0)} and all(one == registers() for one in seen["wakes[0]"])


@seldom
def test_promises_in_vain(bench: Bench) -> None:
    """Granted on a promise in cycle 2, taken back in 3, granted again when the register comes; its own promise is one in vain."""
    device = Wide(bench, "issue_queue", PORTS, TAKES)
    group = renamed_group(renamed(0, LOAD, dest=40), renamed(1, dest=41, source=(40, 0)), renamed(2, dest=42, source=(41, 0)), renamed(3, source=(1, 1), dest=43))
    seen = device.play({
        "in": {0: group}, "awake[0]": {1: registers(40, 43), 2: registers(41), 6: registers(40), 7: registers(41)}, "cancelled": {3: registers(40, 41)},
    }, 10)  # fmt: skip
    grants = [(cycle, one["age"]) for cycle, one in enumerate(seen["issue[0]"]) if one]
    assert grants == [(1, 3), (2, 1), (7, 1), (8, 2)]
    assert (device.stat("granted"), device.stat("retaken")) == (4, 1)
    assert seen["room"] == [16, 13, 13, 14, 14, 14, 14, 14, 14, 15]


def test_squash(bench: Bench) -> None:
    """What is younger is neither granted nor kept, and who waited for a register does not wait for it any more."""
    device = Wide(bench, "issue_queue", PORTS, TAKES)
    group = renamed_group(renamed(0, dest=40, source=(40, 0)), renamed(1, dest=41, source=(40, 0)), renamed(2, dest=42))
    seen = device.play({"in": {0: group, 1: renamed_group(renamed(3))}, "squash": {1: {"valid": 1, "age": 0}}, "awake[0]": {3: registers(40)}}, 6)
    assert granted(seen) == {0: (4, 0)} and seen["room"] == [16, 13, 15, 15, 15, 15] and device.stat("squashed") == 2


@seldom
def test_another_choice(bench: Bench) -> None:
    """The youngest first."""
    device = Wide(bench, "issue_queue", PORTS, f"{TAKES} choose = <<< return (uint32_t)(63 - __builtin_clzll(ready)); >>>;")
    group = renamed_group(*(renamed(age) for age in range(4)))
    assert granted(device.play({"in": {0: group}}, 4)) == {3: (1, 0), 2: (1, 1), 1: (2, 0), 0: (2, 1)}


@pytest.mark.parametrize("count", sampled([2, 3], 2, 1))
@pytest.mark.parametrize("seed", range(3))
def test_random_dependences(seed: int, count: int, bench: Bench) -> None:
    """All are granted once, none before what it reads was woken, and of two that are ready the older first."""
    ports = PORTS | {name: (direction, lanes, type_.replace("(4)", "(4, 2)").replace("_set", "_set(2)")) for name, (direction, lanes, type_) in PORTS.items()}
    device = Wide(bench, "issue_queue", ports, f"list = 16; registers = 128; entries = 16; sources = {count}; {TAKES}")
    r, cycles = random.Random(seed), 200
    inputs: dict[str, dict[int, object]] = {"in": {}, "head": of_each(dict.fromkeys(range(cycles), 0)), "awake[0]": {}}
    woken, age, sources, came = {n: -1 for n in range(32)}, 0, {}, {}
    for cycle in range(3):
        ops = []
        for _ in range(4):
            sources[age], came[age] = [r.choice(sorted(woken)) for _ in range(count)], cycle
            ops.append(renamed(age, dest=32 + age, source=tuple(sources[age])))
            woken[32 + age] = cycles
            age += 1
        inputs["in"][cycle] = renamed_group(*ops, words=2)
    for number in range(32, 32 + age):
        woken[number] = r.randrange(3, 60)
        inputs["awake[0]"].setdefault(woken[number], []).append(number)  # type: ignore[attr-defined, union-attr]
    inputs["awake[0]"] = {cycle: registers(*numbers, words=2) for cycle, numbers in inputs["awake[0]"].items()}  # type: ignore[misc]
    seen = granted(device.play(inputs, cycles))
    ready = {a: max(came[a], *(woken[s] for s in sources[a])) + 1 for a in sources}
    expected, free = {}, {}
    for cycle in range(cycles):
        for a in sorted(a for a in ready if a not in expected and ready[a] <= cycle):
            if free.get(cycle, 0) < 2:
                expected[a] = (cycle, free.get(cycle, 0))
                free[cycle] = free.get(cycle, 0) + 1
    assert seen == expected and len(seen) == age


def test_lists_are_powers_of_two(bench: Bench) -> None:
    text = f"import wide_types;\ninstance dut : issue_queue {{ list = 24; {TAKES} }};\n"
    text += "".join(f"instance s{p} : source; s{p}.out -> dut.{p};\n" for p in ("in", "awake", "cancelled", "squash", "head"))
    text += "".join(f"instance k{p} : sink; dut.{p} -> k{p}.in;\n" for p in ("issue", "room"))
    assert "an active list needs a power-of-two number of entries, not 24" in bench.refuse(text)


SHARED = PORTS | {
    "in": ("in", 1, "renamed_group(4, 2)"), "wakes": ("out", 2, "register_set(2)"), "awake": ("in", 2, "register_set(2)"), "cancelled": ("in", 1, "register_set(2)"),
    "head": ("in", 1, "context_numbers(2)"), "waiting": ("out", 1, "uint64"),
}  # fmt: skip
TWO = f"contexts = 2; registers = 96; entries = 4; {TAKES}"


def both(*ops: dict) -> dict:
    return renamed_group(*ops, words=2)


def heads(cycles: int, first: int = 0, second: int = 1) -> dict[int, object]:
    return {cycle: {"of": [first, second]} for cycle in range(cycles)}


@seldom
def test_who_came_first_goes_first(bench: Bench) -> None:
    """Of two contexts, whatever their ages are; entries are for both."""
    device = Wide(bench, "issue_queue", SHARED, TWO)
    group = both(renamed(2 * 30 + 1, dest=70), renamed(2 * 4, dest=71), renamed(2 * 31 + 1, dest=72), renamed(2 * 5, dest=73, source=(72, 0)))
    seen = device.play({"in": {0: group}, "head": heads(6, 8, 61), "awake[0]": {1: registers(70, 71, words=2), 2: registers(72, words=2)}}, 6)
    assert granted(seen) == {61: (1, 0), 8: (1, 1), 63: (2, 0), 10: (3, 0)}
    assert seen["room"] == [4, 0, 0, 2, 3, 4] and seen["waiting"] == [0, 2 | 2 << 8, 1 | 1 << 8, 1, 0, 0]


def test_a_squash_is_of_one_context(bench: Bench) -> None:
    """What is younger of the other stays, also what comes in the cycle of the squash, and what it waits for."""
    device = Wide(bench, "issue_queue", SHARED, TWO)
    first = both(renamed(0, dest=70, source=(80, 0)), renamed(1, dest=71, source=(81, 0)), renamed(2, dest=72, source=(80, 0)))
    more = both(renamed(4, dest=73), renamed(3, dest=74))
    awake = {4: registers(80, words=2), 5: registers(81, words=2)}
    seen = device.play({"in": {0: first, 1: more}, "head": heads(9), "squash": {1: {"valid": 1, "age": 0}}, "awake[0]": awake}, 9)
    assert granted(seen) == {3: (2, 0), 0: (5, 0), 1: (6, 0)} and seen["room"] == [4, 1, 1, 1, 2, 2, 2, 3, 4]


def test_promises_in_vain_of_two_contexts(bench: Bench) -> None:
    """Each is taken back, and waits again."""
    device = Wide(bench, "issue_queue", SHARED, TWO)
    group = both(renamed(0, LOAD, dest=70), renamed(1, LOAD, dest=71), renamed(2, dest=72, source=(70, 0)), renamed(3, dest=73, source=(71, 0)))
    awake = {1: registers(70, 71, words=2), 6: registers(71, words=2), 7: registers(70, words=2)}
    seen = device.play({"in": {0: group}, "head": heads(10), "awake[0]": awake, "cancelled": {3: registers(70, 71, 72, 73, words=2)}}, 10)
    assert [(cycle, lane, one["age"]) for lane in range(2) for cycle, one in enumerate(seen[f"issue[{lane}]"]) if one] == [(2, 0, 2), (7, 0, 3), (8, 0, 2), (2, 1, 3)]
    assert (device.stat("granted"), device.stat("retaken")) == (4, 2)
