"""Studies against a stand-in simulator: what plans and texts may say, what is run, kept, compared and shown."""

import json
import re
from pathlib import Path

import pytest

from harness.net import packets, traffic
from harness.run import sweep
from harness.run.progress import Progress
from harness.study import campaign, cost, faults, measure, plan, schema, validation

PLAN = """
machine = "machine.lss"
firmware = "build/firmware.elf"
parameters = { cores = "cpus" }
[[study]]
name = "fig"
title = "A <figure>"
about = "Both ways."
direction = "duplex"
payloads = [18, 1472]
ratios = ["1:2", "1:1"]
frames = 80
warmup = 20
series = [{ name = "one", label = "one CPU", cores = 1, sram_mhz = 100 }]
published = [
  { series = "one", payload = 1472, percent = 122.5, label = "published close" },
  { series = "one", payload = 18, percent = 99, label = "published far", explained = ["why"] },
]
[[study]]
name = "why"
title = "Why"
about = "One thing changed at a time."
form = "comparison"
direction = "receive"
payloads = [1472]
frames = 60
warmup = 20
series = [
  { name = "base", label = "as modelled", cores = 1, sram_mhz = 100 },
  { name = "other", label = "otherwise", cores = 2, sram_mhz = 100, defines = { speed = 3 }, words = ["--x", "y"], firmware = "" },
]
[[study]]
name = "course"
title = "Course"
about = "How it settles."
form = "course"
direction = "receive"
payloads = [1472]
frames = 400
warmup = 20
series = [{ name = "one", label = "one CPU", cores = 1, sram_mhz = 100 }]
[[study]]
name = "soak"
title = "Soak"
about = "Long."
form = "soak"
direction = "duplex"
payloads = [18]
ratios = ["1:1"]
cycles = 1000
series = [{ name = "one", label = "one CPU", cores = 1, sram_mhz = 100 }]
"""
TEXT = """# Studies & more

What they show.

Ours is {{percent fig one 1472}}, {{gain fig one 1472 why base 1472}}; overhead {{setting fig one 18 overhead}}; {{worst}}; {{percent soak one 18}}

{{published}}
{{figure fig}}

{{table fig}}
{{comparison why}}
{{changes why}}
{{scaling fig}}
{{course course}}
{{settled course one 1472}}
"""


@pytest.fixture
def place(tmp_path: Path, fake_build: Path) -> Path:
    (fake_build / "firmware.elf").write_text("firmware")
    (tmp_path / "studies.toml").write_text(PLAN)
    (tmp_path / "text.md").write_text(
        TEXT.replace("{{settled course one 1472}}\n", "Settled after {{settled course one 1472}}.\n")
    )
    return tmp_path


def run(place: Path, *names: str) -> campaign.Outcome:
    return campaign.run(plan.load([place / "studies.toml"]), list(names), place / "build", Progress())


def test_what_is_run(place: Path) -> None:
    outcome = run(place)
    assert list(outcome.points) == [
        ("fig", "one", 18), ("fig", "one", 1472), ("why", "base", 1472), ("why", "other", 1472), ("course", "one", 1472),
    ]  # fmt: skip
    # The stand-in moves a frame every 10 us in each direction that has frames.
    point = outcome.points["fig", "one", 1472]
    assert point.ratio in ("1:1", "1:2") and point.rate == pytest.approx(2 * 1472 * 8 / 10e-6)
    assert point.percent == pytest.approx(123, abs=0.1) and point.uncertainty == pytest.approx(0, abs=1)
    other = outcome.points["why", "other", 1472].result.job
    assert other.simulator.name == "machine-cpus=2-speed=3" and other.words[-2:] == ("--x", "y")
    assert [option for option, _ in other.inputs] == ["--receive"]


def test_a_named_study_leaves_others_as_they_were(place: Path) -> None:
    assert set(study for study, _, _ in run(place, "soak").points) == {"soak"}
    run(place, "why")
    again = run(place, "soak")
    assert [p.result.reused for p in again.of("soak")] == [True] and len(again.of("why")) == 2
    assert again.points["soak", "one", 18].rate == pytest.approx(2 * 25 * 18 * 8 / 10e-6)


def test_the_report(place: Path) -> None:
    page = validation.write(run(place), place / "text.md", place / "build")
    text = page.read_text()
    assert "Ours is 123.0 %, +100 %; overhead 30 %; " in text and "(not run)" in text
    assert "Studies &amp; more" in text and "What they show." in text and "{{" not in text
    assert text.count("<svg") == 4 and "A &lt;figure&gt;" in text
    row = next(line for line in text.splitlines() if "published close" in line)
    assert "+0.4 %" in row and "agrees" in row
    assert '<a href="#why">why</a>' in next(line for line in text.splitlines() if "published far" in line)
    for name in re.findall(r'href="#([\w-]+)"', text):
        assert f'id="{name}"' in text, name
    for name in re.findall(r'href="([\w.-]+)"', text):
        assert (page.parent / name).exists(), name


