"""The end-to-end check from files alone: what came out of a machine against what went in.

The checker module does the same inside the simulator; this one compares with code of its own, so that one mistake
cannot hide in both.  Frames must come out in order, once, and unchanged but for the MAC's padding; frames may be
missing only as often as the hardware counted drops.  Of correlated traffic each conversation keeps its order, since
conversations do not wait for each other; a frame that was lost and sent again comes later than those behind it.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path

from harness.net import packets, udp


@dataclass
class Verdict:
    """How one direction came out; wrong holds a line for each of the first findings."""

    frames_in: int = 0
    frames_out: int = 0
    missing: int = 0
    duplicated: int = 0
    reordered: int = 0
    damaged: int = 0
    resent: int = 0  # frames that may come late, because they were lost once
    wrong: list[str] = field(default_factory=list)

    def ok(self, drops: int = 0) -> bool:
        """True when nothing is wrong and exactly `drops` frames are missing."""
        late = self.reordered > self.resent
        return not (self.duplicated or late or self.damaged) and self.missing == drops


def padded(data: bytes) -> bytes:
    """A frame as the MAC puts it on the wire."""
    return data.ljust(udp.MINIMUM_FRAME, b"\0")


def conversation(data: bytes) -> Hashable:
    """What frames have in common that keep their order: protocol, addresses and ports; of anything but IP, the type."""
    kind = data[12:14]
    if kind == b"\x86\xdd":
        return data[20], data[22:54], data[54:58] if data[20] in (6, 17) else b""
    if kind != b"\x08\x00" or len(data) < 34:
        return kind
    start = 14 + 4 * (data[14] & 15)
    whole = int.from_bytes(data[20:22], "big") & 0x3FFF == 0
    return data[23], data[26:34], data[start : start + 4] if whole and data[23] in (6, 17) else b""


def compare(
    expected: list[bytes], found: list[bytes], findings: int = 10, key: Callable[[bytes], Hashable] = lambda data: None,
    resent: int = 0,
) -> Verdict:  # fmt: skip
    """Matches found frames with expected ones, in order among those of one `key` but for `resent` that may be late.

    What is never found is missing.
    """
    verdict = Verdict(len(expected), len(found), resent=resent)
    places: dict[bytes, list[int]] = {}
    for index, data in enumerate(expected):
        places.setdefault(padded(data), []).append(index)
    used: Counter[bytes] = Counter()
    furthest: dict[Hashable, int] = {}

    def report(text: str) -> None:
        if len(verdict.wrong) < findings:
            verdict.wrong.append(text)

    for number, data in enumerate(found, 1):
        data = padded(data)
        known = places.get(data)
        if known is None:
            verdict.damaged += 1
            report(f"frame {number} ({len(data)} bytes) was never sent so: {_nearest(data, expected)}")
        elif used[data] >= len(known):
            verdict.duplicated += 1
            report(f"frame {number} came out more often than it went in (frame {known[0] + 1} of the input)")
        else:
            # Identical frames are interchangeable: take the first unused one that keeps the order, if any.
            place = known[used[data]]
            used[data] += 1
            last = furthest.get(key(data), -1)
            if place < last:
                verdict.reordered += 1
                if verdict.reordered <= resent:
                    continue
                report(f"frame {number} is frame {place + 1} of the input, but frame {last + 1} came out before")
            furthest[key(data)] = max(last, place)
    verdict.missing = len(expected) - sum(used.values())
    return verdict


def _nearest(data: bytes, expected: list[bytes]) -> str:
    """Where a damaged frame first differs from the input frame that agrees with it longest."""
    best, length = 0, -1
    for index, candidate in enumerate(expected):
        candidate = padded(candidate)
        same = next((k for k, (a, b) in enumerate(zip(data, candidate, strict=False)) if a != b), None)
        same = min(len(data), len(candidate)) if same is None else same
        if same > length:
            best, length = index, same
    return f"closest is input frame {best + 1}, differing from byte {length}" if expected else "there was no input"


def check_files(
    expected: Path | None, found: Path | None, conversations: bool = False, resent: int = 0, build: Path | None = None
) -> Verdict:
    """compare() on two packet files; None is a direction without traffic.  With a build folder, files of any format."""
    files = [[packet.data for packet in packets.read(path, build)] if path else [] for path in (expected, found)]
    return compare(*files, key=conversation, resent=resent) if conversations else compare(*files)
