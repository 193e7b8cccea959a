"""execute_unit: results, where branches go and whether that was predicted, in the cycle that its latency says."""

import random

import pytest

from tests.modules.harness import Bench
from tests.modules.wide import Wide, completions
from tests.sample import sampled, seldom

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
    op = {"pc": pc, "next": following, "immediate": immediate, "control": control}
    return {"op": op, "age": age, "dest": dest, "value": [a, b]}


@pytest.mark.parametrize("latency", sampled([1, 2, 4], 3, 1))
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
        assert [one["age"] + 1 if one["valid"] else 0 for one in completions(seen[f"done[{lane}]"])] == [dest for dest, _ in expected[:cycles]]
    assert device.stat("executed") == len(given)


def test_branches(bench: Bench) -> None:
    device = Wide(bench, "execute_unit", PORTS)
    r, given, expected = random.Random(6), {}, [None]
    for cycle in range(200):
        kind, a = r.choice(["branch", "branch", "jump", "indirect"]), r.getrandbits(32)
        b, pc, immediate, compare = r.choice([a, r.getrandbits(32)]), 4 * r.randrange(1000), 4 * r.randrange(1000), r.choice(list(COMPARES))
        taken = kind != "branch" or COMPARES[compare](a, b)
        target = (a + b + immediate & M & ~1) if kind == "indirect" else immediate if taken else pc + 4
        following = r.choice([target, pc + 4, immediate])
        given[cycle] = item(cycle, {"kind": kind, "compare": compare}, a, b, 9, pc, following, immediate)
        expected.append((1, int(target != following), int(taken), target, pc + 4))
    seen = device.play({"in": given}, 200)["done[0]"]
    found = [tuple(one[name] for name in ("valid", "redirects", "taken", "target", "value")) for one in completions(seen)]
    assert found[1:] == expected[1:200] and found[0][0] == 0


@pytest.mark.parametrize("latency", [1, 3])
def test_squash(latency: int, bench: Bench) -> None:
    """What is younger is dropped wherever it is, in the cycle in which it comes as well."""
    device = Wide(bench, "execute_unit", PORTS, f"latency = {latency};")
    given = {cycle: item(10 + cycle, {"kind": "alu"}, 1, 1, dest=5) for cycle in range(4)}
    seen = device.play({"in": given, "squash": {3: {"valid": 1, "age": 11}}}, 8)["done[0]"]
    shown = [cycle for cycle, one in enumerate(completions(seen)) if one["valid"]]
    assert shown == ([1, 2, 3] if latency == 1 else [3, 4])


TRIPLES = PORTS | {"in": ("in", 1, "operands(3)")}
TRAPS = [  # trap, operation, operands, what it is
    ("overflow", "add", 0x7FFFFFFF, 1, "overflowed"), ("overflow", "add", 0x7FFFFFFE, 1, "none"), ("overflow", "add", 0x80000000, M, "overflowed"),
    ("overflow", "sub", 0x80000000, 1, "overflowed"), ("overflow", "sub", 0, 0x80000000, "overflowed"), ("overflow", "sub", 5, 7, "none"),
    ("zero", "slt", 3, 3, "taken"), ("zero", "slt", 2, 3, "none"), ("nonzero", "sltu", 2, 3, "taken"), ("nonzero", "sub", 9, 9, "none"),
]  # fmt: skip


def test_results_that_trap(bench: Bench) -> None:
    """Computed all the same; that they trap is a note."""
    device = Wide(bench, "execute_unit", PORTS)
    given = {cycle: item(cycle, {"kind": "alu", "alu": op, "trap": trap}, a, b, 7) for cycle, (trap, op, a, b, _) in enumerate(TRAPS)}
    seen = device.play({"in": given}, len(TRAPS) + 1)["done[0]"][1:]
    assert [one["fault"] for one in completions(seen)] == [want for *_, want in TRAPS]
    assert [one["value"] for one in seen] == [OPERATIONS[op](a, b) for _, op, a, b, _ in TRAPS]


def test_what_chooses(bench: Bench) -> None:
    device = Wide(bench, "execute_unit", TRIPLES, "sources = 3;")
    cases = [("eq", 0, 5), ("eq", 1, 6), ("ne", 0, 6), ("ne", 1 << 31, 5), ("lt", M, 5), ("ge", M, 6)]
    given = {cycle: item(cycle, {"kind": "select", "compare": compare}, 5, b, 7) for cycle, (compare, b, _) in enumerate(cases)}
    for one in given.values():
        one["value"] = [*one["value"], 6]  # type: ignore[misc]
    assert [one["value"] for one in device.play({"in": given}, 7)["results"][1:]] == [want for *_, want in cases]


