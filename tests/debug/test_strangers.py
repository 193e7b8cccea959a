"""The port of --gdb is not for pages in a browser: what they send carries out no command and changes no file."""

import random
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.debug.remote import Remote, framed

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH")
COMMANDS = ("QStartNoAckMode", "Hg0", "k", "vKill;1", "c", "D", "vCont;c", "M0,4:deadbeef", "qRcmd," + b"checkpoint stolen".hex(), "qRcmd," + b"set core.pc = 4".hex())


class Port(Remote):
    """A connection to a port of this host."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.received, self.output = b"", ""


@pytest.fixture
def waiting(machine, firmware, tmp_path: Path) -> Iterator[tuple[subprocess.Popen, int]]:
    """A simulator that waits at a port, and which."""
    command = [machine("single"), "--program", firmware("hello"), "--quiet", "--gdb", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process, int(process.stderr.readline().rpartition(":")[2])
    process.kill()
    process.communicate()


def request(rng: random.Random, port: int) -> bytes:
    """What a browser sends: any method, headers of its own and of the page, and a body of the page's choice."""
    commands = rng.sample(COMMANDS, rng.randrange(1, len(COMMANDS)))
    body = b"".join(framed(text.encode()) for text in commands)
    kind = rng.randrange(6)
    if kind == 0:
        return b"\x16\x03\x01" + rng.randbytes(3) + body  # TLS
    if kind == 1:
        return b"\x00\x03\x00\x08!\x12\xa4B" + rng.randbytes(12) + body  # TURN over TCP
    if kind == 2:
        return rng.choice(["\r\n", "*", "\x81\x85", "%", "!", "+++\n"]).encode() + body
    lines = [f"{rng.choice(METHODS)} /{rng.choice(['', body.decode('latin-1')])} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Origin: https://page.example"]
    if kind == 3:
        lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    if kind == 4:
        lines += ["Content-Type: multipart/form-data; boundary=x"]
        body = b"--x\r\nContent-Disposition: form-data; name=\"" + body + b"\"\r\n\r\n" + body + b"\r\n--x--\r\n"
    return ("\r\n".join([*lines, f"Content-Length: {len(body)}"]) + "\r\n\r\n").encode("latin-1") + body


def send_all(process: subprocess.Popen, port: int, count: int, folder: Path) -> None:
    rng = random.Random(5)
    before = sorted(folder.iterdir())
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
            sent = request(rng, port)
            try:
                one.sendall(sent)
                one.shutdown(socket.SHUT_WR)
                said = b"".join(iter(lambda one=one: one.recv(4096), b""))
            except OSError:  # it was closed with what it had not read
                said = b""
            assert said == b"", (sent, said)
    assert process.poll() is None and sorted(folder.iterdir()) == before
    gdb = Port(port)
    assert gdb.ask("?") == "T05thread:1;"
    assert gdb.monitor("where").startswith("0 ns, cycle 0 of ")
    gdb.close()


def test_what_pages_send_is_not_listened_to(waiting, tmp_path: Path) -> None:
    send_all(*waiting, 300, tmp_path)


@pytest.mark.soak
def test_what_pages_send_is_not_listened_to_for_long(waiting, tmp_path: Path) -> None:
    send_all(*waiting, 100_000, tmp_path)


def test_checkpoints_of_monitor_stay_below_the_folder(machine, firmware, debugged, tmp_path: Path) -> None:
    """And replace checkpoints only."""
    (tmp_path / "text").write_text("mine")
    (tmp_path / "link").symlink_to("text")
    (tmp_path / "up").symlink_to("..")
    (tmp_path / "inner").mkdir()
    gdb = debugged(machine("single"), "--program", firmware("hello")).remote()
    outside, other = "it is not below the folder in which the simulator runs", "what has this name is another kind of file"
    for name, why in {
        "/tmp/stolen": outside, "../stolen": outside, "up/stolen": outside, "text": other, "link": "what has this name is no file", "inner": "what has this name is no file",
    }.items():  # fmt: skip
        assert gdb.monitor(f"checkpoint {name}") == f'cannot write the checkpoint "{name}": {why}\n'
    for name in ("point", "inner/point", "point", str(tmp_path / "absolute")):
        assert gdb.monitor(f"checkpoint {name}") == ""
    assert (tmp_path / "text").read_text() == "mine" and not (tmp_path.parent / "stolen").exists()
    assert {path.name for path in tmp_path.iterdir()} >= {"point", "absolute"}
