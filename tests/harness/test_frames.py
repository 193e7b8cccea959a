"""The plug-in `frames` against a stand-in simulator: what is measured, checked, refused and shown of a NIC."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.net import packets, theory, traffic
from harness.run.execute import executor
from harness.run.progress import Progress
from harness.study import model, outputs, page, runner
from harness.study.study_file import StudyError
from tests.sample import sampled

STUDY = """
title = "A <test> machine"
about = "It copies frames."
machine = "machine.lss"
base = { "D.processors" = 1 }
use = { with = "frames", frames = 60, warmup = 20 }
examine = []
check = "drops <= 2"
axis = [
  { name = "payload", values = [18, 1472], only = ["both", "receive"] },
  { name = "ratio", values = ["1:2", "1:1"], best = "rate", only = ["both"] },
  { name = "offered", only = ["open"], values = [{ label = 100, settings = { "option.rate" = "1e8" } }] },
]
published = { where = { variant = "both", payload = 1472 }, percent = 66, label = "theirs" }
figure = [
  { x = "payload", y = "rate", where = { variant = "both" } },
  { x = "payload", y = "rate", where = { variant = "receive" } },
]
[[variant]]
name = "both"
[[variant]]
name = "receive"
use = { with = "frames", frames = 60, warmup = 20, ratio = "0:1" }
[[variant]]
name = "open"
settings = { "option.mode" = "rate" }
use = { with = "frames", frames = 40, warmup = 20, ratio = "0:1", payload = 1472 }
[[variant]]
name = "capture"
use = { with = "frames", capture = "capture.pcap", host = "02:00:00:00:00:01" }
[[variant]]
name = "talk"
settings = { "option.mode" = "correlated" }
use = { with = "frames", capture = "capture.pcap" }
[[variant]]
name = "own"
settings = { "option.cycles" = 1000 }
use = { with = "frames", payload = 18, ratio = "1:1" }
[measure]
work = "nic.cpu.steps / frames"
latency = "checker.latency_received_median / 1000"
answers = "traffic_replay.round_trips_host + traffic_replay.round_trips_wire or 0"
"""


@pytest.fixture
def place(tmp_path: Path, fake_build: Path) -> Path:
    """A study beside a machine whose compiler is the stand-in."""
    frames = [
        packets.Packet(p.time, p.data)
        for stream in (0, 1)
        for p in traffic.stream_frames(traffic.Mix.parse("18-1472"), stream, 20, 1)
    ]
    packets.write(tmp_path / "capture.pcap", sorted(frames, key=lambda p: p.time))
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def make(place: Path, text: str = STUDY) -> model.Outcome:
    (place / "study.toml").write_text(text)
    study = runner.prepare(place / "study.toml", place / "build", Progress())
    runner.build(study, Progress())
    with executor() as pool:
        return runner.run(study, pool, Progress())


def test_what_is_measured(place: Path, capsys: pytest.CaptureFixture) -> None:
    outcome = make(place)
    rows = {row.point.name: row for row in outcome.rows}
    assert [row.why for row in outcome.failed] == []
    both, one = rows["both, payload 1472, ratio 1:1"], rows["receive, payload 1472"]
    # The stand-in moves a frame every 10 us in each direction that has frames.
    assert one.measures["rate"] == pytest.approx(1472 * 8 / 10)
    assert both.measures["rate"] == pytest.approx(2 * one.measures["rate"], rel=0.1)
    assert both.measures["theory"] == pytest.approx(2 * theory.payload_rate(1472) / 1e6)
    assert both.measures["percent"] == pytest.approx(123, abs=0.1) and both.errors["rate"] == pytest.approx(0, abs=1)
    assert rows["receive, payload 18"].measures["work"] == 5
    opened = rows["open, offered 100"]
    assert opened.measures["frames"] == 40 and opened.result.job.plain[-2:] == ("--ratio_send", "0") or (
        "--rate" in opened.result.job.plain
    )
    assert rows["capture"].measures["frames"] == 40 and "rate" not in rows["capture"].measures
    assert rows["talk"].measures["answers"] == 7 and rows["capture"].measures["answers"] == 0
    own = rows["own"].measures
    assert own["rate"] == pytest.approx(2 * 25 * 18 * 8 / 10) and own["frames"] == 50
    outputs.show(outcome, Progress())
    shown = capsys.readouterr().out
    assert "answers" in shown and "Mb/s" in shown


def test_ratios_that_cannot_be_better_are_not_run(place: Path) -> None:
    outcome = make(place)
    ran = [row.point.name for row in outcome.every if row.status == "ok" and "both" in row.point.name]
    # The stand-in carries more large frames than a link does, and few small ones: there, both ratios may be the best.
    assert ran == ["both, payload 18, ratio 1:2", "both, payload 18, ratio 1:1", "both, payload 1472, ratio 1:1"]


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


def test_the_report(place: Path) -> None:
    index = page.write(make(place), place / "report", Progress())
    text = index.read_text()
    shown = Page()
    shown.feed(text)
    assert shown.open == [] and len(shown.ids) == len(set(shown.ids))
    assert "A <test> machine" in "".join(shown.text) and "theirs" in "".join(shown.text)
    for link in shown.links:
        target = link[1:] in shown.ids if link.startswith("#") else (index.parent / link).exists()
        assert target, f"dead link {link}"
    assert not re.search(r'(src|href)="https?:', text), "the page must not need the network"
    assert "12.35" in text, "latency"
    assert "link limit, both directions" in text and "link limit, one direction" in text
    files = sorted(index.parent.glob("point-*-sent.pcap"))
    assert len(files) == 2 and len(list(packets.read(files[0]))) == 20
    assert len(json.loads((index.parent / "results.json").read_text())["points"]) == 10


@pytest.mark.parametrize(
    "fault, error",
    sampled([
        ("crash", "unmapped address 0xdeadbeef.*ended with status 1"),
        ("lose", "2 frames are missing, the hardware counted 0 drops"),
        ("damage", "sent frames are wrong.*differing from byte 50"),
    ], 3, 2),
)
def test_what_is_refused(place: Path, fault: str, error: str) -> None:
    outcome = make(place, STUDY.replace('"D.processors" = 1', f'"D.fault" = "{fault}"'))
    assert any(re.search(error, row.why, re.S) for row in outcome.failed), [row.why for row in outcome.failed]


def test_counted_drops_are_shown(place: Path) -> None:
    outcome = make(place, STUDY.replace('"D.processors" = 1', '"D.fault" = "drop"'))
    assert {row.point.name: row.measures["drops"] for row in outcome.rows}["capture"] == 2


@pytest.mark.parametrize(
    "old, new, error",
    [
        ("frames = 60", "frames = 20", "20 frames leave nothing to measure after 20 of warm-up"),
        ("frames = 60", 'frames = "60"', "'frames' has the wrong type"),
        ("frames = 60", "frame = 60", "unknown key 'frame'; known are frames, warmup"),
        ("values = [18, 1472]", "values = [17]", "payload 17: sizes are 18 to 1472 bytes"),
        ('values = ["1:2", "1:1"]', 'values = ["1-2"]', "expected sends:receives"),
        ('capture = "capture.pcap", host', 'capture = "none.pcap", host', "there is no none.pcap"),
        ('host = "02:', 'host = "2:', "host '2:.*: expected an Ethernet address, such as 02:00:00:00:00:01"),
        ("frames = 60", "frames = 60, link_rate = 0", "link_rate 0: expected a rate of more than 0"),
        ("frames = 60", "frames = 60, link_rate = nan", "link_rate nan: expected 0 or more"),
        ("frames = 60", "frames = -60", "frames -60: expected 0 or more"),
    ],
)
def test_bad_keys(place: Path, old: str, new: str, error: str) -> None:
    (place / "study.toml").write_text(STUDY.replace(old, new, 1))
    with pytest.raises(StudyError, match=error) as caught:
        runner.prepare(place / "study.toml", place / "build", Progress())
    assert "\n" not in str(caught.value) and str(caught.value).startswith(str(place / "study.toml"))
