"""The first lines of a page: headline, cards, published figures that are not comparable; what they refuse."""

import re
from pathlib import Path

import pytest

from harness.quantity import spelt as quantity_spelt
from harness.report import plot
from harness.run.progress import Progress
from harness.study import figures, headline, model, page, study_file, tables, words
from harness.study.statistics import curves
from harness.study.study_file import Axis, StudyError, StudyFile
from harness.version import version
from tests.harness.chain import STUDY, make
from tests.tree import found

ROOT = Path(__file__).resolve().parents[3]
WORDS = STUDY.replace('name = "stages", setting', 'name = "stages", label = "pipes", setting').replace(
    'name = "ready", setting', 'name = "ready", label = "readiness of the sink", setting'
).replace('missing = { value = "1 - rate", better = "less" }', 'missing = { value = "1 - rate", label = "empty cycles", better = "less" }')  # fmt: skip
HEADLINE = """
headline = "{rate where stages == 2 and ready == 1.0} of {published rate where stages == 2 and ready == 1.0}: {off rate where stages == 2 and ready == 1.0}."
card = [
  { value = "{least rate where ready == 1.0}", text = "least, up to {most rate}" },
  { value = "{change missing where stages == 10 and ready == 1.0 from stages == 2 and ready == 1.0}", text = "empty" },
]
machine ="""


def with_headline(text: str = WORDS, more: str = HEADLINE) -> str:
    return text.replace("\nmachine =", more, 1)


def test_results_come_first_and_identifiers_not_at_all(place: Path) -> None:
    text = with_headline().replace("published = {", "published = [{ where = { stages = 10, ready = 1.0 }, rate = 0.5, label = 'another', comparable = false, reason = 'of another machine' }, {").replace('label = "theirs" }', 'label = "theirs" }]')
    outcome = make(place, text)
    written = page.write(outcome, place / "out", Progress(), plain=True).read_text()
    assert '<p class="lead"><strong>0.998</strong> of <strong>0.9</strong>: <strong>+10.9 %</strong>.</p>' in written
    assert "<li><b>0.99</b><span>least, up to 0.998</span></li>" in written
    assert "<li><b>+400.0 %</b><span>empty</span></li>" in written
    assert f"Spinach {version()} · clocks: clk 100 MHz · 4 points, all checks passed</p>" in written
    assert '<p class="facts">Run it again: <code>spinach study ' in written
    lines = [line for line in written.splitlines() if "<td" in line and ("theirs" in line or "another" in line)]
    assert "+10.9 %" in lines[0] and "not comparable" in lines[1] and "of another machine" in lines[1]
    anchors = re.findall(r'<nav.*?</nav>', written, re.DOTALL)[0]
    for name in re.findall(r'href="#([^"]+)"', anchors):
        assert f'id="{name}"' in written, name
    shown = re.sub(r"<(style|pre|code|svg).*?</\1>", "", written, flags=re.DOTALL)
    assert not re.search(r">[^<]*\b(missing|stages \d)", shown)
    again = page.write(make(place), place / "again", Progress(), plain=True)
    assert again.read_text() == written


def test_results_that_have_errors_show_them(place: Path) -> None:
    outcome = make(place, with_headline())
    for row in outcome.rows:
        row.errors.update(rate=0.0123, missing=0.0005)
    written = page.write(outcome, place / "out", Progress(), plain=True).read_text()
    assert "<strong>0.998 ± 0.012</strong> of <strong>0.9</strong>: <strong>+10.9 ± 1.4 %</strong>." in written
    assert "<li><b>0.99</b><span>least, up to 0.998</span></li>" in written, "the least of several has none"
    assert "<li><b>+400 ± 127 %</b>" in written
    assert '<p class="note">± is half of the 95 % confidence interval.</p>' in written


def test_differences_have_the_errors_of_both() -> None:
    assert words.changed(50.0, 100.0, 3.0) == "−50.0 ± 3.0 %" and words.changed(110.0, 100.0, 3.0, 4.0) == "+10.0 ± 5.3 %"
    assert words.changed(100.0, 100.0, 1.0) == "0.0 ± 1.0 %" and words.changed(1.0, 0.0, 1.0) == ""
    assert words.spelt(58.6412, "%", 1.7) == "58.6 ± 1.7 %" and words.spelt(12, "", 3.0) == "12.0 ± 3.0"


