"""Throughput from packet files: the window that both directions share, whole turns, bursts, and where it settles."""

import pytest

from harness.net import packets, traffic
from harness.study.reading import settled
from harness.study.uses import throughput


def udp_stream(times: list[int]) -> list[packets.Packet]:
    frame = next(traffic.stream_frames(traffic.Mix.parse("1000"), 0, 1, 1)).data
    return [packets.Packet(time, frame) for time in times]


def test_too_short_to_measure() -> None:
    with pytest.raises(throughput.MeasureError, match="too few"):
        throughput.throughput([packets.Packet(k, b"") for k in range(20)], [], 15)


@pytest.mark.parametrize("burst", [1, 7, 25])
def test_bursts_do_not_bend_the_rate(burst: int) -> None:
    # A frame every 8 us on the wire; the driver finds them in bursts, 20 ns apart.
    times = [(k // burst + 1) * burst * 8000 + 20 * (k % burst) for k in range(500)]
    carried = throughput.throughput([], udp_stream(times), 100).payload_rate
    assert carried == pytest.approx(1e9, rel=1e-9)


def test_the_window_is_what_both_directions_share() -> None:
    slow, fast = udp_stream([k * 16000 for k in range(200)]), udp_stream([k * 8000 for k in range(200)])
    measured = throughput.throughput(slow, fast, 100)
    assert measured.sent.payload_rate == pytest.approx(5e8) and measured.received.payload_rate == pytest.approx(1e9)


@pytest.mark.parametrize("sent_every, received_every", [(8000, 10000), (6000, 12000)])
def test_only_whole_turns_count(sent_every: int, received_every: int) -> None:
    # In a ratio of 3:2 the first has more receives than belong to it, as long as the host's ring fills.
    sent, received = (udp_stream([k * every for k in range(400)]) for every in (sent_every, received_every))
    carried = throughput.throughput(sent, received, 100, (3, 2))
    turns = min(1 / sent_every / 3, 1 / received_every / 2)
    assert carried.payload_rate == pytest.approx(8e12 * 5 * turns)
    assert carried.crossed == pytest.approx(8e12 * (1 / sent_every + 1 / received_every))
    assert carried.uncertainty >= carried.crossed - carried.payload_rate > 0


def test_one_direction_after_the_other_is_not_duplex() -> None:
    with pytest.raises(throughput.MeasureError, match="ended before the other had warmed up"):
        throughput.throughput(udp_stream(list(range(200))), udp_stream(list(range(500, 700))), 100)


def test_directions_that_hardly_overlap_are_not_duplex() -> None:
    first, then = udp_stream([k * 8000 for k in range(200)]), udp_stream([1_100_000 + k * 8000 for k in range(200)])
    with pytest.raises(throughput.MeasureError, match=r"busy for 24 of the 300 frames .* give the run more frames"):
        throughput.throughput(first, then, 100)


def test_one_direction_needs_frames_while_the_other_is_busy() -> None:
    many, few = udp_stream([k * 1000 for k in range(200)]), udp_stream([0, 60_000, 150_000, 190_000])
    with pytest.raises(throughput.MeasureError, match="^one direction carried too few frames while the other was busy$"):
        throughput.throughput(many, few, 60)


def test_where_throughput_settles() -> None:
    frame = next(traffic.stream_frames(traffic.Mix.parse("1000"), 0, 1, 1)).data
    # The first 300 frames come twice as fast, all in bursts of 25.
    times, now = [], 0
    for burst in range(80):
        now += 100_000 if burst < 12 else 200_000
        times += [now + 10 * k for k in range(25)]
    series = throughput.convergence([], [packets.Packet(time, frame) for time in times])
    assert series[-1][1] == pytest.approx(1e9, rel=0.01)
    assert 300 < settled(series, 0.05) <= 450
