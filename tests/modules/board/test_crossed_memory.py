"""crossed_memory: the timing of memory on a slow clock, in front of bytes on a fast one."""

import pytest

from tests.modules.harness import Bench, Memory

CAS = 2  # cycles from a command to the first beat of an open row


def netlist(kind: str, fast: str) -> str:
    return f"""
instance dut : crossed_memory on slow_clk {{ memory_kind = {kind}; width = 256; }};
instance memory : memory_state on fast_clk {{ width = 256; size = 4 KiB; }};
requester[0].memory -> dut.in;
dut.memory -> memory.port;
"""


@pytest.mark.parametrize(("fast", "extra"), [("200", 1), ("175", 1), ("900", 1), ("110", 1), ("100", 2)])
def test_a_cycle_more(bench: Bench, fast: str, extra: int) -> None:
    """To and from bytes whose clock is faster, one cycle; of the same frequency, two."""
    clocks = f"clock slow_clk = 100 MHz;\nclock fast_clk = {fast} MHz;\n"
    memory = Memory(bench, netlist("memory_controller(beat = 16)", fast), 1, 256, before=clocks, on="slow_clk")
    [replies] = memory.play([["10 write 8 0 7", "40 read 32 0", "80 read 8 4096", "120 read 16 0"]], 2000)
    beats = 32 // 16
    assert [a.cycle for a in replies[1:2]] == [40 + 1 + CAS + beats - 1 + extra] and replies[1].data == 7
    assert replies[2].error


def test_a_flat_memory(bench: Bench) -> None:
    memory = Memory(bench, netlist("flat_memory(latency = 20)", "400"), 1, 256, before="clock slow_clk = 100 MHz;\nclock fast_clk = 400 MHz;\n", on="slow_clk")
    [replies] = memory.play([["10 read 8 0"]], 500)
    assert replies[0].cycle == 10 + 20 + 1
