"""Child processes that end with their parent: a simulator never continues after the harness was stopped.

`run` starts a command and waits for it; `end_children_on_signals` makes SIGTERM and SIGHUP end every child that is
still running before the process itself ends.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

GRACE = 5.0  # seconds that a child has between SIGTERM and SIGKILL
ERROR = re.compile(r"\berror(\[[\w-]+\])?: ")  # of a program, or of the compiler with its code

# Changed without a lock, in single steps: a signal or a finalizer may come at any point of `begin` in the same thread.
_children: set[subprocess.Popen] = set()
_ending = False


class Ended(Exception):
    """The harness was stopped; no child is started any more."""


@dataclass(frozen=True)
class Finished:
    """What a child came to; `status` is None when it took longer than it may."""

    status: int | None
    out: str
    err: str


def word(argument: str | Path) -> str:
    """A path is none of the options, whatever it begins with."""
    text = str(argument)
    return f"./{text}" if isinstance(argument, Path) and text.startswith("-") else text


def begin(
    command: Sequence[str | Path], cwd: Path | None = None, stdin: int = subprocess.DEVNULL, log: IO[str] | None = None,
    text: bool = True, errors: IO[str] | None = None, keep: Sequence[int] = (), group: int = 0,
) -> subprocess.Popen:  # fmt: skip
    """Starts a command that ends with this process; `forget` it once it has ended.

    All that it says goes to `log`, and what it says on standard error to `errors`; else to pipes.  The descriptors
    `keep` stay open in it.  It leads a process group of its own, or is in that of another child.
    """
    if _ending:
        raise Ended
    child = subprocess.Popen(
        [word(argument) for argument in command], cwd=cwd, stdin=stdin, stdout=log or subprocess.PIPE,
        stderr=errors or log or subprocess.PIPE, text=text, process_group=group, pass_fds=keep,
        errors="surrogateescape" if text else None,
    )  # fmt: skip
    _children.add(child)
    return child


def forget(child: subprocess.Popen) -> None:
    """A child has ended, or is made to."""
    if child.poll() is None:  # an exception, such as Ctrl-C
        _end([child])
    _children.discard(child)


def run(command: Sequence[str | Path], cwd: Path | None = None, timeout: float | None = None) -> Finished:
    """Runs a command to its end; at the timeout, or when this process is stopped, the child is ended."""
    child = begin(command, cwd)
    try:
        out, err = child.communicate(timeout=timeout)
        return Finished(child.returncode, out, err)
    except subprocess.TimeoutExpired:
        _end([child])
        out, err = child.communicate()
        return Finished(None, out, err)
    finally:
        forget(child)


def output(command: Sequence[str | Path], stdin: int = subprocess.DEVNULL) -> tuple[int, bytes, str]:
    """Runs a command to its end: its status, the bytes that it wrote, and what it said."""
    child = begin(command, stdin=stdin, text=False)
    try:
        out, said = child.communicate()
        return child.returncode, out, said.decode(errors="surrogateescape")
    finally:
        forget(child)


def run_logged(command: Sequence[str | Path], cwd: Path, log: Path, timeout: float | None = None) -> Finished:
    """The same, with all that the child says in a file that grows as it does, and at the end as `err`."""
    with log.open("w") as said:
        child = begin(command, cwd, log=said)
    try:
        child.wait(timeout)
        status = child.returncode
    except subprocess.TimeoutExpired:
        _end([child])
        status = None
    finally:
        forget(child)
    return Finished(status, "", said_in(log))


def reason(said: str) -> str:
    """The line of what a program said that names its error, among warnings and notes; without one, the first line."""
    lines = said.strip().splitlines()
    return next((line for line in lines if ERROR.search(line)), lines[0] if lines else "")


def said_in(log: Path) -> str:
    """What a log holds, carriage returns included."""
    return log.read_bytes().decode(errors="surrogateescape")


def end(child: subprocess.Popen) -> None:
    """Ends a child, with all that it started, and waits for it."""
    _end([child])


def _end(children: Sequence[subprocess.Popen]) -> None:
    """Ends children with all that they started: each leads a group of its own."""
    for number in signal.SIGTERM, signal.SIGKILL:
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
        for child in children:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(GRACE)


def end_children() -> None:
    """Ends all children; from now on none is started."""
    global _ending
    _ending = True
    _end(list(_children))


def allow_children() -> None:
    """A process that goes on after it ended its children, such as a notebook, may start others."""
    global _ending
    _ending = False


def end_children_on_signals() -> None:
    """From now on SIGTERM and SIGHUP end the children first, then this process, with the status of that signal."""

    def stop(number: int, frame: object) -> None:
        end_children()
        sys.stderr.write(f"harness: ended by {signal.Signals(number).name}; what was finished is kept\n")
        sys.stderr.flush()
        os._exit(128 + number)

    for number in signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, stop)
