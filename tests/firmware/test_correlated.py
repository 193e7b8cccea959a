"""Correlated traffic through the whole machine and its firmware: a real TCP capture, every frame compared byte for byte."""

from pathlib import Path

import pytest

from harness.net import check, packets
from harness.net.tcp import generate
from tests.modules.conversations import acknowledged_too_early, segments, tcp

pytestmark = pytest.mark.optimised

HOST = "02:00:00:00:00:01"


def write(path: Path, frames: list[tuple[int, bytes]]) -> Path:
    packets.write(path, [packets.Packet(time, data) for time, data in frames])
    return path


def play(machine, folder: Path, send: Path | None, receive: Path | None, *options, ok: bool = True, **parameters):
    sent, received = folder / "sent.pcap", folder / "received.pcap"
    files = [word for name, path in (("--send", send), ("--receive", receive)) if path for word in (name, path)]
    outputs = ("--sent", sent, "--received", received) if ok else ()
    ran = machine(**parameters).run("--mode", "correlated", *files, *outputs, *options, ok=ok)
    return ran, sent, received


@pytest.mark.parametrize("parameters", [{"processors": 1}, {"processors": 2, "name": "tigon2_parallel"}], ids=["one", "parallel"])
def test_a_real_capture(machine, root: Path, tmp_path: Path, parameters: dict) -> None:
    send, receive = packets.split(root / "examples/tigon2/traffic/tcp.pcap", HOST, tmp_path / "split")
    ran, sent, received = play(machine, tmp_path, send, receive, "--think", "0", **parameters)
    for given, found in (send, sent), (receive, received):
        verdict = check.check_files(given, found, conversations=True)
        assert verdict.ok() and verdict.frames_out > 50, verdict.wrong
    there, back = (segments(list(packets.read(file)), way) for file, way in ((sent, True), (received, False)))
    # On the wire a frame is stamped after its last byte, in host memory when the driver finds it.
    assert not acknowledged_too_early(there, back) and not acknowledged_too_early(back, there)
    # A round trip has both ways through the machine in it, and the machine at the other end has none.
    ways = [ran.value("checker", f"latency_{way}_min") for way in ("sent", "received")]
    assert ran.value("traffic_replay", "round_trip_wire_min") >= sum(ways)
    assert ran.value("traffic_replay", "round_trips_host") + ran.value("traffic_replay", "round_trips_wire") == ran.value("traffic_replay", "dependent") > 60


def test_think_times_and_dependencies(machine, tmp_path: Path) -> None:
    """The host asks, the wire answers, ten times over; the answers take as long as the file says."""
    ask = [(0, tcp(True, 100 * i, None, b"q" * 100)) for i in range(10)]
    answer = [(0, tcp(False, 400 * i, None, b"a" * 400)) for i in range(10)]
    lines = ["dependencies 1"] + [f"receive {i} after send {i} think 50000" for i in range(1, 11)]
    lines += [f"send {i + 1} after receive {i}" for i in range(1, 10)]
    (tmp_path / "who").write_text("\n".join(lines) + "\n")
    files = write(tmp_path / "ask.pcap", ask), write(tmp_path / "answer.pcap", answer)
    ran, sent, received = play(machine, tmp_path, *files, "--dependencies", tmp_path / "who", processors=1)
    asked, answered = ([p.time for p in packets.read(file)] for file in (sent, received))
    assert len(asked) == len(answered) == 10
    assert all(a + 50_000 < b for a, b in zip(asked, answered)) and all(b < a for a, b in zip(asked[1:], answered))
    assert ran.value("traffic_replay", "round_trips_host") == 10 and ran.value("traffic_replay", "round_trip_host_min") > 50_000
    assert ran.value("traffic_replay", "round_trips_wire") == 9


def test_one_end_alone(machine, tmp_path: Path) -> None:
    frames = [(1000 * i, tcp(True, 10 * i, None, b"0123456789")) for i in range(20)]
    ran, _, _ = play(machine, tmp_path, write(tmp_path / "send.pcap", frames), None, processors=1)
    assert (ran.sent, ran.received) == (20, 0)
    frames = [(1000 * i, tcp(False, 10 * i, None, b"0123456789")) for i in range(20)]
    ran, _, _ = play(machine, tmp_path, None, write(tmp_path / "receive.pcap", frames), processors=1)
    assert (ran.sent, ran.received) == (0, 20)


SPOILT = ["ethernet.faults=fcs%10,short%5"]
# A wire that does not wait for the device, and few buffers: most of what many connections send at once is dropped.
OVERRUN = ["ethernet.wait_for_ready=false", "driver.receive_buffers=8", "host.interrupt_latency=20us"]
PARALLEL = {"processors": 2, "name": "tigon2_parallel"}


@pytest.mark.parametrize(
    ("talk", "losses", "parameters"),
    [((6, 5, 100, 12000), SPOILT, {"processors": 1}), ((6, 5, 100, 12000), SPOILT, PARALLEL), pytest.param((400, 2, 20, 20), OVERRUN, {"processors": 1, "mac_buffer": 8192}, marks=pytest.mark.soak)],
    ids=["faulty", "faulty-parallel", "overrun"],
)  # fmt: skip
def test_what_is_lost_is_sent_again(machine, tmp_path: Path, talk: tuple[int, int, int, int], losses: list[str], parameters: dict) -> None:
    """Conversations go on: all data come, once and unchanged, and nothing is acknowledged before it has come."""
    send, receive = generate(tmp_path / "talk", *talk, think=0)
    settings = [word for one in [*losses, "driver.statistics_interval=100us", "traffic_replay.resend=300us"] for word in ("--set", one)]
    ran, sent, received = play(machine, tmp_path, send, receive, "--think", "0", *settings, **parameters)
    drops, resent = ran.value("checker", "counted_drops"), ran.value("traffic_replay", "resent")
    assert resent >= 5
    verdict = check.check_files(receive, received, conversations=True, resent=resent)
    assert not verdict.wrong and verdict.ok(drops - resent), "what is not sent again are pure acknowledgments"
    assert check.check_files(send, sent, conversations=True).ok()
    there, back = (segments(list(packets.read(file)), way) for file, way in ((sent, True), (received, False)))
    assert sum(s.end > s.seq for s in back) == sum(s.end > s.seq for s in segments(list(packets.read(receive)), False))
    assert not acknowledged_too_early(there, back) and not acknowledged_too_early(back, there)


def test_a_faulty_frame_with_a_reply(machine, tmp_path: Path) -> None:
    """It is the last one: nothing that comes later would show that it is missing."""
    send = write(tmp_path / "send.pcap", [(0, tcp(True, 0, 30, b"thanks"))])
    receive = write(tmp_path / "receive.pcap", [(0, tcp(False, 10 * i, None, b"0123456789")) for i in range(3)])
    ran, _, _ = play(machine, tmp_path, send, receive, "--set", "ethernet.faults=fcs@3", "--set", "traffic_replay.resend=0s", ok=False, processors=1)
    assert ran.status == 1
    assert "frame 3 of" in ran.err and "did not reach the host, and frame 1 of" in ran.err and "cannot continue" in ran.err


def test_wrong_options(machine, tmp_path: Path) -> None:
    ran, _, _ = play(machine, tmp_path, None, None, ok=False, processors=1)
    assert "mode correlated needs packet files" in ran.err
    ran, _, _ = play(machine, tmp_path, None, None, "--payload", "100", ok=False, processors=1)
    assert "mode correlated needs packet files" in ran.err
