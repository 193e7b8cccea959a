"""instruction_buffer: a ring that gives away as many of its oldest as are taken, and loses all by a squash."""

import random

from tests.modules.harness import Bench
from tests.modules.wide import Wide, micro_op, only

PORTS = {"in": ("in", 1, "op_group(4)"), "out": ("out", 1, "op_ring(8)"), "room": ("out", 1, "context_numbers"), "take": ("in", 1, "uint32"), "squash": ("in", 1, "squash_order")}


def test_first_in_first_out(bench: Bench) -> None:
    device = Wide(bench, "instruction_buffer", PORTS, "depth = 8;")
    r, waiting, number, most = random.Random(4), [], 0, 0
    inputs: dict[str, dict[int, object]] = {"in": {}, "take": {}, "squash": {}}
    expected = []
    for cycle in range(300):
        expected.append((list(waiting), 8 - len(waiting)))
        taken = min(r.randrange(5), len(waiting))
        came = [number + i for i in range(min(r.randrange(5), 8 - len(waiting)))]
        number += len(came)
        inputs["take"][cycle] = taken
        if came:
            inputs["in"][cycle] = {"count": len(came), "op": [micro_op(pc=4 * n) for n in came]}
        waiting = waiting[taken:] + came
        if r.random() < 0.05:
            inputs["squash"][cycle], waiting = {"valid": 1, "age": 3}, []
        most = max(most, len(waiting))
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


def test_each_context_has_a_ring(bench: Bench) -> None:
    """Two groups come in a cycle, some of each context leave; a squash empties that of its context alone."""
    ports = PORTS | {"in": ("in", 2, "op_group(4)"), "out": ("out", 3, "op_ring(8)"), "room": ("out", 1, "context_numbers(3)"), "waiting": ("out", 1, "uint64")}
    device = Wide(bench, "instruction_buffer", ports, "contexts = 3; depth = 8;")
    r, held, number = random.Random(7), [[], [], []], 0  # type: ignore[var-annotated]
    inputs: dict[str, dict[int, object]] = {"in[0]": {}, "in[1]": {}, "take": {}, "squash": {}}
    expected = []
    for cycle in range(300):
        expected.append([list(one) for one in held])
        taken = [min(r.randrange(5), len(one)) for one in held]
        came: dict[int, list[int]] = {}
        for lane, c in enumerate(r.sample(range(3), r.randrange(3))):
            came[c] = [number + i for i in range(min(r.randrange(5), 8 - len(held[c])))]
            number += len(came[c])
            inputs[f"in[{lane}]"][cycle] = {"context": c, "count": len(came[c]), "op": [micro_op(pc=4 * n) for n in came[c]]}
        squashed = r.randrange(3) if r.random() < 0.1 else None
        if squashed is not None:
            inputs["squash"][cycle], taken[squashed] = {"valid": 1, "age": squashed + 4 * r.randrange(9)}, 0
        inputs["take"][cycle] = sum(n << 4 * c for c, n in enumerate(taken))
        held = [[] if c == squashed else held[c][taken[c] :] + came.get(c, []) for c in range(3)]
    seen = device.play(inputs, 300)
    rings = [[[ring["op"][(ring["head"] + i) % 8]["pc"] // 4 for i in range(ring["count"])] for ring in rings] for rings in zip(*(seen[f"out[{c}]"] for c in range(3)), strict=True)]
    assert rings == expected
    assert [one["of"] for one in seen["room"]] == [[8 - len(one) for one in rings] for rings in expected]
    assert seen["waiting"] == [sum(len(one) << 8 * c for c, one in enumerate(rings)) for rings in expected]
