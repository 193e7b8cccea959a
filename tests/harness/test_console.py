"""`spinach console`: what is typed goes to the console of a simulator, what that shows comes back; Ctrl-] leaves."""

import os
import pty
import select
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.run import console

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """A socket where a console would be."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"tcp:{listener.getsockname()[1]}", listener


def start(where: str, **streams: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "harness", "console", where]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, **streams)


def test_a_pipe(simulator: tuple[str, socket.socket]) -> None:
    """Its end is not that of the console: the answer is still to come."""
    where, listener = simulator
    running = start(where, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    running.stdin.write(b"Ann\n\x1d!")
    running.stdin.close()
    machine, _ = listener.accept()
    assert read(machine.fileno(), b"!") == b"Ann\n\x1d!"
    machine.sendall(b"hello, Ann\n")
    machine.close()
    assert running.stdout.read() == b"hello, Ann\n"
    assert running.wait(60) == 0
    said = running.stderr.read().decode()
    port = where.removeprefix("tcp:")
    assert f"the same with other programs: socat -,raw,echo=0,escape=0x1d TCP:127.0.0.1:{port}\n" in said
    assert "the console is closed" in said


def read(descriptor: int, until: bytes) -> bytes:
    text = b""
    while until not in text and select.select([descriptor], [], [], 60)[0]:
        text += os.read(descriptor, 1000)
    return text


def test_a_terminal(simulator: tuple[str, socket.socket]) -> None:
    """Each character goes as it is typed, Ctrl-C too, and nothing is echoed; Ctrl-] leaves the terminal as it was."""
    where, listener = simulator
    controller, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    running = start(where, stdin=terminal, stdout=terminal)
    machine, _ = listener.accept()
    while termios.tcgetattr(terminal) == before:
        time.sleep(0.01)
    os.write(controller, b"l\x03s\r")
    assert read(machine.fileno(), b"\r") == b"l\x03s\r"
    machine.sendall(b"file$")
    assert read(controller, b"$") == b"file$"
    os.write(controller, b"x\x1d")
    assert read(machine.fileno(), b"x") == b"x"
    assert running.wait(60) == 0 and b"left; the run goes on" in running.stderr.read()
    assert termios.tcgetattr(terminal) == before
    machine.close()


def test_a_console_that_opens_later(tmp_path: Path) -> None:
    def listen() -> None:
        time.sleep(0.2)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(tmp_path / "c"))
            listener.listen()
            listener.accept()

    later = threading.Thread(target=listen)
    later.start()
    os.close(console.connect(f"unix:{tmp_path / 'c'}", 60))
    later.join()


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("c", f'there is no console at "c" ({console.FORMS})'),
        ("pty", f'there is no console at "pty" ({console.FORMS})'),
        ("unix:", f'there is no console at "unix:" ({console.FORMS})'),
        ("tcp:0", '"tcp:0" has no port: "0" (write the number that the simulator has printed)'),
        ("unix:/none", 'no console at "unix:/none": No such file or directory (start a simulator with --console unix:/none)'),
    ],
)
def test_a_wrong_place(where: str, why: str) -> None:
    done = start(where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    _, err = done.communicate(timeout=60)
    assert done.returncode == 1 and err.decode().splitlines()[-1] == f"harness: {why}"


def test_other_programs() -> None:
    assert console.other_programs("pty:con") == ["socat -,raw,echo=0,escape=0x1d con,raw,echo=0", "screen con"]
    assert console.other_programs("unix:c") == ["socat -,raw,echo=0,escape=0x1d UNIX-CONNECT:c"]
