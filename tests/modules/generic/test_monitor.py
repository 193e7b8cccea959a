"""monitor: passes data, enable and acknowledgment on unchanged, and records and counts them."""

import pytest

from tests.modules.harness import Bench, Device, collect, happened, moved


def monitor(bench: Bench) -> Device:
    return Device(bench, "monitor", {"in": ("in", 2, "uint32"), "out": ("out", 2, "uint32")}, after=collect("dut", "passed(lane)"))


def test_all_three_signals_pass_in_the_same_cycle(bench: Bench) -> None:
    ran = monitor(bench).check_table(
        """
        in[0] | in[1] | in[0].ack | in[1].ack | out[0] | out[1] | out[0].ack | out[1].ack | out[0].enable | out[1].enable
        1     | .     | 1         | 1         | 1      | .      | 1          | 1          | 1             | -
        2     | 7     | 0         | 1         | 2      | 7      | 0          | 1          | 0             | 1
        2!    | 8!    | 1         | 1         | 2      | 8      | 1          | 1          | 0             | 0
        """
    )
    assert [ran.stat("dut", name) for name in ("transfers", "stalls", "cancels")] == [2, 1, 2]
    assert happened(ran, "passed") == [(0, 0), (1, 1)]


@pytest.mark.parametrize("seed", range(2))
def test_lanes_are_not_mixed(bench: Bench, seed: int) -> None:
    seen = monitor(bench).stream(200, seed, offer=0.8, cancel=0.2, ready=0.6)
    for lane in range(2):
        assert seen["in", lane] and [(s.cycle, s.value, s.enable, s.ack) for s in seen["in", lane]] == [
            (s.cycle, s.value, s.enable, s.ack) for s in seen["out", lane]
        ]
        assert all(item % 2 == lane for _, item in moved(seen["out", lane]))


def test_lanes_come_in_pairs(bench: Bench) -> None:
    text = (
        "instance s[2] : source; instance m : monitor; instance k : sink;\n"
        "s[0].out -> m.in : uint8; s[1].out -> m.in; m.out -> k.in;"
    )
    assert "in and out must have the same number of lanes: 2 and 1" in bench.refuse(text)