@pytest.mark.parametrize(
    "old, new, error",
    [
        ("{rate where", "{rat where", "headline: {rat where stages == 2 and ready == 1.0}: there is no measure 'rat'; known are rate, missing"),
        ("{rate where stages == 2", "{rate where depth == 2", "headline 'depth == 2 and ready == 1.0': 'depth' is no axis; known are variant, stages, ready"),
        ("{rate where stages == 2 and ready == 1.0}", "{rate where stages == 2}", "headline: {rate where stages == 2}: 2 points are there (name one point, or least, most, sum)"),
        ("{rate where stages == 2 and", "{rate where stages == 3 and", "headline: {rate where stages == 3 and ready == 1.0}: no point is there (name one point, or least, most, sum)"),
        ("{least rate", "{smallest rate", "card 1: {smallest rate where ready == 1.0}: write {MEASURE where CONDITION}, or least, most, sum, published, off, change, crossing or rank before the measure"),
        ("{off rate where stages == 2", "{off rate where stages == 10", "headline: {off rate where stages == 10 and ready == 1.0}: nothing comparable was published for that point"),
        ("{change missing", "{missing", "a change or a crossing, and nothing else, is from other points: change MEASURE where … from …"),
        ("{rate where stages == 2 and ready == 1.0}", "{crossing rate where stages == 2 from ready == 1.0}", "headline: {crossing rate where stages == 2 from ready == 1.0}: a crossing is of points along one axis, and they differ in stages and ready"),
        ("{rate where stages == 2 and ready == 1.0}", "{crossing rate where stages == 2 from stages < 99}", "a crossing is of points along one axis, and they differ in stages and ready"),
        ("{rate where stages == 2 and ready == 1.0}", "{crossing rate where stages == 2 and ready == 1.0 from stages == 2 and ready == 1.0}", "a crossing is of points along one axis, and there is one point"),
        ("{rate where stages == 2 and ready == 1.0}", "{crossing rate where stages == 2 from stages == 3}", "{crossing rate where stages == 2 from stages == 3}: no point is there"),
        ("{least rate where", "{rank rate where", "card 1: {rank rate where ready == 1.0}: a rank, and nothing else, is with another measure: rank MEASURE with MEASURE"),
        ("{least rate where", "{least rate with missing where", "a rank, and nothing else, is with another measure"),
        ("{least rate where", "{rank rate with speed where", "there is no measure 'speed'; known are rate, missing"),
        ("{rate where stages == 2 and ready == 1.0}", "{rank rate with missing where stages == 2 and ready == 1.0}", "one point has no order"),
        (', label = "pipes"', "", "axis 'stages': no label, where a headline is for all readers"),
        (', label = "empty cycles"', "", "measure 'missing': no label, where a headline is for all readers"),
        (', label = "theirs"', "", "published 1: no label (what was published, in words)"),
        (', label = "theirs"', ', label = "theirs", comparable = false', "published 1: comparable: it needs a `reason`"),
        (', label = "theirs"', ', label = "theirs", reason = "x"', "published 1: comparable: `reason` is for `comparable = false`"),
        (', label = "theirs"', ', label = "theirs", comparable = "no"', "published 1: comparable: expected true or false"),
        ("card = [", "card = [" + '{ value = "1", text = "x" }, ' * 3, "card: 5 cards (at most 4, the results that matter most)"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_the_first_run(place: Path, old: str, new: str, error: str) -> None:
    text = with_headline()
    assert old in text
    with pytest.raises(StudyError, match=f"^{re.escape(str(place / 'study.toml'))}: .*{re.escape(error)}"):
        make(place, text.replace(old, new, 1))
    assert not (place / "build/run").exists()


def test_where_curves_cross(place: Path) -> None:
    """Along the axis of the points, with a unit if the axis has one; in a straight line between neighbours."""
    assert curves.crossing({1: 1.0, 2: 2.0, 4: 6.0}, {1: 2.0, 2: 3.0, 4: 3.0}) == 2.5
    assert curves.crossing({1: 1.0, 2: 2.0}, {1: 2.0, 2: 2.0, 3: 9.0}) == 2 and curves.crossing({1: 1.0}, {2: 0.0}) is None
    assert curves.crossing({1: 1.0, 2: 2.0}, {1: 2.0, 2: 3.0}) is None
    text = with_headline().replace("{rate where stages == 2 and ready == 1.0}", "{crossing rate where stages == 2 from stages == 10}", 1)
    outcome = make(place, text)
    assert headline.fill(outcome, "{crossing rate where stages == 2 from stages == 10}") == "none up to 1"
    for row in outcome.rows:
        row.measures["rate"] = row.point.coordinates["ready"] if row.point.coordinates["stages"] == 2 else 0.8
    assert headline.fill(outcome, "{crossing rate where stages == 2 from stages == 10}") == "0.8"
    size = StudyFile(title="t", machine="m.lss", axis=[Axis("size", values=["2 KiB", "4096 B"])])
    assert curves.spelt({2048.0: 1.0, 4096.0: 4.0}, {2048.0: 2.0, 4096.0: 3.0}, size, "size") == "3,072 B"
    assert curves.spelt({2048.0: 1.0, 4096.0: 1.0}, {2048.0: 2.0, 4096.0: 3.0}, size, "size") == "none up to 4,096 B"


def test_the_order_of_two_measures(place: Path) -> None:
    """Spearman's rank correlation, of which equal values share a rank; none for a measure with one value."""
    outcome = make(place, with_headline().replace("{least rate where ready == 1.0}", "{rank rate with missing where ready <= 1.0}"))
    for row, rate, missing in zip(outcome.rows, (1, 20, 300, 4000), (-5, -4, 7, 6), strict=True):
        row.measures.update(rate=rate, missing=missing)
    assert headline.fill(outcome, outcome.study.file.card[0].value) == "0.80"
    for row, missing in zip(outcome.rows, (9, 8, 8, 7), strict=True):
        row.measures.update(missing=missing)
    assert headline.fill(outcome, "{rank rate with missing}") == "-0.95"
    for row in outcome.rows:
        row.measures.update(missing=1)
    assert headline.fill(outcome, "{rank rate with missing}") == "(not run)"


def test_a_study_without_better_has_no_best_point(place: Path) -> None:
    outcome = make(place, WORDS.replace(', better = "more"', ""))
    assert "The best" not in page.write(outcome, place / "out", Progress()).read_text()


def test_a_value_above_its_limit_by_less_than_its_error_is_marked(place: Path) -> None:
    outcome = make(place, WORDS.replace('label = "items per cycle"', 'label = "items per cycle", limit = 0.995'))
    [row] = [one for one in outcome.rows if one.point.coordinates == {"stages": 2, "ready": 1.0}]
    for error, marked in (0.01, True), (0.001, False):
        wide = model.Row(row.point, row.status, row.measures, {"rate": error}, {}, row.result)
        assert tables.is_beyond(outcome, wide, "rate") is marked
        table = tables.points_table(model.Outcome(outcome.study, [wide]), place)
        assert ("<sup>*</sup>" in table and tables.WHY_BEYOND in table) is marked and "half of the 95 % confidence interval" in table


def test_a_caption_says_what_is_fixed_and_what_bars_are(place: Path) -> None:
    outcome = make(place, WORDS.replace('y = "rate" }', 'y = "rate", where = { ready = 1.0 } }'))
    [figure] = outcome.study.file.figure
    assert figures.caption(outcome, figure) == "Fixed: readiness of the sink 1.0."
    rows = [model.Row(one.point, one.status, one.measures, {"rate": 0.1}, {}, one.result) for one in outcome.rows]
    assert figures.caption(model.Outcome(outcome.study, rows), figure) == "Fixed: readiness of the sink 1.0. Bars show ±, half of the 95 % confidence interval."


@pytest.mark.parametrize(("times", "unit", "places"), [([0.5, 2.0], "s", [0.5, 2]), ([0.0002, 0.0005], "us", [200, 500]), ([2e-12], "ns", [0.002])])
def test_time_is_in_the_largest_unit(times: list[float], unit: str, places: list[float]) -> None:
    across, [line] = figures._over_time([plot.Line("one", times, [1.0] * len(times))])
    assert across == f"simulated time, {unit}" and line.across == pytest.approx(places)


def test_a_figure_without_some_points(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(figures.plot, "lines", lambda title, across, up, lines, *rest, **more: drawn.extend(lines))
    outcome = make(place, WORDS.replace('y = "rate" }', 'y = "rate", skip = ["ready < 1.0 and stages == 2"] }'))
    assert figures.draw(outcome, outcome.study.file.figure[0], place / "figure")
    assert [line.across for line in drawn] == [[2, 10], [10]]
    with pytest.raises(StudyError, match=r"figure 1: skip 'depth == 2': 'depth' is no axis; known are variant, stages, ready$"):
        make(place, WORDS.replace('y = "rate" }', 'y = "rate", skip = ["depth == 2"] }'))


@pytest.mark.parametrize("file", found(ROOT / "examples", "*.toml"), ids=lambda file: str(file.relative_to(ROOT)))
def test_every_study_of_the_examples_begins_with_its_result(file: Path) -> None:
    study = study_file.read(file)
    assert study.headline and headline.RESULT.search(study.headline), "headline = …: the result in one sentence, with its figures in {…}"


def test_words() -> None:
    assert words.spelt(-0.5, "%") == "−0.5 %" and words.spelt(1234.5, "µs") == "1,234 µs"
    assert words.signed(-0.04) == "+0.0 %" and words.changed(3, 4) == "−25.0 %" and words.changed(3, 0) == ""
    assert [quantity_spelt(one, "frequency") for one in (88_000_000, 500, 1_500_000_000)] == ["88 MHz", "500 Hz", "1.5 GHz"]
