"""ethernet_fabric: every frame arrives once where it should, in order, or is counted as dropped; loads are spread."""

import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.net import packets
from tests.modules.assists import pcap
from tests.modules.harness import Bench, Ran
from tests.modules.wire.networks import Network, network
from tests.modules.wire.test_ethernet_switch import ALL, GROUP, frame

TOPOLOGIES = ("fat_tree(4)", "dragonfly(2, 1)", "ring(5)")
UNKNOWN = bytes.fromhex("020000ffffff")
NETLIST = """
import topology_types;
var links = {links};
var hosts = number_of_hosts(links);
clock clk = {clock};
instance player[hosts] : ethernet {{ rate = {rate}; }};
instance silent[hosts] : source;
instance waiting[hosts] : queue {{ depth = 4096; }};
instance net : ethernet_fabric {{ links; rate = {rate}; {more} }};
instance k[hosts] : sink;
for (n in range(hosts)) {{
  silent[n].out -> player[n].from_device;
  player[n].to_device -> waiting[n].in;
  waiting[n].out -> net.in[n];
  net.out[n] -> k[n].in;
}}
"""


def mac(host: int) -> bytes:
    """The address of a host, as numbered_addresses() has it."""
    return bytes([2, 0, 0, 0, 0, host + 1])


@dataclass(frozen=True)
class Sent:
    """A frame: when it begins, in ns, who sends it and to whom; its number tells it from others."""

    time: int
    host: int
    to: bytes
    number: int
    length: int = 60
    source: bytes | None = None

    @property
    def data(self) -> bytes:
        return frame(self.to, self.source or mac(self.host), self.number, self.length)


Runner = Callable[..., tuple[Network, Ran]]


@pytest.fixture
def play(bench: Bench, build_dir: Path, tmp_path: Path) -> Runner:
    """Runs a topology with frames; each host's arrivals are in the file outN."""

    def run(links: str, sent: list[Sent], cycles: int, more: str = "", rate: str = "1 Gb/s", clock: str = "125 MHz") -> tuple[Network, Ran]:
        net = network(build_dir / "bin/lss", tmp_path, links)
        settings: dict[str, object] = {}
        files = {}
        for n in range(net.hosts):
            own = sorted((one for one in sent if one.host == n), key=lambda one: one.time)
            # Times count from the first frame: one to itself, which goes nowhere, is at 0.
            files[f"in{n}"] = pcap([frame(mac(n), mac(n), 0), *(one.data for one in own)], times=[0, *(one.time for one in own)])
            [link] = [i for i, ends in enumerate(net.links) if n in ends]
            way = "to_a" if net.links[link][0] == n else "to_b"
            settings |= {f"silent[{n}].count": 0, f"player[{n}].input": f"in{n}", f"player[{n}].mode": "timed", f"net.cable[{link}].{way}.capture": f"out{n}"}
        return net, bench.run(bench.build(NETLIST.format(links=links, more=more, rate=rate, clock=clock)), cycles, settings, files=files)

    return run


def arrivals(ran: Ran, net: Network) -> list[list[tuple[bytes, bytes, int]]]:
    """The frames that came to each host: destination, source, number."""
    files = [packets.read(ran.directory / f"out{n}") for n in range(net.hosts)]
    return [[(p.data[:6], p.data[6:12], int.from_bytes(p.data[14:18], "big")) for p in ones] for ones in files]


def total(ran: Ran, name: str) -> int:
    """A statistic of all switches and their ports."""
    ones = [one["value"] for one in ran.stats["statistics"] if one["path"].startswith("net.switch[") and one["name"].split("[")[0] == name]
    assert ones
    return sum(ones)


def in_order(ones: list[tuple[bytes, bytes, int]]) -> bool:
    """Whether the frames of each flow come with rising numbers."""
    last: dict[tuple[bytes, bytes], int] = {}
    for to, source, number in ones:
        if number <= last.get((to, source), 0):
            return False
        last[to, source] = number
    return True


