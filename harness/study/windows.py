"""The window of a study as simulators take it: between which instants is measured, and in how many parts.

A simulator writes down all statistics at both ends of the window; the parts of a window between two times are taken
apart by samples on the way.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from harness import quantity
from harness.study import conditions as forms
from harness.study import expression, reading
from harness.study.study_file import StudyError, StudyFile
from harness.study.uses import Use

MOST_SAMPLES = 10000


def femtoseconds(text: str | None) -> int | None:
    """A condition that is a time."""
    if not quantity.TIME.fullmatch(text or ""):
        return None
    try:
        return quantity.base(text, "time")
    except quantity.NumberError as error:
        raise StudyError(f"window: {error}") from None


def _cuts(file: StudyFile) -> tuple[int, list[int]]:
    """The distance of samples, and where the parts of the window begin and end, all in femtoseconds."""
    first, last = (femtoseconds(one) for one in (file.window.begin or "0 s", file.window.to))
    if first is None or last is None or last <= first:
        raise StudyError("window: parts: a window in parts is between two times, such as \"1 ms\" and \"6 ms\"")
    if file.sample:
        raise StudyError("window: parts: a window in parts excludes `sample`")
    step = (last - first) // file.window.parts
    every = math.gcd(first, step) if first else step
    if last // every > MOST_SAMPLES:
        raise StudyError("window: parts: `from` should be a multiple of the length of a part")
    return every, [first + number * step for number in range(file.window.parts + 1)]


def options(file: StudyFile, own_samples: bool = False) -> list[str]:
    """What the simulator is to write down; with `own_samples`, a plug-in makes the time series itself."""
    begin, to, arguments = file.window.begin, file.window.to, []
    if begin and begin.strip() == "end":
        raise StudyError("window: from: no window begins at the end of the run")
    if not begin and not to and (_counted(_texts(file)) or file.interval):
        to = "end"  # events are counted in windows, and so are intervals
    if begin or to:
        arguments += ["--measure-from", begin or "0 s", "--measure-to", to or "end"]
    if to and to != "end" and to != begin:  # the next of the same marker is not the first, which --until would take
        arguments += ["--until", to]
    if file.sample and file.sample.window and not (begin or to):
        raise StudyError("sample: window: this study has no window")
    if file.window.parts > 1:
        every, _ = _cuts(file)
        arguments += ["--sample", f"{every} fs"]
    if file.sample and not own_samples:
        arguments += ["--sample", file.sample.every, *(["--sample-window"] if file.sample.window else [])]
    return arguments


def conditions(file: StudyFile, used: Sequence[Use | None]) -> Iterator[tuple[str, str]]:
    """The conditions that simulators are given, with their keys."""
    if file.window.begin:
        yield "window: from", file.window.begin
    if file.window.to:
        yield "window: to", file.window.to
    if file.start and file.start.make:
        yield "start: make: until", file.start.make.until
    if file.sample and not any(use and use.samples(file.sample.every) for use in used):
        yield "sample: every", file.sample.every


def _texts(file: StudyFile) -> list[str]:
    return [*(m if isinstance(m, str) else m.value for m in file.measure.values()), *file.check]


def _counted(texts: Iterable[str]) -> set[str]:
    """The events that measures and checks speak of."""
    counted: set[str] = set()
    for text in texts:
        with suppress(expression.ExpressionError):  # reported where all names are checked
            counted |= {name for kind, name in expression.mentions(text) if kind == "events"}
    return counted


def build_options(file: StudyFile, texts: Iterable[str] | None = None) -> tuple[str, ...]:
    """Options of the compiler: the events of conditions, and of the expressions that points of a machine are measured
    by (without them, of all), are counted by a simulator that was built for them."""
    conditions = [file.window.begin, file.window.to, file.sample.every if file.sample else None]
    conditions += [file.start.make.until] if file.start and file.start.make else []
    events = _counted(_texts(file) if texts is None else texts)
    for text in conditions:
        if event := forms.counted_event(text or ""):
            events.add(event)
        elif found := forms.MARKER.fullmatch(forms.event_of(text or "").strip()):
            with suppress(quantity.NumberError):  # reported where all conditions are checked
                events.add(f"marker({quantity.count(found[1])})")
    return tuple(one for text in sorted(events) for one in ("--watch", text))


def parts(file: StudyFile, stats: Mapping) -> list[reading.Counted]:
    """What each part of the window counted."""
    if file.window.parts < 2:
        return []
    _, cuts = _cuts(file)
    ends = [{"time_fs": 0, "cycles": {}, "events": {}, "values": [0] * len(stats.get("statistics", []))}]
    at = {snapshot["time_fs"]: snapshot for snapshot in [*ends, *stats.get("samples", [])]}
    found = [at[cut] for cut in cuts if cut in at]
    return [reading.between(stats, first, last) for first, last in zip(found, found[1:], strict=False)]
