"""What points are compared with: a variant without the axes of the others, an axis of a table, and what is refused."""

import re
from pathlib import Path

import pytest

from harness.report import plot
from harness.run.progress import Progress
from harness.study import figures, model, page, runner, words
from harness.study.study_file import StudyError
from tests.harness.chain import MACHINE, make

TEXT = """
title = "t"
machine = "chain.lss"
base = { "option.cycles" = 1000 }
variant = [{ name = "none", label = "no chain", settings = { "D.stages" = 1 } }, { name = "chain" }]
axis = [
  { name = "stages", setting = "D.stages", values = [2, 10], only = ["chain"] },
  { name = "ready", setting = "option.ready", values = [0.5, 1.0], only = ["chain"] },
]
[measure]
rate = "consumer.items / cycles(clk)"
[[figure]]
kind = "bars"
x = "stages"
y = "rate"
relative_to = "none"
[[figure]]
x = "stages"
y = "rate"
[[table]]
rows = "stages"
columns = "ready"
value = "rate"
relative_to = "none"
[[table]]
rows = "variant"
columns = "stages"
value = "rate"
where = { variant = ["none", "chain"] }
relative_to = "none"
[[table]]
rows = "stages"
columns = "ready"
value = "rate"
relative_to = "0.5"
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory, build_dir: Path) -> model.Outcome:
    folder = tmp_path_factory.mktemp("relative")
    (folder / "build").mkdir()
    (folder / "build" / "bin").symlink_to(build_dir / "bin")
    (folder / "chain.lss").write_text(MACHINE)
    return make(folder, TEXT)


def drawn(outcome: model.Outcome, number: int, out: Path, monkeypatch: pytest.MonkeyPatch) -> list[plot.Line]:
    found: list[plot.Line] = []
    monkeypatch.setattr(plot, "bars", lambda title, up, lines, *_, **__: found.extend(lines))
    monkeypatch.setattr(plot, "lines", lambda title, across, up, lines, *_, **__: found.extend(lines))
    assert figures.draw(outcome, outcome.study.file.figure[number], out / "figure")
    return found


def test_a_variant_without_the_axes_is_what_others_are_compared_with(
    outcome: model.Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate = {row.point.name: row.measures["rate"] for row in outcome.rows}
    none, *bars = drawn(outcome, 0, tmp_path, monkeypatch)
    assert (none.name, none.across, none.values) == ("no chain", [2, 10], [0.0, 0.0])
    change = {ready: [100 * (rate[f"chain, stages {n}, ready {ready}"] / rate["none"] - 1) for n in (2, 10)] for ready in (0.5, 1.0)}
    assert [line.values for line in bars] == [pytest.approx(change[0.5]), pytest.approx(change[1.0])] and change[0.5][0] < -40


def test_a_variant_without_the_axis_is_a_horizontal_line(
    outcome: model.Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none, *others = drawn(outcome, 1, tmp_path, monkeypatch)
    assert none.across == [2, 10] and none.values == [outcome.rows[0].measures["rate"]] * 2
    assert [line.across for line in others] == [[2, 10]] * 2


def test_tables_have_no_row_of_a_missing_axis(outcome: model.Outcome, tmp_path: Path) -> None:
    """The first shows each point next to its change from `none`; in the second, `none` is the same in each column."""
    text = page.write(outcome, tmp_path, Progress(), plain=True).read_text()
    assert "None" not in text
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)]
    rate = {row.point.name: row.measures["rate"] for row in outcome.rows}
    least, most = (rate[f"chain, stages 10, ready {ready}"] for ready in (0.5, 1.0))

    def change(value: float, base: float) -> str:
        return words.signed(100 * (value / base - 1))

    assert [f"{least:.4g}", change(least, rate["none"]), f"{most:.4g}", change(most, rate["none"])] in [row[1:] for row in rows]
    assert ["no chain", *[f"{rate['none']:.4g}", ""] * 2] in rows
    assert ["10", f"{least:.4g}", "", f"{most:.4g}", change(most, least)] in rows


REFUSED = [
    ('relative_to = "none"', 'relative_to = "nonne"', r"study.toml:16: figure 1: relative_to: there is no variant 'nonne'; did you mean 'none'\?"),
    ('relative_to = "0.5"', 'relative_to = "0.6"', r":3\d: table 3: relative_to: '0.6' is no value of stages or ready or variant; "),
    ('relative_to = "none"', 'relative_to = "chain"', r"figure 1: relative_to: 'none' could be compared with 4 points, such as "),
    ('kind = "bars"', 'kind = "series"', r"figure 1: relative_to: a figure of kind 'series' shows no changes"),
    ('relative_to = "none"\n[[figure]]', 'series = "ready"\nrelative_to = "0.7"\n[[figure]]', r"'0.7' is no value of ready; "),
    ('columns = "ready"', 'columns = "raedy"', r"table 1: columns: 'raedy' is none of variant, stages, ready"),
    ('value = "rate"', 'value = "raet"', r"table 1: value: 'raet' is none of rate"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "error"), REFUSED)
def test_what_nothing_can_be_compared_with_is_refused(place: Path, old: str, new: str, error: str) -> None:
    assert old in TEXT
    (place / "study.toml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(StudyError, match=error) as caught:
        runner.prepare(place / "study.toml", place / "build", Progress())
    assert "\n" not in str(caught.value)
