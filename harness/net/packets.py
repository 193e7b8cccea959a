"""Packet files: reads pcap and pcapng, writes pcap.  docs/traces.md says what is accepted and why.

Anything else in a file is a PacketFileError whose text names the file, the place and what would be right.
"""

import os
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ETHERNET = 1
SNAP_LENGTH = 65535
LARGEST_BLOCK = 1 << 24
BLOCK_SECTION, BLOCK_INTERFACE, BLOCK_PACKET, BLOCK_SIMPLE, BLOCK_ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
FCS_PRESENT = 1 << 26  # in the link type of a pcap file; its uppermost four bits are then the length in 16-bit units
OPTION_TSRESOL = 9


class PacketFileError(Exception):
    """A packet file that cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class Packet:
    """One captured frame: nanoseconds since the epoch of the file, and the bytes without FCS."""

    time: int
    data: bytes


def read(path: str | os.PathLike) -> Iterator[Packet]:
    """The frames of a pcap or pcapng file, in order."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise PacketFileError(f"{path}: {error.strerror}") from error
    magic = content[:4]
    for order in "<", ">":
        for number, scale in (0xA1B2C3D4, 1000), (0xA1B23C4D, 1):
            if magic == struct.pack(order + "I", number):
                return _read_pcap(path, content, order, scale)
    if magic == struct.pack("<I", BLOCK_SECTION):
        return _read_pcapng(path, content)
    raise PacketFileError(f"{path}: neither pcap nor pcapng (starts with {magic.hex() or 'nothing'})")


def _whole(path, number: int, captured: int, original: int, fcs: int = 0) -> int:
    """The length of a frame without FCS, all of which has to be there."""
    if original < fcs:
        declared = f"fewer than the FCS that the file's header declares ({fcs})"
        raise PacketFileError(f"{path}: frame {number}: {original} bytes, {declared}")
    if captured < original - fcs:
        raise PacketFileError(f"{path}: frame {number}: only {captured} of {original} bytes were captured")
    return original - fcs


def _read_pcap(path, content: bytes, order: str, scale: int) -> Iterator[Packet]:
    if len(content) < 24:
        raise PacketFileError(f"{path}: truncated in the file header")
    field = struct.unpack_from(order + "I", content, 20)[0]
    link, fcs = field & 0xFFFF, (field >> 28) * 2 if field & FCS_PRESENT else 0
    if link != ETHERNET:
        raise PacketFileError(f"{path}: link type {link}, expected Ethernet (1)")
    offset, number = 24, 0
    while offset < len(content):
        number += 1
        if offset + 16 > len(content):
            raise PacketFileError(f"{path}: frame {number}: truncated at byte {len(content)}")
        seconds, fraction, captured, original = struct.unpack_from(order + "IIII", content, offset)
        offset += 16
        if offset + captured > len(content):
            raise PacketFileError(f"{path}: frame {number}: truncated at byte {len(content)}")
        length = _whole(path, number, captured, original, fcs)
        yield Packet(seconds * 10**9 + fraction * scale, content[offset : offset + length])
        offset += captured


def _tick(path, options: bytes, order: str) -> tuple[int, int]:
    """The time unit of an interface as nanoseconds (numerator, denominator); microseconds unless it says otherwise."""
    offset = 0
    while offset + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, offset)
        value = options[offset + 4 : offset + 4 + length]
        if len(value) < length:
            raise PacketFileError(f"{path}: an interface option runs past its block")
        if code == 0:
            break
        if code == OPTION_TSRESOL and length == 1:
            exponent = value[0] & 0x7F
            return 10**9, (2 if value[0] & 0x80 else 10) ** exponent
        offset += 4 + (length + 3) // 4 * 4
    return 10**9, 10**6


