"""The folder that `lss build --parts` writes: network.json, and a simulator for each kind of part."""

import json
from dataclasses import dataclass, field
from pathlib import Path

FORMAT = 1


class NetworkError(Exception):
    """A network that cannot be run, or a run that failed; the text is one line for the user."""


@dataclass(frozen=True)
class Part:
    path: str
    simulator: Path  # of its kind
    renamed: dict[str, str]  # units of the kind's representative: what they are called in this part
    memory: int = 0  # bytes of its state
    module: str = ""
    weight: int = 1  # how much there is to simulate


@dataclass(frozen=True)
class Link:
    path: str  # of the crossing and its flight
    sender: int
    receiver: int
    parameters: dict[str, int] = field(default_factory=dict)  # of the crossing: whole numbers
    cut: int = 1  # ticks of latency


@dataclass(frozen=True)
class Clock:
    name: str
    num: int  # frequency in Hz
    den: int
    period: int  # ticks
    rounded: bool  # a tick less in some cycles


@dataclass(frozen=True)
class Network:
    folder: Path
    hash: str
    machine: str  # the file
    ticks_per_second: int
    clocks: list[Clock]  # of all parts, as the whole has them
    parts: list[Part]
    links: list[Link]
    order: list[str]  # units, as the statistics of the whole have them

    @property
    def file(self) -> Path:
        return self.folder / "network.json"

    def whole(self, simulator: Path | None) -> Path:
        """The simulator of the whole network: the one that is named, or the one called rack next to rack.net."""
        place = simulator or self.folder.resolve().with_suffix("")
        if not place.is_file():
            raise NetworkError(f"{place}: there is no such simulator (`lss build {self.machine} -o {place}` builds it)")
        return place

    def cycles(self, instant: int) -> dict[str, int]:
        """The cycles of each clock that begin before an instant."""
        return {clock.name: self._cycles(clock, instant) for clock in self.clocks}

    def _cycles(self, clock: Clock, instant: int) -> int:
        """As spinach_cycle_from() of the runtime."""
        if not clock.rounded:
            return -(-instant // clock.period)
        return -(-instant * clock.num // (self.ticks_per_second * clock.den))

    def owners(self, path: str) -> list[int]:
        """The parts that have what is at a path: one, or both ends of a crossing; none, if it is of no part."""
        parts = [number for number, part in enumerate(self.parts) if is_below(path, part.path)]
        links = [link for link in self.links if is_below(path, link.path.rpartition(".")[0])]
        return parts or sorted({number for link in links for number in (link.sender, link.receiver)})


def is_below(path: str, unit: str) -> bool:
    """Whether a path is that of a unit, or of something in it."""
    return path.startswith(unit) and path[len(unit) : len(unit) + 1] in ("", ".", "[")


def read(folder: Path) -> Network:
    """Reads network.json; the simulators have to be there."""
    file = folder / "network.json"
    try:
        document = json.loads(file.read_bytes())
        if document["format"] != FORMAT:
            raise NetworkError(f"{file}: it has format {document['format']}, not {FORMAT} (build the network again)")
        simulators = [folder / kind["simulator"] for kind in document["kinds"]]
        kinds = [(kind.get("memory", 0), kind["module"], max(kind["weight"], 1)) for kind in document["kinds"]]
        parts = [
            Part(part["path"], simulators[part["kind"]], dict(part["renamed"]), *kinds[part["kind"]])
            for part in document["parts"]
        ]
        links = [
            Link(link["path"], link["from"], link["to"], link.get("parameters", {}), link["cut"])
            for link in document["links"]
        ]
        clocks = [Clock(**clock) for clock in document["clocks"]]
        network = Network(
            folder, document["hash"], document["file"], document["ticks_per_second"], clocks, parts, links,
            document["order"],
        )  # fmt: skip
    except OSError as error:
        raise NetworkError(f"{file}: {error.strerror} (`lss build --parts` writes such a folder)") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise NetworkError(f"{file}: it is no network that `lss build --parts` has written") from None
    for simulator in simulators:
        if not simulator.is_file():
            raise NetworkError(f"{simulator}: the simulator is missing (build the network again)")
    if not parts:
        raise NetworkError(f"{file}: it has no parts")
    return network
