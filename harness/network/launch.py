"""The processes of a run in parts, one for each part, in one process group; each writes into a folder of its own."""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from harness.network.network_file import Network, NetworkError
from harness.run import process

LOOK = 0.05  # seconds between looks at the processes
GRACE = 30.0  # seconds that the others have to end after the first failure
WRONG_INPUT = 2  # status of a simulator that refuses what it was given
FOLLOWS = ("ended since ", "gone without a word")  # errors that follow from that of another part
CRASHES = (signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
KILLED = {-number for number in CRASHES}


@dataclass
class Started:
    """A part that was started."""

    path: str
    folder: Path
    child: subprocess.Popen
    board: Path | None = None  # what all parts share, until all have come
    dropped: bool = False  # it was ended here, since another part failed before all had come

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    @property
    def error(self) -> str:
        """The line of its log that says what was wrong, without the simulator's name; empty, if nothing was."""
        line = process.reason(process.said_in(self.log))
        return line.partition(": ")[2].removeprefix("error: ").removeprefix(f"{self.path}: ")


class Interrupted(Exception):
    """A signal ended the run before there was anything to write."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name} before all parts had started")
        self.number = number


class Interrupts:
    """SIGINT and SIGTERM, which all parts get once: they end at one instant then.  A second one ends them at once."""

    def __init__(self) -> None:
        self.number = 0
        self._passed = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Interrupts":
        for number in signal.SIGINT, signal.SIGTERM:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            raise KeyboardInterrupt
        self.number = number

    def pass_on(self, started: Sequence[Started]) -> None:
        if self.number and not self._passed and started:
            self._passed = True
            send(started, self.number)


def send(started: Sequence[Started], number: int) -> None:
    """A signal for all parts that run."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started[0].child.pid, number)


def _begin(path: str, folder: Path, command: Sequence[str | Path], group: int, board: Path | None = None) -> Started:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "statistics.json").unlink(missing_ok=True)  # of an earlier run
    with (folder / "log.txt").open("w") as log:
        child = process.begin(command, log=log, group=group)
    return Started(path, folder, child, board)


def start(network: Network, out: Path, options: Sequence[Sequence[str]]) -> list[Started]:
    """Starts all parts, each with its options."""
    name = secrets.token_hex(8)
    board = Path(f"/dev/shm/spinach-{name}")
    started: list[Started] = []
    try:
        for part, given in zip(network.parts, options, strict=True):
            folder = out / part.path
            own = ["--part", part.path, "--network", str(network.file), "--board", name, "--run-dir", str(folder)]
            group = started[0].child.pid if started else 0
            command = [part.simulator.resolve(), *own, "--quiet", *given]
            started.append(_begin(part.path, folder, command, group, board))
    except BaseException as error:
        end(started)
        if isinstance(error, OSError):
            raise NetworkError(f"{part.path} cannot be started: {error.strerror}") from None
        raise
    return started


def become(network: Network, number: int, out: Path, options: Sequence[str]) -> NoReturn:
    """This process becomes the simulator of one part that runs alone, at the same terminal."""
    part = network.parts[number]
    folder = out / part.path
    command = [part.simulator.resolve(), "--part", part.path, "--network", network.file, "--run-dir", folder, "--quiet"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "statistics.json").unlink(missing_ok=True)  # of an earlier run
        sys.stdout.flush()
        os.execv(command[0], [process.word(word) for word in (*command, *options)])
    except OSError as error:
        raise NetworkError(f"{part.path} cannot be started: {error.strerror}") from None


def start_whole(simulator: Path, out: Path, options: Sequence[str]) -> list[Started]:
    """Starts the simulator of the whole network."""
    try:
        command = [simulator.resolve(), "--run-dir", str(out), "--quiet", *options]
        return [_begin(simulator.name, out, command, 0)]
    except OSError as error:
        raise NetworkError(f"{simulator} cannot be started: {error.strerror}") from None


def end(started: Sequence[Started]) -> None:
    """Ends what still runs, and removes what the parts share, unless they have done so."""
    for part in started:
        process.forget(part.child)
    if started and started[0].board:
        started[0].board.unlink(missing_ok=True)


def _drop(started: Sequence[Started]) -> None:
    """Ends those that wait for a part that will not come: nothing was simulated yet."""
    for part in started:
        part.dropped = part.child.poll() is None
    send(started, signal.SIGKILL)


def wait(started: Sequence[Started], interrupts: Interrupts, look: Callable[[], None]) -> None:
    """Waits for the end of all, and looks around every so often.  After an interrupt all end in good order."""
    failed = 0.0
    try:
        while None in (statuses := [part.child.poll() for part in started]):
            interrupts.pass_on(started)
            time.sleep(LOOK)
            look()
            if not failed and any(status for status in statuses):
                failed = time.monotonic()
                if started[0].board and started[0].board.exists():
                    _drop(started)
                elif WRONG_INPUT in statuses or any(status and status < 0 for status in statuses):
                    send(started, signal.SIGTERM)
            if failed and time.monotonic() - failed > GRACE:
                break
        look()
    finally:
        end(started)


def failure(started: Sequence[Started]) -> str | None:
    """The line on the part that failed first, as far as that shows; None: none did."""
    ended = [part for part in started if not part.dropped]
    for part in ended:
        if part.child.returncode in KILLED:
            return f"{part.path} (process {part.child.pid}) was killed by signal {-part.child.returncode}"
    said = {part.path: part.error for part in ended if part.child.returncode in (1, WRONG_INPUT)}
    errors = {path: error for path, error in said.items() if error}
    first = {path: error for path, error in errors.items() if not any(words in error for words in FOLLOWS)}
    if len(first) == len(started) and len(set(first.values())) == 1:
        return next(iter(first.values()))  # of the whole, which all have found
    return next((f"{path}: {error}" for path, error in (first or errors).items()), None)


def check_cores(cores: int | None) -> None:
    """Leaves this process, and so its children, so many of the cores that it has."""
    if cores is None:
        return
    allowed = sorted(os.sched_getaffinity(0))
    if cores > len(allowed):
        raise NetworkError(f"--cores {cores}: there are {len(allowed)}")
    os.sched_setaffinity(0, allowed[:cores])
