"""Session: a run that goes on step by step, as its caller says, over `--interactive=json` (docs/debugging.md)."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from harness.run import process
from spinach import tools
from spinach.errors import RunError, SpinachError, unknown
from spinach.frames import frame
from spinach.run import LOG, SECOND, Run, no_end, result

if TYPE_CHECKING:
    from pandas import DataFrame

TAIL = 20  # lines that a simulator said last, if it reports no error


@dataclass(frozen=True)
class State:
    """Where a session is: simulated seconds, cycles of each clock, why it is over (None: it is not), and for each
    processor the place of its latest instruction."""

    seconds: float
    cycles: dict[str, int]
    ended: str | None
    processors: dict[str, str]


class Session:
    """A run that waits for its next step.  As a context manager it ends with the block, and so does the simulator."""

    def __init__(self, command: list[str], folder: Path, timeout: float | None = None) -> None:
        self.command, self.folder, self.timeout = [*command, "--interactive=json"], folder, timeout
        self._run: Run | None = None
        self._expired = False
        with (folder / LOG).open("w") as said:
            self._child = process.begin(self.command, folder, stdin=subprocess.PIPE, errors=said)

    def __repr__(self) -> str:
        return f"Session({Path(self.command[0]).name!r}, folder={str(self.folder)!r})"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        if kind is None and self._child.returncode is None:
            self.finish()
        self._close()

    def __del__(self) -> None:
        if hasattr(self, "_child"):
            self._close()

    # ---- Steps

    def advance(self, cycles: int | None = None, *, until: str | None = None) -> State:
        """Goes on for cycles of the fastest clock, or until a condition comes true; without either, to the end."""
        if cycles is not None and until is not None:
            raise ValueError("advance() takes cycles or until=, not both")
        if until is not None:
            return self._go(f"until {until}")
        return self._go("run" if cycles is None else f"cycle {cycles}")

    def step(self, n: int = 1, core: int = 0) -> State:
        """Goes on until a processor, counted from 0, has executed n more instructions."""
        return self._go(f"step {n} {core + 1}")

    @property
    def state(self) -> State:
        """Where the session is."""
        return self._go("where")

    def _go(self, command: str) -> State:
        reply = self._ask(command)
        places = {one["path"]: one["place"] for one in reply["result"]}
        return State(reply["time_fs"] / SECOND, reply["cycles"], reply["ended"], places)

    # ---- States and statistics

    def __getitem__(self, name: str) -> Any:
        """The value of a state; a list for several elements, and a dict for a pattern with `*`."""
        found: dict[str, Any] = self._ask(f"print {name}", name)["result"]
        return found if "*" in name else next(iter(found.values()))

    def __setitem__(self, name: str, value: object) -> None:
        """Changes a state that is one value."""
        self._ask(f"set {name} = {tools.spelt(value)}", name)

    def mark(self) -> None:
        """Begins a window of statistics at the present instant, in place of an earlier one."""
        self._ask("statistics mark")

    def statistics(self, pattern: str = "", *, since_mark: bool = False) -> DataFrame:
        """Statistics so far, or what they counted since the mark: instance, statistic → value, unit; those whose path
        ends as the pattern says."""
        rows = [
            {"instance": one["path"], "statistic": one["name"], "value": one["value"], "unit": one.get("unit", "")}
            for one in self._ask(f"statistics {'since ' if since_mark else ''}{pattern}")["result"]
        ]
        return frame(rows, ["instance", "statistic", "value", "unit"], ["instance", "statistic"])

    def checkpoint(self, path: str | os.PathLike[str]) -> Path:
        """Writes the present state to a file, for restore=."""
        place = Path(path).resolve()
        self._ask(f"checkpoint {place}")
        return place

    def finish(self) -> Run:
        """Ends the run where it is: what it came to."""
        if self._run is None:
            self._ask("quit")
            self._wait()
            said = process.said_in(self.folder / LOG)
            self._run = result(self.command, self.folder, self._child.returncode, said, self._report(said))
        return self._run

    # ---- The simulator

    def _ask(self, command: str, state: str = "") -> dict[str, Any]:
        """The reply to a command, which may be about a state."""
        if self._child.returncode is not None:
            raise SpinachError(self.command, self._child.returncode, f"{self!r} is over; start another one")
        if any(end in command for end in "\n\0"):
            raise SpinachError(self.command, None, f"{command!r} is no command: it has more than one line")
        reply = self._exchange(command)
        if reply["ok"]:
            return reply
        listed = self._exchange("list")  # also tells a mistake from an error that has ended the run
        if state:
            self._check_state(state, {one["name"] for one in listed["result"]})
        raise SpinachError(self.command, None, reply["error"])

    def _check_state(self, name: str, known: set[str]) -> None:
        base = _without_elements(name)
        if "*" not in name and base not in known:
            near = difflib.get_close_matches(base, list(known), 3)
            raise unknown(f"{Path(self.command[0]).name} has no state", name, near, known)

    def _exchange(self, command: str) -> dict[str, Any]:
        try:
            with self._in_time():
                assert self._child.stdin and self._child.stdout
                with contextlib.suppress(BrokenPipeError):  # then there is no reply
                    self._child.stdin.write(command + "\n")
                    self._child.stdin.flush()
                line = self._child.stdout.readline()
        except BaseException:  # such as Ctrl-C: the reply is lost
            self._close()
            raise
        if line and not self._expired:
            reply: dict[str, Any] = json.loads(line)
            return reply
        self._wait()
        if self._expired:
            raise RunError(self.command, None, no_end(self.timeout or 0, self.folder), self.folder)
        status, said = self._child.returncode, self._report(process.said_in(self.folder / LOG))
        name = Path(self.command[0]).name
        raise RunError(self.command, status, said or f"{name}: ended with status {status}", self.folder)

    @contextlib.contextmanager
    def _in_time(self) -> Iterator[None]:
        """Ends the simulator at the timeout of a step."""
        if self.timeout is None:
            yield
            return
        timer = Timer(self.timeout, self._expire)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        process.end(self._child)

    def _wait(self) -> None:
        """Until the simulator, which was asked to end, has ended."""
        try:
            self._child.wait()
        finally:
            self._close()

    def _close(self) -> None:
        """No simulator is left."""
        for pipe in self._child.stdin, self._child.stdout:
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        process.forget(self._child)

    def _report(self, said: str) -> str:
        """Of what a simulator said its error; without one, the end."""
        lines = said.splitlines(keepends=True)
        first = f"{Path(self.command[0]).name}: error: "
        starts = [number for number, line in enumerate(lines) if line.startswith(first)]
        return "".join(lines[starts[-1] :] if starts else lines[-TAIL:])


def _without_elements(name: str) -> str:
    """The name of a state without the elements at its end: `p.slot` of `p.slot[1..2]`."""
    path, dot, last = name.rpartition(".")
    if "]" in last and "[" not in last:  # the dot is one of a range
        return _without_elements(name[: name.rindex("[")])
    return f"{path}{dot}{last.partition('[')[0]}"
