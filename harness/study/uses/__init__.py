"""Plug-ins of studies: what a kind of machine needs beyond settings and statistics.

A study asks for one with `use = "NAME"` or `use = { with = "NAME", … }`, and for a second look at points with
`examine = { with = "NAME", … }`.  It is the class `Plugin` of harness/study/uses/NAME.py, or an entry point of the
group `spinach.study` of an installed package; what it does not define is as here.
"""

import importlib
import importlib.metadata
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.run.store import Job, Result
from harness.study.study_file import Figure, Measure, StudyError, StudyFile

if TYPE_CHECKING:
    from harness.report.plot import Line
    from harness.study.machine import Machine
    from harness.study.points import Point


@dataclass(frozen=True)
class Files:
    """Options of the simulator with the files that they name: those it reads, and those it writes."""

    inputs: tuple[tuple[str, Path], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    of_window: bool = False  # they are of the window only: the point may begin at a checkpoint, where it has them too


@dataclass(frozen=True)
class Examined:
    """What a second look at a point came to: a sentence and a piece of HTML."""

    verdict: str
    body: str


@dataclass(frozen=True)
class Looked:
    """A point that is looked at a second time."""

    point: "Point"
    machine: "Machine"
    job: Job
    title: str
    result: Result | None
    folder: Path  # for what is made on the way
    start: Job | None = None  # the run at whose end the point begins


@dataclass
class Use:
    """What a plug-in may do; `keys` are those of its table in the study, `place` begins every error message."""

    keys: Mapping[str, Any]
    study: StudyFile
    path: Path
    build: Path
    place: str
    measured: dict[str, Measure] = field(default_factory=dict)  # what measures() gives, with units

    def __post_init__(self) -> None:
        """Checks the keys."""

    def axes(self) -> Sequence[str]:
        """Axes without `setting` that it understands."""
        return ()

    def texts(self) -> Iterable[str]:
        """Expressions among its keys."""
        return ()

    def check_points(self, points: Sequence["Point"]) -> None:
        """Refuses, before anything runs, points that it cannot use."""

    def build_options(self) -> Sequence[str]:
        """What simulators are built with besides."""
        return ()

    def options(self, point: "Point") -> Sequence[str]:
        """Options of a point's run that are no settings."""
        return ()

    def settings(self, point: "Point") -> Mapping[str, Any]:
        """Settings of a point, under those of the study."""
        return {}

    def files(self, point: "Point") -> Files:
        """Files that are made for a point, and those that its run writes."""
        return Files()

    def measures(self, point: "Point", result: Result) -> Mapping[str, float]:
        """Measures that are no expressions."""
        return {}

    def errors(self, point: "Point", result: Result) -> Mapping[str, float]:
        """Half of the 95 % interval of such measures, where it is known."""
        return {}

    def time_series(self, point: "Point", result: Result) -> Mapping[str, list[tuple[float, float]]]:
        """Measures over time."""
        return {}

    def check(self, point: "Point", result: Result) -> Sequence[str]:
        """What is wrong with a run that ended normally."""
        return ()

    def waves(self, points: Sequence["Point"]) -> Sequence[Sequence["Point"]]:
        """The points in groups that are run one after the other."""
        return [points]

    def stop(self, point: "Point", done: Mapping["Point", Mapping[str, float]]) -> bool:
        """Whether a point need not be run, after what the waves before it came to."""
        return False

    def samples(self, every: str) -> bool:
        """Whether a distance of samples is one of its own, of which the simulator knows nothing."""
        return False

    def limits(self, figure: Figure, points: Sequence["Point"]) -> Sequence["Line"]:
        """Lines that a figure shows behind what was measured."""
        return ()

    def mark(self, figure: Figure, entry: Mapping[str, Any], measures: Mapping[str, float]) -> float | None:
        """The place of a published value of another measure in a figure, if it is known."""
        return None

    def shown_files(self, point: "Point", result: Result) -> Mapping[str, Path]:
        """Files of a run that lie beside the page, by a name there."""
        return {}

    def record(self, point: "Point", measures: Mapping[str, float], manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the list of all points of a collection says of a point, beside its coordinates and measures."""
        return {}

    parts = 0  # into how many parts it cuts the measured time for the errors of its measures; 0: into none
    listed_last = False  # whether its measures come behind those of the study, and not at a terminal: they are many
    needs_result = False  # whether examine() looks at a finished run

    def examine(self, looked: "Looked") -> Examined:
        """A second look at a point; RunError when it fails."""
        raise StudyError(f"{self.place}: it examines nothing")


def find(given: str | Mapping[str, Any] | None, study: StudyFile, path: Path, build: Path, where: str) -> Use | None:
    """The plug-in that a study asks for."""
    if given is None:
        return None
    keys = {"with": given} if isinstance(given, str) else dict(given)
    name = keys.pop("with", None)
    if not isinstance(name, str):
        raise StudyError(f"{where}: `with` names the plug-in")
    plugin = _class(name)
    if plugin is None:
        stems = sorted(file.stem for file in Path(__file__).parent.glob("[a-z]*.py"))
        known = [stem for stem in stems if hasattr(_module(stem), "Plugin")]
        raise StudyError(f"{where}: there is no plug-in {name!r}; known are {', '.join(known)}")
    return plugin(keys, study, path, build, f"{where}: {name}")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"{__name__}.{name}":
            return None
        raise


def _class(name: str) -> type[Use] | None:
    if re.fullmatch(r"[a-z]\w*", name) and (plugin := getattr(_module(name), "Plugin", None)):
        return plugin
    entries = importlib.metadata.entry_points(group="spinach.study", name=name)
    return next((entry.load() for entry in entries), None)
