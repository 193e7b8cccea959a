"""The contents of the bottleneck report: limiters with what waits for them, waiting connections, modules, memories."""

from collections import defaultdict
from dataclasses import dataclass

from harness.bottleneck import memories
from harness.bottleneck.back_pressure import NEGLIGIBLE, Cause, Tracer, WaitPath
from harness.bottleneck.netlist import Instance, Link, Machine, load

SATURATED = 0.9  # busy for this share of the time, an instance is a limit
LITTLE = 0.05  # waits for less than this share of the time limit nothing


@dataclass(frozen=True)
class Limiter:
    """A cause, how much of the time it is busy, and the paths that end at it, the longest wait first."""

    cause: Cause
    busy: float | None
    waiters: tuple[Link, ...]  # where others wait for it, the longest wait first
    wait_paths: tuple[WaitPath, ...]

    @property
    def waited(self) -> float:
        """Shares of the time that others wait for it, added up; may exceed 1."""
        return sum(link.waiting for link in self.waiters)

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
    stalled: float  # share of the time in which its most stalled output is stalled
    stalls: float  # share of the time in which it stalls its most stalled input


@dataclass(frozen=True)
class Stalls:
    """Why an instance stalls: shares of the time by reason, the largest first."""

    path: str
    reasons: tuple[tuple[str, float], ...]

    @property
    def rest(self) -> float:
        """Share of the time in which it does not stall."""
        return max(0.0, 1.0 - sum(share for _, share in self.reasons))

    @property
    def text(self) -> str:
        return ", ".join(f"{reason} ({percent(share)})" for reason, share in self.reasons if share >= NEGLIGIBLE)


@dataclass(frozen=True)
class Analysis:
    machine: Machine
    limiters: list[Limiter]  # the most important first
    waiting: list[WaitPath]  # one for each connection that waits, the longest first
    starved: list[WaitPath]  # one for each consumer that gets too little
    modules: list[Module]  # the busiest first
    memories: list[memories.Memory]

    @property
    def limiter(self) -> Limiter | None:
        """What limits the machine; None when nothing does but its sources."""
        return self.limiters[0] if self.limiters and self.limiters[0].waited >= LITTLE else None

    @property
    def stalls(self) -> list[Stalls]:
        """Where cycles go in the instances that count them by reason, the limiter first, then those that stall most."""
        counted = [one for one in self.machine.instances.values() if one.stalls]
        limiting = self.limiter.cause.path if self.limiter else ""
        counted.sort(key=lambda one: (one.path != limiting, -sum(one.stalls.values()), one.path))
        return [Stalls(one.path, tuple(sorted(one.stalls.items(), key=lambda s: (-s[1], s[0])))) for one in counted]

    @property
    def reasons(self) -> str:
        """Why the limiter stalls, or the first that waits for it and counts that: the end of the verdict."""
        if not self.limiter:
            return ""
        counted = {one.path: one for one in self.stalls if one.text}
        for path in [self.limiter.cause.path, *(link.target.path for link in self.limiter.waiters)]:
            if one := counted.get(path):
                return f" {path} stalls for {one.text}; it does not stall in {percent(one.rest)} of the cycles."
        return ""

    @property
    def verdict(self) -> str:
        """One or two plain sentences."""
        if self.limiter:
            return _verdict(self.limiter) + self.reasons
        if loop := next((c for c in self.starved if c.cause.kind == "loop"), None):
            return _loop_text(loop.cause.members, loop.link)
        sources = [c for c in self.starved if c.cause.kind == "source"]
        if not sources:
            return "Nothing waits and nothing starves: every connection moves an item whenever it can."
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


def _loop_text(members: tuple[str, ...], link: Link) -> str:
    return (
        f"The loop {' → '.join([*members, members[0]])} is the limiter: nothing outside stalls it, but its "
        f"latency is too long for the items in flight. It moves an item in {percent(link.moved)} of the cycles."
    )


def _list(links: list[Link], most: int = 4) -> str:
    texts = [f"{link} ({percent(link.waiting)})" for link in links[:most]]
    if others := links[most:]:
        texts.append(f"{len(others)} more")
    return ", ".join(texts)


def _verdict(limiter: Limiter) -> str:
    cause, links = limiter.cause, list(limiter.waiters)
    wait = f"These connections wait for it: {_list(links)}."
    if cause.kind == "loop":
        return f"{_loop_text(cause.members, links[0])} {wait}"
    if cause.kind == "port":
        carries = f"it carries an item in {percent(limiter.busy)} of the cycles, and one a cycle is its maximum"
        return f"{cause.path} is the limiter: {carries}. {wait}"
    what = "its busy time is not counted"
    if limiter.busy is not None:
        what = f"busy {percent(limiter.busy)} of the time"
    if cause.kind == "reply":
        return f"{cause.path} is waited for longest, since it replies slowly: {what}. {wait}"
    if limiter.saturated:
        return f"{cause.path} is the limiter: {what}. {wait}"
    return f"No instance is busy all the time. {cause.path} is waited for longest: {what}. {wait}"


