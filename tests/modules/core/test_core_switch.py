"""core_switch: who gets commands, when the state is passed on, and what `at` may say."""

import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, struct

PORTS = {
    "control": ("in", 1, "core_control"), "fast_control": ("out", 1, "core_control"), "detailed_control": ("out", 1, "core_control"), "limit": ("out", 1, "core_limit"),
    "fast_status": ("in", 1, "core_status"), "fast_save": ("in", 1, "core_state_word"), "detailed_load": ("out", 1, "core_state_word"),
}  # fmt: skip
BACK = {
    "executes": ("out", 1, "bool"), "back": ("in", 1, "uint64"), "detailed_status": ("in", 1, "core_status"), "detailed_save": ("in", 1, "core_state_word"),
    "fast_load": ("out", 1, "core_state_word"), "empty": ("out", 2, "bool"), "quiet": ("in", 1, "bool"), "onward": ("in", 1, "uint64"),
}  # fmt: skip
WORD, LAST = struct(number=4, value=7, last=False), struct(number=5, value=8, last=True)


def command(halt: bool, pc: int | None = None) -> str:
    return struct(set_halt=True, halt=halt, set_pc=pc is not None, pc=pc or 0, step=False, flush=False)


def status(halted: bool, slot: bool = False) -> str:
    return struct(halted=halted, fault=False, slot=slot, pc=0)


def limit(**fields: int) -> str:
    return struct(**({"by_marker": False, "marker": 0, "by_pc": False, "pc": 0, "by_instructions": False, "instructions": 0} | fields))


def switch(bench: Bench, back: bool = False) -> BundleDevice:
    return BundleDevice(bench, "core_switch", PORTS | (BACK if back else {}), after=collect("dut", "switched(detailed)"))


def add(table: str, columns: dict[str, list[str]]) -> str:
    """The table with more columns."""
    header, *rows = [line for line in table.splitlines() if line.strip()]
    return "\n".join([" | ".join([header, *columns]), *(" | ".join([row, *cells]) for row, *cells in zip(rows, *columns.values(), strict=True))])


HEADER = "control | control.ack | fast_control | detailed_control | fast_status | fast_save | detailed_load | detailed_load.ack"


@pytest.mark.parametrize("at", ["marker(3)", "instructions(20)", "start"])
def test_a_state_is_passed_on(bench: Bench, at: str) -> None:
    """The fast processor gets the command; once it has halted, its state is offered until it is taken, and the detailed one let go."""
    go, on = command(False, 16), command(False)
    ran = switch(bench).check_table(
        f"""
        {HEADER}
        {go}  | 1 | {go} | .    | {status(True)}  | .      | .      | 0
        .     | - | .    | .    | {status(False)} | .      | .      | 0
        .     | - | .    | .    | {status(True)}  | {WORD} | .      | 0
        .     | - | .    | .    | {status(True)}  | {WORD} | {WORD} | 0
        .     | - | .    | .    | {status(True)}  | {WORD} | {WORD} | 1
        .     | - | .    | .    | {status(True)}  | {LAST} | {LAST} | 1
        .     | - | .    | {on} | {status(True)}  | .      | .      | 0
        {go}  | 1 | .    | {go} | {status(True)}  | .      | .      | 0
        .     | - | .    | .    | {status(True)}  | .      | .      | 0
        """,
        {"dut.at": at},
    )
    assert ran.stat("dut", "switches") == 1 and ran.stat("dut", "fast_cycles") == 6 and happened(ran, "switched") == [(6, 1)]


