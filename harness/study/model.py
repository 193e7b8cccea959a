"""What a study is once it was read: its points, what each came to, and all of them together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from harness.run.store import Job, Result
from harness.study import intervals, machine, uses, windows
from harness.study.machine import Machine
from harness.study.points import VARIANT, Point
from harness.study.study_file import Measure, StudyFile
from harness.study.uses import Files, Use

FAILED, OK, NOT_RUN = "failed", "ok", "not run"
WAITING = "waiting"  # a point that has not run yet, but will
MISSING = object()


@dataclass(frozen=True)
class Row:
    """What a point came to."""

    point: Point
    status: str
    measures: Mapping[str, Any] = field(default_factory=dict, hash=False)
    errors: Mapping[str, float] = field(default_factory=dict, hash=False)  # half of the 95 % interval
    time_series: Mapping[str, list[tuple[float, float]]] = field(default_factory=dict, hash=False)
    result: Result | None = None
    why: str = ""
    job: Mapping[str, Any] = field(default_factory=dict, hash=False)  # the files that its job left
    intervals: Mapping[str, tuple[float, ...]] = field(default_factory=dict, hash=False)  # lengths, by name
    seeds: Mapping[int, Mapping[str, Any]] = field(default_factory=dict, hash=False)  # measures of each seed

    def matches(self, where: Mapping[str, Any]) -> bool:
        """Whether the point has these coordinates; a list means any of its values."""
        return self.point.matches(where)


def name_of(path: Path) -> str:
    """What a study is called, and its folder of results: as its file, or as the folder of a file study.toml."""
    return path.resolve().parent.name if path.stem == "study" else path.stem


@dataclass(frozen=True)
class Start:
    """What the points that begin at one checkpoint share, and the run that makes it; None: it exists."""

    settings: Mapping[str, Any]
    inputs: frozenset[tuple[str, Path]]
    job: Job | None
    checkpoint: Path | None = None

    def left(self, settings: Mapping[str, Any], files: Files) -> tuple[dict[str, Any], Files]:
        """What a point sets when it goes on: all but what it began with."""
        own = {name: value for name, value in settings.items()
               if name.startswith("D.") or self.settings.get(name, MISSING) != value}  # fmt: skip
        inputs = tuple(one for one in files.inputs if files.of_window or one not in self.inputs)
        return own, replace(files, inputs=inputs)


@dataclass
class Study:
    """A study that was read and checked, with all that is needed to run it."""

    path: Path
    file: StudyFile
    build: Path
    points: list[Point]
    uses: dict[int, Use | None]  # by the number of the point
    machines: dict[tuple, Machine] = field(default_factory=dict)
    broken: dict[tuple, str] = field(default_factory=dict)  # machines that cannot be built, and why
    jobs: dict[int, Job] = field(default_factory=dict)
    begun: dict[int, Start] = field(default_factory=dict)  # where points begin, by number
    guests: dict[tuple, dict[str, str]] = field(default_factory=dict)  # files of guests, by structure and folder
    packed: dict[str, list[dict[str, str]]] = field(default_factory=dict)  # the files of jobs, by folder

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def measures(self) -> dict[str, Measure]:
        """All measures: those of plug-ins, which are listed first unless they say otherwise, and those of the file."""
        made: dict[str, Measure] = {}
        for use in self.uses.values():
            made |= use.measured if use else {}
        own = {n: Measure(m) if isinstance(m, str) else m for n, m in self.file.measure.items()}
        made |= intervals.measures(self.file.interval)
        first, second = (own, made) if self._listed_last else (made, own)
        return {name: own.get(name, made.get(name)) for name in [*first, *second]}

    @property
    def _listed_last(self) -> bool:
        """Whether measures of the file come first: those of intervals are many."""
        return bool(self.file.interval) or any(use and use.listed_last for use in self.uses.values())

    def texts(self, point: Point) -> list[str]:
        """The expressions that a point is measured by."""
        variant = point.coordinates.get(VARIANT)
        own = [measure.value for measure in self.measures.values() if measure.value and measure.applies(variant)]
        used = {id(use): use for use in self.uses.values() if use}.values()
        return [*own, *self.file.check, *(text for use in used for text in use.texts())]

    @property
    def include(self) -> tuple[str, ...]:
        """Folders with modules of its machines."""
        return tuple(str(self.path.parent / folder) for folder in self.file.include)

    def extra(self, one: Machine) -> tuple[str, ...]:
        """What the simulator of a machine is built with beside parameters."""
        structure = one.path, one.defines
        variants = {point.coordinates.get(VARIANT) for point in self.points if self.structure(point) == structure}
        own = [measure.value for measure in self.measures.values() if any(map(measure.applies, variants))]
        used = dict.fromkeys(word for use in self.uses.values() if use for word in use.build_options())
        counted = windows.build_options(self.file, [*own, *self.file.check])
        lengths = intervals.build_options(self.file.interval, one, self.build)
        return (*machine.compiler_options((), self.include), *counted, *used, *lengths)

    def machine(self, point: Point) -> Machine:
        return self.machines[self.structure(point)]

    def structure(self, point: Point) -> tuple[Path, tuple[tuple[str, str], ...]]:
        """The machine of a point, and the parameters that it is built with."""
        return point.machine, machine.defines(self._own(point))

    @property
    def runs(self) -> bool:
        """Whether points are run at all: a study may ask for nothing but a look at its machines."""
        file, looks = self.file, self.looks
        return bool(file.measure or file.check or file.figure or file.table or not looks
                    or any(look.needs_result for look in looks))  # fmt: skip

    @property
    def looks(self) -> list[Use]:
        """The plug-ins of `examine`."""
        where = f"{self.path}: examine"
        found = (uses.find(keys, self.file, self.path, self.build, where) for keys in self.file.examine or [])
        return [look for look in found if look]

    def settings(self, point: Point) -> dict[str, Any]:
        """All settings of a point: those of the study take precedence over a plug-in's and the files of its guest."""
        own = self._own(point)
        files = self.guests.get((self.structure(point), own.get("guest")), {})
        return {**files, **own}

    def _own(self, point: Point) -> dict[str, Any]:
        use = self.uses[point.number]
        return {**(use.settings(point) if use else {}), **point.settings}

    def guest(self, point: Point) -> str | None:
        """The folder of a point's guest."""
        return self._own(point).get("guest")


