"""TCP frames for tests, and what a recorded conversation demands, worked out from the headers independently of the simulator."""

import struct
from dataclasses import dataclass

import dpkt

from harness.net import packets

HOST, PEER = (bytes.fromhex("020000000001"), bytes([192, 0, 2, 1])), (bytes.fromhex("020000000002"), bytes([192, 0, 2, 2]))


def tcp(from_host: bool, seq: int, ack: int | None, data: bytes = b"", port: int = 5000, flags: str = "", window: int = 65535, scale: int | None = None) -> bytes:
    """A frame of a conversation between port `port` of the host and port 80 of the peer; ack None sets no ACK flag."""
    (mac, address), (far_mac, far_address) = (HOST, PEER) if from_host else (PEER, HOST)
    bits = (dpkt.tcp.TH_SYN if "S" in flags else 0) | (dpkt.tcp.TH_FIN if "F" in flags else 0)
    options = struct.pack("!BBBB", 3, 3, scale, 0) if scale is not None else b""
    segment = dpkt.tcp.TCP(
        sport=port if from_host else 80, dport=80 if from_host else port, seq=seq & 0xFFFFFFFF, ack=(ack or 0) & 0xFFFFFFFF,
        flags=bits | (dpkt.tcp.TH_ACK if ack is not None else 0), win=window, data=data, opts=options,
    )  # fmt: skip
    segment.off = (20 + len(options)) // 4
    datagram = dpkt.ip.IP(src=address, dst=far_address, p=6, data=segment, len=20 + len(segment))
    return bytes(dpkt.ethernet.Ethernet(src=mac, dst=far_mac, data=datagram))


@dataclass
class Segment:
    """A TCP frame's numbers, and when it came out at its end."""

    key: tuple
    seq: int
    ack: int | None
    end: int
    time: int
    data: bytes


def segments(frames: list[packets.Packet], from_host: bool) -> list[Segment]:
    """The TCP frames of one direction, keyed by the conversation as the host sees it."""
    found = []
    for frame in frames:
        datagram = dpkt.ethernet.Ethernet(frame.data).data
        if isinstance(datagram, dpkt.ip.IP) and isinstance(datagram.data, dpkt.tcp.TCP):
            t = datagram.data
            ends = [(datagram.src, t.sport), (datagram.dst, t.dport)]
            length = len(t.data) + bool(t.flags & dpkt.tcp.TH_SYN) + bool(t.flags & dpkt.tcp.TH_FIN)
            ack = t.ack if t.flags & dpkt.tcp.TH_ACK else None
            found.append(Segment(tuple(ends if from_host else ends[::-1]), t.seq, ack, t.seq + length, frame.time, frame.data))
    return found


def acknowledged_too_early(answers: list[Segment], data: list[Segment]) -> list[str]:
    """Each frame that came out at one end before all the data that it acknowledges had come out at the other."""
    wrong = []
    for answer in answers:
        if answer.ack is None:
            continue
        for segment in data:
            if segment.key == answer.key and segment.end > segment.seq and segment.end <= answer.ack and segment.time >= answer.time:
                wrong.append(f"ack {answer.ack} at {answer.time} ns, data up to {segment.end} at {segment.time} ns")
    return wrong
