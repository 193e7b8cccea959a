"""What a run shows on a terminal of how far it is: how much is simulated, how fast, and its share of the whole."""

import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.optimised

MACHINE = "instance p : source;  instance k : sink;  p.out -> k.in : uint32;\n"  # on a clock of 1 GHz
ERASE = "\r\033[K"
CYCLES = 1_000_000_000
LINES = 2_000_000


def build(build_dir: Path, folder: Path, *options: str) -> Path:
    (folder / "m.lss").write_text(MACHINE)
    subprocess.run([build_dir / "bin/lss", "build", folder / "m.lss", "-o", folder / "sim", *options], check=True)
    return folder / "sim"


@pytest.fixture(scope="module")
def simulator(build_dir, tmp_path_factory) -> Path:
    return build(build_dir, tmp_path_factory.mktemp("progress"))


def read(terminal: int) -> str:
    """What was written since; empty when nobody is left to write."""
    try:
        return os.read(terminal, 4096).decode()
    except OSError:
        return ""


def shown(simulator: Path, *arguments, least: float = 0.01) -> tuple[float, float | None]:
    """Milliseconds and per cents of the first line that is so many milliseconds on; the run then ends, and erases it."""
    terminal, other = pty.openpty()
    run = subprocess.Popen([simulator, *arguments], stderr=other, stdout=subprocess.DEVNULL)
    os.close(other)
    text, found = "", None
    try:
        while not found and (more := read(terminal)):
            text += more
            for line in text.split(ERASE)[1:-1]:
                if not line or line.startswith("sim: reading"):  # its input, which is large
                    continue
                match = re.fullmatch(r"([\d.]+) ms simulated   ([\d.]+) M cycles/s(?:   ( *\d+) %)?", line)
                assert match, line
                if not found and float(match[1]) >= least:
                    found = float(match[1]), float(match[3]) if match[3] else None
        assert found, text
        run.send_signal(signal.SIGINT)
        while more := read(terminal):
            text += more
        assert text.split(ERASE)[-1].startswith("sim: interrupted")
    finally:
        run.kill()
        run.wait()
        os.close(terminal)
    return found


@pytest.mark.parametrize("bounds", [["--cycles", CYCLES], ["--time", "1 s"], ["--time", "10 s", "--cycles", CYCLES], ["--time", "1 s", "--cycles", 10 * CYCLES]])
def test_the_share_is_of_the_nearest_bound(simulator, bounds):
    ms, share = shown(simulator, *map(str, bounds), least=30)
    assert share == pytest.approx(ms / 10, abs=1)


def test_without_a_bound_the_share_is_of_the_inputs(build_dir, tmp_path):
    """The build is a slow one: a fast one may have read all before anything is shown."""
    simulator = build(build_dir, tmp_path, "--debug", "-O0")
    (tmp_path / "script").write_text("".join(f"{i:9} {i:9}\n" for i in range(LINES)))
    ms, share = shown(simulator, "--set", f"p.script={tmp_path / 'script'}", least=0.06)
    assert share == pytest.approx(100 * ms * 1e6 / LINES, abs=4)


def test_without_bound_and_inputs_there_is_none(simulator):
    assert shown(simulator)[1] is None


def test_a_terminal_to_which_the_machine_prints_shows_no_progress(simulator):
    """Half a line of a console is not erased: neither where the machine prints on it, nor where it reads from it."""
    terminal, other = pty.openpty()
    run = subprocess.Popen([simulator, "--cycles", "1000000000000", "--set", "k.record=-"], stdout=other, stderr=other)
    os.close(other)
    text = ""
    try:
        ends = time.monotonic() + 0.7
        while time.monotonic() < ends and (more := read(terminal)):
            text += more
        run.send_signal(signal.SIGINT)
        while more := read(terminal):
            text += more
        assert text.startswith("0 0\r\n1 1\r\n") and "interrupted" in text and "\033" not in text
    finally:
        run.kill()
        run.wait()
        os.close(terminal)


def test_other_files_than_terminals_get_none_of_it(simulator):
    assert subprocess.run([simulator, "--cycles", "50000000"], capture_output=True, text=True, check=True).stderr.count("ms") == 1


