"""The main job against a stand-in simulator: what is measured, refused, kept and shown."""

import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.net import packets, theory, traffic
from harness.run import files, sweep
from harness.run.progress import Progress
from harness.study import mainjob, measure, report, schema, study, table

FAKE = Path(__file__).with_name("fake_lss.py")
STUDY = """
title = "A <test> machine"
about = "It copies frames."
machine = "machine.lss"
[replay]
capture = "capture.pcap"
host = "02:00:00:00:00:01"
about = "Frames & more"
[conversations]
capture = "capture.pcap"
host = "02:00:00:00:00:01"
about = "Talk & answers"
words = ["--mode", "correlated"]
[sweep]
payloads = [18, 1472]
frames = 60
warmup = 20
[[sweep.direction]]
name = "bidirectional"
ratios = ["1:2", "1:1"]
ways = 2
[[sweep.direction]]
name = "receive only"
ratios = ["0:1"]
ways = 1
[open_loop]
payload = 1472
direction = "receive only"
frames = 40
rates = [1e8, 1e9]
words = ["--mode", "rate", "--rate", "{rate}"]
[[series]]
name = "one CPU"
defines = { cpus = 1 }
[[effort]]
label = "steps to receive"
statistic = "steps"
payload = 18
ratio = "0:1"
published = 7
[[published]]
payload = 1472
direction = "bidirectional"
percent = 66
label = "published"
"""


@pytest.fixture
def place(tmp_path: Path, fake_build: Path) -> tuple[Path, Path]:
    """A study file and a build directory whose compiler is the stand-in."""
    frames = [
        packets.Packet(p.time, p.data)
        for stream in (0, 1)
        for p in traffic.stream_frames(traffic.Mix.parse("18-1472"), stream, 20, 1)
    ]
    packets.write(tmp_path / "capture.pcap", sorted(frames, key=lambda p: p.time))
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml", fake_build


def run(place: tuple[Path, Path]) -> mainjob.Outcome:
    path, build = place
    return mainjob.run(study.load(path, build), build, Progress())


def test_what_is_measured(place, capsys) -> None:
    outcome = run(place)
    assert [(p.direction, p.payload) for p in outcome.points] == [
        ("bidirectional", 18), ("bidirectional", 1472), ("receive only", 18), ("receive only", 1472),
    ]  # fmt: skip
    both, one = outcome.points[1], outcome.points[3]
    # The stand-in moves a frame every 10 us in each direction that has frames.
    assert one.rate == pytest.approx(1472 * 8 / 10e-6)
    assert both.rate == pytest.approx(2 * one.rate, rel=0.1)
    assert both.maximum == pytest.approx(2 * theory.payload_rate(1472))
    assert [p.offered for p in outcome.offered] == pytest.approx([9.571e7, 9.571e8], rel=1e-3)
    assert outcome.offered[1].result.job.words[-2:] == ("--rate", "1000000000")
    assert [worked.per_frame for worked in outcome.efforts] == [5.0]
    assert outcome.replays[0].frames_in == outcome.replays[0].frames_out == 40
    talk = outcome.conversations[0]
    assert (talk.frames_out, talk.result.job.words) == (40, ("--mode", "correlated"))
    table.show(outcome, Progress())
    shown = capsys.readouterr().out
    assert "byte for byte" in shown and "7 answers, each after what it answers" in shown


