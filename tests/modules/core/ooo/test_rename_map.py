"""rename_map: names within a group and across groups, what has to wait for which room, and that a squash undoes exactly what came
behind its branch, by a snapshot or by walking back: random instructions against a map, a list of free registers and copies of both in
Python, one way against the other, and how long each takes."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import ALU, BRANCH, LOAD, MULTIPLY, Wide, micro_op

PORTS = {
    "in": ("in", 1, "op_ring(16)"), "take": ("out", 1, "uint32"), "out": ("out", 1, "renamed_group(4)"), "list_room": ("in", 1, "uint32"),
    "integer_room": ("in", 1, "uint32"), "memory_room": ("in", 2, "uint32"), "squash": ("in", 1, "squash_order"), "retired": ("in", 1, "retired_group(4)"),
}  # fmt: skip


def rooms(cycles: int, **changes: dict[int, int]) -> dict[str, dict[int, object]]:
    """Of 16 each, but where it is said otherwise."""
    names = {"list_room": "list_room", "integer_room": "integer_room", "memory_room[0]": "memory", "memory_room[1]": "load_store"}
    return {port: {cycle: changes.get(name, {}).get(cycle, 16) for cycle in range(cycles)} for port, name in names.items()}


def ring(*ops: dict[str, object]) -> dict[str, object]:
    return {"head": 0, "count": len(ops), "op": list(ops)}


def test_dependences_within_a_group(bench: Bench) -> None:
    device = Wide(bench, "rename_map", PORTS, "registers = 40;")
    group = ring(micro_op(dest=5, source=(1, 2)), micro_op(dest=5, source=(5, 0)), micro_op(dest=6, source=(5, 5)), micro_op(LOAD, source=(6, 7)))
    seen = device.play({"in": {0: group, 1: ring(micro_op(dest=0, source=(5, 6)))}} | rooms(3), 3)
    assert seen["take"] == [4, 1, 0]
    ops = seen["out"][1]["op"]
    assert [(op["op"]["source"], op["op"]["dest"], op["logical"], op["old"], op["age"]) for op in ops] == [
        ([1, 2, 0], 32, 5, 5, 0), ([32, 0, 0], 33, 5, 32, 1), ([33, 33, 0], 34, 6, 6, 2), ([34, 7, 0], 0, 0, 0, 3),
    ]  # fmt: skip
    assert seen["out"][1]["dest"]["of"] == [0b111 << 32, 0]
    assert (seen["out"][2]["count"], seen["out"][2]["op"][0]["op"]["source"]) == (1, [33, 34, 0])
    assert device.stat("renamed") == 5


@pytest.mark.parametrize(("changes", "takes"), [
    ({}, [4, 4]),
    ({"list_room": {0: 3, 1: 5}}, [3, 2]),  # what was renamed last is not known to the list yet
    ({"integer_room": {0: 1, 1: 3}}, [2, 4]),  # two arithmetic instructions in four
    ({"integer_room": {0: 0}}, [0, 4]),
    ({"memory": {0: 1, 1: 1}}, [3, 1]),
    ({"load_store": {0: 0}}, [1, 4]),
])  # fmt: skip
def test_rooms(changes: dict[str, dict[int, int]], takes: list[int], bench: Bench) -> None:
    device = Wide(bench, "rename_map", PORTS, "registers = 64;")
    group = ring(micro_op(dest=1), micro_op(LOAD, dest=2), micro_op(dest=3), micro_op(LOAD, dest=4))
    assert device.play({"in": {0: group, 1: group}} | rooms(2, **changes), 2)["take"] == takes


def test_registers_and_snapshots_run_out(bench: Bench) -> None:
    device = Wide(bench, "rename_map", PORTS, "registers = 34; snapshots = 1;")
    writes, branches = ring(*[micro_op(dest=n) for n in (1, 2, 3)]), ring(*[micro_op(BRANCH)] * 2)
    retired = {2: {"count": 1, "old": [1]}, 4: {"resolved": 1}}
    seen = device.play({"in": {0: writes, 1: writes, 2: writes, 3: writes, 4: branches, 5: branches, 6: branches}, "retired": retired} | rooms(7), 7)
    assert seen["take"] == [2, 0, 0, 1, 1, 0, 0], "the snapshot of a branch that is renamed in this cycle is not resolved in it"
    resolved = {"retired": {4: {"resolved": 1}, 5: {"resolved": 1}}}
    seen = device.play({"in": {4: branches, 5: branches, 6: branches}} | resolved | rooms(7), 7)
    assert seen["take"][4:] == [1, 0, 1]


def test_room_for_multiplications(bench: Bench) -> None:
    """Of all queues for them, less what was renamed last, of which they do not know yet; others do not wait for it."""
    device = Wide(bench, "rename_map", PORTS | {"product_room": ("in", 2, "uint32")}, "registers = 64;")
    group = ring(micro_op(dest=1), micro_op(MULTIPLY, dest=2), micro_op(MULTIPLY, dest=3), micro_op(dest=4))
    product = {"product_room[0]": dict(enumerate((4, 3, 9, 0))), "product_room[1]": dict(enumerate((9, 9, 1, 9)))}
    assert device.play({"in": dict.fromkeys(range(4), group)} | product | rooms(4), 4)["take"] == [4, 2, 1, 1]


class Model:
    """A map, free registers in order, and copies of both for each branch; without snapshots `walk` instructions are undone in a cycle."""

    def __init__(self, registers: int, snapshots: int, walk: int) -> None:
        self.map, self.free, self.age = list(range(32)), list(range(32, registers)), 0
        self.saved: dict[int, tuple[int, list[int], list[int]]] = {}
        self.snapshots, self.walk = snapshots or 1000, 0 if snapshots else walk
        self.behind = 0  # instructions that are still to be undone

    def limits(self) -> list[int]:
        """Registers and snapshots that are free when a cycle begins: what is given back in it comes too late."""
        return [len(self.free), self.snapshots - len(self.saved)]

    def rename(self, op: dict, limits: list[int]) -> tuple[list[int], int, int] | None:
        if bool(op["dest"]) > limits[0] or op["needs"]["snapshot"] > limits[1]:
            return None
        limits[0] -= bool(op["dest"])
        limits[1] -= op["needs"]["snapshot"]
        sources, dest, old = [self.map[s] for s in op["source"]], 0, 0
        if op["dest"]:
            old, dest = self.map[op["dest"]], self.free.pop(0)
            self.map[op["dest"]] = dest
        if op["needs"]["snapshot"]:
            self.saved[self.age] = (min(set(range(self.snapshots)) - {s for s, _, _ in self.saved.values()}), list(self.map), list(self.free))
        self.age += 1
        return sources, dest, old

    def release(self, register: int) -> None:
        self.free.append(register)
        for _, _, free in self.saved.values():
            free.append(register)

    def squash(self, age: int) -> int:
        self.behind += (self.age - age - 1) * bool(self.walk)
        snapshot, self.map, self.free = self.saved[age]
        self.saved = {a: one for a, one in self.saved.items() if a < age}
        self.age = age + 1
        return snapshot


def random_group(r: random.Random, sources: int) -> list[dict]:
    ops = [micro_op(r.choice([ALU, ALU, LOAD, BRANCH]), r.randrange(32), tuple(r.randrange(32) for _ in range(sources))) for _ in range(r.randrange(5))]
    for op in ops:
        if op["needs"]["snapshot"]:  # type: ignore[index]
            op["dest"], op["needs"]["dest"] = 0, 0  # type: ignore[index]
    return ops


def random_run(r: random.Random, model: Model, cycles: int, sources: int, entries: int = 64) -> tuple[dict[str, dict[int, object]], list[list]]:
    """What comes in each cycle: instructions, others that are retired in order, branches that are resolved or squashed in any order; and what
    the model renames in each."""
    inputs: dict[str, dict[int, object]] = {"in": {}, "squash": {}, "retired": {}} | rooms(cycles)
    flight: list[tuple[int, int]] = []  # age, old register
    expected: list[list] = [[]]
    for cycle in range(cycles):
        ops = random_group(r, sources)
        inputs["in"][cycle] = ring(*ops)
        done, retired = [], {"old": [], "resolved": 0}
        squashed = r.choice(sorted(model.saved)) if model.saved and r.random() < 0.1 else None
        limits, room = model.limits(), entries - len(flight)
        inputs["list_room"][cycle] = room + len(expected[-1])
        behind = [age for age in model.saved if squashed is None or age < squashed]
        leave = [one for one in flight[: r.randrange(5)] if one[0] not in model.saved and not any(age < one[0] for age in model.saved)]
        flight = flight[len(leave) :]
        for _, old in leave:
            retired["old"].append(old)  # type: ignore[attr-defined]
            if old:
                model.release(old)
        if behind and r.random() < 0.5:
            resolved = r.choice(behind)
            retired["resolved"] = 1 << model.saved.pop(resolved)[0] % 64
        inputs["retired"][cycle] = retired | {"count": len(leave)}
        for op in ops[:room] if squashed is None and model.behind == 0 else []:
            one = model.rename(op, limits)
            if one is None:
                break
            done.append((model.age - 1, *one))
        if squashed is not None:
            inputs["squash"][cycle] = {"valid": 1, "age": squashed, "snapshot": model.squash(squashed) % 256}
            flight = [one for one in flight if one[0] <= squashed]
        model.behind = max(0, model.behind - model.walk)
        flight += [(age, old) for age, _, _, old in done]
        expected.append(done)
    return inputs, expected


@pytest.mark.parametrize(("registers", "snapshots", "sources", "walk"), [(33, 1, 2, 1), (40, 3, 3, 1), (128, 8, 2, 1), (64, 64, 3, 1), (33, 0, 2, 1), (64, 0, 3, 2), (128, 0, 2, 4), (128, 0, 2, 1)])  # fmt: skip
def test_random_instructions(registers: int, snapshots: int, sources: int, walk: int, bench: Bench) -> None:
    """Renamed, retired in order, branches resolved or squashed in any order, also while the map walks back."""
    device = Wide(bench, "rename_map", PORTS, f"registers = {registers}; snapshots = {snapshots}; sources = {sources}; walk = {walk};")
    inputs, expected = random_run(random.Random(registers + walk), Model(registers, snapshots, walk), 300, sources)
    seen = device.play(inputs, 300)
    found = [[(op["age"], op["op"]["source"][:sources], op["op"]["dest"], op["old"]) for op in out["op"][: out["count"]]] for out in seen["out"]]
    assert found == expected[:300]
    assert device.stat("renamed") == sum(len(one) for one in expected)


def test_snapshots_against_walks(bench: Bench) -> None:
    """A walk that undoes everything in a cycle is a snapshot, to the last cycle; small lists go round."""
    found = []
    inputs, _ = random_run(random.Random(5), Model(96, 64, 1), 300, 2, 16)
    for body in ("snapshots = 64;", "snapshots = 0; list = 16; walk = 16;"):
        seen = Wide(bench, "rename_map", PORTS, f"registers = 96; {body}").play(inputs, 300)
        for out in seen["out"]:
            for op in out["op"]:
                del op["snapshot"]
        found.append((seen["take"], [(out["count"], out["dest"], out["op"][: out["count"]]) for out in seen["out"]]))
    assert found[0] == found[1] and sum(found[0][0]) > 200


@pytest.mark.parametrize("walk", [1, 2, 4, 8])
@pytest.mark.parametrize("behind", [0, 1, 2, 7, 8, 13])
def test_a_walk_takes_its_time(behind: int, walk: int, bench: Bench) -> None:
    """With n instructions behind the branch renaming goes on max(1, ceil(n / walk)) cycles behind the squash, which may come with some of them
    in the latch; with snapshots in the next."""
    for snapshots in (0, 4):
        device = Wide(bench, "rename_map", PORTS, f"registers = 64; snapshots = {snapshots}; walk = {walk};")
        ops = [micro_op(BRANCH), *[micro_op(dest=n + 1) for n in range(behind)]]
        groups = [ops[n : n + 4] for n in range(0, len(ops), 4)]
        at = len(groups)  # the cycle of the squash
        after = ring(micro_op(dest=9, source=(1, behind)))
        inputs = {"in": dict(enumerate(map(lambda one: ring(*one), groups))) | {at + k: after for k in range(20)}}
        squash = {"squash": {at: {"valid": 1, "age": 0, "snapshot": 0}}}
        seen = device.play(inputs | squash | rooms(at + 20), at + 20)
        wait = 1 if snapshots else max(1, -(-behind // walk))
        assert [n for n, taken in enumerate(seen["take"][at:]) if taken] == list(range(wait, 20))
        [op] = seen["out"][at + wait + 1]["op"][:1]
        assert (op["age"], op["op"]["source"][:2], op["op"]["dest"]) == (1, [1, behind], 32), "names and free registers are those of before"
        assert device.stat("walked") == (0 if snapshots else -(-behind // walk))


def test_registers_must_be_enough(bench: Bench) -> None:
    text = "import wide_types;\ninstance dut : rename_map { registers = 32; };\n"
    text += "".join(f"instance s{p} : source; s{p}.out -> dut.{p};\n" for p in ("in", "list_room", "integer_room", "memory_room", "squash", "retired"))
    text += "".join(f"instance k{p} : sink; dut.{p} -> k{p}.in;\n" for p in ("take", "out"))
    assert "32 registers of programs want 33 physical ones at least, not 32" in bench.refuse(text)


def test_a_squash_of_all_restores_what_is_committed(bench: Bench) -> None:
    """Given back in the same cycle or not: all registers are free but those of the map, in the order in which they became so."""
    device = Wide(bench, "rename_map", PORTS | {"committed": ("in", 1, "register_numbers(32)")}, "registers = 36; snapshots = 2;")
    map_of = {"of": [0, 1, 2, 32, *range(4, 32)]}
    names = ring(micro_op(dest=3), micro_op(BRANCH), micro_op(dest=4), micro_op(dest=3))
    seen = device.play({
        "in": {0: names, 4: ring(micro_op(dest=5, source=(3, 4)), micro_op(BRANCH), micro_op(BRANCH)), 5: ring(*(micro_op(dest=6) for _ in range(4)))},
        "retired": {3: {"count": 1, "old": [3]}}, "squash": {3: {"valid": 1, "all": 1, "age": 0}}, "committed": {3: map_of},
    } | rooms(7), 7)  # fmt: skip
    assert seen["take"] == [4, 0, 0, 0, 3, 3, 0], "both snapshots are free again, and three registers behind the one named since"
    first = seen["out"][5]["op"][0]
    assert (first["age"], first["op"]["source"], first["op"]["dest"], first["old"]) == (1, [32, 4, 0], 33, 5)
    assert [op["op"]["dest"] for op in seen["out"][6]["op"][:3]] == [34, 35, 3]
