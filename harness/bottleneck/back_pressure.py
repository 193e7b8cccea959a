"""From connections that wait to what they wait for.

A connection on which items are offered and refused is followed downstream, from the instance that refuses to the output
that it cannot get rid of, to the answer that it lacks, or to the one that tells it to stand still, until an instance is
found that refuses of its own: it is the limiter.  A connection that starves is followed upstream in the same way.  Only
shares of time and what functions declare to read decide; no module is known by name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.bottleneck.netlist import Instance, Link, Machine

EXPLAINS = 0.5  # a wait explains another if it is at least this part of it
SAME = 0.9  # two shares that belong to one cause differ by less than this
FULL = 0.95  # a port that carries something in so many cycles carries all it can
NOTICE = 0.01  # shares of the time below this are not followed
LONGEST_ANSWER = 8  # cycles that an answer is believed to take where nothing says that the instance is at work


@dataclass(frozen=True)
class Step:
    """A link of a chain, and how the instance at its far end leads on to the next."""

    link: Link
    then: str = ""


@dataclass(frozen=True)
class Cause:
    """Where a chain ends.

    kind: `own` the instance refuses though nothing refuses it; `port` a port carries an item in every cycle;
    `answers` an instance takes its time to answer; `loop` what goes round in a loop comes back too late; `source` an
    instance offers no more.
    """

    kind: str
    path: str  # of the instance; for a port, of the port
    members: tuple[str, ...] = ()  # of a loop


@dataclass
class Chain:
    """Why a connection waits, or starves."""

    steps: list[Step] = field(default_factory=list)
    cause: Cause | None = None
    door: Link | None = None  # where the wait for the cause shows: one's lane before an output that several share

    @property
    def link(self) -> Link:
        return self.steps[0].link

    @property
    def last(self) -> Link:
        return self.steps[-1].link


def most(links: Iterable[Link], share: str) -> Link | None:
    return max(links, key=lambda link: getattr(link, share), default=None)


class Tracer:
    """Follows waits through one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def why_waiting(self, link: Link) -> Chain:
        """The chain that begins with a link on which items wait."""
        chain = Chain()
        self._refused(link, chain)
        chain.door = chain.door or chain.last
        return chain

    def why_starved(self, link: Link) -> Chain:
        """The chain that begins with a link on which too little comes."""
        chain = Chain()
        self._idle(link, chain)
        return chain

    # ---- Downstream: who refuses, and why ----------------------------------------------------------------------------

    def _refused(self, link: Link, chain: Chain) -> None:
        here = self.machine.instances[link.target.path]
        if self._closes_loop(link, chain):
            return
        chain.steps.append(Step(link))
        needs = here.needs(link.target.port, link.target.lane, "ack")
        by_declaration = [out for out in here.out if (out.source.port, out.source.lane) in needs.acks]
        outs = by_declaration or here.out
        worst = most(outs, "waiting")
        rivals = self._rivals(here, link, worst) if by_declaration else []
        if rivals:
            chain.door = link
        if worst and worst.waiting >= max(NOTICE, EXPLAINS * link.waiting):
            self._go(chain, "cannot pass on what it has")
            return self._refused(worst, chain)
        if rivals and self._shares(here, link, worst, rivals, chain):
            return None
        if outlet := self._never_empty(here, link):
            return self._fills(outlet, chain)
        if self._lacks_partner(here, link, needs.datas, chain):
            return None
        for asker, words in self._held_by(here, link, needs.datas):
            if self._held_up(asker, link.waiting, chain, words):
                return None
        if not by_declaration and (loop := self._loop_of_credits(here, link)):
            chain.cause = Cause("loop", here.path, loop)
            return None
        chain.cause = Cause("own", here.path)
        return None

    @staticmethod
    def _rivals(here: Instance, link: Link, out: Link) -> list[Link]:
        """The other inputs that need the same output."""
        place = out.source.port, out.source.lane
        return [
            other for other in here.into
            if other is not link and place in here.needs(other.target.port, other.target.lane, "ack").acks
        ]  # fmt: skip

    def _shares(self, here: Instance, link: Link, out: Link, rivals: list[Link], chain: Chain) -> bool:
        """Whether others keep the output busy that this link needs."""
        taken = min(out.moved, sum(other.moved for other in rivals))
        if out.waiting + taken < EXPLAINS * link.waiting:
            return False
        if out.moved >= FULL:
            self._go(chain, "has one output for several")
            chain.steps.append(Step(out))
            chain.cause = Cause("port", str(out.source))
        elif out.waiting >= NOTICE:
            self._go(chain, "serves others in the meantime")
            self._refused(out, chain)
        else:
            chain.cause = Cause("own", here.path)
        return True

    @staticmethod
    def _never_empty(here: Instance, link: Link) -> Link | None:
        """The output that passes on what comes in here, item for item, and has one to offer in nearly every cycle.

        In a cycle of another clock than the input's, that is: otherwise the output would wait as long as the input.
        """
        return most(
            (
                out for out in here.out
                if out.offered >= FULL and SAME < out.transferred / max(1, link.transferred) < 1 / SAME
                and (here.asks(out) or not here.reply_of(out.source.port))
            ), "transferred",
        )  # fmt: skip

    def _fills(self, outlet: Link, chain: Chain) -> None:
        """What takes from an output that is never empty: all that it can, one a cycle, or less."""
        self._go(chain, "has always something to pass on")
        if outlet.moved < FULL:
            return self._refused(outlet, chain)
        chain.steps.append(Step(outlet))
        chain.door = chain.steps[-2].link
        chain.cause = Cause("port", str(outlet.target))
        return None

    def _lacks_partner(self, here: Instance, link: Link, datas: frozenset, chain: Chain) -> bool:
        """Whether the instance takes this item only together with another that does not come."""
        mine = link.target.port, link.target.lane
        for other in here.into:
            place = other.target.port, other.target.lane
            if place == mine or place not in datas or other.idle < SAME * link.waiting:
                continue
            if mine in here.needs(*place, "ack").datas:
                self._go(chain, "lacks what belongs to it")
                self._idle(other, chain)
                return True
        return False

    def _held_by(self, here: Instance, link: Link, datas: frozenset) -> Iterable[tuple[Instance, str]]:
        """Who may be waiting for an answer while `here` refuses: itself, or one whose word it listens to."""
        answers = {here.reply_of(request.source.port) for request in here.requests}
        if self._asks_for_each(here, link) or answers & {port for port, _ in datas}:
            yield here, "waits for the answer to what it asked"
        tellers = {other.source.path for other in here.into if (other.target.port, other.target.lane) in datas}
        senders = [self.machine.instances[path] for path in sorted(tellers - {link.source.path, here.path})]
        for teller in sorted(senders, key=lambda one: -max((out.waiting for out in one.out), default=0.0)):
            yield teller, f"is told to stand still by {teller.path}"

    def _held_up(self, asker: Instance, share: float, chain: Chain, words: str) -> bool:
        """Whether the wait is one for an answer; follows it to where the question waits, or to who answers late."""
        outs = [out for out in asker.out if out.waiting >= max(NOTICE, EXPLAINS * share)]
        if asker.path != chain.last.target.path and outs:
            self._go(chain, words)
            self._refused(most(outs, "waiting"), chain)
            return True
        asked = self._along(asker.requests)
        worst = max((link.waiting for link, _ in asked), default=0.0)
        if worst >= max(NOTICE, EXPLAINS * share):
            # Equal waits are one wait, seen at each place that it passes through.
            self._go(chain, words)
            self._refused(next(link for link, _ in asked if link.waiting >= SAME * worst), chain)
            return True
        servers = [(link, flow) for link, flow in asked if self._may_delay(link, flow, EXPLAINS * share)]
        if servers:
            # Who only hands on what it is asked takes as long as those behind it.
            servers = [(link, flow) for link, flow in servers if not self._hands_on(link)] or servers
            # Of those that most of what is asked passes, the last one.
            most_asked = SAME * max(flow for _, flow in servers)
            slowest = [link for link, flow in servers if flow >= most_asked][-1]
            self._go(chain, words)
            chain.door = max((step.link for step in chain.steps), key=lambda one: one.waiting)
            chain.steps.append(Step(slowest))
            chain.cause = Cause("answers", slowest.target.path)
        elif asker.path != chain.last.target.path and (asker.busy or 0.0) >= EXPLAINS * share:
            self._go(chain, words)
            chain.cause = Cause("answers", asker.path)
        return chain.cause is not None

    def _may_delay(self, link: Link, flow: int, share: float) -> bool:
        """Whether who is asked on a link may hold an asker up for this share of the time: `flow` questions came."""
        here = self.machine.instances[link.target.path]
        believed = flow * LONGEST_ANSWER / link.cycles if here.busy is None else here.busy
        return here.delays(link) and believed >= share

    def _hands_on(self, link: Link) -> bool:
        """Whether who is asked on a link asks somebody else each time, and does not count work of its own."""
        here = self.machine.instances[link.target.path]
        return here.busy is None and self._asks_for_each(here, link)

    @staticmethod
    def _asks_for_each(here: Instance, link: Link) -> bool:
        """Whether an instance asks one question for each item that comes in on a link."""
        return any(SAME < one.transferred / max(1, link.transferred) < 1 / SAME for one in here.requests)

    def _along(self, requests: list[Link]) -> list[tuple[Link, int]]:
        """The links that what is asked may pass, in order of distance, and how much of it passes there at most."""
        flows = {request: request.transferred for request in requests}
        near = list(requests)
        while near:
            link = near.pop(0)
            here = self.machine.instances[link.target.path]
            onward = here.requests
            if not onward and not here.reply_of(link.target.port):  # it only passes items on
                came = link.target.port, link.target.lane
                onward = [o for o in here.out if came in here.needs(o.source.port, o.source.lane, "data").datas]
            for out in onward:
                flow = min(flows[link], out.transferred)
                if out not in flows or flow > flows[out]:
                    flows[out] = flow
                    near.append(out)
        return list(flows.items())

    # ---- Upstream: who sends too little, and why --------------------------------------------------------------------

    def _idle(self, link: Link, chain: Chain) -> None:
        here = self.machine.instances[link.source.path]
        if self._closes_loop(link, chain):
            return
        chain.steps.append(Step(link))
        waiting = most(here.into, "waiting")
        if waiting and waiting.waiting >= max(NOTICE, EXPLAINS * link.idle):
            self._go(chain, "is slower than what comes")
            return self._refused(waiting, chain)
        if feeder := self._feeder(here, link):
            self._go(chain, "gets too little")
            return self._idle(feeder, chain)
        chain.cause = Cause("source", here.path)
        return None

    def _feeder(self, here: Instance, link: Link) -> Link | None:
        """The input that a starving output hangs on: of those that starve, too, the one with the most similar count."""
        needs = here.needs(link.source.port, link.source.lane, "data").datas
        answers = {here.reply_of(out.source.port) for out in here.requests}
        inputs = [
            one for one in here.into
            if one.idle >= SAME * link.idle and one.target.port not in answers
            and (not needs or (one.target.port, one.target.lane) in needs)
        ]  # fmt: skip
        return min(inputs, key=lambda one: (abs(one.transferred - link.transferred), str(one)), default=None)

    def _loop_of_credits(self, here: Instance, link: Link) -> tuple[str, ...]:
        """The way round from an instance that sends nothing, though items wait, back to itself, if there is one."""
        if not here.out or any(link.waiting < SAME * out.idle for out in here.out):
            return ()
        answers = {here.reply_of(request.source.port) for request in here.requests}
        for credit in here.into:
            if credit is link or credit.target.port in answers or credit.idle < SAME * link.waiting or not credit.moved:
                continue
            trail, one = [here.path], credit
            while one and one.source.path not in trail:
                trail.insert(1, one.source.path)
                one = self._feeder(self.machine.instances[one.source.path], one)
            if one and one.source.path == here.path:
                return tuple(trail)
        return ()

    # ---- Both --------------------------------------------------------------------------------------------------------

    @staticmethod
    def _go(chain: Chain, words: str) -> None:
        chain.steps[-1] = Step(chain.last, words)

    @staticmethod
    def _closes_loop(link: Link, chain: Chain) -> bool:
        """Ends the chain when it has come back to where it was."""
        links = [step.link for step in chain.steps]
        if link not in links:
            return False
        members = dict.fromkeys(one.target.path for one in links[links.index(link) :])
        chain.cause = Cause("loop", next(iter(members)), tuple(members))
        return True