class Page(HTMLParser):
    """Collects ids, links and text, and sees that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.ids, self.links, self.text, self.open = [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_report(place) -> None:
    outcome = run(place)
    index = report.write(outcome, place[1])
    text = index.read_text()
    page = Page()
    page.feed(text)
    assert page.open == [] and len(page.ids) == len(set(page.ids))
    assert "A <test> machine" in "".join(page.text) and "Frames & more" in "".join(page.text)
    for link in page.links:
        target = link[1:] in page.ids if link.startswith("#") else (index.parent / link).exists()
        assert target, f"dead link {link}"
    assert not re.search(r'(src|href)="https?:', text), "the page must not need the network"
    assert text.count("<svg") == 5 and "published" in text
    assert "<td>12.3</td>" in text, "latency"
    assert "Talk & answers" in "".join(page.text) and "<td>25.5</td>" in text, "round trips"
    results = json.loads((index.parent / "results.json").read_text())
    assert len(results["points"]) == 4
    assert results["conversations"][0]["round_trip_ns"]["host"]["median"] == 25500
    assert len(list(packets.read(index.parent / "capture-one-CPU-sent.pcap"))) == 20


def test_a_second_run_repeats_nothing(place) -> None:
    first, second = run(place), run(place)
    assert all(point.result.reused for point in second.points)
    assert [p.rate for p in first.points] == [p.rate for p in second.points]


@pytest.mark.parametrize(
    "fault, complaint",
    [
        ("crash", "ended with status 1.*unmapped address 0xdeadbeef"),
        ("lose", "2 frames are missing, the hardware counted 0 drops"),
        ("damage", "sent frames are wrong.*differing from byte 50"),
    ],
)
def test_what_is_refused(place, fault: str, complaint: str) -> None:
    path, _ = place
    path.write_text(STUDY.replace("cpus = 1", f'fault = "{fault}"'))
    with pytest.raises(sweep.RunError, match=re.compile(complaint, re.S)):
        run(place)


def test_counted_drops_are_shown(place) -> None:
    path, _ = place
    path.write_text(STUDY.replace("cpus = 1", 'fault = "drop"'))
    outcome = run(place)
    assert outcome.replays[0].drops == 2 and outcome.points[3].drops == 1


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ('title = "A <test> machine"', "", "the key 'title' is missing"),
        ("about", "abuot", "unknown key 'abuot'; did you mean 'about'"),
        ("title =", "title", "study.toml: "),
        ('direction = "bidirectional"', 'direction = "sideways"', "direction 'sideways' is not one of"),
        ("percent = 66", 'percent = "66"', "wrong type"),
    ],
)
def test_bad_studies(place, old: str, new: str, complaint: str) -> None:
    path, build = place
    path.write_text(STUDY.replace(old, new, 1))
    with pytest.raises(schema.SchemaError, match=complaint) as caught:
        study.load(path, build)
    assert "\n" not in str(caught.value)


def test_an_edited_input_is_run_again(place, tmp_path: Path) -> None:
    simulator = tmp_path / "sim"
    os.system(f"{sys.executable} {FAKE} build x -o {simulator}")
    store = tmp_path / "store"
    files = traffic.generate(tmp_path / "t", "18", 20, "1:0")
    job = sweep.Job("x", simulator, (), (("--send", files.send),), (("--sent", "sent.pcap"),))
    assert not sweep.run(job, store).reused and sweep.run(job, store).reused
    traffic.generate(tmp_path / "t", "18", 20, "1:0", seed=2)
    assert not sweep.run(job, store).reused


def test_equal_jobs_run_once(tmp_path: Path) -> None:
    simulator = tmp_path / "sim"
    os.system(f"{sys.executable} {FAKE} build x -o {simulator}")
    files = traffic.generate(tmp_path / "t", "18", 20, "1:0")
    job = sweep.Job("x", simulator, (), (("--send", files.send),), (("--sent", "sent.pcap"),))
    results = sweep.sweep([job] * 8, tmp_path / "store", Progress(), workers=8)
    assert [result.reused for result in results].count(False) == 1


def udp_stream(times: list[int]) -> list[packets.Packet]:
    frame = next(traffic.stream_frames(traffic.Mix.parse("1000"), 0, 1, 1)).data
    return [packets.Packet(time, frame) for time in times]


def test_too_short_to_measure() -> None:
    with pytest.raises(measure.MeasureError, match="too few"):
        measure.throughput([packets.Packet(k, b"") for k in range(20)], [], 15)


@pytest.mark.parametrize("burst", [1, 7, 25])
def test_bursts_do_not_bend_the_rate(burst: int) -> None:
    # A frame every 8 us on the wire; the driver finds them in bursts, 20 ns apart.
    times = [(k // burst + 1) * burst * 8000 + 20 * (k % burst) for k in range(500)]
    carried = measure.throughput([], udp_stream(times), 100).payload_rate
    assert carried == pytest.approx(1e9, rel=1e-9)


def test_the_window_is_what_both_directions_share() -> None:
    slow, fast = udp_stream([k * 16000 for k in range(200)]), udp_stream([k * 8000 for k in range(200)])
    measured = measure.throughput(slow, fast, 100)
    assert measured.sent.payload_rate == pytest.approx(5e8) and measured.received.payload_rate == pytest.approx(1e9)


@pytest.mark.parametrize("sent_every, received_every", [(8000, 10000), (6000, 12000)])
def test_only_whole_turns_count(sent_every: int, received_every: int) -> None:
    # In a ratio of 3:2 the first has more receives than belong to it, as long as the host's ring fills.
    sent, received = (udp_stream([k * every for k in range(400)]) for every in (sent_every, received_every))
    carried = measure.throughput(sent, received, 100, (3, 2))
    turns = min(1 / sent_every / 3, 1 / received_every / 2)
    assert carried.payload_rate == pytest.approx(8e12 * 5 * turns)
    assert carried.crossed == pytest.approx(8e12 * (1 / sent_every + 1 / received_every))
    assert carried.uncertainty >= carried.crossed - carried.payload_rate > 0


def test_one_direction_after_the_other_is_not_duplex() -> None:
    with pytest.raises(measure.MeasureError, match="ended before the other had warmed up"):
        measure.throughput(udp_stream(list(range(200))), udp_stream(list(range(500, 700))), 100)


def test_directions_that_hardly_overlap_are_not_duplex() -> None:
    first, then = udp_stream([k * 8000 for k in range(200)]), udp_stream([1_100_000 + k * 8000 for k in range(200)])
    with pytest.raises(measure.MeasureError, match=r"busy for 24 of the 300 frames .* give the run more frames"):
        measure.throughput(first, then, 100)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    files.write(tmp_path / "page", "old")
    with pytest.raises(UnicodeEncodeError):
        files.write(tmp_path / "page", "new \udc80")
    assert (tmp_path / "page").read_text() == "old" and len(list(tmp_path.iterdir())) == 1
