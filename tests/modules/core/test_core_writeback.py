"""core_writeback: results reach the register file once, failures stop the run, annulled instructions leave no trace."""

import random
import re

import pytest

from tests.loops import told
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
        {finished(0, ADDU, c, 42)} | 0      | true  | {shown(c, 42)}!       | .
        {finished(0, ADDU, c, 42)} | 0      | true  | {shown(c, 42)}!       | .
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
        {finished(4, 1, annulled)} | false | .                | false
        """
    )
    assert ran.stat("dut", "instructions") == 1


def test_markers_are_instructions_that_are_signalled(bench: Bench) -> None:
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


def visited(rng: random.Random, at: int, depth: int) -> list[int]:
    """Addresses that a random program executes: stretches, loops of some laps, and ways that lead past instructions."""
    pcs: list[int] = []
    for k in range(rng.randint(1, 4)):
        start = at + 0x100 * (k + 1) if rng.random() < 0.5 or not pcs else pcs[-1] + 4
        if depth and rng.random() < 0.6:
            body = visited(rng, start << 2, depth - 1)
            pcs += body * rng.choice([1, 2, 3, 30])
        else:
            pcs += range(start, start + 4 * rng.randint(1, 6), 4)
    return pcs


def test_a_report_shows_how_the_processor_came_there(bench: Bench) -> None:
    """What it tells is the end of what was executed, to the last lap; and of loops that is much."""
    device, most = writeback(bench), 0
    for seed in range(20):
        pcs = visited(random.Random(seed), 0x1000, 2)[-2000:]
        done = [finished(pc, ADDU, control("addu", ADDU)) for pc in pcs] + [finished(pcs[-1] + 4, 0xABCD, failed("breakpoint"))]
        files = {"in.txt": "".join(f"{k} {one} once\n" for k, one in enumerate(done)), "busy.txt": "".join(f"{k} false once\n" for k in range(len(done)))}
        ran = bench.run(device.simulator, len(done) + 9, {"in_source[0].script": "in.txt", "busy_source[0].script": "busy.txt"}, ok=False, files=files)
        shown = told(ran.err)
        assert len(shown) >= min(len(pcs) + 1, 64) and shown == [*pcs, pcs[-1] + 4][-len(shown) :], f"seed {seed}\n{ran.err}"
        most = max(most, len(shown))
    assert most > 1000


@pytest.mark.parametrize(("laps", "shown"), [(20, "19 times:"), (200, "at least 21 times:")])
def test_loops_in_loops_are_reported_once(laps: int, shown: str, bench: Bench) -> None:
    """A delay loop within a loop; beyond what is remembered it may have been passed more often."""
    inner = list(range(0x2000, 0x200C, 4))
    pcs = [0x1000, *([0x1004, *inner * 7, 0x200C, 0x2010] * laps), 0x3000]
    done = [finished(pc, ADDU, control("addu", ADDU)) for pc in pcs] + [finished(0x3004, 0xABCD, failed("breakpoint"))]
    files = {"in.txt": "".join(f"{k} {one} once\n" for k, one in enumerate(done)), "busy.txt": "".join(f"{k} false once\n" for k in range(len(done)))}
    device = writeback(bench)
    ran = bench.run(device.simulator, len(done) + 9, {"in_source[0].script": "in.txt", "busy_source[0].script": "busy.txt"}, ok=False, files=files)
    lines = ran.err[ran.err.index("how it came here") :].splitlines()
    assert any(line.strip() == shown for line in lines) and sum(bool(re.match(r" +[0-9a-f]{8}  ", line)) for line in lines) < 20, ran.err
    executed = told(ran.err)
    assert len(executed) > 400 and executed == [*pcs, 0x3004][-len(executed) :], ran.err


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