def test_lines_for_tools(simulator, tmp_path):
    """One each fifth of a second, and one at the end; the machine may print between them."""
    arguments = [simulator, "--quiet", "--progress=json", "--cycles", "1000000000000", "--stats", tmp_path / "s.json"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as run:
        lines = [json.loads(run.stderr.readline()) for _ in range(3)]
        run.send_signal(signal.SIGINT)
        lines += [json.loads(line) for line in run.stderr]
    ran = json.loads((tmp_path / "s.json").read_text())["run"]
    assert [line.keys() for line in lines] == len(lines) * [{"time_fs": 0, "cycles": 0, "per_second": 0, "share": 0}.keys()]
    assert lines == sorted(lines, key=lambda line: line["time_fs"]) and all(line["per_second"] > 1e4 for line in lines)
    assert lines[-1]["cycles"] == ran["cycles"] and lines[-1]["time_fs"] == ran["simulated_ns"] * 10**6
    assert lines[-1]["share"] == pytest.approx(ran["cycles"]["clk"] / 1e12)
    brief = subprocess.run([simulator, "--quiet", "--progress=json", "--until", "k.items >= 3", "--set", "k.record=-"], capture_output=True, text=True, check=True)
    (line,) = brief.stderr.splitlines()
    assert json.loads(line)["share"] is None and json.loads(line)["cycles"] == {"clk": 3} and brief.stdout.startswith("0 0\n")


def test_how_fast_it_was(simulator, tmp_path):
    began = time.monotonic()
    arguments = [simulator, "--cycles", "5000000", "--run-dir", tmp_path / "run"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    timing = json.loads((tmp_path / "run" / "timing.json").read_text())
    assert 0 < timing["host_seconds"] < time.monotonic() - began
    assert timing["cycles_per_second"] * timing["host_seconds"] == pytest.approx(5_000_000)
    (millions,) = re.findall(r"\(([\d.]+) M cycles/s\)", done.stderr)
    assert float(millions) == pytest.approx(timing["cycles_per_second"] / 1e6, abs=0.01)


def test_a_restored_run_says_what_it_reads(simulator, tmp_path):
    """On the terminal's line, which is gone in the end; with --quiet nothing."""
    subprocess.run([simulator, "--quiet", "--cycles", "100", "--checkpoint", tmp_path / "point"], check=True)
    for quiet in ([], ["--quiet"]):
        terminal, other = pty.openpty()
        run = subprocess.Popen([simulator, *quiet, "--restore", tmp_path / "point", "--cycles", "200"], stderr=other, stdout=subprocess.DEVNULL)
        os.close(other)
        text = ""
        while more := read(terminal):
            text += more
        os.close(terminal)
        assert run.wait() == 0
        said = ("reading the checkpoint", "comparing input files with those of the checkpoint", "unpacking the state")
        assert [f"sim: {what}" in text.split(ERASE) for what in said] == 3 * [not quiet]
        assert quiet or text.split(ERASE)[-1].startswith("sim: all cycles were simulated")


LARGE = """import memory_types;
instance requester : memory_source;
instance store : memory_state { size = 32 MiB; };
requester.memory -> store.port;
"""


@pytest.mark.parametrize("way", [["--cycles", "10"], ["--interactive", "--cycles", "10"]])
def test_large_files_that_are_read_are_named(build_dir, tmp_path, way):
    """On the terminal's line until the run, or the prompt, begins; small ones are not."""
    (tmp_path / "m.lss").write_text(LARGE)
    subprocess.run([build_dir / "bin/lss", "build", "-O0", tmp_path / "m.lss", "-o", tmp_path / "sim"], check=True)
    for name, size, said in (("large", 32 << 20, True), ("small", 1 << 20, False)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
        terminal, other = pty.openpty()
        run = subprocess.Popen([tmp_path / "sim", *way, "--set", f"store.image={tmp_path / name}"], stderr=other, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(other)
        text = ""
        while more := read(terminal):
            text += more
        os.close(terminal)
        assert run.wait() == 0, text
        assert (f'sim: reading "{tmp_path / name}" (32 MiB)' in text.split(ERASE)) == said, text
        assert "reading" not in text.split(ERASE)[-1]
