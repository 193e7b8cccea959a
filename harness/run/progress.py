"""Says what is going on: a live bar on a terminal that can draw one, plain lines everywhere else.

Where there is no bar, lines on standard error say how far work is that is silent for long.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING

from harness.run.heartbeat import Heartbeat

if TYPE_CHECKING:  # imported where it is used, so that --help needs no package
    from rich.console import Console
    from rich.progress import Progress as Bar

SILENT = 2.0  # seconds, after which work says what it is


class Task:
    """A piece of work of known length."""

    def __init__(self, progress: "Progress", title: str, total: int) -> None:
        self.progress, self.title, self.total, self.done = progress, title, total, 0
        self.bar: Bar | None = None
        self.row = None

    def step(self, text: str) -> None:
        """One part is done; the text says which and with what result."""
        self.done += 1
        if self.bar is not None:
            self.progress.say(f"  {text}")
            self.bar.update(self.row, completed=self.done)
        else:
            self.progress.say(f"  [{self.done:>{len(str(self.total))}}/{self.total}] {text}")


class Progress:
    """Where progress goes; `console` is standard output unless a test gives another."""

    def __init__(self, console: "Console | None" = None) -> None:
        from rich.console import Console

        self.console = console or Console(highlight=False, soft_wrap=True)
        self._heartbeat: Heartbeat | None = None
        self._seen_at_work: Callable[[], str] | None = None

    def say(self, text: str) -> None:
        """A line that stays, and is flushed even when output goes to a file."""
        self.console.print(text, markup=False)
        self.console.file.flush()
        if self._heartbeat:
            self._heartbeat.said()

    def fail(self, text: str) -> None:
        """Why the work ends here: a line on standard error."""
        print(f"harness: {text}", file=sys.stderr)

    def part(self, number: int, name: str, state: str, text: str = "", job: str = "") -> None:
        """The state of one of many parts, with the job that it is; only a display of all parts shows it."""

    @contextlib.contextmanager
    def showing(self, task: Task, look: Callable[[], str]) -> Iterator[None]:
        """While work goes on, what is seen of it: next to the bar every second, or in the lines on standard error."""
        if task.bar is None:
            self._seen_at_work = look
            try:
                yield
            finally:
                self._seen_at_work = None
            return
        over = Event()

        def show() -> None:
            while not over.wait(1.0):
                text = look()
                task.bar.update(task.row, description=f"{task.title}: {text}" if text else task.title)

        shower = Thread(target=show, daemon=True)
        shower.start()
        try:
            yield
        finally:
            over.set()
            shower.join()

    @contextlib.contextmanager
    def _named(self, title: str, task: Task | None = None) -> Iterator[None]:
        """Where there is no bar, a line says what goes on, as soon as that has taken two seconds; later ones on
        standard error say how far it is."""

        def far() -> str:
            seen = self._seen_at_work() if self._seen_at_work else ""
            return title + (f": {task.done} of {task.total}" if task else "") + (f" ({seen})" if seen else "")

        timer = Timer(SILENT, self.say, [f"{title} …"])
        timer.daemon = True
        timer.start()
        try:
            with Heartbeat(far) as self._heartbeat:
                yield
        finally:
            self._heartbeat = None
            timer.cancel()

    @contextlib.contextmanager
    def task(self, title: str, total: int) -> Iterator[Task]:
        """Work of `total` steps; ends with a line saying how long it took."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        task, began = Task(self, title, total), time.monotonic()
        if self.console.is_interactive:
            text = TextColumn("{task.description}", markup=False)
            columns = text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
            with Bar(*columns, console=self.console, transient=True) as task.bar:
                task.row = task.bar.add_task(title, total=total)
                yield task
        else:
            with self._named(title, task):
                yield task
        self.say(f"{title}: {task.done} in {time.monotonic() - began:.1f} s")

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Work of unknown length; ends with a line saying how long it took."""
        began = time.monotonic()
        if self.console.is_interactive:
            with self.console.status(title):
                yield
        else:
            with self._named(title):
                yield
        self.say(f"{title}: {time.monotonic() - began:.1f} s")
