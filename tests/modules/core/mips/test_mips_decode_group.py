"""mips_decode_group: the operations of every instruction, as the table says, in groups; delay slots within a group and behind it; faults."""

import random

import pytest

from tests.isa.streams import generate, table
from tests.modules.harness import Bench, collect, happened
from tests.modules.wide import Wide
from tests.sample import sampled

M = 0xFFFFFFFF
PORTS = {"in": ("in", 1, "word_group(4)"), "out": ("out", 1, "op_group(12)")}
HI, LO, BETWEEN = 32, 33, 34
# What branches compare of rs and rt, and jumps.
COMPARES = {"eq": ("eq", "rs", "rt"), "ne": ("ne", "rs", "rt"), "lez": ("ge", "0", "rs"), "gtz": ("lt", "0", "rs"), "ltz": ("lt", "rs", "0"), "gez": ("ge", "rs", "0")}
# Product, first factor, second, what is added, and destination; `add` adds two registers.
PRODUCTS = {
    "mul": [("low", "rs", "rt", "0", "rd")], "mult": [("high", "rs", "rt", "0", "hi"), ("low", "rs", "rt", "0", "lo")],
    "multu": [("high_unsigned", "rs", "rt", "0", "hi"), ("low", "rs", "rt", "0", "lo")],
    "madd": [("high", "rs", "rt", "lo", "between"), ("low", "rs", "rt", "lo", "lo"), ("add", "hi", "between", "0", "hi")],
    "maddu": [("high_unsigned", "rs", "rt", "lo", "between"), ("low", "rs", "rt", "lo", "lo"), ("add", "hi", "between", "0", "hi")],
    "msub": [("high_less", "rs", "rt", "lo", "between"), ("low_less", "rs", "rt", "lo", "lo"), ("add", "hi", "between", "0", "hi")],
    "msubu": [("high_less_unsigned", "rs", "rt", "lo", "between"), ("low_less", "rs", "rt", "lo", "lo"), ("add", "hi", "between", "0", "hi")],
    "div": [("quotient", "rs", "rt", "0", "lo"), ("low_less", "lo", "rt", "rs", "hi")], "divu": [("quotient_unsigned", "rs", "rt", "0", "lo"), ("low_less", "lo", "rt", "rs", "hi")],
    "mfhi": [("add", "hi", "0", "0", "rd")], "mflo": [("add", "lo", "0", "0", "rd")], "mthi": [("add", "rs", "0", "0", "hi")], "mtlo": [("add", "rs", "0", "0", "lo")],
}  # fmt: skip


@pytest.fixture(scope="module")
def device(bench: Bench) -> Wide:
    return Wide(bench, "mips_decode_group", PORTS, after=collect("dut", "decoded(pc, word)"))


def signed(value: int) -> int:
    return value - (1 << 16) if value & 0x8000 else value


def registers(word: int) -> dict[str, int]:
    return {"0": 0, "rs": word >> 21 & 31, "rt": word >> 16 & 31, "rd": word >> 11 & 31, "hi": HI, "lo": LO, "between": BETWEEN, "ra": 31}


def product(word: int, steps: list[tuple[str, str, str, str, str]]) -> list[dict[str, object]]:
    names, found = registers(word), []
    for op, a, b, c, dest in steps:
        kind = {"kind": "alu", "alu": "add"} if op == "add" else {"kind": "divide" if "quotient" in op else "multiply", "product": op}
        found.append(kind | {"source": [names[a], names[b], names[c]], "dest": names[dest]})
    return found


def branch(c: dict[str, str], pc: int, word: int) -> dict[str, object]:
    names, condition, dest = registers(word), c["branch"], registers(word)[c.get("dest", "0")]
    plain = "call" if dest == 31 else "jump"
    if condition == "jump":
        return {"kind": "jump", "source": [0, 0, 0], "dest": dest, "flow": plain, "immediate": (pc + 4) & 0xF0000000 | (word & 0x3FFFFFF) << 2}
    if condition == "register":
        return {"kind": "indirect", "source": [names["rs"], 0, 0], "dest": dest, "flow": "subroutine_return" if names["rs"] == 31 and dest == 0 else plain}
    compare, a, b = COMPARES[condition]
    always = condition == "eq" and names["rs"] == names["rt"]
    return {
        "kind": "branch", "compare": compare, "source": [names[a], names[b], 0], "dest": dest, "flow": "jump" if always else "conditional",
        "likely": int(c.get("likely") == "yes"), "immediate": pc + 4 + (signed(word & 0xFFFF) << 2) & M,
    }  # fmt: skip


def operand(c: dict[str, str], word: int) -> int:
    kinds = {"signed": signed(word & 0xFFFF), "unsigned": word & 0xFFFF, "upper": (word & 0xFFFF) << 16, "shift": word >> 6 & 31}
    first, last = word >> 6 & 31, word >> 11 & 31
    fields = {"extracted": first | (last + 1) << 8, "inserted": first | max(last + 1 - first, 0) << 8}
    return (kinds | fields).get(c.get("imm", ""), 0) & M


