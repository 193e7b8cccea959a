"""memory_delay: a latency on top of what follows, in order, with jitter and refusal by chance."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests

NETLIST = """
instance delay : memory_delay { depth = 3; };
instance memory : memory_state { size = 256 B; };
requester[0].memory -> delay.in;
delay.out -> memory.port;
"""


@pytest.mark.parametrize("latency", [1, 3, 7])
def test_the_reply_comes_latency_cycles_after_acceptance(bench: Bench, latency: int) -> None:
    [replies] = Memory(bench, NETLIST).play([["5 read 4 0", "30 read 4 4"]], 60, {"delay.latency": latency})
    assert [a.cycle for a in replies] == [5 + latency, 30 + latency]


def test_a_full_delay_has_room_in_the_cycle_after_one_has_left(bench: Bench) -> None:
    [replies] = Memory(bench, NETLIST).play([[f"{cycle} read 4 0" for cycle in (0, 4, 5, 6)]], 60, {"delay.latency": 7}, outstanding=4)
    assert [a.cycle for a in replies] == [7, 11, 12, 15]


@pytest.mark.parametrize("seed", range(3))
def test_replies_stay_in_order_and_right(bench: Bench, seed: int) -> None:
    rng, model = random.Random(seed), Bytes(256)
    requests = Requests(rng)
    for _ in range(150):
        requests.add(model, rng.randrange(0, 248))
    settings = {
        "delay.latency": 2,
        "delay.jitter": 5,
        "delay.refuse": 0.3,
        "requester[0].offer": 0.8,
        "requester[0].cancel": 0.2,
    }
    [replies] = Memory(bench, NETLIST).play([requests.script], 3000, settings, outstanding=5, seed=seed)
    assert [(a.tag, a.data) for a in replies] == requests.replies
