"""Recorded events as `lss trace --json` gives them, which names code and decodes values."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from harness.run import compiler, process
from harness.trace.decode import decode


class EventsError(Exception):
    """The file cannot be read, or has not recorded what is asked for; the text says so in a line."""


class Source(msgspec.Struct):
    """What records are of."""

    path: str
    event: str
    clock: str
    core: str | None = None


class Header(msgspec.Struct):
    """The machine, and all sources by number."""

    machine: str
    ticks_per_second: int
    clocks: dict[str, int]
    sources: list[Source]


class Record(msgspec.Struct):
    """An event."""

    source: int
    cycle: int
    instant: int
    arguments: dict[str, int | float | bool | str]
    function: str | None = None
    inlined: list[str] = []  # functions to which the instruction belongs, the innermost first


@dataclass
class Events:
    """A file of recorded events."""

    file: Path
    build: Path

    def __post_init__(self) -> None:
        self.header = self._header()

    def _lines(self) -> Iterator[bytes]:
        try:
            command = [compiler.find(self.build), "trace", process.word(self.file), "--json"]
        except compiler.CompilerError as error:
            raise EventsError(str(error)) from None
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdout and running.stderr
            yield from running.stdout
            said = running.stderr.read().decode(errors="surrogateescape")
        if running.returncode:
            raise EventsError(said.strip())

    def _header(self) -> Header:
        lines = self._lines()
        first = next(lines, b"")  # without a line it ends, and says why
        if isinstance(lines, Iterator) and hasattr(lines, "close"):
            lines.close()
        return decode(first, msgspec.json.Decoder(Header))

    def __iter__(self) -> Iterator[Record]:
        lines = self._lines()
        next(lines, None)
        decoder = msgspec.json.Decoder(Record)
        for line in lines:
            yield decode(line, decoder)

    def nanoseconds(self, instant: int) -> float:
        return instant * 1e9 / self.header.ticks_per_second
