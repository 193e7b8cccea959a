"""The task-queue firmware on the whole machine: any number of cores, every length, one way and both, however flags are set.
The machine's checker compares every frame byte for byte and ends the run with an error for anything damaged, doubled,
out of order, or lost without being counted as a drop."""

from pathlib import Path

import pytest

from harness.net.packets import Packet, write
from tests.firmware.frames import frames
from tests.sample import seldom

MORE = pytest.mark.slow


def share(ran, payload: int) -> float:
    """Percent of what the line can carry both ways."""
    line = 10e9 / 8 / (max(payload + 46, 64) + 20)
    window = ran.value("checker", "window") / 1e9
    frames = ran.value("checker", "window_sent") + ran.value("checker", "window_received")
    return 100 * frames / window / (2 * line)


@pytest.mark.parametrize("cores", [8, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 16))])
@pytest.mark.parametrize("payload", [18, 333, 1472])
def test_both_ways(nic10g, cores: int, payload: int) -> None:
    ran = nic10g(processors=cores).run("--payload", payload, "--count", 600)
    assert (ran.sent, ran.received, ran.value("checker", "counted_drops")) == (600, 600, 0)


def test_line_rate_with_eight_cores(nic10g) -> None:
    """The published figure is 98.6 % of the duplex peak."""
    ran = nic10g(processors=8).run("--payload", 1472, "--frames", 4000, "--warmup", 1000)
    assert share(ran, 1472) >= 98.6
    assert (ran.value("checker", "missing"), ran.value("checker", "counted_drops")) == (0, 0)


@pytest.mark.soak
def test_line_rate_with_six_cores(nic10g) -> None:
    """The published figure is 97.6 %; here with a task for every single frame."""
    ran = nic10g(processors=6).run("--payload", 1472, "--frames", 4000, "--warmup", 1000, "--task_frames", 1)
    assert share(ran, 1472) >= 97.6


@pytest.mark.parametrize("ordering", [1, 2, 3])
def test_a_task_for_every_frame(nic10g, ordering: int) -> None:
    """Many cores finish out of order; what leaves and what the host gets is in order."""
    ran = nic10g(processors=8).run("--payload", 18, "--count", 700, "--task_frames", 1, "--ordering", ordering)
    assert (ran.sent, ran.received) == (700, 700)


@seldom
@MORE
def test_without_atomic_windows(nic10g) -> None:
    """The firmware finds out, and does without."""
    ran = nic10g(processors=4, atomic_flags="false").run("--payload", 100, "--count", 500)
    assert (ran.sent, ran.received) == (500, 500)


def test_every_length(nic10g, tmp_path: Path) -> None:
    lengths = [*range(60, 128), 512, 1513, 1514, 1518] * 3
    out, into = tmp_path / "out.pcap", tmp_path / "in.pcap"
    write(out, frames(lengths, bytes.fromhex("020000000009")))
    write(into, frames(lengths, bytes.fromhex("020000000001")))
    ran = nic10g(processors=8).run("--send", out, "--receive", into)
    assert (ran.sent, ran.received) == (len(lengths), len(lengths))


@pytest.mark.parametrize("length,told", [(2049, "packet 2: it has 2049 bytes; at most 1518 fit"), (1515, "packet 2: it has 1515 bytes; at most 1514 fit without a VLAN tag"), (13, "frame 2 has 13 bytes, less than an Ethernet header")])
def test_frames_that_are_none_end_the_run_with_a_line(nic10g, tmp_path: Path, length: int, told: str) -> None:
    """Longer ones than a buffer, and shorter ones than a header."""
    write(tmp_path / "out.pcap", [Packet(0, bytes(60)), Packet(1000, bytes(length))])
    ran = nic10g(processors=8).run("--send", tmp_path / "out.pcap", ok=False)
    assert ran.status == 1 and told in ran.err and len(ran.err.splitlines()) == 1


def test_one_way_only(nic10g) -> None:
    machine = nic10g(processors=8)
    ran = machine.run("--payload", 200, "--count", 700, "--ratio_send", 0)
    assert (ran.sent, ran.received) == (0, 700)
    ran = machine.run("--payload", 200, "--count", 700, "--ratio_receive", 0)
    assert (ran.sent, ran.received) == (700, 0)


def test_overload_drops_and_counts(nic10g) -> None:
    """Small frames come faster than any number of cores takes them; what is kept comes in order."""
    ran = nic10g(processors=8).run("--payload", 18, "--count", 6000, "--mode", "rate")
    assert ran.sent == 6000
    assert 0 < ran.value("checker", "counted_drops") == 6000 - ran.received


def test_failing_transfers_are_repeated(nic10g) -> None:
    faults = "read_abort/97,write_abort/61,read_parity/83,write_parity/71"
    ran = nic10g(processors=8).run("--payload", 300, "--count", 700, "--set", f"host.faults={faults}")
    assert (ran.sent, ran.received, ran.value("checker", "counted_drops")) == (700, 700, 0)
    assert min(ran.value("nic.dma_read", "errors"), ran.value("nic.dma_write", "errors")) > 10


def test_a_run_repeats_exactly(nic10g) -> None:
    first, second = (nic10g(processors=8).run("--payload", 250, "--count", 300).statistics for _ in range(2))
    assert first == second


@pytest.mark.soak
@pytest.mark.parametrize("task_frames", [0, 1])
@pytest.mark.parametrize("payload", [18, 100, 333, 800, 1472])
def test_ten_million_cycles(nic10g, payload: int, task_frames: int) -> None:
    """Every frame that comes out is compared with what went in, for 50 ms of traffic."""
    cycles = "cpu_clk:10000000"
    ran = nic10g(processors=8).run("--payload", payload, "--cycles", cycles, "--task_frames", task_frames, timeout=1800)
    assert min(ran.sent, ran.received) > 35_000
    assert ran.value("checker", "counted_drops") == 0
