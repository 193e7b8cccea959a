"""Intervals of a study: the times between two events of the machine, and what is measured of them.

    [[interval]]
    name = "packet"; from = "marker(4)"; to = "marker(5)"; parts = ["user"]

A simulator is built with a `shared collector` for each interval, on the events of `from` and `to`, and with `user` on
the event `mode` of processors.  modules/generic/interval_times.h is what it does.  Each processor has its own
intervals; an event of another instance, such as a NIC, ends the oldest one.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness import quantity
from harness.run import files, patterns, store
from harness.study import conditions, expression
from harness.study.expression import NoValue, Values
from harness.study.machine import CONNECTION_EVENTS
from harness.study.reading import Counted, between
from harness.study.study_file import Interval, Measure, StudyError

if TYPE_CHECKING:
    from pathlib import Path

    from harness.study.machine import Machine
    from harness.study.model import Study

MOST_VALUES = 1000  # of a series
USER = "user"
SHOWN = (".mean", f".{USER}")  # at a terminal, where there is room for few
FORMS = "marker(N), event(PATH.EVENT) or event(PATH.EVENT, N)"
LABELS = {"count": "", "mean": "cycles", "least": "cycles", "most": "cycles", "p99": "cycles", "jitter": "",
          "user": "cycles"}  # fmt: skip
CLASHES = ("time", *expression.LISTS, *expression.NUMBERS, *expression.QUERIES, *expression.CONSTANTS,
           expression.PRINTED)  # fmt: skip


@dataclass(frozen=True)
class Event:
    """What begins or ends an interval."""

    pattern: str
    name: str
    argument: str  # that is compared; "": every event counts
    relation: str
    number: int
    times: int = 1

    @property
    def compared(self) -> tuple[str, str, str, int]:
        """Which events count."""
        return self.name, self.argument, self.relation, self.number

    @property
    def test(self) -> str:
        """The comparison in C; "": none."""
        return f"(int64_t){self.argument} {self.relation} {self.number}LL" if self.argument else ""


def event(text: str) -> Event | None:
    """The event of a condition; None of others."""
    if found := conditions.MARKER.fullmatch(text.strip()):
        return Event("**", "marker", "number", "==", quantity.count(found[1]))
    found = conditions.EVENT.fullmatch(text)
    if not found:
        return None
    pattern, _, name = found[1].rpartition(".")
    times = quantity.count(found["times"]) if found["times"] else 1
    if not found["argument"]:
        return Event(pattern, name, "", "", 0, times)
    return Event(pattern, name, found["argument"], found["relation"], quantity.integer(found["number"]), times)


def measures(intervals: Sequence[Interval]) -> dict[str, Measure]:
    """What is measured of intervals, by name."""
    return {
        f"{one.name}.{what}": Measure("", unit, f"{one.name}: {what}")
        for one in intervals for what, unit in LABELS.items() if what != USER or USER in one.parts
    }  # fmt: skip


def names(intervals: Sequence[Interval]) -> frozenset[str]:
    """Their names."""
    return frozenset(one.name for one in intervals)


# ---- What is checked before anything is built


def check(study: "Study", machine: "Machine") -> None:
    """Refuses intervals that cannot be on this machine."""
    own = {name for name, measure in study.measures.items() if measure.value}
    axes = {axis.name for axis in study.file.axis}
    seen: set[str] = set()
    for number, one in enumerate(study.file.interval, 1):
        where = f"{study.path}: interval {one.name or number!r}"
        if one.name in CLASHES:
            raise StudyError(f"{where}: expressions know something else by this name")
        if not re.fullmatch(r"[A-Za-z]\w*", one.name):
            raise StudyError(f"{where}: measures are called by its name, so it must be an identifier")
        if one.name in seen:
            raise StudyError(f"{where}: two intervals have this name")
        seen.add(one.name)
        if any(instance["path"].split(".")[0].split("[")[0] == one.name for instance in machine.netlist["instances"]):
            raise StudyError(f"{where}: {machine.path.name} has an instance of this name")
        if one.name in own | axes:
            raise StudyError(f"{where}: a measure or an axis has this name")
        if unknown := [part for part in one.parts if part != USER]:
            raise StudyError(f"{where}: parts: unknown part {unknown[0]!r}; known is {USER}")
        for key, text in ("from", one.begin), ("to", one.to):
            conditions.check(text, machine, f"{where}: {key}")
            if not event(text):
                raise StudyError(f"{where}: {key}: {text!r}: an interval begins and ends at an event; write {FORMS}")
        try:
            _bound(one, machine)
        except StudyError as error:
            raise StudyError(f"{where}: {error}") from None


# ---- The collectors


@dataclass(frozen=True)
class _Bound:
    """An interval on a machine: the instances with its events, by the processor that they belong to."""

    interval: Interval
    begin: Mapping[str, list[str]]  # by processor
    end: Mapping[str, list[str]]
    modes: Mapping[str, str]  # the instance with the mode of a processor
    clocks: frozenset[str]  # of all of these
    clock: str  # of the processors


def _emitters(one: Event, machine: "Machine") -> list[str]:
    """The instances with an event, or the pattern of ports."""
    if one.name in CONNECTION_EVENTS:
        return [one.pattern]
    matches = patterns.compiled(f"{one.pattern}.{one.name}").fullmatch
    return [
        instance["path"] for instance in machine.netlist["instances"] for known in instance["events"]
        if instance["leaf"] and known["name"] == one.name and matches(f"{instance['path']}.{one.name}")
        and (not one.argument or one.argument in [argument["name"] for argument in known["arguments"]])
    ]  # fmt: skip


def _common(path: str, other: str) -> int:
    """How many names two paths have in common at their beginnings."""
    pairs = zip(path.split("."), other.split("."), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(path.count("."), other.count(".")) + 1)


def _processors(paths: Sequence[str], machine: "Machine") -> dict[str, list[str]]:
    """Instances by the processor around them, or without one each by its own path."""
    cores = [view["instance"] for view in machine.netlist["debug_views"] if view["name"] == "cpu"]
    found: dict[str, list[str]] = {}
    for path in paths:
        around = [core for core in cores if path == core or path.startswith(f"{core}.")]
        found.setdefault(max(around, key=len, default=path), []).append(path)
    return found


def _modes(processors: Sequence[str], machine: "Machine") -> dict[str, str]:
    """The instance that reports the mode of each processor, next to it or within it."""
    found: dict[str, str] = {}
    for path in _emitters(Event("**", "mode", "", "", 0), machine):
        owner = max(processors, key=lambda one: _common(one, path))
        if not _common(owner, path):
            continue
        if owner in found:
            what = f"{owner} executes for several processors, {found[owner]} and {path}"
            raise StudyError(f"parts: {what}, and its events do not say for which (leave out `parts`)")
        found[owner] = path
    if not found:
        raise StudyError(f"parts: nothing in {machine.path.name} reports the mode of a processor (leave out `parts`)")
    return found


def _bound(one: Interval, machine: "Machine") -> _Bound:
    first, last = event(one.begin), event(one.to)
    assert first and last
    found = []
    for key, what, text in ("from", first, one.begin), ("to", last, one.to):
        paths = _emitters(what, machine)
        if not paths:
            raise StudyError(f"{key}: {text!r}: no event there has an argument {what.argument!r}")
        found.append(_processors(paths, machine))
    begin, end = found
    modes = _modes(list(begin), machine) if USER in one.parts else {}
    clock_of = {instance["path"]: instance["clock"] for instance in machine.netlist["instances"]}
    own = {clock_of.get(path) or machine.clocks[0] for paths in begin.values() for path in paths}
    if len(own) > 1:
        raise StudyError(f"from: {one.begin!r}: instances on several clocks have this event ({', '.join(sorted(own))})")
    clock = own.pop()
    others = {clock_of.get(path, "") for paths in end.values() for path in paths}
    return _Bound(one, begin, end, modes, frozenset({clock, *others}), clock)


def _records(bound: _Bound) -> Iterator[tuple[str, str, str]]:
    """What is recorded: instance or port, event, C.  An event that ends an interval and begins the next does so in
    that order."""
    first, last = event(bound.interval.begin), event(bound.interval.to)
    assert first and last
    at = "cycle" if len(bound.clocks) == 1 else "now"
    sources = list(bound.begin)

    def when(what: Event, call: str) -> str:
        return f"if ({what.test}) {call}" if what.test else call

    for processor, paths in bound.end.items():
        if processor in sources:
            number = sources.index(processor)
            has_mode = str(processor in bound.modes).lower()
            call = f"interval_end(&self->times, &self->of[{number}], {at}, {last.times}, {has_mode});"
        else:
            moded = ", ".join(str(one in bound.modes).lower() for one in sources)
            call = (f"interval_end_oldest(&self->times, self->of, (const bool[]){{{moded}}}, {len(sources)}, {at}, "
                    f"{last.times});")  # fmt: skip
        yield from ((path, last.name, when(last, call)) for path in paths)
    begins, ends = ({path for paths in one.values() for path in paths} for one in (bound.begin, bound.end))
    repeats = first.compared == last.compared and begins <= ends
    for number, (processor, paths) in enumerate(bound.begin.items()):
        call = f"interval_begin(&self->of[{number}], {at}, {first.times});"
        if repeats:  # one that is to end at a later one is no new beginning
            call = f"{{ if (!self->of[{number}].open) {call} }}"
        yield from ((path, first.name, when(first, call)) for path in paths)
        if processor in bound.modes:
            yield bound.modes[processor], "mode", f"interval_mode(&self->of[{number}], {at}, user);"


def collectors(intervals: Sequence[Interval], machine: "Machine") -> str:
    """The file for `lss build --collect`."""
    texts = []
    for one in intervals:
        bound = _bound(one, machine)
        (path, name, code), *others = _records(bound)
        clock = next(c for c in machine.netlist["clocks"] if c["name"] == bound.clock)
        scale = "1.0"
        if len(bound.clocks) > 1:
            scale = f"{clock['hertz_numerator']}.0 / {clock['hertz_denominator']}.0 / (double)ticks_per_second()"
        lines = [
            f'shared collector interval_{one.name} on "{path}" event {name} {{',
            '  include <<< #include "generic/interval_times.h" >>>',
            f"  declare <<< interval_times times; interval_source of[{len(bound.begin)}]; >>>",
            f"  record <<< {code} >>>",
            *(f'  record on "{path}" event {name} <<< {code} >>>' for path, name, code in others),
            f'  report <<< interval_report(&self->times, spinach_id, "{one.name}", {scale}); >>>',
            "}",
        ]
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)


def build_options(intervals: Sequence[Interval], machine: "Machine", build: "Path") -> tuple[str, ...]:
    """Options of the compiler."""
    if not intervals:
        return ()
    text = collectors(intervals, machine)
    place = build / "texts" / f"{store.content_name(text)}.lss"
    place.parent.mkdir(parents=True, exist_ok=True)
    files.write(place, text)
    return "--collect", str(place)


# ---- What a run came to


def whole(counted: Counted, stats: Mapping[str, Any], intervals: Sequence[Interval]) -> Counted:
    """What a window counted, with the values of all stretches in it: samples on the way end stretches, too."""
    if not intervals or not counted.ends or None in counted.ends:
        return counted
    first, last = counted.ends
    inside = [one for one in stats.get("samples", []) if first["time_fs"] <= one["time_fs"] < last["time_fs"]]
    if not inside:
        return counted
    cuts = [first, *inside, last]
    pieces = [between(stats, a, b).values for a, b in zip(cuts, cuts[1:], strict=False)]
    values = dict(counted.values)
    for one in intervals:
        base = f".interval.{one.name}."
        values |= _joined(base, [piece for piece in pieces if piece.get(f"{base}count")])
    return replace(counted, values=values)


def _joined(base: str, pieces: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The values of several stretches, of which each had intervals."""
    if not pieces:
        return {}
    series = [value for piece in pieces for value in _series(base, piece)]
    made = {f"{base}series[{n}]": value for n, value in enumerate(series[:MOST_VALUES])}
    made |= {f"{base}stretch": sum(piece[f"{base}stretch"] for piece in pieces)}
    made |= {f"{base}least": min(piece[f"{base}least"] for piece in pieces)}
    made |= {f"{base}most": max(piece[f"{base}most"] for piece in pieces)}
    return made | {f"{base}p99": pieces[0][f"{base}p99"] if len(pieces) == 1 else math.nan}


