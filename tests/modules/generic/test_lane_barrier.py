"""lane_barrier: all lanes or none, in the same cycle, whoever is late, refuses or cancels."""

import pytest

from tests.modules.harness import Bench, Device, collect, happened, moved

PORTS = {"in": ("in", 2, "uint32"), "out": ("out", 2, "uint32")}


@pytest.fixture(scope="module")
def device(bench: Bench) -> Device:
    return Device(bench, "lane_barrier", PORTS, after=collect("dut", "passed()", "held()"))


def test_all_or_none(device: Device) -> None:
    ran = device.check_table("""
        in[0] | in[1] | out[0] | out[1] | in[0].ack | in[1].ack | out[0].enable | out[1].enable | out[0].ack | out[1].ack
        1     | 2     | 1      | 2      | 1         | 1         | 1             | 1             | 1          | 1
        3     | .     | .      | .      | 0         | 0         | 0             | 0             | 1          | 1
        .     | 4     | .      | .      | 0         | 0         | 0             | 0             | 1          | 1
        3     | 4     | 3      | 4      | 0         | 0         | 0             | 0             | 1          | 0
        3     | 4     | 3      | 4      | 0         | 0         | 0             | 0             | 0          | 1
        3     | 4     | 3      | 4      | 1         | 1         | 1             | 1             | 1          | 1
        5!    | 6!    | 5      | 6      | 1         | 1         | 0             | 0             | 1          | 1
    """)
    assert happened(ran, "passed") == [(0,), (5,)] and happened(ran, "held") == [(1,), (2,)]


def test_a_stream_cancelled_alone_stops_the_run(bench: Bench, device: Device) -> None:
    files = {"a.txt": "2 1 cancel\n", "b.txt": "2 2 once\n"}
    ran = bench.run(device.simulator, 5, {"in_source[0].script": "a.txt", "in_source[1].script": "b.txt"}, ok=False, files=files)
    assert "one stream was cancelled while another was committed" in ran.err


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_pressure(seed: int, device: Device) -> None:
    """Item k of both lanes moves in the same cycle, and none is lost."""
    seen = device.stream(400, seed, offer=0.7, ready=0.6)
    first, second = (moved(seen["out", lane]) for lane in (0, 1))
    assert len(first) > 30 and [cycle for cycle, _ in first] == [cycle for cycle, _ in second], f"seed {seed}"
    assert [n for _, n in first] == list(range(0, 2 * len(first), 2)) and [n for _, n in second] == list(range(1, 2 * len(first), 2))
    assert first == moved(seen["in", 0])


def test_lanes_must_match(bench: Bench) -> None:
    text = "instance s[2] : source; instance k : sink; instance l : lane_barrier;\ns[0].out -> l.in : uint32; s[1].out -> l.in; l.out -> k.in;\n"
    assert "in and out must have the same number of lanes: 2 and 1" in bench.refuse(text)
