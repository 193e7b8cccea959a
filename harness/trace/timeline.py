"""Recorded events as a timeline in Perfetto's format: a track for each processor, with the functions that it was in,
one for each other instance whose events were recorded, and one for as many frames as were there at a time.

What begins with one event and ends with another is a slice (ENDS), and so is what says how many cycles it took;
any other event is an instant.  What overlaps is on tracks below one another.  ui.perfetto.dev shows it.
"""

import contextlib
import os
import zlib
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

from harness.report.page import shown
from harness.trace import frames
from harness.trace.events import Events, EventsError, Record
from harness.trace.link_record import LinkRecord
from harness.trace.profile import UNNAMED

SEQUENCE = 1  # all packets are of one writer
# What ends what, in the order in which it began; a drop says whether it had (`queued`).
ENDS = {
    **dict.fromkeys(("done", "dropped", "sent", "received", "drop"), "begun"),
    **{"played": "playing", "arrived": "arriving"},
}
STARTS = set(ENDS.values())


@dataclass
class _Running:
    """The function that a processor is in."""

    function: str | None = None
    end: int = 0  # ns of the latest instruction


@dataclass
class _Writer:
    """Packets, and the tracks that they are on."""

    builder: TraceProtoBuilder = field(default_factory=TraceProtoBuilder)
    tracks: dict[tuple[str, str, str], int] = field(default_factory=lambda: {})
    part: str = ""  # of a network, whose tracks are shown together

    def track(self, group: str, name: str) -> int:
        """The number of a track, which is made when it is first named; groups are shown together."""
        known = self.tracks.get((self.part, group, name))
        if known is not None:
            return known
        place = f"{self.part}/{group}/{name}" if self.part else f"{group}/{name}"
        number = zlib.crc32(os.fsencode(place)) | len(self.tracks) + 1 << 32
        self.tracks[self.part, group, name] = number
        track = self._packet(0).track_descriptor
        track.uuid, track.name = number, shown(name)
        track.sibling_merge_behavior = TrackDescriptor.SIBLING_MERGE_BEHAVIOR_NONE
        if group:
            track.parent_uuid = self.track("", group)
        elif name and self.part:
            track.parent_uuid = self.track("", "")
        elif self.part:
            track.name = shown(self.part)
        return number

    def _packet(self, ns: int):  # noqa: ANN202 (a generated class)
        packet = self.builder.add_packet()
        packet.timestamp = ns
        packet.trusted_packet_sequence_id = SEQUENCE
        return packet

    def event(
        self, kind: int, track: int, ns: int, name: str = "", arguments: dict | None = None, flow: int = 0
    ) -> None:
        """`flow`: of two events with the same number, which an arrow joins."""
        event = self._packet(ns).track_event
        event.type, event.track_uuid = kind, track
        if flow:
            event.flow_ids.append(flow)
        if name:
            event.name = shown(name)
        for key, value in (arguments or {}).items():
            note = event.debug_annotations.add()
            note.name = key
            if isinstance(value, bool):
                note.bool_value = value
            elif isinstance(value, int):
                note.int_value = value if -(1 << 63) <= value < 1 << 63 else 0
            elif isinstance(value, float):
                note.double_value = value
            else:
                note.string_value = shown(value)

    def piece(
        self, track: int, begin: int, end: int, name: str, arguments: dict | None = None, flow: int = 0
    ) -> None:
        """Something that lasts."""
        self.event(TrackEvent.TYPE_SLICE_BEGIN, track, begin, name, arguments, flow)
        self.event(TrackEvent.TYPE_SLICE_END, track, max(end, begin))

    def instant(self, track: int, ns: int, name: str, arguments: dict | None = None) -> None:
        self.event(TrackEvent.TYPE_INSTANT, track, ns, name, arguments)


def _retire(writer: _Writer, running: _Running, track: int, ns: int, record: Record) -> None:
    function = record.function or UNNAMED
    if function != running.function:
        if running.function is not None:
            writer.event(TrackEvent.TYPE_SLICE_END, track, ns)
        writer.event(TrackEvent.TYPE_SLICE_BEGIN, track, ns, function)
        running.function = function
    running.end = ns


@dataclass
class _Piece:
    """Something that lasts, of an instance."""

    begin: float  # ns
    end: float
    name: str
    arguments: dict


