"""How well two measures agree over the points of a study: in their values, and in their order alone."""

import statistics
from collections.abc import Iterable, Sequence

from harness.study.model import Row


def fit(rows: Iterable[Row], measure: str, other: str) -> float | None:
    """The square of Pearson's correlation between two measures; None for fewer than two points or one value."""
    found = _correlation(_pairs(rows, measure, other))
    return None if found is None else found**2


def rank_correlation(rows: Iterable[Row], measure: str, other: str) -> float | None:
    """Spearman's rank correlation between two measures; None for fewer than two points or one value."""
    pairs = _pairs(rows, measure, other)
    return _correlation(list(zip(*map(_ranks, zip(*pairs, strict=True)), strict=True)))


def _pairs(rows: Iterable[Row], measure: str, other: str) -> list[tuple[float, float]]:
    return [(row.measures[measure], row.measures[other]) for row in rows if other in row.measures]


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    try:
        return statistics.correlation(*zip(*pairs, strict=True))
    except (statistics.StatisticsError, TypeError):
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value; equal ones share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(one) + (ordered.count(one) - 1) / 2 for one in values]