def _series(base: str, values: Mapping[str, float]) -> list[float]:
    count = min(int(values[f"{base}stretch"]), MOST_VALUES)
    return [values[f"{base}series[{n}]"] for n in range(count)]


def value(path: str, counted: Counted) -> float | Values:
    """A measure of intervals, such as packet.mean; packet.series is a list."""
    name, _, what = path.partition(".")
    base, values = f".interval.{name}.", counted.values
    count = values.get(f"{base}count", 0)
    if what == "count":
        return count
    if count <= 0:
        raise NoValue(f"no interval {name!r} ended in the window")
    scale = values[f"{base}scale"]
    if what == "mean":
        return scale * values[f"{base}total"] / count
    if what == USER:
        if not values[f"{base}user_count"]:
            raise NoValue(f"the mode is not known where the intervals {name!r} ended")
        return scale * values[f"{base}user_total"] / values[f"{base}user_count"]
    if values[f"{base}stretch"] != count:
        raise NoValue(f"{path} is not known: statistics were read between its intervals")
    series = [scale * one for one in _series(base, values)]
    if what == "series":
        return Values(tuple(map(str, range(len(series)))), tuple(series))
    if what == "p99":
        found = expression.LISTS["percentile"](series, 99) if count <= MOST_VALUES else scale * values[f"{base}p99"]
        if math.isnan(found):
            raise NoValue(f"{path} is not known: there are samples between more than {MOST_VALUES} intervals")
        return found
    most = scale * values[f"{base}most"]
    if what == "jitter":
        return most / value(f"{name}.mean", counted)
    return most if what == "most" else scale * values[f"{base}least"]


