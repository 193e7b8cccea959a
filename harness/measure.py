"""Throughput as measured on the wire: from the packet files that a run wrote, and from nothing else.

The window opens when the last direction has warmed up and closes when the first one ends, so both directions are busy
in all of it.  Frames come out in bursts (a driver finds several at each interrupt); a window that began in one burst
and ended in the next would count some frames without their time.  So each direction is measured from the end of a
burst to the end of a burst.  Only UDP payload counts, as in the published measurements.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path

from harness import packets, udp

BURST = 64  # frames among which the end of a burst is looked for


class MeasureError(Exception):
    """A run too short to measure; the text is one line for the user."""


@dataclass(frozen=True)
class Flow:
    """What crossed in one direction: UDP payload bytes and frames within so many nanoseconds."""

    window: int = 1
    frames: int = 0
    payload: int = 0

    @property
    def payload_rate(self) -> float:
        """Bit/s."""
        return 8e9 * self.payload / self.window


@dataclass(frozen=True)
class Throughput:
    """Both directions of the window."""

    sent: Flow
    received: Flow

    @property
    def payload_rate(self) -> float:
        """UDP payload of both directions together, bit/s."""
        return self.sent.payload_rate + self.received.payload_rate


def _burst_end(times: list[int], first: int, last: int) -> int:
    """The index in first..last after which the longest pause follows."""
    return max(range(first, last + 1), key=lambda index: times[index + 1] - times[index])


def _flow(stream: list[packets.Packet], start: int, end: int) -> Flow:
    times = [packet.time for packet in stream]
    first, last = bisect_left(times, start), bisect_right(times, end) - 1
    span = min(BURST, (last - first) // 4)
    if span < 1:
        raise MeasureError("one direction carried too few frames while the other was busy")
    opening = _burst_end(times, first, first + span)
    closing = _burst_end(times, last - span - 1, last - 1)
    inside = stream[opening + 1 : closing + 1]
    payload = sum(len(udp.payload_of(packet.data)) for packet in inside if udp.is_udp(packet.data))
    return Flow(times[closing] - times[opening], len(inside), payload)


def throughput(sent: list[packets.Packet], received: list[packets.Packet], warmup: int) -> Throughput:
    """Measures what follows the first `warmup` frames, shared out over the directions as their counts are."""
    total = len(sent) + len(received)
    if total < warmup + 10:
        raise MeasureError(f"{total} frames are too few to measure after {warmup} of warm-up")
    busy = [stream for stream in (sent, received) if stream]
    start = max(stream[warmup * len(stream) // total].time for stream in busy)
    end = min(stream[-1].time for stream in busy)
    if end <= start:
        raise MeasureError("one direction ended before the other had warmed up")
    return Throughput(*(_flow(stream, start, end) if stream else Flow() for stream in (sent, received)))


def throughput_of_files(sent: Path | None, received: Path | None, warmup: int) -> Throughput:
    """throughput() of the files of a run; None stands for a direction without traffic."""
    return throughput(*(list(packets.read(path)) if path else [] for path in (sent, received)), warmup)


def split(capture: Path, host: str, out: Path) -> tuple[Path, Path]:
    """Splits a capture into what `host` (a MAC address) sent and what it received: send.pcap and receive.pcap."""
    mac = bytes.fromhex(host.replace(":", ""))
    out.mkdir(parents=True, exist_ok=True)
    frames = list(packets.read(capture))
    send, receive = out / "send.pcap", out / "receive.pcap"
    packets.write(send, (p for p in frames if p.data[6:12] == mac))
    packets.write(receive, (p for p in frames if p.data[6:12] != mac))
    return send, receive
