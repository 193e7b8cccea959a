"""group_fetch: groups follow the predictor, one reference at a time; redirects make what is awaited stale; halting; faults."""

import re

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide, of_each
from tests.sample import sampled, seldom

PORTS = {
    "memory.request": ("out", 1, "mem_request(128)"), "memory.reply": ("in", 1, "mem_reply(128)"), "predictor.query": ("out", 1, "branch_query"), "predictor.fetched": ("out", 1, "bool"),
    "predictor.guess": ("in", 1, "branch_guess"), "out": ("out", 1, "word_group(4)"), "room": ("in", 1, "context_numbers"),
    "redirect": ("in", 1, "fetch_redirect"), "control": ("in", 1, "core_control"),
}  # fmt: skip


def reply(first: int, context: int = 0) -> dict[str, object]:
    """Words first, first + 1, first + 2, first + 3."""
    return {"data": hex(sum((first + i) << 32 * i for i in range(4))), "tag": context << 19}


def guess(following: int, count: int = 4, history: int = 0) -> dict[str, int]:
    return {"count": count, "next": following, "history": history}


def always(value: object, cycles: int) -> dict[int, object]:
    return {cycle: value for cycle in range(cycles)}


def test_a_memory_that_replies_at_once(bench: Bench) -> None:
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256;")
    seen = device.play({
        "room": of_each({0: 4, 1: 8, 2: 3, 3: 4}), "memory_reply": {0: reply(10), 1: reply(20), 3: reply(30)},
        "predictor_guess": {0: guess(0x110), 1: guess(0x400, 2, 7), 3: guess(0x410)},
    }, 5)  # fmt: skip
    assert [one and one["address"] for one in seen["memory_request"]] == [0x100, 0x110, None, 0x400, None]
    assert [one and (one["pc"], one["count"], one["next"], one["word"][: one["count"]]) for one in seen["out"]] == [
        (0x100, 4, 0x110, [10, 11, 12, 13]), (0x110, 2, 0x400, [20, 21]), None, (0x400, 4, 0x410, [30, 31, 32, 33]), None,
    ]  # fmt: skip
    assert seen["predictor_query"][3] == {"context": 0, "words": 4, "pc": 0x400, "history": 7}
    assert (device.stat("groups"), device.stat("words")) == (3, 10)


def test_a_memory_that_takes_its_time(bench: Bench) -> None:
    """The guess of the cycle of the reference counts; nothing else is asked for meanwhile."""
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256;")
    seen = device.play({
        "room": of_each(always(8, 7)), "memory_reply": {3: reply(10), 5: reply(20)}, "predictor_guess": {0: guess(0x300, 3), 2: guess(0x999), 4: guess(0x500)},
    }, 7)  # fmt: skip
    assert [one and one["address"] for one in seen["memory_request"]] == [0x100, None, None, None, 0x300, None, 0x500]
    assert [one and (one["pc"], one["count"], one["next"]) for one in seen["out"]] == [None, None, None, (0x100, 3, 0x300), None, (0x300, 4, 0x500), None]


@pytest.mark.parametrize("late", [0, 1, 3])
def test_redirects(late: int, bench: Bench) -> None:
    """In the cycle of the reply, or before it: the reply is for nobody, and the next reference waits for it."""
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256;")
    seen = device.play({
        "room": of_each(always(8, 9)), "memory_reply": {3: reply(10), 4: reply(20)}, "predictor_guess": always(guess(0x800), 9),
        "redirect": {3 - late: {"valid": 1, "pc": 0x700, "history": 5}},
    }, 6)  # fmt: skip
    requests = [one and one["address"] for one in seen["memory_request"]]
    assert requests == ([None, 0x700, None, None, 0x800, 0x800] if late == 3 else [0x100, None, None, None, 0x700, 0x800])
    if late != 3:
        assert [one and one["pc"] for one in seen["out"]] == [None, None, None, 0x100 if late == 0 else None, 0x700, None]
        assert seen["predictor_query"][4] == {"context": 0, "words": 4, "pc": 0x700, "history": 5}


@seldom
def test_aligned_groups(bench: Bench) -> None:
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 264; aligned = true;")
    seen = device.play({"room": of_each(always(8, 1)), "memory_reply": {0: reply(10)}, "predictor_guess": {0: guess(0x110, 2)}}, 1)
    assert seen["memory_request"][0]["address"] == 0x100
    assert (seen["out"][0]["pc"], seen["out"][0]["word"][:2]) == (0x108, [12, 13])


