"""Records of links (lss/runtime/link/record_format.h): what one link of a network carried in a run."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.trace.events import EventsError

WORD, FORMAT = b"SPINLINK", 1
START = struct.Struct("<8sII64sQQQ4I")
END = struct.Struct("<QQII240s32s")
MEMBER = re.compile(r"([\w]+)@(\d+):(\d+)")


@dataclass(frozen=True)
class Message:
    """A frame of several items, or an item alone; instants in ticks, of its first item and of its last one."""

    number: int
    bytes: int  # of a frame
    sent: tuple[int, int]
    arrives: tuple[int, int]


@dataclass(frozen=True)
class LinkRecord:
    path: str
    sender: str
    receiver: str
    ticks_per_second: int
    messages: list[Message]

    def nanoseconds(self, instant: int) -> float:
        return instant * 1e9 / self.ticks_per_second


def _entries(content: bytes, at: int, size: int) -> Iterator[tuple[int, int, bytes]]:
    stride = 16 + -(-size // 8) * 8
    for place in range(at, len(content) - END.size, stride):
        sent, arrives = struct.unpack_from("<QQ", content, place)
        yield sent, arrives, content[place + 16 : place + 16 + size]


def _messages(entries: Iterator[tuple[int, int, bytes]], members: dict[str, int]) -> Iterator[Message]:
    """Items whose type says where frames start and end are frames."""
    start, end, count = (members.get(name) for name in ("start", "end", "count"))
    number, first, length = 0, None, 0
    for sent, arrives, item in entries:
        if first is None or (start is not None and item[start]):
            first, length = (sent, arrives), 0
        length += item[count] if count is not None else 0
        if start is None or end is None or item[end]:
            yield Message(number, length, (first[0], sent), (first[1], arrives))
            number, first = number + 1, None


def read(file: Path) -> LinkRecord:
    """Reads the record of a run that has ended."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise EventsError(f"{file}: {error.strerror}") from None
    if len(content) < START.size + END.size or content[: len(WORD)] != WORD:
        raise EventsError(f"{file}: it is no record of a link")
    _, version, size, _, ticks, _, _, *sizes = START.unpack_from(content)
    if version != FORMAT:
        raise EventsError(f"{file}: it has format {version}, not {FORMAT} (record the run again)")
    texts, at = [], START.size
    for length in sizes:
        texts.append(content[at : at + length].decode(errors="surrogateescape"))
        at += length
    members = {name: int(place) for name, place, length in MEMBER.findall(texts[1]) if length == "1"}
    messages = list(_messages(_entries(content, -(-at // 8) * 8, size), members))
    return LinkRecord(texts[0], texts[2], texts[3], ticks, messages)
