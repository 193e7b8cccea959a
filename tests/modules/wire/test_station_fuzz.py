"""station and frames that nobody meant: it goes on, and replies to nothing that is wrong."""

import random
import struct
from collections import Counter

import dpkt
import pytest

from tests.modules.assists import noise
from tests.modules.harness import Bench
from tests.modules.wire.stations import BROADCAST, IP, MAC, NETLIST, arp, echo, mss, play, tcp, udp
from tests.sample import sampled

ROOMY = NETLIST.replace("station;", "station { replies = 1024; };")


def checksum(data: bytes) -> int:
    return dpkt.dpkt.in_cksum(data)


def pseudo(frame: bytes, length: int) -> bytes:
    return frame[26:34] + struct.pack("!HH", frame[23], length)


def repaired(frame: bytes) -> bytes:
    """With right checksums, as far as there is where to put them."""
    data, header = bytearray(frame), 4 * (frame[14] & 15)
    if len(data) < 34 or data[12:14] != b"\x08\0" or header < 20 or 14 + header > len(data):
        return frame
    data[24:26] = b"\0\0"
    data[24:26] = struct.pack("!H", checksum(bytes(data[14 : 14 + header])))
    total, at = int.from_bytes(data[16:18], "big"), {1: 2, 6: 16, 17: 6}.get(data[23])
    end = 14 + total
    if at is None or end > len(data) or end < 14 + header + at + 2:
        return bytes(data)
    body = 14 + header
    if data[23] == 17:
        end = min(end, body + max(8, int.from_bytes(data[body + 4 : body + 6], "big")))
    data[body + at : body + at + 2] = b"\0\0"
    before = b"" if data[23] == 1 else pseudo(bytes(data), end - body)
    data[body + at : body + at + 2] = struct.pack("!H", checksum(before + bytes(data[body:end])))
    return bytes(data)


def damaged(rng: random.Random, frame: bytes) -> bytes:
    """A few bytes changed, cut or longer; then perhaps with right checksums, so that the deeper checks are met."""
    data = bytearray(frame)
    for _ in range(rng.randrange(4)):
        data[rng.randrange(12, min(len(data), 80))] = rng.choice([0, 1, 255, rng.randrange(256)])
    if rng.random() < 0.2:
        data = data[: rng.randrange(14, len(data))]
    if rng.random() < 0.1:
        data += rng.randbytes(rng.randrange(1, 200))
    whole = bytes(data[:1514]).ljust(60, b"\0")
    return repaired(whole) if rng.random() < 0.7 else whole


def random_frame(rng: random.Random) -> bytes:
    payload = noise(rng.choice([0, 1, 18, 100, 1400]), rng.randrange(1000))
    segment = {"port": rng.randrange(4000, 4004), "to": rng.choice([5001, 5001, 80]), "window": rng.choice([0, 10, 65535])}
    seq, ack = 5000 + rng.choice([0, 0, 1, 1, 100, -1, rng.randrange(2**32)]), 1000 + rng.choice([0, 1, 1, 50, rng.randrange(2**32)])
    return rng.choice([
        lambda: arp(rng.choice([1, 1, 2, 3])),
        lambda: echo(payload),
        lambda: udp(payload, rng.choice([7, 7, 9, 10])),
        lambda: tcp(seq, None, "S", options=rng.choice([b"", mss(rng.choice([0, 1, 100, 65535]))]), **segment),
        lambda: tcp(seq, ack, rng.choice(["", "P", "F", "S", "R", "FR"]), payload, **segment),
        lambda: tcp(seq, None, rng.choice(["", "R", "F"]), payload, **segment),
        lambda: MAC + noise(rng.randrange(46, 1500), rng.randrange(1000)),
    ])()  # fmt: skip


