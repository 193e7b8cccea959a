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
TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")  # what programs on the machine ask of a terminal
MILLISECOND = 10**12  # femtoseconds
TAIL = 65536  # bytes of a file that are looked at
LONGEST = 60  # of a line that is shown


def without(text: str) -> str:
    """What a simulator said, without how far it was."""
    return SHOWN.sub("", text)


@dataclass(frozen=True)
class Seen:
    """The end of a log."""

    far: dict[str, Any] | None  # how far the run is, as --progress=json writes it
    line: str  # the last line of anything else

    @property
    def text(self) -> str:
        """Both, in a few words."""
        far = [f"{self.far['time_fs'] / MILLISECOND:.3f} ms"] if self.far else []
        return ", ".join([*far, *filter(None, [self.line])])


def look(log: Path) -> Seen:
    """What a run said last; OSError if its log is no longer there."""
    with log.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - TAIL))
        text = opened.read().decode(errors="replace")
    far = SHOWN.findall(text)
    lines = [line.strip() for line in TERMINAL.sub("", without(text)).splitlines() if line.strip()]
    return Seen(json.loads(far[-1]) if far else None, lines[-1][:LONGEST] if lines else "")


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
