"""A report on several studies, against a stand-in simulator: what is made, kept, compared and shown, what texts may ask."""

import dataclasses
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.run.execute import executor
from harness.run.progress import Progress
from harness.study import collection, command, uses, validation
from harness.study.study_file import Measure, StudyError
from harness.study.uses import cost, faults
from tests.sample import sampled
from tests.tree import found

ROOT = Path(__file__).resolve().parents[3]

FIG = """
title = "A <figure>"
about = "Both ways."
machine = "machine.lss"
base = { "D.processors" = 1, "option.firmware" = "build/firmware.elf" }
use = { with = "frames", frames = 80, warmup = 20 }
axis = [
  { name = "payload", values = [18, 1472] },
  { name = "ratio", values = ["1:2", "1:1"], best = "rate" },
]
variant = [{ name = "one", label = "one CPU" }]
figure = [{ x = "payload", y = "rate" }, { kind = "scaling", x = "payload", y = "percent", series = "variant" }, { kind = "stack", x = "shares", y = ["rate", "percent"] }]
published = [
  { where = { variant = "one", payload = 1472 }, percent = 122.5, label = "published close" },
  { where = { variant = "one", payload = 18 }, percent = 99, label = "published far", explained = ["why"] },
]
"""
WHY = """
title = "Why"
about = "One thing changed at a time."
machine = "machine.lss"
use = { with = "frames", frames = 60, warmup = 20, ratio = "0:1" }
axis = { name = "payload", values = [1472] }
variant = [
  { name = "base", label = "as modelled" },
  { name = "other", label = "otherwise", settings = { "D.processors" = 2, "D.speed" = 3, "option.x" = 7 } },
]
figure = { kind = "bars", x = "payload", y = "rate", relative_to = "base" }
table = { rows = "variant", columns = "payload", value = "percent", relative_to = "base" }
"""
CONVERGENCE = """
title = "Convergence"
about = "How it settles."
machine = "machine.lss"
use = { with = "frames", frames = 400, warmup = 20, ratio = "0:1" }
sample = { every = "frames(100)", measures = ["rate"] }
axis = { name = "payload", values = [1472] }
variant = { name = "one" }
figure = { kind = "series", x = "frames", y = "rate" }
measure = { settled = "settled(rate, 5 %)" }
"""
SOAK = """
title = "Soak"
about = "Long."
machine = "machine.lss"
base = { "option.cycles" = 1000 }
use = { with = "frames", ratio = "1:1" }
run = { named_only = true }
axis = { name = "payload", values = [18] }
variant = { name = "one" }
"""
FAULTS = """
title = "Faults"
about = "Some."
machine = "machine.lss"
base = { "option.count" = 40, "option.cycles" = 10 }
use = { with = "frames", ratio = "0:1", payload = 18 }
examine = { with = "faults" }
variant = { name = "one", label = "one CPU" }
"""
COST = """
title = "Cost"
about = "Per frame."
machine = "machine.lss"
base = { "option.x" = 7, "option.firmware" = "build/firmware.elf" }
use = { with = "frames", ratio = "0:1", payload = 18 }
examine = { with = "cost", counts = { instructions = 420 } }
variant = { name = "one", label = "one CPU" }
"""
TEXT = """# Studies & more

What they show.

Ours is {{percent fig one 1472}}, {{gain fig one 1472 why base 1472}}; overhead {{setting fig one 18 overhead}}; {{worst}}; {{percent soak one 18}}
Settled after {{settled convergence one 1472}}; best {{ratio fig one 1472}}; {{frames}} frames. Or {{result fig "percent where variant == 'one' and payload == 1472"}}.

{{published}}
{{figure fig}}

{{table fig}}
{{comparison why}}
{{changes why}}

## The `hardware` alone
## Fig

{{scaling fig}}
{{convergence convergence}}
"""


@pytest.fixture
def place(tmp_path: Path, fake_build: Path) -> Path:
    (fake_build / "firmware.elf").write_text("firmware")
    for name, text in ("fig", FIG), ("why", WHY), ("convergence", CONVERGENCE), ("soak", SOAK):
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "text.md").write_text(TEXT)
    return tmp_path


def run(place: Path, *names: str) -> collection.Collection:
    with executor() as pool:
        return collection.run(sorted(place.glob("*.toml")), names, place / "build", pool, Progress())


def shown(made: collection.Collection, name: str) -> dict[str, float]:
    rows = made.outcomes[name].rows
    return {row.point.name: row.measures["rate"] for row in rows if row.status == "ok"}


