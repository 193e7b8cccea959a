"""What the 10 Gb/s NIC's hardware carries without processors, and what its driver says to wrong input.

The traffic generator does what a firmware must and decides nothing: descriptors from the host, transfers, return entries, reports.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sample import sampled


@pytest.fixture(scope="module")
def simulator(build_dir: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("nic10g_hardware_limit") / "hardware_limit"
    command = [build_dir / "bin/lss", "build", root / "examples/nic10g/nic10g.lss", "-o", made, "-Dtraffic_generator=true"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def share(ran, payload: int, ways: tuple[str, ...] = ("sent", "received")) -> float:
    """Percent of what the line can carry in these directions."""
    line = 10e9 / 8 / (max(payload + 46, 64) + 20) * len(ways)
    frames = sum(ran.value("checker", f"window_{way}") for way in ways)
    return 100 * frames / (ran.value("checker", "window") / 1e9) / line


@pytest.mark.parametrize(("payload", "least"), sampled([(1472, 99.5), (1000, 99.5), (18, 30)]))
def test_both_ways(simulator: Path, run_sim: Callable, payload: int, least: float) -> None:
    """Every frame byte for byte and in order (the checker ends the run otherwise), none lost."""
    ran = run_sim(simulator, "--payload", payload, "--frames", 1000, "--warmup", 400)
    assert share(ran, payload) >= least
    assert ran.value("checker", "counted_drops") == 0 and ran.value("checker", "missing") == 0


@pytest.mark.parametrize("way", sampled(["sent", "received"], first=1))
def test_one_way(simulator: Path, run_sim: Callable, way: str) -> None:
    ratio = "--ratio_receive" if way == "sent" else "--ratio_send"
    ran = run_sim(simulator, "--payload", 1472, ratio, 0, "--frames", 800, "--warmup", 200)
    assert share(ran, 1472, (way,)) >= 99.5


def test_frames_that_are_too_many_are_dropped_and_counted(simulator: Path, run_sim: Callable) -> None:
    """Minimum frames at the full rate of the wire exceed the frame memory; what comes through is whole and in order."""
    ran = run_sim(simulator, "--payload", 18, "--ratio_send", 0, "--mode", "rate", "--count", 2000)
    dropped = ran.value("checker", "counted_drops")
    assert dropped > 0 and ran.value("checker", "received") + dropped == 2000


def test_conversations(simulator: Path, run_sim: Callable, root: Path, tmp_path: Path) -> None:
    """Frames of TCP wait for what they answer, whichever end it comes from."""
    command = [sys.executable, "-m", "harness", "split", root / "examples/tigon2/traffic/tcp.pcap"]
    command += ["--host", "02:00:00:00:00:01", "--out", tmp_path]
    subprocess.run([str(word) for word in command], check=True, cwd=root, capture_output=True)
    files = ["--send", tmp_path / "send.pcap", "--receive", tmp_path / "receive.pcap"]
    ran = run_sim(simulator, "--mode", "correlated", *files, "--think", 0, "--watchdog", "100ms")
    assert ran.value("traffic_replay", "conversations") >= 4 and ran.value("traffic_replay", "round_trips_host") > 20
    assert ran.value("checker", "missing") == 0 and ran.value("driver", "frames_received") > 50


@pytest.mark.parametrize(
    ("define", "told"),
    [
        ("processors=17", "this machine has 1 to 16 processors, not 17"),
        ("processors=0", "this machine has 1 to 16 processors, not 0"),
        ("banks=3", "the scratchpad has a power of two of banks, at most 32"),
        ("icache_size=96 B", "a cache needs a whole number of sets, not 96 B with 2 ways and lines of 32 bytes"),
        ("burst=100", "burst must be a multiple of width / 8"),
    ],
)
def test_machines_that_cannot_be_built(lss: Callable, root: Path, define: str, told: str) -> None:
    done = lss("check", root / "examples/nic10g/nic10g.lss", "-D", define, ok=False)
    assert told in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--payload", "17"], "generated frames have 18 to 1472 bytes of payload, not 17"),
        (["--mode", "quick"], "mode is fast, rate, timed or correlated, not 'quick'"),
        (["--payload", "60", "--mode", "timed"], "generated frames carry no time stamps"),
        (["--set", "driver.receive_buffers=512"], "a driver keeps 1 to 511 receive buffers in the ring, not 512"),
        (["--firmware", "none.elf"], "none.elf"),
        (["--firmware", "text"], "text"),
    ],
)
def test_wrong_input_is_reported_in_a_line(
    simulator: Path, run_sim: Callable, tmp_path: Path, arguments: list[str], told: str
) -> None:
    (tmp_path / "text").write_text("no program")
    done = run_sim(simulator, *arguments, ok=False)
    [line] = done.err.strip().splitlines()
    assert told in line
