"""memory_arbiter: a policy chooses, acknowledgments pass back, replies find their requester; arbiters stack."""

import random
import re

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests, collect, happened
from tests.sample import sampled, seldom

DELAY = "instance delay : memory_delay; instance memory : memory_state { size = 4 KiB; }; delay.out -> memory.port;\n"


def flat(lanes: int, policy: str = "") -> str:
    body = f"policy = <<< {policy} >>>;" if policy else ""
    joins = "".join(f"requester[{i}].memory -> arbiter.in;\n" for i in range(lanes))
    return f"{DELAY}instance arbiter : memory_arbiter {{ {body} }};\n{joins}arbiter.out -> delay.in;\n{collect('arbiter', 'won(lane, address, size, requests)')}"


STACKED = (
    DELAY
    + """
instance near[2] : memory_arbiter;
instance far : memory_arbiter;
for (i = 0; i < 5; i = i + 1) requester[i].memory -> near[i < 3 ? 0 : 1].in;
near[0].out -> far.in;
near[1].out -> far.in;
far.out -> delay.in;
"""
)


def reads(count: int, base: int = 0) -> list[str]:
    return [f"0 read 4 {base + 4 * k} 0 {k}" for k in range(count)]


@seldom
def test_a_policy_may_choose_nobody_and_must_not_choose_a_lane_that_is_not_there(bench: Bench) -> None:
    """The first requester alone lets it choose one that requests nothing, two of them one that does not exist."""
    memory = Memory(bench, flat(3, "return requests == 1 ? 2 : requests == 4 ? -1 : 3;"), 3)
    replies = memory.play([reads(1), [], ["9 read 4 0"]], 9)
    assert replies == [[], [], []] and not memory.last.err.count("error")
    assert memory.play([[], [], ["0 read 4 0"]], 9) == [[], [], []]
    memory.play([reads(1), ["3 read 4 0"], []], 9, ok=False)
    assert "the policy chose lane 3, there are 3" in memory.last.err


def test_round_robin_is_fair(bench: Bench) -> None:
    memory = Memory(bench, flat(3), 3)
    replies = memory.play([reads(6, 64 * i) for i in range(3)], 60, outstanding=8)
    order = sorted((a.cycle, i) for i, lane in enumerate(replies) for a in lane)
    assert [i for _, i in order] == [0, 1, 2] * 6
    assert [cycle for cycle, _ in order] == list(range(1, 19))
    requests = [7] * 16 + [6, 4]
    assert happened(memory.last, "won") == [(k, k % 3, 64 * (k % 3) + 4 * (k // 3), 4, requests[k]) for k in range(18)]


@pytest.mark.parametrize(
    ("policy", "expected"),
    sampled([
        ("return lowest(requests);", [0] * 4 + [1] * 4 + [2] * 4),
        ("return highest(requests);", [2] * 4 + [1] * 4 + [0] * 4),
        ("return keep_last(requests, last);", [0] * 4 + [1] * 4 + [2] * 4),
        ("return keep_at_most(requests, last, served, 2);", [0, 0, 1, 1, 2, 2] * 2),
        ("return keep_at_most(requests, last, served, 3);", [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 2]),
        ("return requests == 7 ? 1 : round_robin(requests, last);", [1] * 4 + [2, 0] * 4),
    ], 3, 1),
)
def test_policies(bench: Bench, policy: str, expected: list[int]) -> None:
    replies = Memory(bench, flat(3, policy), 3).play([reads(4) for _ in range(3)], 60, outstanding=8)
    order = [i for _, i in sorted((a.cycle, i) for i, lane in enumerate(replies) for a in lane)]
    assert order == expected


@seldom
def test_requests_in_a_row_are_counted_up_to_255(bench: Bench) -> None:
    """The second requester is let in once the first has been served so often, which stays so."""
    policy = "return requests & 2 && served == 255 ? 1 : requests & 1 ? 0 : -1;"
    replies = Memory(bench, flat(2, policy), 2).play([[f"0 read 4 {4 * k}" for k in range(300)], ["0 read 4 0", "280 read 4 0"]], 400, outstanding=8)
    assert len(replies[0]) == 300 and [reply.cycle for reply in replies[1]] == [256]
    assert [reply.cycle for reply in Memory(bench, flat(2, policy), 2).play([[f"0 read 4 {4 * k}" for k in range(300)], ["280 read 4 0"]], 400, outstanding=8)[1]] == [281]


@seldom
def test_a_policy_may_hold_everybody(bench: Bench) -> None:
    policy = "return requests == 3 ? 0 : -1;"
    replies = Memory(bench, flat(2, policy), 2).play([["0 read 4 0"], ["5 read 4 0"]], 30)
    assert [[a.cycle for a in lane] for lane in replies] == [[6], []]


def test_an_impossible_choice_stops_the_run(bench: Bench) -> None:
    memory = Memory(bench, flat(2, "return 2;"), 2)
    memory.play([["0 read 4 0"], []], 10, ok=False)
    assert "the policy chose lane 2, there are 2" in memory.last.err


def test_a_tag_without_room_stops_the_run(bench: Bench) -> None:
    memory = Memory(bench, flat(2), 2)
    memory.play([["0 read 4 0 0 0x80000000"], []], 10, ok=False)
    assert "leaves no room" in memory.last.err


@pytest.mark.parametrize("seed", sampled(range(3), 3))
@pytest.mark.parametrize("netlist", ["flat", "stacked"])
def test_everybody_gets_the_right_replies(bench: Bench, netlist: str, seed: int) -> None:
    """Five requesters write and read stretches of their own; refusals, jitter and cancelled requests change no value."""
    rng = random.Random(seed)
    requests = [Requests(rng) for _ in range(5)]
    for i in range(5):
        model = Bytes(64, base=64 * i)
        for _ in range(60):
            size = rng.choice([1, 2, 4, 8])
            requests[i].add(model, 64 * i + rng.randrange(0, 65 - size), size)
    settings: dict[str, object] = {"delay.latency": 2, "delay.jitter": 3, "delay.refuse": 0.2}
    for i in range(5):
        settings |= {f"requester[{i}].cancel": 0.3, f"requester[{i}].offer": 0.8}
    memory = Memory(bench, flat(5) if netlist == "flat" else STACKED, 5)
    replies = memory.play([r.script for r in requests], 4000, settings, outstanding=4, seed=seed)
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == [r.replies for r in requests]


@seldom
def test_replies_report_how_long_the_request_took(bench: Bench) -> None:
    """What the controller says of the latency comes back through two levels of arbiters."""
    netlist = """
instance near : memory_arbiter;
instance far : memory_arbiter;
instance controller : sram_controller { first_access = 4; next_access = 1; };
instance memory : memory_state { size = 4 KiB; };
instance seen : monitor;
requester[0].memory.request -> near.in.request;
near.in.reply -> seen.in;
seen.out -> requester[0].memory.reply;
near.out -> far.in;
far.out -> controller.in;
controller.memory -> memory.port;
"""
    memory = Memory(bench, netlist, 1)
    memory.play([["0 read 4 0", "0 read 4 4", "20 read 4 64"]], 40, {"seen.record": "seen"}, outstanding=4)
    lines = (memory.last.directory / "seen").read_text().splitlines()
    assert [re.search(r"latency=(\d+)", line)[1] for line in lines if "latency" in line] == ["4", "4", "4"]