def test_records(place: Path) -> None:
    validation.write(run(place), place / "text.md", place / "build")
    records = json.loads((place / "build/studies/studies.json").read_text())
    first = next(r for r in records if r["study"] == "fig" and r["payload_bytes"] == 1472)
    assert first == {
        "study": "fig", "machine": "machine", "cores": 1, "sram_mhz": 100, "payload_bytes": 1472, "direction": "duplex",
        "mbps": 2355.2, "theory_mbps": 1914.17, "percent": 123.04, "published_percent": 122.5, "frames": 80, "drops": 0,
        "damaged": 0,
    }  # fmt: skip
    assert next(r for r in records if r["study"] == "why")["published_percent"] is None


def test_a_large_difference_needs_an_explanation(place: Path) -> None:
    (place / "studies.toml").write_text(PLAN.replace(', explained = ["why"]', ""))
    text = validation.write(run(place), place / "text.md", place / "build").read_text()
    assert "not explained" in text


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("machine = ", "machin = ", "unknown key 'machin'; did you mean 'machine'"),
        ('name = "fig"', "", "study 1: the key 'name' is missing"),
        ("frames = 80", 'frames = "80"', "study 'fig': 'frames' has the wrong type: it is a whole number"),
        ("payloads = [18, 1472]", "payloads = 18", "'payloads' has the wrong type: it is a list"),
        ("payloads = [18, 1472]", "payloads = [17]", "payload 17: sizes are 18 to 1472 bytes"),
        ("payloads = [18, 1472]", "payloads = []", "at least one series and one payload size"),
        ('direction = "duplex"', 'direction = "both"', "'direction' is 'both'; it may be 'duplex', 'receive'"),
        ('ratios = ["1:2", "1:1"]', 'ratios = ["0:1"]', "ratio '0:1' is not duplex traffic"),
        ('ratios = ["1:2", "1:1"]', 'ratios = ["1-2"]', "expected sends:receives"),
        ("frames = 80", "frames = 20", "20 frames leave nothing to measure after 20 of warm-up"),
        ("cycles = 1000", "", "a soak needs cycles"),
        (
            "cycles = 1000",
            "cycles = 9\ncounts = { instructions = 4 }",
            "counts 'instructions': a cost has instructions",
        ),
        ('name = "why"', 'name = "fig"', "has a study of this name already"),
        ('name = "other"', 'name = "base"', "two series are called 'base'"),
        ('series = "one", payload = 18', 'series = "two", payload = 18', "published series 'two' is not one of one"),
        (
            'series = "one", payload = 18',
            'series = "one", payload = 20',
            "published payload 20 is not one of its sizes",
        ),
        ('["why"]', '["because"]', "explained by 'because', which is no study"),
        ("cores = 1, sram", "core = 1, sram", "series 'one': unknown key 'core'; did you mean 'cores'?"),
        ('{ cores = "cpus" }', '{ colour = "cpus" }', "'colour' is neither 'cores' nor 'sram_mhz'"),
        ('machine = "machine.lss"', 'machine = "engine.lss"', "series 'one': there is no .*engine.lss"),
        ("machine = ", "machine ", "studies.toml: .*line 2"),
    ],
)
def test_bad_plans(place: Path, old: str, new: str, complaint: str) -> None:
    (place / "studies.toml").write_text(PLAN.replace(old, new, 1))
    with pytest.raises(schema.SchemaError, match=complaint) as caught:
        plan.load([place / "studies.toml"])
    assert "\n" not in str(caught.value) and str(caught.value).startswith(str(place / "studies.toml"))


def test_a_plan_that_is_not_there(place: Path) -> None:
    with pytest.raises(schema.SchemaError, match="none.toml: No such file"):
        plan.load([place / "none.toml"])


def test_unknown_studies_and_missing_firmware(place: Path) -> None:
    with pytest.raises(plan.PlanError, match="there is no study 'figure'; known are fig, why, course, soak"):
        run(place, "figure")
    (place / "build/firmware.elf").unlink()
    with pytest.raises(sweep.RunError, match="study fig, series one: there is no firmware"):
        run(place, "fig")


@pytest.mark.parametrize(
    "directive, complaint",
    [
        ("x {{percent fig two 18}}", "text.md:5: {{percent fig two 18}}: there is no such thing"),
        ("x {{percent fig}}", "text.md:5: {{percent fig}}"),
        ("{{picture fig}}", "text.md:5: {{picture fig}}"),
        ("{{figure gif}}", "text.md:5: {{figure gif}}"),
    ],
)
def test_bad_texts(place: Path, directive: str, complaint: str) -> None:
    (place / "text.md").write_text(f"# T\n\nabout\n\n{directive}\n")
    with pytest.raises(validation.TextError, match=re.escape(complaint)) as caught:
        validation.write(run(place, "why"), place / "text.md", place / "build")
    assert "\n" not in str(caught.value)


