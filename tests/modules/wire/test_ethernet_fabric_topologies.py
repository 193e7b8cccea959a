"""topology_types: nodes, degrees, diameters and bisections as the papers have them."""

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.modules.wire.networks import Network, network, refused


@pytest.fixture
def built(build_dir: Path, tmp_path: Path):
    return lambda expression: network(build_dir / "bin/lss", tmp_path, expression)


def is_sound(net: Network) -> None:
    """Each host has one link, to a switch; no link is from a node to itself; all nodes are connected."""
    assert all(len(net.near[host]) == 1 and net.near[host][0] >= net.hosts for host in range(net.hosts))
    assert all(a != b for a, b in net.links)
    assert len(net.distances(0)) == net.nodes


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_chain(built, n: int) -> None:
    net = built(f"chain({n})")
    assert (net.hosts, net.switches, net.degrees) == (2, n, Counter({2: n} if n else {}))
    assert net.distances(0)[1] == n + 1 == len(net.links)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_a_star(built, n: int) -> None:
    net = built(f"star({n})")
    is_sound(net)
    assert (net.hosts, net.switches, len(net.links)) == (n, 1, n)
    assert net.diameter(range(n)) == 2 and net.bisection() == n // 2


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_a_ring(built, n: int) -> None:
    net = built(f"ring({n})")
    is_sound(net)
    assert (net.hosts, net.switches, net.degrees) == (n, n, Counter({3: n}))
    assert net.diameter(range(n, 2 * n)) == n // 2
    assert net.bisection() == min(2, n // 2)  # two links of the ring, or the link of a host alone


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_a_fat_tree(built, k: int) -> None:
    """Al-Fares et al. 2008, section 2.2: k pods of two layers of k/2 switches with k ports, (k/2)² core switches, k³/4 hosts."""
    net = built(f"fat_tree({k})")
    is_sound(net)
    half, edge = k // 2, k**3 // 4
    assert (net.hosts, net.switches) == (k**3 // 4, k * k + half**2) == (edge, 5 * k * k // 4)
    assert net.degrees == Counter({k: net.switches})
    assert len(net.links) == 3 * k**3 // 4  # k³/4 in each of three layers
    core = edge + k * k
    assert all(net.near[host] == [edge + host // half] for host in range(net.hosts))
    for switch in range(core, net.nodes):  # each core switch has a link to each pod
        assert sorted((other - edge - k * half) // half for other in net.near[switch]) == list(range(k))
    assert net.diameter(range(net.hosts)) == 6


@pytest.mark.parametrize("k", [4, 8])
def test_a_fat_tree_is_rearrangeably_nonblocking(built, k: int) -> None:
    """Any half of the hosts can send to the other half at the full rate: as many links must be cut as it has hosts."""
    net = built(f"fat_tree({k})")
    rng = random.Random(k)
    for attempt in range(20 if k == 4 else 4):
        half = set(range(net.hosts // 2)) if attempt == 0 else set(rng.sample(range(net.hosts), net.hosts // 2))
        assert net.cut(half, set(range(net.hosts)) - half) == net.hosts // 2


@pytest.mark.parametrize(("a", "h"), [(2, 1), (4, 2), (3, 1), (1, 2), (6, 3)])
def test_a_dragonfly(built, a: int, h: int) -> None:
    """Kim et al. 2008, section 3.1: g = a·h + 1 groups, a·p·g hosts with p = h, switches of p + a + h - 1 ports."""
    net = built(f"dragonfly({a}, {h})")
    is_sound(net)
    groups = a * h + 1
    assert (net.hosts, net.switches) == (a * h * groups, a * groups)
    assert net.degrees == Counter({h + a + h - 1: net.switches})

    def group_of(switch: int) -> int:
        return (switch - net.hosts) // a

    between = Counter(frozenset((group_of(x), group_of(y))) for x, y in net.links if x >= net.hosts and group_of(x) != group_of(y))
    assert len(between) == groups * (groups - 1) // 2 and set(between.values()) == {1}
    within = Counter(group_of(x) for x, y in net.links if x >= net.hosts and group_of(x) == group_of(y))
    assert all(within[group] == a * (a - 1) // 2 for group in range(groups))
    assert net.diameter(range(net.hosts, net.nodes)) == (3 if a > 1 else 1)  # a local, a global and a local link


def test_the_bisection_of_a_dragonfly(built) -> None:
    """Of the smallest, whose switches are a ring of six; and between four and five groups of one with nine."""
    assert built("dragonfly(2, 1)").bisection() == 2
    net = built("dragonfly(4, 2)")
    first = set(range(4 * 8))
    assert net.cut(first, set(range(net.hosts)) - first) == 4 * 5


def test_a_topology_in_a_file(built, tmp_path: Path) -> None:
    """Its table is next to the file that names it."""
    (tmp_path / "edges.csv").write_text("from,to\n0,4\n1,4\n\n2,5\n3,5\n4,6\n5,6\n")
    net = built('from_file("edges.csv")')
    is_sound(net)
    assert (net.hosts, net.switches) == (4, 3) and net.links == [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("star(1)", "star(1): a star has at least 2 hosts"),
        ("ring(1)", "ring(1): a ring has at least 2 switches"),
        ("ring(-3)", "ring(-3): a ring has at least 2 switches"),
        ("fat_tree(3)", "fat_tree(3): the switches of a fat tree have an even number of ports, at least 2"),
        ("fat_tree(0)", "fat_tree(0): the switches of a fat tree have an even number of ports, at least 2"),
        ("dragonfly(0, 2)", "dragonfly(0, 2): a group has at least 1 switch, and a switch at least 1 host"),
        ("dragonfly(2, 0)", "dragonfly(2, 0): a group has at least 1 switch, and a switch at least 1 host"),
        ('ring("5")', "`n` must be an integer, not a string"),
        ("number_of_hosts([{ from = 0, to = 1 }, { from = 1, to = 2 }])", "node 2 has one link, as hosts have, and comes after node 1, a switch"),
        ("number_of_hosts([{ from = 0, to = 2 }])", "node 1 has no link: the numbers of nodes have no gaps"),
        ("number_of_hosts([{ from = 0, to = -1 }])", "a link joins the nodes 0 and -1: it joins two nodes, numbered from 0"),
        ("number_of_hosts([{ from = 1, to = 1 }])", "a link joins the nodes 1 and 1: it joins two nodes, numbered from 0"),
        (
            "checked([{ from = 0, to = 2 }, { from = 1, to = 2 }, { from = 3, to = 4 }, { from = 4, to = 3 }])",
            "no links lead from switch 2 to switch 3",
        ),
        ("chain(-1)", "chain(-1): a chain has no fewer than 0 switches"),
        ("checked([{ from = 0, to = 1 }, { from = 2, to = 3 }])", "the hosts 0 and 1 are linked to each other, and not to the others"),
    ],
)
def test_what_is_no_topology(build_dir: Path, tmp_path: Path, expression: str, said: str) -> None:
    assert refused(build_dir / "bin/lss", tmp_path, expression) == [said]
