"""The back-pressure trace: from connections that wait to what they wait for.

A connection on which items are offered and stalled is followed downstream, from the instance that stalls it to its own
stalled output, to the reply that it lacks, or to the instance that stalls it, until an instance is found that nothing
stalls: it is the limiter.  A connection that starves is followed upstream in the same way.  Only shares of time and
what functions declare to read decide; no module is known by name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.bottleneck.netlist import Instance, Link, Machine

EXPLAINS = 0.5  # a wait explains another if it is at least this part of it
SAME = 0.9  # two shares that belong to one cause differ by less than this
FULL = 0.95  # a port that carries something in so many cycles carries all it can
NEGLIGIBLE = 0.01  # shares of the time below this are not followed
LONGEST_REPLY = 8  # cycles that a reply is assumed to take where no statistic says that the instance is busy


@dataclass(frozen=True)
class Step:
    """A link of a path, and why the instance at its far end leads on to the next."""

    link: Link
    then: str = ""


@dataclass(frozen=True)
class Cause:
    """Where a path ends.

    kind: `busy` the instance stalls its input though nothing stalls it; `port` a port carries an item in every cycle;
    `reply` an instance replies slowly; `loop` the latency of a loop limits; `source` an instance sends no more.
    """

    kind: str
    path: str  # of the instance; for a port, of the port
    members: tuple[str, ...] = ()  # of a loop


@dataclass
class WaitPath:
    """Why a connection waits, or starves."""

    steps: list[Step] = field(default_factory=list)
    cause: Cause | None = None
    shared_port: Link | None = None  # where the wait for the cause shows: a lane before an output that several share

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

    def why_waiting(self, link: Link) -> WaitPath:
        """The path that begins with a link on which items wait."""
        wait_path = WaitPath()
        self._stalled(link, wait_path)
        wait_path.shared_port = wait_path.shared_port or wait_path.last
        return wait_path

    def why_starved(self, link: Link) -> WaitPath:
        """The path that begins with a link on which too few items come."""
        wait_path = WaitPath()
        self._starved(link, wait_path)
        return wait_path

    # ---- Downstream: which instance stalls, and why ------------------------------------------------------------------

    def _stalled(self, link: Link, wait_path: WaitPath) -> None:
        here = self.machine.instances[link.target.path]
        if self._closes_loop(link, wait_path):
            return
        wait_path.steps.append(Step(link))
        needs = here.needs(link.target.port, link.target.lane, "ack")
        by_declaration = [out for out in here.out if (out.source.port, out.source.lane) in needs.acks]
        outs = by_declaration or here.out
        worst = most(outs, "waiting")
        rivals = self._rivals(here, link, worst) if by_declaration else []
        if rivals:
            wait_path.shared_port = link
        if worst and worst.waiting >= max(NEGLIGIBLE, EXPLAINS * link.waiting):
            self._note(wait_path, "is stalled at its output")
            return self._stalled(worst, wait_path)
        if rivals and self._shares_output(here, link, worst, rivals, wait_path):
            return None
        if outlet := self._never_empty(here, link):
            return self._fills(outlet, wait_path)
        if self._lacks_partner(here, link, needs.datas, wait_path):
            return None
        for requester, reason in self._held_by(here, link, needs.datas):
            if self._held_up(requester, link.waiting, wait_path, reason):
                return None
        if not by_declaration and (loop := self._loop_of_credits(here, link)):
            wait_path.cause = Cause("loop", here.path, loop)
            return None
        wait_path.cause = Cause("busy", here.path)
        return None

    @staticmethod
    def _rivals(here: Instance, link: Link, out: Link) -> list[Link]:
        """The other inputs that need the same output."""
        output = out.source.port, out.source.lane
        return [
            other for other in here.into
            if other is not link and output in here.needs(other.target.port, other.target.lane, "ack").acks
        ]  # fmt: skip

    def _shares_output(self, here: Instance, link: Link, out: Link, rivals: list[Link], wait_path: WaitPath) -> bool:
        """Whether others keep the output busy that this link needs."""
        taken = min(out.moved, sum(other.moved for other in rivals))
        if out.waiting + taken < EXPLAINS * link.waiting:
            return False
        if out.moved >= FULL:
            self._note(wait_path, "shares one output among several inputs")
            wait_path.steps.append(Step(out))
            wait_path.cause = Cause("port", str(out.source))
        elif out.waiting >= NEGLIGIBLE:
            self._note(wait_path, "serves other inputs meanwhile")
            self._stalled(out, wait_path)
        else:
            wait_path.cause = Cause("busy", here.path)
        return True

    @staticmethod
    def _never_empty(here: Instance, link: Link) -> Link | None:
        """The output that forwards what comes in here, item for item, and offers one in nearly every cycle.

        In a cycle of another clock than the input's, that is: otherwise the output would wait as long as the input.
        """
        return most(
            (
                out for out in here.out
                if out.offered >= FULL and SAME < out.transferred / max(1, link.transferred) < 1 / SAME
                and (here.is_request(out) or not here.reply_of(out.source.port))
            ), "transferred",
        )  # fmt: skip

    def _fills(self, outlet: Link, wait_path: WaitPath) -> None:
        """The port behind an output that is never empty: it accepts one item a cycle, its maximum, or fewer."""
        self._note(wait_path, "always has an item to send")
        if outlet.moved < FULL:
            return self._stalled(outlet, wait_path)
        wait_path.steps.append(Step(outlet))
        wait_path.shared_port = wait_path.steps[-2].link
        wait_path.cause = Cause("port", str(outlet.target))
        return None

    def _lacks_partner(self, here: Instance, link: Link, datas: frozenset, wait_path: WaitPath) -> bool:
        """Whether the instance accepts this item only together with another that does not come."""
        mine = link.target.port, link.target.lane
        for other in here.into:
            theirs = other.target.port, other.target.lane
            if theirs == mine or theirs not in datas or other.idle < SAME * link.waiting:
                continue
            if mine in here.needs(*theirs, "ack").datas:
                self._note(wait_path, "lacks the matching item")
                self._starved(other, wait_path)
                return True
        return False

    def _held_by(self, here: Instance, link: Link, datas: frozenset) -> Iterable[tuple[Instance, str]]:
        """Which instance may wait for a reply while `here` stalls: itself, or one that its acceptance depends on."""
        replies = {here.reply_of(request.source.port) for request in here.requests}
        if self._requests_for_each(here, link) or replies & {port for port, _ in datas}:
            yield here, "waits for the reply to its request"
        sources = {other.source.path for other in here.into if (other.target.port, other.target.lane) in datas}
        senders = [self.machine.instances[path] for path in sorted(sources - {link.source.path, here.path})]
        # Who counts that it is busy for so long comes before those of whom that is only assumed.
        busy_longest = {one.path: (one.busy or 0.0) >= EXPLAINS * link.waiting for one in senders}
        waits = {one.path: max((out.waiting for out in one.out), default=0.0) for one in senders}
        for other in sorted(senders, key=lambda one: (not busy_longest[one.path], -waits[one.path])):
            yield other, f"is stalled by {other.path}"

    def _held_up(self, requester: Instance, share: float, wait_path: WaitPath, reason: str) -> bool:
        """Whether the wait is for a reply; follows it to where the request waits, or to who replies late."""
        outs = [out for out in requester.out if out.waiting >= max(NEGLIGIBLE, EXPLAINS * share)]
        if requester.path != wait_path.last.target.path and outs:
            self._note(wait_path, reason)
            self._stalled(most(outs, "waiting"), wait_path)
            return True
        requests = self._along(requester.requests)
        worst = max((link.waiting for link, _ in requests), default=0.0)
        if worst >= max(NEGLIGIBLE, EXPLAINS * share):
            # Equal waits are one wait, seen at each connection of its path.
            self._note(wait_path, reason)
            self._stalled(next(link for link, _ in requests if link.waiting >= SAME * worst), wait_path)
            return True
        servers = [(link, flow) for link, flow in requests if self._may_delay(link, flow, EXPLAINS * share)]
        if servers:
            # An instance that only forwards requests takes as long as those behind it.
            servers = [(link, flow) for link, flow in servers if not self._forwards(link)] or servers
            # Of those that most of the requests pass, the last one.
            most_requests = SAME * max(flow for _, flow in servers)
            slowest = [link for link, flow in servers if flow >= most_requests][-1]
            self._note(wait_path, reason)
            wait_path.shared_port = max((step.link for step in wait_path.steps), key=lambda one: one.waiting)
            wait_path.steps.append(Step(slowest))
            wait_path.cause = Cause("reply", slowest.target.path)
        elif requester.path != wait_path.last.target.path and (requester.busy or 0.0) >= EXPLAINS * share:
            self._note(wait_path, reason)
            wait_path.cause = Cause("reply", requester.path)
        return wait_path.cause is not None

    def _may_delay(self, link: Link, flow: int, share: float) -> bool:
        """Whether the target of a link may delay a requester for this share of the time: `flow` requests came."""
        here = self.machine.instances[link.target.path]
        assumed = flow * LONGEST_REPLY / link.cycles if here.busy is None else here.busy
        return here.delays(link) and assumed >= share

    def _forwards(self, link: Link) -> bool:
        """Whether the target of a link sends a request of its own for each that comes, and counts no busy time."""
        here = self.machine.instances[link.target.path]
        return here.busy is None and self._requests_for_each(here, link)

    @staticmethod
    def _requests_for_each(here: Instance, link: Link) -> bool:
        """Whether an instance sends one request for each item that comes in on a link."""
        return any(SAME < one.transferred / max(1, link.transferred) < 1 / SAME for one in here.requests)

    def onward(self, link: Link) -> list[Link]:
        """The links that requests of the instance at the end of a link may pass."""
        return [one for one, _ in self._along(self.machine.instances[link.target.path].requests)]

    def _along(self, requests: list[Link]) -> list[tuple[Link, int]]:
        """The links that requests may pass, in order of distance, and how many of them pass there at most."""
        flows = {request: request.transferred for request in requests}
        near = list(requests)
        while near:
            link = near.pop(0)
            here = self.machine.instances[link.target.path]
            onward = here.requests
            if not onward and not here.reply_of(link.target.port):  # it only forwards items
                came = link.target.port, link.target.lane
                onward = [o for o in here.out if came in here.needs(o.source.port, o.source.lane, "data").datas]
            for out in onward:
                flow = min(flows[link], out.transferred)
                if out not in flows or flow > flows[out]:
                    flows[out] = flow
                    near.append(out)
        return list(flows.items())

    # ---- Upstream: which instance sends too little, and why ----------------------------------------------------------

    def _starved(self, link: Link, wait_path: WaitPath) -> None:
        here = self.machine.instances[link.source.path]
        if self._closes_loop(link, wait_path):
            return
        wait_path.steps.append(Step(link))
        waiting = most(here.into, "waiting")
        if waiting and waiting.waiting >= max(NEGLIGIBLE, EXPLAINS * link.idle):
            self._note(wait_path, "is slower than its input")
            return self._stalled(waiting, wait_path)
        if supply := self._starving_input(here, link):
            self._note(wait_path, "is starved")
            return self._starved(supply, wait_path)
        wait_path.cause = Cause("source", here.path)
        return None

    def _starving_input(self, here: Instance, link: Link) -> Link | None:
        """The input that a starving output depends on: of those that starve too, the one with the closest count."""
        needs = here.needs(link.source.port, link.source.lane, "data").datas
        replies = {here.reply_of(out.source.port) for out in here.requests}
        inputs = [
            one for one in here.into
            if one.idle >= SAME * link.idle and one.target.port not in replies
            and (not needs or (one.target.port, one.target.lane) in needs)
        ]  # fmt: skip
        return min(inputs, key=lambda one: (abs(one.transferred - link.transferred), str(one)), default=None)

    def _loop_of_credits(self, here: Instance, link: Link) -> tuple[str, ...]:
        """The loop from an instance that sends nothing, though items wait, back to itself, if there is one."""
        if not here.out or any(link.waiting < SAME * out.idle for out in here.out):
            return ()
        replies = {here.reply_of(request.source.port) for request in here.requests}
        for credit in here.into:
            if credit is link or credit.target.port in replies or credit.idle < SAME * link.waiting or not credit.moved:
                continue
            trail, one = [here.path], credit
            while one and one.source.path not in trail:
                trail.insert(1, one.source.path)
                one = self._starving_input(self.machine.instances[one.source.path], one)
            if one and one.source.path == here.path:
                return tuple(trail)
        return ()

    # ---- Both --------------------------------------------------------------------------------------------------------

    @staticmethod
    def _note(wait_path: WaitPath, reason: str) -> None:
        wait_path.steps[-1] = Step(wait_path.last, reason)

    @staticmethod
    def _closes_loop(link: Link, wait_path: WaitPath) -> bool:
        """Ends the path when it has come back to where it was."""
        links = [step.link for step in wait_path.steps]
        if link not in links:
            return False
        members = dict.fromkeys(one.target.path for one in links[links.index(link) :])
        wait_path.cause = Cause("loop", next(iter(members)), tuple(members))
        return True