def test_some_time_after_a_marker(bench: Bench) -> None:
    """The fast processor halts at the marker, goes on without a limit, and is ordered to halt once the time has passed."""
    go, on, halt = command(False, 16), command(False), command(True)
    marker, none = limit(by_marker=True, marker=3), limit()
    columns = {"limit": [marker] * 3 + [none] * 7 + ["."]}
    ran = switch(bench).check_table(
        add(
            f"""
        {HEADER}
        {go}  | 1 | {go}   | .    | {status(True)}  | .      | .      | 0
        .     | - | .      | .    | {status(False)} | .      | .      | 0
        .     | - | .      | .    | {status(True)}  | .      | .      | 0
        .     | - | {on}   | .    | {status(True)}  | .      | .      | 0
        .     | - | .      | .    | {status(False)} | .      | .      | 0
        .     | - | .      | .    | {status(False)} | .      | .      | 0
        .     | - | {halt} | .    | {status(False)} | .      | .      | 0
        .     | - | .      | .    | {status(True)}  | .      | .      | 0
        .     | - | .      | .    | {status(True)}  | {LAST} | {LAST} | 1
        .     | - | .      | {on} | {status(True)}  | .      | .      | 0
        {go}  | 1 | .      | {go} | {status(True)}  | .      | .      | 0
        """,
            columns,
        ),
        {"dut.at": "marker(3) + 3 ns"},
    )
    assert happened(ran, "switched") == [(9, 1)]


def test_never(bench: Bench) -> None:
    go = command(False, 16)
    ran = switch(bench).check_table(f"{HEADER}\n{go} | 1 | . | {go} | {status(True)} | {WORD} | . | 0\n. | - | . | . | {status(True)} | {WORD} | . | 0\n")
    assert ran.stat("dut", "switches") == 0 and ran.stat("dut", "fast_cycles") == 0


def test_no_way_back_to_a_fast_processor_that_is_left_out(bench: Bench) -> None:
    go, rest = command(False, 16), "20 | 0 | true"
    rows = [f"{go} | 1 | . | {go} | {rest}", *([f". | - | . | . | {rest}"] * 5)]
    ran = switch(bench, back=True).check_table("\n".join(["control | control.ack | fast_control | detailed_control | back | back.ack | executes", *rows]))
    assert ran.stat("dut", "switches") == 0


@pytest.mark.parametrize("slot", [False, True])
def test_the_way_back(bench: Bench, slot: bool) -> None:
    """Halted, behind its delay slot, with empty caches and a quiet memory the detailed processor gives its state; the fast one has the limit that is offered then."""
    go, on, halt = command(False, 16), command(False), command(True)
    step = struct(set_halt=False, halt=False, set_pc=False, pc=0, step=True, flush=False)
    slots = f"""
        . | - | . | .      | 20 | 0 | {status(True, True)}  | . | . | . | 0 | . | 0 | false | -
        . | - | . | {step} | 20 | 0 | {status(True, True)}  | . | . | . | 0 | . | 0 | false | -
        . | - | . | .      | 20 | 0 | {status(False)}       | . | . | . | 0 | . | 0 | false | -
    """  # fmt: skip
    rows = [line for line in f"""
        control | control.ack | fast_control | detailed_control | back | back.ack | detailed_status | detailed_save | fast_load | empty[0] | empty[0].ack | empty[1] | empty[1].ack | quiet | executes
        {go} | 1 | {go} | .      | .  | 0 | {status(True)}  | .      | .      | .    | 0 | .    | 0 | false | false
        .    | - | .    | .      | .  | 0 | {status(True)}  | .      | .      | .    | 0 | .    | 0 | false | false
        .    | - | .    | .      | .  | 0 | {status(True)}  | .      | .      | .    | 0 | .    | 0 | false | false
        .    | - | .    | {on}   | .  | 0 | {status(True)}  | .      | .      | .    | 0 | .    | 0 | false | false
        .    | - | .    | .      | 20 | 0 | {status(False)} | {WORD} | .      | .    | 0 | .    | 0 | true  | true
        .    | - | .    | {halt} | 20 | 0 | {status(False)} | {WORD} | .      | .    | 0 | .    | 0 | true  | false
        .    | - | .    | .      | 20 | 0 | {status(False)} | .      | .      | .    | 0 | .    | 0 | true  | false
        {"SLOT" if slot else ""}
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | . | 0 | . | 0 | true | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | . | 0 | . | 0 | false | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | . | 0 | . | 0 | true | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | true | 0 | . | 0 | false | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | true | 1 | . | 0 | true | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | . | 0 | . | 0 | true | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | . | 0 | true | 1 | false | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | . | 0 | . | 0 | false | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | .      | . | 0 | . | 0 | true | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {WORD} | {WORD} | .    | 0 | .    | 0 | false | false
        .    | - | .    | .      | 20 | 0 | {status(True)}  | {LAST} | {LAST} | .    | 0 | .    | 0 | false | false
        .    | - | {on} | .      | 18 | 1 | {status(True)}  | .      | .      | .    | 0 | .    | 0 | false | false
        .    | - | .    | .      | .  | 0 | {status(True)}  | .      | .      | .    | 0 | .    | 0 | false | false
    """.splitlines() if line.strip()]  # fmt: skip
    table = "\n".join(rows).replace("SLOT", slots.strip())
    cycles = len([line for line in table.splitlines() if line.strip()]) - 1
    device = switch(bench, back=True)
    limits = [limit(by_instructions=True)] * 4 + ["."] * (cycles - 5) + [limit(by_instructions=True, instructions=18)]
    ran = device.check_table(add(table, {"fast_status": [status(k != cycles - 1) for k in range(cycles)], "fast_save": [LAST if k == 2 else "." for k in range(cycles)], "limit": limits}), {"dut.at": "start"})
    assert ran.stat("dut", "switches") == 2 and happened(ran, "switched") == [(3, 1), (cycles - 2, 0)]
    assert ran.stat("dut", "fast_cycles") == 3 + 2


