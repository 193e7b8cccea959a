"""Generated traffic: headers and checksums as other people's decoders see them, determinism, mixes and ratios."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.net import packets, traffic, udp


@pytest.mark.parametrize("size", [18, 19, 100, 1471, 1472])
def test_frames_decode_elsewhere(size: int) -> None:
    body = traffic.payload(size, 0, 7, seed=3)
    frame = udp.frame(udp.HOST, udp.PEER, body, identification=7)
    decoded = dpkt.ethernet.Ethernet(frame)
    assert decoded.ip.udp.data == body and len(frame) == max(60, size + 42)
    sent = decoded.ip.sum, decoded.ip.udp.sum
    decoded.ip.sum = decoded.ip.udp.sum = 0
    again = dpkt.ethernet.Ethernet(bytes(decoded))
    assert (again.ip.sum, again.ip.udp.sum) == sent
    assert udp.checksum_errors(frame) == [] and udp.payload_of(frame) == body


def test_wrong_checksums_are_found() -> None:
    frame = udp.frame(udp.HOST, udp.PEER, traffic.payload(18, 0, 0, 1))
    assert udp.checksum_errors(frame[:22] + b"\x3f" + frame[23:]) == ["IP header checksum"]
    assert udp.checksum_errors(frame[:50] + bytes([frame[50] ^ 1]) + frame[51:]) == ["UDP checksum"]


def test_what_has_no_checksum_has_no_wrong_one() -> None:
    frame = udp.frame(udp.HOST, udp.PEER, traffic.payload(18, 0, 0, 1))
    assert udp.checksum_errors(frame[:40] + b"\0\0" + frame[42:]) == []
    assert udp.checksum_errors(frame[:12] + b"\x08\x06" + frame[14:]) == [], "no UDP"
    for length in 7, 27:
        assert udp.checksum_errors(frame[:38] + bytes([0, length]) + frame[40:]) == ["UDP length"]
    short = udp.frame(udp.HOST, udp.PEER, b"")
    assert udp.checksum_errors(short) == [] and udp.payload_of(short) == b""


@given(st.binary(max_size=200))
def test_checksum_is_rfc_1071(data: bytes) -> None:
    total = sum(int.from_bytes(data[k : k + 2].ljust(2, b"\0"), "big") for k in range(0, len(data), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    assert udp.checksum(data) == total ^ 0xFFFF


def test_splitmix_is_the_published_sequence() -> None:
    random = traffic.SplitMix64(1234567)
    assert [random.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_the_same_options_give_the_same_bytes(tmp_path: Path) -> None:
    digests = []
    for name in "ab":
        files = traffic.generate(tmp_path / name, "18-1472", 60, "1:2", seed=5)
        digests.append(
            [hashlib.sha256(p.read_bytes()).hexdigest() for p in (files.send, files.receive, files.descriptors)]
        )
    other = traffic.generate(tmp_path / "c", "18-1472", 60, "1:2", seed=6)
    assert digests[0] == digests[1]
    assert hashlib.sha256(other.send.read_bytes()).hexdigest() != digests[0][0]


@pytest.mark.parametrize("ratio, sends, receives", [("1:1", 30, 30), ("1:2", 20, 40), ("1:0", 60, 0), ("0:1", 0, 60)])
def test_ratio(tmp_path: Path, ratio: str, sends: int, receives: int) -> None:
    files = traffic.generate(tmp_path, "100", 60, ratio)
    assert [len(list(packets.read(f))) if f else 0 for f in (files.send, files.receive)] == [sends, receives]
    lines = files.descriptors.read_text().splitlines()
    assert lines[0] == "descriptors 1"
    assert [line.split()[2:] for line in lines if line.startswith("send")] == [["42", "100"]] * sends
    assert sum(int(line.split()[2]) for line in lines if line.startswith("post")) >= receives
    times = [int(line.split()[1]) for line in lines[1:]]
    assert times == sorted(times)


def test_stamps_are_back_to_back() -> None:
    times = [p.time for p in traffic.stream_frames(traffic.Mix.parse("18"), 0, 3, 1)]
    assert times == [0, 84 * 8, 2 * 84 * 8]


def test_mix_follows_its_weights() -> None:
    mix, random = traffic.Mix.parse("18:7,576:4,1472:1"), traffic.SplitMix64(1)
    chosen = [mix.choose(random) for _ in range(12000)]
    assert [round(chosen.count(size) / 1000) for size in (18, 576, 1472)] == [7, 4, 1]


@pytest.mark.parametrize("text", ["17", "1473", "x", "", "18-", "100-50", "18:0"])
def test_bad_payloads(text: str) -> None:
    with pytest.raises(traffic.TrafficError, match="payload"):
        traffic.Mix.parse(text)


@pytest.mark.parametrize("text", ["0:0", "1", "a:b", "-1:2"])
def test_bad_ratios(text: str) -> None:
    with pytest.raises(traffic.TrafficError, match="ratio"):
        traffic.parse_ratio(text)


def test_no_frames(tmp_path: Path) -> None:
    with pytest.raises(traffic.TrafficError, match="^frames 0: at least one is needed$"):
        traffic.generate(tmp_path, "18", 0)
    files = traffic.generate(tmp_path, "18", 1)
    assert files.send is None and len(list(packets.read(files.receive))) == 1


def test_frames_with_a_vlan_tag(tmp_path: Path) -> None:
    plain, made = (traffic.generate(tmp_path / str(vlan), "1472", 6, "1:1", vlan=vlan) for vlan in (0, 4094))
    for one, other in (plain.send, made.send), (plain.receive, made.receive):
        for before, after in zip(packets.read(one), packets.read(other), strict=True):
            assert udp.checksum_errors(after.data) == [] and udp.payload_of(after.data) == udp.payload_of(before.data)
            assert udp.is_udp(after.data) and udp.untagged(after.data) == before.data
            assert len(after.data) == 1518 and after.data == before.data[:12] + b"\x81\x00\x0f\xfe" + before.data[12:]
    times = [packet.time for packet in packets.read(made.send)]
    assert times == [k * 8 * (1518 + 24) for k in range(3)]
    assert [line.split()[2:] for line in made.descriptors.read_text().splitlines() if line.startswith("send")] == [["46", "1472"]] * 3
    for vlan in (-1, 4095):
        with pytest.raises(traffic.TrafficError, match=f"^vlan {vlan}: VLANs are 1 to 4094$"):
            traffic.generate(tmp_path, "18", 1, vlan=vlan)


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_reports_no_error(tmp_path: Path) -> None:
    files = traffic.generate(tmp_path, "18-1472", 40, "1:1")
    options = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-Y", "_ws.expert"]
    done = subprocess.run(["tshark", "-r", files.send, *options], capture_output=True, text=True, check=True)
    assert done.stdout == ""
