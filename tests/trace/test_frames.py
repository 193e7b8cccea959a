"""Frames and timelines from what a network interface recorded: both agree with its statistics and with each other."""

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict, deque
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.trace import frames, timeline
from harness.trace.events import Events
from tests.sample import seldom
from tests.trace import perfetto_wire


@pytest.fixture(scope="module")
def recorded(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the frames and instructions of a run, and its statistics."""
    folder = tmp_path_factory.mktemp("frames")
    words = ["-O0", "-D", "processors=2", "--record", "frames", "--record", "instructions"]
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/tigon2/tigon2.lss", *words, "-o", "sim"], cwd=folder, check=True)
    options = ["--firmware", build_dir / "firmware/tigon2_parallel/tigon2_parallel.elf", "--payload", "1000", "--time", "1800 us"]
    subprocess.run(["./sim", "--quiet", *options, "--record", "run.trace", "--stats", "stats.json"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def lives(recorded: Path, build_dir: Path) -> list[frames.Frame]:
    return frames.lives(Events(recorded / "run.trace", build_dir))


def statistic(folder: Path, path: str, name: str) -> int:
    return next(e["value"] for e in json.loads((folder / "stats.json").read_text())["statistics"] if (e["path"], e["name"]) == (path, name))


def test_each_frame_is_there_once(recorded: Path, lives) -> None:
    received, sent = ([frame for frame in lives if frame.direction == direction] for direction in ("receive", "send"))
    assert all([frame.number for frame in one] == list(range(1, len(one) + 1)) for one in (received, sent))
    assert len(received) == statistic(recorded, "nic.mac_rx", "frames") > 50
    assert len(sent) == statistic(recorded, "nic.mac_tx", "frames") > 50
    assert {frame.bytes for frame in received} == {1046} and {frame.bytes for frame in sent} == {1042}
    assert sum(frame.finished for frame in received) > len(received) - 5


def test_what_happens_to_frames_is_in_order(lives) -> None:
    for frame in lives:
        if not frame.finished:
            continue
        times = [step.ns for step in frame.steps]
        assert times == sorted(times) and frame.latency_ns > 0
        expected = ["on the wire", "received", "dma"] if frame.direction == "receive" else ["dma", "dma", "sent"]
        assert [step.what for step in frame.steps][:3] == expected
        assert [handler.function for handler in frame.handlers][-1:] == ["receive" if frame.direction == "receive" else "send"], frame
        assert all(handler.first_ns <= times[2] for handler in frame.handlers)
    wire = [frame.steps[0].ns for frame in lives if frame.direction == "receive"]
    assert wire == sorted(wire)


class Happened:
    """Records of a run that never was: (nanoseconds, path, event, arguments, function)."""

    file = "none"

    def __init__(self, *records: tuple[int, str, str, dict[str, int], str]) -> None:
        names = sorted({one[1:3] for one in records})
        self.header = SimpleNamespace(sources=[SimpleNamespace(path=path, event=event, core=path if event == "retire" else None) for path, event in names])
        self.records = [SimpleNamespace(source=names.index(one[1:3]), instant=one[0], arguments=one[3], function=one[4], inlined=[]) for one in records]

    def __iter__(self):
        return iter(self.records)

    def nanoseconds(self, instant: int) -> float:
        return float(instant)


def test_numbers_that_lie_within_a_frame_handle_nothing() -> None:
    """A function handles what it computed an address of: the frame's, or that of a part that a device moved."""
    happened = Happened(
        (5, "cpu", "retire", {"value": 0x1000}, "before"),
        (10, "mac", "received", {"address": 0x1000, "length": 100}, ""),
        (11, "cpu", "retire", {"value": 0x1000}, "takes"),
        (12, "cpu", "retire", {"value": 0x1040}, "counts"),
        (13, "cpu", "retire", {"value": 0x1002}, "cuts"),
        (14, "cpu", "retire", {"value": 0x1063}, "counts"),
        (20, "dma", "done", {"outward": 1, "address": 0x1002, "length": 98}, ""),
        (25, "cpu", "retire", {"value": 0x1000}, "after"),
    )
    (frame,) = frames.lives(happened)
    assert [(one.function, one.first_ns) for one in frame.handlers] == [("takes", 11), ("cuts", 13)]


ELSEWHERE = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}  # what is not run in the tree finds it so


def harness(folder: Path, build_dir: Path, *options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "harness", *options, "--build", build_dir], cwd=folder, env=ELSEWHERE, capture_output=True, text=True)


def test_table_and_json(recorded: Path, build_dir: Path, lives) -> None:
    table = harness(recorded, build_dir, "frames", "run.trace", "--top", "3").stdout.splitlines()
    assert len(table) == 1 + 3 + 1 + 2 and "on the wire +0, received +" in table[1] and re.search(r"nic\.cpu\[0\]\.pipeline:receive \(\w+(, \w+)* inlined\) \+", table[1])
    assert table[-2].startswith(f"receive: {sum(f.finished for f in lives if f.direction == 'receive')} frames, 0 of them dropped")
    assert not harness(recorded, build_dir, "frames", "run.trace", "--json", "frames.json").stderr
    assert len(json.loads((recorded / "frames.json").read_text())) == len(lives)
    (recorded / "broken").write_bytes((recorded / "run.trace").read_bytes()[:5000])
    broken = harness(recorded, build_dir, "frames", "broken")
    assert broken.returncode == 1 and broken.stderr.count("\n") == 1 and "cut off" in broken.stderr


