"""core_issue: registers read, interlocks for every kind of producer and consumer, branches, annulled delay slots."""

import pytest

from tests.modules import mips
from tests.modules.harness import Bench, Ran, collect, happened
from tests.modules.mips import BundleDevice, bypass, control, decoded, encode, issued, pack, reply, request, struct

PC = 0x1000
NONE, FETCH, MEMORY, LOAD_USE, BRANCH, HALTED = 0, 1, 2, 5, 6, 7  # of core_stall


def issue(bench: Bench, halts: bool = False) -> BundleDevice:
    """Both lanes of `registers` are answered by a register file whose register n holds 100 + n."""
    ports = {
        "in": ("in", 1, "core_decoded"), "out": ("out", 1, "core_issued"), "redirect": ("out", 1, "uint32"),
        "registers.request": ("out", 2, "mem_request(32)"), "registers.reply": ("in", 2, "mem_reply(32)"),
        "execute": ("in", 1, "core_bypass"), "memory": ("in", 1, "core_bypass"), "busy": ("in", 1, "bool"),
        "muldiv": ("in", 1, "muldiv_state"), **({"stopped": ("in", 1, "bool")} if halts else {}),
    }  # fmt: skip
    return BundleDevice(bench, "core_issue", ports, after=collect("dut", "interlock(pc, stall)", "issue(pc)", "turn(stall)"))


READY, OCCUPIED = struct(hi=0, lo=0, ready=True), struct(hi=0, lo=0, ready=False)


def play(bench: Bench, rows: list[dict[str, object]]) -> Ran:
    """One row per cycle; what is not given is a quiet pipeline with 10 and 20 in rs and rt."""
    quiet = {"registers_reply[0]": reply(10), "registers_reply[1]": reply(20), "execute": bypass(), "memory": bypass(),
             "busy": False, "muldiv": READY}  # fmt: skip
    columns = list(dict.fromkeys(key for row in rows for key in {**quiet, **row}))
    table = [" | ".join(columns)]
    for row in rows:
        cells = {**quiet, **row}
        table.append(" | ".join(str(cells.get(c, "-")).lower() if isinstance(cells.get(c), bool) else str(cells.get(c, "-"))
                                for c in columns))
    return issue(bench, "stopped" in columns).check_table("\n".join(table))


ADDU = encode("addu", 1, 2, 3)
IN = decoded(PC, "addu", ADDU)
OUT = issued(PC, ADDU, control("addu", ADDU), 0, 10, 20)


def test_registers_are_read(bench: Bench) -> None:
    play(bench, [{"in": IN, "in.ack": 1, "out": OUT, "redirect": ".", "registers_request[0]": request("read", 4),
                  "registers_request[1]": request("read", 8)}])  # fmt: skip


def instruction(name: str, **fields: int) -> str:
    return decoded(PC, name, encode(name, **fields))


