"""Packet files: reads captures as simulators do, and writes pcap.  docs/traces.md says what is accepted and why.

The only reader of captures is that of `lss packets`, which writes one kind of pcap file; so do simulators and write().
That kind alone is read here.  Anything else is a PacketFileError whose text names the file, the place and what would
be right.
"""

import os
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.run import compiler, files

FILE_HEADER, FRAME_HEADER = struct.Struct("<IHHiIII"), struct.Struct("<IIII")
NANOSECONDS, VERSION, ETHERNET = 0xA1B23C4D, (2, 4), 1
LONGEST_FRAME = 262144


class PacketFileError(Exception):
    """A packet file that cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class Packet:
    """One captured frame: nanoseconds since the epoch of the file, and the bytes without FCS."""

    time: int
    data: bytes


def read(path: str | os.PathLike, build: Path | None = None) -> Iterator[Packet]:
    """The frames of a capture, in order, as the compiler of a build folder reads it; without one, of a file that a
    simulator or this kit wrote."""
    if build is None:
        return _read_written(path)
    try:
        return _frames(path, compiler.packets(build, path))
    except compiler.CompilerError as error:
        raise PacketFileError(str(error)) from error


def _read_written(path: str | os.PathLike) -> Iterator[Packet]:
    try:
        return _frames(path, Path(path).read_bytes())
    except OSError as error:
        raise PacketFileError(f"{path}: {error.strerror}") from error


def _frames(path: str | os.PathLike, content: bytes) -> Iterator[Packet]:
    header = FILE_HEADER.unpack_from(content) if len(content) >= FILE_HEADER.size else ()
    if (header[:3], header[6:]) != ((NANOSECONDS, *VERSION), (ETHERNET,)):
        expected = "this is no packet file as simulators write them (lss packets makes one of a capture)"
        raise PacketFileError(f"{path}: {expected}")
    return _frames_behind(path, content, FILE_HEADER.size)


def _frames_behind(path: str | os.PathLike, content: bytes, offset: int) -> Iterator[Packet]:
    number = 0
    while offset < len(content):
        number += 1
        start = offset + FRAME_HEADER.size
        seconds, nanoseconds, size, _ = FRAME_HEADER.unpack_from(content, offset) if start <= len(content) else (0,) * 4
        offset = start + size
        if offset > len(content):
            raise PacketFileError(f"{path}: frame {number}: truncated at byte {len(content)}")
        yield Packet(seconds * 10**9 + nanoseconds, content[start:offset])


def write(path: str | os.PathLike, packets: Iterable[Packet]) -> int:
    """Writes a nanosecond pcap file, whole or not at all; returns the number of frames."""
    count = 0
    try:
        with files.replacing(path) as file:
            file.write(FILE_HEADER.pack(NANOSECONDS, *VERSION, 0, 0, LONGEST_FRAME, ETHERNET))
            for packet in packets:
                seconds, nanoseconds = divmod(packet.time, 10**9)
                size = len(packet.data)
                file.write(FRAME_HEADER.pack(seconds, nanoseconds, size, size) + packet.data)
                count += 1
    except OSError as error:
        raise PacketFileError(f"{path}: {error.strerror}") from error
    return count


def ethernet_address(text: str) -> bytes:
    """The bytes of an address such as 02:00:00:00:00:01."""
    if not re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", text):
        raise PacketFileError(f"host {text!r}: expected an Ethernet address, such as 02:00:00:00:00:01")
    return bytes.fromhex(text.replace(":", ""))


def split(capture: Path, host: str, out: Path, build: Path | None = None) -> tuple[Path, Path]:
    """Splits a capture into what `host` (a MAC address) sent and what it received: send.pcap and receive.pcap."""
    mac = ethernet_address(host)
    frames = list(read(capture, build))
    out.mkdir(parents=True, exist_ok=True)
    send, receive = out / "send.pcap", out / "receive.pcap"
    write(send, (p for p in frames if p.data[6:12] == mac))
    write(receive, (p for p in frames if p.data[6:12] != mac))
    return send, receive
