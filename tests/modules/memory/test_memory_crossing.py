"""memory_crossing: requests and replies between two clocks, in order; it never accepts what it has no room to reply to."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests
from tests.sample import sampled, seldom

NETLIST = """
clock core_clock = {core} MHz;
clock memory_clock = {memory} MHz;
instance bridge : memory_crossing {{ outstanding = {outstanding}; requests = {requests}; stages = {stages}; }};
instance delay : memory_delay on memory_clock;
instance memory : memory_state on memory_clock {{ size = 1 KiB; }};
requester[0].memory -> bridge.in;
bridge.out -> delay.in;
delay.out -> memory.port;
"""


def crossing(bench: Bench, core: int, memory: int, outstanding: int = 4, requests: int = 4, stages: int = 1) -> Memory:
    return Memory(bench, NETLIST.format(core=core, memory=memory, outstanding=outstanding, requests=requests, stages=stages))


def test_the_round_trip_on_equal_clocks(bench: Bench) -> None:
    """Request seen a cycle after it was taken, one cycle of delay, reply seen a cycle after it came."""
    [replies] = crossing(bench, 100, 100).play([["3 read 4 0", "20 read 4 0"]], 40)
    assert [a.cycle for a in replies] == [6, 23]


@pytest.mark.parametrize("seed", sampled(range(3), 3))
@pytest.mark.parametrize(("core", "memory"), sampled([(88, 100), (88, 250), (200, 33)], 3))
def test_replies_are_right_and_in_order(bench: Bench, core: int, memory: int, seed: int) -> None:
    rng, model = random.Random(seed), Bytes(64)
    requests = Requests(rng)
    for _ in range(100):
        requests.add(model, rng.randrange(0, 57))
    settings = {"delay.jitter": 4, "delay.refuse": 0.2, "requester[0].offer": 0.8, "requester[0].cancel": 0.2}
    [replies] = crossing(bench, core, memory).play([requests.script], 8000, settings, outstanding=8, seed=seed)
    assert [(a.tag, a.data) for a in replies] == requests.replies


@seldom
def test_outstanding_requests_are_bounded(bench: Bench) -> None:
    """With two replies' room and a slow memory, two requests are on their way at a time."""
    memory = crossing(bench, 100, 100, outstanding=2)
    ran = bench.run(memory.simulator, 1000, {"requester[0].outstanding": 8, "delay.latency": 8})
    assert ran.stat("requester[0]", "replies") == pytest.approx(2 * 1000 / 11, abs=4)
    fast = crossing(bench, 100, 100, outstanding=8)
    ran = bench.run(fast.simulator, 1000, {"requester[0].outstanding": 8})
    assert ran.stat("requester[0]", "replies") > 990


@seldom
def test_each_stage_more_is_an_edge_of_the_side_that_looks(bench: Bench) -> None:
    """One slot for requests: the second one waits until it is seen on its side that the first has left."""
    [replies] = crossing(bench, 100, 100, requests=1, stages=3).play([["3 read 4 0", "3 read 4 0", "30 read 4 0"]], 60, outstanding=3)
    assert [a.cycle for a in replies] == [10, 16, 37]
