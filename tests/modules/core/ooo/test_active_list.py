"""active_list: commits in order what is finished, as far as stores have room; the oldest wrong branch wins; faults wait."""

import re

import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.wide import ALU, BRANCH, STORE, Wide, each, only, renamed, renamed_group
from tests.modules.wide import completion as done
from tests.sample import seldom

PORTS = {
    "in": ("in", 1, "renamed_group(4)"), "done": ("in", 2, "completion"), "store_room": ("in", 1, "uint32"), "read.age": ("in", 1, "uint32"),
    "read.value": ("out", 1, "execution"), "room": ("out", 1, "context_numbers"), "squash": ("out", 1, "squash_order"), "redirect": ("out", 1, "fetch_redirect"),
    "head": ("out", 1, "context_numbers"), "retired": ("out", 1, "retired_group(4)"), "outcomes": ("out", 1, "branch_outcomes(4)"),
}  # fmt: skip
EVENTS = collect("dut", "retire(pc, word, value, destination, address, size, context)", "marker(number)")


def listed(bench: Bench, body: str = "") -> Wide:
    return Wide(bench, "active_list", PORTS, f"entries = 16; observed = true; {body}", after=EVENTS)


def group(*ops: tuple[int, dict], contexts: int = 1, **fields: object) -> dict:
    """(age, control) each; the pc is 4 * age, or that of so many programs at the same addresses."""
    return renamed_group(*(renamed(age, control, pc=4 * (age // contexts), word=100 + age, old=age + 1, **fields) for age, control in ops))


def test_commitment_in_order(bench: Bench) -> None:
    device = listed(bench)
    seen = device.play({
        "in": {0: group(*((age, ALU) for age in range(4))), 1: group((4, ALU))},
        "done[0]": {1: done(2), 2: done(0, value=55), 3: done(1)}, "done[1]": {2: done(4), 4: done(3)},
    }, 8)  # fmt: skip
    assert only(seen["head"]) == [0, 0, 0, 0, 1, 3, 5, 5]
    assert [one["old"][: one["count"]] for one in seen["retired"]] == [[], [], [], [], [1], [2, 3], [4, 5], []]
    assert only(seen["room"]) == [16, 12, 11, 11, 12, 14, 16, 16]
    assert [(cycle, pc, word) for cycle, pc, word, *_ in happened(device.ran, "retire")] == [(3, 0, 100), (4, 4, 101), (4, 8, 102), (5, 12, 103), (5, 16, 104)]
    assert happened(device.ran, "retire")[0][3:] == (55, 32, 0, 0, 0) and device.stat("instructions") == 5


@seldom
def test_width_of_commitment_and_window(bench: Bench) -> None:
    device = listed(bench, "commit_width = 2; window = 6;")
    seen = device.play({"in": {0: group(*((age, ALU) for age in range(4)))}, "done[0]": {1: done(0), 2: done(1)}, "done[1]": {1: done(2), 2: done(3)}}, 6)
    assert only(seen["head"]) == [0, 0, 0, 1, 3, 4] and only(seen["room"])[:2] == [6, 2]


def test_stores_wait_for_room(bench: Bench) -> None:
    """What was committed in the cycle before is not known to the buffer yet."""
    device = listed(bench)
    stores = group(*((age, STORE) for age in range(3)), logical=0)
    seen = device.play({
        "in": {0: stores}, "done[0]": {1: done(0, target=64, value=7, size=4), 2: done(2)}, "done[1]": {1: done(1)}, "store_room": {2: 1, 3: 1, 4: 1, 5: 1, 6: 0, 7: 1},
    }, 9)  # fmt: skip
    assert only(seen["head"]) == [0, 0, 0, 1, 1, 2, 2, 2, 3]
    assert happened(device.ran, "retire")[0] == (2, 0, 100, 7, 32, 64, 4, 0)


@seldom
def test_a_branch_with_a_delay_slot(bench: Bench) -> None:
    """Fetch goes on with the slot, and then elsewhere; behind a branch that annuls it when it is not taken, elsewhere at once."""
    device = listed(bench, "delay_slot = true;")
    ops = group((0, BRANCH), (1, BRANCH | {"likely": 1}), (2, BRANCH | {"likely": 1, "flow": "call"}), history=5, top=9)
    wrong = {"redirects": 1}
    seen = device.play({
        "in": {0: ops}, "done[0]": {1: done(2, taken=1, target=0x300, **wrong), 3: done(1, target=0xC, **wrong), 5: done(0, taken=1, target=0x100, **wrong)},
    }, 8)  # fmt: skip
    names = ("pc", "delayed", "target", "push", "link")
    found = [tuple(one[name] for name in names) for one in seen["redirect"] if one["valid"]]
    assert found == [(12, 1, 0x300, 1, 16), (0xC, 0, 0, 0, 12), (4, 1, 0x100, 0, 8)]


@seldom
def test_an_instruction_of_several_operations(bench: Bench) -> None:
    """The last of them is told and counted; they may leave in different cycles."""
    device = listed(bench, "parts = 3;")
    ops = group((0, ALU | {"more": 1}), (1, ALU | {"more": 1}), (2, ALU), (3, ALU))
    seen = device.play({"in": {0: ops}, "done[0]": {1: done(0), 2: done(1), 3: done(2, value=77), 4: done(3)}}, 7)
    assert only(seen["head"]) == [0, 0, 0, 1, 2, 3, 4] and device.stat("instructions") == 2
    assert [(pc, value) for _, pc, _, value, *_ in happened(device.ran, "retire")] == [(8, 77), (12, 0)]


def test_the_oldest_wrong_branch_wins(bench: Bench) -> None:
    device = listed(bench)
    ops = group(*((age, BRANCH) for age in range(4)), history=5, top=9, snapshot=3)
    wrong = {"redirects": 1, "taken": 1}
    seen = device.play({
        "in": {0: ops, 3: group((4, ALU))},
        "done[0]": {1: done(0), 2: done(3, target=0x300, **wrong)}, "done[1]": {2: done(1, target=0x200, **wrong), 3: done(2, **wrong)},
    }, 7)  # fmt: skip
    assert [one["valid"] for one in seen["squash"]] == [0, 0, 0, 1, 0, 0, 0]
    assert seen["squash"][3]["age"] == 1
    redirect = seen["redirect"][3]
    assert {name: redirect[name] for name in ("valid", "push", "top", "history", "pc", "link")} == {"valid": 1, "push": 0, "top": 9, "history": 11, "pc": 0x200, "link": 8}
    assert [one["resolved"] for one in seen["retired"]] == [0, 0, 1 << 3, 0, 0, 0, 0]
    assert only(seen["head"]) == [0, 0, 0, 1, 2, 2, 2] and only(seen["room"])[-1] == 16, "what came and what was done in the cycle of the squash is dropped"
    outcomes = [(one["pc"][0], one["target"][0], one["taken"][0], one["history"][0], one["kind"][0]) for one in seen["outcomes"] if one["count"]]
    assert outcomes == [(0, 0, 0, 5, "conditional"), (4, 0x200, 1, 5, "conditional")]
    assert [device.stat(name) for name in ("branches", "mispredicted", "indirect", "squashed")] == [2, 1, 0, 3]


@pytest.mark.parametrize(("flow", "push", "top"), [("call", 1, 9), ("subroutine_return", 0, 8), ("jump", 0, 9)])
def test_redirects_of_the_return_stack(flow: str, push: int, top: int, bench: Bench) -> None:
    device = listed(bench)
    seen = device.play({"in": {0: group((0, {"kind": "indirect", "flow": flow}), history=5, top=9)}, "done[0]": {1: done(0, redirects=1, taken=1, target=64)}}, 4)
    assert [seen["redirect"][2][name] for name in ("push", "top", "history", "link")] == [push, top, 5, 4]
    assert device.stat("indirect") == 1


def test_reading_by_place(bench: Bench) -> None:
    device = listed(bench)
    seen = device.play({"in": {0: group((0, ALU), (1, BRANCH), immediate=77)}, "read_age": {1: 1, 2: 16, 3: 1}}, 4)
    assert seen["read_value"][0] is None and seen["read_value"][1]["pc"] == 4
    assert {name: seen["read_value"][3][name] for name in ("pc", "next", "immediate")} == {"pc": 4, "next": 8, "immediate": 77}
    assert seen["read_value"][2]["pc"] == 0


FAILING = {"kind": "none", "trap": "syscall"}


def test_faults_count_when_they_are_oldest(bench: Bench) -> None:
    device = listed(bench)
    with pytest.raises(AssertionError, match=re.escape("syscall: pc 0x00000004, instruction 0x00000065 (at 4 ns, cycle 4)")):
        device.play({"in": {0: group((0, ALU), (1, FAILING))}, "done[0]": {2: done(0)}}, 8)
    with pytest.raises(AssertionError, match=re.escape("unaligned access: address 0x00000007, pc 0x00000000")):
        device.play({"in": {0: group((0, ALU))}, "done[0]": {1: done(0, fault="unaligned", target=7)}}, 8)
    wrong = done(0, redirects=1, taken=1)
    device.play({"in": {0: group((0, BRANCH), (1, FAILING))}, "done[0]": {2: wrong}}, 8)
    assert device.stat("instructions") == 1


@seldom
def test_markers(bench: Bench) -> None:
    device = listed(bench, "marker = <<< return word == 101 ? 7 : 0; >>>;")
    device.play({"in": {0: group((0, ALU), (1, ALU))}, "done[0]": {1: done(0)}, "done[1]": {1: done(1)}}, 5)
    assert happened(device.ran, "marker") == [(2, 7)]


@pytest.mark.parametrize(("body", "message"), [
    ("entries = 24;", "an active list needs a power-of-two number of entries, not 24"), ("entries = 8; window = 9;", "a window of 9 instructions does not fit 8 entries"),
    ("commit_width = 5;", "an active list commits 5 instructions a cycle, of groups of 4"),
])  # fmt: skip
def test_what_it_cannot_be(body: str, message: str, bench: Bench) -> None:
    text = f"import wide_types;\ninstance dut : active_list {{ {body} }};\n"
    text += "".join(f"instance s{i} : source; s{i}.out -> dut.{p};\n" for i, p in enumerate(("in", "done", "store_room", "read.age")))
    text += "".join(f"instance k{i} : sink; dut.{p} -> k{i}.in;\n" for i, p in enumerate(("read.value", "room", "squash", "redirect", "head", "retired", "outcomes")))
    assert message in bench.refuse(text)


SERIAL = PORTS | {
    "serial": ("out", 1, "serial_request"), "order": ("in", 1, "serial_order"), "interrupt": ("in", 1, "bool"),
    "completed": ("out", 1, "uint32"),
}  # fmt: skip
SYSTEM = {"kind": "none", "trap": "system"}


def serving(bench: Bench, body: str = "") -> Wide:
    return Wide(bench, "active_list", SERIAL, f"entries = 16; observed = true; delay_slot = true; {body}", after=EVENTS)


def requested(seen: dict) -> dict[int, tuple[int, str, int]]:
    """Cycle in which a request begins: pc, cause, whether it is in a delay slot."""
    shown = [one["valid"] for one in seen["serial"]]
    return {cycle: (one["pc"], one["cause"], one["slot"]) for cycle, one in enumerate(seen["serial"]) if one["valid"] and not (cycle and shown[cycle - 1])}


def dropped(seen: dict) -> dict[int, tuple[int, int, int]]:
    """Cycle: age behind which all is dropped, where fetch goes on, whether it is held."""
    both = zip(seen["squash"], seen["redirect"], strict=True)
    return {cycle: (squash["age"], to["pc"], to["hold"]) for cycle, (squash, to) in enumerate(both) if squash["valid"] and squash["all"] and to["valid"]}


@seldom
def test_a_fault_is_served_when_it_is_oldest(bench: Bench) -> None:
    """In the cycle in which what is before it is committed.  Nothing behind it is; an order that commits nothing drops it, too, in the cycle behind."""
    device = serving(bench)
    ops = group((0, ALU), (1, SYSTEM), (2, ALU), source=(7, 8), dest=40, immediate=5)
    seen = device.play({
        "in": {0: ops, 5: group((3, ALU))}, "done[0]": {1: done(2), 3: done(0)}, "order": {8: {"valid": 1, "drops": 1, "pc": 0x180}},
    }, 12)  # fmt: skip
    assert requested(seen) == {5: (4, "system", 0)} and [one["valid"] for one in seen["serial"]] == [0] * 5 + [1] * 4 + [0] * 3
    request = seen["serial"][5]
    assert (request["source"], request["dest"], request["age"], request["word"], request["immediate"]) == ([7, 8], 40, 1, 101, 5)
    assert dropped(seen) == {9: (0, 0x180, 0)} and only(seen["head"])[-1] == 1 and only(seen["room"])[-1] == 16
    assert seen["completed"] == [0, 0, 0, 0, 0, 1, *[0] * 6] and device.stat("instructions") == 1 and device.stat("squashed") == 3


@pytest.mark.parametrize(("order", "expected", "heads"), [
    ({"commits": 1}, {}, [0, 2, 2, 2]), ({"commits": 1, "single": 1}, {}, [0, 1, 2, 2]),
    ({"commits": 1, "drops": 1, "pc": 0x400}, {7: (0, 0x400, 0)}, [0, 1, 1, 1]), ({"commits": 1, "drops": 1, "next": 1}, {7: (0, 4, 0)}, [0, 1, 1, 1]),
    ({"commits": 1, "drops": 1, "next": 1, "hold": 1}, {7: (0, 4, 1)}, [0, 1, 1, 1]),
])  # fmt: skip
def test_what_was_executed_alone_is_committed(order: dict, expected: dict, heads: list[int], bench: Bench) -> None:
    """With its value, in the cycle of the order; and what is younger with it, or in the next cycle, unless it is dropped."""
    device = serving(bench)
    seen = device.play({
        "in": {0: group((0, SYSTEM), (1, ALU), logical=9, dest=50)}, "done[0]": {1: done(1), 6: done(0, value=77)}, "order": {6: {"valid": 1, **order}},
    }, 11)  # fmt: skip
    assert requested(seen) == {2: (0, "system", 0)} and dropped(seen) == expected
    assert happened(device.ran, "retire")[0] == (6, 0, 100, 77, 9, 0, 0, 0)
    assert only(seen["head"])[6:10] == heads


def test_an_interrupt_is_taken_between_instructions(bench: Bench) -> None:
    """In place of the next one that is in no delay slot and inside of no other, even if that is not here yet."""
    device = serving(bench, "parts = 3;")
    ops = group((0, ALU), (1, BRANCH), (2, ALU), (3, ALU | {"more": 1}))
    inputs = {
        "in": {0: ops, 1: group((4, ALU), (5, ALU))}, "done[0]": {1: done(0), 2: done(1, taken=1, target=0x200), 4: done(2), 6: done(3)},
        "done[1]": {3: done(4), 8: done(5)},
    }  # fmt: skip
    for first, at in ((0, 2), (4, 5), (5, 5), (6, 7), (7, 7)):
        seen = device.play(inputs | {"interrupt": dict.fromkeys(range(first, 40), 1), "order": {30: {"valid": 1, "drops": 1, "pc": 0x180}}}, 40)
        (cycle, (pc, cause, slot)) = next(iter(requested(seen).items()))
        committed = only(seen["head"])[cycle]
        assert cause == "none" and slot == 0 and committed in (1, 3, 5), (first, cycle, committed)
        assert pc == {1: 4, 3: 0x200, 5: 20}[committed], "behind the slot the program goes on at the target"
        assert cycle >= at and dropped(seen) == {31: (committed - 1, 0x180, 0)}


def test_an_interrupt_that_ceases(bench: Bench) -> None:
    """Nothing is lost."""
    device = serving(bench)
    seen = device.play({
        "in": {0: group((0, ALU), (1, ALU))}, "done[0]": {1: done(0), 3: done(1)}, "interrupt": {4: 1, 5: 1}, "order": {8: {"valid": 1, "next": 1}},
    }, 12)  # fmt: skip
    assert requested(seen) == {5: (4, "none", 0)} and not dropped(seen) and only(seen["head"])[8:] == [1, 1, 2, 2]


def test_an_order_to_go_on_cancels_one_to_hold(bench: Bench) -> None:
    """Which has not been followed yet."""
    device = serving(bench)
    hold = {"valid": 1, "commits": 1, "drops": 1, "next": 1, "hold": 1}
    seen = device.play({"in": {0: group((0, SYSTEM))}, "done[0]": {7: done(0)}, "order": {6: hold, 7: {"valid": 1, "drops": 1, "next": 1}}}, 11)
    assert dropped(seen) == {8: (0, 4, 0)} and device.stat("instructions") == 1


@seldom
def test_the_pc_is_set_between_instructions(bench: Bench) -> None:
    """While nothing is here: fetch goes on there, and so does the program, if an interrupt comes; but while the core is halted and empty none is taken.
    `status` says when it is empty, and where it goes on; in a delay slot, that it does."""
    ports = SERIAL | {"control": ("in", 2, "core_control"), "status": ("out", 1, "core_status")}
    device = Wide(bench, "active_list", ports, "entries = 16; observed = true; delay_slot = true;", after=EVENTS)
    seen = device.play({
        "in": {0: group((0, BRANCH)), 4: group((1, ALU))}, "done[0]": {1: done(0, taken=1, target=0x200), 5: done(1)},
        "control[0]": {9: {"set_halt": 1, "halt": 1}, 14: {"set_pc": 1, "pc": 0x300}}, "control[1]": {18: {"set_halt": 1}},
        "interrupt": dict.fromkeys(range(10, 25), 1), "order": {24: {"valid": 1, "drops": 1, "pc": 0x180}},
    }, 30)  # fmt: skip
    empty = [(cycle, one["pc"], one["slot"]) for cycle, one in enumerate(seen["status"]) if one["halted"]]
    assert empty[0] == (0, 0, 0) and (4, 4, 1) in empty and (8, 0x200, 0) in empty and (14, 0x200, 0) in empty and (16, 0x300, 0) in empty
    assert all(cycle < 20 or cycle > 25 for cycle, *_ in empty) and not [one for one in empty if one[0] in (1, 2, 5, 6, 15)]
    assert dropped(seen) == {15: (1, 0x300, 0), 25: (1, 0x180, 0)} and requested(seen) == {20: (0x300, "none", 0)}
    with pytest.raises(AssertionError, match="the pc is set while instructions are in flight"):
        device.play({"in": {0: group((0, ALU))}, "control[0]": {2: {"set_pc": 1, "pc": 4}}}, 4)


@seldom
def test_loads_that_were_overtaken_are_executed_anew(bench: Bench) -> None:
    """When they are the oldest, with all that is younger; one in a delay slot as such; those that are committed or dropped already are not."""
    device = Wide(bench, "active_list", SERIAL | {"overtaken": ("in", 1, "context_places")}, "entries = 4; observed = true; delay_slot = true;", after=EVENTS)
    ops = group((0, BRANCH), (1, ALU), (2, ALU))
    seen = device.play({
        "in": {0: ops}, "done[0]": {1: done(1), 3: done(2), 6: done(0, taken=1, target=0x200)}, "overtaken": {4: each(0b1010)},
    }, 12)  # fmt: skip
    assert dropped(seen) == {8: (0, 4, 0)} and only(seen["head"])[-1] == 1 and not requested(seen)
    assert (seen["redirect"][8]["delayed"], seen["redirect"][8]["target"]) == (1, 0x200) and device.stat("anew") == 1
    seen = device.play({"in": {0: group((0, ALU), (1, ALU))}, "done[0]": {1: done(0), 5: done(1)}, "overtaken": {3: each(0b10)}}, 9)
    assert dropped(seen) == {7: (0, 4, 0)}, "nor is one whose value comes later as good as it was"
    seen = device.play({"in": {0: group((0, ALU), (1, ALU))}, "done[0]": {1: done(0), 2: done(1)}, "overtaken": {3: each(0b1)}}, 8)
    assert not dropped(seen) and only(seen["head"])[-1] == 2


def test_a_load_that_is_overtaken_as_it_could_be_committed_is_executed_anew(bench: Bench) -> None:
    """Also behind a store-conditional that is committed in this cycle, and may be what overtook it."""
    device = Wide(bench, "active_list", SERIAL | {"overtaken": ("in", 1, "context_places")}, "entries = 16; observed = true; delay_slot = true;", after=EVENTS)
    inputs = {
        "in": {0: group((0, SYSTEM), (1, ALU), (2, ALU))}, "done[0]": {1: done(1), 2: done(2), 6: done(0)}, "order": {6: {"valid": 1, "commits": 1}},
    }  # fmt: skip
    for places, heads, drops in (({}, [0, 3, 3], {}), ({6: each(0b100)}, [0, 2, 2], {7: (1, 8, 0)}), ({6: each(0b10)}, [0, 1, 1], {7: (0, 4, 0)})):
        seen = device.play(inputs | {"overtaken": places}, 9)
        assert (only(seen["head"])[6:], dropped(seen)) == (heads, drops), places


def test_what_is_fetched_behind_a_word_that_is_no_branch(bench: Bench) -> None:
    """What was fetched at its target is dropped when it is the oldest, and predictors hear of the word.  In a delay slot, the program goes on there."""
    device = serving(bench)

    def inputs(first: dict, strayed_at: int) -> dict:
        ops = [renamed(age, control, pc=pc, next=following) for age, (control, pc, following) in enumerate(((first, 0, 0x40 if first == ALU else 8), (ALU, 4, 12), (ALU, strayed_at, 0x48)))]
        return {"in": {0: renamed_group(*ops)}, "done[0]": {1: done(0), 3: done(2)}, "done[1]": {1: done(1)}}

    seen = device.play(inputs(ALU, 0x40), 9)
    assert dropped(seen) == {5: (1, 8, 0)} and (device.stat("strayed"), device.stat("mistaken"), device.stat("instructions")) == (1, 1, 2)
    told = [(one["pc"][0], one["kind"][0], one["taken"][0]) for one in seen["outcomes"] if one["count"]]
    assert told == [(0, "none", 0)]
    seen = device.play(inputs(ALU, 8), 9)
    assert not dropped(seen) and only(seen["head"])[-1] == 3, "where it goes on anyway"
    slot = {"in": {0: renamed_group(renamed(0, BRANCH, pc=0, next=8), renamed(1, ALU, pc=0x40, next=0x48))}, "done[0]": {1: done(0, target=8)}, "done[1]": {1: done(1)}}
    seen = device.play(slot, 9)
    assert dropped(seen) == {3: (0, 4, 0)} and [(one["delayed"], one["target"]) for one in seen["redirect"] if one["valid"]] == [(1, 8)]


def test_one_instruction_after_the_other_is_executed_alone(bench: Bench) -> None:
    """The second is requested in the cycle in which the first is committed, unless that is committed by itself, when an interrupt may come in between."""
    device = serving(bench)
    inputs = {"in": {0: group((0, SYSTEM), (1, SYSTEM))}, "done[0]": {6: done(0)}}
    seen = device.play(inputs | {"order": {6: {"valid": 1, "commits": 1}}}, 10)
    assert requested(seen) == {2: (0, "system", 0)} and [one["pc"] for one in seen["serial"][2:]] == [0] * 5 + [4] * 3
    order = {"order": {6: {"valid": 1, "commits": 1, "single": 1}}}
    assert [one["valid"] and one["pc"] for one in device.play(inputs | order, 10)["serial"]] == [0] * 7 + [0] + [4, 4]
    seen = device.play(inputs | order | {"interrupt": dict.fromkeys(range(4, 10), 1)}, 10)
    assert requested(seen) == {2: (0, "system", 0), 8: (4, "none", 0)} and only(seen["head"])[-1] == 1


SHARED = PORTS | {name: (PORTS[name][0], 1, "context_numbers(2)") for name in ("room", "head")}


def shared(bench: Bench, body: str = "") -> Wide:
    return Wide(bench, "active_list", SHARED, f"entries = 16; observed = true; contexts = 2; {body}", after=EVENTS)


@seldom
def test_contexts_share_what_is_committed(bench: Bench) -> None:
    """In turn: the first has as much as it can use, the other what is left.  Ages count each for itself."""
    device = shared(bench)
    groups = {0: group((0, ALU), (2, ALU), (4, ALU), (1, ALU)), 1: group((3, ALU), (5, ALU))}
    lanes = {"done[0]": {2: done(0), 3: done(2), 4: done(4)}, "done[1]": {2: done(1), 3: done(3), 4: done(5)}}
    seen = device.play({"in": groups} | lanes, 9)
    assert [one["of"] for one in seen["head"]] == [[0, 1]] * 4 + [[2, 3], [4, 5], [6, 7], [6, 7], [6, 7]]
    assert [one["of"] for one in seen["room"]][:3] == [[16, 16], [13, 15], [13, 13]]
    assert [(pc, context) for _, pc, *_, context in happened(device.ran, "retire")] == [(4, 1), (0, 0), (8, 0), (12, 1), (20, 1), (16, 0)]
    name = "instructions_of"
    assert [device.stat(f"{name}[{c}]") for c in range(2)] == [3, 3]


@seldom
def test_who_commits_is_chosen(bench: Bench) -> None:
    device = shared(bench, "commit_width = 1; choose = <<< (void)last; return ready_contexts >> 1 & 1; >>>;")
    lanes = {"done[0]": {1: done(0), 2: done(2)}, "done[1]": {1: done(1), 2: done(3)}}
    seen = device.play({"in": {0: group((0, ALU), (2, ALU), (1, ALU), (3, ALU))}} | lanes, 8)
    assert [one["of"] for one in seen["head"]] == [[0, 1]] * 3 + [[0, 3], [0, 5], [2, 5], [4, 5], [4, 5]]


def test_a_squash_is_of_one_context(bench: Bench) -> None:
    """Of two wrong branches in a cycle one waits a cycle, in which nothing behind it is committed; what else comes of its context is dropped with it."""
    device = shared(bench)
    wrong = {"redirects": 1, "taken": 1, "target": 0x100}
    groups = {0: group((0, BRANCH), (1, BRANCH), (2, ALU), (3, ALU), history=5), 4: group((3, ALU), (2, ALU))}
    seen = device.play({"in": groups, "done[0]": {1: done(2), 2: done(0, **wrong)}, "done[1]": {1: done(3), 2: done(1, **wrong)}}, 9)
    orders = [(cycle, one["age"], to["context"], to["pc"]) for cycle, (one, to) in enumerate(zip(seen["squash"], seen["redirect"], strict=True)) if one["valid"]]
    assert orders == [(3, 1, 1, 0x100), (4, 0, 0, 0x100)]
    assert [one["of"] for one in seen["head"]] == [[0, 1]] * 4 + [[0, 3], [2, 3], [2, 3], [2, 3], [2, 3]]
    assert [one["of"] for one in seen["room"]][-1] == [16, 15] and device.stat("squashed") == 3


CONTROLLED = SHARED | {
    "serial": ("out", 2, "serial_request"), "order": ("in", 1, "serial_order"), "interrupt": ("in", 2, "bool"), "overtaken": ("in", 1, "context_places(2)"),
    "completed": ("out", 2, "uint32"), "status": ("out", 2, "core_status"), "control": ("in", 2, "core_control"),
}  # fmt: skip


def controlled(bench: Bench) -> Wide:
    return Wide(bench, "active_list", CONTROLLED, "entries = 16; observed = true; delay_slot = true; contexts = 2;", after=EVENTS)


def dropped_of(seen: dict) -> dict[int, tuple[int, int, int]]:
    """Cycle: context of which all is dropped, age of the last that was committed, where fetch goes on."""
    return {cycle: (to["context"], seen["squash"][cycle]["age"], pc) for cycle, (_, pc, _) in dropped(seen).items() for to in [seen["redirect"][cycle]]}


@seldom
def test_what_fails_in_one_context_leaves_the_other_alone(bench: Bench) -> None:
    """Both ask for an instruction of their own in the same cycle; while that of one is executed the other one's is committed and goes on."""
    device = controlled(bench)
    ops = group((0, SYSTEM), (1, SYSTEM), (2, ALU), (3, ALU), contexts=2)
    seen = device.play({
        "in": {0: ops}, "done[0]": {1: done(3), 6: done(1)}, "done[1]": {1: done(2)},
        "order": {6: {"valid": 1, "context": 1, "commits": 1}, 14: {"valid": 1, "drops": 1, "pc": 0x180}},
    }, 20)  # fmt: skip
    asked = {lane: [cycle for cycle, one in enumerate(seen[f"serial[{lane}]"]) if one["valid"]] for lane in range(2)}
    assert asked == {0: list(range(2, 15)), 1: list(range(2, 7))} and [seen[f"serial[{lane}]"][2]["pc"] for lane in range(2)] == [0, 0]
    assert [one["of"] for one in seen["head"]][6:9] == [[0, 1], [0, 5], [0, 5]] and dropped_of(seen) == {15: (0, 0xFFFFFFFE, 0x180)}
    assert [(cycle, pc, context) for cycle, pc, *_, context in happened(device.ran, "retire")] == [(6, 0, 1), (6, 4, 1)]
    assert [sum(seen[f"completed[{lane}]"]) for lane in range(2)] == [0, 2] and device.stat("squashed") == 2


def test_one_squash_in_a_cycle(bench: Bench) -> None:
    """Of two contexts in which all is to be dropped, or a branch was predicted wrongly, one waits, and commits nothing meanwhile."""
    device = controlled(bench)
    wrong = {"redirects": 1, "taken": 1, "target": 0x100}
    ops = group((0, SYSTEM), (1, BRANCH), (2, ALU), (3, ALU))
    seen = device.play({
        "in": {0: ops}, "done[0]": {1: done(2), 7: done(1, **wrong)}, "done[1]": {1: done(3), 7: done(0)},
        "order": {7: {"valid": 1, "commits": 1, "drops": 1, "next": 1}},
    }, 14)  # fmt: skip
    assert [(cycle, one["all"], one["age"], to["context"], to["pc"]) for cycle, (one, to) in enumerate(zip(seen["squash"], seen["redirect"], strict=True)) if one["valid"]] == [
        (8, 0, 1, 1, 8), (9, 1, 0, 0, 4)]  # fmt: skip
    assert only(seen["head"])[-2:] == [2, 3] and [pc for _, pc, *_ in happened(device.ran, "retire")] == [0, 4]
    states = [[(one["halted"], one["pc"]) for one in seen[f"status[{lane}]"]] for lane in range(2)]
    assert states[0][9] == (0, 4) and states[0][10:] == [(1, 4)] * 4 and states[1][-1] == (1, 8)


def test_interrupts_and_overtaken_loads_are_of_a_context(bench: Bench) -> None:
    """The other context, which commits in every cycle, sees nothing of them; one that is halted and empty takes none."""
    device = controlled(bench)
    seen = device.play({
        "in": {0: group((0, ALU), (2, ALU), (1, ALU), (3, ALU), contexts=2), 3: group((5, ALU), (7, ALU), contexts=2)}, "done[0]": {1: done(1), 2: done(3), 3: done(0), 5: done(7), 8: done(2)}, "done[1]": {5: done(5)},
        "interrupt[0]": dict.fromkeys(range(10, 15), 1), "interrupt[1]": dict.fromkeys(range(12, 20), 1), "control[1]": {0: {"set_halt": 1, "halt": 1}},
        "overtaken": {7: {"of": [0b10, 0b1010]}}, "order": {14: {"valid": 1, "drops": 1, "pc": 0x180}},
    }, 24)  # fmt: skip
    assert dropped_of(seen) == {10: (0, 0, 4), 15: (0, 0, 0x180)} and device.stat("anew") == 1
    assert [cycle for cycle, one in enumerate(seen["serial[0]"]) if one["valid"]] == list(range(11, 15)) and not any(one["valid"] for one in seen["serial[1]"])
    assert [pc for _, pc, *_, context in happened(device.ran, "retire") if context] == [0, 4, 8, 12] and seen["head"][-1]["of"] == [2, 9]


def test_the_pc_of_a_context_is_set_while_the_other_executes(bench: Bench) -> None:
    device = controlled(bench)
    seen = device.play({
        "in": {0: group((1, ALU))}, "done[0]": {8: done(1)}, "control[0]": {3: {"set_halt": 1, "halt": 1, "set_pc": 1, "pc": 0x300}},
    }, 12)  # fmt: skip
    assert dropped_of(seen) == {4: (0, 0xFFFFFFFE, 0x300)} and [pc for _, pc, *_ in happened(device.ran, "retire")] == [4]
    assert [(one["halted"], one["pc"]) for one in seen["status[0]"]][4:6] == [(0, 0), (1, 0)], "nothing was committed yet"
    with pytest.raises(AssertionError, match="the pc is set while instructions are in flight"):
        device.play({"in": {0: group((1, ALU))}, "control[1]": {3: {"set_pc": 1, "pc": 0x300}}}, 5)


@pytest.mark.parametrize(("lanes", "message"), [
    ({"serial": 1}, "each of 2 contexts has a system control: a port to it has 1 lanes"), ({"control": 1}, "each of the 2 contexts is controlled, not 1"),
])  # fmt: skip
def test_each_context_has_lanes_of_its_own(lanes: dict[str, int], message: str, bench: Bench) -> None:
    ins, outs = ("in", "done", "store_room", "read.age"), ("read.value", "room", "squash", "redirect", "head", "retired", "outcomes")
    ins, outs = (*ins, *("control" for _ in range(lanes.get("control", 0)))), (*outs, *("serial" for _ in range(lanes.get("serial", 0))))
    text = "import wide_types;\ninstance dut : active_list { contexts = 2; };\n"
    text += "".join(f"instance s{i} : source; s{i}.out -> dut.{p};\n" for i, p in enumerate(ins)) + "".join(f"instance k{i} : sink; dut.{p} -> k{i}.in;\n" for i, p in enumerate(outs))
    assert message in bench.refuse(text)
