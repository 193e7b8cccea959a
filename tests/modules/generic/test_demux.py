"""demux: steers each item to the lane of the select port or of the userpoint."""

import pytest

from tests.modules.harness import Bench, Device, collect, happened, moved


def test_select_names_the_lane(bench: Bench) -> None:
    ports = {"in": ("in", 1, "uint32"), "out": ("out", 2, "uint32"), "select": ("in", 1, "int32")}
    ran = Device(bench, "demux", ports, after=collect("dut", "routed(lane)")).check_table(
        """
        in | select | in.ack | out[0] | out[1] | out[0].ack | out[1].ack | out[0].enable | out[1].enable
        1  | 1      | 1      | .      | 1      | 0          | 1          | -             | 1
        2  | 0      | 0      | 2      | .      | 0          | 1          | 0             | -
        2  | 0      | 1      | 2      | .      | 1          | 1          | 1             | -
        3  | .      | 0      | .      | .      | 1          | 1          | -             | -
        4! | 1      | 1      | .      | 4      | 1          | 1          | -             | 0
        .  | 1      | -      | .      | .      | 1          | 1          | -             | -
        5  | -1     | 0      | .      | .      | 1          | 1          | -             | -
        """
    )
    assert happened(ran, "routed") == [(0, 1), (2, 0)]


@pytest.mark.parametrize("lane", [-2, 3])
def test_a_lane_that_does_not_exist_stops_the_run(bench: Bench, lane: int) -> None:
    device = Device(bench, "demux", {"in": ("in", 1, "uint32"), "out": ("out", 3, "uint32")}, f"route = <<< return item == 7 ? {lane} : 2; >>>;")
    ran = bench.run(device.simulator, 12, ok=False)
    assert f"an item is routed to lane {lane}, there are 3" in ran.err and "cycle 7)" in ran.err


@pytest.mark.parametrize("seed", range(3))
def test_a_userpoint_sorts_by_value(bench: Bench, seed: int) -> None:
    ports = {"in": ("in", 1, "uint32"), "out": ("out", 3, "uint32")}
    seen = Device(bench, "demux", ports, "route = <<< return item % 3; >>>;").stream(
        400, seed, offer=0.8, cancel=0.2, ready=0.6
    )
    entered = moved(seen["in", 0])
    assert len(entered) > 100
    for lane in range(3):
        assert moved(seen["out", lane]) == [(cycle, item) for cycle, item in entered if item % 3 == lane]


def test_neither_select_nor_route_is_refused(bench: Bench) -> None:
    text = "instance s : source; instance d : demux; instance k : sink; s.out -> d.in : uint8; d.out -> k.in;"
    assert "needs a select connection or its userpoint" in bench.refuse(text)