@pytest.mark.parametrize("links", TOPOLOGIES)
def test_all_pairs_reach_each_other(play: Runner, build_dir: Path, tmp_path: Path, links: str) -> None:
    """Some frames between each two hosts, and frames for all and for an address that none has."""
    hosts = network(build_dir / "bin/lss", tmp_path, links).hosts
    rng, sent, number = random.Random(1), [], 1
    for turn in range(3):
        for a in range(hosts):
            for to in (ALL, GROUP, UNKNOWN, *(mac(b) for b in range(hosts) if b != a)):
                sent.append(Sent(20_000 + 600_000 * turn + rng.randrange(500_000), a, to, number, rng.choice([60, 61, 300, 1514])))
    numbered = [Sent(one.time, one.host, one.to, n, one.length) for n, one in enumerate(sorted(sent, key=lambda one: one.time), 1)]
    net, ran = play(links, numbered, 400_000)
    for host, came in enumerate(arrivals(ran, net)):
        mine = {(one.to, mac(one.host), one.number) for one in numbered if one.host != host and one.to in (ALL, GROUP, UNKNOWN, mac(host))}
        assert len(came) == len(set(came)) and set(came) == mine
        assert in_order(came)
    assert total(ran, "dropped") == total(ran, "damaged") == 0
    assert total(ran, "flooded") == sum(one.to in (ALL, GROUP, UNKNOWN) for one in numbered) * net.switches


@pytest.mark.parametrize("links", TOPOLOGIES)
def test_what_is_lost_is_counted(play: Runner, build_dir: Path, tmp_path: Path, links: str) -> None:
    """Bursts that queues of two frames do not hold: no frame comes twice, and each that does not come was dropped."""
    hosts = network(build_dir / "bin/lss", tmp_path, links).hosts
    rng = random.Random(2)
    times = [sorted(20_000 + rng.randrange(300_000) for _ in range(120)) for _ in range(hosts)]
    sent = [Sent(time, a, mac(rng.choice([b for b in range(min(hosts, 6)) if b != a])), 120 * a + n + 1, rng.choice([60, 1514])) for a in range(hosts) for n, time in enumerate(times[a])]
    net, ran = play(links, sent, 400_000, "slots = 2;")
    came = [one for ones in arrivals(ran, net) for one in ones]
    for host, ones in enumerate(arrivals(ran, net)):
        assert in_order(ones) and all(to == mac(host) for to, _, _ in ones)
    assert len(came) == len(set(came)) and set(came) <= {(one.to, mac(one.host), one.number) for one in sent}
    assert len(sent) - len(came) == total(ran, "dropped") > 20
    assert total(ran, "flooded") == 0


def test_equal_paths_share_the_load(play: Runner) -> None:
    """In fat_tree(4), the 192 flows between pods are spread over four core switches, and from each edge switch over all."""
    pairs = [(a, b) for a in range(16) for b in range(16) if a != b]
    sent = [Sent(20_000 + 2_000 * n, a, mac(b), n + 1) for n, (a, b) in enumerate(pairs)]
    net, ran = play("fat_tree(4)", sent, 100_000)
    assert sum(map(len, arrivals(ran, net))) == len(pairs)
    core = [[int(ran.stat(f"net.switch[{n}]", f"sent[{port}]")) for port in range(4)] for n in range(16, 20)]
    assert sum(map(sum, core)) == 192
    assert all(30 <= sum(ones) <= 66 and min(ones) > 0 for ones in core)  # 48 each on the average, with a deviation of 6
    up = [int(ran.stat(f"net.switch[{n}]", f"sent[{port}]")) for n in range(8) for port in (2, 3)]
    assert sum(up) == 224 and all(7 <= ones <= 21 for ones in up)  # 28 flows leave each edge switch


