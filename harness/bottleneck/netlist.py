"""A machine as the bottleneck report sees it: leaf instances, the connections between them, and what each did in a run.

Everything comes from `lss export` and from the statistics of a run of a simulator that was built with
`--collect connections`.  What a module's acceptance depends on is what its functions declare to read.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness import quantity

COUNTS = ("transferred", "stalled", "cancelled", "idle")
SIGNAL = re.compile(r"(?P<port>.+)\[(?P<lane>\d+)\]\.(?P<kind>data|enable|ack)")
STALL, HALTED = "stall_", "halted"
# Units of the statistics `busy`, `stall_REASON`, `halted` in seconds; cycles are those of the instance's clock.
SECONDS = {name: float(unit.factor) for name, unit in quantity.UNITS.items() if unit.dimension == "time"}


class NetlistError(Exception):
    """The files do not belong together or lack something; the text is one line for the user."""


@dataclass(frozen=True)
class PortLane:
    """One lane of a port of a leaf instance."""

    path: str
    port: str
    lane: int
    lanes: int
    key: str = ""  # of the lane, as the simulator prints it: "base.2" when several lanes have the key

    def __str__(self) -> str:
        name = f"{self.path}.{self.port}"
        if self.key:
            return f"{name}[{self.key}]"
        return f"{name}[{self.lane}]" if self.lanes > 1 else name


@dataclass(frozen=True)
class Link:
    """One connection and what happened on it, in cycles of its clock."""

    source: PortLane
    target: PortLane
    type: str
    transferred: int
    stalled: int
    cancelled: int
    idle_cycles: int

    @property
    def cycles(self) -> int:
        return max(1, self.transferred + self.stalled + self.cancelled + self.idle_cycles)

    @property
    def moved(self) -> float:
        """Share of the cycles in which an item was transferred."""
        return self.transferred / self.cycles

    @property
    def waiting(self) -> float:
        """Share of the cycles in which an item was offered and not accepted."""
        return self.stalled / self.cycles

    @property
    def idle(self) -> float:
        """Share of the cycles in which nothing was offered."""
        return self.idle_cycles / self.cycles

    @property
    def offered(self) -> float:
        return 1.0 - self.idle

    @property
    def level(self) -> bool:
        """It carries an item in every single cycle and nobody waits: a signal rather than a stream of items."""
        return self.transferred == self.cycles

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


@dataclass(frozen=True)
class Needs:
    """What the value of a signal depends on within the cycle, in the instance that drives it."""

    acks: frozenset[tuple[str, int]]
    datas: frozenset[tuple[str, int]]


@dataclass
class Instance:
    """A leaf instance."""

    path: str
    module: str
    clock: str
    ports: dict[str, tuple[str, str, int]]  # name: direction, type, lanes
    events: dict[str, dict[str, str]]  # name: argument: type
    functions: list[tuple[frozenset[str], frozenset[str]]]  # reads, writes
    busy: float | None = None  # share of the time, from a statistic of that name
    stalls: dict[str, float] = field(default_factory=dict)  # by reason, from statistics `stall_REASON` and `halted`
    into: list[Link] = field(default_factory=list)
    out: list[Link] = field(default_factory=list)

    def needs(self, port: str, lane: int, kind: str) -> Needs:
        """What `kind` (data or ack) of a lane depends on; nothing when it is driven from state alone."""
        signals, found, seen = [f"{port}[{lane}].{kind}"], set(), set()
        while signals:
            signal = signals.pop()
            for reads, writes in self.functions:
                if signal in writes:
                    signals += reads - found - seen
                    found |= reads
            seen.add(signal)
        acks, datas = set(), set()
        for text in found:
            if not (match := SIGNAL.fullmatch(text)):
                continue  # a local, which was followed
            lane = match["port"], int(match["lane"])
            if match["kind"] == "ack":
                acks.add(lane)
            elif match["kind"] == "data":
                datas.add(lane)
        return Needs(frozenset(acks), frozenset(datas))

    def reply_of(self, port: str) -> str | None:
        """The port that carries the replies to the requests of `port`, when the two are members of one bundle."""
        stem, dot, _ = port.rpartition(".")
        direction = self.ports[port][0]
        if not dot:
            return None
        others = [
            name for name, (way, _, lanes) in self.ports.items()
            if name.rpartition(".")[0] == stem and way != direction and lanes
        ]  # fmt: skip
        return others[0] if others else None

    @property
    def requests(self) -> list[Link]:
        """Its links that carry requests, which are replied to."""
        return [link for link in self.out if self.is_request(link)]

    def is_request(self, link: Link) -> bool:
        """Whether an outgoing link carries requests: the first member of a bundle does, the other the replies."""
        reply = self.reply_of(link.source.port)
        if reply is None:
            return False
        order = list(self.ports)
        return order.index(link.source.port) < order.index(reply)

    def delays(self, link: Link) -> bool:
        """Whether it replies to what comes in on a link in a later cycle: register files reply within the cycle."""
        reply, came = self.reply_of(link.target.port), (link.target.port, link.target.lane)
        if reply is None:
            return False
        datas = self.needs(reply, link.target.lane, "data").datas
        if came in datas:
            return False
        return not any(
            self.reply_of(out.source.port) in {port for port, _ in datas}
            and came in self.needs(out.source.port, out.source.lane, "data").datas
            for out in self.requests
        )  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """The whole netlist with the counts of one run."""

    file: str
    instances: dict[str, Instance]
    links: list[Link]
    parents: list[str]  # paths of hierarchical instances, the top ("") first
    modules: dict[str, str]  # path: module, of all instances
    types: dict[str, dict]
    seconds: float


def keys_of_lanes(netlist: dict) -> dict[tuple[str, int], str]:
    """The keys of lanes by port and number; behind one that a port has several times, the number among those."""
    ends = [(c, end) for c in netlist["connections"] for end in ("from", "to") if f"{end}_key" in c]
    keys = {(c[end], c[f"{end}_lane"]): c[f"{end}_key"] for c, end in ends}
    having = Counter((port, key) for (port, _), key in keys.items())
    seen: Counter = Counter()
    names = {}
    for (port, lane), key in sorted(keys.items()):
        names[port, lane] = f"{key}.{seen[port, key]}" if having[port, key] > 1 else key
        seen[port, key] += 1
    return names


def _counts(stats: dict, earlier: dict | None) -> dict[tuple[str, str], list[int]]:
    if "connections" not in stats:
        raise NetlistError("the statistics hold no connections: build the simulator with --collect connections")
    counts = {(c["from"], c["to"]): [c[name] for name in COUNTS] for c in stats["connections"]}
    for key, before in _counts(earlier, None).items() if earlier else ():
        counts[key] = [now - then for now, then in zip(counts[key], before, strict=True)]
    return counts


def _statistics(stats: dict, earlier: dict | None) -> Iterable[tuple[str, str, str, float]]:
    """path, name, unit and value of each statistic, less what it was earlier."""
    before = {(e["path"], e["name"]): e["value"] for e in earlier["statistics"]} if earlier else {}
    for e in stats["statistics"]:
        yield e["path"], e["name"], e["unit"], e["value"] - before.get((e["path"], e["name"]), 0)


def seconds_of(stats: dict) -> float:
    return stats["run"]["simulated_ns"] * 1e-9


def load(netlist: dict, stats: dict, earlier: dict | None = None) -> Machine:
    """The machine of `lss export` with the counts of a run, less those of its beginning if `earlier` has them."""
    types = {t["name"]: t for t in netlist["types"]}
    instances: dict[str, Instance] = {}
    for i in netlist["instances"]:
        if i["leaf"]:
            ports = {p["name"]: (p["direction"], p["type"], p["width"]) for p in i["ports"]}
            events = {e["name"]: {a["name"]: a["type"] for a in e["arguments"]} for e in i["events"]}
            functions = [(frozenset(f["reads"]), frozenset(f["writes"])) for f in i["functions"]]
            instances[i["path"]] = Instance(i["path"], i["module"], i["clock"], ports, events, functions)
    parents = [i["path"] for i in netlist["instances"] if not i["leaf"]]
    counts, keys, links = _counts(stats, earlier), keys_of_lanes(netlist), []
    for c in netlist["connections"]:
        ends = []
        for end in "from", "to":
            path = max((p for p in instances if c[end].startswith(p + ".")), key=len)
            port = c[end][len(path) + 1 :]
            lane = c[f"{end}_lane"]
            ends.append(PortLane(path, port, lane, instances[path].ports[port][2], keys.get((c[end], lane), "")))
        key = str(ends[0]), str(ends[1])
        if key not in counts:
            raise NetlistError(f"the statistics lack {key[0]} -> {key[1]}: they are from another machine")
        link = Link(ends[0], ends[1], c["type"], *counts[key])
        links.append(link)
        instances[link.source.path].out.append(link)
        instances[link.target.path].into.append(link)
    seconds = seconds_of(stats) - (seconds_of(earlier) if earlier else 0.0)
    if seconds <= 0 or not any(link.cycles > 1 for link in links):
        ends = f"the run ends after {1e3 * seconds_of(stats):.6g} ms of simulated time"
        raise NetlistError(f"{ends}: nothing is left to examine" + (", make --after less" if earlier else ""))
    hertz = {c["name"]: c["hertz_numerator"] / c["hertz_denominator"] for c in netlist["clocks"]}
    for path, name, unit, value in _statistics(stats, earlier):
        if path not in instances or (unit != "cycles" and unit not in SECONDS):
            continue
        share = (value / hertz[instances[path].clock] if unit == "cycles" else value * SECONDS[unit]) / seconds
        if name == "busy":
            instances[path].busy = min(1.0, share)
        elif name.startswith(STALL) or name == HALTED:
            instances[path].stalls[name.removeprefix(STALL).replace("_", " ")] = min(1.0, share)
    modules = {i["path"]: i["module"] for i in netlist["instances"]}
    return Machine(netlist["file"], instances, links, parents, modules, types, seconds)
