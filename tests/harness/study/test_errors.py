"""The error beside a measure: of what is shown, be it a sum or a mean, and of parts that resemble each other."""

import random
from math import sqrt
from statistics import fmean, stdev

import pytest

from harness.study import expression
from harness.study.reading import Counted, PointReading
from harness.study.statistics import errors


def series(draw: random.Random, likeness: float, count: int) -> list[float]:
    """An autoregressive series with mean 0 whose neighbours correlate as much."""
    found = [draw.gauss(0, 1) / sqrt(1 - likeness**2)]
    while len(found) < count:
        found.append(likeness * found[-1] + draw.gauss(0, 1))
    return found


@pytest.mark.parametrize("times", [500, pytest.param(5000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("likeness", [0.0, 0.5, 0.7])
@pytest.mark.parametrize("count", [4, 5, 8, 10, 20])
def test_the_interval_holds_the_truth(count: int, likeness: float, times: int) -> None:
    """At least 90 of 100 times, also where each part resembles the one before it; and it is not wide beyond use."""
    draw = random.Random(f"{count} {likeness}")
    every = [series(draw, likeness, count) for _ in range(times)]
    widths = [errors.half_of_mean(one) for one in every]
    held = sum(abs(fmean(one)) <= width for one, width in zip(every, widths, strict=True)) / len(every)
    ideal = errors.quantile(count - 1) / sqrt(count) / (1 - likeness)  # what is known of a long series
    assert held >= 0.9, held
    ranked = sorted(width / ideal for width in widths)
    assert ranked[len(ranked) // 2] < (2.2 if likeness == 0 else 3.5), "half of the intervals"
    assert ranked[len(ranked) * 9 // 10] < 8 and ranked[-1] < 16, "nine of ten, and all"
    if likeness >= 0.5:  # what takes no notice of the likeness misses it
        assert sum(abs(fmean(one)) <= errors.quantile(count - 1) * stdev(one) / sqrt(count) for one in every) / len(every) < 0.85


def point(counted: Counted) -> PointReading:
    measures = {"items": "a.n", "left": "1000 - a.n", "rate": "a.n / cycles(clk)", "ratio": "a.n / a.m", "square": "a.n * a.n", "level": "a.level", "word": "'yes'", "fixed": "7"}
    return PointReading(counted, {}, {}, measures, {"a.share": "a.n / (a.n + a.m)"})


def shown(name: str, values: list[float]) -> float | None:
    parts = [Counted({"a.n": n, "a.m": 2 * n, "a.level": n}, {"clk": 50}, {}, 1e-6) for n in values]
    whole = Counted({"a.n": sum(values), "a.m": 2 * sum(values), "a.level": values[-1]}, {"clk": 50 * len(values)}, {}, 1e-6 * len(values))
    return errors.half(lambda one: point(one).name(name), errors.shifts(whole, parts, frozenset({"a.level"})))


def test_the_error_is_that_of_what_is_shown() -> None:
    """A count is a sum of parts, a rate a mean; what is worked out of them takes over their errors."""
    values = [10.0, 14, 9, 12, 11, 16]
    mean, count = errors.half_of_mean(values), len(values)
    assert shown("items", values) == pytest.approx(count * mean) == pytest.approx(shown("left", values))
    assert shown("rate", values) == pytest.approx(mean / 50)
    assert shown("ratio", values) == pytest.approx(0, abs=1e-12) and shown("fixed", values) == 0
    assert shown("square", values) == pytest.approx(2 * sum(values) * count * mean)
    assert shown("level", values) == pytest.approx(mean) and shown("word", values) is None


@pytest.mark.parametrize("likeness", [0.0, 0.6])
def test_the_error_of_a_sum_holds_the_truth(likeness: float) -> None:
    draw, held = random.Random(3), 0
    for _ in range(300):
        values = [100 + 5 * one for one in series(draw, likeness, 10)]
        held += abs(sum(values) - 1000) <= shown("items", values)
    assert held >= 270


def test_quantiles() -> None:
    assert errors.quantile(1) == 12.706 and errors.quantile(4) == 2.776 and errors.quantile(19) == 2.093
    assert 2.776 < errors.quantile(3.5) < 3.182 and errors.quantile(0.5) == 12.706 and 1.96 < errors.quantile(1000) < 1.97


def test_a_measure_without_a_value_there_has_no_error() -> None:
    moved = errors.shifts(Counted({"a.n": 1}, {}, {}, 1), [Counted({"a.n": 0}, {}, {}, 1), Counted({"a.n": 1}, {}, {}, 1)], frozenset())

    def nothing(one: Counted) -> float:
        raise expression.NoValue("none")

    assert errors.half(nothing, moved) is None
