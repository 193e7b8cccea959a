"""instruction_buffer: a ring that gives away as many of its oldest as are taken, and loses all by a squash."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide, micro_op, only

PORTS = {"in": ("in", 1, "op_group(4)"), "out": ("out", 1, "op_ring(8)"), "room": ("out", 1, "context_numbers"), "take": ("in", 1, "uint32"), "squash": ("in", 1, "squash_order")}


@pytest.mark.parametrize("stages", [0, 1, 3])
def test_first_in_first_out(bench: Bench, stages: int) -> None:
    """With stages of a longer front end, what came is shown so many cycles later, and its room is taken at once."""
    device = Wide(bench, "instruction_buffer", PORTS, f"depth = 8; front_stages = {stages};")
    r, waiting, number, most = random.Random(4), [], 0, 0
    front: list[list[int]] = [[] for _ in range(stages)]
    inputs: dict[str, dict[int, object]] = {"in": {}, "take": {}, "squash": {}}
    expected = []
    for cycle in range(300):
        room = 8 - len(waiting) - sum(map(len, front))
        expected.append((list(waiting), room))
        taken = min(r.randrange(5), len(waiting))
        came = [number + i for i in range(min(r.randrange(5), room))]
        number += len(came)
        inputs["take"][cycle] = taken
        if came:
            inputs["in"][cycle] = {"count": len(came), "op": [micro_op(pc=4 * n) for n in came]}
        front = [came, *front]
        waiting = waiting[taken:] + front.pop()
        if r.random() < 0.05:
            inputs["squash"][cycle], waiting = {"valid": 1, "age": 3}, []
            front = [[] for _ in range(stages)]
        most = max(most, len(waiting) + sum(map(len, front)))
    seen = device.play(inputs, 300)
    rings = [[ring["op"][(ring["head"] + i) % 8]["pc"] // 4 for i in range(ring["count"])] for ring in seen["out"]]
    assert list(zip(rings, only(seen["room"]), strict=True)) == expected
    assert device.stat("peak") == most > 4


def test_what_it_cannot_be(bench: Bench) -> None:
    text = "import wide_types;\ninstance dut : instruction_buffer {{ depth = {}; width = 8; }};\n"
    text += "".join(f"instance s{p} : source; s{p}.out -> dut.{p};\n" for p in ("in", "take", "squash"))
    text += "".join(f"instance k{p} : sink; dut.{p} -> k{p}.in;\n" for p in ("out", "room"))
    assert "an instruction buffer needs a power-of-two number of entries, not 12" in bench.refuse(text.format(12))
    assert "an instruction buffer of 4 entries has no room for a group of 8" in bench.refuse(text.format(4))
    assert "an instruction buffer shows a ring for each of 2 contexts, and is connected on 1 lanes" in bench.refuse(text.format("8; contexts = 2"))


@pytest.mark.parametrize("stages", [0, 2])
def test_each_context_has_a_ring(bench: Bench, stages: int) -> None:
    """Two groups come in a cycle, some of each context leave; a squash empties that of its context alone."""
    ports = PORTS | {"in": ("in", 2, "op_group(4)"), "out": ("out", 3, "op_ring(8)"), "room": ("out", 1, "context_numbers(3)"), "waiting": ("out", 1, "uint64")}
    device = Wide(bench, "instruction_buffer", ports, f"contexts = 3; depth = 8; front_stages = {stages};")
    r, held, number = random.Random(7), [[], [], []], 0  # type: ignore[var-annotated]
    front: list[list[list[int]]] = [[[] for _ in range(3)] for _ in range(stages)]
    inputs: dict[str, dict[int, object]] = {"in[0]": {}, "in[1]": {}, "take": {}, "squash": {}}
    expected = []
    for cycle in range(300):
        room = [8 - len(held[c]) - sum(len(stage[c]) for stage in front) for c in range(3)]
        expected.append(([list(one) for one in held], room))
        taken = [min(r.randrange(5), len(one)) for one in held]
        came: dict[int, list[int]] = {}
        for lane, c in enumerate(r.sample(range(3), r.randrange(3))):
            came[c] = [number + i for i in range(min(r.randrange(5), room[c]))]
            number += len(came[c])
            inputs[f"in[{lane}]"][cycle] = {"context": c, "count": len(came[c]), "op": [micro_op(pc=4 * n) for n in came[c]]}
        squashed = r.randrange(3) if r.random() < 0.1 else None
        if squashed is not None:
            inputs["squash"][cycle], taken[squashed] = {"valid": 1, "age": squashed + 4 * r.randrange(9)}, 0
        inputs["take"][cycle] = sum(n << 4 * c for c, n in enumerate(taken))
        front = [[came.get(c, []) for c in range(3)], *front]
        shown = front.pop()
        held = [[] if c == squashed else held[c][taken[c] :] + shown[c] for c in range(3)]
        front = [[[] if c == squashed else stage[c] for c in range(3)] for stage in front]
    seen = device.play(inputs, 300)
    rings = [[[ring["op"][(ring["head"] + i) % 8]["pc"] // 4 for i in range(ring["count"])] for ring in rings] for rings in zip(*(seen[f"out[{c}]"] for c in range(3)), strict=True)]
    assert rings == [rings for rings, _ in expected]
    assert [one["of"] for one in seen["room"]] == [room for _, room in expected]
    assert seen["waiting"] == [sum(8 - n << 8 * c for c, n in enumerate(room)) for _, room in expected]
