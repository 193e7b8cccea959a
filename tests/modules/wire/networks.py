"""Topologies as the compiler computes them, and what graph theory says of them: degrees, distances, cuts."""

import itertools
import re
import subprocess
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

Link = tuple[int, int]
# A machine that shows the value of an expression in a warning.
SHOWS = """
import topology_types;
function checked(links) {
  check_paths(network_neighbours(links), number_of_hosts(links));
  return links;
}
instance s : source;
instance k : sink;
s.out -> k.in : uint32;
"""


def evaluate(compiler: Path, directory: Path, *expressions: str) -> list[str]:
    """The values of LSS expressions, as LSS writes them."""
    netlist = directory / "shows.lss"
    netlist.write_text(SHOWS + "".join(f"warn({n} + string({one}));\n" for n, one in zip(map('"{}: "'.format, range(len(expressions))), expressions, strict=True)))
    done = subprocess.run([compiler, "check", "--netlist-only", netlist], capture_output=True, text=True, timeout=60)
    assert "error" not in done.stderr, done.stderr
    values = dict(re.findall(r"warning\[warn\]: (\d+): (.*)", done.stderr))
    return [values[str(n)] for n in range(len(expressions))]


def refused(compiler: Path, directory: Path, expression: str) -> list[str]:
    """The errors in the value of an expression."""
    netlist = directory / "refused.lss"
    netlist.write_text(SHOWS + f"warn(string({expression}));\n")
    done = subprocess.run([compiler, "check", "--netlist-only", netlist], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    return re.findall(r"error\[[a-z-]+\]: (.*)", done.stderr)


@dataclass(frozen=True)
class Network:
    """A topology: hosts first, then switches."""

    links: list[Link]
    hosts: int
    switches: int

    @property
    def nodes(self) -> int:
        return self.hosts + self.switches

    @cached_property
    def near(self) -> list[list[int]]:
        """The nodes next to each node; one with two links to it is there twice."""
        ends: list[list[int]] = [[] for _ in range(self.nodes)]
        for a, b in self.links:
            ends[a].append(b)
            ends[b].append(a)
        return ends

    @property
    def degrees(self) -> Counter[int]:
        """How many switches have so many links."""
        return Counter(len(self.near[node]) for node in range(self.hosts, self.nodes))

    def distances(self, start: int) -> dict[int, int]:
        """The number of links to each node that can be reached."""
        hops, wave = {start: 0}, deque([start])
        while wave:
            at = wave.popleft()
            for other in self.near[at]:
                if other not in hops:
                    hops[other] = hops[at] + 1
                    wave.append(other)
        return hops

    def diameter(self, nodes: Iterable[int]) -> int:
        """The greatest distance of two of these nodes."""
        chosen = list(nodes)
        return max(hops[b] for a in chosen for hops in [self.distances(a)] for b in chosen)

    def cut(self, left: Iterable[int], right: Iterable[int]) -> int:
        """The fewest links to cut between two groups of nodes: the greatest flow, by augmenting paths."""
        free = Counter(link for a, b in self.links for link in ((a, b), (b, a)))
        starts, goals, flow = set(left), set(right), 0
        while True:
            came: dict[int, int | None] = dict.fromkeys(starts)
            wave, goal = deque(starts), None
            while wave and goal is None:
                at = wave.popleft()
                for other in set(self.near[at]):
                    if other not in came and free[at, other]:
                        came[other] = at
                        wave.append(other)
                        if other in goals:
                            goal = other
                            break
            if goal is None:
                return flow
            flow += 1
            at = goal
            while (before := came[at]) is not None:
                free[before, at] -= 1
                free[at, before] += 1
                at = before

    def bisection(self) -> int:
        """The fewest links between two halves of the hosts, over all halves."""
        everyone = set(range(self.hosts))
        halves = (set(half) for half in itertools.combinations(range(self.hosts), self.hosts // 2))
        return min(self.cut(half, everyone - half) for half in halves)


def network(compiler: Path, directory: Path, expression: str) -> Network:
    """The topology that an LSS expression is."""
    links, hosts, switches = evaluate(compiler, directory, expression, f"number_of_hosts({expression})", f"number_of_switches({expression})")
    pairs = [(int(a), int(b)) for a, b in re.findall(r"from = (-?\d+), to = (-?\d+)", links)]
    return Network(pairs, int(hosts), int(switches))
