"""How far a sweep is: one block that is updated in a notebook, the harness's bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import contextlib
import html
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console

from harness.run.progress import Progress, Task

LINES = 8  # of what was done last
EVERY = 0.1  # seconds between two updates of the block


def progress() -> Progress:
    """What fits where this process writes."""
    if _in_notebook():
        return NotebookProgress()
    if sys.stdout is not None and sys.stdout.isatty():
        return Progress()
    return Silent()


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter executes this; IPython at a terminal has none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


class Silent(Progress):
    """Says nothing."""

    def __init__(self) -> None:
        super().__init__(Console(file=open(os.devnull, "w"), force_terminal=False))  # noqa: SIM115  (as long as it lives)

    def say(self, text: str) -> None:
        """Nothing."""

    @contextlib.contextmanager
    def showing(self, task: Task, look: Callable[[], str]) -> Iterator[None]:
        """Nothing is looked at."""
        yield

    @contextlib.contextmanager
    def _named(self, title: str, task: Task | None = None) -> Iterator[None]:
        yield


class _NotebookTask(Task):
    """A piece of work whose steps are lines of the block."""

    def step(self, text: str) -> None:
        self.done += 1
        self.progress.say(text)


class NotebookProgress(Silent):
    """One block of output, which has the work at hand and what was done last."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None
        self._lines: list[str] = []
        self._task: Task | None = None
        self._title, self._drawn = "", 0.0

    def say(self, text: str) -> None:
        """A line of the block."""
        self._lines = [*self._lines, text][-LINES:]
        self._draw()

    def _draw(self, forced: bool = False) -> None:
        now = time.monotonic()
        if not forced and now - self._drawn < EVERY:
            return
        self._drawn = now
        from IPython.display import HTML, display

        block = HTML(self._block())
        if self._handle is None:
            self._handle = display(block, display_id=True)
        else:
            self._handle.update(block)

    def _block(self) -> str:
        bar = ""
        if self._task:
            done, total = self._task.done, self._task.total
            bar = f'<progress value="{done}" max="{total}"></progress> {done} of {total}'
        lines = "\n".join(html.escape(line) for line in self._lines)
        return f"<div>{html.escape(self._title)} {bar}</div><pre>{lines}</pre>"

    @contextlib.contextmanager
    def task(self, title: str, total: int) -> Iterator[Task]:
        """Work of `total` steps."""
        self._title, self._task = title, _NotebookTask(self, title, total)
        self._draw(forced=True)
        try:
            yield self._task
        finally:
            self._draw(forced=True)
            self._task = None

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Work of unknown length."""
        self._title = title
        self._draw(forced=True)
        yield