@seldom
def test_timeline_has_all_of_it(recorded: Path, build_dir: Path, lives) -> None:
    done = harness(recorded, build_dir, "timeline", "run.trace", "-o", "run.perfetto")
    assert done.returncode == 0, done.stderr
    shown = perfetto_wire.read((recorded / "run.perfetto").read_bytes())
    names = {track.uuid: track.name for track in shown.tracks.values()}
    parents = {track.uuid: names.get(track.parent) for track in shown.tracks.values()}
    stacks, spent, instants, whole, slices = defaultdict(list), Counter(), Counter(), Counter(), defaultdict(list)
    for event in shown.events:
        track = event.track
        if event.kind == perfetto_wire.SLICE_BEGIN:
            stacks[track].append((event.name, event.ns))
            whole[parents[track]] += 1
        elif event.kind == perfetto_wire.SLICE_END:
            name, begin = stacks[track].pop()
            assert event.ns >= begin
            spent[names[track], name] += event.ns - begin
            slices[names[track].split()[0], name.split()[0]].append((begin, event.ns))
        else:
            assert event.kind == perfetto_wire.INSTANT
            instants[names[track], event.name] += 1
    assert not any(stacks.values()) and set(parents.values()) == {"", None, "processors", "devices", "frames"} - {""}
    assert whole["frames"] == len(lives)
    events = Events(recorded / "run.trace", build_dir)
    before: dict[str, tuple[str, int]] = {}
    expected, begun, lasting = Counter(), defaultdict(deque), defaultdict(list)
    starts = {"sent": "begun", "received": "begun", "done": "begun", "played": "playing", "arrived": "arriving"}
    for record in events:
        source, ns = events.header.sources[record.source], round(events.nanoseconds(record.instant))
        if source.event in starts.values():
            begun[source.path, source.event].append(ns)
        elif source.event in starts:
            lasting[source.path, source.event].append((begun[source.path, starts[source.event]].popleft(), ns))
        if source.event != "retire":
            expected[source.path, source.event] += 1
            continue
        core = source.core
        if core in before:
            expected[core, before[core][0]] += ns - before[core][1]
        before[core] = (record.function, ns)
    times = {key: n for key, n in expected.items() if "pipeline" in key[0] and n}
    assert times == {key: n for key, n in spent.items() if "pipeline" in key[0] and n}
    assert {path for path, _ in lasting} == {"nic.mac_tx", "nic.mac_rx", "nic.dma_read", "nic.dma_write", "ethernet"}
    assert lasting == {key: sorted(found) for key, found in slices.items() if key in lasting}
    others = {key: n for key, n in expected.items() if "pipeline" not in key[0] and key[1] not in {*starts, *starts.values()}}
    assert others == {key: n for key, n in instants.items() if key in expected}
    # On the wire a frame takes what its length takes, with seven bytes of the preamble and the delimiter behind them.
    assert {round((end - begin) / 8) for begin, end in slices["ethernet", "played"]} == {1046 + 8}


def test_what_does_not_end_and_what_overlaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three transfers, of which two overlap and one does not end; a drop that never began is an instant."""
    pieces, written, writer = timeline._Pieces(), [], timeline._Writer()
    happens = [("begun", 0, {"length": 8}), ("begun", 10, {}), ("done", 20, {"length": 8}), ("begun", 25, {}), ("dropped", 30, {"ring": 1}), ("access", 40, {"cycles": 3})]
    assert all(pieces.take("dma", event, ns, 2.0, arguments) for event, ns, arguments in happens)
    assert not pieces.take("mac", "drop", 40, 2.0, {"length": 0, "queued": False})
    monkeypatch.setattr(writer, "piece", lambda track, begin, end, name, arguments: written.append((track, begin, end, name)))
    pieces.write(writer, {"dma": "devices"}, 50)
    tracks = {number: name for (_, _, name), number in writer.tracks.items()}
    assert [(tracks[track], begin, end, name) for track, begin, end, name in written] == [
        ("dma begun", 0, 20, "done 8 bytes"), ("dma begun 2", 10, 30, "dropped"), ("dma begun", 25, 50, "begun"), ("dma access", 34, 40, "access"),
    ]  # fmt: skip


@seldom
def test_what_was_not_recorded_is_missed(recorded: Path, root: Path, build_dir: Path, lss, run_sim, tmp_path: Path) -> None:
    lss("build", root / "examples/dual_core/dual_core.lss", "--record", "instructions", "-o", tmp_path / "dual")
    run_sim(tmp_path / "dual", "--program", build_dir / "firmware/sum/sum.elf", "--record", "run.trace")
    done = harness(tmp_path, build_dir, "frames", "run.trace")
    assert done.returncode == 1 and done.stderr == "harness: run.trace holds no events of frames: record them with --record-events frames\n"
    assert harness(tmp_path, build_dir, "timeline", "run.trace", "-o", "x").returncode == 0
