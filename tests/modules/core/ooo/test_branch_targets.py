"""branch_targets: what was committed as taken is known, until others of its set replace it."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide
from tests.sample import seldom

PORTS = {"port.query": ("in", 1, "target_query"), "port.known": ("out", 1, "target_group(4)"), "train": ("in", 1, "branch_outcomes(4)")}


def asked(queries: dict[int, int]) -> dict[int, object]:
    return {cycle: {"pc": pc} for cycle, pc in queries.items()}


def outcome(*branches: tuple[int, int, str, bool]) -> dict[str, object]:
    pcs, targets, kinds, takens = zip(*branches, strict=True)
    return {"count": len(branches), "pc": list(pcs), "target": list(targets), "kind": list(kinds), "taken": list(takens)}


@seldom
def test_branches_of_a_group(bench: Bench) -> None:
    """Of so many sets that an entry behind the last one is none of its memory, where debug builds stop."""
    device = Wide(bench, "branch_targets", PORTS, "sets = 256;")
    train = {0: outcome((0x44, 0x100, "conditional", True), (0x48, 0x200, "conditional", False), (0x4C, 0x300, "call", True))}
    seen = device.play({"train": train, "port_query": asked({0: 0x40, 1: 0x40, 2: 0x4C, 3: 0x444, 4: 0x3F0})}, 6)["port_known"]
    assert (seen[0]["conditional"], seen[0]["unconditional"]) == (0, 0)
    assert (seen[1]["conditional"], seen[1]["unconditional"]) == (0b0010, 0b1000)
    assert (seen[1]["target"][1], seen[1]["kind"][3], seen[1]["target"][3]) == (0x100, "call", 0x300)
    assert (seen[2]["unconditional"], seen[2]["target"][0]) == (1, 0x300)
    assert (seen[3]["conditional"], seen[3]["unconditional"]) == (0, 0), "another address with the same set"
    assert (seen[4]["conditional"], seen[4]["unconditional"]) == (0, 0), "the last sets are empty"
    assert seen[5] is None and device.stat("entered") == 2


def test_the_same_branch_again_and_again(bench: Bench) -> None:
    """Nothing changes at the ports meanwhile but what is found."""
    device = Wide(bench, "branch_targets", PORTS, "sets = 16;")
    train = dict.fromkeys(range(4), outcome((0x44, 0x100, "jump", True)))
    seen = device.play({"train": train, "port_query": asked(dict.fromkeys(range(5), 0x40))}, 5)["port_known"]
    assert [one["unconditional"] for one in seen] == [0, 2, 2, 2, 2] and device.stat("entered") == 1


@pytest.mark.parametrize("ways", [1, 2])
def test_replacement(ways: int, bench: Bench) -> None:
    """Those of one set replace each other in turn; a branch that goes elsewhere keeps its entry."""
    device = Wide(bench, "branch_targets", PORTS, f"sets = 8; ways = {ways};")
    pcs = [0x20, 0x40, 0x60]
    train = {cycle: outcome((pc, 0x1000 + pc, "jump", True)) for cycle, pc in enumerate(pcs)} | {3: outcome((0x60, 0x9000, "jump", True))}
    seen = device.play({"train": train, "port_query": asked({4: 0x20, 5: 0x40, 6: 0x60})}, 7)["port_known"]
    assert [one["unconditional"] for one in seen[4:]] == ([0, 0, 1] if ways == 1 else [0, 1, 1])
    assert seen[6]["target"][0] == 0x9000 and device.stat("entered") == 3


@pytest.mark.parametrize("ways", [1, 3])
def test_random_branches(ways: int, bench: Bench) -> None:
    """Against entries of sets in Python, all of which are asked for."""
    device = Wide(bench, "branch_targets", PORTS, f"sets = 4; ways = {ways};")
    r, cycles = random.Random(ways), 300
    held: list[list[tuple[int, int, str] | None]] = [[None] * ways for _ in range(4)]
    turns, entered = [0] * 4, 0
    train, queries, expected = {}, {}, []
    for cycle in range(cycles):
        first = 4 * r.randrange(24)
        known = {one[0]: one for row in held for one in row if one}
        queries[cycle] = first
        expected.append([known.get(first + 4 * i, (0, 0, "none"))[1:] for i in range(4)])
        branches = [(4 * r.randrange(24), 16 * r.randrange(4), r.choice(["conditional", "jump"]), r.random() < 0.7) for _ in range(r.randrange(1, 3))]
        train[cycle] = outcome(*branches)
        for pc, target, kind, taken in branches:
            row = held[pc >> 2 & 3]
            way = next((w for w, one in enumerate(row) if one and one[0] == pc), None)
            if taken and way is None:
                way, turns[pc >> 2 & 3] = turns[pc >> 2 & 3], (turns[pc >> 2 & 3] + 1) % ways
                entered += 1
            if taken:
                row[way] = (pc, target, kind)  # type: ignore[index]
    seen = device.play({"train": train, "port_query": asked(queries)}, cycles)["port_known"]
    assert [list(zip(one["target"], one["kind"], strict=True)) for one in seen] == expected
    masks = [[sum((kind == "conditional") == conditional and kind != "none" and 1 << i for i, (_, kind) in enumerate(row)) for conditional in (True, False)] for row in expected]
    assert [[one["conditional"], one["unconditional"]] for one in seen] == masks
    assert device.stat("entered") == entered > 100


def test_what_is_no_branch_is_forgotten(bench: Bench) -> None:
    """Its neighbour in the set stays, and it may come again."""
    device = Wide(bench, "branch_targets", PORTS, "sets = 8; ways = 2;")
    both = outcome((0x20, 0x100, "jump", True), (0x40, 0x200, "jump", True))
    train = {0: both, 1: outcome((0x20, 0, "none", False), (0x60, 0, "none", False)), 3: outcome((0x20, 0x300, "jump", True))}
    seen = device.play({"train": train, "port_query": asked({1: 0x20, 2: 0x20, 3: 0x40, 4: 0x20, 5: 0x40})}, 6)["port_known"]
    assert [one["unconditional"] for one in seen[1:]] == [1, 0, 1, 1, 1] and device.stat("entered") == 3


def test_sets_are_powers_of_two(bench: Bench) -> None:
    text = "import wide_types;\ninstance dut : branch_targets { sets = 12; };\ninstance q : source; q.out -> dut.port.query;\n"
    text += "instance k : sink; dut.port.known -> k.in; instance t : source; t.out -> dut.train;"
    assert "branch targets need a power-of-two number of sets, not 12" in bench.refuse(text)


@seldom
def test_contexts_find_their_own_branches(bench: Bench) -> None:
    """Two ask in a cycle.  Those whose tags are the same share an entry."""
    ports = PORTS | {"port.query": ("in", 2, "target_query"), "port.known": ("out", 2, "target_group(4)")}
    train = {0: outcome((0x40, 0x100, "jump", True)) | {"context": [3]}}
    queries = {f"port_query[{lane}]": {cycle: {"pc": 0x40, "context": context} for cycle, context in ((1, 3 - lane), (2, lane))} for lane in range(2)}
    for body, expected in (("", ([1, 0], [0, 0])), ("tag = <<< return pc | 1; >>>;", ([1, 1], [1, 1]))):
        seen = Wide(bench, "branch_targets", ports, f"sets = 16; {body}").play({"train": train} | queries, 3)
        assert tuple([seen[f"port_known[{lane}]"][1 + k]["unconditional"] for k in range(2)] for lane in range(2)) == expected
