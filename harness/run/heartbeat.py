"""Lines on standard error while long work says nothing: which step it is at, at most one every ten seconds.

With LSS_PROGRESS=off in the environment there are none, as of `lss`."""

import os
import sys
import time
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType

EVERY = 10.0  # seconds without a line, after which one says what goes on


class Heartbeat:
    """As a context manager: while its block executes, `look` is asked what to say; an empty text says nothing."""

    def __init__(self, look: Callable[[], str]) -> None:
        self._look, self._over = look, Event()
        self._began = self._latest = time.monotonic()
        self._thread = Thread(target=self._beat, daemon=True)

    def said(self) -> None:
        """Something else was said just now."""
        self._latest = time.monotonic()

    def _beat(self) -> None:
        while not self._over.wait(max(0.0, self._latest + EVERY - time.monotonic())):
            if time.monotonic() - self._latest < EVERY:
                continue
            if text := self._look():
                print(f"harness: {text}, after {time.monotonic() - self._began:.0f} s", file=sys.stderr, flush=True)
            self.said()

    def __enter__(self) -> "Heartbeat":
        if os.environ.get("LSS_PROGRESS") != "off":
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