def test_a_limit_while_the_fast_processor_executes(bench: Bench) -> None:
    """It is taken in place of another one; in detail there is none."""
    go, on = command(False, 16), command(False)
    ran = switch(bench, back=True).check_table(
        f"""
        control | control.ack | fast_control | detailed_control | onward | onward.ack | limit | fast_status | fast_save | detailed_load | detailed_load.ack
        {go} | 1 | {go} | .    | . | - | {limit(by_marker=True, marker=3)} | {status(True)}  | .      | .      | 0
        .    | - | .    | .    | 9 | 1 | {limit(by_marker=True, marker=3)} | {status(False)} | .      | .      | 0
        .    | - | .    | .    | . | - | {limit(by_instructions=True, instructions=9)} | {status(False)} | . | . | 0
        .    | - | .    | .    | 5 | 1 | {limit(by_instructions=True, instructions=9)} | {status(False)} | . | . | 0
        .    | - | .    | .    | . | - | {limit(by_instructions=True, instructions=5)} | {status(True)}  | {LAST} | . | 0
        .    | - | .    | .    | 7 | 0 | {limit(by_instructions=True, instructions=5)} | {status(True)}  | {LAST} | {LAST} | 1
        .    | - | .    | {on} | 7 | 0 | {limit(by_instructions=True, instructions=5)} | {status(True)}  | . | . | 0
        .    | - | .    | .    | 7 | 0 | . | {status(True)}  | .      | .      | 0
        """,
        {"dut.at": "marker(3)"},
    )
    assert ran.stat("dut", "switches") == 1


def test_wrong_points(bench: Bench) -> None:
    for at in ("sometime", "marker()", "marker(0)", "marker(x)", "instructions(-1)", "5", "5 h", "0 ms", "marker(3) + 5", "marker(3) + 0 ms", "marker(0) + 5 ms", "start + 5 ms", "marker(3 + 5 ms"):
        ran = bench.run(switch(bench).simulator, 5, {"dut.at": at}, ok=False)
        assert f"at = {at}: never, start, end, marker(N), marker(N) + TIME, symbol(NAME), instructions(N), or a time" in ran.err
    ran = bench.run(switch(bench).simulator, 5, {"dut.at": "symbol(main)"}, ok=False)
    assert "no symbol main without a program" in ran.err
