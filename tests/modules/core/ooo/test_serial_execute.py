"""serial_execute: when it begins, what it makes of a request, and what it says of what became of it; of several contexts each goes its own way."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide, completions, registers
from tests.sample import seldom

PORTS = {
    "in": ("in", 1, "serial_request"), "drained": ("in", 1, "bool"), "registers.numbers": ("out", 1, "register_numbers"), "registers.values": ("in", 1, "register_values"),
    "out": ("out", 1, "core_executed"), "finished": ("in", 1, "core_finished"), "kill": ("in", 1, "bool"), "restart": ("in", 1, "core_restart"),
    "results": ("out", 1, "result"), "wakes": ("out", 2, "register_set"), "done": ("out", 1, "completion"), "order": ("out", 1, "serial_order"),
}  # fmt: skip
MEMORY = {7: "store", 8: "load", 9: "conditional", 10: "barrier"}  # words that refer to it
SERIALIZES, KEEPS = (10, 11, 12), (10, 12)
DECODE = (
    "pipeline_control = <<< static const memory_access of[16] = {" + ", ".join(f"[{word}] = memory_access_{mem}" for word, mem in MEMORY.items()) + "}; "
    "return control_word_of_mem(word < 16 ? of[word] : memory_access_none) | control_word_of_dest(32) | "
    f"control_word_of_serializes(word >= {SERIALIZES[0]} && word <= {SERIALIZES[-1]}) | control_word_of_keeps(word == {KEEPS[0]} || word == {KEEPS[1]}); >>>;"
)
REQUEST = {"valid": 1, "cause": "system", "dest": 50, "source": [3, 4], "age": 9, "pc": 64, "word": 99, "immediate": 16}
LONG = 5000  # cycles: sinks that refuse by a pattern do not sleep, which is checked in shorter runs
NOTHING = {"valid": 0, "commits": 0, "single": 0, "drops": 0, "next": 0, "pc": 0, "hold": 0}


def served(bench: Bench) -> Wide:
    return Wide(bench, "serial_execute", PORTS, DECODE)


def play(bench: Bench, request: dict, cycles: int, **inputs: dict[int, object]) -> dict[str, list]:
    """A request from cycle 1 on, which is granted at once and comes out in cycle 2, unless `inputs` say otherwise."""
    device = served(bench)
    return device.play(
        {"in": {1: request, 2: request, 3: request}, "drained": dict.fromkeys(range(cycles), 1), "registers_values": {1: {"of": [100, 200]}}} | inputs, cycles
    )  # fmt: skip


def orders(seen: dict[str, list]) -> dict[int, dict[str, int]]:
    return {
        cycle: {name: value for name, value in one.items() if value}
        for cycle, one in enumerate(seen["order"])
        if one["valid"]
    }


@seldom
def test_an_instruction_with_a_result(bench: Bench) -> None:
    """Its registers are read in the first cycle of the request, its result is shown in the cycle behind that in which it comes out, and is committed without
    dropping what is younger."""
    seen = play(bench, REQUEST, 6, finished={2: {"value": 55}})
    assert [one and one["of"] for one in seen["registers_numbers"]] == [None, [3, 4], None, None, None, None]
    item = seen["out"][2]
    assert (item["pc"], item["word"], item["result"], item["b"]) == (64, 99, 116, 200) and [
        bool(one) for one in seen["out"]
    ] == [False, False, True, False, False, False]
    assert orders(seen) == {3: {"valid": 1, "commits": 1, "next": 1}}
    assert seen["results"][3] == {"dest": 50, "value": 55} and all(
        one["dest"] == 0 for cycle, one in enumerate(seen["results"]) if cycle != 3
    )
    assert [one == registers(50) for one in seen["wakes[1]"]] == [False, False, False, True, False, False]
    assert [one["valid"] and (one["age"], one["value"], one["fault"]) for one in completions(seen["done"])][3] == (9, 55, "none")


@pytest.mark.parametrize("word", [8, 9, 10, 11])
def test_it_waits_until_stores_are_done(word: int, bench: Bench) -> None:
    """If it refers to memory, or others are fetched again after it."""
    device = served(bench)
    seen = device.play(
        {
            "in": dict.fromkeys(range(1, 8), REQUEST | {"word": word}),
            "drained": {4: 1},
            "registers_values": {4: {"of": [1, 2]}},
            "finished": {5: {}},
        },
        8,
    )
    assert [bool(one) for one in seen["out"]] == [False] * 5 + [True, False, False] and list(orders(seen)) == [6]
    assert (device.stat("dropped"), device.stat("executed")) == (0, 1)


@pytest.mark.parametrize("asked", [REQUEST, REQUEST | {"word": 12}, REQUEST | {"word": 7, "cause": "taken"}, {"valid": 1, "cause": "none", "pc": 64}])
def test_what_does_not_depend_on_memory_does_not_wait(asked: dict, bench: Bench) -> None:
    """Registers of the system, with or without what serializes, exceptions and interrupts."""
    seen = served(bench).play({"in": {1: asked, 2: asked, 3: asked}, "registers_values": {1: {"of": [1, 2]}}, "finished": {2: {}}}, 5)
    assert [bool(one) for one in seen["out"]] == [False, False, True, False, False]


@pytest.mark.parametrize(("word", "single"), [(9, 0), (10, 1), (12, 1)])
def test_what_keeps_the_younger(word: int, single: int, bench: Bench) -> None:
    """A store-conditional, of whose write the loads hear otherwise; and what serializes, if the system does not restart fetch: it is committed by itself, so
    that an interrupt that it enables is taken right after it."""
    device = served(bench)
    request = REQUEST | {"word": word}
    seen = device.play(
        {"in": {1: request, 2: request, 3: request}, "drained": dict.fromkeys(range(5), 1), "registers_values": {1: {"of": [1, 2]}}, "finished": {2: {"value": 1}}}, 5
    )  # fmt: skip
    assert orders(seen) == {3: {"valid": 1, "commits": 1, "next": 1} | ({"single": 1} if single else {})} and device.stat("dropped") == 0


def test_an_exception_drops_all_and_commits_nothing(bench: Bench) -> None:
    seen = play(bench, REQUEST | {"slot": 1}, 6, kill={2: 1}, restart={2: {"pc": 0x180}})
    assert seen["out"][2]["control"]["slot"] == 1
    assert orders(seen) == {3: {"valid": 1, "drops": 1, "pc": 0x180}} and not any(one["valid"] for one in completions(seen["done"]))


@pytest.mark.parametrize(("given", "expected"), [
    ({"pc": 0x400}, {"pc": 0x400}), ({"refetch": 1}, {"next": 1}), ({"hold": 1, "pc": 68}, {"next": 1, "hold": 1, "pc": 68}),
])  # fmt: skip
def test_an_instruction_that_serialises(given: dict, expected: dict, bench: Bench) -> None:
    """It is committed, then fetch goes on where the system says: elsewhere, behind it, or not yet."""
    seen = play(bench, REQUEST, 5, finished={2: {}}, kill={2: 1}, restart={2: given})
    assert orders(seen) == {3: {"valid": 1, "commits": 1, "drops": 1, **expected}} and completions(seen["done"])[3]["valid"]


def test_behind_a_store_all_is_fetched_anew(bench: Bench) -> None:
    """Loads may have passed it."""
    seen = play(bench, REQUEST | {"word": 7, "dest": 0}, 5, finished={2: {}})
    assert orders(seen) == {3: {"valid": 1, "commits": 1, "drops": 1, "next": 1}} and all(
        one["of"] == [0] for one in seen["wakes[0]"]
    )


def test_an_interrupt_may_come_to_nothing(bench: Bench) -> None:
    """It is offered in place of an instruction, with its pc and as one that does nothing; if it passes, nothing is committed."""
    request = {"valid": 1, "cause": "none", "pc": 64}
    seen = play(bench, request, 5, finished={2: {}})
    assert {name: seen["out"][2]["control"].get(name) for name in ("mem", "trap", "dest")} == {
        "mem": None,
        "trap": None,
        "dest": 32,
    }
    assert orders(seen) == {3: {"valid": 1, "next": 1}}
    seen = play(bench, request, 5, restart={2: {"pc": 0x180}}, kill={2: 1})
    assert orders(seen) == {3: {"valid": 1, "drops": 1, "pc": 0x180}}


@pytest.mark.parametrize(
    ("cause", "trap"),
    [
        ("fetch", "fetch"),
        ("overflowed", "overflowed"),
        ("taken", "taken"),
        ("unaligned", None),
        ("serial", None),
        ("syscall", None),
    ],
)
def test_what_failed_is_reported_as_a_pipeline_reports_it(cause: str, trap: str | None, bench: Bench) -> None:
    """Of others the decoder knows more than the cause."""
    seen = play(
        bench, REQUEST | {"cause": cause, "source": [0, 0], "immediate": 2}, 4, registers_values={1: {"of": [0, 0]}}
    )
    assert (seen["out"][2]["control"].get("trap"), seen["out"][2]["result"]) == (trap, 2)


def test_a_wait_that_is_over(bench: Bench) -> None:
    """Fetch goes on, though nothing is here."""
    device = served(bench)
    assert orders(device.play({"restart": {3: {"refetch": 1}}}, 6)) == {4: {"valid": 1, "drops": 1, "next": 1}}
    assert (device.stat("dropped"), device.stat("executed")) == (1, 0)


def several(contexts: int) -> dict[str, tuple[str, int, str]]:
    each = {"in", "drained", "out", "finished", "kill", "restart"}
    return {name: (direction, contexts if name in each else lanes, kind) for name, (direction, lanes, kind) in PORTS.items()}


@seldom
def test_contexts_share_the_way_in_and_out(bench: Bench) -> None:
    """Both ask in a cycle: one begins behind the other, each with its own registers; both leave in a cycle: of one the list hears a cycle later.  What one
    waits for does not hold up the other."""
    device = Wide(bench, "serial_execute", several(2), "contexts = 2; " + DECODE)
    other = REQUEST | {"dest": 51, "source": [5, 6], "age": 8, "pc": 0x400}
    inputs = {
        "in[0]": dict.fromkeys(range(1, 7), REQUEST), "in[1]": dict.fromkeys(range(1, 5), other), "drained[0]": dict.fromkeys(range(20), 1),
        "drained[1]": dict.fromkeys(range(20), 1), "registers_values": {1: {"of": [100, 200]}, 2: {"of": [300, 400]}},
        "finished[0]": {3: {"value": 7}}, "finished[1]": {3: {"value": 8}}, "restart[1]": {3: {"refetch": 1}},
    }  # fmt: skip
    seen = {name: one[:9] for name, one in device.play(inputs, LONG, {"out_sink[0].pattern": "0000000010", "out_sink[1].pattern": "00010"}).items()}
    assert [one and one["of"] for one in seen["registers_numbers"]][:4] == [None, [5, 6], [3, 4], None]
    assert [bool(one) for one in seen["out[1]"]] == [False, False, True, True, *[False] * 5] and seen["out[1]"][2]["result"] == 116
    assert [bool(one) for one in seen["out[0]"]] == [False] * 3 + [True] * 6 and seen["out[0]"][3]["result"] == 316
    assert orders(seen) == {4: {"valid": 1, "context": 1, "commits": 1, "drops": 1, "next": 1}} and seen["results"][4] == {"dest": 51, "value": 8}


def test_a_wait_that_is_over_before_it_was_reported(bench: Bench) -> None:
    """Another context is told of first: the order to hold fetch becomes one to go on, and its instruction is committed all the same."""
    device = Wide(bench, "serial_execute", several(2), "contexts = 2; " + DECODE)
    requests = {"in[0]": {1: REQUEST, 2: REQUEST}, "in[1]": {2: REQUEST | {"age": 8}}, "drained[0]": {1: 1}, "drained[1]": {2: 1}}
    held = {"finished[0]": {4: {}}, "finished[1]": {4: {}}, "restart[0]": {4: {"hold": 1, "pc": 68}, 5: {"refetch": 1}}}
    seen = device.play(requests | held | {"registers_values": {1: {"of": [0, 0]}, 2: {"of": [0, 0]}}}, LONG, {"out_sink[0].pattern": "000010", "out_sink[1].pattern": "000010"})
    assert orders(seen) == {5: {"valid": 1, "context": 1, "commits": 1, "next": 1}, 6: {"valid": 1, "commits": 1, "drops": 1, "next": 1}}


def test_nothing_is_lost_or_reported_twice(bench: Bench) -> None:
    """Eight contexts ask all the time, and what each begins is accepted by chance: each is told of once, in its order, with its own result, and waits for
    the seven others at most."""
    contexts, cycles, r = 8, LONG, random.Random(5)
    device = Wide(bench, "serial_execute", several(contexts), f"contexts = {contexts}; " + DECODE)
    every = range(400)
    lanes: dict[str, dict[int, object]] = {"registers_values": dict.fromkeys(every, {"of": [0, 0]})}
    patterns = ["".join(r.choice("0001") for _ in range(37)) for _ in range(contexts)]
    for c in range(contexts):
        lanes[f"in[{c}]"] = {cycle: REQUEST | {"dest": 40 + c, "age": c} for cycle in every if r.random() < 0.8}
        lanes[f"drained[{c}]"] = {cycle: 1 for cycle in every if r.random() < 0.8}
        lanes[f"finished[{c}]"] = {cycle: {"value": 1000 * c + cycle} for cycle in range(500)}
    seen = device.play(lanes, cycles, {f"out_sink[{c}].pattern": pattern for c, pattern in enumerate(patterns)})
    told = [(order["context"], one["age"], one["value"], result["dest"], cycle) for cycle, (one, order, result) in enumerate(zip(completions(seen["done"]), seen["order"], seen["results"], strict=True)) if order["valid"]]
    for c, pattern in enumerate(patterns):
        left = [cycle for cycle, one in enumerate(seen[f"out[{c}]"]) if one and pattern[cycle % len(pattern)] == "1"]
        of_it = [one for one in told if one[0] == c]
        assert [one[1:4] for one in of_it] == [(c, 1000 * c + cycle, 40 + c) for cycle in left] and len(left) > 20
        assert all(1 <= one[4] - cycle <= contexts for one, cycle in zip(of_it, left, strict=True))
    assert device.stat("executed") == len(told)


def test_each_context_has_lanes_of_its_own(bench: Bench) -> None:
    ins, outs = [name for name, (direction, *_) in PORTS.items() if direction == "in"], [name for name, (direction, *_) in PORTS.items() if direction == "out"]
    text = f"import wide_types;\ninstance dut : serial_execute {{ contexts = 2; {DECODE} }};\n"
    text += "".join(f"instance s{i} : source; s{i}.out -> dut.{p};\n" for i, p in enumerate(ins)) + "".join(f"instance k{i} : sink; dut.{p} -> k{i}.in;\n" for i, p in enumerate(outs))
    assert "each of 2 contexts has its own system control and memory stage: a port has 1 lanes" in bench.refuse(text)
