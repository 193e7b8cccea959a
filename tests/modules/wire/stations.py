"""Frames for a station and from it, built and taken apart by dpkt, and a bench around one."""

import struct
import zlib
from dataclasses import dataclass, field

import dpkt

from tests.modules.assists import beats
from tests.modules.harness import Bench, Ran, happened, read_items

MAC, IP = bytes.fromhex("020000000002"), bytes([192, 0, 2, 2])
PEER_MAC, PEER = bytes.fromhex("020000000001"), bytes([192, 0, 2, 1])
BROADCAST = b"\xff" * 6
PROTOCOLS = ["arp", "icmp", "udp", "tcp", "other"]
REASONS = ["damaged", "arp", "ip", "icmp", "udp", "tcp", "fragment", "address", "protocol", "port", "busy"]
STATES = ["closed", "syn_received", "established", "fin_wait_1", "fin_wait_2", "close_wait", "closing", "last_ack", "time_wait"]
NETLIST = """
import ethernet_types;
clock clk = 100 MHz;
instance device : source;
instance dut : station;
instance out : sink;
device.out -> dut.from_device : wire_beat(64);
dut.to_device -> out.in;
"""
NS = 10  # of a cycle
BYTE = 8  # ns


def with_fcs(frame: bytes) -> bytes:
    whole = frame.ljust(60, b"\0")
    return whole + zlib.crc32(whole).to_bytes(4, "little")


def ethernet(data: object, kind: int = dpkt.ethernet.ETH_TYPE_IP, source: bytes = PEER_MAC, to: bytes = MAC) -> bytes:
    return bytes(dpkt.ethernet.Ethernet(src=source, dst=to, type=kind, data=bytes(data)))


def arp(op: int = 1, sender_mac: bytes = PEER_MAC, sender: bytes = PEER, target: bytes = IP, to: bytes = BROADCAST) -> bytes:
    packet = dpkt.arp.ARP(op=op, sha=sender_mac, spa=sender, tha=bytes(6), tpa=target)
    return ethernet(packet, dpkt.ethernet.ETH_TYPE_ARP, sender_mac, to)


def ip(data: object, protocol: int, **fields: object) -> bytes:
    given = {"src": PEER, "dst": IP, "p": protocol, "len": 20 + len(bytes(data)), "data": data} | fields
    return bytes(dpkt.ip.IP(**given))


def echo(data: bytes = b"", number: int = 1, **fields: object) -> bytes:
    message = dpkt.icmp.ICMP(type=8, data=dpkt.icmp.ICMP.Echo(id=77, seq=number, data=data))
    return ethernet(ip(message, 1, **fields))


def udp(data: bytes, port: int, source: int = 4000, **fields: object) -> bytes:
    return ethernet(ip(dpkt.udp.UDP(sport=source, dport=port, ulen=8 + len(data), data=data), 17, **fields))


def tcp(seq: int, ack: int | None, flags: str = "", data: bytes = b"", *, port: int = 4000, to: int = 5001, window: int = 65535, options: bytes = b"", **fields: object) -> bytes:
    bits = sum({"F": 1, "S": 2, "R": 4, "P": 8}[one] for one in flags) | (16 if ack is not None else 0)
    segment = dpkt.tcp.TCP(sport=port, dport=to, seq=seq & 0xFFFFFFFF, ack=(ack or 0) & 0xFFFFFFFF, flags=bits, win=window, data=data, opts=options)
    segment.off = (20 + len(options)) // 4
    return ethernet(ip(segment, 6, **fields))


def mss(value: int) -> bytes:
    return struct.pack("!BBH", 2, 4, value)


@dataclass
class Sent:
    """A frame that the station sent: the cycles of its first and last beat, and its bytes without FCS."""

    first: int
    last: int
    data: bytes

    @property
    def ethernet(self) -> dpkt.ethernet.Ethernet:
        return dpkt.ethernet.Ethernet(self.data)

    @property
    def ip(self) -> dpkt.ip.IP:
        """Its datagram, whose checksums are right."""
        whole = self.data[14 : 14 + int.from_bytes(self.data[16:18], "big")]
        assert dpkt.dpkt.in_cksum(whole[:20]) == 0
        pseudo = whole[12:20] + struct.pack("!HH", whole[9], len(whole) - 20) if whole[9] != 1 else b""
        assert dpkt.dpkt.in_cksum(pseudo + whole[20:]) == 0
        return dpkt.ip.IP(whole)


@dataclass
class Seen:
    """What a run left."""

    ran: Ran
    frames: list[Sent] = field(default_factory=list)

    def happened(self, event: str) -> list[tuple[int, ...]]:
        return happened(self.ran, event)

    def counted(self, statistic: str, names: list[str]) -> dict[str, int]:
        """The elements of a statistic that are not zero, by what they are."""
        start = f"{statistic}["
        return {names[int(name[len(start) : -1])]: n for name, n in self.ran.counted("dut").items() if name.startswith(start)}

    @property
    def dropped(self) -> dict[str, int]:
        return self.counted("dropped", REASONS)

    @property
    def segments(self) -> list[dpkt.tcp.TCP]:
        return [one.ip.data for one in self.frames if one.ethernet.type == dpkt.ethernet.ETH_TYPE_IP and one.ip.p == 6]


def frames_of(ran: Ran, record: str = "out") -> list[Sent]:
    """The frames of a sink's record, each with a right FCS and 64 bytes or more."""
    frames: list[Sent] = []
    data = b""
    for cycle, text in read_items(ran.directory / record):
        f = dict(word.split("=") for word in text.strip("{}").split())
        if f["start"] in ("1", "true"):
            frames.append(Sent(cycle, cycle, b""))
            data = b""
        data += int(f["bytes"], 0).to_bytes(8, "little")[: int(f["count"], 0)]
        if f["end"] in ("1", "true"):
            assert f["error"] in ("0", "false") and zlib.crc32(data[:-4]).to_bytes(4, "little") == data[-4:] and len(data) >= 64
            frames[-1].last, frames[-1].data = cycle, data[:-4]
    return [one for one in frames if one.data]


def play(bench: Bench, netlist: str, frames: list[tuple[int, bytes]], cycles: int, raw: bool = False, seed: int = 1, **settings: object) -> Seen:
    """Frames that begin in given cycles, or when the line is free; `raw` ones have their FCS, or a wrong one."""
    script = "".join(line for cycle, one in frames for line in beats(one if raw else with_fcs(one), cycle))
    values = {"device.script": "script", "out.record": "out"} | {f"dut.{name}": value for name, value in settings.items()}
    ran = bench.run(bench.build(netlist), cycles, values, files={"script": script}, seed=seed)
    return Seen(ran, frames_of(ran))


def end_of(frame: bytes, cycle: int = 1) -> int:
    """Nanoseconds at which a frame has left that begins in a cycle."""
    return NS * cycle + BYTE * (8 + len(with_fcs(frame)))


def first_beat(start: int) -> int:
    """The cycle of the first beat of a frame whose preamble begins at an instant in ns."""
    return -(-(start + 2 * 8 * BYTE) // NS)


def stream(count: int, seed: int = 1, offset: int = 0) -> bytes:
    """The bytes that a station sends: numbers of splitmix64."""
    mask, data = (1 << 64) - 1, []
    for k in range(offset // 8, (offset + count + 7) // 8):
        z = (seed + (k + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        data.append((z ^ (z >> 31)).to_bytes(8, "big"))
    return b"".join(data)[offset % 8 :][:count]
