"""Checksums that the host leaves to the firmware, on the functional model: those of frames it sends, sums of those it receives."""

import random
import struct
from dataclasses import dataclass

import pytest

from harness.net import udp
from tests.firmware.board import PACKETS_END, RX_PRODUCER, SEND_ENTRIES, turned
from tests.firmware.test_functional import OUT_DISCARDS, Make, both_modes, content, statistics

TCP, UDP, TRANSPORT, IP, NO_PSEUDO = 6, 17, 1, 2, 8
pseudo_modes = pytest.mark.parametrize("no_pseudo", [0, NO_PSEUDO], ids=["pseudo", "no_pseudo"])


@dataclass
class Datagram:
    """A frame with right checksums, and where they are."""

    data: bytes
    ip: int = 0
    field: int = 0
    pseudo: int = 0  # its sum

    def without(self, flags: int, ring: int) -> bytes:
        """The frame as a host hands it over that has the NIC put in what `flags` say."""
        frame = bytearray(self.data)
        if flags & IP and self.ip:
            frame[self.ip + 10 : self.ip + 12] = b"\xab\xcd"  # whatever: it is not looked at
        if flags & TRANSPORT and self.field:
            frame[self.field : self.field + 2] = struct.pack(">H", self.pseudo if ring & NO_PSEUDO else 0x1234)
        return bytes(frame)


