"""predictor: a group ends at its first branch that is taken; what it does to history and return stack."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide
from tests.sample import sampled

PORTS = {
    "port.query": ("in", 1, "branch_query"), "port.guess": ("out", 1, "branch_guess"), "port.fetched": ("in", 1, "bool"), "targets.query": ("out", 1, "target_query"),
    "targets.known": ("in", 1, "target_group(4)"), "directions.query": ("out", 1, "direction_query"), "directions.taken": ("in", 1, "uint32"),
    "stack": ("in", 1, "stack_top"), "move": ("out", 1, "stack_move"),
}  # fmt: skip
KINDS = ["none", "conditional", "jump", "call", "subroutine_return"]


@pytest.mark.parametrize("slot", sampled([False, True], 2))
@pytest.mark.parametrize("aligned", sampled([False, True], 2, 1))
def test_groups_of_all_kinds(aligned: bool, slot: bool, bench: Bench) -> None:
    """A delay slot belongs to the group, or follows it, and then it is known where fetch goes behind that."""
    device = Wide(bench, "predictor", PORTS, f"aligned = {str(aligned).lower()}; delay_slot = {str(slot).lower()};")
    r = random.Random(3)
    inputs: dict[str, dict[int, object]] = {"port_query": {}, "port_fetched": {}, "targets_known": {}, "directions_taken": {}, "stack": {}}
    expected = []
    for cycle in range(300):
        pc, history, top = 4 * r.randrange(1000), r.getrandbits(8), r.randrange(100)
        kinds = [r.choice(KINDS) if r.random() < 0.4 else "none" for _ in range(4)]
        targets, taken = [4 * r.randrange(1000) for _ in range(4)], r.getrandbits(4)
        masks = {name: sum(1 << i for i in range(4) if (kinds[i] == "conditional") == is_it and kinds[i] != "none") for name, is_it in (("conditional", True), ("unconditional", False))}
        inputs["port_query"][cycle] = {"pc": pc, "history": history, "words": 4}
        inputs["targets_known"][cycle] = masks | {"kind": kinds, "target": targets}
        inputs["directions_taken"][cycle] = taken
        inputs["stack"][cycle] = {"top": top, "address": 0x5000 + cycle}
        words = 4 - (pc >> 2 & 3) if aligned else 4
        ends = [i for i in range(words) if kinds[i] not in ("none", "conditional") or kinds[i] == "conditional" and taken >> i & 1]
        last = ends[0] if ends else words - 1
        kind = kinds[last] if ends else "none"
        following = pc + 4 * words if not ends else 0x5000 + cycle if kind == "subroutine_return" else targets[last]
        if "conditional" in kinds[: last + 1]:
            history = history << 1 | (kind == "conditional")
        move = {"push": int(kind == "call"), "pop": int(kind == "subroutine_return"), "context": 0, "link": pc + 4 * last + (8 if slot else 4) if ends else 0}
        guess = {"count": last + 1, "top": top, "history": history, "delayed": 0, "next": following, "target": 0}
        if slot and ends and last + 1 < words:
            guess["count"] += 1
        elif slot and ends:
            guess |= {"delayed": 1, "next": pc + 4 * words, "target": following}
        inputs["port_fetched"][cycle] = fetched = int(r.random() < 0.7)
        expected.append((guess, move if fetched else dict.fromkeys(move, 0)))
    seen = device.play(inputs, 300)
    assert list(zip(seen["port_guess"], seen["move"], strict=True)) == expected


def test_only_conditional_branches_are_requested(bench: Bench) -> None:
    device = Wide(bench, "predictor", PORTS)
    known = {"conditional": 0b0101, "unconditional": 0b1000, "kind": ["conditional", "none", "conditional", "jump"]}
    seen = device.play({"port_query": {0: {"pc": 64, "history": 5, "words": 4}, 1: {"pc": 80, "words": 4}}, "targets_known": {0: known, 1: {"conditional": 0}}}, 3)
    assert seen["targets_query"] == [{"pc": 64, "context": 0}, {"pc": 80, "context": 0}, None]
    assert seen["directions_query"] == [{"pc": 64, "history": 5, "requested": 0b0101}, None, None]
    assert seen["port_guess"][2] is None and seen["move"][2] == {"push": 0, "pop": 0, "context": 0, "link": 0}


def test_groups_of_two_contexts(bench: Bench) -> None:
    """No longer than they may be, and each with the return stack of its context."""
    ports = {name: (direction, 2, type_) for name, (direction, _, type_) in PORTS.items()}
    device = Wide(bench, "predictor", ports)
    returns = {"conditional": 0, "unconditional": 0b0100, "kind": ["none", "none", "subroutine_return", "none"]}
    seen = device.play({
        "port_query[0]": {0: {"pc": 64, "context": 1, "words": 4}}, "port_query[1]": {0: {"pc": 128, "context": 0, "words": 2}, 1: {"pc": 128, "words": 3}},
        "port_fetched[0]": {0: 1}, "port_fetched[1]": {1: 1}, "targets_known[0]": {0: returns}, "targets_known[1]": {0: returns, 1: returns},
        "stack[0]": always({"top": 5, "address": 500}), "stack[1]": always({"top": 6, "address": 600}),
    }, 2)  # fmt: skip
    assert [(one["count"], one["next"], one["top"]) for one in (seen["port_guess[0]"][0], *seen["port_guess[1]"])] == [(3, 600, 6), (2, 136, 5), (3, 500, 5)]
    assert [(one["pop"], one["context"]) for one in (seen["move[0]"][0], *seen["move[1]"])] == [(1, 1), (0, 0), (1, 0)]


def always(value: object) -> dict[int, object]:
    return {cycle: value for cycle in range(2)}
