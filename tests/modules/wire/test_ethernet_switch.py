"""ethernet_switch: which frames leave at which ports, in which order and when; what is damaged, dropped and forgotten."""

import random
import re
from pathlib import Path

import pytest

from harness.net import packets
from tests.modules.assists import LONGEST, TOO_LONG, pcap
from tests.modules.harness import Bench, Ran, collect, happened, read_monitor
from tests.modules.wire.networks import Network, network

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


def switch_distances(net: Network, start: int) -> dict[int, int]:
    """The number of links to each other switch; no host forwards anything."""
    hops, wave = {start: 0}, [start]
    for at in wave:
        for other in net.near[at]:
            if other >= net.hosts and other not in hops:
                hops[other] = hops[at] + 1
                wave.append(other)
    return hops


def ways(net: Network, node: int) -> tuple[dict[bytes, list[int]], set[int]]:
    """The ports of a switch with the shortest paths to each host's address, and those in the spanning tree."""
    ends = {at: [(other, number) for number, link in enumerate(net.links) if at in link for other in [sum(link) - at]] for at in range(net.nodes)}
    from_root = switch_distances(net, net.hosts)

    def up(at: int) -> int | None:
        return next((number for other, number in ends[at] if other >= net.hosts and from_root[other] < from_root[at]), None)

    routes = {}
    for host in range(net.hosts):
        [edge] = net.near[host]
        hops = switch_distances(net, edge)
        routes[mac(host + 1)] = [port for port, (other, _) in enumerate(ends[node]) if other == host or (other >= net.hosts and hops[other] < hops[node])]
    tree = {port for port, (other, number) in enumerate(ends[node]) if other < net.hosts or number in (up(node), up(other))}
    return routes, tree


@pytest.mark.parametrize(
    ("links", "number"),
    [("fat_tree(4)", 0), ("fat_tree(4)", 11), ("fat_tree(4)", 19), ("ring(5)", 3), ("ring(2)", 1), ("dragonfly(2, 1)", 4), ("star(3)", 0), ("chain(3)", 1)],
)
def test_random_traffic_with_a_map(bench: Bench, build_dir: Path, tmp_path: Path, links: str, number: int) -> None:
    """Addresses of the network, others and group addresses, at ports in the spanning tree and others."""
    net = network(build_dir / "bin/lss", tmp_path, links)
    node = net.hosts + number
    rng, ports = random.Random(number), len(net.near[node])
    routes, tree = ways(net, node)
    sent: list[list[tuple[int, bytes]]] = [[] for _ in range(ports)]
    for count in range(200):
        port = rng.randrange(ports)
        to = rng.choice([GROUP, ALL, mac(99), *map(mac, range(1, net.hosts + 4))])
        sent[port].append((count * 3000 + rng.randrange(3000), frame(to, mac(rng.randrange(1, net.hosts + 4)), count, rng.choice([60, 200, 1514]))))
    ran = switch(bench, sent, f"links = {links};", dut_node=str(node))
    arrived = [(cycle, n, data) for n in range(ports) for cycle, (_, data) in zip(ends(ran.directory / f"entered{n}", "end"), sent[n], strict=True)]
    assert [seen(ran, n) for n in range(ports)] == routed(arrived, ports, tree, routes, number)
    assert counted(ran, "received", ports) == [len(ones) for ones in sent] and sum(counted(ran, "dropped", ports)) == 0


def test_equal_paths_are_all_taken(bench: Bench) -> None:
    """An edge switch of a fat tree has two ports upwards, and frames between pods take both."""
    sent = [[(3000 * n, frame(mac(16), mac(100 + n), n)) for n in range(40)], [], [], []]
    ran = switch(bench, sent, "links = fat_tree(4);", dut_node="16")
    assert min(len(seen(ran, port)) for port in (2, 3)) > 10 and not seen(ran, 1)


def test_addresses_that_are_given(bench: Bench) -> None:
    """A host without an address, or with another, is reached over the spanning tree."""
    sent = [[], [], [(3000 * n, frame(bytes([2, 0, 0, 0, 0, to]), mac(50), n)) for n, to in enumerate((1, 2, 7))]]
    ran = switch(bench, sent, 'links = star(3); host_addresses = ["020000000007", "020000000002"];', dut_node="3")
    assert [len(seen(ran, n)) for n in range(3)] == [2, 2, 0] and ran.stat("dut", "flooded") == 1


@pytest.mark.parametrize(
    ("more", "node", "said"),
    [
        ("links = star(4);", 2, "node: 2 is no switch of the network, whose switches are 4 to 4"),
        ("links = star(4);", 5, "node: 5 is no switch of the network, whose switches are 4 to 4"),
        ("links = star(6);", 6, 'node: 6 has a link for the port "p4" in the network, and this switch has no such port'),
        ("links = star(4); hosts = 3;", 4, "hosts, switches: the network has not 3 hosts and 1 switches"),
        ("links = star(4); switches = 2;", 4, "hosts, switches: the network has not 4 hosts and 2 switches"),
        ('links = star(4); host_addresses = ["02000000000x"];', 4, 'host_addresses: "02000000000x" has not twelve hexadecimal digits'),
        ('links = star(4); host_addresses = ["020000000001", "020000000001"];', 4, "host_addresses: two hosts have the address 020000000001"),
        ("links = [{ from = 0, to = 2 }, { from = 1, to = 2 }, { from = 3, to = 4 }, { from = 4, to = 3 }];", 3, "links: no links lead from switch 3 to switch 2"),
    ],
)
def test_maps_that_are_wrong(bench: Bench, more: str, node: int, said: str) -> None:
    """Before the first cycle."""
    ran = bench.run(bench.build(netlist(more)), 10, {f"silent{n}.count": 0 for n in range(PORTS)} | {"dut.node": node}, ok=False)
    assert ran.status == 1 and said in ran.err


def test_an_address_that_is_too_short(bench: Bench) -> None:
    with pytest.raises(AssertionError, match=re.escape('host_addresses: "02:00:00" has not twelve hexadecimal digits')):
        bench.build(netlist('links = star(4); host_addresses = ["02:00:00"];'))


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
