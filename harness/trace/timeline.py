"""Recorded events as a timeline in Perfetto's format: a track for each processor, with the functions that it was in,
one for each other instance whose events were recorded, and one for as many frames as were there at a time.

ui.perfetto.dev shows it.
"""

import zlib
from dataclasses import dataclass, field

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

from harness.trace import frames
from harness.trace.events import Events, EventsError, Record
from harness.trace.profile import UNNAMED

SEQUENCE = 1  # all packets are of one writer


@dataclass
class _Running:
    """The function that a processor is in."""

    function: str | None = None
    end: int = 0  # ns of the latest instruction


@dataclass
class _Writer:
    """Packets, and the tracks that they are on."""

    builder: TraceProtoBuilder = field(default_factory=TraceProtoBuilder)
    tracks: dict[tuple[str, str], int] = field(default_factory=lambda: {})

    def track(self, group: str, name: str) -> int:
        """The number of a track, which is made when it is first named; groups are shown together."""
        known = self.tracks.get((group, name))
        if known is not None:
            return known
        number = zlib.crc32(f"{group}/{name}".encode()) | len(self.tracks) + 1 << 32
        self.tracks[group, name] = number
        track = self._packet(0).track_descriptor
        track.uuid, track.name = number, name
        track.sibling_merge_behavior = TrackDescriptor.SIBLING_MERGE_BEHAVIOR_NONE
        if group:
            track.parent_uuid = self.track("", group)
        return number

    def _packet(self, ns: int):  # noqa: ANN202 (a generated class)
        packet = self.builder.add_packet()
        packet.timestamp = ns
        packet.trusted_packet_sequence_id = SEQUENCE
        return packet

    def event(self, kind: int, track: int, ns: int, name: str = "", arguments: dict | None = None) -> None:
        event = self._packet(ns).track_event
        event.type, event.track_uuid = kind, track
        if name:
            event.name = name
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
                note.string_value = value

    def piece(self, track: int, begin: int, end: int, name: str, arguments: dict | None = None) -> None:
        """Something that lasts."""
        self.event(TrackEvent.TYPE_SLICE_BEGIN, track, begin, name, arguments)
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


def _add_events(writer: _Writer, events: Events) -> int:
    """Processors and all else but frames; returns how many records there were."""
    running: dict[str, _Running] = {}
    count = 0
    for record in events:
        count += 1
        source = events.header.sources[record.source]
        ns = round(events.nanoseconds(record.instant))
        if source.event == "retire":
            core = source.core or source.path
            _retire(writer, running.setdefault(core, _Running()), writer.track("processors", core), ns, record)
            continue
        group = "ports" if " -> " in source.path else "memory" if source.event == "access" else "devices"
        more = {"function": record.function} if record.function else {}
        writer.instant(writer.track(group, source.path), ns, source.event, record.arguments | more)
    for core, last in running.items():
        writer.event(TrackEvent.TYPE_SLICE_END, writer.track("processors", core), last.end)
    return count


def _add_frames(writer: _Writer, found: list[frames.Frame]) -> None:
    """Each on the first track that is free while it is there."""
    ends: dict[str, list[float]] = {}
    for frame in sorted(found, key=lambda one: one.first_ns):
        lanes = ends.setdefault(frame.direction, [])
        lane = next((i for i, end in enumerate(lanes) if end < frame.first_ns), len(lanes))
        if lane == len(lanes):
            lanes.append(0.0)
        lanes[lane] = max(frame.last_ns, *(one.last_ns for one in frame.handlers), frame.last_ns)
        track = writer.track("frames", f"{frame.direction} {lane}")
        facts = {"bytes": frame.bytes, "address": frame.address, "dropped": frame.dropped}
        begin = round(frame.first_ns)
        writer.event(TrackEvent.TYPE_SLICE_BEGIN, track, begin, f"{frame.direction} {frame.number}", facts)
        for handler in frame.handlers:
            writer.instant(track, round(handler.first_ns), f"{handler.core}:{handler.function}")
        for step in frame.steps:
            writer.instant(track, round(step.ns), f"{step.what} {step.path}")
        writer.event(TrackEvent.TYPE_SLICE_END, track, round(lanes[lane]))


def encode(events: Events) -> bytes:
    """The timeline."""
    writer = _Writer()
    count = _add_events(writer, events)
    try:
        _add_frames(writer, frames.lives(events))
    except EventsError:  # none were recorded
        if not count:
            raise EventsError(f"{events.file} holds no records") from None
    return writer.builder.serialize()
