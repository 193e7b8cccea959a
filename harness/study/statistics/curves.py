"""How curves compare: where two cross, and how well two measures agree, in their values or in their order alone.

`{crossing MEASURE where CONDITION from CONDITION}` in a headline: each condition leaves points along one axis with
numbers, the same for both.  Between neighbouring points the curves are straight lines, and the first crossing counts.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from harness.study.axis_values import in_expressions, scale_of
from harness.study.model import Row
from harness.study.points import VARIANT, Point
from harness.study.study_file import StudyError, StudyFile


def axis_of(file: StudyFile, first: Sequence[Point], second: Sequence[Point], place: str) -> str:
    """The axis along which both have their points; StudyError if there is none, or more than one."""
    names, along = [VARIANT, *(axis.name for axis in file.axis)], set[str]()
    for points in first, second:
        if not points:
            raise StudyError(f"{place}: no point is there")
        along |= {name for name in names if len({str(one.coordinates.get(name)) for one in points}) > 1}
    if len(along) != 1:
        which = f"they differ in {' and '.join(sorted(along, key=names.index))}" if along else "there is one point"
        raise StudyError(f"{place}: a crossing is of points along one axis, and {which}")
    [axis] = along
    if not all(isinstance(in_expressions(one.coordinates.get(axis)), int | float) for one in (*first, *second)):
        raise StudyError(f"{place}: a crossing is along an axis with numbers, and {axis} has others")
    return axis


def crossing(first: Mapping[float, float], second: Mapping[float, float]) -> float | None:
    """Where two curves cross; each is the values by place.  None: nowhere among the places that both have."""
    before: tuple[float, float] | None = None
    for place in sorted(first.keys() & second.keys()):
        difference = first[place] - second[place]
        if difference == 0:
            return place
        if before and (before[1] < 0) != (difference < 0):
            share = before[1] / (before[1] - difference)
            return before[0] + share * (place - before[0])
        before = (place, difference)
    return None


def spelt(first: Mapping[float, float], second: Mapping[float, float], file: StudyFile, axis: str) -> str:
    """Where two curves over an axis cross, as the axis has it."""
    value = crossing(first, second)
    if value is None:
        return f"none up to {_place(max(first.keys() & second.keys(), default=0), file, axis)}"
    return _place(value, file, axis)


def _place(value: float, file: StudyFile, axis: str) -> str:
    one = next(one for one in file.axis if one.name == axis)
    scale = scale_of(one.values)
    shown = float(value / scale.factor)
    digits = f"{shown:.3g}" if abs(shown) < 1000 else f"{shown:,.0f}"
    return f"{digits} {scale.unit or one.unit}".strip()


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's; None for fewer than two points or one value."""
    try:
        return statistics.correlation(*zip(*pairs, strict=True))
    except (statistics.StatisticsError, TypeError):
        return None


def _pairs(rows: Iterable[Row], measure: str, other: str) -> list[tuple[float, float]]:
    return [(row.measures[measure], row.measures[other]) for row in rows if other in row.measures]


def fit(rows: Iterable[Row], measure: str, other: str) -> float | None:
    """The square of Pearson's correlation between two measures; None for fewer than two points or one value."""
    found = _correlation(_pairs(rows, measure, other))
    return None if found is None else found**2


def rank_correlation(rows: Iterable[Row], measure: str, other: str) -> float | None:
    """Spearman's rank correlation between two measures, in the same cases; equal values share a rank."""

    def ranks(values: Sequence[float]) -> list[float]:
        ordered = sorted(values)
        return [ordered.index(one) + (ordered.count(one) - 1) / 2 for one in values]

    pairs = _pairs(rows, measure, other)
    return _correlation(list(zip(*map(ranks, zip(*pairs, strict=True)), strict=True)))
