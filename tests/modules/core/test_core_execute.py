"""core_execute with an ALU and a multiply/divide unit behind it: operands, forwarding, results and traps."""

import pytest

from tests.modules.harness import Bench
from tests.modules.mips import BundleDevice, bypass, control, encode, executed, failed, issued, pack, shown, struct


def execute(bench: Bench) -> BundleDevice:
    ports = {
        "in": ("in", 1, "core_issued"), "out": ("out", 1, "core_executed"), "a": ("out", 1, "uint32"), "b": ("out", 1, "uint32"),
        "op": ("out", 1, "alu_op"), "result": ("in", 1, "uint32"), "flags": ("in", 1, "alu_flags"),
        "muldiv": ("out", 1, "muldiv_request"), "hilo": ("in", 1, "muldiv_state"), "memory": ("in", 1, "core_bypass"),
        "writeback": ("in", 1, "core_bypass"), "bypass": ("out", 1, "core_bypass"),
    }  # fmt: skip
    return BundleDevice(bench, "core_execute", ports)


def flags(zero: bool = False, overflow: bool = False) -> str:
    return struct(zero=zero, negative=False, carry=False, overflow=overflow)


HILO = struct(hi=77, lo=88, ready=True)


def check(bench: Bench, name: str, expect: dict[str, object], *, word: int, memory: str = bypass(), writeback: str = bypass(),
          result: int = 1000, immediate: int = 500, codes: str | None = None) -> None:  # fmt: skip
    c = control(name, word)
    columns = {
        "in": issued(0x40, word, c, immediate, 10, 20), "result": result, "flags": codes or flags(), "hilo": HILO,
        "memory": memory, "writeback": writeback, **expect,
    }  # fmt: skip
    execute(bench).check_table(" | ".join(columns) + "\n" + " | ".join(str(v) for v in columns.values()))


ADDU = encode("addu", 1, 2, 3)


@pytest.mark.parametrize(
    ("memory", "writeback", "a", "b"),
    [
        (bypass(), bypass(), 10, 20),
        (bypass(1, value=100), bypass(), 100, 20),
        (bypass(2, value=100), bypass(), 10, 100),
        (bypass(), bypass(1, value=200), 200, 20),
        (bypass(1, value=100), bypass(1, value=200), 100, 20),
        (bypass(1, value=100), bypass(2, value=200), 100, 200),
        (bypass(0, value=100), bypass(31, value=200), 10, 20),
    ],
)
def test_the_newest_value_is_forwarded(memory: str, writeback: str, a: int, b: int, bench: Bench) -> None:
    c = control("addu", ADDU)
    check(bench, "addu", {"a": a, "b": b, "op": "add", "out": executed(0x40, ADDU, c, 1000, b)}, word=ADDU, memory=memory,
          writeback=writeback)


OPERANDS = {
    "subu": ("sub", 10, 20), "addiu": ("add", 10, 500), "lui": ("add", None, 500), "sll": ("sll", 20, 500),
    "sllv": ("sll", 20, 10), "lw": ("add", 10, 500), "sw": ("add", 10, 500), "slti": ("slt", 10, 500), "teqi": ("sub", 10, 500),
    "pri": ("priority", 10, 20),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERANDS)
def test_operands_and_operation(name: str, bench: Bench) -> None:
    op, a, b = OPERANDS[name]
    fields = {"lui": {"rt": 2}, "sll": {"rt": 2, "rd": 3}, "teqi": {"rs": 1}}.get(name, {"rs": 1, "rt": 2, "rd": 3})
    check(bench, name, {"op": op, "b": b} | ({"a": a} if a is not None else {}), word=encode(name, **fields))


def test_the_bypass_shows_what_is_here(bench: Bench) -> None:
    words = {"addu": ADDU, "lw": encode("lw", 1, 2), "sw": encode("sw", 1, 2), "mult": encode("mult", 1, 2), "mfhi": encode("mfhi", 0, 0, 3)}
    for name, word in words.items():
        check(bench, name, {"bypass": shown(control(name, word))}, word=word)


@pytest.mark.parametrize(("name", "fields", "asked", "value"), [
    ("mult", {"rs": 1, "rt": 2}, "{op=mult a=10 b=20}", None), ("divu", {"rs": 1, "rt": 2}, "{op=divu a=10 b=20}", None),
    ("mthi", {"rs": 1}, "{op=mthi a=10 b=20}", None), ("mfhi", {"rd": 3}, "{op=mfhi a=10 b=20}", 77),
    ("mflo", {"rd": 3}, "{op=mflo a=10 b=20}", 88), ("addu", {"rs": 1, "rt": 2, "rd": 3}, ".", 1000),
])  # fmt: skip
def test_multiply_and_divide(name: str, fields: dict[str, int], asked: str, value: int | None, bench: Bench) -> None:
    word = encode(name, **fields)
    expect = {"muldiv": asked}
    if value is not None:
        expect["out"] = executed(0x40, word, control(name, word), value, 20)
    check(bench, name, expect, word=word)


@pytest.mark.parametrize(("name", "rt", "made"), [("movz", 0, True), ("movz", 1, False), ("movn", 0, False), ("movn", 0x80000000, True)])
def test_conditional_moves(name: str, rt: int, made: bool, bench: Bench) -> None:
    """One that is not made writes nothing: whoever reads its destination gets what was there."""
    word = encode(name, 1, 2, 3)
    c = control(name, word)
    shown_control = c if made else c.replace(" dest=3", " dest=32")
    check(bench, name, {"a": 10, "b": 0, "out": executed(0x40, word, shown_control, 1000, rt)}, word=word, memory=bypass(2, value=rt))


