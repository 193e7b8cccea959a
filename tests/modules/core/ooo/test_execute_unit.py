"""execute_unit: results, where branches go and whether that was predicted, in the cycle that its latency says."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide

PORTS = {"in": ("in", 1, "operands"), "results": ("out", 1, "result"), "done": ("out", 2, "completion"), "squash": ("in", 1, "squash_order")}
M = 0xFFFFFFFF


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


COMPARES = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: signed(a) < signed(b), "ge": lambda a, b: signed(a) >= signed(b),
    "ltu": lambda a, b: a < b, "geu": lambda a, b: a >= b,
}  # fmt: skip
OPERATIONS = {
    "add": lambda a, b: a + b & M, "sub": lambda a, b: a - b & M, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "slt": lambda a, b: int(signed(a) < signed(b)), "sltu": lambda a, b: int(a < b), "sll": lambda a, b: a << (b & 31) & M,
    "srl": lambda a, b: a >> (b & 31), "sra": lambda a, b: signed(a) >> (b & 31) & M,
}  # fmt: skip


def item(age: int, control: dict[str, object], a: int, b: int, dest: int = 0, pc: int = 0, following: int = 0, immediate: int = 0) -> dict[str, object]:
    op = {"pc": pc, "next": following, "immediate": immediate, "control": control, "snapshot": age % 8}
    return {"op": op, "age": age, "dest": dest, "value": [a, b]}


@pytest.mark.parametrize("latency", [1, 2, 4])
def test_arithmetic(latency: int, bench: Bench) -> None:
    device = Wide(bench, "execute_unit", PORTS, f"latency = {latency};")
    r, given, cycles = random.Random(5), {}, 120
    expected: list = [(0, 0)] * (cycles + latency)
    for cycle in range(cycles):
        if r.random() < 0.2:
            continue
        name, a, b, immediate = r.choice(list(OPERATIONS)), r.getrandbits(32), r.choice([r.getrandbits(32), r.randrange(40)]), r.getrandbits(1)
        control = {"kind": "alu", "alu": name, "immediate": immediate}
        given[cycle] = item(cycle, control, a, 5 if immediate else b, dest=1 + cycle, immediate=b)
        expected[cycle + latency] = (1 + cycle, OPERATIONS[name](a, b))
    seen = device.play({"in": given}, cycles)
    assert [(one["dest"], one["value"] if one["dest"] else 0) for one in seen["results"]] == expected[:cycles]
    for lane in range(2):
        assert [one["age"] + 1 if one["valid"] else 0 for one in seen[f"done[{lane}]"]] == [dest for dest, _ in expected[:cycles]]
    assert device.stat("executed") == len(given)


def test_branches(bench: Bench) -> None:
    device = Wide(bench, "execute_unit", PORTS)
    r, given, expected = random.Random(6), {}, [None]
    for cycle in range(200):
        kind, a = r.choice(["branch", "branch", "jump", "indirect"]), r.getrandbits(32)
        b, pc, immediate, compare = r.choice([a, r.getrandbits(32)]), 4 * r.randrange(1000), 4 * r.randrange(1000), r.choice(list(COMPARES))
        taken = kind != "branch" or COMPARES[compare](a, b)
        target = (a + immediate & M & ~1) if kind == "indirect" else immediate if taken else pc + 4
        following = r.choice([target, pc + 4, immediate])
        given[cycle] = item(cycle, {"kind": kind, "compare": compare}, a, b, 9, pc, following, immediate)
        expected.append((1, int(target != following), 1, int(taken), target, pc + 4, cycle % 8))
    seen = device.play({"in": given}, 200)["done[0]"]
    found = [tuple(one[name] for name in ("valid", "redirects", "branch", "taken", "target", "value", "snapshot")) for one in seen]
    assert found[1:] == expected[1:200] and found[0][0] == 0


@pytest.mark.parametrize("latency", [1, 3])
def test_squash(latency: int, bench: Bench) -> None:
    """What is younger is dropped wherever it is, in the cycle in which it comes as well."""
    device = Wide(bench, "execute_unit", PORTS, f"latency = {latency};")
    given = {cycle: item(10 + cycle, {"kind": "alu"}, 1, 1, dest=5) for cycle in range(4)}
    seen = device.play({"in": given, "squash": {3: {"valid": 1, "age": 11}}}, 8)["done[0]"]
    shown = [cycle for cycle, one in enumerate(seen) if one["valid"]]
    assert shown == ([1, 2, 3] if latency == 1 else [3, 4])


def test_another_arithmetic(bench: Bench) -> None:
    device = Wide(bench, "execute_unit", PORTS, "compute = <<< return a * 10 + b; >>>;")
    assert device.play({"in": {0: item(0, {"kind": "alu"}, 7, 3, dest=5)}}, 2)["results"][1] == {"dest": 5, "value": 73}


def test_one_instruction_at_a_time(bench: Bench) -> None:
    text = "import wide_types;\ninstance dut : execute_unit;\ninstance s[3] : source; s[0].out -> dut.in; s[1].out -> dut.in; s[2].out -> dut.squash;\n"
    text += "instance k[2] : sink; dut.results -> k[0].in; dut.done -> k[1].in;"
    assert "a unit executes one instruction at a time" in bench.refuse(text)
