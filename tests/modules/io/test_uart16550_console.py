"""uart16550 with a console: a pseudo-terminal or a socket, clients that come and go, the record of what is typed, and wrong places."""

import os
import random
import re
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness.run import console
from tests.modules.harness import Bench, collect
from tests.modules.io.registers import Accesses, Registers
from tests.sample import seldom

DATA, FCR, LCR = 0, 2, 3
EIGHT = 3
IPV6 = "00000000000000000000000000000001" in Path("/proc/net/if_inet6").read_text() if Path("/proc/net/if_inet6").exists() else False
EXPECTED = 'write false, true, pty, pty:LINK, unix:PATH, tcp:PORT or tcp:HOST:PORT; the last five also with ",wait"'


@pytest.fixture(scope="module")
def machine(bench: Bench) -> Path:
    """A port whose characters arrive while there is room, on a clock of 10 ns."""
    device = Registers(
        bench, "uart16550", "line_control = 3; instant = true;", after=collect("dut", "received(character)"), interrupt=False
    )
    return device.memory.simulator


@pytest.fixture
def start(machine: Path, tmp_path: Path):
    """start(where, …): a run with the console there, which prints what it has when it starts, and reads each character that comes."""
    accesses = Accesses().write(0, FCR, 1)
    for k, character in enumerate(b"hi"):
        accesses.write(5 + k, DATA, character)
    (tmp_path / "accesses").write_text("\n".join(accesses.lines) + "\n")
    started = []

    def run(
        where: str, *words: str, accesses: str = "accesses", ends: str = "dut.received >= 3"
    ) -> subprocess.Popen[str]:
        settings = {
            "requester[0].script": accesses,
            "dut.output": "shown",
            "dut.terminal": where,
        }
        given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        command = [machine, "--quiet", *given, "--until", ends, "--time", "60 s", *words]
        started.append(
            subprocess.Popen(
                command,
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield run
    for one in started:
        one.kill()
        one.communicate()


def place(running: subprocess.Popen[str]) -> str:
    """Where it says that its console is."""
    for line in running.stderr:
        if found := re.search(r"the console is at (\S+)", line):
            return found[1]
    raise AssertionError("it does not say where its console is")


def read(client: int, size: int, seconds: float = 60) -> bytes:
    """So many bytes, or what there is before the end."""
    text, ends = b"", time.monotonic() + seconds
    while len(text) < size and select.select([client], [], [], max(0, ends - time.monotonic()))[0]:
        try:
            more = os.read(client, size - len(text))
        except OSError:
            break
        if not more:
            break
        text += more
    return text


def came(out: str) -> bytes:
    return bytes(int(line.split()[2]) for line in out.splitlines() if line.startswith("@received"))


@pytest.mark.parametrize(
    "where", ["unix:c", "unix:c,wait", "tcp:0", "tcp:127.0.0.1:0,wait", "tcp:localhost:0", "pty", "pty:c", "pty:c,wait"]
)
def test_a_client(where: str, start, tmp_path: Path) -> None:
    """It sees what was sent before it came; what it types arrives in order; nothing is left afterwards."""
    running = start(where)
    at = place(running) if not where.startswith("unix") else f"unix:{tmp_path}/c"
    if where.startswith("pty:"):
        assert os.readlink(tmp_path / "c") == at
        at = f"pty:{tmp_path}/c"
    client = console.connect(at, 60)
    assert read(client, 2) == b"hi"
    os.write(client, b"xyz")
    out, err = running.communicate(timeout=60)
    os.close(client)
    assert running.returncode == 0 and came(out) == b"xyz", err
    assert (tmp_path / "shown").read_text() == "hi" and not os.path.lexists(tmp_path / "c")


def test_one_client_after_the_other(start, tmp_path: Path) -> None:
    """The second waits until the first, which is killed, has left."""
    running = start("unix:c")
    first = console.connect(f"unix:{tmp_path}/c", 60)
    assert (tmp_path / "c").stat().st_mode & 0o077 == 0, "others may connect"
    assert read(first, 2) == b"hi"
    second = console.connect(f"unix:{tmp_path}/c")
    os.write(first, b"x")
    os.write(second, b"yz")
    time.sleep(0.1)
    assert running.poll() is None
    os.close(first)
    out, _ = running.communicate(timeout=60)
    os.close(second)
    assert came(out) == b"xyz"


def test_a_record_is_the_run(start, machine: Path, tmp_path: Path) -> None:
    """Any bytes; the script of what was typed gives the same events and statistics, twice, and restored runs, too."""
    accesses = Accesses().write(0, FCR, 1)
    for k in range(20_000):
        accesses.read(100_000 + 5000 * k, DATA)
    (tmp_path / "reads").write_text("\n".join(accesses.lines) + "\n")
    text = random.Random(1).randbytes(500) + b'\0"\\\n\r'
    running = start("unix:c,wait", "--set", "dut.record=typed", accesses="reads", ends=f"dut.received >= {len(text)}")
    client = console.connect(f"unix:{tmp_path}/c", 60)
    os.write(client, text[:250])
    time.sleep(0.05)
    os.write(client, text[250:])
    out, err = running.communicate(timeout=120)
    os.close(client)
    assert running.returncode == 0 and came(out) == text, err
    for _ in range(2):
        again = start("false", "--set", "dut.script=typed", accesses="reads", ends=f"dut.received >= {len(text)}")
        repeated, err = again.communicate(timeout=120)
        assert again.returncode == 0 and repeated == out, err


@seldom
def test_a_client_that_never_reads(start, tmp_path: Path) -> None:
    """The run ends; a client that comes late gets the last 64 KiB."""
    accesses = Accesses().write(0, FCR, 1)
    count = 300_000
    for k in range(count // 4):
        for i in range(4):
            accesses.write(4 * k + i, DATA, 33 + (4 * k + i) % 90)
    (tmp_path / "many").write_text("\n".join(accesses.lines) + "\n")
    running = start("unix:c,wait", accesses="many", ends=f"dut.sent >= {count}")
    client = console.connect(f"unix:{tmp_path}/c", 60)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    os.close(client)
    assert (tmp_path / "shown").stat().st_size == count


def test_output_is_kept(start, tmp_path: Path) -> None:
    accesses = Accesses().write(0, FCR, 1)
    for k in range(100_000):
        accesses.write(k, DATA, 33 + k % 90)
    (tmp_path / "many").write_text("\n".join(accesses.lines) + "\n")
    running = start("unix:c", accesses="many")
    while not (tmp_path / "c").exists():
        time.sleep(0.01)
    while max((file.stat().st_size for file in tmp_path.glob("shown.*")), default=0) < 100_000:
        time.sleep(0.01)
    client = console.connect(f"unix:{tmp_path}/c")
    whole = bytes(33 + k % 90 for k in range(100_000))
    text = read(client, 65536)
    assert text == whole[-65536:]
    os.write(client, b"xyz")
    running.communicate(timeout=60)
    os.close(client)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("", f'there is no console at "" ({EXPECTED})'),
        ("yes", f'there is no console at "yes" ({EXPECTED})'),
        ("unix:", f'there is no console at "unix:" ({EXPECTED})'),
        ("true,wait", f'there is no console at "true,wait" ({EXPECTED})'),
        ("tcp:", 'the console "tcp:" has no port: "" (write a number from 0 to 65535; 0 takes one that is free)'),
        ("tcp:-1", 'the console "tcp:-1" has no port: "-1" (write a number from 0 to 65535; 0 takes one that is free)'),
        ("tcp:host:65536", 'the console "tcp:host:65536" has no port: "65536" (write a number from 0 to 65535; 0 takes one that is free)'),
        ("unix:file", "cannot open the console at unix:file: there is a file of this name (name another one, or remove it)"),
        ("pty:file", 'cannot make the link "file" for the console: there is a file of this name (name another one, or remove it)'),
        ("unix:none/c", "cannot open the console at unix:none/c: No such file or directory"),
        ("unix:busy", "cannot open the console at unix:busy: another process listens there (name another path)"),
        ("tcp:192.0.2.1:0", "cannot open the console at tcp:192.0.2.1:0: Cannot assign requested address"),
        ("unix:shown", 'cannot write "shown" for dut.terminal: dut.output writes it too (name another file)'),
        (f"unix:{120 * 'x'}", f'the console\'s socket "{120 * "x"}" has a name of 120 bytes; at most 99 are possible (name a shorter path)'),
    ],
)  # fmt: skip
def test_a_wrong_place(where: str, why: str, start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with socket.socket(socket.AF_UNIX) as busy:
        here = Path.cwd()
        os.chdir(tmp_path)
        busy.bind("busy")
        os.chdir(here)
        busy.listen()
        running = start(where)
        _, err = running.communicate(timeout=60)
    assert running.returncode != 0 and err.splitlines()[-1].endswith(f"error: dut: {why}"), err
    assert (tmp_path / "file").read_text() == "kept" and (tmp_path / "busy").exists()


@pytest.mark.parametrize(("where", "host"), [("tcp:*:0", "*"), ("tcp:0.0.0.0:0,wait", "0.0.0.0")])
def test_others_may_connect_after_a_warning(where: str, host: str, start) -> None:
    running = start(where)
    port = int(place(running).rpartition(":")[2])
    warning = "can type at the console (tcp:PORT is this computer alone)"
    assert running.stderr.readline().endswith(f"warning: every computer that reaches {host} {warning}\n")
    client = console.connect(f"tcp:{port}", 60)
    os.write(client, b"xyz")
    assert running.communicate(timeout=60)[0].count("@received") == 3
    os.close(client)


@pytest.mark.skipif(not IPV6, reason="this machine has no IPv6")
def test_an_address_of_ipv6(start) -> None:
    """What is printed is what a client takes."""
    running = start("tcp:[::1]:0")
    at = place(running)
    assert re.fullmatch(r"tcp:\[::1\]:\d+", at)
    client = console.connect(at, 60)
    os.write(client, b"xyz")
    _, err = running.communicate(timeout=60)
    os.close(client)
    assert running.returncode == 0 and "every computer" not in err


def test_what_killed_runs_leave(start, tmp_path: Path) -> None:
    """A socket and a link of a run that was killed are replaced; one that ends by a signal removes its own."""
    for where in ("unix:c", "pty:l"):
        for number in (signal.SIGKILL, signal.SIGTERM):
            running = start(where)
            name = tmp_path / where[-1]
            while not os.path.lexists(name):
                time.sleep(0.01)
            time.sleep(0.2)
            running.send_signal(number)
            running.communicate(timeout=60)
            assert os.path.lexists(name) == (number == signal.SIGKILL)


def test_checkpoints(start, machine: Path, tmp_path: Path) -> None:
    """A restored run opens the console that it names; one of a server has none."""
    done = start("false", "--checkpoint", "point", ends="cycles(clk) >= 50")
    assert done.wait(60) == 0
    restored = subprocess.Popen(
        [machine, "--quiet", "--restore", "point", "--set", "dut.terminal=unix:c,wait", "--set", "dut.record=typed", "--until", "dut.received >= 3", "--time", "60 s"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    client = console.connect(f"unix:{tmp_path}/c", 60)
    os.write(client, b"xyz")
    out, err = restored.communicate(timeout=60)
    os.close(client)
    assert came(out) == b"xyz", err
    words = ["--restore", "point", "--set", "dut.script=typed", "--until", "dut.received >= 3", "--time", "60 s"]
    again = subprocess.run([machine, "--quiet", *words], cwd=tmp_path, capture_output=True, text=True)
    assert again.stdout == out, again.stderr
    typed = subprocess.run(
        [machine, "--quiet", "--restore", "point", "--set", "dut.terminal=true", "--until", "dut.received >= 3", "--time", "60 s"],
        cwd=tmp_path, input="xyz", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert came(typed.stdout) == b"xyz", typed.stderr  # at standard input
    served = subprocess.run(
        [machine, "--quiet", "--restore", "point", "--serve", "1"],
        input="run --set requester[0].script=../accesses --set dut.terminal=pty --time 1us\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert served.returncode == 1 and "1 ends 1" in served.stdout
    said = (tmp_path / "run/log.txt").read_text()
    assert (
        'the console "pty" cannot be opened: runs of --serve have none (leave it out, or run this alone with --restore)'
        in said
    )


def test_standard_input_has_commands_or_what_is_typed(machine: Path, tmp_path: Path) -> None:
    words = ["--interactive=json", "--set", "requester[0].script=accesses", "--set", "dut.terminal=-"]
    (tmp_path / "accesses").touch()
    done = subprocess.run([machine, "--quiet", *words], input="quit\n", cwd=tmp_path, capture_output=True, text=True)
    why = "standard input has the commands of --interactive=json (name another place, such as pty)"
    assert done.stderr.endswith(f'the console "-" cannot be opened: {why}\n')
    assert (done.returncode, done.stdout) == (1, "")