@dataclass
class _Pieces:
    """What instances do: slices are known when they end."""

    open: dict[tuple[str, str], deque[_Piece]] = field(default_factory=lambda: defaultdict(deque))
    whole: dict[tuple[str, str], list[_Piece]] = field(default_factory=lambda: defaultdict(list))

    def take(self, path: str, event: str, ns: float, cycle: float, arguments: dict) -> bool:
        """Whether the event is part of a slice; `cycle` is how long one of its clock takes."""
        if event in STARTS:
            self.open[path, event].append(_Piece(ns, ns, event, arguments))
            return True
        start = ENDS.get(event, event)
        if event in ENDS and self.open[path, start] and arguments.get("queued", True):
            piece = self.open[path, start].popleft()
        elif "cycles" in arguments:
            piece = _Piece(ns - arguments["cycles"] * cycle, ns, event, arguments)
        else:
            return False
        length = f" {arguments['length']} bytes" if "length" in arguments else ""
        self.whole[path, start].append(_Piece(piece.begin, ns, f"{event}{length}", piece.arguments | arguments))
        return True

    def write(self, writer: "_Writer", group_of: dict[str, str], end: float) -> None:
        """Each on the first track of its kind that is free; what has not ended lasts as long as the recording."""
        for kind, rest in self.open.items():
            self.whole[kind] += [_Piece(one.begin, end, one.name, one.arguments | {"ended": False}) for one in rest]
        for (path, start), pieces in self.whole.items():
            several = sum(other == path for other, _ in self.whole) > 1
            name, lanes = f"{path} {start}" if several else path, []
            for piece in sorted(pieces, key=lambda one: one.begin):
                lane = _free_lane(lanes, piece.begin, piece.end)
                track = writer.track(group_of[path], name if lane == 0 else f"{name} {lane + 1}")
                writer.piece(track, round(piece.begin), round(piece.end), piece.name, piece.arguments)


def _free_lane(ends: list[float], begin: float, end: float) -> int:
    """The first lane that ended before; notes when it ends now."""
    lane = next((i for i, last in enumerate(ends) if last <= begin), len(ends))
    ends[lane:lane + 1] = [end]
    return lane


def _add_events(writer: _Writer, events: Events) -> int:
    """Processors and all else but frames; returns how many records there were."""
    running: dict[str, _Running] = {}
    pieces, groups = _Pieces(), {}
    count, ns = 0, 0.0
    for record in events:
        count += 1
        source = events.header.sources[record.source]
        ns = events.nanoseconds(record.instant)
        if source.event == "retire":
            core = source.core or source.path
            track = writer.track("processors", core)
            _retire(writer, running.setdefault(core, _Running()), track, round(ns), record)
            continue
        group = "ports" if " -> " in source.path else "memory" if source.event == "access" else "devices"
        groups[source.path] = group
        cycle = events.nanoseconds(events.header.clocks[source.clock])
        if pieces.take(source.path, source.event, ns, cycle, record.arguments):
            continue
        more = {"function": record.function} if record.function else {}
        writer.instant(writer.track(group, source.path), round(ns), source.event, record.arguments | more)
    for core, last in running.items():
        writer.event(TrackEvent.TYPE_SLICE_END, writer.track("processors", core), last.end)
    pieces.write(writer, groups, ns)
    return count


def _add_frames(writer: _Writer, found: list[frames.Frame]) -> None:
    """Each on the first track that is free while it is there."""
    lanes: dict[str, list[float]] = defaultdict(list)
    for frame in sorted(found, key=lambda one: one.first_ns):
        end = max(frame.last_ns, *(one.last_ns for one in frame.handlers), frame.last_ns)
        lane = _free_lane(lanes[frame.direction], frame.first_ns, end)
        track = writer.track("frames", f"{frame.direction} {lane:03}")
        facts = {"bytes": frame.bytes, "address": frame.address, "dropped": frame.dropped}
        begin = round(frame.first_ns)
        writer.event(TrackEvent.TYPE_SLICE_BEGIN, track, begin, f"{frame.direction} {frame.number}", facts)
        for handler in frame.handlers:
            writer.instant(track, round(handler.first_ns), f"{handler.core}:{handler.function}")
        for step in frame.steps:
            writer.instant(track, round(step.ns), f"{step.what} {step.path}")
        writer.event(TrackEvent.TYPE_SLICE_END, track, round(end))


def _add_all(writer: _Writer, events: Events) -> int:
    """Returns how many records there were."""
    count = _add_events(writer, events)
    with contextlib.suppress(EventsError):  # none were recorded
        _add_frames(writer, frames.lives(events))
    return count


def _add_link(writer: _Writer, link: LinkRecord, number: int) -> int:
    """What a link carried, on a track of each part at its ends, with arrows; returns the next number of an arrow."""
    for message in link.messages:
        name = f"{message.number}" + (f": {message.bytes} bytes" if message.bytes else "")
        ends = ((link.sender, "sent", message.sent), (link.receiver, "arrives", message.arrives))
        for part, what, (first, last) in ends:
            writer.part = part
            track = writer.track("links", f"{link.path} {what}")
            writer.piece(track, round(link.nanoseconds(first)), round(link.nanoseconds(last)), name, flow=number)
        number += 1
    return number


def encode(events: Events) -> bytes:
    """The timeline."""
    writer = _Writer()
    if not _add_all(writer, events):
        raise EventsError(f"{events.file} holds no records")
    return writer.builder.serialize()


def encode_parts(parts: Sequence[tuple[str, Events]], links: Iterable[LinkRecord]) -> bytes:
    """The timeline of a network: a group of tracks for each part, and arrows for what links carried."""
    writer = _Writer()
    for path, events in parts:
        writer.part = path
        _add_all(writer, events)
    number = 1
    for link in links:
        number = _add_link(writer, link, number)
    return writer.builder.serialize()