def replied_to(frame: bytes) -> tuple | None:
    """What an honest reply to a frame may be, worked out on its own: protocol, and what comes back or to whom."""
    if frame[:6] not in (MAC, BROADCAST) or frame[6] & 1:
        return None
    if frame[12:14] == b"\x08\x06":
        fine = frame[14:22] == bytes.fromhex("0001080006040001") and frame[38:42] == IP and not frame[22] & 1 and frame[22:28] != bytes(6)
        return ("arp", frame[22:32]) if fine and frame[28:32] != IP and (frame[28:32] == bytes(4) or 0 < frame[28] < 224) else None
    header, total = 4 * (frame[14] & 15), int.from_bytes(frame[16:18], "big")
    whole = frame[14 : 14 + total]
    if frame[12:14] != b"\x08\0" or frame[14] >> 4 != 4 or not 20 <= header <= total <= len(frame) - 14 or checksum(whole[:header]):
        return None
    if frame[:6] != MAC or whole[16:20] != IP or whole[12:16] == IP or not 0 < whole[12] < 224 or int.from_bytes(whole[6:8], "big") & 0x3FFF:
        return None
    body, protocol = whole[header:], whole[9]
    if protocol == 1 and len(body) >= 8 and body[:2] == b"\x08\0" and checksum(body) == 0:
        return ("icmp", whole[12:16] + body[4:])
    if protocol == 17 and len(body) >= 8:
        length = int.from_bytes(body[4:6], "big")
        right = 8 <= length <= len(body) and (body[6:8] == b"\0\0" or checksum(pseudo(frame, length) + body[:length]) == 0)
        return ("udp", whole[12:16] + body[:2] + body[8:length]) if right and body[2:4] == b"\0\7" and body[:2] != b"\0\7" else None
    if protocol == 6 and len(body) >= 20 and 20 <= body[12] // 16 * 4 <= len(body) and checksum(pseudo(frame, len(body)) + body) == 0:
        return ("tcp", whole[12:16] + body[:2])
    return None


def of_reply(data: bytes) -> tuple:
    """The same of a frame that the station sent."""
    if data[12:14] == b"\x08\x06":
        return ("arp", data[32:42])
    whole = data[14 : 14 + int.from_bytes(data[16:18], "big")]
    what = {1: whole[24:], 17: whole[22:24] + whole[28:], 6: whole[22:24]}[whole[9]]
    return ({1: "icmp", 17: "udp", 6: "tcp"}[whole[9]], whole[16:20] + what)


@pytest.mark.parametrize("seed", sampled(range(6), 3))
def test_random_frames(bench: Bench, seed: int) -> None:
    """Each right request gets its reply, once; nothing else gets any, but TCP's to who sent it a right segment."""
    rng = random.Random(seed)
    frames = [random_frame(rng) for _ in range(400)]
    frames = [one if rng.random() < 0.3 else damaged(rng, one) for one in frames] + [echo(b"still there", 9)]
    frames = [one.ljust(60, b"\0") for one in frames]
    seen = play(bench, ROOMY, [(1, one) for one in frames], 300000, tcp_initial_sequence=1000, tcp_send=3000)
    expected, replies = Counter(map(replied_to, frames)), Counter(of_reply(one.data) for one in seen.frames)
    print(f"seed {seed}: {sum(expected.values()) - expected[None]} right ones, {sum(replies.values())} frames sent")
    assert {one: n for one, n in replies.items() if one[0] != "tcp"} == {one: n for one, n in expected.items() if one and one[0] != "tcp"}, f"seed {seed}"
    assert {one for one in replies if one[0] == "tcp"} <= set(expected), f"seed {seed}"
    assert all(one.ip for one in seen.frames if one.ethernet.type == dpkt.ethernet.ETH_TYPE_IP)
    assert {one[0] for one in expected if one} == {"arp", "icmp", "udp", "tcp"} and seen.ran.stat("dut", "frames_received") == 401
    assert seen.frames[-1].ip.p in (1, 6) and any(one.data[42:53] == b"still there" for one in seen.frames[-20:])
