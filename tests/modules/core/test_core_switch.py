"""core_switch: who gets commands, when the state is passed on, and what `at` may say."""

import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, struct

PORTS = {
    "control": ("in", 1, "core_control"), "fast_control": ("out", 1, "core_control"), "detailed_control": ("out", 1, "core_control"),
    "limit": ("out", 1, "core_limit"), "fast_status": ("in", 1, "core_status"), "fast_save": ("in", 1, "uint32"), "detailed_load": ("out", 1, "uint32"),
}  # fmt: skip


def command(halt: bool, pc: int | None = None) -> str:
    return struct(set_halt=True, halt=halt, set_pc=pc is not None, pc=pc or 0, step=False, flush=False)


def status(halted: bool) -> str:
    return struct(halted=halted, fault=False, pc=0)


def limit(**fields: int) -> str:
    return struct(**({"by_marker": False, "marker": 0, "by_pc": False, "pc": "0x0", "by_instructions": False, "instructions": 0} | fields))


def switch(bench: Bench) -> BundleDevice:
    return BundleDevice(bench, "core_switch", PORTS, after=collect("dut", "switched(detailed)"))


HEADER = "control | control.ack | fast_control | detailed_control | fast_status | fast_save | detailed_load | detailed_load.ack"


@pytest.mark.parametrize("at", ["marker(3)", "instructions(20)", "start"])
def test_a_state_is_passed_on(bench: Bench, at: str) -> None:
    """The fast processor gets the command; once it has halted, its state is offered until it is taken, and the detailed one let go."""
    go, on = command(False, 16), command(False)
    ran = switch(bench).check_table(
        f"""
        {HEADER}
        {go}  | 1 | {go} | .    | {status(True)}  | . | . | 0
        .     | - | .    | .    | {status(False)} | . | . | 0
        .     | - | .    | .    | {status(True)}  | 7 | . | 0
        .     | - | .    | .    | {status(True)}  | 7 | 7 | 0
        .     | - | .    | .    | {status(True)}  | 7 | 7 | 1
        .     | - | .    | {on} | {status(True)}  | . | . | 0
        {go}  | 1 | .    | {go} | {status(True)}  | . | . | 0
        .     | - | .    | .    | {status(True)}  | . | . | 0
        """,
        {"dut.at": at},
    )
    assert ran.stat("dut", "switches") == 1 and ran.stat("dut", "fast_cycles") == 5 and happened(ran, "switched") == [(5, 1)]


def test_never(bench: Bench) -> None:
    go = command(False, 16)
    ran = switch(bench).check_table(f"{HEADER}\n{go} | 1 | . | {go} | {status(True)} | 7 | . | 0\n. | - | . | . | {status(True)} | 7 | . | 0\n")
    assert ran.stat("dut", "switches") == 0 and ran.stat("dut", "fast_cycles") == 0


def test_wrong_points(bench: Bench) -> None:
    for at in ("sometime", "marker()", "marker(0)", "marker(x)", "instructions(-1)", "5", "5 h", "0 ms"):
        ran = bench.run(switch(bench).simulator, 5, {"dut.at": at}, ok=False)
        assert f"at = {at}: never, start, end, marker(N), symbol(NAME), instructions(N), or a time" in ran.err
    ran = bench.run(switch(bench).simulator, 5, {"dut.at": "symbol(main)"}, ok=False)
    assert "no symbol main without a program" in ran.err
