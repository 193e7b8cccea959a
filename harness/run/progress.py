"""Says what is going on: a live bar on a terminal that can draw one, plain lines everywhere else."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING

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

    def say(self, text: str) -> None:
        """A line that stays, and is flushed even when output goes to a file."""
        self.console.print(text, markup=False)
        self.console.file.flush()

    def fail(self, text: str) -> None:
        """Why the work ends here: a line on standard error."""
        print(f"harness: {text}", file=sys.stderr)

    def part(self, number: int, name: str, state: str, text: str = "", job: str = "") -> None:
        """The state of one of many parts, with the job that it is; only a display of all parts shows it."""

    @contextlib.contextmanager
    def showing(self, task: Task, look: Callable[[], str]) -> Iterator[None]:
        """While work goes on, what is seen of it: beside the bar every second, or a line twice a minute."""
        over, every = Event(), 1.0 if task.bar is not None else 30.0

        def show() -> None:
            before = ""
            while not over.wait(every):
                text = look()
                if task.bar is not None:
                    task.bar.update(task.row, description=f"{task.title}: {text}" if text else task.title)
                elif text and text != before:
                    self.say(f"  … {text}")
                before = text

        shower = Thread(target=show, daemon=True)
        shower.start()
        try:
            yield
        finally:
            over.set()
            shower.join()

    @contextlib.contextmanager
    def _named(self, title: str) -> Iterator[None]:
        """Where there is no bar, a line says what goes on, as soon as that has taken two seconds."""
        timer = Timer(SILENT, self.say, [f"{title} …"])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
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
            with self._named(title):
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
