"""The processes of a run in parts, one for each part, in one process group; each writes into a folder of its own."""

import contextlib
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.network.network_file import Network, NetworkError
from harness.run import process

LOOK = 0.05  # seconds between looks at the processes
GRACE = 30.0  # seconds that the others have to end after the first failure
WRONG_INPUT = 2  # status of a simulator that refuses what it was given
FOLLOWS = ("ended since ", "gone without a word")  # errors that follow from that of another part


@dataclass
class Started:
    """A part that was started."""

    path: str
    folder: Path
    child: subprocess.Popen

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    @property
    def error(self) -> str:
        """The line of its log that says what was wrong, without the simulator's name; empty, if nothing was."""
        line = process.reason(process.said_in(self.log))
        return line.partition(": ")[2].removeprefix("error: ").removeprefix(f"{self.path}: ")


def start(network: Network, out: Path, options: Sequence[Sequence[str]]) -> list[Started]:
    """Starts all parts, each with its options."""
    board = secrets.token_hex(8)
    started: list[Started] = []
    for part, given in zip(network.parts, options, strict=True):
        folder = out / part.path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "statistics.json").unlink(missing_ok=True)  # of an earlier run
        own = ["--part", part.path, "--network", str(network.file), "--board", board, "--run-dir", str(folder)]
        group = started[0].child.pid if started else 0
        with (folder / "log.txt").open("w") as log:
            child = process.begin([part.simulator.resolve(), *own, "--quiet", *given], log=log, group=group)
        started.append(Started(part.path, folder, child))
    return started


def wait(started: Sequence[Started], look: Callable[[], None] = lambda: None) -> bool:
    """Waits for the end of all; Ctrl-C lets them end in good order.  True: that is how they ended.  Meanwhile it calls
    `look` again and again."""
    group, interrupted, failed = started[0].child.pid, False, 0.0
    try:
        while None in (statuses := [part.child.poll() for part in started]):
            try:
                time.sleep(LOOK)
                look()
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGINT)
            if not failed and any(status for status in statuses):
                failed = time.monotonic()
                if WRONG_INPUT in statuses:  # the others wait for it
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(group, signal.SIGTERM)
            if failed and time.monotonic() - failed > GRACE:
                break
    finally:
        for part in started:
            process.forget(part.child)
    return interrupted


def failure(started: Sequence[Started]) -> str | None:
    """The line on the part that failed first, as far as that shows; None: none did."""
    for part in started:
        if part.child.returncode in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT):
            return f"{part.path} (process {part.child.pid}) was killed by signal {-part.child.returncode}"
    said = {part.path: part.error for part in started if part.child.returncode in (1, WRONG_INPUT)}
    errors = {path: error for path, error in said.items() if error}
    first = {path: error for path, error in errors.items() if not any(words in error for words in FOLLOWS)}
    return next((f"{path}: {error}" for path, error in (first or errors).items()), None)


def check_cores(cores: int | None) -> None:
    """Leaves this process, and so its children, so many of the cores that it has."""
    if cores is None:
        return
    allowed = sorted(os.sched_getaffinity(0))
    if cores > len(allowed):
        raise NetworkError(f"--cores {cores}: there are {len(allowed)}")
    os.sched_setaffinity(0, allowed[:cores])
