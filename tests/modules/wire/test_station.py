"""station: ARP, ICMP echo, UDP echo, discard and sender; counts, drops, exact times, captures, sleep."""

import struct
from pathlib import Path
from types import SimpleNamespace

import dpkt
import pytest

from harness.net import packets
from tests.modules.assists import LONGEST, TOO_LONG, beats, noise, pcap
from tests.modules.harness import MOST_CHECKED, Bench, collect
from tests.modules.wire import stations
from tests.modules.wire.stations import (
    BROADCAST,
    BYTE,
    IP,
    MAC,
    NETLIST,
    NS,
    PEER,
    PEER_MAC,
    PROTOCOLS,
    REASONS,
    Seen,
    arp,
    echo,
    end_of,
    ethernet,
    first_beat,
    ip,
    udp,
    with_fcs,
)  # fmt: skip
from tests.sample import seldom

WATCHED = NETLIST + collect("dut", "playing(length)", "played(length)", "arriving()", "arrived(length)", "accepted(protocol, length)", "discarded(reason, length)", "sending(protocol, length)")


def play(bench: Bench, frames: list[tuple[int, bytes]], cycles: int = 4900, **settings: object) -> Seen:
    return stations.play(bench, WATCHED, frames, cycles, **settings)


def test_an_arp_request_gets_a_reply(bench: Bench) -> None:
    seen = play(bench, [(1, arp())])
    [reply] = seen.frames
    packet = dpkt.arp.ARP(reply.data[14:42])
    assert (reply.ethernet.dst, reply.ethernet.src, reply.ethernet.type) == (PEER_MAC, MAC, dpkt.ethernet.ETH_TYPE_ARP)
    assert (packet.op, packet.sha, packet.spa, packet.tha, packet.tpa) == (2, MAC, IP, PEER_MAC, PEER)
    assert reply.data[42:] == bytes(18)
    assert seen.ran.counted("dut") == {"frames_received": 1, "bytes_received": 60, "frames_sent": 1, "bytes_sent": 60, "received[0]": 1, "sent[0]": 1}


def test_events_of_a_frame_and_its_reply(bench: Bench) -> None:
    seen = play(bench, [(1, arp())])
    assert [seen.happened(name)[0][1:] for name in ("arriving", "arrived", "accepted", "playing", "sending", "played")] == [(), (64,), (0, 60), (64,), (0, 60), (64,)]
    times = [seen.happened(name)[0][0] for name in ("arriving", "arrived", "accepted", "playing", "sending", "played")]
    assert times == sorted(times) and times[0] == 1