def _read_pcapng(path, content: bytes) -> Iterator[Packet]:
    order, offset, number = "<", 0, 0
    interfaces: list[tuple[int, tuple[int, int], int]] = []  # link type, time unit, snap length
    while offset < len(content):
        if offset + 12 > len(content):
            raise PacketFileError(f"{path}: truncated at byte {len(content)}")
        kind = struct.unpack_from(order + "I", content, offset)[0]
        if kind == BLOCK_SECTION:
            order = "<" if content[offset + 8 : offset + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        length = struct.unpack_from(order + "I", content, offset + 4)[0]
        if length < 12 or length % 4 or length > LARGEST_BLOCK:
            raise PacketFileError(f"{path}: block at byte {offset} has the impossible length {length}")
        if offset + length > len(content):
            raise PacketFileError(f"{path}: truncated at byte {len(content)}")
        body = content[offset + 8 : offset + length - 4]
        if kind == BLOCK_INTERFACE:
            if len(body) < 8:
                raise PacketFileError(f"{path}: interface block at byte {offset} is too short")
            link, snap = struct.unpack_from(order + "HxxI", body)
            interfaces.append((link, _tick(path, body[8:], order), snap))
        elif kind in (BLOCK_ENHANCED, BLOCK_SIMPLE, BLOCK_PACKET):
            number += 1
            yield _pcapng_packet(path, kind, body, order, interfaces, number)
        offset += length


def _pcapng_packet(path, kind: int, body: bytes, order: str, interfaces: list, number: int) -> Packet:
    head = 4 if kind == BLOCK_SIMPLE else 20
    if len(body) < head:
        raise PacketFileError(f"{path}: frame {number}: block is too short")
    if kind == BLOCK_ENHANCED:
        index, high, low, captured, original = struct.unpack_from(order + "IIIII", body)
    elif kind == BLOCK_PACKET:  # obsolete, with a count of drops after the interface
        index, high, low, captured, original = struct.unpack_from(order + "HxxIIII", body)
    else:
        index, high, low = 0, 0, 0
        (original,) = struct.unpack_from(order + "I", body)
        captured = original
    if index >= len(interfaces):
        raise PacketFileError(f"{path}: frame {number}: names interface {index}, the file has {len(interfaces)}")
    link, (numerator, denominator), snap = interfaces[index]
    if kind == BLOCK_SIMPLE and snap:
        captured = min(original, snap)
    if link != ETHERNET:
        raise PacketFileError(f"{path}: frame {number}: link type {link}, expected Ethernet (1)")
    if head + captured > len(body):
        raise PacketFileError(f"{path}: frame {number}: its bytes run past its block")
    _whole(path, number, captured, original)
    ticks = high << 32 | low
    return Packet(ticks * numerator // denominator, body[head : head + captured])


def write(path: str | os.PathLike, packets: Iterable[Packet]) -> int:
    """Writes a nanosecond pcap file, whole or not at all; returns the number of frames."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    count = 0
    try:
        with temporary.open("wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP_LENGTH, ETHERNET))
            for packet in packets:
                seconds, nanoseconds = divmod(packet.time, 10**9)
                size = len(packet.data)
                file.write(struct.pack("<IIII", seconds, nanoseconds, size, size) + packet.data)
                count += 1
        temporary.replace(path)
    except OSError as error:
        raise PacketFileError(f"{path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return count


def ethernet_address(text: str) -> bytes:
    """The bytes of an address such as 02:00:00:00:00:01."""
    if not re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", text):
        raise PacketFileError(f"host {text!r}: expected an Ethernet address, such as 02:00:00:00:00:01")
    return bytes.fromhex(text.replace(":", ""))


def split(capture: Path, host: str, out: Path) -> tuple[Path, Path]:
    """Splits a capture into what `host` (a MAC address) sent and what it received: send.pcap and receive.pcap."""
    mac = ethernet_address(host)
    frames = list(read(capture))
    out.mkdir(parents=True, exist_ok=True)
    send, receive = out / "send.pcap", out / "receive.pcap"
    write(send, (p for p in frames if p.data[6:12] == mac))
    write(receive, (p for p in frames if p.data[6:12] != mac))
    return send, receive
