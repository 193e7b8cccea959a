"""Throughput as measured on the wire: from the packet files that a run wrote, and from nothing else.

The window opens when the last direction has warmed up and closes when the first one ends, so both directions are busy
in all of it.  Only UDP payload counts, as in the published measurements.
"""

from dataclasses import dataclass
from pathlib import Path

from harness import packets, udp


class MeasureError(Exception):
    """A run too short to measure; the text is one line for the user."""


@dataclass(frozen=True)
class Throughput:
    """What crossed in the window: nanoseconds, and frames and payload bytes of both directions."""

    window: int
    sent_frames: int
    sent_bytes: int
    received_frames: int
    received_bytes: int

    @property
    def payload_rate(self) -> float:
        """UDP payload of both directions together, bit/s."""
        return 8e9 * (self.sent_bytes + self.received_bytes) / self.window


def throughput(sent: list[packets.Packet], received: list[packets.Packet], warmup: int) -> Throughput:
    """Measures what follows the first `warmup` frames, shared out over the directions as their counts are."""
    total = len(sent) + len(received)
    if total < warmup + 10:
        raise MeasureError(f"{total} frames are too few to measure after {warmup} of warm-up")
    opens, closes = [], []
    for stream in sent, received:
        if stream:
            skip = warmup * len(stream) // total
            opens.append(stream[skip].time)
            closes.append(stream[-1].time)
    start, end = max(opens), min(closes)
    if end <= start:
        raise MeasureError("one direction ended before the other had warmed up")
    # The frame that ends with the window's start opens it; what follows, to the end inclusive, was carried in it.
    inside = [[p for p in stream if start < p.time <= end] for stream in (sent, received)]
    counts = [
        (len(stream), sum(len(udp.payload_of(p.data)) for p in stream if udp.is_udp(p.data))) for stream in inside
    ]
    return Throughput(end - start, *counts[0], *counts[1])


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
