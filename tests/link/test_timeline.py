"""Timelines of networks in parts: a group of tracks for each part, and arrows for what the links carried."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.link.networks import HERE, ROOT, Built, build
from tests.network.hosts import NIC
from tests.trace import perfetto_wire

GROUPS = ["", "processors", "devices", "memory", "ports", "frames", "links"]


@pytest.fixture(scope="module")
def pair(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    place = tmp_path_factory.mktemp("pair")
    built = Built(place, "tigon2_pair")
    subprocess.run([build_dir / "bin/lss", "build", HERE / "tigon2_pair.lss", *NIC, "--parts", "-o", built.folder], check=True)
    return built


@pytest.fixture(scope="module")
def ring(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("ring"), HERE / "token_ring.lss")


def run(build_dir: Path, built: Built, *words: object, **environment: str) -> str:
    child = built.begin(*words, PATH=f"{build_dir / 'bin'}:{os.environ['PATH']}", **environment)
    _, errors = child.communicate(timeout=300)
    return errors if child.returncode else ""


def given(build_dir: Path) -> list[str]:
    values = (f"firmware={build_dir / 'firmware/tigon2/tigon2.elf'}", "mode=fast", "payload=1472")
    return [word for part in "ab" for value in values for word in ("--set", f"{part}.driver.{value}")]


def path_of(timeline: perfetto_wire.Timeline, track: int) -> tuple[str, ...]:
    names: list[str] = []
    while track:
        names.insert(0, timeline.tracks[track].name)
        track = timeline.tracks[track].parent
    return tuple(names)


def slices(timeline: perfetto_wire.Timeline) -> dict[tuple[str, ...], list[tuple]]:
    """What begins, ends and happens on each track."""
    found: dict[tuple[str, ...], list[tuple]] = defaultdict(list)
    for event in timeline.events:
        found[path_of(timeline, event.track)].append((event.ns, event.kind, event.name, tuple(sorted(event.arguments.items()))))
    return found


def arrows(timeline: perfetto_wire.Timeline) -> dict[int, list[tuple[tuple[str, ...], int]]]:
    found = defaultdict(list)
    for event in timeline.events:
        for flow in event.flows:
            found[flow].append((path_of(timeline, event.track), event.ns))
    return found


def test_parts_and_frames_between_them(build_dir: Path, pair: Built) -> None:
    words = ["--time", "800 us", *given(build_dir), "--record-events", "frames", "--record-events", "instructions", "--record-links", "links"]
    for name, spin in (("first", "0"), ("second", "2000")):
        errors = run(build_dir, pair, *words, "--timeline", f"{name}.perfetto", SPINACH_LINK_SPIN=spin)
        assert not errors, errors
    content = (pair.place / "first.perfetto").read_bytes()
    assert content == (pair.place / "second.perfetto").read_bytes()
    merged = perfetto_wire.read(content)
    shown = slices(merged)
    assert {path[0] for path in shown} == {"a", "b"} and {path[1] for path in shown} == {"processors", "devices", "frames", "links"}
    for part in "ab":  # the events of a part are those of its own timeline
        command = [sys.executable, "-m", "harness", "timeline", pair.place / "out" / part / "events.trace", "-o", pair.place / "own.perfetto", "--build", build_dir]
        subprocess.run(command, cwd=ROOT, check=True)
        own = slices(perfetto_wire.read((pair.place / "own.perfetto").read_bytes()))
        assert own == {path[1:]: events for path, events in shown.items() if path[0] == part and path[1] != "links"}
    entries = json.loads((pair.place / "out/statistics.json").read_text())["statistics"]
    frames = sum(one["value"] for one in entries if one["path"] in ("cable.to_a", "cable.to_b") and one["name"] == "frames")
    complete = 0
    for ends in arrows(merged).values():
        (sender, sent), (receiver, arrives) = ends
        link = "cable.to_b.flying" if sender[0] == "a" else "cable.to_a.flying"
        assert sender[1:] == ("links", f"{link} sent") and receiver[1:] == ("links", f"{link} arrives") and sender[0] != receiver[0]
        assert 500 <= arrives - sent < 700
        complete += 1
    assert complete == frames > 10
    sizes = {name.partition(": ")[2] for path, events in shown.items() if path[1] == "links" for _, _, name, _ in events if name}
    assert sizes == {"1518 bytes"}


def test_items_that_are_no_frames(build_dir: Path, ring: Built) -> None:
    """Without events, links alone are shown; an event is recorded where it is."""
    errors = run(build_dir, ring, "--time", "5 us", "--record-links", "links", "--timeline", "links.perfetto")
    assert not errors, errors
    timeline = perfetto_wire.read((ring.place / "links.perfetto").read_bytes())
    found = arrows(timeline)
    entries = json.loads((ring.place / "out/statistics.json").read_text())["statistics"]
    assert len(found) == sum(one["value"] for one in entries if one["name"] == "sent") > 20
    assert all(second[1] - first[1] == 500 for first, second in found.values())
    errors = run(build_dir, ring, "--time", "5 us", "--record-events", "node[1].source.offered", "--record-events", "ports other.leaves.in", "--timeline", "events.perfetto")
    assert not errors, errors
    shown = slices(perfetto_wire.read((ring.place / "events.perfetto").read_bytes()))
    assert {path[:2] for path in shown} <= {("node[1]", "devices"), ("other", "ports")} and any(path[0] == "other" for path in shown)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--timeline", "x"], "--timeline shows nothing: add --record-events WHAT or --record-links DIR"),
        (["--record-events", "frames"], "--record-events lacks the file: --timeline FILE"),
        (["--timeline", "x", "--record-events", "instructions"], '--record-events: "instructions" matches no event of any part of token_ring.lss'),
        (["--timeline", "x", "--record-events", "node[1].none"], '--record-events: "node[1].none" matches no event of any part of token_ring.lss'),
        (["--timeline", "x", "--whole"], "--timeline: it is for a run of all parts (record with options after --, then `timeline`)"),
        (["--", "--record", "x"], "--record: it is not for the parts of a network (leave it out)"),
    ],
)
def test_wrong_options(build_dir: Path, ring: Built, words: list[str], expected: str) -> None:
    assert run(build_dir, ring, *words) == f"harness: {expected}\n"
    assert not (ring.place / "x").exists()
