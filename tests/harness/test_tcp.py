"""Generated conversations are TCP: right checksums, streams without holes, acknowledgments of what was sent before."""

import dpkt
import pytest

from harness.net import packets, tcp, udp
from harness.net.traffic import TrafficError


def segments(path) -> list[tuple[int, dpkt.tcp.TCP]]:
    found = []
    for packet in packets.read(path):
        datagram = dpkt.ethernet.Ethernet(packet.data).data
        assert udp.checksum(packet.data[14:34]) == 0, "IP header"
        whole = packet.data[34 : 14 + datagram.len]
        pseudo = datagram.src + datagram.dst + bytes([0, 6]) + len(whole).to_bytes(2, "big")
        assert udp.checksum(pseudo + whole) == 0, "TCP"
        found.append((packet.time, datagram.data))
    return found


def length(segment: dpkt.tcp.TCP) -> int:
    return len(segment.data) + bool(segment.flags & tcp.SYN) + bool(segment.flags & tcp.FIN)


@pytest.mark.parametrize("request_bytes, response_bytes", [(1, 1), (100, 5000), (1460, 1461), (10000, 3)])
def test_conversations(tmp_path, request_bytes: int, response_bytes: int) -> None:
    send, receive = map(segments, tcp.generate(tmp_path, 3, 4, request_bytes, response_bytes))
    ports = {s.sport for _, s in send}
    assert len(ports) == 3 and ports == {s.dport for _, s in receive}
    for port in ports:
        there = [(t, s) for t, s in send if s.sport == port]
        back = [(t, s) for t, s in receive if s.dport == port]
        for mine, far, size in (there, back, request_bytes), (back, there, response_bytes):
            assert [t for t, _ in mine] == sorted(t for t, _ in mine)
            assert sum(len(s.data) for _, s in mine) == 4 * size
            expected = mine[0][1].seq
            for time, one in mine:
                assert one.seq == expected % 2**32, "no hole, nothing twice"
                expected += length(one)
                if one.flags & tcp.ACK:
                    sent = max((s.seq + length(s)) % 2**32 for t, s in far if t < time and (s.seq + length(s) - far[0][1].seq) % 2**32 < 2**31)
                    assert one.ack == sent or (one.ack - sent) % 2**32 >= 2**31, "nothing is acknowledged before it is sent"
            assert mine[0][1].flags & tcp.SYN and any(s.flags & tcp.FIN for _, s in mine)


def test_the_same_each_time(tmp_path) -> None:
    one = [file.read_bytes() for file in tcp.generate(tmp_path / "a", 2, 3, 100, 200, seed=5)]
    assert one == [file.read_bytes() for file in tcp.generate(tmp_path / "b", 2, 3, 100, 200, seed=5)]
    assert one != [file.read_bytes() for file in tcp.generate(tmp_path / "c", 2, 3, 100, 200, seed=6)]


@pytest.mark.parametrize("numbers, said", [((0, 1, 1, 1), "conversations 0"), ((1, 1, 1, 0), "response 0"), ((25536, 1, 1, 1), "there are ports for 25535"),
    ((1, 1, 1, 1, -1), "think -1: a time cannot be negative")])
def test_wrong_numbers(tmp_path, numbers: tuple, said: str) -> None:
    with pytest.raises(TrafficError, match=said):
        tcp.generate(tmp_path / "x", *numbers)
    assert not (tmp_path / "x").exists()
