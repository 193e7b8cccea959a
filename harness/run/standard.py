"""Standard output and error of a command: what it prints there is a result like any file, so losing it is a failure."""

import io
import os
import signal
import sys
from collections.abc import Callable


class _Remembering(io.FileIO):
    """A descriptor that remembers its first error: argparse, for one, drops them."""

    error: OSError | None = None

    def write(self, data: bytes) -> int | None:
        try:
            return super().write(data)
        except OSError as error:
            self.error = self.error or error
            raise


def _writer(number: int) -> io.TextIOWrapper:
    """Names of files are bytes, which are printed as they were given."""
    raw = _Remembering(number, "wb", closefd=False)
    lines = number == 2 or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), errors="surrogateescape", line_buffering=lines)


def _open() -> None:
    """Takes the descriptors that the process was started without, so that no file that is opened later gets their
    numbers; writing there fails."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY)
    sys.stdout, sys.stderr = _writer(1), _writer(2)


def lost(stream: io.TextIOWrapper | None = None) -> OSError | None:
    """What went wrong with standard output, or another of the two, if anything did."""
    stream = stream or sys.stdout
    try:
        stream.flush()
    except OSError as error:
        return error
    return getattr(getattr(stream.buffer, "raw", None), "error", None)


def guard(name: str, main: Callable[[], int]) -> int:
    """Runs a command; when what it printed is lost, that is one line on standard error and the status 1; of a closed
    pipe there is no line, and the status is that of a process which SIGPIPE ended."""
    _open()
    try:
        status = main()
    except SystemExit as ended:  # argparse, after --help
        status = ended.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
        status = status if isinstance(status, int) else int(status is not None)
    error = lost()
    if isinstance(error, BrokenPipeError):  # the reader has what it wanted, as `head` has: no word, but no success
        status = 128 + signal.SIGPIPE
    elif error is not None:
        print(f"{name}: cannot write to standard output: {error.strerror}", file=sys.stderr)
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        if lost(stream):
            status = status or 1
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)  # or Python complains once more when it ends
    return status
