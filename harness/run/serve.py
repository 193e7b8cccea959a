"""Runs that begin at a checkpoint, by one simulator that has unpacked it (`--serve`, docs/running.md).

A server is started for the first run from a checkpoint and kept for those that come.  Who wants a run waits for it in a
thread of its own; the server begins all that it is asked for at once.
"""

import contextlib
import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from harness.run import process
from harness.run.process import Finished

MOST_RUNS = 1 << 20  # at once: as many as threads wait
MOST_SERVERS = 4  # kept while nobody waits for them


@dataclass
class _Run:
    pid: int = 0
    status: int | None = None
    over: Event = field(default_factory=Event)


class Server:
    """A simulator that has unpacked a checkpoint."""

    def __init__(self, simulator: Path, checkpoint: Path) -> None:
        command = [simulator, "--quiet", "--restore", checkpoint, "--serve", MOST_RUNS]
        self._child = process.begin([str(word) for word in command], stdin=subprocess.PIPE)
        self._runs: list[_Run] = []
        self._lock = Lock()
        self._said = ""
        self._ended = False
        Thread(target=self._listen, daemon=True).start()

    @property
    def idle(self) -> bool:
        return all(run.over.is_set() for run in self._runs)

    def _listen(self) -> None:
        assert self._child.stdout and self._child.stderr
        for line in self._child.stdout:
            number, what, value = line.split()
            run = self._runs[int(number) - 1]
            if what == "begins":
                run.pid = int(value)
            else:
                run.status = int(value)
                run.over.set()
        self._said = self._child.stderr.read()
        status = self._child.wait()
        with self._lock:
            self._ended = True
            for run in self._runs:
                if not run.over.is_set():
                    run.status = status or 1
                    run.over.set()
        process.forget(self._child)

    def run(self, folder: Path, options: Sequence[str], timeout: float | None) -> Finished:
        """A run in a folder, to its end; at the timeout it is ended, and its status is None."""
        run = _Run()
        with self._lock:
            if self._ended:
                return Finished(2, "", self._said)
            self._runs.append(run)
            assert self._child.stdin
            with contextlib.suppress(BrokenPipeError):  # the listener says what became of it
                self._child.stdin.write(shlex.join([str(folder), *options]) + "\n")
                self._child.stdin.flush()
        in_time = run.over.wait(timeout)
        for number in (signal.SIGTERM, signal.SIGKILL) if not in_time else ():
            if run.pid:  # it has begun; 0 would be this process and all around it
                with contextlib.suppress(ProcessLookupError):
                    os.kill(run.pid, number)
            if run.over.wait(process.GRACE):
                break
        log = folder / "log.txt"
        said = process.said_in(log) if log.exists() else self._said
        return Finished(run.status if in_time else None, "", said)

    def end(self) -> None:
        """Ends it in good order, once its runs have ended."""
        assert self._child.stdin
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.close()


_servers: dict[tuple[Path, Path], Server] = {}
_turn = Lock()


def _server(simulator: Path, checkpoint: Path) -> Server:
    key = simulator.resolve(), checkpoint.resolve()
    with _turn:
        server = _servers.pop(key, None)
        if not server or server._ended:
            server = Server(*key)
        _servers[key] = server  # the last one used is the last one
        for other in [one for one in _servers if one != key and _servers[one].idle][:-MOST_SERVERS]:
            _servers.pop(other).end()
        return server


def end_all() -> None:
    """Ends all servers that nobody waits for."""
    with _turn:
        for key in [one for one in _servers if _servers[one].idle]:
            _servers.pop(key).end()


def run(simulator: Path, checkpoint: Path, folder: Path, options: Sequence[str], timeout: float | None) -> Finished:
    """A run that begins at a checkpoint, to its end: what the simulator does with --restore in the folder."""
    if any("\n" in word for word in [str(folder), *options]):  # what is no line is a process of its own
        return process.run([simulator, "--restore", checkpoint, *options], folder, timeout)
    return _server(simulator, checkpoint).run(folder, options, timeout)
