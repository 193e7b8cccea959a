"""ethernet_switch: which frames leave at which ports, in which order and when; what is damaged, dropped and forgotten."""

import random
import re
from pathlib import Path

import pytest

from harness.net import packets
from tests.modules.assists import LONGEST, TOO_LONG, pcap
from tests.modules.harness import Bench, Ran, collect, happened, read_monitor

PORTS = 4
PORT = """
instance player{n} : ethernet;
instance silent{n} : source;
instance waiting{n} : queue {{ depth = 4096; }};
instance up{n} : cable {{ latency = {latency} ns; }};
instance enters{n} : monitor;
instance leaves{n} : monitor;
instance down{n} : cable {{ rate = {rate}; }};
instance k{n} : sink;
silent{n}.out -> player{n}.from_device;
player{n}.to_device -> waiting{n}.in;
waiting{n}.out -> up{n}.in;
up{n}.out -> enters{n}.in;
enters{n}.out -> dut.in["p{n}"];
dut.out["p{n}"] -> leaves{n}.in;
leaves{n}.out -> down{n}.in;
down{n}.out -> k{n}.in;
"""
GROUP, ALL = bytes.fromhex("010000000001"), b"\xff" * 6


def mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, number >> 8, number & 0xFF])


def frame(to: bytes, source: bytes, number: int, length: int = 60) -> bytes:
    return (to + source + b"\x88\xb5" + number.to_bytes(4, "big")).ljust(length, bytes([number & 0xFF]))


def netlist(more: str = "", rate: str = "1 Gb/s", ports: int = PORTS) -> str:
    ends = "".join(PORT.format(n=n, rate=rate, latency=500 + 100 * n) for n in range(ports))
    return f"import ethernet_types;\nclock clk = 125 MHz;\ninstance dut : ethernet_switch {{ {more} }};\n{ends}"


def switch(bench: Bench, sent: list[list[tuple[int, bytes]]], more: str = "", extra: str = "", rate: str = "1 Gb/s", cycles: int = 100000, **settings: str) -> Ran:
    """A run in which port n gets frames at their times in nanoseconds, which count from its first one."""
    ports = len(sent)
    values: dict[str, object] = {key.replace("_", ".", 1): value for key, value in settings.items()}
    files = {}
    for n, ones in enumerate(sent):
        files[f"in{n}"] = pcap([data for _, data in ones], times=[time for time, _ in ones])
        values |= {f"silent{n}.count": 0, f"player{n}.input": f"in{n}", f"player{n}.mode": "timed", f"down{n}.capture": f"out{n}"}
        values |= {f"enters{n}.record": f"entered{n}", f"leaves{n}.record": f"left{n}"}
    return bench.run(bench.build(netlist(more, rate, ports) + extra), cycles, values, files=files)


def seen(ran: Ran, port: int) -> list[bytes]:
    """The frames that left at a port."""
    return [packet.data for packet in packets.read(ran.directory / f"out{port}")]


def counted(ran: Ran, name: str, ports: int = PORTS) -> list[int]:
    """A statistic of the switch, by port."""
    return [int(ran.stat("dut", f"{name}[{n}]")) for n in range(ports)]


def ends(path: Path, edge: str) -> list[int]:
    """The cycles in which the first or the last beats of frames were transferred."""
    return [row.cycle for row in read_monitor(path) if row.transferred and re.search(f"{edge}=(1|true)", row.value or "")]


def forwarded(arrived: list[tuple[int, int, bytes]], ports: int) -> list[list[bytes]]:
    """What leaves at each port, of frames in the order of the cycles and ports at which they end."""
    where: dict[bytes, int] = {}
    outputs: list[list[bytes]] = [[] for _ in range(ports)]
    for _, port, data in sorted(arrived, key=lambda one: one[:2]):
        to, source = data[:6], data[6:12]
        if not source[0] & 1:
            where[source] = port
        for other in [where[to]] if to in where and not to[0] & 1 else range(ports):
            if other != port:
                outputs[other].append(data)
    return outputs