def test_a_host_with_another_address(play: Runner) -> None:
    """It is found as with IEEE 802.1D: frames to it are for all until it sends something, and then for it alone."""
    other = bytes.fromhex("02000000aa00")
    asks = [Sent(time, 0, other, n + 1) for n, time in enumerate((20_000, 40_000, 120_000, 140_000))]
    says = [Sent(80_000, 2, mac(0), 10, source=other), Sent(90_000, 2, ALL, 11, source=other)]
    net, ran = play("ring(5)", asks + says, 100_000)
    came = arrivals(ran, net)
    assert [number for to, _, number in came[2] if to == other] == [1, 2, 3, 4]
    assert all([number for to, _, number in came[n] if to == other] == [1, 2] for n in (1, 3, 4))
    assert [number for _, _, number in came[0]] == [10, 11]


@pytest.mark.parametrize(("rate", "clock", "cycles"), [("10 Gb/s", "200 MHz", 20_000), ("100 Mb/s", "25 MHz", 700_000)])
def test_other_rates(play: Runner, rate: str, clock: str, cycles: int) -> None:
    """Frames one after another at the full rate, from all hosts to their neighbours: nothing is lost or damaged."""
    sent = [Sent(1, a, mac((a + 1) % 3), 100 * a + n + 1, 1514) for a in range(3) for n in range(40)]
    net, ran = play("ring(3)", sent, cycles, rate=rate, clock=clock)
    assert [[number for _, _, number in ones] for ones in arrivals(ran, net)] == [[100 * a + n + 1 for n in range(40)] for a in (2, 0, 1)]
    assert total(ran, "dropped") == total(ran, "damaged") == 0


def test_cables_and_switches_are_the_links(build_dir: Path, tmp_path: Path) -> None:
    """Cable i joins the two nodes of link i, whichever is named first; two hosts alone have a cable."""
    lists = {"ring(4)": 8, "[{ from = 2, to = 0 }, { from = 1, to = 2 }]": 2, "[{ from = 1, to = 0 }]": 1}
    for links, cables in lists.items():
        source, out = tmp_path / "net.lss", tmp_path / "net.json"
        source.write_text(NETLIST.format(links=links, more="", rate="1 Gb/s", clock="125 MHz"))
        subprocess.run([build_dir / "bin/lss", "export", source, "-o", out], check=True)
        net = network(build_dir / "bin/lss", tmp_path, links)
        ends: dict[int, set[int]] = {n: set() for n in range(cables)}
        for one in json.loads(out.read_text())["connections"]:
            for cable, other in ((one["from"], one["to"]), (one["to"], one["from"])):
                if not cable.startswith("net.cable["):
                    continue
                number = int(other.split("[")[1].split("]")[0])
                ends[int(cable.split("[")[1].split("]")[0])].add(number + net.hosts if other.startswith("net.switch") else number)
        assert ends == {n: set(link) for n, link in enumerate(net.links)} and Counter(map(len, ends.values())) == {2: cables}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("instance net : ethernet_fabric { links = ring(3); }; s.out -> net.in[0]; net.out[0] -> k.in;", "the topology has 3 hosts, and so needs as many lanes each, not 1 lanes of `in` and 1 of `out`"),
        (
            'instance net : ethernet_fabric { links = star(2); rate = 10 Gb/s; frequency = 156 MHz; }; s.out -> net.in[0]; net.out[0] -> k.in; t.out -> net.in[1]; net.out[1] -> l.in;',
            "frequency: a switch port at 156 MHz transfers 8 bytes a cycle, less than 10 Gb/s",
        ),
    ],
)
def test_what_is_no_fabric(bench: Bench, text: str, said: str) -> None:
    head = "import topology_types;\nclock clk = 125 MHz;\n" + "".join(f"instance {a} : source;\ninstance {b} : sink;\n" for a, b in ("sk", "tl"))
    assert said in bench.refuse(head + text)