@pytest.mark.parametrize("response", [0, 15, 1000])
@pytest.mark.parametrize("frame", [arp(), echo(b"x" * 100), udp(b"y" * 1472, 7)], ids=["arp", "icmp", "udp"])
def test_a_reply_begins_when_the_frame_has_ended(bench: Bench, frame: bytes, response: int) -> None:
    """Its preamble follows the last byte of the FCS by `response`, to the nanosecond; each beat is there when it has arrived."""
    [reply] = play(bench, [(1, frame)], response=f"{response}ns").frames
    start = end_of(frame) + response
    assert reply.first == first_beat(start)
    assert reply.last == -(-(start + BYTE * (8 + len(reply.data) + 4)) // NS)


def test_replies_keep_the_pace_of_the_line(bench: Bench) -> None:
    """Frames one after the other are replied to one after the other, each with preamble and gap: 84 bytes."""
    seen = play(bench, [(1, echo(b"", k)) for k in range(20)])
    assert [reply.ip.data.data.seq for reply in seen.frames] == list(range(20))
    assert [one.first for one in seen.frames] == [first_beat(end_of(echo()) + 84 * BYTE * k) for k in range(20)]


def test_the_longest_frames(bench: Bench) -> None:
    """A VLAN tag makes a frame longer by its four bytes; a tagged frame is of another protocol."""
    frames = [MAC + PEER_MAC + frame[12:] for frame in [*LONGEST, *TOO_LONG]]
    seen = play(bench, [(1, frame) for frame in frames], cycles=20000)
    assert seen.ran.stat("dut", "received[4]") == len(LONGEST) and seen.ran.stat("dut", "dropped[0]") == len(TOO_LONG)


@pytest.mark.parametrize(("size", "options"), [(0, b""), (1, b""), (56, b""), (17, b"\x01\x01\x01\x00"), (1472, b""), (1432, b"\x94\x04\0\0" + b"\x01" * 36)])
def test_icmp_echo(bench: Bench, size: int, options: bytes) -> None:
    data = noise(size)
    request = echo(data, 5, opts=options, hl=5 + len(options) // 4, len=28 + len(options) + size)
    [reply] = play(bench, [(1, request)]).frames
    datagram = reply.ip
    assert (datagram.src, datagram.dst, datagram.len, datagram.hl, datagram.ttl) == (IP, PEER, 28 + size, 5, 64)
    assert (datagram.data.type, datagram.data.code, datagram.data.data.id, datagram.data.data.seq) == (0, 0, 77, 5)
    assert datagram.data.data.data == data


@pytest.mark.parametrize("size", [0, 1, 18, 1471, 1472])
@pytest.mark.parametrize("summed", [True, False])
def test_udp_echo(bench: Bench, size: int, summed: bool) -> None:
    data = noise(size, 3)
    frame = udp(data, 7)
    if not summed:
        frame = frame[:40] + b"\0\0" + frame[42:]
    seen = play(bench, [(1, frame)])
    datagram = seen.frames[0].ip
    assert (datagram.data.sport, datagram.data.dport, datagram.data.ulen, datagram.data.data) == (7, 4000, 8 + size, data)
    assert seen.ran.counted("dut").get("udp_received", 0) == size and seen.ran.stat("dut", "sent[2]") == 1


def test_what_is_discarded_gets_no_reply(bench: Bench) -> None:
    seen = play(bench, [(1, udp(noise(100), 9)), (1, udp(noise(50), 9)), (1, udp(b"", 7, source=7)), (1, udp(b"", 10))])
    assert seen.frames == [] and seen.ran.stat("dut", "udp_received") == 150 and seen.dropped == {"port": 1}
    assert seen.ran.stat("dut", "received[2]") == 3


LOCAL = 0x88B5


@pytest.mark.parametrize("size", [0, 1, 45, 46, 47, 1499, 1500])
def test_frames_of_another_type_are_sent_back(bench: Bench, size: int) -> None:
    """As they came, padding included, from the station to where they came from, and with the times of a reply."""
    frame = ethernet(noise(size, 9), LOCAL)
    seen = play(bench, [(1, frame)], echo_ethertype=LOCAL, response="70ns")
    [reply] = seen.frames
    assert reply.data == (PEER_MAC + MAC + frame[12:]).ljust(60, b"\0")
    assert reply.first == first_beat(end_of(frame) + 70)
    assert seen.counted("received", PROTOCOLS) == seen.counted("sent", PROTOCOLS) == {"other": 1} and not seen.dropped
    assert [one[1] for one in seen.happened("sending")] == [PROTOCOLS.index("other")]


def test_frames_of_other_types_or_for_all_are_not_sent_back(bench: Bench) -> None:
    """And the protocols of the station reply as without the parameter."""
    ipv4 = dpkt.ethernet.ETH_TYPE_IP
    others = [ethernet(noise(60), LOCAL + 1), ethernet(noise(60), LOCAL, to=BROADCAST), ethernet(noise(60), LOCAL, source=MAC)]
    seen = play(bench, [(1, one) for one in [*others, arp(), udp(b"abc", 7)]], echo_ethertype=LOCAL)
    assert seen.counted("sent", PROTOCOLS) == {"arp": 1, "udp": 1} and seen.counted("received", PROTOCOLS)["other"] == 2
    for kind in 0, ipv4:
        seen = play(bench, [(1, one) for one in [ethernet(noise(60), 0), ethernet(noise(60), LOCAL), echo(), udp(b"", 9)]], echo_ethertype=kind)
        assert seen.counted("sent", PROTOCOLS) == {"icmp": 1}


def test_frames_that_come_faster_than_they_can_go_back(bench: Bench) -> None:
    """They wait in order; those that find no room are counted."""
    frames = [ethernet(bytes([k]) * 50, LOCAL) for k in range(40)]
    seen = play(bench, [(1, frame) for frame in frames], 12000, echo_ethertype=LOCAL, response="20us")
    assert [one.data[14] for one in seen.frames] == sorted({one.data[14] for one in seen.frames})
    assert 16 <= len(seen.frames) < 40 and len(seen.frames) + seen.dropped["busy"] == 40


def test_a_type_that_no_frame_can_have(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 10, {"dut.echo_ethertype": 65536}, ok=False)
    assert "echo_ethertype" in ran.err and "65535" in ran.err


def header(**fields: object) -> bytes:
    """An echo request whose IP header has other fields, with a right checksum."""
    return echo(b"z" * 20, **fields)


def changed(frame: bytes, place: int, value: bytes) -> bytes:
    return frame[:place] + value + frame[place + len(value) :]


def summed(frame: bytes) -> bytes:
    """With the right checksum of the IP header."""
    clear = changed(frame, 24, b"\0\0")
    return changed(clear, 24, struct.pack("!H", dpkt.dpkt.in_cksum(clear[14 : 14 + 4 * (frame[14] & 15)])))


ECHO = echo(b"z" * 20)
DATAGRAM = udp(b"abcd", 7)
DROPPED = {
    "another station's": (ethernet(ip(b"", 1), to=bytes.fromhex("020000000009")), "address"),
    "from a group": (ethernet(ip(b"", 1), source=bytes.fromhex("030000000001")), "address"),
    "from itself": (ethernet(ip(b"", 1), source=MAC), "address"),
    "to another address": (header(dst=bytes([192, 0, 2, 3])), "address"),
    "to all": (ethernet(ECHO[14:], to=BROADCAST), "address"),
    "from nobody": (header(src=bytes(4)), "address"),
    "from many": (header(src=bytes([224, 0, 0, 1])), "address"),
    "from its own address": (header(src=IP), "address"),
    "fragment, the first": (header(mf=1), "fragment"),
    "fragment, the last": (header(offset=16), "fragment"),
    "version 6": (summed(changed(ECHO, 14, b"\x65")), "ip"),
    "header too short": (summed(changed(ECHO, 14, b"\x44")), "ip"),
    "header beyond the end": (changed(ECHO[:34], 14, b"\x4f"), "ip"),
    "length below the header": (summed(changed(ECHO, 16, b"\0\x13")), "ip"),
    "length beyond the frame": (summed(changed(ECHO, 16, b"\x03\xe8")), "ip"),
    "wrong header checksum": (changed(ECHO, 24, b"\x12\x34"), "ip"),
    "wrong ICMP checksum": (changed(ECHO, 45, b"!"), "icmp"),
    "ICMP without header": (ethernet(ip(b"\x08\0\xf7\xff", 1)), "icmp"),
    "ICMP reply": (ethernet(ip(dpkt.icmp.ICMP(type=0, data=dpkt.icmp.ICMP.Echo(id=1, seq=1)), 1)), "protocol"),
    "ICMP echo with a code": (ethernet(ip(dpkt.icmp.ICMP(type=8, code=1, data=dpkt.icmp.ICMP.Echo(id=1, seq=1)), 1)), "protocol"),
    "IGMP": (ethernet(ip(b"\x16" + bytes(7), 2)), "protocol"),
    "UDP checksum": (changed(DATAGRAM, 42, b"!"), "udp"),
    "UDP length below the header": (changed(DATAGRAM, 38, b"\0\x07"), "udp"),
    "UDP length beyond the datagram": (changed(DATAGRAM, 38, b"\0\x40"), "udp"),
    "UDP without header": (ethernet(ip(b"\0\1\0\7", 17)), "udp"),
    "UDP port": (udp(b"abcd", 8), "port"),
    "ARP for token ring": (changed(arp(), 14, b"\0\x06"), "arp"),
    "ARP for another protocol": (changed(arp(), 16, b"\x86\xdd"), "arp"),
    "ARP with long addresses": (changed(arp(), 18, b"\x08"), "arp"),
    "ARP operation 3": (arp(3), "arp"),
    "ARP from a group": (changed(arp(), 22, b"\xff" * 6), "arp"),
    "ARP from the station's address": (arp(sender=IP), "arp"),
    "ARP from many": (arp(sender=bytes([239, 1, 1, 1])), "arp"),
}


@pytest.mark.parametrize("name", DROPPED)
def test_what_is_wrong_is_dropped_and_counted(bench: Bench, name: str) -> None:
    frame, reason = DROPPED[name]
    seen = play(bench, [(1, frame), (1, echo())])
    assert seen.dropped == {reason: 1} and len(seen.frames) == 1
    assert [event[1:] for event in seen.happened("discarded")] == [(REASONS.index(reason), max(60, len(frame)))]
    assert [PROTOCOLS[event[1]] for event in seen.happened("accepted")] == ["icmp"]


def test_damaged_frames(bench: Bench) -> None:
    """A wrong FCS, too short, too long; the frames between them get replies."""
    whole = with_fcs(echo())
    long = noise(1600)
    frames = [(1, changed(whole, 50, b"?")), (1, whole), (1, whole[:40]), (1, whole), (1, with_fcs(long)), (1, whole)]
    seen = play(bench, frames, raw=True)
    assert seen.counted("dropped", REASONS) == {"damaged": 3} and len(seen.frames) == 3 and seen.ran.stat("dut", "frames_received") == 6


def test_other_protocols_and_other_hosts_requests(bench: Bench) -> None:
    frames = [ethernet(noise(60), 0x86DD), ethernet(noise(60), 60), arp(target=PEER), arp(2, to=MAC), arp(sender=bytes(4))]
    seen = play(bench, [(1, one) for one in frames])
    assert seen.counted("received", PROTOCOLS) == {"arp": 3, "other": 2} and seen.counted("sent", PROTOCOLS) == {"arp": 1}
    assert len(seen.frames) == 1 and seen.dropped == {}, "who looks whether the address is free gets a reply"


def test_replies_wait_and_those_without_room_are_dropped(bench: Bench) -> None:
    """While a long datagram goes, short requests come: of 18 in that time 16 wait."""
    frames = [(1, udp(noise(1472), 7))] + [(1, echo(b"", k)) for k in range(40)]
    seen = play(bench, frames, 6000)
    assert [one.ip.p for one in seen.frames] == [17] + [1] * 38 and seen.dropped == {"busy": 2}


def test_the_sender_finds_out_where_its_host_is(bench: Bench) -> None:
    """It requests the address until somebody has it, and sends then; payloads are those of generated traffic."""
    seen = play(bench, [(2500, arp(2, to=MAC))], udp_to="192.0.2.1", udp_payload=100, udp_rate="250Mb/s", udp_count=5, arp_interval="10us")
    requests, datagrams = seen.frames[:3], seen.frames[3:]
    for one in requests:
        packet = dpkt.arp.ARP(one.data[14:42])
        assert (one.ethernet.dst, packet.op, packet.spa, packet.tpa, packet.tha) == (BROADCAST, 1, IP, PEER, bytes(6))
    assert [one.first for one in requests] == [13, 1013, 2013]
    known = end_of(arp(), 2500)
    assert [one.first for one in datagrams] == [first_beat(known + k * 4 * BYTE * (8 + 146 + 12)) for k in range(5)]
    for k, one in enumerate(datagrams):
        assert (one.ethernet.dst, one.ip.dst, one.ip.data.sport, one.ip.data.dport) == (PEER_MAC, PEER, 5001, 5001)
        assert one.ip.data.data[:16] == struct.pack("!4sIQ", b"SPNC", 1, k) and one.ip.data.ulen == 108
    assert seen.ran.stat("dut", "udp_sent") == 500 and seen.ran.stat("dut", "sent[2]") == 5 and seen.ran.stat("dut", "sent[0]") == 3


@seldom
def test_a_sender_that_goes_on_keeps_its_rate(build_sim, run_sim, tmp_path: Path) -> None:
    """Of the time in which it had nothing left to send, nothing is caught up with."""
    simulator = build_sim(NETLIST)
    (tmp_path / "script").write_text("".join(beats(with_fcs(udp(b"", 9)), 1)))
    host = ["--set", "device.script=script", "--set", "dut.udp_to=192.0.2.1", "--set", "dut.udp_count=1"]
    run_sim(simulator, *host, "--cycles", 5000, "--quiet", "--checkpoint", "idle")
    more = ["--set", "dut.udp_count=4", "--set", "dut.udp_rate=100 Mb/s", "--set", "out.record=out"]
    run_sim(simulator, "--restore", "idle", *more, "--cycles", 9000, "--quiet")
    firsts = [one.first for one in stations.frames_of(SimpleNamespace(directory=tmp_path))]
    assert len(firsts) == 3 and [b - a for a, b in zip(firsts, firsts[1:])] == [84 * 8 * 10 // NS] * 2 and firsts[0] > 5000


@pytest.mark.parametrize("payload", [18, 19, 1472])
def test_the_sender_fills_the_line(bench: Bench, payload: int) -> None:
    """A host that says something is known by that."""
    seen = play(bench, [(1, udp(b"", 9))], 4900, udp_to="192.0.2.1", udp_payload=payload)
    frames = [one for one in seen.frames if one.ethernet.type == dpkt.ethernet.ETH_TYPE_IP]
    wire = BYTE * (max(payload + 42, 60) + 24)
    gaps = [b.first - a.first for a, b in zip(frames, frames[1:])]
    assert len(gaps) >= 2 and all(abs(NS * gap - wire) < NS for gap in gaps)
    assert all(len(one.ip.data.data) == payload for one in frames)


def test_the_host_may_get_another_address(bench: Bench) -> None:
    other = bytes.fromhex("020000000007")
    seen = play(bench, [(1, arp()), (2000, arp(sender_mac=other))], udp_to="192.0.2.1", udp_rate="100Mb/s")
    targets = [one.ethernet.dst for one in seen.frames if one.ethernet.type == dpkt.ethernet.ETH_TYPE_IP]
    assert targets == sorted(targets) and set(targets) == {PEER_MAC, other}


def test_a_capture_has_all_frames_both_ways(bench: Bench) -> None:
    requests = [echo(noise(30), 1), udp(noise(200), 7), arp()]
    seen = play(bench, [(1, one) for one in requests], capture="all.pcap")
    captured = list(packets.read(seen.ran.directory / "all.pcap"))
    own = [one for one in captured if one.data[6:12] == MAC]
    assert [one.data for one in captured if one.data[6:12] == PEER_MAC] == [one.ljust(60, b"\0") for one in requests]
    assert [one.data for one in own] == [one.data for one in seen.frames]
    assert all(abs(one.time - NS * sent.last) <= NS for one, sent in zip(own, seen.frames, strict=True))


REFUSED = [
    ({"mac": "03:00:00:00:00:01"}, "mac is the Ethernet address of a machine"),
    ({"mac": "02:00:00:00:00"}, "mac is the Ethernet address of a machine, like 02:00:00:00:00:02, not '02:00:00:00:00'"),
    ({"mac": "02:00:00:00:00:02 "}, "mac is the Ethernet address"),
    ({"address": "192.0.2"}, "address is the IPv4 address of a machine, like 192.0.2.2, not '192.0.2'"),
    ({"address": "224.0.0.1"}, "address is the IPv4 address of a machine"),
    ({"udp_to": "somebody"}, "udp_to is the IPv4 address of a machine"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED)
def test_impossible_addresses_are_refused(bench: Bench, settings: dict, words: str) -> None:
    ran = bench.run(bench.build(WATCHED), 10, {f"dut.{name}": value for name, value in settings.items()}, ok=False)
    assert words in ran.err


def test_other_addresses(bench: Bench) -> None:
    other, address = bytes.fromhex("0a0b0c0d0e0f"), bytes([10, 1, 2, 3])
    frame = ethernet(ip(dpkt.icmp.ICMP(type=8, data=dpkt.icmp.ICMP.Echo(id=1, seq=1)), 1, dst=address), to=other)
    [reply] = play(bench, [(1, frame)], mac="0a:0b:0c:0d:0e:0f", address="10.1.2.3").frames
    assert (reply.ethernet.src, reply.ip.src) == (other, address)


@seldom
def test_a_quiet_station_sleeps(bench: Bench) -> None:
    """Nobody knows the host: a request each millisecond, and hardly a cycle between them is stepped."""
    script = "".join(beats(with_fcs(arp()), 1))
    cycles = 100 * MOST_CHECKED
    ran = bench.run(bench.build(NETLIST), cycles, {"device.script": "s", "dut.udp_to": "192.0.2.9", "dut.arp_interval": "1ms"}, files={"s": script})
    assert ran.stat("dut", "sent[0]") == 6 and ran.stats["run"]["skipped_cycles"] > 0.99 * cycles


@seldom
def test_a_station_in_place_of_ethernet(bench: Bench, tmp_path: Path) -> None:
    """The same ports: a link plays requests to it, and records its replies."""
    netlist = """
import ethernet_types;
clock clk = 99 MHz;
instance far : ethernet;
instance dut : station;
instance between[2] : queue { depth = 512; };
far.to_device -> between[0].in;
between[0].out -> dut.from_device;
dut.to_device -> between[1].in;
between[1].out -> far.from_device;
"""
    requests = [arp(), echo(noise(1000)), udp(noise(77), 7), udp(noise(1472), 7)]
    ran = bench.run(bench.build(netlist), 30000, {"far.input": "in", "far.output": "out"}, files={"in": pcap(requests)})
    replies = list(packets.read(ran.directory / "out"))
    assert len(replies) == 4 and ran.stat("far", "damaged_out") == 0
    assert replies[1].data[42:] == requests[1][42:]


@seldom
def test_nothing_is_sent_before_the_device_is_ready(bench: Bench) -> None:
    """In cycle 1000 it is; it may have sent before, and it does not matter that it is not ready any more later."""
    netlist = WATCHED + "instance can : source; can.out -> dut.ready : bool;\n"
    values = {"can.script": "can", "device.script": "script", "out.record": "out", "dut.udp_to": "192.0.2.9"}
    files = {"can": "".join(f"{cycle} 1 once\n" for cycle in range(1000, 1010)), "script": "".join(beats(with_fcs(echo()), 1) + beats(with_fcs(echo()), 2000))}
    frames = stations.frames_of(bench.run(bench.build(netlist), 4900, values, files=files))
    assert [one.first for one in frames] == [first_beat(NS * 1000), first_beat(NS * 1000 + 84 * BYTE), first_beat(end_of(echo(), 2000))]
    assert [one.ethernet.type for one in frames] == [dpkt.ethernet.ETH_TYPE_IP, dpkt.ethernet.ETH_TYPE_ARP, dpkt.ethernet.ETH_TYPE_IP]
