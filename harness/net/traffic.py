"""Generated UDP traffic: packet files for both directions and the descriptor trace that goes with them.

docs/traces.md documents the formats.  The same options and seed give the same bytes on every machine, so only the
standard library's exact integer arithmetic is used, no random module whose sequence might change.
"""

import re
import struct
import sys
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from harness.net import packets, theory, udp
from harness.run import files

MAGIC = b"SPNC"
SMALLEST, LARGEST = 18, 1472
TO_WIRE, TO_HOST = 0, 1
RECEIVE_BUFFERS, RECEIVE_BUFFER_BYTES, REFILL = 256, 1536, 16
TRACE = "descriptors.txt"  # written last, so a folder that has it is complete
MASK = (1 << 64) - 1
HEAD = struct.Struct("!4sIQ")


class TrafficError(Exception):
    """An option that makes no sense; the text is one line for the user."""


class SplitMix64:
    """Steele, Lea and Flood's splitmix64: 64 bits a step from any seed."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


@dataclass(frozen=True)
class Mix:
    """Payload sizes and their weights; a range is a size for each of its values."""

    sizes: tuple[int, ...]
    weights: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> "Mix":
        """`1472`, `18-1472` or `18:7,576:4,1472:1`."""
        if span := re.fullmatch(r"(\d+)-(\d+)", text):
            low, high = int(span[1]), int(span[2])
            sizes, weights = tuple(range(low, high + 1)), (1,) * max(0, high - low + 1)
        else:
            parts = [re.fullmatch(r"(\d+)(?::(\d+))?", part) for part in text.split(",")]
            if not all(parts):
                raise TrafficError(f"payload {text!r}: expected a size, a range 18-1472 or a mix 18:7,576:4,1472:1")
            sizes = tuple(int(part[1]) for part in parts)
            weights = tuple(int(part[2] or 1) for part in parts)
        if not sizes or sum(weights) == 0:
            raise TrafficError(f"payload {text!r}: no size is left to choose from")
        if bad := [size for size in sizes if not SMALLEST <= size <= LARGEST]:
            raise TrafficError(f"payload {bad[0]}: UDP payloads here have {SMALLEST} to {LARGEST} bytes")
        return cls(sizes, weights)

    def choose(self, random: SplitMix64) -> int:
        if len(self.sizes) == 1:
            return self.sizes[0]
        ends = list(accumulate(self.weights))
        return self.sizes[bisect(ends, random.next() % ends[-1])]


def parse_ratio(text: str) -> tuple[int, int]:
    """`sends:receives`; one of them may be 0."""
    found = re.fullmatch(r"(\d+):(\d+)", text)
    ratio = (int(found[1]), int(found[2])) if found else (0, 0)
    if not sum(ratio):
        raise TrafficError(f"ratio {text!r}: expected sends:receives, such as 1:2, 1:0 or 0:1")
    return ratio


def payload(size: int, stream: int, sequence: int, seed: int) -> bytes:
    """One generated payload; the fill depends on nothing but seed, stream, sequence number and size."""
    random = SplitMix64(seed ^ (stream << 56) ^ (sequence * 0x2545F4914F6CDD1D))
    words = (size - HEAD.size + 7) // 8
    fill = b"".join(random.next().to_bytes(8, "big") for _ in range(words))
    return (HEAD.pack(MAGIC, stream, sequence) + fill)[:size]


@lru_cache(maxsize=16384)
def _frame(size: int, stream: int, sequence: int, seed: int, vlan: int) -> bytes:
    """One generated frame.  Studies ask for the same ones again and again, in other ratios."""
    source, target = (udp.HOST, udp.PEER) if stream == TO_WIRE else (udp.PEER, udp.HOST)
    frame = udp.frame(source, target, payload(size, stream, sequence, seed), identification=sequence)
    return udp.tagged(frame, vlan) if vlan else frame


def stream_frames(
    mix: Mix, stream: int, count: int, seed: int, rate: float = theory.GIGABIT, vlan: int = 0
) -> Iterator[packets.Packet]:
    """The frames of one direction, stamped back to back at `rate` bit/s; with a tag of VLAN `vlan`, unless it is 0."""
    random = SplitMix64(seed * 2 + stream + 1)
    byte_times = 0
    for sequence in range(count):
        size = mix.choose(random)
        yield packets.Packet(int(byte_times * 8 * 10**9 // int(rate)), _frame(size, stream, sequence, seed, vlan))
        byte_times += theory.wire_bytes(size, udp.VLAN_TAG if vlan else 0)


def descriptors(sends: list[packets.Packet], receives: list[packets.Packet]) -> Iterator[str]:
    """The lines of a descriptor trace: a full ring of receive buffers, refilled as frames arrive, and the sends."""
    yield "descriptors 1"
    if receives:
        yield f"post 0 {RECEIVE_BUFFERS} {RECEIVE_BUFFER_BYTES}"
    events = [(p.time, 0, f"post {p.time} {REFILL} {RECEIVE_BUFFER_BYTES}") for p in receives[REFILL::REFILL]]
    for packet in sends:
        headers = udp.HEADER_BYTES + len(packet.data) - len(udp.untagged(packet.data))
        events.append((packet.time, 1, f"send {packet.time} {headers} {len(packet.data) - headers}"))
    for _, _, line in sorted(events, key=lambda event: event[:2]):
        yield line


@dataclass(frozen=True)
class Files:
    """Where generate() put its three files; a direction without frames has none."""

    send: Path | None
    receive: Path | None
    descriptors: Path


def generate(out: Path, payloads: str, frames: int, ratio: str = "1:1", seed: int = 1, vlan: int = 0) -> Files:
    """Writes send.pcap, receive.pcap and descriptors.txt; `frames` counts both directions together, `vlan` is 0 for
    frames without a tag."""
    mix, (sends, receives) = Mix.parse(payloads), parse_ratio(ratio)
    if frames < 1:
        raise TrafficError(f"frames {frames}: at least one is needed")
    if vlan and vlan not in udp.VLANS:
        raise TrafficError(f"vlan {vlan}: VLANs are {udp.VLANS[0]} to {udp.VLANS[-1]}")
    send_count = frames * sends // (sends + receives)
    out.mkdir(parents=True, exist_ok=True)
    streams = []
    for stream, count, name in (TO_WIRE, send_count, "send"), (TO_HOST, frames - send_count, "receive"):
        streams.append(list(stream_frames(mix, stream, count, seed, vlan=vlan)))
        if count:
            packets.write(out / f"{name}.pcap", streams[-1])
    trace = out / TRACE
    files.write(trace, "\n".join(descriptors(*streams)) + "\n")
    return Files(out / "send.pcap" if streams[0] else None, out / "receive.pcap" if streams[1] else None, trace)


def written(out: Path) -> Files | None:
    """What generate() put into this folder before, if that was a generator as it is now."""
    trace, sources = out / TRACE, (Path(module.__file__) for module in (sys.modules[__name__], packets, udp))
    if not trace.exists() or any(trace.stat().st_mtime < source.stat().st_mtime for source in sources):
        return None
    send, receive = (path if path.exists() else None for path in (out / "send.pcap", out / "receive.pcap"))
    return Files(send, receive, trace)
