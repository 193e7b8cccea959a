"""Points with several seeds: their means and errors, what is kept of each run, and what they exclude."""

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest

from harness.run.progress import Progress
from harness.study import figures, outputs, page, runner
from harness.study.study_file import StudyError
from tests.harness.chain import STUDY, make

TEXT = STUDY.replace("published =", "run = { seeds = 5 }\npublished =").replace("values = [2, 10]", "values = [2]")


def test_a_point_is_the_mean_of_its_seeds(place: Path) -> None:
    """Only a sink that is ready by chance depends on the seed; what does not has no error."""
    outcome = make(place, TEXT)
    half, always = outcome.rows
    rates = [one["rate"] for one in half.seeds.values()]
    assert list(half.seeds) == [1, 2, 3, 4, 5] and len(set(rates)) > 2
    assert half.point.coordinates == {"stages": 2, "ready": 0.5} and half.measures["rate"] == fmean(rates)
    assert half.errors["rate"] == pytest.approx(2.776 * stdev(rates) / 5**0.5), "Student's t of 4 degrees of freedom"
    assert always.errors["rate"] == 0.0 and len(set(one["rate"] for one in always.seeds.values())) == 1
    text = page.write(outcome, place / "out", Progress(), plain=True).read_text()
    assert "\u00b1 is half of the 95 % confidence interval of the mean of 5 runs with different seeds." in text and "2 points, all checks passed" in text
    points = json.loads((place / "out" / "results.json").read_text())["points"]
    assert [one["measures"]["rate"] for one in points[0]["seeds"]] == rates and points[0]["seeds"][4]["seed"] == 5
    assert len(outputs.as_csv(outcome).splitlines()) == 3 and "different seeds" in figures.caption(outcome, outcome.study.file.figure[0])
    alone = make(place, TEXT.replace("seeds = 5", "seeds = 1").replace("base = {", 'base = { "seed" = 3, '))
    assert alone.rows[0].measures["rate"] == rates[2] and alone.rows[0].result.reused, "seeds are settings of plain runs"


def test_a_seed_that_fails_is_named(place: Path) -> None:
    outcome = make(place, TEXT.replace("[measure]", 'check = "ready == 1.0 or rate > 0.49"\n[measure]'))
    failed = outcome.rows[0]
    assert failed.status == "failed" and failed.point.name.startswith("stages 2, ready 0.5, seed ") and len(outcome.failed) == 1


def test_starts_have_their_own_seed(place: Path) -> None:
    outcome = make(place, TEXT.replace("[measure]", 'start = { make = { until = "2 us" } }\n[measure]'))
    assert len({one["rate"] for one in outcome.rows[0].seeds.values()}) > 2


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("seeds = 5", "seeds = 0", "run: seeds: 0 is no number of runs; write 1 or more"),
        ("base = {", 'base = { "seed" = 3, ', "run: seeds: the study also has the setting 'seed'; leave one of them out"),
        ("[measure]", 'window = { to = "8 us", parts = 4 }\n[measure]', "run: seeds: the window has parts; "),
        ("[measure]", 'sample = { every = "1 us", measures = ["rate"] }\n[measure]', "run: seeds: it excludes `sample`"),
        ("values = [0.5, 1.0] }", 'values = [0.5, 1.0], best = "rate" }', "run: seeds: it excludes an axis with `best`"),
        ("[measure]", 'start = { checkpoint = "x" }\n[measure]', "run: seeds: all runs would go on from one checkpoint"),
    ],
)  # fmt: skip
def test_what_several_seeds_exclude(place: Path, old: str, new: str, error: str) -> None:
    assert old in TEXT
    (place / "study.toml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(StudyError, match=error):
        runner.prepare(place / "study.toml", place / "build", Progress())
