"""Hosts, switches and cables of a network, and what each of them has carried."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.network.network_file import Network

FCS = 4  # bytes of a frame that a cable does not count
COUNTED = {"frames": ("frames", "sent"), "bytes": ("bytes",), "damaged": ("damaged",)}  # statistics of a crossing
DROPPED = "dropped"


@dataclass(frozen=True)
class Way:
    """A crossing between two parts, which carries one direction."""

    path: str
    sender: str
    receiver: str
    rate: float | None = None  # bits per second
    overhead: int = FCS  # bytes on the line for each frame, beyond those counted


@dataclass(frozen=True)
class Cable:
    """What connects two parts: a crossing each way, or one."""

    path: str
    ways: tuple[Way, ...]

    @property
    def ends(self) -> tuple[str, str]:
        return self.ways[0].sender, self.ways[0].receiver


@dataclass(frozen=True)
class Topology:
    """The parts of a network, by their paths with their modules, and the cables between them."""

    nodes: dict[str, str]
    cables: list[Cable]

    def node_of(self, path: str) -> str | None:
        """The part that has what is at a path."""
        while path and path not in self.nodes:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return path or None

    @property
    def switches(self) -> set[str]:
        """The nodes with more than one cable."""
        ends = Counter(end for cable in self.cables for end in cable.ends)
        return {node for node in self.nodes if ends[node] > 1}


@dataclass(frozen=True)
class Load:
    """What one direction of a cable carried in some time."""

    frames: float
    bytes: float
    damaged: float
    share: float | None  # of the time in which the line was busy


def _cables(ways: Iterable[Way]) -> list[Cable]:
    """Crossings in one module and between the same parts are a cable: `net.cable[3].to_a` and `net.cable[3].to_b`."""
    found: dict[tuple[str, frozenset[str]], list[Way]] = {}
    for way in ways:
        around, dot, _ = way.path.rpartition(".")
        found.setdefault((around if dot else way.path, frozenset((way.sender, way.receiver))), []).append(way)
    return [Cable(path if len(ones) > 1 else ones[0].path, tuple(ones)) for (path, _), ones in found.items()]


def _way(path: str, sender: str, receiver: str, values: Mapping[str, Any]) -> Way:
    try:
        rate = float(values["rate"])
        return Way(path, sender, receiver, rate, FCS + int(values.get("preamble", 0)) + int(values.get("gap", 0)))
    except (LookupError, TypeError, ValueError):
        return Way(path, sender, receiver)


def of_netlist(netlist: Mapping[str, Any]) -> Topology | None:
    """That of a machine as `lss export` writes it; None: it has no parts that cables connect."""
    nodes = {one["path"]: one["module"] for one in netlist["instances"] if one.get("part")}
    crossings = {one["path"]: one for one in netlist["instances"] if "cut" in one}
    ends: dict[str, list[str | None]] = {path: [None, None] for path in crossings}
    topology = Topology(nodes, [])
    for connection in netlist["connections"]:
        for place, own, other in ((0, "to", "from"), (1, "from", "to")):
            path = connection[own].rpartition(".")[0]
            if path in crossings:
                ends[path][place] = topology.node_of(connection[other])
    ways = [
        _way(path, sender, receiver, {one["name"]: one.get("value") for one in crossings[path]["parameters"]})
        for path, (sender, receiver) in ends.items() if sender and receiver
    ]  # fmt: skip
    return Topology(nodes, _cables(ways)) if ways else None


def of_parts(network: Network) -> Topology:
    """That of a network in parts."""
    paths = [part.path for part in network.parts]
    ways = [
        _way(link.path.rpartition(".")[0], paths[link.sender], paths[link.receiver], link.parameters)
        for link in network.links
    ]
    return Topology({part.path: part.module for part in network.parts}, _cables(ways))


class Counts:
    """Statistics of a run at some time, by the crossings and parts of its topology."""

    def __init__(self, topology: Topology, rows: Iterable[Mapping[str, Any]], seconds: float) -> None:
        paths = {way.path for cable in topology.cables for way in cable.ways}
        self.seconds = seconds
        self._ways: dict[tuple[str, str], float] = {}
        self.dropped: dict[str, float] = dict.fromkeys(topology.nodes, 0.0)
        for row in rows:
            path, name = row["path"], row["name"]
            if path in paths:
                self._ways[path, name] = row["value"]
            elif name.partition("[")[0] == DROPPED and (node := topology.node_of(path)):
                self.dropped[node] += row["value"]

    def _value(self, path: str, what: str) -> float:
        return next((self._ways[path, name] for name in COUNTED[what] if (path, name) in self._ways), 0.0)

    def load(self, way: Way, before: "Counts | None" = None) -> Load:
        """What a crossing carried since an earlier time."""
        frames, size, damaged = (
            self._value(way.path, what) - (before._value(way.path, what) if before else 0.0) for what in COUNTED
        )
        seconds = self.seconds - (before.seconds if before else 0.0)
        busy = None if way.rate is None or seconds <= 0 else 8 * (size + frames * way.overhead) / (way.rate * seconds)
        return Load(frames, size, damaged, busy)
