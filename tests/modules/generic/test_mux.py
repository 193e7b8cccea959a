"""mux: passes the lane of the select port, or of the userpoint; what is not chosen waits."""

import pytest

from tests.modules.harness import Bench, Device, collect, happened, moved
from tests.sample import seldom

ROUND = (
    "choose = <<< uint64_t after = last < 0 ? 0 : offered & (~UINT64_C(0) << last << 1); "
    "uint64_t all = after ? after : offered; return all ? __builtin_ctzll(all) : -1; >>>;"
)


def mux(bench: Bench, lanes: int, select: bool = False, body: str = "") -> Device:
    ports = {"in": ("in", lanes, "uint32"), "out": ("out", 1, "uint32")}
    if select:
        ports["select"] = ("in", 1, "int32")
    return Device(bench, "mux", ports, body, after=collect("dut", "chosen(lane)"))


@seldom
def test_select_names_the_lane(bench: Bench) -> None:
    mux(bench, 2, select=True).check_table(
        """
        in[0] | in[1] | select | out | out.ack | in[0].ack | in[1].ack | out.enable
        1     | 2     | 1      | 2   | 1       | 0         | 1         | 1
        1     | 2     | 0      | 1   | 1       | 1         | 0         | 1
        1     | 2     | 0      | 1   | 0       | 0         | 0         | 0
        1     | 2     | .      | .   | 1       | 0         | 0         | -
        1     | .     | 1      | .   | 1       | 0         | -         | -
        .     | 2     | 0      | .   | 1       | -         | 0         | -
        1!    | 2     | 0      | 1   | 1       | 1         | 0         | 0
        """
    )


@seldom
def test_without_select_the_lowest_wins(bench: Bench) -> None:
    ran = mux(bench, 3).check_table(
        """
        in[0] | in[1] | in[2] | out | out.ack | in[0].ack | in[1].ack | in[2].ack
        1     | 2     | 3     | 1   | 1       | 1         | 0         | 0
        .     | 2     | 3     | 2   | 1       | 0         | 1         | 0
        .     | .     | 3     | 3   | 1       | 0         | 0         | 1
        .     | 2     | .     | 2   | 0       | 0         | 0         | 0
        """
    )
    assert happened(ran, "chosen") == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize("seed", range(3))
def test_a_round_robin_shares_evenly_and_loses_nothing(bench: Bench, seed: int) -> None:
    seen = mux(bench, 4, body=ROUND).stream(400, seed, ready=0.7)
    out = [item for _, item in moved(seen["out", 0])]
    assert out == list(range(len(out))) and len(out) > 200
    entered = sorted(item for lane in range(4) for _, item in moved(seen["in", lane]))
    assert entered == sorted(out)


@pytest.mark.parametrize("seed", range(3))
def test_cancelled_items_are_not_passed_on(bench: Bench, seed: int) -> None:
    seen = mux(bench, 3, body=ROUND).stream(400, seed, offer=0.6, cancel=0.4, ready=0.7)
    entered = sorted((cycle, item) for lane in range(3) for cycle, item in moved(seen["in", lane]))
    assert moved(seen["out", 0]) == entered and len(entered) > 50


@pytest.mark.parametrize("lane", [-2, 2])
def test_a_lane_that_does_not_exist_stops_the_run(bench: Bench, lane: int) -> None:
    device = mux(bench, 2, body=f"choose = <<< return {lane}; >>>;")
    assert f"lane {lane} is chosen, there are 2" in bench.run(device.simulator, 5, ok=False).err
