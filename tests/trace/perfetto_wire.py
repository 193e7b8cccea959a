"""Timelines in Perfetto's format, read from their bytes: what protobuf.dev says of the wire format, and the numbers of fields
from Perfetto's protos/perfetto/trace, without the classes that write them."""

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

SLICE_BEGIN, SLICE_END, INSTANT = 1, 2, 3


class WireError(Exception):
    """Bytes that are no message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise WireError("a number that does not end")
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Numbers of fields and their values: whole numbers, floating point of 64 bits, bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise WireError(f"field {number} is of kind {kind}")
        if not number or at > len(data):
            raise WireError(f"field {number} is cut off")
        yield number, value


def message(data: bytes, known: dict[int, str]) -> dict[str, list]:
    found: dict[str, list] = defaultdict(list)
    for number, value in fields(data):
        if number not in known:
            raise WireError(f"there is no field {number} among {sorted(known)}")
        found[known[number]].append(value)
    return found


@dataclass
class Track:
    uuid: int
    name: str
    parent: int


@dataclass
class Event:
    ns: int
    kind: int
    track: int
    name: str
    arguments: dict[str, int | float | str | bool]
    flows: list[int] = field(default_factory=list)  # of arrows


@dataclass
class Timeline:
    tracks: dict[int, Track] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


def one(found: dict[str, list], name: str, default: int | bytes = 0) -> int | bytes:
    if len(found[name]) > 1:
        raise WireError(f"{name} is there twice")
    return found[name][0] if found[name] else default


def annotation(data: bytes) -> tuple[str, int | float | str | bool]:
    values = {2: bool, 4: lambda n: n - (n >> 63 << 64), 5: float, 6: bytes.decode}
    found = dict(fields(data))
    (number,) = found.keys() - {10}
    return found[10].decode(), values[number](found[number])


def read(data: bytes) -> Timeline:
    timeline = Timeline()
    for packet in message(data, {1: "packet"})["packet"]:
        parts = message(packet, {8: "ns", 10: "sequence", 11: "event", 60: "track"})
        if one(parts, "sequence") == 0 or len(parts["event"]) + len(parts["track"]) != 1:
            raise WireError("a packet is of a sequence, and an event or a track")
        for part in parts["track"]:
            track = message(part, {1: "uuid", 2: "name", 5: "parent", 15: "merge"})
            uuid = one(track, "uuid")
            timeline.tracks[uuid] = Track(uuid, one(track, "name", b"").decode(), one(track, "parent"))
        for part in parts["event"]:
            event = message(part, {4: "annotations", 9: "kind", 11: "track", 23: "name", 47: "flows"})
            arguments = dict(annotation(note) for note in event["annotations"])
            flows = [struct.unpack("<Q", struct.pack("<d", flow))[0] for flow in event["flows"]]  # whole numbers of 64 bits
            timeline.events.append(Event(one(parts, "ns"), one(event, "kind"), one(event, "track"), one(event, "name", b"").decode(), arguments, flows))
    return timeline