def _causes_of(tracer: Tracer, machine: Machine) -> tuple[list[Limiter], list[WaitPath]]:
    links = [link for link in machine.links if link.waiting >= NEGLIGIBLE]
    links.sort(key=lambda link: (-link.waiting, str(link)))
    wait_paths = [tracer.why_waiting(link) for link in links]
    groups: dict[tuple, list[WaitPath]] = defaultdict(list)
    for wait_path in wait_paths:
        cause = wait_path.cause
        # The same loop, wherever it was entered; the same instance, whether it stalls its input or replies slowly.
        groups[("loop", *sorted(cause.members)) if cause.kind == "loop" else (cause.path,)].append(wait_path)
    limiters = []
    for group in groups.values():
        cause = next((wait_path.cause for wait_path in group if wait_path.cause.kind == "busy"), group[0].cause)
        limiters.append(Limiter(cause, _busy_of(machine, cause, group), _waiters(tracer, group), tuple(group)))
    limiters.sort(key=lambda one: (not (one.saturated and one.waited >= LITTLE), -one.waited, one.name))
    return limiters, wait_paths


def _waiters(tracer: Tracer, wait_paths: list[WaitPath]) -> tuple[Link, ...]:
    """Where others wait, one link for each chain of requesters: a request that is passed on from one to the next, or
    keeps the others in its pipeline waiting, is one wait, the longest that is seen of it."""
    behind: set[Link] = set()
    for wait_path in wait_paths:
        links = [step.link for step in wait_path.steps]
        behind.update(links[links.index(wait_path.shared_port) + 1 :])
    groups: dict[str, set[Link]] = defaultdict(set)
    for wait_path in wait_paths:
        link = wait_path.shared_port
        if wait_path.cause.kind == "reply":
            groups[link.target.path.rpartition(".")[0]].add(link)
        elif link not in behind:
            groups[str(link)].add(link)

    def longest_first(link: Link) -> tuple[float, str]:
        return -link.waiting, str(link)

    ordered = [(min(group, key=longest_first), group) for group in groups.values()]
    found: list[tuple[Link, set[Link], set[Link]]] = []
    for longest, group in sorted(ordered, key=lambda one: longest_first(one[0])):
        onward = {link for one in group for link in tracer.onward(one)}
        if not any(group & further or others & onward for _, others, further in found):
            found.append((longest, group, onward))
    return tuple(longest for longest, _, _ in found)


def _busy_of(machine: Machine, cause: Cause, wait_paths: list[WaitPath]) -> float | None:
    if cause.kind == "loop":
        return None
    # What stalls its input and is not stalled itself is busy whenever it is offered something.
    offered = max((wait_path.last.offered for wait_path in wait_paths if wait_path.cause.kind != "reply"), default=None)
    declared = machine.instances[cause.path].busy if cause.kind != "port" else None
    return max((one for one in (offered, declared) if one is not None), default=None)


def _starving(tracer: Tracer, machine: Machine) -> list[WaitPath]:
    """Paths for the ends of the machine: instances that send nothing but replies."""
    wait_paths = []
    for here in machine.instances.values():
        onward = [out for out in here.out if not here.reply_of(out.source.port) or here.is_request(out)]
        ends = [link for link in here.into if link.transferred and link.idle >= LITTLE]
        if not onward and ends:
            wait_paths.append(tracer.why_starved(max(ends, key=lambda link: (link.moved, str(link)))))
    return sorted(wait_paths, key=lambda wait_path: (-wait_path.link.idle, str(wait_path.link)))


def _module(here: Instance) -> Module:
    replies = {here.reply_of(out.source.port) for out in here.requests}
    requests = [link for link in here.into if link.target.port not in replies]
    requests += [out for out in here.out if here.is_request(out) or not here.reply_of(out.source.port)]
    busy = max((link.offered for link in requests if not link.level), default=0.0)
    stalled = max((link.waiting for link in here.out), default=0.0)
    stalls = max((link.waiting for link in here.into), default=0.0)
    if here.busy is not None:
        return Module(here.path, here.module, here.busy, True, stalled, stalls)
    return Module(here.path, here.module, busy, False, stalled, stalls)


def analyse(netlist: dict, stats: dict, earlier: dict | None = None) -> Analysis:
    """The report on a run, from `lss export` and its statistics; `earlier` are those of a beginning to be left out."""
    machine = load(netlist, stats, earlier)
    tracer = Tracer(machine)
    limiters, waiting = _causes_of(tracer, machine)
    modules = sorted(map(_module, machine.instances.values()), key=lambda m: (-m.busy, -m.stalls, m.path))
    return Analysis(
        machine, limiters, waiting, _starving(tracer, machine), modules,
        memories.measure(machine, stats, earlier),
    )  # fmt: skip
