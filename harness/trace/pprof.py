"""Profiles in pprof's format: gzipped protobuf, of which this writes the few messages that a profile needs.

The numbers of fields are those of profile.proto of github.com/google/pprof.
"""

import gzip
from collections.abc import Iterable

from harness.report.page import shown
from harness.trace.profile import Core, Profile, chains


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _packed(field: int, numbers: Iterable[int]) -> bytes:
    return _bytes(field, b"".join(map(_varint, numbers)))


class _Strings:
    """The table of texts, of which the first is empty."""

    def __init__(self) -> None:
        self.numbers = {"": 0}

    def __getitem__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


class _Functions:
    """Functions by name: where each begins, and its number, which is that of its location too."""

    def __init__(self, cores: list[Core]) -> None:
        self.numbers: dict[str, int] = {}
        self.begins: dict[str, tuple[int, str, int]] = {}
        for core in cores:
            for place in core.places:
                if place.innermost and place.innermost not in self.begins:
                    self.begins[place.innermost] = (place.pc, place.file or "", place.line)

    def __getitem__(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers) + 1)

    def encoded(self, strings: _Strings) -> bytes:
        out = b""
        for name, number in self.numbers.items():
            address, file, line = self.begins.get(name, (0, "", 0))
            where = _number(1, number) + _number(2, line)
            out += _bytes(4, _number(1, number) + _number(3, address) + _bytes(4, where))
            named = _number(1, number) + _number(2, strings[name]) + _number(3, strings[name])
            out += _bytes(5, named + _number(4, strings[file]) + _number(5, line))
        return out


def encode(profile: Profile, cores: list[Core]) -> bytes:
    """The file: a sample for each chain of callers, with its processor as label."""
    strings, functions, samples = _Strings(), _Functions(cores), b""
    kinds = [("cycles", "count"), ("instructions", "count")]
    for core in cores:
        label = _bytes(3, _number(1, strings["core"]) + _number(2, strings[core.path]))
        for names, call in chains(core):
            if names and (call.cycles or call.instructions):
                places = _packed(1, (functions[name] for name in reversed(names)))
                samples += _bytes(2, places + _packed(2, (call.cycles, call.instructions)) + label)
    types = b"".join(_bytes(1, _number(1, strings[kind]) + _number(2, strings[unit])) for kind, unit in kinds)
    tables = functions.encoded(strings)
    duration = (profile.ended - profile.begun) * 1_000_000_000 // profile.ticks_per_second
    rest = _number(10, duration) + _number(14, strings["cycles"])
    texts = b"".join(_bytes(6, shown(text).encode()) for text in strings.numbers)
    return gzip.compress(types + samples + tables + texts + rest, mtime=0)
