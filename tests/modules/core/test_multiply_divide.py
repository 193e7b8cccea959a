"""multiply_divide: products, quotients and moves, and when they may be used."""

import pytest

from tests.modules.harness import Bench, Device

M = 0xFFFFFFFF
MIN = 0x80000000


def unit(bench: Bench, multiply: int = 3, divide: int = 5) -> Device:
    ports = {"in": ("in", 1, "muldiv_request"), "hilo": ("out", 1, "muldiv_state")}
    return Device(bench, "multiply_divide", ports, f"multiply_cycles = {multiply}; divide_cycles = {divide};",
                  before="import core_types;")


def ask(op: str, a: int = 0, b: int = 0) -> str:
    return f"{{op={op} a={a} b={b}}}"


def state(hi: int, lo: int, ready: bool) -> str:
    return f"{{hi={hi} lo={lo} ready={str(ready).lower()}}}"


@pytest.mark.parametrize(
    ("op", "a", "b", "hi", "lo"),
    [
        ("mult", 3, 4, 0, 12), ("mult", M, 5, M, 0xFFFFFFFB), ("mult", MIN, MIN, 0x40000000, 0),
        ("multu", M, M, 0xFFFFFFFE, 1), ("multu", M, 5, 4, 0xFFFFFFFB),
        ("div", 7, 2, 1, 3), ("div", 0xFFFFFFF9, 2, M, 0xFFFFFFFD), ("div", 7, 0xFFFFFFFE, 1, 0xFFFFFFFD),
        ("div", MIN, M, 0, MIN), ("div", 9, 0, 9, M), ("div", 0xFFFFFFF7, 0, 0xFFFFFFF7, 1),
        ("divu", 0xFFFFFFF9, 2, 1, 0x7FFFFFFC), ("divu", 9, 0, 9, M),
    ],
)  # fmt: skip
def test_results(op: str, a: int, b: int, hi: int, lo: int, bench: Bench) -> None:
    """The interpreter's arithmetic is the same; division by zero is what a restoring divider leaves."""
    unit(bench, 1, 1).check_table(f"in | hilo\n{ask(op, a, b)} | -\n. | {state(hi, lo, True)}")


def test_latencies(bench: Bench) -> None:
    """Ready is for an instruction that executes in the next cycle: a product after 3 cycles, a quotient after 5."""
    ran = unit(bench).check_table(
        f"""
        in                   | in.ack | hilo
        .                    | 1      | {state(0, 0, True)}
        {ask("mult", 3, 4)}  | 1      | {state(0, 0, True)}
        .                    | 1      | {state(0, 12, False)}
        .                    | 1      | {state(0, 12, True)}
        {ask("divu", 9, 2)}  | 1      | {state(0, 12, True)}
        .                    | 1      | {state(1, 4, False)}
        .                    | 1      | {state(1, 4, False)}
        .                    | 1      | {state(1, 4, False)}
        .                    | 1      | {state(1, 4, True)}
        """
    )
    assert ran.counted("dut") == {"busy": 3 + 5}


@pytest.mark.parametrize(("op", "hi", "lo"), [
    ("madd", 6, 0xFFFFFFFF), ("maddu", 11, 0xFFFFFFFF), ("msub", 7, 9), ("msubu", 2, 9), ("mul", 7, 4),
])  # fmt: skip
def test_products_are_added_to_what_was_there(op: str, hi: int, lo: int, bench: Bench) -> None:
    """7 * 2**32 + 4, and -5 or, without signs, 5 * 2**32 - 5."""
    unit(bench, 1, 1).check_table(
        f"in | hilo\n{ask('mthi', 7)} | -\n{ask('mtlo', 4)} | -\n{ask(op, M, 5)} | {state(7, 4, True)}\n. | {state(hi, lo, True)}"
    )


def test_what_comes_from_outside(bench: Bench) -> None:
    ports = {"in": ("in", 1, "muldiv_request"), "hilo": ("out", 1, "muldiv_state"), "load": ("in", 1, "muldiv_load")}
    Device(bench, "multiply_divide", ports, "multiply_cycles = 3;", before="import core_types;").check_table(
        f"""
        load        | in                   | hilo
        {{hi=5 lo=6}} | .                    | {state(0, 0, True)}
        .           | {ask("maddu", 2, 3)} | {state(5, 6, True)}
        .           | .                    | {state(5, 12, False)}
        .           | .                    | {state(5, 12, True)}
        """
    )


def products(bench: Bench, cycles: int) -> Device:
    ports = {"in": ("in", 1, "muldiv_request"), "hilo": ("out", 1, "muldiv_state"), "product": ("out", 1, "muldiv_product")}
    return Device(bench, "multiply_divide", ports, f"product_cycles = {cycles};", before="import core_types;")


def product(value: int, ready: bool) -> str:
    return f"{{value={value} ready={str(ready).lower()}}}"


def test_a_product_for_a_register_takes_its_time(bench: Bench) -> None:
    """The request stands, uncommitted, until the product is ready; its operands need not: they are taken in the first cycle."""
    ran = products(bench, 3).check_table(
        f"""
        in                   | product              | hilo
        {ask("mul", M, 5)}!  | {product(M - 4, False)}! | {state(0, 0, True)}
        {ask("mul", 9, 9)}!  | {product(M - 4, False)}! | {state(0, 0, True)}
        {ask("mul", 9, 9)}!  | {product(M - 4, True)}! | {state(0, 0, True)}
        {ask("mul", 9, 9)}   | {product(M - 4, True)} | {state(0, 0, True)}
        {ask("mul", 9, 9)}!  | {product(81, False)}! | {state(0, 0, True)}
        .                    | .                    | {state(0, 0, True)}
        {ask("mul", 2, 3)}!  | {product(6, False)}! | {state(0, 0, True)}
        {ask("mtlo", 2)}     | .                    | {state(0, 0, True)}
        .                    | .                    | {state(0, 2, True)}
        """
    )
    assert ran.counted("dut") == {"busy": 3}, "that of the product that was used"


def test_a_product_may_be_there_at_once(bench: Bench) -> None:
    products(bench, 1).check_table(f"in | product\n{ask('mul', 3, 4)} | {product(12, True)}\n{ask('mul', 5, 5)} | {product(25, True)}")


def test_moves_are_immediate_and_reads_change_nothing(bench: Bench) -> None:
    unit(bench).check_table(
        f"""
        in                 | hilo
        {ask("mthi", 7)}   | {state(0, 0, True)}
        {ask("mtlo", 8)}   | {state(7, 0, True)}
        {ask("mfhi", 1)}   | {state(7, 8, True)}
        {ask("mflo", 1)}   | {state(7, 8, True)}
        .                  | {state(7, 8, True)}
        """
    )


def test_a_cancelled_operation_did_not_happen(bench: Bench) -> None:
    unit(bench).check_table(f"in | hilo\n{ask('mult', 3, 4)}! | -\n. | {state(0, 0, True)}")


def test_latencies_are_checked(bench: Bench) -> None:
    text = bench.refuse("import core_types;\ninstance s : source;\ninstance k : sink;\n"
                        "instance u : multiply_divide { multiply_cycles = 0; };\ns.out -> u.in;\nu.hilo -> k.in;\n")
    assert "`multiply_cycles` is 0, outside its range, at least 1" in text