def expected(i: generate.Instruction, pc: int, word: int) -> list[dict[str, object]]:
    """From the table alone; what has no meaning for an operation is not looked at."""
    c, names = i.control, registers(word)
    dest = names[c.get("dest", "0")]
    if i.name in PRODUCTS:
        return product(word, PRODUCTS[i.name])
    if "branch" in c:
        return [branch(c, pc, word)]
    if "mem" in c:
        base, reads = (names[one] if one in i.reads else 0 for one in ("rs", "rt"))
        return [{"kind": c["mem"], "size": int(c["size"]), "sign": int(c.get("sign") == "yes"), "part": c.get("part", "whole"), "source": [base, reads, 0], "dest": dest, "immediate": operand(c, word)}]
    trap = c.get("trap", "none")
    if trap in ("syscall", "breakpoint") or (dest == 0 and trap == "none"):
        return [{"kind": "none", "trap": trap, "dest": 0, "needs": {}}]
    if "move" in c:
        return [{"kind": "select", "compare": "eq" if c["move"] == "zero" else "ne", "source": [names["rs"], names["rt"], dest], "dest": dest}]
    adds = c["alu"] == "or" and c["b"] == "rt" and names["rt"] == 0  # as the pipeline's decoder has it
    source = [names.get({"zero": "0", "imm": "0"}.get(c[side], c[side]), 0) for side in ("a", "b")]
    found = {"kind": "alu", "alu": "add" if adds else c["alu"], "trap": trap, "source": [*source, 0], "dest": dest, "immediate_operand": int(c["b"] == "imm")}
    return [found | ({"immediate": operand(c, word)} if "imm" in c else {})]


def decoded(op: dict) -> dict[str, object]:
    """The same of what came out; members of a packed word that are 0 are not printed."""
    defaults = {"kind": "alu", "alu": "add", "compare": "eq", "product": "low", "trap": "none", "flow": "none", "part": "whole", "size": 0, "sign": 0, "likely": 0}
    found = {name: op["control"].get(name, value) for name, value in defaults.items()} | {"immediate_operand": op["control"].get("immediate", 0)}
    return found | {name: op[name] for name in ("source", "dest", "immediate", "needs")}


def needs(op: dict) -> dict[str, int]:
    kind, c = op["control"].get("kind", "alu"), op["control"]
    wanted = {
        "memory": kind in ("load", "linked", "conditional", "barrier", "store"), "integer": kind in ("alu", "branch", "jump", "indirect", "select"), "product": kind in ("multiply", "divide"),
        "dest": op["dest"] != 0, "snapshot": c.get("flow", "none") != "none",
    }  # fmt: skip
    return {name: 1 for name, value in wanted.items() if value}


@pytest.mark.parametrize("seed", sampled([1, 2], 2))
def test_every_instruction_in_groups(seed: int, device: Wide) -> None:
    r = random.Random(seed)
    words = [(i, i.match | r.getrandbits(32) & ~i.mask & M) for i in table("mips32r2") for _ in range(8)]
    r.shuffle(words)
    inputs, wanted = {}, []
    for cycle in range(len(words) // 4):
        pc, count, delayed = 4 * r.randrange(1 << 20), r.randrange(1, 5), r.getrandbits(1)
        group = words[4 * cycle : 4 * cycle + count]
        inputs[cycle] = {"count": count, "top": cycle % 100, "history": cycle, "delayed": delayed, "pc": pc, "next": 76, "target": 400, "word": [word for _, word in group]}
        want = []
        for k, (i, word) in enumerate(group):
            following = 76 if k + 2 == count else 400 if k + 1 == count and delayed else pc + 4 * k + 8
            operations = expected(i, pc + 4 * k, word)
            want += [(pc + 4 * k, word, following, n + 1 < len(operations), one) for n, one in enumerate(operations)]
        wanted.append(want)
    for cycle, group in enumerate(device.play({"in": inputs}, len(wanted))["out"]):
        assert group["count"] == len(wanted[cycle])
        for op, (pc, word, following, more, one) in zip(group["op"], wanted[cycle]):
            assert (op["pc"], op["word"], op["next"], op["top"], op["history"]) == (pc, word, following, cycle % 100, cycle)
            assert op["control"].get("more", 0) == int(more), hex(word)
            found = decoded(op)
            assert {name: found[name] for name in one} == one, hex(word)
            assert op["needs"] == needs(op), hex(word)
    told = happened(device.ran, "decoded")
    assert [(cycle, pc, word) for cycle, pc, word in told] == [(cycle, one["pc"] + 4 * k, word) for cycle, one in inputs.items() for k, word in enumerate(one["word"])]


def test_words_that_are_no_instructions(device: Wide) -> None:
    """Those of system control among them; and what could not be fetched."""
    words = [0xFFFFFFFF, 0x40096000, 0x7C00003F, 0]
    seen = device.play({"in": {0: {"count": 4, "pc": 64, "word": words}, 1: {"count": 1, "fault": 1, "pc": 130, "next": 134, "word": [0x13]}}}, 3)["out"]
    assert [op["control"] for op in seen[0]["op"][:4]] == [{"kind": "none", "trap": "reserved"}] * 3 + [{"kind": "none"}]
    fault = seen[1]["op"][0]
    assert (fault["control"], fault["pc"], fault["next"], fault["dest"], seen[1]["count"]) == ({"kind": "none", "trap": "fetch"}, 130, 134, 0, 1)
    assert seen[2] is None


@pytest.mark.parametrize(("word", "kinds"), [(0x0000000B | 8 << 21 | 9 << 16 | 10 << 11, ["alu"]), (0x0000000A | 8 << 21 | 9 << 16, ["alu", "indirect"])])
def test_another_set(word: int, kinds: list[str], bench: Bench) -> None:
    """PRI; JOFF, which shifts its index first."""
    device = Wide(bench, "mips_decode_group", PORTS, "set = mips_isa.prijoff;")
    group = device.play({"in": {0: {"count": 1, "pc": 64, "word": [word]}}}, 1)["out"][0]
    ops = group["op"][: group["count"]]
    assert [op["control"].get("kind", "alu") for op in ops] == kinds
    if len(ops) > 1:
        assert (ops[0]["source"], ops[0]["immediate"], ops[0]["dest"], ops[1]["source"]) == ([9, 0, 0], 3, BETWEEN, [8, BETWEEN, 0])
