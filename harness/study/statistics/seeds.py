"""A point with several seeds: a run for each of the seeds 1 to N, whose means and errors are those of the point.

The runs are independent, so the error of a mean is half of the 95 % interval by Student's t.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from harness.study.model import OK, Row, Study
from harness.study.statistics.errors import quantile
from harness.study.study_file import StudyError

SETTING = "seed"


def check(study: Study) -> None:
    """Refuses what excludes several seeds."""
    file, where = study.file, f"{study.path}: run: seeds"
    if file.run.seeds < 1:
        raise StudyError(f"{where}: {file.run.seeds} is no number of runs; write 1 or more")
    if file.run.seeds == 1:
        return
    if file.window.parts > 1:
        raise StudyError(f"{where}: the window has parts; the error of a measure is either that of parts or of seeds")
    if file.sample:
        raise StudyError(f"{where}: it excludes `sample`, since runs with several seeds have no common course")
    if any(axis.best for axis in file.axis):
        raise StudyError(f"{where}: it excludes an axis with `best`")
    if file.start and file.start.checkpoint:
        what = "all runs would go on from one checkpoint, which has its seed"
        raise StudyError(f"{where}: {what}; write start = {{ make = … }}")
    own = [file.base, *(one.settings for one in (*file.variant, *file.point))]
    own += [value.get("settings", {}) for axis in file.axis for value in axis.values if isinstance(value, dict)]
    if any(SETTING in settings for settings in own) or any(axis.setting == SETTING for axis in file.axis):
        raise StudyError(f"{where}: the study also has the setting 'seed'; leave one of them out")


def half(values: Sequence[float]) -> float:
    """Half of the 95 % interval of the mean of independent values."""
    return quantile(len(values) - 1) * stdev(values) / len(values) ** 0.5


def merged(rows: Iterable[Row]) -> list[Row]:
    """A row for each point, from those of its seeds; a run that failed, or did not run, is the row of its point."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(dict(row.point.coordinates)) if row.point.seed else str(row.point.number), []).append(row)
    return [_merged(group) for group in groups.values()]


def _merged(group: list[Row]) -> Row:
    first, *others = group
    if not others:
        return first
    if lost := [row for row in group if row.status != OK]:
        return min(lost, key=lambda row: row.status)  # "failed" comes before "not run"
    every: Mapping[str, list[Any]] = {
        name: [row.measures[name] for row in group] for name in first.measures
        if all(name in row.measures for row in group)
    }  # fmt: skip
    means = {name: fmean(values) for name, values in every.items()}
    found = {name: half(values) for name, values in every.items()}
    return replace(first, measures=means, errors=found, seeds={row.point.seed: dict(row.measures) for row in group})