def products(a: int, b: int, c: int) -> dict[str, int]:
    signs = signed(a) * signed(b)
    return {
        "low": c + a * b & M, "low_less": c - a * b & M, "high": c + signs >> 32 & M, "high_less": c - signs >> 32 & M,
        "high_unsigned": c + a * b >> 32 & M, "high_less_unsigned": c - a * b >> 32 & M,
    }  # fmt: skip


def quotients(a: int, b: int) -> dict[str, int]:
    """By 0, too: what a restoring divider leaves."""
    if b == 0:
        return {"quotient": 1 if signed(a) < 0 else M, "quotient_unsigned": M}
    return {"quotient": abs(signed(a)) // abs(signed(b)) * (1 if signed(a) * signed(b) >= 0 else -1) & M, "quotient_unsigned": a // b}


@seldom
@pytest.mark.parametrize("latency", sampled([1, 6, 35], 3, 1))
def test_products_and_quotients(latency: int, bench: Bench) -> None:
    device = Wide(bench, "execute_unit", TRIPLES, f"sources = 3; latency = {latency};")
    r, given, expected = random.Random(7), {}, []
    corners = [0, 1, M, 1 << 31, (1 << 31) - 1]
    for cycle in range(160):
        a, b, c = (r.choice([r.getrandbits(32), r.choice(corners)]) for _ in range(3))
        kind = r.choice(["multiply", "divide"])
        op, value = r.choice(list((products(a, b, c) if kind == "multiply" else quotients(a, b)).items()))
        given[cycle] = item(cycle, {"kind": kind, "product": op}, a, b, 9) | {"value": [a, b, c]}
        expected.append(value)
    seen = device.play({"in": given}, 160 + latency)
    assert [one["value"] for one in seen["results"][latency:]] == expected


@seldom
def test_branches_with_a_delay_slot(bench: Bench) -> None:
    """They link to what is behind it; one that annuls it goes elsewhere than fetch did whenever it is not taken."""
    device = Wide(bench, "execute_unit", PORTS, "delay_slot = true; even_targets = false;")
    likely = {"kind": "branch", "compare": "eq", "likely": 1}
    given = {
        0: item(0, {"kind": "jump"}, 0, 0, 9, 0x100, 0x400, 0x400), 1: item(1, {"kind": "indirect"}, 0x203, 0, 9, 0x104, 0x203),
        2: item(2, likely, 1, 1, 0, 0x108, 0x400, 0x400), 3: item(3, likely, 1, 2, 0, 0x10C, 0x114, 0x400), 4: item(4, likely | {"likely": 0}, 1, 2, 0, 0x10C, 0x114, 0x400),
    }  # fmt: skip
    seen = device.play({"in": given}, 6)["done[0]"][1:]
    found = [(one["redirects"], one["taken"], one["target"], one["value"]) for one in completions(seen)]
    assert found == [(0, 1, 0x400, 0x108), (0, 1, 0x203, 0x10C), (0, 1, 0x400, 0x110), (1, 0, 0x114, 0x114), (0, 0, 0x114, 0x114)]


@seldom
def test_another_arithmetic(bench: Bench) -> None:
    device = Wide(bench, "execute_unit", PORTS, "compute = <<< return a * 10 + b + 1000 * immediate; >>>;")
    assert device.play({"in": {0: item(0, {"kind": "alu"}, 7, 3, dest=5, immediate=2)}}, 2)["results"][1] == {"dest": 5, "value": 2073}


def test_one_instruction_at_a_time(bench: Bench) -> None:
    text = "import wide_types;\ninstance dut : execute_unit;\ninstance s[3] : source; s[0].out -> dut.in; s[1].out -> dut.in; s[2].out -> dut.squash;\n"
    text += "instance k[2] : sink; dut.results -> k[0].in; dut.done -> k[1].in;"
    assert "a unit executes one instruction at a time" in bench.refuse(text)


@seldom
@pytest.mark.parametrize("latency", [1, 3])
def test_a_squash_is_of_one_context(latency: int, bench: Bench) -> None:
    """Of two contexts in turn; a cycle after the last came, all of one is dropped that is younger than its first."""
    device = Wide(bench, "execute_unit", PORTS, f"latency = {latency}; contexts = 2;")
    given = {cycle: item(cycle, {"kind": "alu", "alu": "add"}, cycle, 0, 1 + cycle) for cycle in range(4)}
    seen = device.play({"in": given, "squash": {3: {"valid": 1, "age": 0}}}, 9)
    found = [one["age"] for one in completions(seen["done[0]"]) if one["valid"]]
    assert found == ([0, 1, 2, 3] if latency == 1 else [0, 1, 3]) and device.stat("executed") == 4
