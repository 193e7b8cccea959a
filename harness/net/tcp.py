"""Generated TCP: conversations as packet files of both directions, for correlated traffic.

Each conversation is opened by the host, asks and is answered a number of times, and is closed again; every second
segment is acknowledged, as is the last of a message.  The frames are complete, checksums included, and the same on
every machine.  The time stamps are those of ends with a think time of `think` nanoseconds.
"""

import struct
from dataclasses import dataclass, field
from pathlib import Path

from harness.net import packets, udp
from harness.net.traffic import SplitMix64, TrafficError

PROTOCOL_TCP, SEGMENT, WINDOW, SERVICE, FIRST_PORT = 6, 1460, 65535, 80, 40000
FIN, SYN, PSH, ACK = 1, 2, 8, 16


def frame(
    source: udp.Endpoint, target: udp.Endpoint, sequence: int, acknowledged: int, flags: int, payload: bytes = b""
) -> bytes:
    """An Ethernet frame without FCS that holds one segment without options."""
    length = 20 + len(payload)
    header = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0x4000, 64, PROTOCOL_TCP, 0, source.address, target.address
    )
    header = header[:10] + struct.pack("!H", udp.checksum(header)) + header[12:]
    numbers = sequence & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF
    segment = struct.pack("!HHIIBBHHH", source.port, target.port, *numbers, 5 << 4, flags, WINDOW, 0, 0)
    pseudo = source.address + target.address + struct.pack("!BBH", 0, PROTOCOL_TCP, length)
    checksum = udp.checksum(pseudo + segment + payload)
    segment = segment[:16] + struct.pack("!H", checksum) + segment[18:]
    whole = target.mac + source.mac + struct.pack("!H", udp.ETHERTYPE_IPV4) + header + segment + payload
    return whole.ljust(udp.MINIMUM_FRAME, b"\0")


@dataclass
class Conversation:
    """One connection while its frames are made: side 0 is the host, 1 the peer."""

    number: int
    random: SplitMix64
    think: int
    time: int
    frames: tuple[list[packets.Packet], list[packets.Packet]] = field(default_factory=lambda: ([], []))

    def __post_init__(self) -> None:
        host = udp.Endpoint(udp.HOST.mac, udp.HOST.address, FIRST_PORT + self.number)
        self.ends = host, udp.Endpoint(udp.PEER.mac, udp.PEER.address, SERVICE)
        self.sent = [self.random.next() & 0xFFFFFFFF, self.random.next() & 0xFFFFFFFF]

    def put(self, side: int, flags: int = ACK, payload: bytes = b"") -> None:
        """A frame of one side, after its think time."""
        self.time += self.think
        acknowledged = self.sent[1 - side] if flags & ACK else 0
        data = frame(self.ends[side], self.ends[1 - side], self.sent[side], acknowledged, flags, payload)
        self.frames[side].append(packets.Packet(self.time, data))
        self.sent[side] += len(payload) + bool(flags & (SYN | FIN))

    def message(self, side: int, size: int) -> None:
        """A message of one side in segments, and the acknowledgments of the other."""
        payload = b"".join(self.random.next().to_bytes(8, "big") for _ in range((size + 7) // 8))[:size]
        parts = [payload[at : at + SEGMENT] for at in range(0, size, SEGMENT)]
        for count, part in enumerate(parts, 1):
            self.put(side, ACK | (PSH if count == len(parts) else 0), part)
            if count % 2 == 0 or count == len(parts):
                self.put(1 - side)


def generate(
    out: Path, conversations: int, exchanges: int, request: int, response: int, think: int = 10000, seed: int = 1
) -> tuple[Path, Path]:
    """Writes send.pcap and receive.pcap; `request` and `response` are the bytes of each."""
    sizes = {"conversations": conversations, "exchanges": exchanges, "request": request, "response": response}
    for name, value in sizes.items():
        if value < 1:
            raise TrafficError(f"{name} {value}: at least 1 is needed")
    if conversations > 65535 - FIRST_PORT:
        raise TrafficError(f"conversations {conversations}: there are ports for {65535 - FIRST_PORT}")
    if think < 0:
        raise TrafficError(f"think {think}: a time cannot be negative")
    sides: tuple[list, list] = ([], [])
    for number in range(conversations):
        one = Conversation(number, SplitMix64(seed * 0x10001 + number), think, number * 1000)
        one.put(0, SYN)
        one.put(1, SYN | ACK)
        one.put(0)
        for _ in range(exchanges):
            one.message(0, request)
            one.message(1, response)
        one.put(0, FIN | ACK)
        one.put(1, FIN | ACK)
        one.put(0)
        for side in 0, 1:
            sides[side].extend(one.frames[side])
    out.mkdir(parents=True, exist_ok=True)
    files = out / "send.pcap", out / "receive.pcap"
    for file, frames in zip(files, sides, strict=True):
        packets.write(file, sorted(frames, key=lambda packet: packet.time))
    return files