@dataclass
class Outcome:
    """Every point with what it came to, in the order of the study."""

    study: Study
    every: list[Row]

    @property
    def rows(self) -> list[Row]:
        """The points that are shown: of an axis with `best`, the one where that measure is largest."""
        rows = self.every
        for axis in self.study.file.axis:
            if axis.best:
                rows = _best(rows, axis.name, axis.best)
        return rows

    @property
    def failed(self) -> list[Row]:
        return [row for row in self.every if row.status == FAILED]

    def alternatives(self, row: Row) -> list[Row]:
        """The points of which a row is the best."""
        axes = {axis.name for axis in self.study.file.axis if axis.best}
        place = _without(row.point.coordinates, axes)
        return [one for one in self.every if one.status == OK and _without(one.point.coordinates, axes) == place]

    def published(self, row: Row) -> dict[str, float]:
        """What was published for a point."""
        return published(self.study.file, row.point)


def _without(coordinates: Mapping[str, Any], axes: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in coordinates.items() if key not in axes}


def _best(rows: list[Row], axis: str, measure: str) -> list[Row]:
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(_without(row.point.coordinates, [axis]).items()), []).append(row)

    def best(group: list[Row]) -> Row:
        if failed := [row for row in group if row.status == FAILED]:
            return failed[0]  # the best of some misleads
        good = [row for row in group if row.status == OK]
        return max(good, key=lambda row: row.measures.get(measure, -inf), default=group[0])

    return [best(group) for group in groups.values()]


def published(file: StudyFile, point: Point) -> dict[str, float]:
    """Figures of others for a point, by measure."""
    figures: dict[str, float] = {}
    for entry in file.published:
        if point.matches(entry.get("where", {})):
            figures |= {key: value for key, value in entry.items() if isinstance(value, int | float)}
    return figures