def test_what_is_made(place: Path) -> None:
    made = run(place)
    assert made.failed == [] and shown(made, "soak") == {}, "a soak is made by name only"
    assert shown(made, "fig").keys() == {"one, payload 18, ratio 1:2", "one, payload 1472, ratio 1:1"} or (
        shown(made, "fig").keys() == {"one, payload 18, ratio 1:1", "one, payload 1472, ratio 1:1"}
    )
    # The stand-in moves a frame every 10 us in each direction that has frames.
    assert shown(made, "why") == pytest.approx(dict.fromkeys(["base, payload 1472", "other, payload 1472"], 1177.6))
    other = made.outcomes["why"].rows[1].result.job
    assert other.plain[:2] == ("--ratio_receive", "1") and other.plain[-2:] == ("--x", "7")
    assert [option for option, _ in other.inputs] == ["--receive"]


def test_a_named_study_leaves_others_as_they_were(place: Path) -> None:
    made = run(place, "soak")
    assert list(shown(made, "soak").values()) == pytest.approx([2 * 25 * 18 * 8 / 10]) and not shown(made, "fig")
    run(place, "why")
    again = run(place, "soak")
    assert len(shown(again, "why")) == 2 and all(row.result.reused for row in again.outcomes["soak"].rows)


def test_the_report_and_its_records(place: Path) -> None:
    page = validation.write(run(place), place / "text.md", place / "build")
    text = page.read_text()
    assert "Ours is 123.0 %, +100 %; overhead 30 %; " in text and "(not run)" in text
    assert "Or 123.0 %." in text
    assert "best 1:1; " in text and re.search(r"Settled after \d+; ", text)
    assert "Studies &amp; more" in text and "What they show." in text and "{{" not in text
    assert text.count("<svg") == 4 and "A &lt;figure&gt;" in text
    # Only the course of a measure has the measures of each run beside it.
    (beside,) = re.findall(r'<div class="plots">.*', text, re.DOTALL)
    assert beside.count("<svg") == 1 and re.search(r"</svg>.*Run<.*>UDP payload throughput, Mb/s", beside, re.DOTALL)
    row = next(line for line in text.splitlines() if "<td" in line and "published close" in line)
    assert "+0.4 %" in row and "agrees" in row
    assert '<a href="#why">why</a>' in next(line for line in text.splitlines() if "<td" in line and "published far" in line)
    for name in re.findall(r'href="#([\w-]+)"', text):
        assert f'id="{name}"' in text, name
    assert '<h2 id="the-hardware-alone">The <code>hardware</code> alone</h2>' in text  # as on GitHub
    assert "<h2>Fig</h2>" in text and text.count('id="fig"') == 1  # that is the study's figure
    for name in re.findall(r'href="([\w.-]+)"', text):
        assert (page.parent / name).exists(), name
    records = json.loads((place / "build/studies/studies.json").read_text())
    first = next(r for r in records if r["study"] == "fig" and r["payload_bytes"] == 1472)
    assert first == {
        "study": "fig", "machine": "machine", "variant": "one", "payload": 1472, "ratio": "1:1", "processors": 0, "sram_frequency": 0,
        "payload_bytes": 1472, "direction": "duplex", "mbps": 2355.2, "theory_mbps": 1914.17, "percent": 123.04,
        "published_percent": 122.5, "frames": 80, "drops": 0, "damaged": 0,
    }  # fmt: skip
    assert next(r for r in records if r["study"] == "why")["published_percent"] is None


