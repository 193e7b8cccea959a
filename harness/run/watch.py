"""What is seen of simulations that are being made: how far the latest one is, and the last line that it printed.

A simulator says with --progress=json how far it is; that, and what the machine prints, is in the log in its directory.
"""

import json
import os
import re
from pathlib import Path

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


class Watch:
    """Looks at the directories in which this process simulates."""

    def __init__(self, busy: Path) -> None:
        self.busy = busy

    def latest(self) -> str:
        """The run that said something last: how far it is, what it printed last."""
        try:
            logs = sorted(self.busy.glob(f"*-{os.getpid()}-*/log.txt"), key=lambda file: file.stat().st_mtime)
            return self._seen(logs[-1]) if logs else ""
        except OSError:  # it has just ended
            return ""

    def _seen(self, log: Path) -> str:
        with log.open("rb") as opened:
            opened.seek(max(0, opened.seek(0, os.SEEK_END) - TAIL))
            text = opened.read().decode(errors="replace")
        far = [f"{json.loads(one)['time_fs'] / MILLISECOND:.3f} ms" for one in SHOWN.findall(text)]
        lines = [line.strip() for line in TERMINAL.sub("", without(text)).splitlines() if line.strip()]
        return ", ".join([*far[-1:], *(line[:LONGEST] for line in lines[-1:])])
