"""The life of each frame in a network interface, from recorded events.

A frame is a stretch of the interface's memory between the event that fills it and the one that empties it: from
`received` to the DMA transfer outward that reads it, or from the DMA transfers inward that write it to `sent`.  Which
events these are follows from their arguments (address, length, outward), whatever the machine is.  On the wire frames
keep their order.  Where instructions were recorded, a handler is a function that computed an address that a device was
given for the frame, its own or that of a transfer of a part of it, since that memory was used for another frame: other
numbers that happen to lie within it may be anything.
"""

from collections import Counter, defaultdict, deque
from dataclasses import asdict, dataclass, field

from harness.trace.events import Events, EventsError, Record, Source


@dataclass
class Step:
    """Something that happened to a frame."""

    what: str  # on the wire, received, dma, sent, dropped
    path: str
    ns: float


@dataclass
class Handler:
    """A function that dealt with a frame."""

    core: str
    function: str
    first_ns: float
    last_ns: float
    instructions: int = 1  # whose result was an address of the frame
    inlined: list[str] = field(default_factory=lambda: [])  # functions inlined in it that these belong to

    @property
    def name(self) -> str:
        """With the functions that are inlined in it."""
        inner = f" ({', '.join(self.inlined)} inlined)" if self.inlined else ""
        return f"{self.core}:{self.function}{inner}"


@dataclass
class Frame:
    """A frame, with what happened to it in order."""

    number: int  # in its direction, from 1 on
    direction: str  # receive, send
    bytes: int
    address: int = 0
    parts: list[int] = field(default_factory=list)  # addresses of transfers
    steps: list[Step] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    dropped: bool = False
    finished: bool = False

    @property
    def first_ns(self) -> float:
        return min([step.ns for step in self.steps] + [handler.first_ns for handler in self.handlers])

    @property
    def last_ns(self) -> float:
        return max(step.ns for step in self.steps)

    @property
    def latency_ns(self) -> float:
        return self.last_ns - self.first_ns

    def covers(self, address: int, length: int) -> bool:
        return address < self.address + self.bytes and self.address < address + length


class _Lives:
    """Frames as their events come."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.frames: list[Frame] = []
        self.numbers: Counter[str] = Counter()  # by direction, the last one given
        self.waiting: deque[Frame] = deque()  # received, and not carried to the host
        self.early: deque[Step] = deque()  # ends on the wire of frames that are not known to be sent
        self.read: deque[tuple[int, int, Step]] = deque(maxlen=1024)  # DMA inward: address, length
        self.played: dict[str, deque[Step]] = defaultdict(deque)  # by wire: on their way to the interface
        self.sent: dict[str, deque[Frame]] = defaultdict(deque)  # on their way to the wire
        # instant, result, processor, function, functions inlined in it
        self.values: list[tuple[int, int, Source, str, list[str]]] = []

    def _add(self, direction: str, length: int, address: int, steps: list[Step]) -> Frame:
        self.numbers[direction] += 1
        frame = Frame(self.numbers[direction], direction, length, address, steps=steps)
        self.frames.append(frame)
        return frame

    def _from_wire(self) -> list[Step]:
        """The frame that has been on the wire for longest; with several wires it is not known."""
        if len(self.played) != 1:
            return []
        (queue,) = self.played.values()
        return [queue.popleft()] if queue else []

    def received(self, step: Step, address: int, length: int) -> None:
        self.waiting.append(self._add("receive", length, address, [*self._from_wire(), step]))

    def dropped(self, step: Step, length: int) -> None:
        frame = self._add("receive", length, 0, [*self._from_wire(), step])
        frame.dropped = frame.finished = True

    def carried(self, step: Step, outward: bool, address: int, length: int) -> None:
        if not outward:
            self.read.append((address, length, step))
            return
        for frame in self.waiting:
            if frame.covers(address, length):
                frame.steps.append(step)
                frame.parts.append(address)
                frame.finished = True
                self.waiting.remove(frame)
                return

    def sent_to_wire(self, step: Step, address: int, length: int) -> None:
        frame = self._add("send", length, address, [])
        parts = [part for part in self.read if frame.covers(part[0], part[1])]
        for part in parts:
            self.read.remove(part)
        frame.steps = [*(part[2] for part in parts), step]
        frame.parts = [part[0] for part in parts]
        frame.finished = True
        if self.early and self.early[0].ns == step.ns:
            frame.steps.append(self.early.popleft())
        else:
            self.sent[step.path].append(frame)

    def arrived(self, step: Step) -> None:
        """A frame has left the wire.  The device may report in the same instant, but later, that it has sent it."""
        if len(self.sent) > 1:
            return
        queue = next(iter(self.sent.values()), deque())
        if queue:
            queue.popleft().steps.append(step)
        else:
            self.early = deque([*(one for one in self.early if one.ns == step.ns), step])

    def take(self, record: Record) -> None:
        source, values = self.events.header.sources[record.source], record.arguments
        if source.event == "retire":
            if record.function:
                self.values.append((record.instant, int(values["value"]), source, record.function, record.inlined))
            return
        step = Step(source.event, source.path, self.events.nanoseconds(record.instant))
        address, length = int(values.get("address", 0)), int(values.get("length", 0))
        if source.event == "played":
            step.what = "on the wire"
            self.played[source.path].append(step)
        elif source.event == "arrived":
            step.what = "on the wire"
            self.arrived(step)
        elif source.event == "received":
            self.received(step, address, length)
        elif source.event == "drop":
            step.what = "dropped"
            self.dropped(step, length)
        elif source.event == "sent":
            self.sent_to_wire(step, address, length)
        elif source.event == "done" and "outward" in values:
            step.what = "dma"
            self.carried(step, bool(values["outward"]), address, length)


def _last_use(used: list[tuple[float, Frame]], frame: Frame) -> float | None:
    """When the frame's memory was last used for another frame."""
    before = [ns for ns, other in used if other is not frame and other.covers(frame.address, frame.bytes)]
    return max((ns for ns in before if ns < frame.last_ns), default=None)