@pytest.mark.parametrize("seed", [1, 2])
def test_random_traffic_goes_where_addresses_were_seen(bench: Bench, seed: int) -> None:
    """Stations that move, group addresses, and unknown ones, from all ports at once."""
    rng = random.Random(seed)
    sent: list[list[tuple[int, bytes]]] = [[] for _ in range(PORTS)]
    for number in range(160):
        port = rng.randrange(PORTS)
        source = mac(port * 4 + rng.randrange(4) if rng.random() < 0.9 else rng.randrange(16))
        to = rng.choice([GROUP, ALL, mac(99)]) if rng.random() < 0.2 else mac(rng.randrange(16))
        sent[port].append((number * 3000 + rng.randrange(3000), frame(to, source, number, rng.choice([60, 61, 200, 1000, 1514]))))
    ran = switch(bench, sent)
    arrived = [(cycle, n, data) for n in range(PORTS) for cycle, (_, data) in zip(ends(ran.directory / f"entered{n}", "end"), sent[n], strict=True)]
    assert [seen(ran, n) for n in range(PORTS)] == forwarded(arrived, PORTS)
    assert counted(ran, "received") == [len(ones) for ones in sent] and counted(ran, "sent") == [len(seen(ran, n)) for n in range(PORTS)]
    assert ran.stat("dut", "copies") == sum(counted(ran, "sent"))
    assert counted(ran, "dropped") == counted(ran, "damaged") == [0] * PORTS
    single = 160 - ran.stat("dut", "flooded") - sum(counted(ran, "filtered"))
    assert ran.stat("dut", "copies") == (PORTS - 1) * ran.stat("dut", "flooded") + single