@pytest.mark.parametrize("late", [0, 2])
def test_delay_slots(late: int, bench: Bench) -> None:
    """Alone, without asking the predictor, before where their branches go: predicted, or as a redirect says."""
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256; delay_slot = true;")
    first, second, third = 0, 1 + late, 2 + 2 * late
    seen = device.play({
        "room": of_each(always(8, 14)), "memory_reply": {cycle + late: reply(10 * n) for n, cycle in enumerate((first, second, third, 9, 10))},
        "predictor_guess": {first: guess(0x110, history=3) | {"delayed": 1, "target": 0x400}, second: guess(0x999, 2), third: guess(0x408, 2), 9: guess(0x999)},
        "redirect": {8: {"valid": 1, "pc": 0x700, "delayed": 1, "target": 0x800, "history": 5}},
    }, 14)  # fmt: skip
    groups = [(one["pc"], one["count"], one["next"], one["delayed"], one["target"], one["history"]) for one in seen["out"] if one]
    assert groups[:4] == [(0x100, 4, 0x110, 1, 0x400, 0), (0x110, 1, 0x400, 0, 0, 3), (0x400, 2, 0x408, 0, 0, 3), (0x700, 1, 0x800, 0, 0, 5)]
    asked = [one["pc"] for one in seen["predictor_query"] if one]
    assert 0x110 not in asked and 0x700 not in asked and asked[:2] == [0x100, 0x400]


@seldom
@pytest.mark.parametrize("aligned", sampled([False, True], 2))
def test_words_of_the_other_byte_order(aligned: bool, bench: Bench) -> None:
    device = Wide(bench, "group_fetch", PORTS, f"reset_pc = 264; big_endian = true; aligned = {str(aligned).lower()};")
    seen = device.play({"room": of_each(always(8, 1)), "memory_reply": {0: reply(10)}, "predictor_guess": {0: guess(0x110, 2)}}, 1)
    assert seen["out"][0]["word"][:2] == ([11, 10] if aligned else [13, 12])


@seldom
def test_room_for_what_words_become(bench: Bench) -> None:
    device = Wide(bench, "group_fetch", PORTS, "parts = 3;")
    seen = device.play({"room": of_each({0: 11, 1: 12}), "memory_reply": {1: reply(10)}, "predictor_guess": always(guess(16), 2)}, 2)
    assert [one is not None for one in seen["memory_request"]] == [False, True]


@seldom
def test_where_nothing_can_be_fetched(bench: Bench) -> None:
    """An error of memory, addresses that are not executable or not aligned: one word that is a fault, and the next place."""
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256; executable = <<< return address < 0x1000; >>>;")
    seen = device.play({
        "room": of_each(always(8, 5)), "predictor_guess": {0: guess(0x110)}, "memory_reply": {0: {"error": 1}},
        "redirect": {1: {"valid": 1, "pc": 0x2000}, 3: {"valid": 1, "pc": 0x402}},
    }, 5)  # fmt: skip
    assert [one and (one["pc"], one["count"], one["fault"], one["next"]) for one in seen["out"]] == [(0x100, 1, 1, 0x104), None, (0x2000, 1, 1, 0x2004), None, (0x402, 1, 1, 0x406)]
    assert [one is not None for one in seen["memory_request"]] == [True, False, False, False, False]


@seldom
def test_start_and_halt(bench: Bench) -> None:
    device = Wide(bench, "group_fetch", PORTS, "start_halted = true;")
    seen = device.play({
        "room": of_each(always(8, 8)), "memory_reply": {cycle: reply(0) for cycle in (3, 4)}, "predictor_guess": always(guess(0x240), 8),
        "control": {2: {"set_halt": 1, "halt": 0, "set_pc": 1, "pc": 0x200}, 4: {"set_halt": 1, "halt": 1}},
    }, 8)  # fmt: skip
    assert [one and one["address"] for one in seen["memory_request"]] == [None, None, None, 0x200, 0x240, None, None, None]


@seldom
@pytest.mark.parametrize(("command", "message"), [
    ({"set_pc": 1, "pc": 4}, "the pc is set while instructions are in flight"), ({"flush": 1}, "it does not flush"),
])  # fmt: skip
def test_commands_that_it_does_not_know(command: dict, message: str, bench: Bench) -> None:
    device = Wide(bench, "group_fetch", PORTS)
    with pytest.raises(AssertionError, match=re.escape(message)):
        device.play({"room": of_each(always(8, 4)), "memory_reply": {0: reply(0)}, "predictor_guess": {0: guess(16)}, "control": {2: command}}, 4)


