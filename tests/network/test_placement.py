"""Which host each part of a network gets: fair loads, and links of a low latency within a host."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.network.network_file import Link, Network, Part
from harness.network.placement import place


def network(weights: Sequence[int], links: Sequence[tuple[int, int, int]]) -> Network:
    """Parts of these weights; a link has sender, receiver and cut, and leads back, too."""
    parts = [Part(f"node[{number}]", Path("simulator"), {}, weight=weight) for number, weight in enumerate(weights)]
    both = [(one, other, cut) for a, b, cut in links for one, other, cut in ((a, b, cut), (b, a, cut))]
    ways = [Link(f"way[{n}].way", one, other, cut=cut) for n, (one, other, cut) in enumerate(both)]
    return Network(Path(), "", "net.lss", 10**9, [], parts, ways, [])


def ring(count: int, cut: int = 500) -> list[tuple[int, int, int]]:
    return [(number, (number + 1) % count, cut) for number in range(count)]


def across(net: Network, hosts: Sequence[int]) -> list[int]:
    """The cuts of the links between hosts."""
    return [link.cut for link in net.links if hosts[link.sender] != hosts[link.receiver]]


@pytest.mark.parametrize("hosts, links", [(1, 0), (2, 4), (3, 6), (4, 8), (8, 16)])
def test_a_ring_is_cut_into_arcs(hosts: int, links: int) -> None:
    net = network([10] * 8, ring(8))
    placed = place(net, [1] * hosts)
    assert len(across(net, placed)) == links
    assert max(map(placed.count, set(placed))) <= -(-8 // hosts) and set(placed) == set(range(hosts))


def test_racks_stay_together_if_the_load_is_fair_enough() -> None:
    """Two racks on a long cable: 5 and 3 parts, of which a cut through the first would make 4 and 4."""
    links = [(0, number, 500) for number in range(1, 5)] + [(5, number, 500) for number in range(6, 8)] + [(0, 5, 5000)]
    net = network([10] * 8, links)
    placed = place(net, [4, 4])
    assert across(net, placed) == [5000, 5000] and placed == [0] * 5 + [1] * 3


def test_racks_are_cut_if_the_load_were_not_fair() -> None:
    links = [(0, number, 500) for number in range(1, 7)] + [(0, 7, 5000)]
    net = network([10] * 8, links)
    placed = place(net, [4, 4])
    assert sorted(map(placed.count, (0, 1))) == [4, 4] and 500 in across(net, placed)


def test_a_host_with_more_cores_gets_more() -> None:
    net = network([10] * 12, ring(12))
    placed = place(net, [8, 2, 2])
    assert [placed.count(host) for host in range(3)] == [8, 2, 2]


def test_a_heavy_part_is_alone() -> None:
    """Its host would have the greatest load in any case."""
    net = network([100, 10, 10, 10], ring(4))
    assert place(net, [1, 1]) == [0, 1, 1, 1]


def test_every_host_gets_a_part() -> None:
    net = network([1000, 1, 1], [(0, 1, 5), (1, 2, 5)])
    assert sorted(place(net, [100, 1, 1])) == [0, 1, 2]


def test_parts_without_links() -> None:
    assert sorted(place(network([1] * 6, []), [1, 1])) == [0, 0, 0, 1, 1, 1]


def test_a_placement_is_always_the_same() -> None:
    net = network([7, 3, 9, 4, 4, 8, 2, 6], [*ring(8), (0, 4, 200), (2, 6, 900)])
    assert len({tuple(place(net, [2, 1, 1])) for _ in range(5)}) == 1
