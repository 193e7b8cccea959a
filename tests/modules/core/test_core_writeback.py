"""core_writeback: results reach the register file once, failures stop the run, annulled instructions leave no trace."""

import re

import pytest

from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice, control, encode, failed, finished, pack, reply, request, shown

ADDU = encode("addu", 1, 2, 3)
SHOWN = "debug cpu { pc = dut.pc; history = dut.history; }\n"


def writeback(bench: Bench) -> BundleDevice:
    ports = {
        "in": ("in", 1, "core_finished"), "busy": ("in", 1, "bool"), "registers.request": ("out", 1, "mem_request(32)"),
        "registers.reply": ("in", 1, "mem_reply(32)"), "bypass": ("out", 1, "core_bypass"), "done": ("out", 1, "bool"),
    }  # fmt: skip
    return BundleDevice(bench, "core_writeback", ports, after=collect("dut", "retire(pc, word)", "marker(number)") + SHOWN)


def test_results_are_written_and_shown(bench: Bench) -> None:
    c = control("addu", ADDU)
    ran = writeback(bench).check_table(
        f"""
        in                         | in.ack | busy  | registers_request                | registers_reply | bypass                    | done
        {finished(0, ADDU, c, 42)} | 1      | false | {request("write", 12, data=42)}  | {reply()}       | {shown(c, 42)}            | true
        .                          | 1      | false | .                                | .               | -                         | .
        {finished(4, ADDU, c, 7)}  | 1      | false | {request("write", 12, data=7)}   | {reply()}       | {shown(c, 7)}             | true
        """
    )
    assert ran.stat("dut", "instructions") == 2


def test_nothing_leaves_while_the_memory_stage_waits(bench: Bench) -> None:
    """The value stays on the bypass, or what stands behind would lose it."""
    c = control("addu", ADDU)
    ran = writeback(bench).check_table(
        f"""
        in                         | in.ack | busy  | bypass                | done
        {finished(0, ADDU, c, 42)} | 0      | true  | {shown(c, 42)}        | .
        {finished(0, ADDU, c, 42)} | 0      | true  | {shown(c, 42)}        | .
        {finished(0, ADDU, c, 42)} | 1      | false | {shown(c, 42)}        | true
        """
    )
    assert ran.stat("dut", "instructions") == 1


def test_what_has_no_result_writes_nothing(bench: Bench) -> None:
    store, annulled = control("sw", encode("sw", 1, 2)), pack(annulled=1)
    ran = writeback(bench).check_table(
        f"""
        in                        | busy  | registers_request | done
        {finished(0, 1, store)}   | false | .                 | true
        {finished(4, 1, annulled)} | false | .                | true
        """
    )
    assert ran.stat("dut", "instructions") == 1


def test_markers_are_instructions_that_are_announced(bench: Bench) -> None:
    """lui $zero, number; neither one into another register, nor one that is annulled."""
    marker, other = encode("lui", rt=0, low=0x1234), encode("lui", rt=1, low=0x1234)
    ran = writeback(bench).check_table(
        f"""
        in                                      | busy
        {finished(0, marker, control("lui", marker))} | false
        {finished(4, other, control("lui", other))}   | false
        {finished(8, marker, pack(annulled=1))} | false
        {finished(12, marker + 1, control("lui", marker + 1))} | true
        {finished(12, marker + 1, control("lui", marker + 1))} | false
        """
    )
    assert happened(ran, "marker") == [(0, 0x1234), (4, 0x1235)]
    assert happened(ran, "retire") == [(0, 0, marker), (1, 4, other), (4, 12, marker + 1)]


def test_a_report_shows_the_latest_instructions_in_order(bench: Bench) -> None:
    """More than are remembered went before the one that failed."""
    done = [finished(4 * k, ADDU, control("addu", ADDU)) for k in range(40)] + [finished(160, 0xABCD, failed("breakpoint"))]
    files = {"in.txt": "".join(f"{k} {one} once\n" for k, one in enumerate(done)), "busy.txt": "".join(f"{k} false once\n" for k in range(50))}
    ran = bench.run(writeback(bench).simulator, 50, {"in_source[0].script": "in.txt", "busy_source[0].script": "busy.txt"}, ok=False, files=files)
    shown = [int(pc, 16) for pc in re.findall(r"^    ([0-9a-f]{8})  ", ran.err, re.MULTILINE)]
    assert len(shown) > 20 and shown == list(range(164 - 4 * len(shown), 164, 4))


@pytest.mark.parametrize(
    ("trap", "text"),
    [("syscall", "syscall"), ("breakpoint", "breakpoint"), ("reserved", "reserved instruction"), ("taken", "trap"),
     ("fetch", "nothing to fetch there"), ("unaligned", "unaligned access: address 0x00000022"),
     ("access", "nothing responds at the address: address 0x00000022"), ("overflowed", "integer overflow")],
)  # fmt: skip
def test_failures_stop_the_run_and_say_where(trap: str, text: str, bench: Bench) -> None:
    device = writeback(bench)
    script = f"0 {finished(0x1234, 0xABCD, failed(trap), 0x22)} once\n"
    ran = bench.run(device.simulator, 5, {"in_source[0].script": "in.txt", "busy_source[0].script": "busy.txt"}, ok=False,
                    files={"in.txt": script, "busy.txt": "0 false once\n"})
    assert text in ran.err and "pc 0x00001234" in ran.err and "0x0000abcd" in ran.err, ran.err
