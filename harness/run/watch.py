"""What is seen of simulations that are being made: how far the latest one is, and the last line that it printed.

A simulator says with --progress=json how far it is; that, and what the machine prints, is in the log in its directory.
"""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRESS = "--progress=json"
# As a simulator writes it, also in the middle of a line of the machine.
SHOWN = re.compile(r'\{"time_fs": \d+, "cycles": \{[^{}\n]*\}, "per_second": [^{},\n]+, "share": [^{},\n]+\}\n')
UNFINISHED = re.compile(r'\{"time_fs": [^\n]*\Z')  # while it is written
TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")  # what programs on the machine ask of a terminal
MILLISECOND, SECOND = 10**12, 10**15  # femtoseconds
TAIL = 1 << 16  # bytes of a file that are looked at
MOST = 1 << 22  # likewise, where a machine is silent for long
LONGEST = 60  # of a line that is shown


def without(text: str) -> str:
    """What a simulator said, without how far it was."""
    return SHOWN.sub("", text)


def time_words(femtoseconds: int) -> str:
    """A simulated time for people."""
    if femtoseconds >= SECOND:
        return f"{femtoseconds / SECOND:.3f} s"
    return f"{femtoseconds / MILLISECOND:.3f} ms"


def printed(text: str) -> list[str]:
    """The lines of what a machine printed that hold anything, without what they ask of a terminal."""
    return [line.strip() for line in TERMINAL.sub("", text).splitlines() if line.strip()]


@dataclass(frozen=True)
class Seen:
    """The end of a log."""

    far: dict[str, Any] | None  # how far the run is, as --progress=json writes it
    line: str  # the last line of anything else

    @property
    def text(self) -> str:
        """Both, in a few words."""
        far = [time_words(self.far["time_fs"])] if self.far else []
        return ", ".join([*far, *filter(None, [self.line])])


def last_seen(text: str) -> Seen:
    """What the text of a log says last."""
    far = SHOWN.findall(text)
    lines = printed(UNFINISHED.sub("", without(text)))
    return Seen(json.loads(far[-1]) if far else None, lines[-1][:LONGEST] if lines else "")


def look(log: Path) -> Seen:
    """What a run said last; OSError if its log is no longer there."""
    size = TAIL
    with log.open("rb") as opened:
        end = opened.seek(0, os.SEEK_END)
        while True:
            opened.seek(max(0, end - size))
            text = opened.read(size).decode(errors="replace")
            seen = last_seen(text if size >= end else text.partition("\n")[2])  # without the rest of a line
            if seen.line or size >= min(end, MOST):
                return seen
            size *= 8


class Watch:
    """Looks at the directories in which this process simulates."""

    def __init__(self, busy: Path) -> None:
        self.busy = busy

    def latest(self) -> str:
        """The run that said something last: how far it is, what it printed last."""
        try:
            logs = sorted(self.busy.glob(f"*-{os.getpid()}-*/log.txt"), key=lambda file: file.stat().st_mtime)
            return look(logs[-1]).text if logs else ""
        except OSError:  # it has just ended
            return ""