def test_a_plug_in_of_another_package(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is found by the entry points of installed packages, and what it measures is a measure like others."""

    class Plugin(uses.Use):
        def __post_init__(self) -> None:
            self.measured = {"twice": Measure("", "s")}

        def settings(self, point):
            return {"option.x": 3}

        def measures(self, point, result):
            return {"twice": 2 * result.stats["statistics"][0]["value"]}

    entry = SimpleNamespace(load=lambda: Plugin)
    monkeypatch.setattr(uses.importlib.metadata, "entry_points", lambda group, name: [entry] * (name == "elsewhere"))
    (place / "why.toml").write_text('title = "t"\nmachine = "machine.lss"\nuse = "elsewhere"\nmeasure = { more = "twice + 1" }\n')
    (row,) = run(place, "why").outcomes["why"].rows
    assert dict(row.measures) == {"twice": 600, "more": 601} and row.result.job.plain == ("--x", "3")


def test_the_studies_of_the_examples_have_names_of_their_own() -> None:
    """`make studies` takes them all."""
    paths = found(ROOT / "examples", "studies/*.toml")
    known = collection.chosen(paths, [])
    assert len(known) == len(paths) > 30 and any(now for _, now in known.values())


def test_the_report_names_nothing_that_the_studies_lack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of `make studies` can be written, whatever was run: here nothing was."""
    paths = found(ROOT / "examples", "studies/*.toml")
    monkeypatch.setattr(collection, "chosen", lambda paths, names: {path.stem: (path, False) for path in paths})
    with executor() as pool:
        made = collection.run(paths, [], tmp_path, pool, Progress())
    assert not made.failed and len(made.outcomes) == len(paths)
    page = validation.write(made, ROOT / "docs/validation.md", tmp_path).read_text()
    assert page.count("(not run)") > 100


def test_a_large_difference_needs_an_explanation(place: Path) -> None:
    (place / "fig.toml").write_text(FIG.replace(', explained = ["why"]', ""))
    (place / "text.md").write_text("# T\n\nabout\n\n{{published}}\n")
    assert "not explained" in validation.write(run(place), place / "text.md", place / "build").read_text()


def test_unknown_studies(place: Path) -> None:
    with pytest.raises(StudyError, match="there is no study 'figure'; known are convergence, fig, soak, why"):
        run(place, "figure")
    (place / "fig.toml").write_text(FIG.replace('["why"]', '["because"]'))
    with pytest.raises(StudyError, match="explained by 'because', which is no study"):
        run(place, "why")


@pytest.mark.parametrize(
    "directive, error",
    sampled([
        ("x {{percent fig two 18}}", "text.md:5: {{percent fig two 18}}: there is no such thing"),
        ("x {{percent fig}}", "text.md:5: {{percent fig}}"),
        ("x {{colour fig one 18}}", "text.md:5: {{colour fig one 18}}"),
        ("{{picture fig}}", "text.md:5: {{picture fig}}"),
        ("{{figure gif}}", "text.md:5: {{figure gif}}"),
        ("{{changes fig}}", "fig has no figure 1 of kind bars"),
        ("{{figure fig 2}}", "fig has no figure 2 of kind lines"),
        ("x {{range fig speed}}", "{{range fig speed}}: there is no such thing ('speed')"),
        ("x {{result fig 'percent where payload == 3'}}", "fig: {percent where payload == 3}: no point is there"),
        ("x {{points fig two}}", "{{points fig two}}: there is no such thing ('two')"),
    ], 3),
)
def test_bad_texts(place: Path, directive: str, error: str) -> None:
    (place / "text.md").write_text(f"# T\n\nabout\n\n{directive}\n")
    with pytest.raises(validation.TextError, match=re.escape(error)) as caught:
        validation.write(run(place, "why"), place / "text.md", place / "build")
    assert "\n" not in str(caught.value)


@pytest.fixture
def examined(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """Examinations whose work is stood in for; what they were asked."""
    asked: list[tuple] = []
    costs = [cost.Cost("cpu", "send", dict(instructions=100, scratchpad=5, memory=2, registers=0)),
             cost.Cost("cpu", "main", dict(instructions=17.4, scratchpad=0, memory=0, registers=1))]  # fmt: skip
    rows = [{"fault": "bad", "injected": 7, "counted": 7, "statistic": "mac.bad", "disturbed": 0}]
    monkeypatch.setattr(cost, "build_simulator", lambda machine, output, build, defines: None)
    monkeypatch.setattr(cost, "per_frame", lambda simulator, firmware, arguments: asked.append(tuple(arguments)) or costs)
    monkeypatch.setattr(faults, "of_file", lambda stats: rows if stats.exists() else [])
    for name, text in ("faults", FAULTS), ("cost", COST):
        (place / f"{name}.toml").write_text(text)
    return asked


def test_examinations(place: Path, examined: list[tuple]) -> None:
    text = "# T\n\nabout\n\n{{verdict cost one}}, {{verdict faults one}}\n\n{{examined faults}}\n{{examined cost}}\n"
    (place / "text.md").write_text(text)
    made = run(place, "faults", "cost")
    page = validation.write(made, place / "text.md", place / "build").read_text()
    assert "117 instructions, 7 faults, 7 counted, 0 other frames disturbed" in page
    assert examined == [("--payload", "18", "--ratio_receive", "1", "--ratio_send", "0", "--x", "7")]
    published = next(line for line in page.splitlines() if ">published<" in line)
    assert ">420<" in published and "mac.bad" in page
    again = run(place, "soak")
    assert [f for _, f in again.examined["cost"]] == [f for _, f in made.examined["cost"]] and len(examined) == 1, "kept"


def test_the_command_for_several(place: Path, capsys: pytest.CaptureFixture) -> None:
    """Its status says whether all were made; a text that asks for what there is not is one line."""
    (place / "fig.toml").unlink()
    (place / "text.md").write_text("# T\n\nabout\n\n{{frames}} frames\n")
    options = SimpleNamespace(study=[place / "why.toml"], only=[], build=place / "build", text=place / "text.md",
                              workers=None, slurm=None, jobs=1)  # fmt: skip
    assert command.several(options) == 0
    assert f"report: {place}/build/studies/index.html" in capsys.readouterr().out.replace("\n", "")
    (place / "text.md").write_text("# T\n\nabout\n\n{{nothing}} at all\n")
    assert command.several(options) == 1
    assert capsys.readouterr().err == f"harness: {place}/text.md:5: {{{{nothing}}}}: there is no such thing ('nothing')\n"
    options.text = place / "none.md"
    assert command.several(options) == 1
    assert capsys.readouterr().err == f"harness: {place}/none.md: No such file or directory\n"
    options.study += [place / "below" / "why.toml"]
    assert command.several(options) == 1
    assert capsys.readouterr().err == f"harness: {place}/below/why.toml: {place}/why.toml is a study of this name already\n"
    (place / "below" / "why").mkdir(parents=True)
    options.study[1] = place / "below" / "why" / "study.toml"  # whose results would lie in the same folder
    assert command.several(options) == 1
    assert capsys.readouterr().err == f"harness: {place}/below/why/study.toml: {place}/why.toml is a study of this name already\n"


def test_an_examination_is_made_again_when_the_firmware_changes(place: Path, examined: list[tuple]) -> None:
    run(place, "cost")
    run(place, "cost")
    assert len(examined) == 1
    (place / "build/firmware.elf").write_text("another")
    assert run(place, "soak").examined["cost"] == [], "what another firmware cost is not shown"
    run(place, "cost")
    assert len(examined) == 2


def test_the_cost_of_a_frame_needs_a_firmware(place: Path, examined: list[tuple]) -> None:
    (place / "cost.toml").write_text(COST.replace(', "option.firmware" = "build/firmware.elf"', ""))
    assert run(place, "cost").failed == [
        "cost, one CPU: the cost of a frame is that of a firmware, and this point has none"
    ]


def test_what_texts_may_ask(place: Path, tmp_path: Path) -> None:
    made = run(place, "fig", "why")
    directives = validation.Directives(made, tmp_path)
    said = {
        "frames": "360", "percent fig one 18": "6.7 %", "gain why other 1472 why base 1472": "+0 %",
        "gain fig one 18 why base 1472": "-98 %", "gain soak one 18 why base 1472": "(not run)",
        "gain why base 1472 soak one 18": "(not run)", "setting soak one 18 overhead": "(not run)",
        "worst": "93.2 %", "worst 1472": "0.4 %", "worst 18": "93.2 %", "mean": "46.8 %", "mean one": "46.8 %", "mean 1472": "0.4 %",
        "ratio fig one 18": "1:1 (as good within the error: 1:2)", "verdict soak one": "(not run)", "uncertainty": "(not run)",
        "settled convergence one 1472": "(not run)", "points fig": "2", "points fig one 18": "1", "points soak one": "0",
        "range fig percent": "6.7 % to 123.0 %", "range fig percent 18": "6.7 % to 6.7 %", "range soak percent": "(not run)",
        "fit fig rate percent one": "1.0000", "fit fig rate percent 18": "(not run)", "fit soak rate percent": "(not run)",
    }  # fmt: skip
    assert {text: directives.fill(text, False) for text in said} == said
    for text, missing in {"drips": "drips", "worst 99": "99", "verdict soak two": "two", "setting fig one 18 x": "x", "percent fig one": "payload"}.items():
        with pytest.raises(KeyError, match=missing):
            directives.fill(text, False)
    for text in "table soak", "examined soak", "convergence convergence":
        title = text.split()[1].title()
        assert directives.fill(text, True) == f"<p><em>{title}: not run yet.</em></p>"
    with pytest.raises(KeyError, match="fig has no table 1"):
        directives.fill("comparison fig", True)
    assert directives.fill("comparison why 1", True) == directives.fill("comparison why", True) != ""
    with pytest.raises(KeyError, match="why has no table 2"):
        directives.fill("comparison why 2", True)
    assert "fig-layers" in directives.fill("layers fig", True)
    with pytest.raises(KeyError, match="why has no figure 1 of kind stack"):
        directives.fill("layers why", True)
    rows = made.outcomes["why"].every
    rows[0] = dataclasses.replace(rows[0], errors={"rate": 0.025 * rows[0].measures["rate"]})
    assert directives.fill("uncertainty", False) == "2.5 %"


def test_what_was_not_run_is_in_the_report(place: Path) -> None:
    """Nothing is worst then, and what was published stands alone."""
    made = run(place, "soak")
    directives = validation.Directives(made, place)
    assert directives.fill("worst", False) == directives.fill("mean", False) == "(not run)"
    shown = directives.fill("published", True).splitlines()
    assert [line.count("not run") for line in shown if "published " in line] == [1, 1]
    assert directives.fill("comparison why", True) == "<p><em>Why: not run yet.</em></p>"
    assert [one["study"] for one in validation.records(made)] == ["soak"]