def test_where_throughput_settles() -> None:
    frame = next(traffic.stream_frames(traffic.Mix.parse("1000"), 0, 1, 1)).data
    # The first 300 frames come twice as fast, all in bursts of 25.
    times, now = [], 0
    for burst in range(80):
        now += 100_000 if burst < 12 else 200_000
        times += [now + 10 * k for k in range(25)]
    course = measure.course([], [packets.Packet(time, frame) for time in times])
    assert course[-1][1] == pytest.approx(1e9, rel=0.01)
    assert 300 < measure.settled(course, 0.05) <= 450


EXAMINATIONS = """
[[study]]
name = "faults"
title = "Faults"
about = "Some."
form = "faults"
direction = "receive"
payloads = [18]
frames = 40
series = [{ name = "one", label = "one CPU", cores = 1, sram_mhz = 100 }]
[[study]]
name = "cost"
title = "Cost"
about = "Per frame."
form = "cost"
direction = "receive"
payloads = [18]
series = [{ name = "one", label = "one CPU", cores = 1, sram_mhz = 100, words = ["--x", "y"] }]
counts = { instructions = 420 }
"""


def test_examinations(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def per_frame(simulator: Path, firmware: Path, words: list[str]) -> list[cost.Cost]:
        asked.append(words)
        return [cost.Cost("cpu", "send", dict(instructions=100, scratchpad=5, memory=2, registers=0)),
                cost.Cost("cpu", "main", dict(instructions=17.4, scratchpad=0, memory=0, registers=1))]  # fmt: skip

    asked: list[list[str]] = []
    rows = [{"fault": "bad", "injected": 7, "counted": 7, "statistic": "mac.bad", "disturbed": 0}]
    monkeypatch.setattr(cost, "build_simulator", lambda machine, folder, build, defines: folder / "simulator")
    monkeypatch.setattr(cost, "per_frame", per_frame)
    monkeypatch.setattr(faults, "of_file", lambda stats: rows if stats.exists() else [])
    (place / "studies.toml").write_text(PLAN + EXAMINATIONS)
    (place / "text.md").write_text(
        "# T\n\nabout\n\n{{verdict cost one}}, {{verdict faults one}}\n\n{{examined faults}}\n{{examined cost}}\n"
    )
    outcome = run(place, "faults", "cost")
    text = validation.write(outcome, place / "text.md", place / "build").read_text()
    assert "117 instructions, 7 faults, 7 counted, 0 other frames disturbed" in text
    assert asked == [["--payload", "18", "--ratio_send", "0", "--ratio_receive", "1", "--x", "y"]]
    published = next(line for line in text.splitlines() if ">published<" in line)
    assert ">420<" in published and "mac.bad" in text
    assert run(place, "soak").examined["cost"] == outcome.examined["cost"], "kept"


def test_the_cost_of_a_frame_needs_a_firmware(place: Path) -> None:
    (place / "studies.toml").write_text(PLAN + EXAMINATIONS.replace('words = ["--x", "y"]', 'firmware = ""'))
    with pytest.raises(sweep.RunError, match="this series has none"):
        run(place, "cost")


def test_ratios_that_cannot_be_better_are_not_run(place: Path) -> None:
    outcome = run(place, "fig")
    # The stand-in carries more large frames than a link does, and few small ones: there, both ratios may be the best.
    assert [(p.payload, p.ratio) for p in outcome.every] == [(18, "1:2"), (18, "1:1"), (1472, "1:1")]
    best = outcome.points["fig", "one", 18]
    assert outcome.alike(best) in ([], ["1:1"], ["1:2"]) and not outcome.alike(outcome.points["fig", "one", 1472])
    assert len(run(place, "soak").of("fig")) == 2, "what was not run is not missed"


def test_a_result_that_was_damaged_is_made_again(place: Path) -> None:
    first = run(place, "why").points["why", "base", 1472].result
    for name in "stats.json", "received.pcap", "run.json":
        file = first.directory / name
        for damage in file.read_bytes()[:-1], b"[]":
            file.write_bytes(damage)
            again = run(place, "why").points["why", "base", 1472].result
            assert not again.reused and again.stats == first.stats
        file.unlink()
        assert not run(place, "why").points["why", "base", 1472].result.reused
    left = first.directory.with_name(f"{first.directory.name}.99999999")  # by a process that was killed
    left.mkdir()
    assert run(place, "why").points["why", "base", 1472].result.reused
    file = first.directory / "stats.json"
    file.unlink()
    run(place, "why")
    assert file.exists() and not left.exists()


def test_an_examination_is_made_again_when_the_firmware_changes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(cost, "build_simulator", lambda machine, folder, build, defines: folder / "simulator")
    costs = [cost.Cost("cpu", "send", dict.fromkeys(cost.KINDS, 1.0))]
    monkeypatch.setattr(cost, "per_frame", lambda simulator, firmware, words: asked.append(firmware) or costs)
    (place / "studies.toml").write_text(PLAN + EXAMINATIONS)
    run(place, "cost")
    run(place, "cost")
    assert len(asked) == 1 and run(place, "soak").examined["cost"]
    (place / "build/firmware.elf").write_text("another")
    assert "cost" not in run(place, "soak").examined, "what another firmware cost is not shown"
    run(place, "cost")
    assert len(asked) == 2
