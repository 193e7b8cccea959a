"""Captures for tests, made here byte by byte: of each format that is read, and with each thing that can be wrong."""

import struct

SECTION_BLOCK, INTERFACE_BLOCK, OBSOLETE_BLOCK, SIMPLE_BLOCK, STATISTICS_BLOCK, ENHANCED_BLOCK = 0x0A0D0D0A, 1, 2, 3, 5, 6
FCS_OF_4 = 0x24000000  # in the link type of a pcap file


def pcap(frames: list[bytes], order: str = "<", magic: int = 0xA1B2C3D4, link: int = 1, limit: int = 262144) -> bytes:
    """A pcap file, whose frames are stamped 3, 4, 5 … seconds and 7 units."""
    header = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, limit, link)
    return header + b"".join(
        struct.pack(order + "IIII", 3 + i, 7, len(frame), len(frame)) + frame for i, frame in enumerate(frames)
    )


def block(order: str, kind: int, body: bytes) -> bytes:
    """A block of pcapng."""
    body += b"\0" * (-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def section(order: str = "<") -> bytes:
    return block(order, SECTION_BLOCK, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order: str = "<", limit: int = 0, options: bytes = b"", link: int = 1) -> bytes:
    return block(order, INTERFACE_BLOCK, struct.pack(order + "HHI", link, 0, limit) + options)


def enhanced(frame: bytes, order: str = "<", ticks: int = 0, number: int = 0, original: int | None = None) -> bytes:
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame) if original is None else original)
    return block(order, ENHANCED_BLOCK, head + frame)


def obsolete(frame: bytes, order: str = "<", ticks: int = 0, drops: int = 9) -> bytes:
    return block(order, OBSOLETE_BLOCK, struct.pack(order + "HHIIII", 0, drops, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)) + frame)


def simple(frame: bytes, order: str = "<") -> bytes:
    return block(order, SIMPLE_BLOCK, struct.pack(order + "I", len(frame)) + frame)


def tick(exponent: int, order: str = "<") -> bytes:
    """The option that says what a stamp counts: tenths of seconds to the power, halves with its highest bit."""
    return struct.pack(order + "HHB3x", 9, 1, exponent)


