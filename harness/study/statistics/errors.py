"""The error of what a window in parts shows: half of a 95 % confidence interval.

A measure is a function of what the window counted, and that is the sum over its parts.  So the error of the measure is
that of the sum, carried through the function: for a count the sum of all parts, for a rate their mean.  Parts that
follow each other are alike more often than not, which makes the error larger: by their autocorrelation.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, stdev

from harness.study.expression import ExpressionError
from harness.study.reading import Counted

STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
           2.120, 2.110, 2.101, 2.093]  # fmt: skip  # 97.5 % quantiles of Student's t with 1, 2, … degrees of freedom
MOST_ALIKE = 0.95
# As many values count as independent, however much neighbours are alike, since few values are often alike by chance.
# With 4 values or more the interval still holds the mean in 90 of 100 series whose neighbours correlate by 0.7.
LEAST_INDEPENDENT = 2.75


def quantile(freedom: float) -> float:
    """The 97.5 % quantile of Student's t."""
    last = len(STUDENT)
    if freedom >= last:
        return 1.96 + (STUDENT[-1] - 1.96) * last / freedom
    below = max(1, int(freedom))
    return STUDENT[below - 1] + (STUDENT[below] - STUDENT[below - 1]) * (max(freedom, 1) - below)


def alike(values: Sequence[float]) -> float:
    """The autocorrelation of neighbours, on the safe side: without what few values take off it, and 0.65 of its own
    error added.  At least 0."""
    count, mean = len(values), fmean(values)
    away = [value - mean for value in values]
    square = sum(one * one for one in away)
    found = sum(one * other for one, other in zip(away, away[1:], strict=False)) / square if square else 0.0
    return min(max(found + (1 + 4 * max(found, 0.0)) / count + 0.65 / count**0.5, 0.0), MOST_ALIKE)


def half_of_mean(values: Sequence[float]) -> float:
    """Half of the interval of the mean of a stationary series, whose values may be correlated."""
    count, likeness = len(values), alike(values)
    inflated = min((1 + likeness) / (1 - likeness), max(count / LEAST_INDEPENDENT, 1.0))
    independent = count / inflated
    biased = max(1 - (inflated - 1) / count, 0.2)  # of the variance that is seen
    return quantile(independent - 1) * stdev(values) * (inflated / (count * biased)) ** 0.5


def _shifted(whole: Mapping[str, float], by: Mapping[str, float], factor: float, gauges: frozenset[str],
             parts: int) -> dict[str, float]:  # fmt: skip
    return {
        name: value + factor * by.get(name, 0.0) / (parts if name in gauges else 1) for name, value in whole.items()
    }


def _deviations(parts: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """What each part has more than the mean of all."""
    names = dict.fromkeys(name for part in parts for name in part)
    means = {name: fmean(part.get(name, 0.0) for part in parts) for name in names}
    return [{name: part.get(name, 0.0) - mean for name, mean in means.items()} for part in parts]


def shifts(whole: Counted, parts: Sequence[Counted], gauges: frozenset[str]) -> list[tuple[Counted, Counted]]:
    """For each part, the window with as much more, and as much less, as that part has more than the mean.  A gauge is
    no sum and moves by its share."""
    count = len(parts)
    values = _deviations([part.values for part in parts])
    cycles = _deviations([part.cycles for part in parts])
    events = _deviations([part.events for part in parts])
    none: frozenset[str] = frozenset()
    return [
        tuple(
            Counted(_shifted(whole.values, v, sign, gauges, count), _shifted(whole.cycles, c, sign, none, count),
                    _shifted(whole.events, e, sign, none, count), whole.seconds)
            for sign in (1.0, -1.0)
        )
        for v, c, e in zip(values, cycles, events, strict=True)
    ]  # fmt: skip


def half(measure: Callable[[Counted], float], moved: Sequence[tuple[Counted, Counted]]) -> float | None:
    """Half of the interval of a measure of the window; None where it is not known."""
    try:
        through = [(measure(more) - measure(less)) / 2 for more, less in moved]
    except (ExpressionError, TypeError):
        return None
    return len(through) * half_of_mean(through)
