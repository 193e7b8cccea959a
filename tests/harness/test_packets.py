"""Packet files: every accepted variant, and one bad file for each error."""

import contextlib
import struct
from pathlib import Path

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.net.packets import Packet, PacketFileError, read, write

FRAMES = [Packet(5, b"\x01" * 60), Packet(1_700_000_000_123_456_789, b"\x02" * 1514)]


def test_round_trip(tmp_path: Path) -> None:
    assert write(tmp_path / "a.pcap", FRAMES) == 2
    assert list(read(tmp_path / "a.pcap")) == FRAMES


def test_written_file_is_what_another_reader_expects(tmp_path: Path) -> None:
    write(tmp_path / "a.pcap", FRAMES)
    with (tmp_path / "a.pcap").open("rb") as file:
        assert [data for _, data in dpkt.pcap.Reader(file)] == [packet.data for packet in FRAMES]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("magic, scale", [(0xA1B2C3D4, 1000), (0xA1B23C4D, 1)])
def test_pcap_variants(tmp_path: Path, order: str, magic: int, scale: int) -> None:
    file = tmp_path / "a.pcap"
    head = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    file.write_bytes(head + struct.pack(order + "IIII", 3, 7, 14, 14) + b"x" * 14)
    assert list(read(file)) == [Packet(3 * 10**9 + 7 * scale, b"x" * 14)]


def block(order: str, kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


@pytest.mark.parametrize("order", "<>")
def test_pcapng(tmp_path: Path, order: str) -> None:
    section = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    nano = struct.pack(order + "HHI", 1, 0, 0) + struct.pack(order + "HHB3xHH", 9, 1, 9, 0, 0)
    micro = struct.pack(order + "HHI", 1, 0, 0)
    enhanced = [struct.pack(order + "IIIII", i, 1, 2, 14, 14) + b"y" * 14 for i in (0, 1)]
    file = tmp_path / "a.pcapng"
    file.write_bytes(
        block(order, 0x0A0D0D0A, section)
        + block(order, 1, nano)
        + block(order, 1, micro)
        + block(order, 5, b"statistics are skipped  ")
        + block(order, 6, enhanced[0])
        + block(order, 6, enhanced[1])
        + block(order, 3, struct.pack(order + "I", 15) + b"z" * 15)
    )
    ticks = (1 << 32) + 2
    assert list(read(file)) == [Packet(ticks, b"y" * 14), Packet(ticks * 1000, b"y" * 14), Packet(0, b"z" * 15)]


def test_options_of_an_interface_end_where_they_say(tmp_path: Path) -> None:
    """A tick is looked for behind other options and not behind the end of options; a power of two is one as well."""
    name, end, binary = struct.pack("<HH3sx", 2, 3, b"eth"), struct.pack("<HH", 0, 0), struct.pack("<HHB3x", 9, 1, 0x80 | 10)
    enhanced, file = block("<", 6, struct.pack("<IIIII", 0, 0, 3, 14, 14) + b"y" * 14), tmp_path / "a.pcapng"
    for options, time in (name + binary, 3 * 10**9 // 1024), (name + end + binary, 3000):
        file.write_bytes(SECTION + block("<", 1, struct.pack("<HHI", 1, 0, 0) + options) + enhanced)
        assert list(read(file)) == [Packet(time, b"y" * 14)]


def test_a_simple_block_holds_as_much_as_its_interface_takes(tmp_path: Path) -> None:
    simple = block("<", 3, struct.pack("<I", 60) + b"z" * 60)
    (tmp_path / "a").write_bytes(SECTION + block("<", 1, struct.pack("<HHI", 1, 0, 60)) + simple)
    assert list(read(tmp_path / "a")) == [Packet(0, b"z" * 60)]
    (tmp_path / "a").write_bytes(SECTION + block("<", 1, struct.pack("<HHI", 1, 0, 59)) + simple)
    with pytest.raises(PacketFileError, match="frame 1: only 59 of 60 bytes were captured"):
        list(read(tmp_path / "a"))


@pytest.mark.parametrize("order", "<>")
def test_obsolete_packet_blocks(tmp_path: Path, order: str) -> None:
    """Have the interface and a count of drops in the place of a longer interface."""
    section, packet = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), struct.pack(order + "HHIIII", 0, 9, 1, 2, 14, 14) + b"y" * 14
    file = tmp_path / "a.pcapng"
    file.write_bytes(block(order, 0x0A0D0D0A, section) + block(order, 1, struct.pack(order + "HHI", 1, 0, 0)) + block(order, 2, packet))
    assert list(read(file)) == [Packet(((1 << 32) + 2) * 1000, b"y" * 14)]


def test_an_fcs_that_the_header_declares_is_taken_off(tmp_path: Path) -> None:
    file, head = tmp_path / "a.pcap", struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 0x24000001)
    file.write_bytes(head + struct.pack("<IIII", 0, 0, 64, 64) + b"x" * 60 + b"FCS!")
    assert list(read(file)) == [Packet(0, b"x" * 60)]
    file.write_bytes(head + struct.pack("<IIII", 0, 0, 3, 3) + b"FCS")
    with pytest.raises(PacketFileError, match="frame 1: 3 bytes, fewer than the FCS"):
        list(read(file))


