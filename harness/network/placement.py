"""Which host each part of a network runs on: links between hosts have the greatest latency that a fair load allows.

A host has to hear of another one before it may go on for another latency of the links between them, so these latencies
decide how often hosts wait.  What links of a lower latency join stays together, as one group; a group grows over the
nearest neighbours.  A placement changes no result.
"""

from collections.abc import Callable, Sequence

from harness.network.network_file import Link, Network

MORE_LOAD = 1.25  # times the load of the fairest placement that a greater latency between hosts is worth


def _groups(count: int, joined: Sequence[Link]) -> list[list[int]]:
    """The parts that these links join, in groups, each in order."""
    group = list(range(count))

    def root(part: int) -> int:
        while group[part] != part:
            group[part] = part = group[group[part]]
        return part

    for link in joined:
        one, other = sorted((root(link.sender), root(link.receiver)))
        group[other] = one
    found: dict[int, list[int]] = {}
    for part in range(count):
        found.setdefault(root(part), []).append(part)
    return list(found.values())


def _next(groups: Sequence[list[int]], left: set[int], near: Callable[[int], tuple]) -> int:
    """The group that is nearest to those of the host; of several the first."""
    return min(left, key=lambda number: (near(number), groups[number][0]))


def _fill(network: Network, groups: Sequence[list[int]], cores: Sequence[int]) -> list[int]:
    """The host of each part, for groups that stay together: hosts are filled one after the other."""
    weight = [sum(network.parts[part].weight for part in group) for group in groups]
    of_part = {part: number for number, group in enumerate(groups) for part in group}
    # Of each group: the other groups that it has links to, with the least cut of these and their number.
    links: list[dict[int, tuple[int, int]]] = [{} for _ in groups]
    for link in network.links:
        one, other = of_part[link.sender], of_part[link.receiver]
        for here, there in ((one, other), (other, one)):
            cut, count = links[here].get(there, (link.cut, 0))
            links[here][there] = (min(cut, link.cut), count - 1)
    hosts, left = [0] * len(network.parts), set(range(len(groups)))
    for host, own in enumerate(cores):
        share = sum(weight[number] for number in left) * own / sum(cores[host:])
        load, inside = 0, set()
        while left:

            def near(number: int, inside: set[int] = inside) -> tuple:
                return min((links[number][other] for other in links[number].keys() & inside), default=(float("inf"), 0))

            number = _next(groups, left, near)
            others = len(cores) - host - 1
            if inside and (len(left) <= others or (others and load + weight[number] / 2 > share)):
                break
            left.remove(number)
            inside.add(number)
            load += weight[number]
            for part in groups[number]:
                hosts[part] = host
    return hosts


def _load(network: Network, hosts: Sequence[int], cores: Sequence[int]) -> float:
    """The greatest weight that a core has."""
    load = [0] * len(cores)
    for part, host in zip(network.parts, hosts, strict=True):
        load[host] += part.weight
    return max(weight / own for weight, own in zip(load, cores, strict=True))


def place(network: Network, cores: Sequence[int]) -> list[int]:
    """The host of each part, by the cores of each host.  There are no more hosts than parts, and each gets one."""
    fairest = _fill(network, [[part] for part in range(len(network.parts))], cores)
    limit = MORE_LOAD * _load(network, fairest, cores)
    for cut in sorted({link.cut for link in network.links}, reverse=True):
        groups = _groups(len(network.parts), [link for link in network.links if link.cut < cut])
        if len(groups) < len(cores):
            continue
        hosts = _fill(network, groups, cores)
        if _load(network, hosts, cores) <= limit:
            return hosts
    return fairest