HEADER, ONE_INTERFACE = pcap([]), section() + interface()
TICKS, END_OF_OPTIONS = (1 << 32) + 2, struct.pack("<HH", 0, 0)
# Of each kind: its bytes, and the frames in it.
GOOD: dict[str, tuple[bytes, list[tuple[int, bytes]]]] = {
    **{f"pcap {order}{magic:x}": (pcap([b"x" * 14, b"y" * 1514], order, magic), [(3 * 10**9 + 7 * unit, b"x" * 14), (4 * 10**9 + 7 * unit, b"y" * 1514)])
       for order in "<>" for magic, unit in ((0xA1B2C3D4, 1000), (0xA1B23C4D, 1))},
    **{f"pcapng {order}": (
        section(order) + interface(order, options=tick(9, order)) + interface(order) + block(order, STATISTICS_BLOCK, b"statistics are skipped  ")
        + enhanced(b"y" * 14, order, TICKS) + enhanced(b"y" * 14, order, TICKS, number=1) + simple(b"z" * 15, order) + obsolete(b"o" * 61, order, TICKS),
        [(TICKS, b"y" * 14), (TICKS * 1000, b"y" * 14), (0, b"z" * 15), (TICKS, b"o" * 61)]) for order in "<>"},
    "no frames": (HEADER, []),
    "an FCS": (pcap([b"x" * 60 + b"FCS!"], link=1 | FCS_OF_4), [(3000007000, b"x" * 60)]),
    "an FCS alone": (pcap([b"FCS!"], link=1 | FCS_OF_4), [(3000007000, b"")]),
    "an FCS and a limit": (pcap([b"x" * 60 + b"FCS!"], link=1 | FCS_OF_4, limit=60), [(3000007000, b"x" * 60)]),
    "at the limit": (pcap([b"x" * 64], limit=64), [(3000007000, b"x" * 64)]),
    "an interface's limit": (section() + interface(limit=60) + simple(b"z" * 60), [(0, b"z" * 60)]),
    "two sections": (ONE_INTERFACE + enhanced(b"a" * 60) + section() + interface() + enhanced(b"b" * 60), [(0, b"a" * 60), (0, b"b" * 60)]),
    "a tick after another option": (section() + interface(options=struct.pack("<HH3sx", 2, 3, b"eth") + tick(0x80 | 10)) + enhanced(b"y" * 14, ticks=3), [(3 * 10**9 // 1024, b"y" * 14)]),
    "a tick after the end of options": (section() + interface(options=END_OF_OPTIONS + tick(0x80 | 10)) + enhanced(b"y" * 14, ticks=3), [(3000, b"y" * 14)]),
    "the last second": (HEADER + struct.pack("<IIII", 2**32 - 1, 999999, 14, 14) + b"x" * 14, [(2**32 * 10**9 - 1000, b"x" * 14)]),
    "the year 2040": (HEADER + struct.pack("<IIII", 2**31 + 5, 0, 14, 14) + b"x" * 14, [((2**31 + 5) * 10**9, b"x" * 14)]),
    "the year 2040, swapped": (pcap([], ">") + struct.pack(">IIII", 2**31 + 5, 0, 14, 14) + b"x" * 14, [((2**31 + 5) * 10**9, b"x" * 14)]),
    "a frame of 100,000 bytes": (pcap([b"j" * 100000]), [(3000007000, b"j" * 100000)]),
}  # fmt: skip
# Of each defect: its bytes, and what is said of it after the name of the file.
BAD = {
    "empty": (b"", "truncated dump file; tried to read 4 file header bytes, only got 0"),
    "picture": (b"GIF89a", "unknown file format"),
    "half a header": (HEADER[:20], "truncated dump file; tried to read 24 file header bytes, only got 16"),
    "another link": (pcap([], link=113), "it holds packets of link type LINUX_SLL, Ethernet (EN10MB) is needed"),
    "half a record": (HEADER + b"\0" * 8, "packet 1: truncated dump file; tried to read 16 header bytes, only got 8"),
    "half a frame": (pcap([b"x" * 60])[:-1], "packet 1: truncated dump file; tried to read 60 captured bytes, only got 59"),
    "captured short": (HEADER + struct.pack("<IIII", 0, 0, 4, 60) + b"x" * 4, "packet 1: only 4 of its 60 bytes were captured; capture whole packets (tcpdump -s 0)"),
    "captured by a limit": (pcap([b"x" * 60, b"x" * 70], limit=64), "packet 2: it has 70 bytes, but the file's header limits packets to 64 bytes (capture whole packets, tcpdump -s 0, or correct the header)"),
    "less than an FCS": (pcap([b"FCS"], link=1 | FCS_OF_4), "packet 1: it has 3 bytes, fewer than the FCS that the file's header declares (4)"),
    "an interface's limit": (section() + interface(limit=59) + simple(b"z" * 60), "packet 1: it has 60 bytes, but the file's header limits packets to 59 bytes (capture whole packets, tcpdump -s 0, or correct the header)"),
    "a late stamp": (ONE_INTERFACE + enhanced(b"y" * 60, ticks=(1 << 32) * 10**6), "packet 1: its time stamp is outside of the range 0 to 4294967295 s"),
    "a far stamp": (section() + interface(options=tick(0)) + enhanced(b"y" * 60, ticks=(1 << 63) - 1), "packet 1: its time stamp is outside of the range 0 to 4294967295 s"),
    "a short block": (section() + b"\x06\0\0\0\x07\0\0\0\0\0\0\0", "block in pcapng dump file has a length of 7 < 12"),
    "no interface": (section() + enhanced(b""), "the capture file has a packet block before any Interface Description Blocks"),
    "half a block header": (ONE_INTERFACE + b"\x06\0\0\0\x0c\0\0", "packet 1: truncated pcapng dump file; tried to read 8 bytes, only got 7"),
    "half a block": (ONE_INTERFACE + b"\x06\0\0\0\x10\0\0\0" + b"\0" * 7, "packet 1: truncated pcapng dump file; tried to read 8 bytes, only got 7"),
    "a long block": (ONE_INTERFACE + b"\x06\0\0\0\x04\0\0\1" + b"\0" * 8, "packet 1: pcapng block size 16777220 > maximum 16777216"),
    "half an interface": (section() + block("<", 1, b"\1\0\0\0"), "block of type 1 in pcapng dump file is too short"),
    "half an option": (section() + interface(options=struct.pack("<HH", 9, 1)), "block of type 1 in pcapng dump file is too short"),
    "an interface of another link": (section() + interface(link=113) + enhanced(b""), "it holds packets of link type LINUX_SLL, Ethernet (EN10MB) is needed"),
    "a later interface of another link": (ONE_INTERFACE + enhanced(b"y" * 60) + interface(link=113), "packet 2: an interface has a type 113 different from the type of the first interface"),
    "an interface that is not there": (ONE_INTERFACE + enhanced(b"y" * 60, number=1), "packet 1: a packet arrived on interface 1, but there's no Interface Description Block for that interface"),
    "half a packet block": (ONE_INTERFACE + block("<", 6, b"\0" * 16), "packet 1: block of type 6 in pcapng dump file is too short"),
    "a frame past its block": (ONE_INTERFACE + block("<", 6, struct.pack("<IIIII", 0, 0, 0, 64, 64) + b"x" * 60), "packet 1: block of type 6 in pcapng dump file is too short"),
}  # fmt: skip
