"""crossed_bus: what a miss takes on a bus of another clock and width, and that room for responses suffices."""

from fractions import Fraction

import pytest

from tests.modules.cache.coherent import LINE, ORDERED
from tests.modules.harness import MOST_CHECKED, Bench, Memory
from tests.sample import sampled, seldom

SNOOP, TURN, LATENCY = 4, 1, 6
# Frequencies of the agents and the bus in MHz, and bits of the bus.
CASES = [("200", "100", 64), ("175", "87.5", 64), ("900", "150", 256), ("200", "66.6", 32), ("100", "100", 64), ("200", "150", 128), ("100", "133", 64), ("100", "400", 16)]


def machine(cpu: str, bus: str, width: int, caches: int = 1, more: str = "", stages: int = 1) -> tuple[str, str]:
    """Caches on cpu_clk, on a bus and memory with a clock of their own; with what is to stand before."""
    return (
        f"clock cpu_clk = {cpu} MHz;\nclock bus_clk = {bus} MHz;\n",
        f"""
instance cache[{caches}] : mshr_controller on cpu_clk {{ line = {LINE}; width = 64; sets = 64; ways = 2; {ORDERED} {more} }};
instance bus : crossed_bus on bus_clk {{ line = {LINE}; width = {width}; stages = {stages}; }};
instance slow : memory_delay on bus_clk {{ width = {8 * LINE}; depth = 8; latency = {LATENCY}; }};
instance memory : memory_state on bus_clk {{ width = {8 * LINE}; size = 4 KiB; }};
for (i = 0; i < {caches}; i = i + 1) {{
  requester[i].memory -> cache[i].in;
  cache[i].bus -> bus.agent["cache" + string(i)];
}}
bus.memory -> slow.in;
slow.out -> memory.port;
""",
    )


def after(time: Fraction, period: Fraction) -> Fraction:
    """The first edge later than `time`."""
    return (time // period + 1) * period


def miss(start: int, cpu: str, bus: str, width: int) -> int:
    """The cycle of the reply to a read that is offered in cycle `start` and missed, while nothing else is on the bus."""
    fast, slow = 1 / Fraction(cpu), 1 / Fraction(bus)
    accepted = after((start + 1) * fast, slow)
    address = accepted + (TURN + 1) * slow
    answered = after(after(address, fast) + fast, slow)
    decided = max(address + SNOOP * slow, answered)
    response = decided + (1 + LATENCY + TURN + 8 * LINE // width) * slow
    return int(after(response, fast) / fast) + 1


@pytest.mark.parametrize(("cpu", "bus", "width"), sampled(CASES, 3))
def test_a_miss(bench: Bench, cpu: str, bus: str, width: int) -> None:
    """In cycles of the agent's clock, from any of its cycles in one of the bus; each line takes as many cycles of the bus as its width says."""
    before, text = machine(cpu, bus, width)
    starts = [10 + 301 * k for k in range(4)]
    [replies] = Memory(bench, text, 1, 64, before=before, on="cpu_clk").play([[f"{start} read 8 {LINE * k}" for k, start in enumerate(starts)]], 4999)
    assert [a.cycle for a in replies] == [miss(start, cpu, bus, width) for start in starts]


@seldom
@pytest.mark.parametrize("stages", [1, 2])
def test_many_misses_at_once(bench: Bench, stages: int) -> None:
    """Agents that are much slower than the bus, each with as many misses as it may have: there is room for what the bus sends."""
    before, text = machine("10", "400", 256, 4, "mshrs = 32;", stages)
    text = text.replace(ORDERED, "")
    reads = [f"0 read 8 {LINE * k}" for k in range(64)]
    replies = Memory(bench, text, 4, 64, before=before, on="cpu_clk").play([reads] * 4, 3 * MOST_CHECKED, outstanding=64)
    assert [len(lane) for lane in replies] == [64] * 4