@seldom
def test_a_step_fetches_one_word(bench: Bench) -> None:
    """Of halted fetch, which says when it awaits nothing, and at which pc it is; commands come on several lanes."""
    device = Wide(bench, "group_fetch", PORTS | {"control": ("in", 2, "core_control"), "status": ("out", 1, "core_status")}, "reset_pc = 256;")
    seen = device.play({
        "room": of_each(always(8, 14)), "memory_reply": {2: reply(10), 7: reply(20), 11: reply(30)}, "predictor_guess": always(guess(0x240), 14),
        "control[0]": {1: {"set_halt": 1, "halt": 1}, 8: {"set_pc": 1, "pc": 0x300}}, "control[1]": {4: {"step": 1}, 9: {"set_halt": 1}},
    }, 14)  # fmt: skip
    assert [one and one["address"] for one in seen["memory_request"]] == [0x100, *[None] * 4, 0x240, *[None] * 4, 0x300, None, 0x240, None]
    assert [(one["pc"], one["count"], one["next"]) for one in seen["out"] if one] == [(0x100, 4, 0x240), (0x240, 1, 0x244), (0x300, 4, 0x240)]
    halted = {cycle: one["pc"] for cycle, one in enumerate(seen["status"]) if one["halted"]}
    assert halted == {3: 0x240, 4: 0x240, 8: 0x244, 9: 0x300}


@seldom
@pytest.mark.parametrize(("words", "following", "delayed"), [(2, 0x400, 1), (3, 0x400, 0), (2, 0x108, 0), (1, 0x400, 0)])
def test_a_group_that_is_cut_keeps_its_delay_slot(words: int, following: int, delayed: int, bench: Bench) -> None:
    """Of a group that ends in the slot of its branch: of the branch alone its slot comes next, and then the target."""
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256; delay_slot = true; start_halted = true;")
    seen = device.play({"room": of_each(always(8, 4)), "memory_reply": {2: reply(10)}, "predictor_guess": always(guess(following, words), 4), "control": {0: {"step": 1}}}, 4)
    [group] = [one for one in seen["out"] if one]
    assert (group["pc"], group["count"], group["next"]) == (0x100, 1, 0x104 if words > 1 else following)
    assert group["delayed"] == delayed and (group["target"] == 0x400 or not delayed)


def test_widths_are_powers_of_two(bench: Bench) -> None:
    text = "import memory_types; import wide_types;\ninstance dut : group_fetch { width = 3; };\n"
    text += "".join(f"instance s{i} : source; s{i}.out -> dut.{p};\n" for i, p in enumerate(("memory.reply", "predictor.guess", "room", "redirect")))
    text += "".join(f"instance k{i} : sink; dut.{p} -> k{i}.in;\n" for i, p in enumerate(("memory.request", "predictor.query", "predictor.fetched", "out")))
    assert "fetch has a width that is a power of two, not 3" in bench.refuse(text)


def test_a_redirect_may_hold_fetch(bench: Bench) -> None:
    """Until the next one; what was awaited is for nobody."""
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256;")
    seen = device.play({
        "room": of_each(always(8, 10)), "memory_reply": {4: reply(10), 8: reply(20)}, "predictor_guess": always(guess(0x800), 10),
        "redirect": {2: {"valid": 1, "pc": 0x700, "hold": 1}, 6: {"valid": 1, "pc": 0x740}},
    }, 10)  # fmt: skip
    assert [one and one["address"] for one in seen["memory_request"]] == [0x100, *[None] * 6, 0x740, None, 0x800]
    assert [one["pc"] for one in seen["out"] if one] == [0x740] and device.stat("asleep") == 4


@seldom
@pytest.mark.parametrize(("pc", "body", "fault"), [(0x102, "", 1), (0x100, "executable = <<< return false; >>>;", 0)])
def test_why_nothing_can_be_fetched(pc: int, body: str, fault: int, bench: Bench) -> None:
    """The mem_fault is in place of the word: of an odd address, where there is nothing, and what memory replies."""
    device = Wide(bench, "group_fetch", PORTS, f"reset_pc = {pc}; {body}")
    group = device.play({"room": of_each({0: 4})}, 2)["out"][0]
    assert (group["fault"], group["count"], group["word"][0]) == (1, 1, fault)
    device = Wide(bench, "group_fetch", PORTS, "reset_pc = 256; big_endian = true;")
    group = device.play({"room": of_each({0: 4}), "memory_reply": {0: {"error": 1, "data": 2}}, "predictor_guess": {0: guess(0x800)}}, 2)["out"][0]
    assert (group["fault"], group["count"], group["word"][0], group["next"]) == (1, 1, 2, 0x104)


