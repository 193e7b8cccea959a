"""A terminal at the console of a running simulator: `spinach console WHERE`, WHERE as in the simulator's --console."""

import contextlib
import errno
import os
import select
import socket
import sys
import termios
import time
import tty
from collections.abc import Iterator

LEAVE = b"\x1d"  # Ctrl-]
TIMEOUT = 5.0  # seconds in which the simulator may open its console
FORMS = "write unix:PATH, tcp:PORT, tcp:HOST:PORT, pty:LINK, or the name of the pseudo-terminal"


class ConsoleError(Exception):
    """There is no such console; the text says why, and what to do."""


def _address(where: str) -> tuple[str, int]:
    """The host and the port of tcp:…"""
    host, _, port = where.removeprefix("tcp:").rpartition(":")
    if not (port.isdecimal() and port.isascii() and 0 < int(port) < 65536):
        raise ConsoleError(f'"{where}" has no port: "{port}" (write the number that the simulator has printed)')
    return host.strip("[]") or "127.0.0.1", int(port)


def _device(where: str) -> str:
    """The file of a pseudo-terminal or socket."""
    path = where.removeprefix("pty:").removeprefix("unix:")
    if not path or where == "pty" or not (where.startswith(("pty:", "unix:")) or "/" in where):
        raise ConsoleError(f'there is no console at "{where}" ({FORMS})')
    return path


def other_programs(where: str) -> list[str]:
    """Commands that do the same."""
    if where.startswith("tcp:"):
        host, port = _address(where)
        return [f"socat -,raw,echo=0,escape=0x1d TCP:{host}:{port}"]
    path = _device(where)
    if where.startswith("unix:"):
        return [f"socat -,raw,echo=0,escape=0x1d UNIX-CONNECT:{path}"]
    return [f"socat -,raw,echo=0,escape=0x1d {path},raw,echo=0", f"screen {path}"]


def _connect(where: str) -> int:
    """A descriptor of the console."""
    if where.startswith("tcp:"):
        with socket.create_connection(_address(where)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection.detach()
    if where.startswith("unix:"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(_device(where))
            return connection.detach()
    return os.open(_device(where), os.O_RDWR | os.O_NOCTTY)


def connect(where: str, timeout: float = TIMEOUT) -> int:
    """The same, when the simulator begins a little later, too."""
    ends = time.monotonic() + timeout
    while True:
        try:
            return _connect(where)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ECONNREFUSED) or time.monotonic() > ends:
                why = error.strerror or str(error)
                raise ConsoleError(
                    f'no console at "{where}": {why} (start a simulator with --console {where})'
                ) from None
        time.sleep(0.02)


@contextlib.contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Each character as it is typed, without echo, if this is a terminal."""
    if not os.isatty(terminal):
        yield
        return
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _read(descriptor: int) -> bytes:
    """What is there; nothing at the end, also where that is an error of the other side."""
    try:
        return os.read(descriptor, 4096)
    except OSError as error:
        if error.errno in (errno.EIO, errno.ECONNRESET):
            return b""
        raise


def _write(descriptor: int, text: bytes) -> bool:
    """Everything; false if nobody is there any more."""
    try:
        while text:
            text = text[os.write(descriptor, text) :]
    except OSError as error:
        if error.errno in (errno.EIO, errno.EPIPE, errno.ECONNRESET):
            return False
        raise
    return True


def exchange(console: int, keyboard: int, screen: int) -> bool:
    """Until the simulator ends; true if the person has left before."""
    terminal = os.isatty(keyboard)
    sources = [console, keyboard]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if console in ready:
            shown = _read(console)
            if not shown or not _write(screen, shown):
                return False
        if keyboard in ready:
            typed, leaves, _ = _read(keyboard).partition(LEAVE) if terminal else (_read(keyboard), b"", b"")
            if leaves or (terminal and not typed):
                _write(console, typed)
                return True
            if not typed:
                sources.remove(keyboard)  # a pipe is at its end; what the machine answers is still to come
            elif not _write(console, typed):
                sources.remove(keyboard)


def run(where: str) -> int:
    """The command; returns its status."""
    for command in other_programs(where):
        print(f"the same with other programs: {command}", file=sys.stderr)
    console = connect(where)
    keyboard, screen = sys.stdin.fileno(), sys.stdout.fileno()
    print("Ctrl-] leaves, and the run goes on" if os.isatty(keyboard) else "connected", file=sys.stderr)
    with _raw(keyboard):
        left = exchange(console, keyboard, screen)
    os.close(console)
    print("\nleft; the run goes on" if left else "\nthe console is closed", file=sys.stderr)
    return 0
