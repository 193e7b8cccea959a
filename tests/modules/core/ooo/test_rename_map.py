"""rename_map: names within a group and across groups, what has to wait for which room, and that a squash undoes exactly what came
behind its branch, by a snapshot or by walking back: random instructions against a map, a list of free registers and copies of both in
Python, one way against the other, and how long each takes."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import ALU, BRANCH, LOAD, MULTIPLY, Wide, each, micro_op
from tests.sample import sampled, seldom

PORTS = {
    "in": ("in", 1, "op_ring(16)"), "take": ("out", 1, "uint32"), "out": ("out", 1, "renamed_group(4)"), "list_room": ("in", 1, "context_numbers"),
    "integer_room": ("in", 1, "uint32"), "memory_room": ("in", 2, "uint32"), "squash": ("in", 1, "squash_order"), "retired": ("in", 1, "retired_group(4)"),
}  # fmt: skip


def ports(contexts: int, registers: int) -> dict[str, tuple[str, int, str]]:
    return PORTS | {
        "in": ("in", contexts, "op_ring(16)"), "list_room": ("in", 1, f"context_numbers({contexts})"), "out": ("out", 1, f"renamed_group(4, {-(-registers // 64)})"),
    }  # fmt: skip


def rooms(cycles: int, **changes: dict[int, int]) -> dict[str, dict[int, object]]:
    """Of 16 each, but where it is said otherwise."""
    names = {"list_room": "list_room", "integer_room": "integer_room", "memory_room[0]": "memory", "memory_room[1]": "load_store"}
    found = {port: {cycle: changes.get(name, {}).get(cycle, 16) for cycle in range(cycles)} for port, name in names.items()}
    return {port: {cycle: each(n) if port == "list_room" else n for cycle, n in numbers.items()} for port, numbers in found.items()}


def ring(*ops: dict[str, object]) -> dict[str, object]:
    return {"head": 0, "count": len(ops), "op": list(ops)}


@seldom
def test_dependences_within_a_group(bench: Bench) -> None:
    device = Wide(bench, "rename_map", PORTS, "registers = 40;")
    group = ring(micro_op(dest=5, source=(1, 2)), micro_op(dest=5, source=(5, 0)), micro_op(dest=6, source=(5, 5)), micro_op(LOAD, source=(6, 7)))
    seen = device.play({"in": {0: group, 1: ring(micro_op(dest=0, source=(5, 6)))}} | rooms(3), 3)
    assert seen["take"] == [4, 1, 0]
    ops = seen["out"][1]["op"]
    assert [(op["source"], op["dest"], op["logical"], op["old"], op["age"]) for op in ops] == [
        ([1, 2, 0], 32, 5, 5, 0), ([32, 0, 0], 33, 5, 32, 1), ([33, 33, 0], 34, 6, 6, 2), ([34, 7, 0], 0, 0, 0, 3),
    ]  # fmt: skip
    assert seen["out"][1]["dest"]["of"] == [0b111 << 32]
    assert (seen["out"][2]["count"], seen["out"][2]["op"][0]["source"]) == (1, [33, 34, 0])
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


@seldom
def test_registers_and_snapshots_run_out(bench: Bench) -> None:
    device = Wide(bench, "rename_map", PORTS, "registers = 34; snapshots = 1;")
    writes, branches = ring(*[micro_op(dest=n) for n in (1, 2, 3)]), ring(*[micro_op(BRANCH)] * 2)
    retired = {2: {"count": 1, "old": [1]}, 4: {"resolved": 1}}
    seen = device.play({"in": {0: writes, 1: writes, 2: writes, 3: writes, 4: branches, 5: branches, 6: branches}, "retired": retired} | rooms(7), 7)
    assert seen["take"] == [2, 0, 0, 1, 1, 0, 0], "the snapshot of a branch that is renamed in this cycle is not resolved in it"
    resolved = {"retired": {4: {"resolved": 1}, 5: {"resolved": 1}}}
    seen = device.play({"in": {4: branches, 5: branches, 6: branches}} | resolved | rooms(7), 7)
    assert seen["take"][4:] == [1, 0, 1]


@seldom
def test_room_for_multiplications(bench: Bench) -> None:
    """Of all queues for them, less what was renamed last, of which they do not know yet; others do not wait for it."""
    device = Wide(bench, "rename_map", PORTS | {"product_room": ("in", 2, "uint32")}, "registers = 64;")
    group = ring(micro_op(dest=1), micro_op(MULTIPLY, dest=2), micro_op(MULTIPLY, dest=3), micro_op(dest=4))
    product = {"product_room[0]": dict(enumerate((4, 3, 9, 0))), "product_room[1]": dict(enumerate((9, 9, 1, 9)))}
    assert device.play({"in": dict.fromkeys(range(4), group)} | product | rooms(4), 4)["take"] == [4, 2, 1, 1]


class Model:
    """A map and a history for each context, and free registers in order; without snapshots `walk` instructions are undone in a cycle."""

    def __init__(self, contexts: int, registers: int, snapshots: int, walk: int) -> None:
        self.maps = [[0, *range(1 + 31 * c, 32 + 31 * c)] for c in range(contexts)]
        self.free = list(range(31 * contexts + 1, registers))
        self.history: list[list[tuple[int, int]]] = [[] for _ in self.maps]  # of each instruction what it names, and the register that had this name
        self.saved: dict[tuple[int, int], int] = {}  # (context, number of a branch): snapshot
        self.snapshots, self.walk = snapshots or 1000, 0 if snapshots else walk
        self.behind = [0] * contexts  # instructions that are still to be undone
        self.turn = 0

    def take(self, groups: list[list[dict]], rooms: list[int], squashed: int | None) -> list[int]:
        """How many of each context find room for all that they need."""
        left = [len(self.free), self.snapshots - len(self.saved)]
        waiting = [c for c, ops in enumerate(groups) if ops and rooms[c] and c != squashed and not self.behind[c]]
        waiting.sort(key=lambda c: (c - self.turn) % len(groups))
        taken, width = [0] * len(groups), 4
        for c in waiting:
            for op in groups[c][: min(rooms[c], width)]:
                needs = [int(op["dest"] != 0), op["needs"]["snapshot"]]
                if any(need > have for need, have in zip(needs, left, strict=True)):
                    break
                left = [have - need for need, have in zip(needs, left, strict=True)]
                taken[c] += 1
            width -= taken[c]
            if width == 0:
                break
        if waiting and any(taken):
            self.turn = (waiting[0] + (taken[waiting[0]] > 0)) % len(groups)
        return taken

    def rename(self, c: int, op: dict) -> tuple[int, list[int], int, int]:
        number, names = len(self.history[c]), self.maps[c]
        sources, dest, old = [names[s] for s in op["source"]], 0, 0
        if op["dest"]:
            old, dest = names[op["dest"]], self.free.pop(0)
            names[op["dest"]] = dest
        if op["needs"]["snapshot"]:
            self.saved[c, number] = min(set(range(self.snapshots)) - set(self.saved.values()))
        self.history[c].append((op["dest"], old))
        return number, sources, dest, old

    def undo(self, c: int) -> None:
        name, old = self.history[c].pop()
        if name:
            self.free.append(self.maps[c][name])
            self.maps[c][name] = old

    def recover(self, squash: tuple[int, int] | None) -> None:
        """Undoes what a squash drops, or as much as a cycle allows."""
        if squash:
            c, number = squash
            self.saved = {(other, n): s for (other, n), s in self.saved.items() if other != c or n < number}
            self.behind[c] = len(self.history[c]) - number - 1
        most = self.walk or 1000
        for c in range(len(self.maps)):
            n = min(most, self.behind[c])
            for _ in range(n):
                self.undo(c)
            most -= n
            self.behind[c] -= n


def random_group(r: random.Random, sources: int) -> list[dict]:
    ops = [micro_op(r.choice([ALU, ALU, LOAD, BRANCH]), r.randrange(32), tuple(r.randrange(32) for _ in range(sources))) for _ in range(r.randrange(5))]
    for op in ops:
        if op["needs"]["snapshot"]:  # type: ignore[index]
            op["dest"], op["needs"]["dest"] = 0, 0  # type: ignore[index]
    return ops


def retire(r: random.Random, flight: list[list[tuple[int, int]]], saved: set[tuple[int, int]]) -> list[int]:
    """In order, up to four of all contexts, none from a branch on that is not resolved."""
    gone: list[int] = []
    for c, waiting in enumerate(flight):
        unresolved = [n for other, n in saved if other == c]
        while waiting and len(gone) < 4 and r.random() < 0.6 and waiting[0][0] < min(unresolved, default=1 << 30):
            gone.append(waiting.pop(0)[1])
    return gone


def random_run(r: random.Random, model: Model, cycles: int, sources: int, entries: int = 64) -> tuple[dict[str, dict[int, object]], list[list]]:
    """What comes in each cycle: instructions, others that are retired in order, branches that are resolved or squashed in any order; and what
    the model renames in each: age, sources, destination, what had its name."""
    contexts = len(model.maps)
    step = 1 << (contexts - 1).bit_length()
    inputs: dict[str, dict[int, object]] = {"squash": {}, "retired": {}} | {f"in[{c}]": {} for c in range(contexts)} | rooms(cycles)
    flight: list[list[tuple[int, int]]] = [[] for _ in range(contexts)]  # number, register that had the name
    expected: list[list] = [[]]
    for cycle in range(cycles):
        groups = [random_group(r, sources) for _ in range(contexts)]
        free = [entries - len(one) for one in flight]
        latched = [sum(age % step == c for age, *_ in expected[-1]) for c in range(contexts)]
        inputs["list_room"][cycle] = each(*(room + n for room, n in zip(free, latched, strict=True)))
        squash = r.choice(sorted(model.saved)) if model.saved and r.random() < 0.1 else None
        taken = model.take(groups, free, squash[0] if squash else None)
        old = retire(r, flight, set(model.saved))
        behind = [one for one in sorted(model.saved) if squash is None or one[0] != squash[0] or one[1] < squash[1]]
        resolved = 1 << model.saved.pop(r.choice(behind)) % 64 if behind and r.random() < 0.5 else 0
        inputs["retired"][cycle] = {"count": len(old), "old": old, "resolved": resolved}
        model.free += [register for register in old if register]
        if squash:
            inputs["squash"][cycle] = {"valid": 1, "age": squash[0] + squash[1] * step}
            flight[squash[0]] = [one for one in flight[squash[0]] if one[0] <= squash[1]]
        model.recover(squash)
        done = []
        for c, ops in enumerate(groups):
            inputs[f"in[{c}]"][cycle] = ring(*ops)
            for op in ops[: taken[c]]:
                number, names, dest, before = model.rename(c, op)
                done.append((c + number * step, names, dest, before))
                flight[c].append((number, before))
        expected.append(done)
    return inputs, expected


@pytest.mark.parametrize(("contexts", "registers", "snapshots", "sources", "walk"), sampled([
    (1, 33, 1, 2, 1), (1, 40, 3, 3, 1), (1, 64, 0, 3, 2), (1, 128, 8, 2, 1), (1, 64, 64, 3, 1), (1, 33, 0, 2, 1), (2, 80, 0, 2, 1), (1, 128, 0, 2, 4),
    (3, 128, 4, 3, 1), (1, 128, 0, 2, 1), (8, 512, 0, 2, 3), (2, 64, 1, 2, 1), (8, 300, 16, 2, 1),
], every=8))  # fmt: skip
def test_random_instructions(contexts: int, registers: int, snapshots: int, sources: int, walk: int, bench: Bench) -> None:
    """Of several contexts, retired in order, branches resolved or squashed in any order, also while maps walk back; a squash of one context
    leaves the others as they are."""
    body = f"contexts = {contexts}; registers = {registers}; snapshots = {snapshots}; sources = {sources}; walk = {walk};"
    device = Wide(bench, "rename_map", ports(contexts, registers), body)
    inputs, expected = random_run(random.Random(registers + walk), Model(contexts, registers, snapshots, walk), 300, sources)
    if contexts == 1:
        inputs["in"] = inputs.pop("in[0]")
    seen = device.play(inputs, 300)
    found = [[(op["age"], op["source"][:sources], op["dest"], op["old"]) for op in out["op"][: out["count"]]] for out in seen["out"]]
    assert found == expected[:300]
    assert device.stat("renamed") == sum(len(one) for one in expected)


@seldom
def test_snapshots_against_walks(bench: Bench) -> None:
    """A walk that undoes everything in a cycle is a snapshot, to the last cycle; small lists go round."""
    found = []
    inputs, _ = random_run(random.Random(5), Model(2, 96, 64, 1), 300, 2, 16)
    for body in ("snapshots = 64;", "snapshots = 0; walk = 16;"):
        seen = Wide(bench, "rename_map", ports(2, 96), f"contexts = 2; registers = 96; list = 16; {body}").play(inputs, 300)
        for out in seen["out"]:
            for op in out["op"]:
                del op["snapshot"]
        found.append((seen["take"], [(out["count"], out["dest"], out["op"][: out["count"]]) for out in seen["out"]]))
    assert found[0] == found[1] and sum(taken >> 4 * c & 15 for taken in found[0][0] for c in range(2)) > 200


@pytest.mark.parametrize("walk", sampled([1, 2, 4, 8], 4, 1))
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
        squash = {"squash": {at: {"valid": 1, "age": 0}}}
        seen = device.play(inputs | squash | rooms(at + 20), at + 20)
        wait = 1 if snapshots else max(1, -(-behind // walk))
        assert [n for n, taken in enumerate(seen["take"][at:]) if taken] == list(range(wait, 20))
        [op] = seen["out"][at + wait + 1]["op"][:1]
        assert (op["age"], op["source"][:2], op["dest"]) == (1, [1, behind], 32 + behind), "names are those of before"
        assert device.stat("walked") == (0 if snapshots else -(-behind // walk))


def test_registers_must_be_enough(bench: Bench) -> None:
    text = "import wide_types;\ninstance dut : rename_map { registers = 32; };\n"
    text += "".join(f"instance s{p} : source; s{p}.out -> dut.{p};\n" for p in ("in", "list_room", "integer_room", "memory_room", "squash", "retired"))
    text += "".join(f"instance k{p} : sink; dut.{p} -> k{p}.in;\n" for p in ("take", "out"))
    assert "32 registers of programs need at least 33 physical registers, not 32" in bench.refuse(text)
    text = text.replace("registers = 32", "contexts = 3; registers = 94")
    assert "94 registers of programs need at least 95 physical registers, not 94" in bench.refuse(text)
    assert "renaming has a ring for each of 3 contexts, and is connected on 1 lanes" in bench.refuse(text.replace("94", "95"))


@seldom
def test_a_squash_of_all_is_done_at_once(bench: Bench) -> None:
    """Without snapshots, too: all registers are free but those of the map, which is what is committed."""
    for body in ("snapshots = 2;", "snapshots = 0;"):
        device = Wide(bench, "rename_map", PORTS, f"registers = 36; walk = 1; {body}")
        names = ring(micro_op(dest=3), micro_op(BRANCH), micro_op(dest=4), micro_op(dest=3))
        seen = device.play({
            "in": {0: names, 4: ring(micro_op(dest=5, source=(3, 4)), micro_op(BRANCH), micro_op(BRANCH)), 5: ring(*(micro_op(dest=6) for _ in range(4)))},
            "retired": {3: {"count": 1, "old": [3]}}, "squash": {3: {"valid": 1, "all": 1, "age": 0}},
        } | rooms(7), 7)  # fmt: skip
        assert seen["take"] == [4, 0, 0, 0, 3, 3, 0], "both snapshots are free again, and three registers behind the one named since"
        first = seen["out"][5]["op"][0]
        assert (first["age"], first["source"], first["dest"], first["old"]) == (1, [32, 4, 0], 35, 5)
        assert [op["dest"] for op in seen["out"][6]["op"][:3]] == [3, 34, 33], "given back from the youngest on"


@seldom
def test_contexts_take_turns(bench: Bench) -> None:
    """The first is another in each cycle, and stays it until there is room for it; the others have what it leaves."""
    device = Wide(bench, "rename_map", ports(2, 128), "contexts = 2; registers = 128;")
    three, loads = ring(*(micro_op(dest=n) for n in (1, 2, 3))), ring(micro_op(LOAD, dest=4), micro_op(dest=5))
    memory = {"memory_room[0]": {0: 9, 1: 1, 2: 0, 3: 9, 4: 9}}
    room = {"list_room": {cycle: each(16, 16) for cycle in range(5)}}
    seen = device.play({"in[0]": dict.fromkeys(range(5), three), "in[1]": dict.fromkeys(range(5), loads)} | rooms(5) | room | memory, 5)
    assert [(taken & 15, taken >> 4) for taken in seen["take"]] == [(3, 1), (3, 0), (3, 0), (2, 2), (3, 1)]