def several(contexts: int, lanes: int, controlled: bool = False) -> dict[str, tuple[str, int, str]]:
    ports = {name: (direction, lanes, type_) for name, (direction, _, type_) in PORTS.items()}
    return ports | {
        "room": ("in", 1, f"context_numbers({contexts})"), "redirect": ("in", 1, "fetch_redirect"), "waiting": ("in", 1, "uint64"),
        "control": ("in", contexts if controlled else 1, "core_control"),
    }  # fmt: skip


def fetched(seen: dict, lanes: int) -> list[list[tuple[int, int, int]]]:
    """Of each cycle the groups: context, pc, instructions."""
    return [[(one["context"], one["pc"], one["count"]) for one in groups if one] for groups in zip(*(seen[f"out[{lane}]" if lanes > 1 else "out"] for lane in range(lanes)), strict=True)]


@seldom
def test_two_contexts_in_a_cycle(bench: Bench) -> None:
    """The second has the words that the first leaves; whose instructions wait least is first."""
    device = Wide(bench, "group_fetch", several(4, 2, True), "contexts = 4; reset_pc = 256; locate = <<< return address | context << 16; >>>;")
    answers = {f"predictor_guess[{lane}]": {c: guess(0x200 + 16 * c, 3 if lane == 0 else 1) for c in range(3)} for lane in range(2)}
    replies = {f"memory_reply[{lane}]": {cycle: reply(10, c) for cycle, c in enumerate(contexts)} for lane, contexts in enumerate(((1, 3, 1), (0, 0, 2)))}
    seen = device.play({"room": always({"of": [8, 8, 8, 8]}, 3), "waiting": {0: 0x05050102, 1: 0x00090909, 2: 0x09090909}} | answers | replies, 3)
    assert fetched(seen, 2) == [[(1, 256, 3), (0, 256, 1)], [(3, 256, 3), (0, 0x200, 1)], [(1, 0x200, 3), (2, 256, 1)]]
    assert (device.stat("fetching"), device.stat("fetchable")) == (3, 12)
    assert [one["words"] for one in seen["predictor_query[1]"]] == [1, 1, 1] and seen["memory_request[0]"][0]["address"] == 0x10100
    assert [one["tag"] >> 19 for one in seen["memory_request[0]"]] == [1, 3, 1]


@seldom
def test_contexts_in_turn(bench: Bench) -> None:
    """One that sleeps, has no room or was redirected in the cycle is left out."""
    device = Wide(bench, "group_fetch", several(4, 1, True), "contexts = 4; reset_pc = 256; order = <<< (void)counts; return fetch_in_turn(ready_contexts, last); >>>;")
    rooms = {cycle: {"of": [8, 8, 8, 0 if cycle < 6 else 8]} for cycle in range(9)}
    turns = [1, 2, 0, 1, 1, 0, 1, 3, 0]
    seen = device.play({
        "room": rooms, "memory_reply": {cycle: reply(10, c) for cycle, c in enumerate(turns)}, "predictor_guess": always(guess(0x400), 9), "control[2]": {2: {"set_halt": 1, "halt": 1}, 7: {"set_halt": 1}},
        "redirect": {4: {"valid": 1, "context": 0, "pc": 0x700}},
    }, 9)  # fmt: skip
    assert [[c for c, *_ in groups] for groups in fetched(seen, 1)] == [[c] for c in turns]
    assert fetched(seen, 1)[5] == [(0, 0x700, 4)] and (device.stat("asleep"), device.stat("halted_cycles")) == (0, 5)
    assert (device.stat("fetching"), device.stat("fetchable")) == (9, 3 + 3 + 3 + 2 + 1 + 2 + 3 + 3 + 4)