# consumer, (execute, memory) producers of the register it reads, and whether it waits
LOAD, RESULT = {"loads": True}, {}
CONSUMERS = {
    "rs of an ALU operation": (("addu", {"rs": 1, "rt": 9, "rd": 3}), 1),
    "rt of an ALU operation": (("addu", {"rs": 9, "rt": 1, "rd": 3}), 1),
    "address of a load": (("lw", {"rs": 1, "rt": 3}), 1),
    "data of a store": (("sw", {"rs": 9, "rt": 1}), 1),
    "old value of an unaligned load": (("lwl", {"rs": 9, "rt": 1}), 1),
    "first of a branch": (("beq", {"rs": 1, "rt": 9}), 2),
    "second of a branch": (("bne", {"rs": 9, "rt": 1}), 2),
    "target of a jump": (("jr", {"rs": 1}), 2),
    "index of a dispatch": (("joff", {"rs": 9, "rt": 1}), 2),
    "operand of a multiplication": (("mult", {"rs": 1, "rt": 9}), 1),
    "condition of a trap": (("teq", {"rs": 9, "rt": 1}), 1),
}


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_interlocks(consumer: str, bench: Bench) -> None:
    """A load just before always makes it wait; branches also wait for a result just before and a load before that."""
    (name, fields), stage = CONSUMERS[consumer]
    item = instruction(name, **fields)
    branch = stage == 2
    ran = play(bench, [
        {"in": item, "in.ack": 0, "out": ".", "redirect": ".", "execute": bypass(1, loads=True)},
        {"in": item, "in.ack": 0 if branch else 1, "execute": bypass(1)},
        {"in": item, "in.ack": 0 if branch else 1, "memory": bypass(1, loads=True)},
        {"in": item, "in.ack": 1, "memory": bypass(1)},
        {"in": item, "in.ack": 1, "execute": bypass(7, loads=True), "memory": bypass(8, loads=True)},
    ])  # fmt: skip
    assert ran.counted("dut") == ({"issued": 2, "stall_branch": 3} if branch else {"issued": 4, "stall_load_use": 1})
    waits = (0, 1, 2) if branch else (0,)
    assert happened(ran, "interlock") == [(cycle, PC, BRANCH if branch else LOAD_USE) for cycle in waits]
    assert happened(ran, "issue") == [(cycle, PC) for cycle in range(5) if cycle not in waits]


@pytest.mark.parametrize(("name", "fields"), [("lui", {"rt": 1}), ("j", {}), ("mfhi", {"rd": 1}), ("sync", {})])
def test_what_reads_nothing_waits_for_nothing(name: str, fields: dict[str, int], bench: Bench) -> None:
    play(bench, [{"in": instruction(name, **fields), "in.ack": 1, "execute": bypass(1, loads=True), "memory": bypass(1, loads=True)}])


def test_the_multiply_divide_unit_is_waited_for(bench: Bench) -> None:
    for name, fields in (("mfhi", {"rd": 1}), ("mtlo", {"rs": 1}), ("mult", {"rs": 1, "rt": 2}), ("div", {"rs": 1, "rt": 2})):
        item = instruction(name, **fields)
        ran = play(bench, [{"in": item, "in.ack": 0, "out": ".", "muldiv": OCCUPIED},
                           {"in": item, "in.ack": 0, "out": ".", "execute": bypass(occupies=True)},
                           {"in": item, "in.ack": 1}])  # fmt: skip
        assert ran.counted("dut") == {"issued": 1, "stall_multiply_divide": 2}
    play(bench, [{"in": IN, "in.ack": 1, "muldiv": OCCUPIED, "execute": bypass(occupies=True)}])


def test_a_busy_memory_stage_holds_everything(bench: Bench) -> None:
    ran = play(bench, [{"in": IN, "in.ack": 0, "out": ".", "busy": True}, {"in": IN, "in.ack": 1, "out": OUT}, {"in": "."}])
    assert ran.counted("dut") == {"issued": 1, "stall_memory": 1, "stall_fetch": 1}
    assert not happened(ran, "interlock"), "nothing is wrong with the instruction"
    assert happened(ran, "turn") == [(0, MEMORY), (1, NONE), (2, FETCH)]


def test_a_core_that_is_halted_waits_for_nothing(bench: Bench) -> None:
    """Once nothing is in flight; the memory stage comes first."""
    halted = [{"in": ".", "stopped": True}] * 2 + [{"in": ".", "stopped": True, "busy": True}]
    rows = [*halted, {"in": ".", "stopped": False}, {"in": IN, "in.ack": 1, "out": OUT, "stopped": False}]
    ran = play(bench, rows)
    assert ran.counted("dut") == {"halted": 2, "stall_memory": 1, "stall_fetch": 1, "issued": 1}
    assert happened(ran, "turn") == [(0, HALTED), (2, MEMORY), (3, FETCH), (4, NONE)]


def test_the_next_stage_may_refuse(bench: Bench) -> None:
    ran = play(bench, [{"in": IN, "in.ack": 0, "out": OUT, "out.ack": 0}, {"in": IN, "in.ack": 1, "out": OUT, "out.ack": 1}])
    assert ran.counted("dut") == {"issued": 1, "stall_structural": 1}