def _without_start(frame: Frame) -> list[Handler]:
    """Memory that is used for the first time was set up before, which is no handling of the frame."""
    begin = min(step.ns for step in frame.steps)
    earlier = [handler for handler in frame.handlers if handler.last_ns < begin]
    kept = max(earlier, key=lambda one: one.last_ns) if earlier and frame.direction == "send" else None
    return [handler for handler in frame.handlers if handler is kept or handler.last_ns >= begin]


def _add_handlers(lives: _Lives) -> None:
    """Finds who computed the addresses of each frame while it was there."""
    by_value: dict[int, list[tuple[int, Source, str, list[str]]]] = defaultdict(list)
    for instant, value, source, function, inlined in lives.values:
        by_value[value].append((instant, source, function, inlined))
    kept = [frame for frame in lives.frames if frame.address]
    by_page: dict[int, list[tuple[float, Frame]]] = defaultdict(list)
    for frame in kept:
        for page in range(frame.address >> 11, (frame.address + frame.bytes >> 11) + 1):
            by_page[page].append((frame.last_ns, frame))
    for frame in kept:
        pages = range(frame.address >> 11, (frame.address + frame.bytes >> 11) + 1)
        used = _last_use([one for page in pages for one in by_page[page]], frame)
        begin = max(used or 0, min(step.ns for step in frame.steps) if frame.direction == "receive" else 0)
        end, found = frame.last_ns, {}
        computed = (one for address in {frame.address, *frame.parts} for one in by_value[address])
        for instant, source, function, inlined in sorted(computed, key=lambda one: one[0]):
            ns = lives.events.nanoseconds(instant)
            if not begin <= ns <= end:
                continue
            core = source.core or source.path
            handler = found.setdefault((core, function), Handler(core, function, ns, ns, 0))
            handler.last_ns = ns
            handler.instructions += 1
            handler.inlined += [name for name in inlined[:1] if name not in handler.inlined]
        frame.handlers = list(found.values())
        if used is None:
            frame.handlers = _without_start(frame)


def lives(events: Events) -> list[Frame]:
    """All frames, in the order in which they were received or sent."""
    found = _Lives(events)
    for record in events:
        found.take(record)
    if not found.frames:
        raise EventsError(f"{events.file} holds no events of frames: record them with --record-events frames")
    _add_handlers(found)
    return found.frames


def as_records(frames: list[Frame]) -> list[dict]:
    """For JSON."""
    return [{**asdict(frame), "latency_ns": frame.latency_ns} for frame in frames]


def _steps(frame: Frame) -> str:
    """What happened, each with the nanoseconds since the first."""
    begin = frame.first_ns
    happened = [(step.ns, step.what if step.what != "dma" else f"dma {step.path}") for step in frame.steps]
    happened += [(one.first_ns, one.name) for one in frame.handlers]
    return ", ".join(f"{what} +{ns - begin:,.0f}" for ns, what in sorted(happened))


def _summary(frames: list[Frame], direction: str) -> str:
    latencies = sorted(frame.latency_ns for frame in frames if frame.direction == direction and frame.finished)
    dropped = sum(frame.dropped for frame in frames if frame.direction == direction)
    open_ones = sum(not frame.finished for frame in frames if frame.direction == direction)
    if not latencies:
        return f"{direction}: none"
    middle = latencies[len(latencies) // 2]
    return (
        f"{direction}: {len(latencies)} frames, {dropped} of them dropped, {open_ones} not finished; latency, ns: "
        f"least {latencies[0]:,.0f}, median {middle:,.0f}, most {latencies[-1]:,.0f}"
    )


def text(frames: list[Frame], most: int) -> str:
    """A line for each of the first frames, and a summary of all."""
    out = [f"{'frame':>6} {'':8} {'bytes':>6} {'begins, ns':>12} {'lasts, ns':>10}  what happens to it, ns after that"]
    for frame in frames[:most]:
        out.append(
            f"{frame.number:6} {frame.direction:8} {frame.bytes:6} {frame.first_ns:12,.0f} {frame.latency_ns:10,.0f}  "
            + _steps(frame)
        )
    if len(frames) > most:
        out.append(f"… and {len(frames) - most} more")
    return "\n".join([*out, *(_summary(frames, direction) for direction in ("receive", "send"))])