@seldom
def test_a_context_waits_for_its_own_reference(bench: Bench) -> None:
    """The lane goes on with the other, and tags tell whose the replies are. A redirect makes what is awaited stale; what cannot be fetched waits for a cycle without a reply."""
    device = Wide(bench, "group_fetch", several(2, 1, True), "contexts = 2; reset_pc = 256; executable = <<< return address != 0x900; >>>;")
    seen = device.play({
        "room": always({"of": [8, 8]}, 10), "waiting": {0: 1}, "predictor_guess": always(guess(0x400, 2), 10), "redirect": {2: {"valid": 1, "context": 1, "pc": 0x700}, 7: {"valid": 1, "context": 1, "pc": 0x900}},
        "memory_reply": {1: reply(10), 2: reply(20), 4: reply(30, 1), 5: reply(40), 6: reply(50, 1), 8: reply(60)},
    }, 10)  # fmt: skip
    assert fetched(seen, 1) == [[], [(0, 256, 2)], [(0, 0x400, 2)], [], [], [(0, 0x400, 2)], [(1, 0x700, 2)], [], [(0, 0x400, 2)], [(1, 0x900, 1)]]
    assert [one and one["pc"] for one in seen["predictor_query"]] == [256, 256, 0x400, 0x400, None, 0x700, 0x400, None, None, None]
    assert [one["word"][0] for one in seen["out"] if one and not one["fault"]] == [10, 20, 40, 50, 60]
    assert [one["tag"] >> 19 for one in seen["memory_request"] if one] == [1, 0, 0, 0, 1, 0]


@seldom
def test_the_status_of_each_context(bench: Bench) -> None:
    """Each is halted by itself, by any lane of its own, and tells so when its own reference has its reply."""
    ports = several(2, 2) | {"control": ("in", 4, "core_control"), "status": ("out", 4, "core_status")}
    device = Wide(bench, "group_fetch", ports, "contexts = 2; reset_pc = 256;")
    seen = device.play({
        "room": always({"of": [8, 8]}, 9), "predictor_guess[0]": always(guess(0x400, 2), 9), "predictor_guess[1]": always(guess(0x800, 2), 9),
        "control[3]": {1: {"set_halt": 1, "halt": 1}}, "control[0]": {3: {"set_halt": 1, "halt": 1}}, "memory_reply[0]": {5: reply(10, 1)}, "memory_reply[1]": {7: reply(10, 0)},
    }, 9)  # fmt: skip
    for c, since in ((0, 8), (1, 6)):
        assert [one["halted"] for one in seen[f"status[{c}]"]] == [int(cycle >= since) for cycle in range(9)] and seen[f"status[{c}]"] == seen[f"status[{c + 2}]"]


@seldom
def test_what_memory_refuses_is_chosen_again(bench: Bench) -> None:
    """Whoever else may be fetched for meanwhile, so that it is taken at last; unless it is redirected."""
    device = Wide(bench, "group_fetch", several(3, 1, True), "contexts = 3; reset_pc = 256; locate = <<< return address | context << 16; >>>;")
    inputs = {
        "room": always({"of": [8, 8, 8]}, 7), "waiting": {0: 0x10203, 1: 0x30201, 2: 0x30201, 3: 0x30201, 4: 0x50505, 5: 0x40302, 6: 0x40302},
        "memory_reply": {2: reply(10, 2), 6: reply(10, 1)}, "predictor_guess": always(guess(0x400), 7), "redirect": {4: {"valid": 1, "context": 0, "pc": 0x700}},
    }  # fmt: skip
    seen = device.play(inputs, 7, {"memory_request_sink[0].pattern": "0010001"})
    assert [one["address"] >> 16 for one in seen["memory_request"]] == [2, 2, 2, 0, 1, 1, 1]


@pytest.mark.parametrize(("body", "lanes", "message"), [
    ("contexts = 2;", (3, 3, 3), "groups of 3 contexts are fetched in a cycle, and there are 2"),
    ("contexts = 2;", (2, 1, 2), "each of the 2 groups of a cycle has a prediction and a way out"),
    ("contexts = 4;", (1, 1, 1), "each of the 4 contexts is controlled, not 1"),
])  # fmt: skip
def test_lanes_and_contexts(body: str, lanes: tuple[int, int, int], message: str, bench: Bench) -> None:
    memory, predictor, out = lanes
    text = f"import memory_types;\nimport wide_types;\ninstance dut : group_fetch {{ {body} }};\n"
    ins = ["memory.reply"] * memory + ["predictor.guess"] * predictor + ["room", "redirect", "control"]
    outs = ["memory.request"] * memory + ["predictor.query", "predictor.fetched"] * predictor + ["out"] * out
    text += "".join(f"instance s{i} : source; s{i}.out -> dut.{p};\n" for i, p in enumerate(ins)) + "".join(f"instance k{i} : sink; dut.{p} -> k{i}.in;\n" for i, p in enumerate(outs))
    assert message in bench.refuse(text)