def test_pcapng_of_another_writer(tmp_path: Path) -> None:
    with (tmp_path / "a.pcapng").open("wb") as file:
        dpkt.pcapng.Writer(file).writepkt(b"q" * 61, ts=1.5)
    assert list(read(tmp_path / "a.pcapng")) == [Packet(1_500_000_000, b"q" * 61)]


SECTION = block("<", 0x0A0D0D0A, b"\x4d\x3c\x2b\x1a" + b"\0" * 12)
ONE_INTERFACE = SECTION + block("<", 1, struct.pack("<HHI", 1, 0, 0))
GOOD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
BAD = [
    (b"", "neither pcap nor pcapng"),
    (b"GIF89a", "neither pcap nor pcapng"),
    (GOOD[:20], "truncated in the file header"),
    (GOOD[:20] + struct.pack("<I", 113), "link type 113, expected Ethernet"),
    (GOOD + b"\0" * 8, "frame 1: truncated"),
    (GOOD + struct.pack("<IIII", 0, 0, 60, 60) + b"x" * 59, "frame 1: truncated"),
    (GOOD + struct.pack("<IIII", 0, 0, 4, 60) + b"x" * 4, "only 4 of 60 bytes were captured"),
    (SECTION + b"\x06\0\0\0\x07\0\0\0\0\0\0\0", "impossible length 7"),
    (SECTION + block("<", 6, b"\0" * 20), "names interface 0"),
    (SECTION + b"\x06\0\0\0\x0c\0\0", "truncated at byte 35"),
    (SECTION + b"\x06\0\0\0\x10\0\0\0" + b"\0" * 7, "truncated at byte 43"),
    (SECTION + b"\x06\0\0\0\x04\0\0\1" + b"\0" * 8, "impossible length 16777220"),
    (SECTION + block("<", 1, b"\1\0\0\0"), "interface block at byte 28 is too short"),
    (SECTION + block("<", 1, struct.pack("<HHIHH", 1, 0, 0, 9, 1)), "an interface option runs past its block"),
    (SECTION + block("<", 1, struct.pack("<HHI", 113, 0, 0)) + block("<", 6, b"\0" * 20), "frame 1: link type 113, expected Ethernet"),
    (ONE_INTERFACE + block("<", 6, b"\0" * 16), "frame 1: block is too short"),
    (ONE_INTERFACE + block("<", 6, struct.pack("<IIIII", 0, 0, 0, 64, 64) + b"x" * 60), "frame 1: its bytes run past its block"),
]


@pytest.mark.parametrize("content, error", BAD)
def test_bad_files(tmp_path: Path, content: bytes, error: str) -> None:
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(PacketFileError, match=error) as caught:
        list(read(tmp_path / "bad"))
    assert str(caught.value).startswith(str(tmp_path / "bad")) and "\n" not in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PacketFileError, match="No such file"):
        read(tmp_path / "none")


@given(st.binary(max_size=400), st.sampled_from([b"", GOOD, block("<", 0x0A0D0D0A, b"\x4d\x3c\x2b\x1a" + b"\0" * 12)]))
def test_no_bytes_crash_the_reader(tmp_path_factory, tail: bytes, head: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "fuzz"
    file.write_bytes(head + tail)
    with contextlib.suppress(PacketFileError):
        list(read(file))


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def frames():
        yield FRAMES[0]
        raise RuntimeError("the source failed")

    with pytest.raises(RuntimeError):
        write(tmp_path / "a.pcap", frames())
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(PacketFileError, match=f"^{tmp_path}/none/a.pcap: No such file or directory$"):
        write(tmp_path / "none" / "a.pcap", FRAMES)