def single(interval: Interval, counted: Counted) -> list[Counted]:
    """Each interval as a part of what was counted; none where not all lengths are known."""
    base, values = f".interval.{interval.name}.", counted.values
    count = values.get(f"{base}count", 0)
    if count != values.get(f"{base}stretch") or count > MOST_VALUES:
        return []
    return [Counted({f"{base}total": one, f"{base}count": 1.0}, {}, {}, 0.0) for one in _series(base, values)]


def is_of_mean(
    interval: Interval, measure: str, texts: Mapping[str, str], within: frozenset[str] = frozenset()
) -> bool:  # fmt: skip
    """Whether a measure depends on the mean of this interval, and on nothing else that the run counted."""
    if measure == f"{interval.name}.mean":
        return True
    if measure not in texts or measure in within:
        return False
    used = list(expression.mentions(texts[measure]))
    counted = [name for kind, name in used if kind == "statistic" or kind == "name" and name in texts]
    if not counted or re.search(r"\btime\b", texts[measure]):
        return False
    if any(kind not in ("statistic", "name", "param", "published") for kind, _ in used):
        return False
    return all(is_of_mean(interval, name, texts, within | {measure}) for name in counted)


def all_values(study_intervals: Sequence[Interval], counted: Counted) -> dict[str, float]:
    """All measures of intervals; of those that did not occur, only their number."""
    found = {}
    for name in measures(study_intervals):
        try:
            found[name] = value(name, counted)
        except NoValue:
            continue
    return found


def series(intervals: Sequence[Interval], counted: Counted) -> dict[str, tuple[float, ...]]:
    """The lengths of the first intervals."""
    found = {}
    for one in intervals:
        try:
            found[one.name] = value(f"{one.name}.series", counted).values
        except NoValue:
            found[one.name] = ()
    return found