def with_units(bench: Bench) -> BundleDevice:
    """What only later instruction sets use is connected as well."""
    device = {
        "in": ("in", 1, "core_issued"), "out": ("out", 1, "core_executed"), "a": ("out", 1, "uint32"), "b": ("out", 1, "uint32"),
        "op": ("out", 1, "alu_op"), "field": ("out", 1, "bit_field"), "result": ("in", 1, "uint32"), "flags": ("in", 1, "alu_flags"),
        "muldiv": ("out", 1, "muldiv_request"), "hilo": ("in", 1, "muldiv_state"), "product": ("in", 1, "muldiv_product"),
        "memory": ("in", 1, "core_bypass"), "writeback": ("in", 1, "core_bypass"), "bypass": ("out", 1, "core_bypass"),
    }  # fmt: skip
    return BundleDevice(bench, "core_execute", device)


def test_a_product_holds_its_instruction(bench: Bench) -> None:
    """The unit is asked all the time, and the request is committed when the product is taken."""
    word = encode("mul", 1, 2, 3)
    item, asked = issued(0x40, word, control("mul", word), 0, 10, 20), "{op=mul a=10 b=20}"
    done = executed(0x40, word, control("mul", word), 200, 20)
    more = f"1 | {flags()} | {HILO}"
    with_units(bench).check_table(
        "in | muldiv | muldiv.enable | product | out | out.ack | in.ack | result | flags | hilo\n"
        f"{item} | {asked} | 0 | {struct(value=7, ready=False)} | . | 1 | 0 | {more}\n"
        f"{item} | {asked} | 0 | {struct(value=200, ready=True)} | {done} | 0 | 0 | {more}\n"
        f"{item} | {asked} | 1 | {struct(value=200, ready=True)} | {done} | 1 | 1 | {more}\n"
    )


def test_without_a_unit_there_are_no_products(bench: Bench) -> None:
    word = encode("mul", 1, 2, 3)
    check(bench, "mul", {"out": executed(0x40, word, failed("reserved"), 1000, 20)}, word=word)


def test_a_field_is_what_the_immediate_says(bench: Bench) -> None:
    word = encode("ins", 1, 2, 0)
    item = issued(0x40, word, control("ins", word), 5 | 9 << 8, 10, 20)
    with_units(bench).check_table(
        f"in | a | b | op | field | result | flags | hilo | product\n{item} | 10 | 20 | ins | {struct(position=5, size=9)} | 3 | {flags()} | {HILO} | .\n"
    )


def test_calls_give_the_address_behind_the_delay_slot(bench: Bench) -> None:
    for name, fields in (("jal", {}), ("jalr", {"rs": 1, "rd": 3}), ("bgezal", {"rs": 1})):
        word = encode(name, **fields)
        check(bench, name, {"out": executed(0x40, word, control(name, word), 0x48, 20)}, word=word)


@pytest.mark.parametrize(("name", "codes", "trap"), [
    ("add", flags(overflow=True), "overflowed"), ("add", flags(), None), ("addi", flags(overflow=True), "overflowed"),
    ("sub", flags(overflow=True), "overflowed"), ("addu", flags(overflow=True), None), ("teq", flags(zero=True), "taken"),
    ("tne", flags(), "taken"), ("tlt", flags(), "taken"), ("tge", flags(zero=True), "taken"),
])  # fmt: skip
def test_traps(name: str, codes: str, trap: str | None, bench: Bench) -> None:
    word = encode(name, 1, 2, *([3] if "rd" in name or name in ("add", "sub", "addu") else []))
    c = failed(trap) if trap else control(name, word)
    check(bench, name, {"out": executed(0x40, word, c, 1000, 20)}, word=word, codes=codes)


@pytest.mark.parametrize(("name", "codes"), [("teq", flags()), ("tne", flags(zero=True))])
def test_traps_that_do_not_hold_leave_nothing(name: str, codes: str, bench: Bench) -> None:
    word = encode(name, 1, 2)
    check(bench, name, {"out": executed(0x40, word, pack(), 1000, 20)}, word=word, codes=codes)


def test_acceptance_is_that_of_the_next_stage(bench: Bench) -> None:
    item = issued(0x40, ADDU, control("addu", ADDU), 0, 10, 20)
    execute(bench).check_table(f"in | in.ack | out.ack | a.enable\n{item} | 0 | 0 | 0\n{item} | 1 | 1 | 1\n. | 1 | 1 | -")


def test_an_operand_that_is_zero_reads_no_register(bench: Bench) -> None:
    """Even when the instruction names and reads registers that hold something."""
    c = pack(a=0, b=0, rs=1, rt=2, dest=3)
    execute(bench).check_table(f"in | a | b | result | flags | hilo\n{issued(0x40, ADDU, c, 500, 10, 20)} | 0 | 0 | 0 | {flags()} | {HILO}")


def test_the_unit_is_requested_once_when_the_instruction_moves_on(bench: Bench) -> None:
    word = encode("mult", 1, 2)
    row = f"{issued(0x40, word, control('mult', word), 0, 10, 20)} | {{op=mult a=10 b=20}}"
    more = f"1 | {flags()} | {HILO}"
    execute(bench).check_table(
        "in | muldiv | muldiv.enable | out.ack | in.ack | result | flags | hilo\n"
        f"{row} | 0 | 0 | 0 | {more}\n{row} | 0 | 0 | 0 | {more}\n{row} | 1 | 1 | 1 | {more}\n"
    )
