"""Memory bandwidth by requester: bytes at every instance that emits events of requests with their lane and size.

A module takes part by declaring an event with the arguments `lane` and `size` (and `op`, for reads apart from writes);
the lanes are those of its port that accepts requests.  A collector on that event, woven in to measure, adds up.
"""

from dataclasses import dataclass, replace

from harness.bottleneck.netlist import Instance, Link, Machine

NAME = "bottleneck_bytes"


@dataclass(frozen=True)
class Requester:
    """One lane of a memory's port and what was transferred on it."""

    name: str
    link: Link
    read: int  # bytes
    written: int

    @property
    def bytes(self) -> int:
        return self.read + self.written


@dataclass(frozen=True)
class Memory:
    """An instance that serves requests, and its requesters, the biggest first."""

    path: str
    module: str
    capacity: float  # bytes that its ports could carry, one full request a cycle on each line behind it
    seconds: float
    requesters: tuple[Requester, ...]

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.requesters)

    def share(self, one: Requester) -> float:
        return one.bytes / self.capacity if self.capacity else 0.0


def _event(events: dict[str, dict[str, str]]) -> tuple[str, dict[str, str]] | None:
    found = [(name, arguments) for name, arguments in events.items() if {"lane", "size"} <= set(arguments)]
    return found[0] if found else None


def _port(ports: dict[str, tuple[str, str, int]]) -> tuple[str, int] | None:
    """The bundle member that accepts requests, and its lanes: the first inport with a reply beside it."""
    for name, (way, _, lanes) in ports.items():
        stem, dot, _ = name.rpartition(".")
        if way == "in" and dot and lanes:
            partners = [n for n, (w, _, _) in ports.items() if w == "out" and n.rpartition(".")[0] == stem]
            if partners and list(ports).index(name) < list(ports).index(partners[0]):
                return name, lanes
    return None


def collectors(netlist: dict) -> str:
    """The file for `lss build --collect` that adds up bytes; empty when no module emits such an event."""
    enums = {t["name"]: {e["name"] for e in t["enumerators"]} for t in netlist["types"] if t["kind"] == "enum"}
    texts = []
    for number, i in enumerate(netlist["instances"]):
        events = {e["name"]: {a["name"]: a["type"] for a in e["arguments"]} for e in i["events"]}
        ports = {p["name"]: (p["direction"], p["type"], p.get("width", 0)) for p in i["ports"]}
        if not i["leaf"] or not (event := _event(events)) or not (port := _port(ports)):
            continue
        name, arguments = event
        kind = arguments.get("op")
        written = f"op != {kind}_read" if "read" in enums.get(kind, ()) else "true"
        reports = "\n".join(
            f'    report_value("{NAME}[{lane}].{name}", self->n[{lane}][{way}], "bytes", "through this lane");'
            for lane in range(port[1])
            for way, name in enumerate(("read", "written"))
        )
        texts.append(
            f'collector bottleneck_{number} on "{i["path"]}" event {name} {{\n'
            f"  declare <<< uint64_t n[{port[1]}][2]; >>>\n"
            f"  record <<< if ((uint64_t)lane < {port[1]}) self->n[lane][{written}] += size; >>>\n"
            f"  report <<<\n{reports}\n  >>>\n}}\n"
        )
    return "\n".join(texts)


def _name(machine: Machine, memory: Instance, link: Link) -> str:
    """The requester behind a lane: back through whatever only forwards it, as the instance beside the memory."""
    here = machine.instances[link.source.path]
    seen = {here.path}
    while True:
        behind = [one for one in here.into if here.reply_of(one.target.port) and one.source.path not in seen
                  and one.target.port not in {here.reply_of(out.source.port) for out in here.requests}]  # fmt: skip
        if len(behind) != 1:
            break
        here = machine.instances[behind[0].source.path]
        seen.add(here.path)
    own, theirs = memory.path.split("."), here.path.split(".")
    same = 0
    while same < min(len(own), len(theirs)) - 1 and own[same] == theirs[same]:
        same += 1
    return ".".join(theirs[: same + 1])


def _capacity(machine: Machine, here: Instance, links: list[Link]) -> float:
    """Bytes that could have passed: the data of one request a cycle, on each line that leads on, or comes in."""
    lines = here.requests or links
    total = 0.0
    for link in lines:
        fields = {f["name"]: f["type"] for f in machine.types.get(link.type, {}).get("fields", [])}
        digits = "".join(c for c in fields.get("data", "") if c.isdigit())
        total += link.cycles * int(digits or 0) / 8
    return total


def measure(machine: Machine, stats: dict, earlier: dict | None = None) -> list[Memory]:
    """The memories of a run that was collected with `collectors`; unused ones are left out."""
    values = {(e["path"], e["name"]): e["value"] for e in stats["statistics"] if e["name"].startswith(NAME)}
    for e in earlier["statistics"] if earlier else ():
        if (e["path"], e["name"]) in values:
            values[e["path"], e["name"]] -= e["value"]
    memories = []
    for path in dict.fromkeys(path for path, _ in values):
        here = machine.instances[path]
        port = _port(here.ports)[0]
        links = [link for link in here.into if link.target.port == port]
        requesters = [
            Requester(_name(machine, here, link), link, *(
                values[path, f"{NAME}[{link.target.lane}].{name}"] for name in ("read", "written")
            ))
            for link in links
        ]  # fmt: skip
        names = [one.name for one in requesters]
        requesters = [
            one if names.count(one.name) == 1 else replace(one, name=str(one.link.source)) for one in requesters
        ]
        requesters.sort(key=lambda one: (-one.bytes, str(one.link)))
        memory = Memory(path, here.module, _capacity(machine, here, links), machine.seconds, tuple(requesters))
        if memory.bytes:
            memories.append(memory)
    return sorted(memories, key=lambda one: (-len({r.link.source.path for r in one.requesters}), -one.bytes, one.path))
