"""What the bottleneck report says: limiters with those who wait for them, waiting connections, modules, memories."""

from collections import defaultdict
from dataclasses import dataclass

from harness.bottleneck import memories
from harness.bottleneck.back_pressure import NOTICE, Cause, Chain, Tracer
from harness.bottleneck.netlist import Instance, Link, Machine, load

SATURATED = 0.9  # at work for this share of the time, a part is a limit
LITTLE = 0.05  # what waits for less than this share of the time limits nothing


@dataclass(frozen=True)
class Limiter:
    """A cause, how much of the time it is at work, and the chains that end at it, the longest wait first."""

    cause: Cause
    busy: float | None
    doors: tuple[Link, ...]  # where others wait for it, the longest wait first
    chains: tuple[Chain, ...]

    @property
    def waited(self) -> float:
        """Shares of the time that others wait for it, added up; may exceed 1."""
        return sum(link.waiting for link in self.doors)

    @property
    def saturated(self) -> bool:
        return self.busy is not None and self.busy >= SATURATED

    @property
    def name(self) -> str:
        if self.cause.kind == "loop":
            return "the loop of " + ", ".join(self.cause.members)
        return self.cause.path


@dataclass(frozen=True)
class Module:
    """One leaf instance."""

    path: str
    module: str
    busy: float
    declared: bool  # `busy` is a statistic of the module, not worked out from its connections
    waits: float  # share of the time in which the connection that it has most trouble with is refused
    refuses: float  # share of the time in which it refuses what it is offered most


@dataclass(frozen=True)
class Analysis:
    machine: Machine
    limiters: list[Limiter]  # the most important first
    waiting: list[Chain]  # one for each connection that waits, the longest first
    starved: list[Chain]  # one for each consumer that gets too little
    modules: list[Module]  # the busiest first
    memories: list[memories.Memory]

    @property
    def limiter(self) -> Limiter | None:
        """What limits the machine; None when nothing does but its sources."""
        return self.limiters[0] if self.limiters and self.limiters[0].waited >= LITTLE else None

    @property
    def verdict(self) -> str:
        """One or two plain sentences."""
        if self.limiter:
            return _verdict(self.limiter)
        if loop := next((c for c in self.starved if c.cause.kind == "loop"), None):
            return _loop_words(loop.cause.members, loop.link)
        sources = [c for c in self.starved if c.cause.kind == "source"]
        if not sources:
            return "Nothing waits and nothing starves: every connection moves an item whenever it could."
        longest = max(sources, key=lambda c: c.link.idle)
        begins = longest.last
        return (
            f"The sources limit: nothing waits for more than {percent(LITTLE)} of the time. {longest.cause.path} "
            f"offers something in {percent(begins.offered)} of the cycles, and {longest.link.target.path}, at the end, "
            f"gets nothing in {percent(longest.link.idle)}."
        )


def percent(share: float) -> str:
    """A share for people: no decimals where they say nothing, never 100 % for what is not."""
    value = 100 * share
    if 99 <= value < 100:
        return f"{min(value, 99.9):.1f} %"
    return f"{value:.0f} %" if value >= 9.95 or value < 0.05 else f"{value:.1f} %"


def _loop_words(members: tuple[str, ...], link: Link) -> str:
    return (
        f"The loop {' → '.join([*members, members[0]])} is the limiter: nothing outside holds it up; what goes round "
        f"in it comes back too late, or too little goes round. It moves an item in {percent(link.moved)} of the cycles."
    )


def _list(links: list[Link], most: int = 4) -> str:
    words = [f"{link} ({percent(link.waiting)})" for link in links[:most]]
    if len(links) > most:
        words.append(f"{len(links) - most} more")
    return ", ".join(words)


def _verdict(limiter: Limiter) -> str:
    cause, links = limiter.cause, list(limiter.doors)
    wait = f"These connections wait for it: {_list(links)}."
    if cause.kind == "loop":
        return f"{_loop_words(cause.members, links[0])} {wait}"
    if cause.kind == "port":
        carries = f"it carries an item in {percent(limiter.busy)} of the cycles, and one a cycle is all it can"
        return f"{cause.path} is the limiter: {carries}. {wait}"
    what = "how busy it is, it does not say"
    if limiter.busy is not None:
        what = f"busy {percent(limiter.busy)} of the time"
    if cause.kind == "answers":
        return f"{cause.path} is waited for longest, since it takes its time: {what}. {wait}"
    if limiter.saturated:
        return f"{cause.path} is the limiter: {what}. {wait}"
    return f"No part is busy all the time. {cause.path} is waited for longest: {what}. {wait}"


