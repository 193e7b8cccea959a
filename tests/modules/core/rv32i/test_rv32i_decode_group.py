"""rv32i_decode_group: every instruction as the table says, alone and in groups; what branches are to a predictor; faults."""

import random

import pytest

from tests.isa.riscv import generate, table
from tests.modules.harness import Bench
from tests.modules.wide import Wide

M = 0xFFFFFFFF
PORTS = {"in": ("in", 1, "word_group(4)"), "out": ("out", 1, "op_group(4)")}


@pytest.fixture(scope="module")
def device(bench: Bench) -> Wide:
    return Wide(bench, "rv32i_decode_group", PORTS)


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def immediate(i: generate.Instruction, pc: int, word: int) -> int:
    """Of branches and jumps the target, if it is known; else the operand."""
    if i.name == "jal":
        return pc + signed((word >> 31) << 20 | word & 0xFF000 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1, 21) & M
    if i.name == "jalr":
        return signed(word >> 20, 12) & M
    if "branch" in i.control:
        return pc + signed((word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1, 13) & M
    kinds = {"signed": signed(word >> 20, 12), "store": signed(word >> 25 << 5 | word >> 7 & 31, 12), "shift": word >> 20 & 31, "upper": word & 0xFFFFF000, "pcupper": pc + (word & 0xFFFFF000)}
    return kinds.get(i.control.get("imm", ""), 0) & M


def flow(i: generate.Instruction, word: int) -> str:
    rd, rs1 = word >> 7 & 31, word >> 15 & 31
    if "branch" not in i.control:
        return "none"
    if i.name not in ("jal", "jalr"):
        return "conditional"
    if rd in (1, 5):
        return "call"
    return "subroutine_return" if i.name == "jalr" and rs1 in (1, 5) else "jump"


def expected(i: generate.Instruction, pc: int, word: int) -> dict[str, object]:
    """From the table and the documented layout alone; what has no meaning in a class is not looked at."""
    if "trap" in i.control:
        return {"kind": "none", "trap": i.control["trap"], "source": [0, 0, 0], "dest": 0, "needs": {}}
    kind = {"jal": "jump", "jalr": "indirect"}.get(i.name) or ("branch" if "branch" in i.control else i.control.get("mem", "alu"))
    source = [word >> 15 & 31 if "rs1" in i.reads else 0, word >> 20 & 31 if "rs2" in i.reads else 0, 0]
    dest = word >> 7 & 31 if i.writes else 0
    moves = kind in ("load", "store", "barrier")
    needs = {"memory": moves, "integer": not moves, "dest": dest != 0, "snapshot": flow(i, word) != "none"}
    found: dict[str, object] = {"kind": kind, "source": source, "dest": dest, "immediate": immediate(i, pc, word), "flow": flow(i, word)}
    found["needs"] = {name: 1 for name, value in needs.items() if value}
    if kind == "alu":
        found |= {"alu": "add" if i.control["alu"] == "second" else i.control["alu"], "immediate_operand": int(i.control.get("b") == "imm")}
    if kind == "branch":
        found["compare"] = i.control["branch"]
    if kind in ("load", "store"):
        found["size"] = int(i.control["size"])
    if kind == "load":
        found["sign"] = int(i.control.get("sign") == "yes")
    return found


def decoded(op: dict) -> dict[str, object]:
    """The same of what came out; members of a packed word that are 0 are not printed."""
    c = op["control"]
    found = {"kind": c.get("kind", "alu"), "trap": c.get("trap", "none"), "flow": c.get("flow", "none"), "alu": c.get("alu", "add"), "compare": c.get("compare", "eq")}
    found |= {"size": c.get("size", 0), "sign": c.get("sign", 0), "immediate_operand": c.get("immediate", 0)}
    return found | {name: op[name] for name in ("source", "dest", "immediate", "needs")}


@pytest.mark.parametrize("seed", [1, 2])
def test_every_instruction_in_groups(seed: int, device: Wide) -> None:
    r = random.Random(seed)
    words = [(i, i.match | r.getrandbits(32) & ~i.mask & M) for i in table() for _ in range(12)]
    r.shuffle(words)
    inputs, wanted = {}, []
    for cycle in range(len(words) // 4):
        pc, count = 4 * r.randrange(1 << 20), r.randrange(1, 5)
        group = words[4 * cycle : 4 * cycle + count]
        inputs[cycle] = {"count": count, "top": cycle % 100, "history": cycle, "pc": pc, "next": 77, "word": [word for _, word in group]}
        wanted.append([(pc + 4 * k, word, 77 if k + 1 == count else pc + 4 * k + 4, expected(i, pc + 4 * k, word)) for k, (i, word) in enumerate(group)])
    for cycle, group in enumerate(device.play({"in": inputs}, len(wanted))["out"]):
        assert group["count"] == len(wanted[cycle])
        for op, (pc, word, following, want) in zip(group["op"], wanted[cycle]):
            assert (op["pc"], op["word"], op["next"], op["top"], op["history"]) == (pc, word, following, cycle % 100, cycle)
            found = decoded(op)
            assert {name: found[name] for name in want} == want, hex(word)


def test_words_that_are_no_instructions(device: Wide) -> None:
    """Zeros among them, of which the table of what was decoded is full at first; and what could not be fetched."""
    words = [0, 0xFFFFFFFF, 0x02208033, 0x0000007F]
    seen = device.play({"in": {0: {"count": 4, "pc": 64, "word": words}, 1: {"count": 1, "fault": 1, "pc": 128, "next": 132, "word": [0x13]}}}, 3)["out"]
    assert [op["control"] for op in seen[0]["op"]] == [{"kind": "none", "trap": "reserved"}] * 4
    fault = seen[1]["op"][0]
    assert (fault["control"], fault["pc"], fault["next"], fault["dest"]) == ({"kind": "none", "trap": "fetch"}, 128, 132, 0)
    assert seen[2] is None
