"""A profile as a simulator writes it, and what follows from it: functions, source lines, call chains."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from harness.trace.decode import decode

UNNAMED = "(no function)"


def shown(inlined: str) -> str:
    """The name of an inlined function: what the compiler made of it elsewhere has the bare one."""
    return f"{inlined} (inlined)"


class ProfileError(Exception):
    """The file is no profile, or has not what is asked for; the text says so in a line."""


class Region(msgspec.Struct):
    """Memory that a processor sees at some addresses."""

    name: str
    first: int
    last: int


class Requests(msgspec.Struct, array_like=True):
    """What goes to one memory; cycles that loads and stores, and fetches, wait to be accepted and for the reply."""

    region: int
    reads: int = 0
    writes: int = 0
    accept: int = 0
    reply: int = 0
    fetch_accept: int = 0
    fetch_reply: int = 0

    def add(self, more: "Requests") -> None:
        self.reads += more.reads
        self.writes += more.writes
        self.accept += more.accept
        self.reply += more.reply
        self.fetch_accept += more.fetch_accept
        self.fetch_reply += more.fetch_reply


class Inlined(msgspec.Struct):
    """A function that the compiler put in place of a call, and where that call is."""

    function: str
    line: int
    file: str | None = None


class Place(msgspec.Struct):
    """An instruction."""

    pc: int
    word: int
    text: str
    instructions: int
    cycles: list[int]  # of each cause
    requests: list[Requests]
    function: str | None = None
    offset: int = 0
    file: str | None = None
    line: int = 0
    inlined: list[Inlined] = []  # those that it belongs to, the innermost first

    @property
    def innermost(self) -> str | None:
        """The function of its line."""
        return shown(self.inlined[0].function) if self.inlined else self.function


class Call(msgspec.Struct):
    """A function as it was reached by one chain of callers; its own costs only."""

    parent: int
    calls: int
    instructions: int
    cycles: int
    function: str | None = None
    inlined: bool = False

    @property
    def name(self) -> str:
        """The function, as it is shown."""
        return shown(self.function) if self.inlined and self.function else self.function or UNNAMED


class Core(msgspec.Struct):
    """A processor."""

    path: str
    clock: str
    period: int
    issue_stages: int
    instructions: int
    cycles: int
    regions: list[Region]
    places: list[Place]
    calls: list[Call]

    def region_names(self) -> list[str]:
        """Of the numbers that requests have."""
        return [*(region.name for region in self.regions), "elsewhere"]


class Profile(msgspec.Struct):
    """All processors of a machine, and how often other events happened."""

    machine: str
    ticks_per_second: int
    begun: int
    ended: int
    events: dict[str, int]
    causes: list[str]
    cores: list[Core]


@dataclass
class Cost:
    """What some instructions cost together."""

    instructions: int = 0
    cycles: list[int] = field(default_factory=list)
    requests: dict[int, Requests] = field(default_factory=dict)  # by region

    @property
    def reads(self) -> int:
        return sum(one.reads for one in self.requests.values())

    @property
    def writes(self) -> int:
        return sum(one.writes for one in self.requests.values())

    @property
    def total(self) -> int:
        return sum(self.cycles)

    def add(self, place: Place) -> None:
        self.instructions += place.instructions
        self.cycles = [a + b for a, b in zip(self.cycles or [0] * len(place.cycles), place.cycles, strict=True)]
        for one in place.requests:
            self.requests.setdefault(one.region, Requests(one.region)).add(one)


def read(file: Path) -> Profile:
    """The profile in a file."""
    try:
        return decode(file.read_bytes(), msgspec.json.Decoder(Profile))
    except msgspec.DecodeError as error:
        raise ProfileError(f"{file} is no profile: {error}") from None


def chosen(profile: Profile, pattern: str | None) -> list[Core]:
    """The processors whose path, or that of something around them, matches."""
    if pattern is None:
        return profile.cores
    literal = pattern.replace("[", "[[]")

    def matches(path: str) -> bool:
        parts = path.split(".")
        return any(fnmatchcase(".".join(parts[:n]), literal) for n in range(1, len(parts) + 1))

    cores = [core for core in profile.cores if matches(core.path)]
    if not cores:
        raise ProfileError(f'no processor matches "{pattern}"; there are {", ".join(c.path for c in profile.cores)}')
    return cores


def costs_by(places: Iterable[Place], key: str) -> dict[object, Cost]:
    """Costs by an attribute of places."""
    costs: dict[object, Cost] = defaultdict(Cost)
    for place in places:
        costs[getattr(place, key)].add(place)
    return dict(costs)


def functions(core: Core, inlined: bool = False) -> list[tuple[str, Cost]]:
    """Costs of functions that have symbols, or with `inlined` of all by themselves; the most expensive first."""
    costs = costs_by(core.places, "innermost" if inlined else "function")
    named = [(str(name) if name else UNNAMED, cost) for name, cost in costs.items()]
    return sorted(named, key=lambda one: (-one[1].total, one[0]))


def frames(profile: Profile, events: str | None) -> tuple[str, int]:
    """What is counted as a frame, and how many there were: of the events given, or all `sent` and `received`."""
    patterns = events.split(",") if events else ["*.sent", "*.received"]
    literal = [pattern.replace("[", "[[]") for pattern in patterns]
    found = {name: n for name, n in profile.events.items() if any(fnmatchcase(name, pattern) for pattern in literal)}
    if events and not found:
        raise ProfileError(f'no event "{events}" happened; there were {", ".join(profile.events) or "none"}')
    return " + ".join(found), sum(found.values())


def chains(core: Core) -> Iterator[tuple[list[str], Call]]:
    """Each chain of callers, the outermost first, with what its last function costs by itself."""
    names: list[list[str]] = []
    for number, call in enumerate(core.calls):
        own = [] if number == 0 else [call.name]
        names.append([*(names[call.parent] if call.parent >= 0 else []), *own])
        yield names[number], call
