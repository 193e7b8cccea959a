"""What a run counted, as expressions ask for it: statistics within the window, cycles, time, parameters.

In the JSON of a simulator a snapshot has the values of all statistics in the order of `statistics`; what was counted
in a window is the difference of its two snapshots, but for statistics that are none, which are taken at its end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.run import patterns
from harness.study import expression, parameters
from harness.study.axis_values import in_expressions
from harness.study.expression import ExpressionError, NoValue
from harness.study.parameters import Parameter


@dataclass(frozen=True)
class Counted:
    """What was counted between two instants."""

    values: Mapping[str, float]
    cycles: Mapping[str, float]
    events: Mapping[str, float]
    seconds: float
    # The snapshots at its ends, of which None is an end of the run; without any, this is no stretch of a run.
    ends: tuple[Mapping | None, Mapping | None] | None = field(default=None, compare=False, repr=False)


def between(stats: Mapping, first: Mapping, last: Mapping) -> Counted:
    """What two snapshots differ by.  What a collector did not report yet at the first is counted from 0; what it does
    not report at the last has no value."""
    entries = stats.get("statistics", [])
    if not len(entries) == len(first["values"]) == len(last["values"]):
        raise ExpressionError("the statistics of this run are incomplete")
    values = {
        f"{entry['path']}.{entry['name']}": now - (then or 0) if entry.get("difference", True) else now
        for entry, then, now in zip(entries, first["values"], last["values"], strict=True)
        if now is not None
    }

    def less(key: str) -> dict[str, float]:
        return {name: now - first.get(key, {}).get(name, 0) for name, now in last.get(key, {}).items()}

    seconds = 1e-15 * (last["time_fs"] - first["time_fs"])
    return Counted(values, less("cycles"), less("events"), seconds, (first, last))


def gauges(stats: Mapping) -> frozenset[str]:
    """Statistics whose value is no count."""
    every = stats.get("statistics", [])
    return frozenset(f"{one['path']}.{one['name']}" for one in every if not one.get("difference", True))


def counted(stats: Mapping) -> Counted:
    """What the window of a run counted, or the whole run where none was given."""
    measured = stats.get("measured")
    if measured:
        if not measured["from"] or not measured["to"]:
            raise ExpressionError(f"the run ended before the window {'began' if not measured['from'] else 'was over'}")
        return between(stats, measured["from"], measured["to"])
    entries = stats.get("statistics", [])
    values = {f"{one['path']}.{one['name']}": one["value"] for one in entries if one["value"] is not None}
    run = stats.get("run", {})
    return Counted(values, run.get("cycles", {}), {}, 1e-9 * run.get("simulated_ns", 0), (None, None))


def series(stats: Mapping, in_window: bool = False) -> list[tuple[float, Counted]]:
    """What each stretch between two samples counted, and when it ended, in seconds; of the run, or of the window, where
    time is from its beginning on."""
    samples, begin = stats.get("samples", []), 0
    if in_window and (window := stats.get("measured")):
        if not (window["from"] and window["to"]):
            return []
        begin, end = window["from"]["time_fs"], window["to"]["time_fs"]
        samples = [one for one in samples if begin <= one["time_fs"] <= end]
    return [
        (1e-15 * (last["time_fs"] - begin), between(stats, first, last))
        for first, last in zip(samples, samples[1:], strict=False)
        if last["time_fs"] > first["time_fs"]
    ]


class Consoles(Protocol):
    """The texts of a run's consoles (printed.py)."""

    def last(self, pattern: str, path: str, counted: Counted) -> float | str: ...


@dataclass
class PointReading:
    """Answers expressions about one point: what was counted, its coordinates, its other measures."""

    counted: Counted
    manifest: Mapping[str, Any]
    coordinates: Mapping[str, Any]
    measures: Mapping[str, str]
    derived: Mapping[str, str] = field(default_factory=dict)  # statistics that are worked out of others
    others: Mapping[str, float] = field(default_factory=dict)  # measures that a plug-in made
    figures: Mapping[str, float] = field(default_factory=dict)  # published
    time_series: Mapping[str, list[tuple[float, float]]] = field(default_factory=dict)  # measures over time
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    consoles: Consoles | None = None
    intervals: Callable[[str, Counted], "float | expression.Values"] | None = None  # measures of intervals, by path
    interval_names: frozenset[str] = frozenset()
    evaluating: list[str] = field(default_factory=list)

    def statistic(self, path: str) -> "float | expression.Values":
        if self.intervals and path.partition(".")[0] in self.interval_names:
            return self.intervals(path, self.counted)
        if "*" not in path:
            if path in self.derived:
                return self._work_out(path)
            return expression.select(path, self.counted.values)
        matching = patterns.compiled(path).fullmatch
        worked = {name: self._work_out(name) for name in self.derived if matching(name)}
        return expression.select(path, {**self.counted.values, **worked} if worked else self.counted.values)

    def _work_out(self, name: str) -> float:
        """A statistic that is worked out of others, of what was counted in the window."""
        try:
            return expression.evaluate(self.derived[name], self)
        except NoValue as error:
            raise NoValue(f"{name} has no value here: {error}") from error

    def events(self, path: str) -> float:
        if path not in self.counted.events:
            raise NoValue(f"{path} was not counted")
        return self.counted.events[path]

    def cycles(self, clock: str) -> float:
        if clock == "fastest" and self.counted.cycles:
            return max(self.counted.cycles.values())
        if clock not in self.counted.cycles:
            raise NoValue(f"there is no clock {clock}")
        return self.counted.cycles[clock]

    def time(self) -> float:
        return self.counted.seconds

    def parameter(self, path: str) -> Any:
        return parameters.value(path, self.parameters, self.manifest)

    def name(self, name: str) -> Any:
        if name in self.coordinates:
            return in_expressions(self.coordinates[name])
        if name in self.others:
            return self.others[name]
        if name not in self.measures:
            raise NoValue(f"there is no {name} at this point")
        if name in self.evaluating:
            raise ExpressionError(f"{name} is measured by itself")
        self.evaluating.append(name)
        try:
            return expression.evaluate(self.measures[name], self)
        finally:
            self.evaluating.pop()

    def published(self, measure: str) -> float:
        if measure not in self.figures:
            raise NoValue(f"no {measure} was published for this point")
        return self.figures[measure]

    def printed(self, pattern: str, console: str) -> float | str:
        if self.consoles is None:
            raise NoValue("this looks at a run without its consoles")
        return self.consoles.last(pattern, console, self.counted)

    def settled(self, measure: str, within: float) -> float:
        if measure not in self.time_series:
            raise NoValue(f"{measure} was not sampled")
        return settled(self.time_series[measure], within)


def settled(series: list[tuple[float, float]], within: float) -> float:
    """From where nine values of ten stay `within` (a fraction) of the median of the later half."""
    if not series:
        raise NoValue("there are too few samples")
    later = sorted(value for _, value in series[len(series) // 2 :])
    final = later[len(later) // 2]
    away = [abs(value - final) > within * abs(final) for _, value in series]
    for index, (at, _) in enumerate(series):
        if sum(away[index:]) <= 0.1 * len(away[index:]) and not away[index]:
            return at
    return series[-1][0]
