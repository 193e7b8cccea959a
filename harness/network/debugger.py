"""gdb on one part of a run: where it connects, and that the run waits for it."""

import sys
from pathlib import Path

from harness.network.launch import Interrupts, Started

CONNECTS = "target extended-remote "  # what gdb has to be told, in the log of the part
STOPPED = "stopped by gdb"  # the name of a process that gdb has stopped (lss/runtime/debug/server.c)


class Debugger:
    """The part that gdb debugs."""

    def __init__(self, part: Started, interrupts: Interrupts) -> None:
        self._part, self._interrupts = part, interrupts
        self._said_place = self._said_waits = False

    def _is_stopped(self) -> bool:
        try:
            return Path(f"/proc/{self._part.child.pid}/comm").read_text().strip() == STOPPED
        except OSError:
            return False

    def look(self) -> None:
        """Says where gdb connects, and after an interrupt that the run can end only when gdb lets the part go on."""
        if not self._said_place:
            lines = self._part.log.read_text(errors="replace").splitlines()
            place = next((line.partition(CONNECTS)[2] for line in lines if CONNECTS in line), "")
            self._said_place = bool(place)
            if place:
                print(f"{self._part.path}: {CONNECTS}{place}", file=sys.stderr, flush=True)
        if self._interrupts.number and not self._said_waits and self._is_stopped():
            self._said_waits = True
            text = f"waits for {self._part.path}, which a debugger has stopped (a second Ctrl-C ends the run at once)"
            print(text, file=sys.stderr, flush=True)