def _causes_of(tracer: Tracer, machine: Machine) -> tuple[list[Limiter], list[Chain]]:
    links = sorted((link for link in machine.links if link.waiting >= NOTICE), key=lambda one: (-one.waiting, str(one)))
    chains = [tracer.why_waiting(link) for link in links]
    groups: dict[tuple, list[Chain]] = defaultdict(list)
    for chain in chains:
        cause = chain.cause
        # The same loop, wherever it was entered; the same instance, whether it refuses or takes its time to answer.
        groups[("loop", *sorted(cause.members)) if cause.kind == "loop" else (cause.path,)].append(chain)
    limiters = []
    for group in groups.values():
        cause = next((chain.cause for chain in group if chain.cause.kind == "own"), group[0].cause)
        limiters.append(Limiter(cause, _busy_of(machine, cause, group), _doors(group), tuple(group)))
    limiters.sort(key=lambda one: (not (one.saturated and one.waited >= LITTLE), -one.waited, one.name))
    return limiters, chains


def _doors(chains: list[Chain]) -> tuple[Link, ...]:
    """Where others wait; one place for each who waits for an answer: the others are the same wait, further back."""
    behind: set[Link] = set()
    for chain in chains:
        links = [step.link for step in chain.steps]
        behind.update(links[links.index(chain.door) + 1 :])
    refused = [chain.door for chain in chains if chain.cause.kind != "answers"]
    doors = {str(door): door for door in refused if door not in behind}
    for chain in chains:
        if chain.cause.kind == "answers":
            asker = chain.door.target.path.rpartition(".")[0]
            known = doors.get(asker)
            doors[asker] = chain.door if known is None or chain.door.waiting > known.waiting else known
    return tuple(sorted(doors.values(), key=lambda link: (-link.waiting, str(link))))


def _busy_of(machine: Machine, cause: Cause, chains: list[Chain]) -> float | None:
    if cause.kind == "loop":
        return None
    # What refuses of its own does so because it is at work, so it is busy whenever it is offered something.
    offered = max((chain.last.offered for chain in chains if chain.cause.kind != "answers"), default=None)
    declared = machine.instances[cause.path].busy if cause.kind != "port" else None
    return max((one for one in (offered, declared) if one is not None), default=None)


def _starving(tracer: Tracer, machine: Machine) -> list[Chain]:
    """Chains for the ends of the machine: instances that pass nothing on but answers."""
    chains = []
    for here in machine.instances.values():
        onward = [out for out in here.out if not here.reply_of(out.source.port) or here.asks(out)]
        ends = [link for link in here.into if link.transferred and link.idle >= LITTLE]
        if not onward and ends:
            chains.append(tracer.why_starved(max(ends, key=lambda link: (link.moved, str(link)))))
    return sorted(chains, key=lambda chain: (-chain.link.idle, str(chain.link)))


def _module(here: Instance) -> Module:
    answers = {here.reply_of(out.source.port) for out in here.requests}
    asked = [link for link in here.into if link.target.port not in answers]
    asked += [out for out in here.out if here.asks(out) or not here.reply_of(out.source.port)]
    busy = max((link.offered for link in asked if not link.level), default=0.0)
    waits = max((link.waiting for link in here.out), default=0.0)
    refuses = max((link.waiting for link in here.into), default=0.0)
    if here.busy is not None:
        return Module(here.path, here.module, here.busy, True, waits, refuses)
    return Module(here.path, here.module, busy, False, waits, refuses)


def analyse(netlist: dict, stats: dict, earlier: dict | None = None) -> Analysis:
    """The report on a run, from `lss export` and its statistics; `earlier` are those of a beginning to be left out."""
    machine = load(netlist, stats, earlier)
    tracer = Tracer(machine)
    limiters, waiting = _causes_of(tracer, machine)
    modules = sorted(map(_module, machine.instances.values()), key=lambda m: (-m.busy, -m.refuses, m.path))
    return Analysis(
        machine, limiters, waiting, _starving(tracer, machine), modules,
        memories.measure(machine, stats, earlier),
    )  # fmt: skip