def datagram(protocol: int, size: int, seed: int, options: int = 0, tag: bytes = b"", padding: bytes = b"") -> Datagram:
    """Random addresses and payload; `padding` follows the datagram."""
    payload, header = content(size, seed), 20 + options
    addresses = content(8, seed + 1)
    segment = bytearray(content(20 if protocol == TCP else 8, seed + 2)) + payload
    at = 16 if protocol == TCP else 6
    if protocol == UDP:
        segment[4:6] = struct.pack(">H", len(segment))
    segment[at : at + 2] = b"\0\0"
    pseudo = addresses + struct.pack(">HH", protocol, len(segment))
    segment[at : at + 2] = struct.pack(">H", udp.checksum(pseudo + segment) or (0xFFFF if protocol == UDP else 0))
    start = struct.pack(">BBHHHBBH", 0x40 | header // 4, 0, header + len(segment), seed & 0xFFFF, 0x4000, 64, protocol, 0)
    ip = bytearray(start + addresses + content(options, seed + 3))
    ip[10:12] = struct.pack(">H", udp.checksum(bytes(ip)))
    ethernet = bytes.fromhex("020000000001020000000002") + tag + b"\x08\x00"
    whole = ethernet + ip + segment + padding
    return Datagram(bytes(whole), len(ethernet), len(ethernet) + header + at, udp.checksum(pseudo) ^ 0xFFFF)


def frames(count: int, seed: int) -> list[Datagram]:
    """Of many kinds; in some of them there is nothing to put in."""
    r, made = random.Random(seed), []
    for n in range(count):
        kind, size, protocol = r.randrange(8), r.choice([0, 1, 2, 17, 18, 333, 700, 1401]), r.choice([TCP, UDP])
        padding = content(r.choice([0, 0, 1, 2, 3, 18]), n)
        if kind == 0:
            made.append(Datagram(content(60 + size % 1000, n)))
        elif kind == 1:
            made.append(datagram(protocol, size, n, options=4 * r.randrange(1, 11), padding=padding))
        elif kind == 2:
            made.append(datagram(protocol, size, n, tag=b"\x81\x00\x01\x23", padding=padding))
        elif kind == 3:
            made.append(datagram(protocol, size % 20, n, padding=content(r.randrange(1, 30), n)))
        else:
            made.append(datagram(protocol, size, n))
    return made


def cut(frame: bytes, r: random.Random) -> list[bytes]:
    cuts = sorted(r.sample(range(1, len(frame)), r.randrange(4)))
    return [frame[i:j] for i, j in zip([0, *cuts], [*cuts, len(frame)], strict=True)]


@both_modes
@pseudo_modes
@pytest.mark.parametrize("nic_ring", [False, True], ids=["host_ring", "nic_ring"])
def test_frames_leave_with_the_checksums_requested(board: Make, assist: bool, no_pseudo: int, nic_ring: bool) -> None:
    """Any flags, any pieces; frames keep their order, and what was not asked for stays as it is."""
    ring = TRANSPORT | IP | no_pseudo
    b, r = board(assist=assist, most_sent=30, flags={"send": ring}, nic_ring=nic_ring), random.Random(1)
    memory = b.lib.model_register(b.chip, 0xD0) % len(b.sram)
    b.sram[memory:] = b"\xa5" * (len(b.sram) - memory)  # of other frames
    wanted, left = [], []
    for frame in frames(400, 7):
        flags = r.choice([0, TRANSPORT, IP, TRANSPORT | IP, TRANSPORT | IP])
        while (b.sends - b.sent_index()) % SEND_ENTRIES > 300:
            b.run(2000)
        b.send(cut(frame.without(flags, ring), r), flags=flags)
        b.announce()
        wanted.append(frame.data)
        left += [data for data, _ in b.sent()]
    b.until(lambda: left.extend(data for data, _ in b.sent()) or len(left) == 400, "all frames", 3_000_000)
    assert left == wanted
    b.until(lambda: b.sent_index() == b.sends % SEND_ENTRIES, "the report of the last")


@pseudo_modes
@pytest.mark.parametrize(("protocol", "zero"), [(UDP, b"\xff\xff"), (TCP, b"\0\0")], ids=["udp", "tcp"])
def test_a_checksum_of_zero(board: Make, no_pseudo: int, protocol: int, zero: bytes) -> None:
    """UDP has it as all ones, since zero says there that there is none."""
    one = datagram(protocol, 2, 5)
    frame, (field,) = bytearray(one.data), struct.unpack_from(">H", one.data, one.field)
    last = int.from_bytes(frame[-2:], "big") + field
    frame[-2:] = ((last & 0xFFFF) + (last >> 16)).to_bytes(2, "big")
    frame[one.field : one.field + 2] = zero
    b = board(flags={"send": TRANSPORT | no_pseudo})
    given = Datagram(bytes(frame), one.ip, one.field, one.pseudo)
    b.send([given.without(TRANSPORT, no_pseudo)], flags=TRANSPORT)
    b.announce()
    left = []
    b.until(lambda: left.extend(b.sent()) or left, "the frame")
    assert left == [(given.data, -1)]


def test_a_frame_with_a_tag_and_checksums(board: Make) -> None:
    b = board(flags={"send": TRANSPORT | IP})
    one, left = datagram(TCP, 300, 1), []
    for vlan in 0x123, None:
        b.send([one.without(3, 3)], vlan=vlan, flags=3)
    b.announce()
    b.until(lambda: left.extend(b.sent()) or len(left) == 2, "both frames")
    assert left == [(one.data, 0x123), (one.data, -1)]


def test_a_fragment_and_a_frame_that_ends_early_stay_as_they_are(board: Make) -> None:
    b = board(flags={"send": TRANSPORT})
    fragment = bytearray(datagram(UDP, 600, 1).data)
    fragment[20:22] = b"\x20\x00"
    short = datagram(TCP, 600, 2).data[:300]
    odd = bytearray(datagram(TCP, 0, 3).data)
    odd[14] = 0x44
    wanted = [bytes(fragment), short, bytes(odd)]
    for frame in wanted:
        b.send([frame[:42], frame[42:]], flags=TRANSPORT)
    b.announce()
    left = []
    b.until(lambda: left.extend(data for data, _ in b.sent()) or len(left) == 3, "all frames")
    assert left == wanted


@pytest.mark.parametrize("nic_ring", [False, True], ids=["host_ring", "nic_ring"])
def test_a_frame_of_more_pieces_than_are_held_is_passed_over(board: Make, nic_ring: bool) -> None:
    b = board(flags={"send": TRANSPORT}, nic_ring=nic_ring)
    good = datagram(TCP, 300, 1)
    for step in 400, 2, 3, 100:  # in 1, 177, 118 and 4 pieces
        b.send([good.data[i : i + step] for i in range(0, len(good.data), step)], flags=TRANSPORT)
    b.announce()
    left = []
    b.until(lambda: left.extend(data for data, _ in b.sent()) or b.sent_index() == b.sends % SEND_ENTRIES, "the end", 2_000_000)
    b.run(20_000)
    left += [data for data, _ in b.sent()]
    assert left == [good.data] * 3 and statistics(b)[OUT_DISCARDS] == 1


@both_modes
@pseudo_modes
@pytest.mark.parametrize("little", [False, True], ids=["big", "little"])
def test_checksums_of_received_frames(board: Make, assist: bool, no_pseudo: int, little: bool) -> None:
    """All ones where a checksum is right; nothing of the frame changes on its way."""
    b = board(assist=assist, little=little, most_received=10, flags={"standard": TRANSPORT | IP | no_pseudo})
    b.post("standard", 500)
    given, found = frames(400, 9), []
    for n, frame in enumerate(given):
        if n % 5 == 0 and frame.field:  # one bit is wrong
            faulty = bytearray(frame.data)
            faulty[frame.field] ^= 1
            given[n] = Datagram(bytes(faulty), frame.ip, 1)
    for frame in given:
        while not b.receive(frame.data):
            b.run(2000)
            found += b.returns()
    b.until(lambda: found.extend(b.returns()) or len(found) == 400, "all frames", 3_000_000)
    for frame, one in zip(given, found, strict=True):
        assert one["data"] == frame.data
        assert one["flags"] & IP == (IP if frame.ip else 0) and (not frame.ip or one["ip_sum"] == 0xFFFF)
        if no_pseudo:
            assert one["flags"] & TRANSPORT and one["checksum"] == udp.checksum(frame.data[14:]) ^ 0xFFFF
        else:
            assert one["flags"] & TRANSPORT == (TRANSPORT if frame.ip else 0)
            assert not frame.ip or (one["checksum"] == 0xFFFF) == (frame.field > 1)


@pytest.mark.parametrize("ring", [TRANSPORT | IP, TRANSPORT | IP | NO_PSEUDO, TRANSPORT | NO_PSEUDO], ids=["pseudo", "no_pseudo", "no_ip"])
def test_checksums_around_the_ends_of_the_buffers(board: Make, ring: int) -> None:
    """Enough large frames to go around the send buffer and the receive buffer; every frame ends at another place, and of
    the one around the end of the receive buffer only 8 bytes are in front of it, less than a header."""
    b = board(most_sent=30, most_received=10, flags={"send": ring, "standard": ring})
    b.post("standard", 200)
    given, left, found = [], [], []
    for n in range(1000):
        exact = PACKETS_END - 8 - b.lib.model_register(b.chip, RX_PRODUCER) - 58  # with headers and FCS
        given.append(frame := datagram(TCP, exact if 0 <= exact <= 1380 else 1380 + n % 17, n))
        while (b.sends - b.sent_index()) % SEND_ENTRIES > 300 or not b.receive(frame.data):
            b.run(2000)
        b.send([frame.without(ring & (TRANSPORT | IP), ring)], flags=ring & (TRANSPORT | IP))
        b.announce()
        b.run(1000)
        new = b.returns()
        found += new
        left += [data for data, _ in b.sent()]
        if new:
            b.post("standard", len(new))
    b.until(lambda: left.extend(data for data, _ in b.sent()) or len(left) == 1000, "all frames to the wire", 3_000_000)
    b.until(lambda: found.extend(b.returns()) or len(found) == 1000, "all frames to the host", 3_000_000)
    assert left == [one["data"] for one in found] == [frame.data for frame in given]
    for one in found:
        assert one["flags"] & 3 == ring & 3 and one["ip_sum"] == (0xFFFF if ring & IP else 0)
        assert one["checksum"] == (udp.checksum(one["data"][14:]) ^ 0xFFFF if ring & NO_PSEUDO else 0xFFFF)


@both_modes
@pseudo_modes
@pytest.mark.parametrize("values", [False, True], ids=["bytes", "words"])
def test_nothing_is_written_behind_a_buffer(board: Make, assist: bool, no_pseudo: int, values: bool) -> None:
    """A frame that fills its buffer, or nearly, comes with its sums, too."""
    size = 1000
    b = board(assist=assist, flags={"standard": TRANSPORT | IP | no_pseudo}, lengths={"standard": size}, mode=0x02 if values else 0x12, offset=0 if values else 2)
    for n in range(60):
        room, protocol = n % 6, TCP if n % 4 else UDP
        b.post("standard", 1)
        buffer = 0x200000 + 0x800 * n + b.offset
        b.put(buffer + size, b"behind")
        frame, found = datagram(protocol, size - (54 if protocol == TCP else 42) - room, n), []
        if n % 7 == 6:
            frame = Datagram(content(size - room, n))
        assert b.receive(frame.data)
        b.until(lambda found=found: found.extend(b.returns()) or found, "the frame")
        whole = len(frame.data) // 4 * 4
        bytes_in = turned(frame.data[:whole]) if values else frame.data[:whole]
        assert found[0]["data"][:whole] == bytes_in and bytes(b.host[buffer + size : buffer + size + 6]) == b"behind"
        if frame.ip:
            assert found[0]["flags"] & 3 == 3 and found[0]["ip_sum"] == 0xFFFF
        if no_pseudo:
            assert found[0]["flags"] & TRANSPORT and found[0]["checksum"] == udp.checksum(frame.data[14:]) ^ 0xFFFF
        else:
            assert not frame.ip or found[0]["checksum"] == 0xFFFF


def test_a_datagram_without_checksum_has_no_sum(board: Make) -> None:
    b = board(flags={"standard": TRANSPORT | IP})
    b.post("standard", 1)
    frame, found = bytearray(datagram(UDP, 100, 1).data), []
    frame[40:42] = b"\0\0"
    assert b.receive(bytes(frame))
    b.until(lambda: found.extend(b.returns()) or found, "the frame")
    assert found[0]["data"] == bytes(frame) and found[0]["flags"] & 3 == IP
