"""The points of a study as a page shows them: the progress of the study, and how far the run of each point is.

The study reports its phases and what each point came to, from its own thread.  Which points run now, and how far they
are, is in the working directories of the store, whichever host runs them.
"""

import contextlib
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from harness.run import lease, store, watch
from harness.run.progress import Progress, Task
from harness.study.model import WAITING

RUNNING = "running"
LINES = 200  # of the study's output that are kept
Message = dict[str, Any]


@dataclass
class _Part:
    """A point, as far as it is known."""

    number: int
    name: str
    state: str
    text: str = ""
    job: str = ""
    began: float | None = None  # when its run was first seen
    elapsed: float | None = None
    share: float | None = None
    rest: float | None = None

    def shown(self) -> Message:
        """The line of the page; whole seconds, so that it changes once a second at most."""
        seconds = {name: None if time is None else round(time) for name, time in
                   (("elapsed", self.elapsed), ("rest", self.rest))}  # fmt: skip
        return {
            "number": self.number, "name": self.name, "state": self.state, "text": self.text, "share": self.share,
            **seconds,
        }  # fmt: skip


class Points(Progress):
    """Progress that is also kept for a page; the study calls it in one thread, the server in another."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self._busy = place / store.BUSY
        self._lock = Lock()
        self._parts: dict[int, _Part] = {}
        self._lines: deque[str] = deque(maxlen=LINES)
        self._phase: tuple[str, Task | None] | None = None
        self._error: str | None = None
        self._sent: dict[int, Message] = {}
        self._sent_head: Message = {}
        self.status: int | None = None

    # ---- What the study reports

    def say(self, text: str) -> None:
        super().say(text)
        with self._lock:
            self._lines.append(text)

    def fail(self, text: str) -> None:
        super().fail(text)
        self._error = text

    def part(self, number: int, name: str, state: str, text: str = "", job: str = "") -> None:
        with self._lock:
            part = self._parts.setdefault(number, _Part(number, name, state))
            part.state, part.text, part.job = state, text, job
            if state != WAITING:
                part.share = part.rest = None
                part.elapsed = None if part.began is None else time.monotonic() - part.began

    @contextlib.contextmanager
    def task(self, title: str, total: int) -> Iterator[Task]:
        with super().task(title, total) as task, self._in_phase(title, task):
            yield task

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[None]:
        with super().step(title), self._in_phase(title):
            yield

    @contextlib.contextmanager
    def _in_phase(self, title: str, task: Task | None = None) -> Iterator[None]:
        self._phase = title, task
        try:
            yield
        finally:
            self._phase = None

    # ---- What the page shows

    def latest(self) -> Message:
        """All that there is to show."""
        with self._lock:
            return {**self._head(), "points": [part.shown() for part in self._parts.values()]}

    def changes(self) -> Message | None:
        """What has changed since the last call, after a look at the runs; None if nothing has."""
        seen = self._look()
        with self._lock:
            for part in self._parts.values():
                if part.state in (WAITING, RUNNING):
                    _follow(part, seen)
            points = [part.shown() for part in self._parts.values()]
            head = self._head()
        changed = [one for one in points if self._sent.get(one["number"]) != one]
        if not changed and head == self._sent_head:
            return None
        self._sent |= {one["number"]: one for one in changed}
        self._sent_head = head
        return {**head, "points": changed}

    def _head(self) -> Message:
        phase = self._phase
        title, task = phase or ("", None)
        shown = f"{title} ({task.done} of {task.total})" if task else title
        return {"phase": shown, "error": self._error, "status": self.status, "console": list(self._lines)}

    def _look(self) -> dict[str, watch.Seen]:
        """How far the jobs are that run now, by their names."""
        with self._lock:
            wanted = {part.job for part in self._parts.values() if part.job and part.state in (WAITING, RUNNING)}
        found = {}
        for job, folder in lease.held(self._busy).items() if wanted else ():
            if job in wanted:
                found[job] = watch.Seen(None, "")
                with contextlib.suppress(OSError):  # it says nothing so far, or has just ended
                    found[job] = watch.look(folder / store.LOG)
        return found


def _follow(part: _Part, runs: dict[str, watch.Seen]) -> None:
    """Whether the run of a point has begun, and how far it is."""
    seen, now = runs.get(part.job), time.monotonic()
    if seen:
        part.state, part.text = RUNNING, seen.text
        part.began = now if part.began is None else part.began
        if seen.far:
            part.share = seen.far["share"]
            part.rest = _rest(seen.far)
    if part.began is not None:
        part.elapsed = now - part.began


def _rest(far: dict[str, Any]) -> float | None:
    """The seconds that a run still takes, if that is known."""
    share, speed, cycles = far["share"], far["per_second"], max(far["cycles"].values(), default=0)
    return cycles / share * (1 - share) / speed if share and speed and speed > 0 else None
