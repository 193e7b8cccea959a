"""Throughput as measured on the wire: from the packet files that a run wrote, and from nothing else.

The window opens when the last direction has warmed up and closes when the first one ends, so both directions are busy
in all of it.  Frames come out in bursts (a driver finds several at each interrupt); a window that began in one burst
and ended in the next would count some frames without their time.  So each direction is measured from the end of a
burst to the end of a burst.  Only UDP payload counts, as in the published measurements.

Traffic in a ratio keeps it where it enters the device, but rings and buffers let one direction get ahead until they are
full, which may take longer than a run.  What it gets ahead by cannot last, so it does not count: of `s` sends and `r`
receives only whole turns do, and the rest is part of the uncertainty.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from harness.net import packets, udp
from harness.study.statistics import errors

BURST = 64  # frames among which the end of a burst is looked for
WINDOW = 100  # frames of one direction over which convergence() measures
LEAST = 0.25  # of what follows the warm-up must lie in the window
PARTS = 5  # the window is cut into so many parts to see how much the rate wanders


class MeasureError(Exception):
    """A run too short to measure; the text is one line for the user."""


@dataclass(frozen=True)
class Flow:
    """What crossed in one direction: UDP payload bytes and frames within so many nanoseconds."""

    window: int = 1
    frames: int = 0
    payload: int = 0
    parts: tuple[float, ...] = (0.0,) * PARTS  # payload rate of each part, bit/s

    @property
    def payload_rate(self) -> float:
        """Bit/s."""
        return 8e9 * self.payload / self.window

    @property
    def frame_rate(self) -> float:
        """Frames a second."""
        return 1e9 * self.frames / self.window


@dataclass(frozen=True)
class Throughput:
    """Both directions of the window, and how many sends and receives are a turn (0: that direction has none)."""

    sent: Flow
    received: Flow
    turn: tuple[int, int] = (0, 0)

    @property
    def crossed(self) -> float:
        """UDP payload of both directions together, bit/s, in step or not."""
        return self.sent.payload_rate + self.received.payload_rate

    @property
    def payload_rate(self) -> float:
        """UDP payload of both directions together, bit/s, without what one got ahead of the other by."""
        flows = list(zip((self.sent, self.received), self.turn, strict=True))
        if not all(self.turn):
            return self.crossed
        turns = min(flow.frame_rate / frames for flow, frames in flows)
        return sum(flow.payload_rate * turns * frames / flow.frame_rate for flow, frames in flows)

    @property
    def uncertainty(self) -> float:
        """Half of the 95 % confidence interval of the payload rate, bit/s, from the parts of the window, and what one
        direction got ahead by: the other may catch up at the cost of the first."""
        parts = [a + b for a, b in zip(self.sent.parts, self.received.parts, strict=True)]
        return errors.half_of_mean(parts) + self.crossed - self.payload_rate


def _burst_end(times: list[int], first: int, last: int) -> int:
    """The index in first..last after which the longest pause follows."""
    return max(range(first, last + 1), key=lambda index: times[index + 1] - times[index])


def _payload(stream: list[packets.Packet]) -> int:
    return sum(len(udp.payload_of(packet.data)) for packet in stream if udp.is_udp(packet.data))


def _flow(stream: list[packets.Packet], start: int, end: int) -> Flow:
    times = [packet.time for packet in stream]
    first, last = bisect_left(times, start), bisect_right(times, end) - 1
    span = min(BURST, (last - first) // 4)
    if span < 1:
        raise MeasureError("one direction carried too few frames while the other was busy")
    opening = _burst_end(times, first, first + span)
    closing = _burst_end(times, last - span - 1, last - 1)
    length = closing - opening
    near = max(0, min(span // 2, (length // PARTS - 1) // 2))
    inner = [opening + part * length // PARTS for part in range(1, PARTS)]
    cuts = [opening, *(_burst_end(times, max(opening, cut - near), min(closing, cut + near)) for cut in inner), closing]
    parts = tuple(8e9 * _payload(stream[a + 1 : b + 1]) / max(times[b] - times[a], 1) for a, b in pairwise(cuts))
    return Flow(times[closing] - times[opening], length, _payload(stream[opening + 1 : closing + 1]), parts)


def throughput(
    sent: list[packets.Packet], received: list[packets.Packet], warmup: int, turn: tuple[int, int] = (0, 0)
) -> Throughput:
    """Measures what follows the first `warmup` frames, shared out over the directions as their counts are; `turn` are
    the sends and receives that keep step, if they do."""
    total = len(sent) + len(received)
    if total < warmup + 10:
        raise MeasureError(f"{total} frames are too few to measure after {warmup} of warm-up")
    busy = [stream for stream in (sent, received) if stream]
    start = max(stream[warmup * len(stream) // total].time for stream in busy)
    end = min(stream[-1].time for stream in busy)
    if end <= start:
        raise MeasureError("one direction ended before the other had warmed up")
    inside = sum(start <= packet.time <= end for stream in busy for packet in stream)
    if inside < LEAST * (total - warmup):
        raise MeasureError(
            f"both directions were busy for {inside} of the {total - warmup} frames after the warm-up only; "
            "give the run more frames"
        )
    return Throughput(*(_flow(stream, start, end) if stream else Flow() for stream in (sent, received)), turn)


def throughput_of_files(
    sent: Path | None, received: Path | None, warmup: int, turn: tuple[int, int] = (0, 0)
) -> Throughput:
    """throughput() of the files of a run; None is a direction without traffic."""
    return throughput(*(list(packets.read(path)) if path else [] for path in (sent, received)), warmup, turn)


def convergence(sent: list[packets.Packet], received: list[packets.Packet]) -> list[tuple[int, float]]:
    """How throughput settles: after so many frames of both directions, the payload rate of the latest ones, bit/s.

    There is a point at each end of a burst towards the host (or of each frame, without any), measured from the end of a
    burst WINDOW such frames earlier at least, so bursts do not show.
    """
    paced = received or sent
    pauses = [later.time - sooner.time for sooner, later in pairwise(paced)]
    usual = sorted(pauses)[len(pauses) // 2] if pauses else 0
    ends = [index for index, pause in enumerate(pauses) if pause > 4 * usual] or list(range(len(paced)))
    frames = sorted((p.time, len(udp.payload_of(p.data))) for p in [*sent, *received] if udp.is_udp(p.data))
    cumulative = [0, *accumulate(payload for _, payload in frames)]
    points = []
    for end in ends:
        before = bisect_right(ends, end - WINDOW) - 1
        if before >= 0:
            since, until = paced[ends[before]].time, paced[end].time
            first, last = (bisect_right(frames, (time, 1 << 16)) for time in (since, until))
            points.append((last, 8e9 * (cumulative[last] - cumulative[first]) / (until - since)))
    return points