M1 = 0xFFFFFFFF
def test_a_product_that_is_waited_for_counts_as_the_units_work(bench: Bench) -> None:
    """It goes to a register from the execute stage, which takes nothing until it is there."""
    multiplying = mips.shown(pack(dest=7, muldiv="mul"))
    ran = play(bench, [{"in": IN, "in.ack": 0, "out.ack": 0, "execute": multiplying}, {"in": IN, "in.ack": 1, "out": OUT, "out.ack": 1}])
    assert ran.counted("dut") == {"issued": 1, "stall_multiply_divide": 1}


BRANCHES = [
    ("beq", 5, 5, True), ("beq", 5, 6, False), ("bne", 5, 6, True), ("bne", 5, 5, False), ("blez", 0, 0, True),
    ("blez", M1, 0, True), ("blez", 1, 0, False), ("bgtz", 1, 0, True), ("bgtz", 0, 0, False), ("bgtz", M1, 0, False),
    ("bltz", M1, 0, True), ("bltz", 0, 0, False), ("bgez", 0, 0, True), ("bgez", 0x80000000, 0, False),
    ("bgezal", 3, 0, True), ("bltzal", 3, 0, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "a", "b", "taken"), BRANCHES)
def test_branches(name: str, a: int, b: int, taken: bool, bench: Bench) -> None:
    fields = {"rs": 1, "rt": 2} if name in ("beq", "bne") else {"rs": 1}
    item = decoded(PC, name, encode(name, **fields), 0x40)
    target = PC + 4 + 0x40 if taken else "."
    play(bench, [{"in": item, "in.ack": 1, "redirect": target, "registers_reply[0]": reply(a), "registers_reply[1]": reply(b)}])


def test_a_branch_takes_the_result_in_the_memory_stage(bench: Bench) -> None:
    item = decoded(PC, "beq", encode("beq", 1, 2), 0x40)
    play(bench, [{"in": item, "redirect": ".", "memory": bypass(1, value=21)},
                 {"in": item, "redirect": PC + 0x44, "memory": bypass(1, value=20)},
                 {"in": item, "redirect": PC + 0x44, "memory": bypass(2, value=10)}])  # fmt: skip


def test_jumps(bench: Bench) -> None:
    word = encode("jal", low=0x12345)
    play(bench, [{"in": decoded(0x10001000, "jal", word, 0x12345 << 2), "redirect": 0x10000000 | 0x12345 << 2},
                 {"in": instruction("jr", rs=1), "redirect": 10}, {"in": instruction("jalr", rs=1, rd=3), "redirect": 10},
                 {"in": instruction("joff", rs=1, rt=2), "redirect": 10 + 8 * 20}])  # fmt: skip


def test_a_likely_branch_that_falls_through_annuls_one_instruction(bench: Bench) -> None:
    """The annulled one waits for nobody and writes nothing; the one behind it is itself again."""
    likely = decoded(PC, "beql", encode("beql", 1, 2), 0x40)
    annulled = issued(PC, ADDU, pack(annulled=1), 0, 10, 20)
    play(bench, [{"in": likely, "redirect": "."}, {"in": IN, "in.ack": 1, "out": annulled, "execute": bypass(1, loads=True)},
                 {"in": IN, "in.ack": 1, "out": OUT}])  # fmt: skip
    taken = {"registers_reply[0]": reply(5), "registers_reply[1]": reply(5)}
    play(bench, [{"in": likely, "redirect": PC + 0x44, **taken}, {"in": IN, "in.ack": 1, "out": OUT}])


def test_a_new_pc_forgets_the_annulment(bench: Bench) -> None:
    likely = decoded(PC, "beql", encode("beql", 1, 2), 0x40)
    play(bench, [{"in": likely}, {"in": decoded(PC, "addu", ADDU, fresh=True), "out": OUT}])