def mixed(x: int) -> int:
    """The last steps of SplitMix64."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def chosen(ports: list[int], to: bytes, source: bytes, seed: int) -> int:
    """The port of a frame to an address with several routes."""
    flow = mixed((int.from_bytes(to, "little") + mixed(int.from_bytes(source, "little") + seed)) % 2**64)
    return ports[(flow >> 32) % len(ports)]


def routed(arrived: list[tuple[int, int, bytes]], ports: int, floods: set[int], routes: dict[bytes, list[int]], seed: int) -> list[list[bytes]]:
    """As `forwarded`, with routes; all other frames are taken from, and leave at, ports of `floods` alone."""
    where: dict[bytes, int] = {}
    outputs: list[list[bytes]] = [[] for _ in range(ports)]
    for _, port, data in sorted(arrived, key=lambda one: one[:2]):
        to, source = data[:6], data[6:12]
        if to in routes:
            goes = [chosen(routes[to], to, source, seed)]
        elif port not in floods:
            continue
        else:
            if not source[0] & 1:
                where[source] = port
            goes = [where[to]] if to in where and not to[0] & 1 else sorted(floods)
        for other in goes:
            if other != port:
                outputs[other].append(data)
    return outputs


@pytest.mark.parametrize("seed", [0, 7])
def test_random_traffic_with_routes_and_a_spanning_tree(bench: Bench, seed: int) -> None:
    """Addresses with one to three routes, addresses without, group addresses, at ports in the tree and others."""
    rng, ports, floods = random.Random(seed), 5, {0, 1, 3}
    routes = {mac(n): rng.sample(range(ports), rng.randint(1, 3)) for n in range(8)} | {GROUP: [4]}
    sent: list[list[tuple[int, bytes]]] = [[] for _ in range(ports)]
    for number in range(200):
        port = rng.randrange(ports)
        to = rng.choice([GROUP, ALL, mac(99), *map(mac, range(16))])
        sent[port].append((number * 3000 + rng.randrange(3000), frame(to, mac(rng.randrange(16)), number, rng.choice([60, 200, 1514]))))
    lines = ", ".join(f'{{ address = "{to.hex()}", port = "p{port}" }}' for to, ones in routes.items() for port in ones)
    ran = switch(bench, sent, f'flood_ports = ["p0", "p3", "p1"]; hash_seed = {seed}; routes = [{lines}];')
    arrived = [(cycle, n, data) for n in range(ports) for cycle, (_, data) in zip(ends(ran.directory / f"entered{n}", "end"), sent[n], strict=True)]
    assert [seen(ran, n) for n in range(ports)] == routed(arrived, ports, floods, routes, seed)
    assert counted(ran, "received", ports) == [len(ones) for ones in sent] and sum(counted(ran, "dropped", ports)) == 0
    taken = {to: {n for n in range(ports) if any(data[:6] == to for data in seen(ran, n))} for to, ones in routes.items() if len(ones) == 3}
    assert all(len(ones) > 1 for ones in taken.values())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('flood_ports = ["p9"];', 'no lane has the key "p9"'),
        ('routes = [{ address = "020000000001", port = "p9" }];', 'no lane has the key "p9"'),
        ('routes = [{ address = "02:00:00", port = "p1" }];', 'the address of a route has twelve hexadecimal digits, not "02:00:00"'),
    ],
)
def test_ports_and_addresses_that_do_not_exist(bench: Bench, more: str, said: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(said)):
        bench.build(netlist(more))


def test_routes_are_wrong_before_the_first_cycle(bench: Bench) -> None:
    twice = [("020000000001", "p1"), ("020000000002", "p1"), ("020000000001", "p2")]
    for routes, said in (
        (twice, "routes: those of 020000000001 do not follow one another"),
        ([("02000000000x", "p1")], 'routes: "02000000000x" is not an Ethernet address of twelve hexadecimal digits'),
    ):
        lines = ", ".join(f'{{ address = "{address}", port = "{port}" }}' for address, port in routes)
        ran = bench.run(bench.build(netlist(f"routes = [{lines}];")), 10, {f"silent{n}.count": 0 for n in range(PORTS)}, ok=False)
        assert ran.status == 1 and said in ran.err


@pytest.mark.parametrize(("latency", "cycles"), [("1 us", 125), ("0 ns", 1), ("100 ns", 13)])
def test_a_frame_leaves_a_latency_after_its_last_byte(bench: Bench, latency: str, cycles: int) -> None:
    sent = [[(0, frame(ALL, mac(1), 1)), (20000, frame(ALL, mac(1), 2, 1514))], []]
    ran = switch(bench, sent, f"latency = {latency};")
    entered, left = ends(ran.directory / "entered0", "end"), ends(ran.directory / "left1", "start")
    assert [b - a for a, b in zip(entered, left, strict=True)] == [cycles, cycles]


def test_a_full_queue_drops(bench: Bench) -> None:
    """Two ports send to a third as fast as they can: nearly half is dropped, and what is sent is in order."""
    one = [(0, frame(mac(9), mac(1), n, 1514)) for n in range(60)]
    other = [(0, frame(mac(9), mac(2), 1000 + n, 1514)) for n in range(60)]
    extra = collect("dut", "overflowed(port, length)", "forwarded(port, length, queued)")
    ran = switch(bench, [one, other, [(0, frame(ALL, mac(9), 0))]], "slots = 8;", extra, cycles=200000)
    dropped, left = counted(ran, "dropped", 3)[2], seen(ran, 2)
    assert dropped == len(happened(ran, "overflowed")) > 40 and counted(ran, "most_queued", 3)[2] == 8
    assert len(left) == 120 - dropped == counted(ran, "sent", 3)[2]
    queued = [(length, frames) for _, port, length, frames in happened(ran, "forwarded") if port == 2]
    assert len(queued) == len(left) and {length for length, _ in queued} == {1518} and max(frames for _, frames in queued) == 8
    for ones in (one, other):
        places = [left.index(data) for _, data in ones if data in left]
        assert places == sorted(places) and places


def test_what_is_damaged_goes_nowhere(bench: Bench) -> None:
    sent = [[(9000 * n, frame(ALL, mac(1), n)) for n in range(8)] + [(100000 + 40000 * n, data) for n, data in enumerate(LONGEST)], []]
    ran = switch(bench, sent, up0_faults="fcs@2,error@4")
    right = [data for n, (_, data) in enumerate(sent[0], 1) if n not in (2, 4)]
    assert seen(ran, 1) == right and ran.stat("dut", "damaged[0]") == 2
    short = switch(bench, sent, player0_faults="short@3,fragment@5,jabber@7", player0_long_length="2000 B")
    assert short.stat("dut", "damaged[0]") == 3 and len(seen(short, 1)) == len(sent[0]) - 3


def test_longer_frames_need_a_parameter(bench: Bench) -> None:
    wide = PORT.replace("instance player{n} : ethernet;", "instance player{n} : ethernet {{ max_frame = 2000; }};")
    ends_of = "".join(wide.format(n=n, rate="1 Gb/s", latency=500) for n in range(2))
    text = f"import ethernet_types;\nclock clk = 125 MHz;\ninstance dut : ethernet_switch {{ max_frame = 1600; }};\n{ends_of}"
    files = {"in0": pcap(TOO_LONG), "in1": pcap([])}
    values = {f"silent{n}.count": 0 for n in range(2)} | {f"player{n}.input": f"in{n}" for n in range(2)}
    ran = bench.run(bench.build(text), 40000, values, files=files)
    assert ran.stat("dut", "sent[1]") == sum(len(data) + 4 <= 1600 for data in TOO_LONG) > 0


def test_addresses_are_forgotten(bench: Bench) -> None:
    """A frame to an address that was not seen for the age is for all ports; each frame of its station keeps it."""
    times = [(10_000, True), (100_000, True), (140_000, False), (250_000, False)]
    keeps = [(0, frame(ALL, mac(9), 0)), (60_000, frame(ALL, mac(9), 1))]
    asks = [(0, frame(mac(1), mac(1), 9))] + [(time, frame(mac(9), mac(1), 10 + n)) for n, (time, _) in enumerate(times)]
    ran = switch(bench, [asks, keeps, []], "age = 70 us;")
    at_third = [data for data in seen(ran, 2) if data[6:12] == mac(1)]
    assert at_third == [data for (_, data), (_, known) in zip(asks[1:], times, strict=True) if not known]


def test_a_full_table_forgets_what_was_seen_least_recently(bench: Bench) -> None:
    """With one bucket of four places, the fifth address takes the place of the oldest."""
    sources = [(10_000 * n, frame(ALL, mac(n), n)) for n in (0, 1, 2, 3)] + [(40_000, frame(ALL, mac(0), 4)), (50_000, frame(ALL, mac(4), 5))]
    group = bytes([3, 0, 0, 0, 0, 0])  # as a source it is not learnt
    asks = [(0, frame(ALL, group, 99))] + [(60_000 + 10_000 * n, frame(mac(n), group, 100 + n)) for n in range(5)]
    ran = switch(bench, [sources, asks, []], "addresses = 4;")
    assert [data for data in seen(ran, 2) if data[6:12] == group] == [frame(ALL, group, 99), frame(mac(1), group, 101)]


def test_a_frame_for_its_own_port_is_filtered(bench: Bench) -> None:
    ran = switch(bench, [[(0, frame(ALL, mac(1), 1)), (9000, frame(mac(1), mac(2), 2))], []])
    assert seen(ran, 1) == [frame(ALL, mac(1), 1)] and ran.stat("dut", "filtered[0]") == 1


def test_pieces_of_frames_are_damaged(bench: Bench) -> None:
    """Beats without a beginning, two beginnings, and a frame that never ends."""
    text = """
import ethernet_types;
clock clk = 125 MHz;
instance s[2] : source;
instance dut : ethernet_switch;
instance k[2] : sink;
for (n = 0; n < 2; n = n + 1) { s[n].out -> dut.in["p" + string(n)] : wire_beat; dut.out["p" + string(n)] -> k[n].in; }
"""
    lines = ["0 {bytes=1 count=8}", "1 {bytes=1 count=8 end=true}", "5 {bytes=1 count=8 start=true}", "6 {bytes=1 count=8 start=true}", "7 {bytes=1 count=3 end=true}"]
    lines += ["20 {bytes=1 count=8 start=true}", *[f"{n} {{bytes=1 count=8}}" for n in range(21, 400)]]
    values = {"s[0].script": "script", "s[1].count": 0}
    ran = bench.run(bench.build(text), 1000, values, files={"script": "\n".join(lines)})
    assert (ran.stat("dut", "received[0]"), ran.stat("dut", "damaged[0]"), ran.stat("dut", "sent[1]")) == (2, 2, 0)


@pytest.mark.parametrize(
    ("connected", "said"),
    [
        ('s.out -> dut.in["a"]; dut.out["b"] -> k.in;', '"a"'),
        ('s.out -> dut.in["a"];', "a port of a switch has a lane of `in` and a lane of `out`"),
    ],
)
def test_ports_that_are_half_connected(bench: Bench, connected: str, said: str) -> None:
    text = f"import ethernet_types;\nclock clk = 1 MHz;\ninstance s : source;\ninstance k : sink;\ninstance dut : ethernet_switch;\n{connected}\n"
    with pytest.raises(AssertionError, match=re.escape(said)):
        bench.build(text)


def test_a_table_that_is_no_power_of_two(bench: Bench) -> None:
    with pytest.raises(AssertionError, match="addresses must be a power of two, not 100"):
        bench.build(netlist("addresses = 100;"))


def test_switches_without_a_cable_between_them(bench: Bench) -> None:
    """An output of a switch has the pace of its line, and an input takes a beat in each cycle."""
    text = """
import ethernet_types;
clock clk = 125 MHz;
instance dut[2] : ethernet_switch;
instance s[2] : source;
instance waiting : queue;
instance line : cable;
instance k[2] : sink;
for (n = 0; n < 2; n = n + 1) { s[n].out -> dut[n].in["a"]; dut[n].out["a"] -> k[n].in; }
dut[0].out["b"] -> waiting.in;
waiting.out -> dut[1].in["b"];
dut[1].out["b"] -> line.in;
line.out -> dut[0].in["b"];
"""
    said = bench.refuse(text)
    assert "error[wire-pace]: `dut[0].out` sends as fast as it is acknowledged, and `dut[1].in` sets no pace" in said
    assert "put a line between them, such as `ethernet_cable`" in said and said.count("error[") == 1
