"""Sweeps: many simulations of a machine as one table.  They are studies, and the study system makes them.

A sweep is the text of a study file that lies in the present folder.  So names of files mean the same in both, and the
file that `Sweep.toml` is written to gives the same results.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.run import compiler, process
from harness.run.execute import ExecuteError, executor
from harness.study import machine as machines
from harness.study import outputs, page, runner
from harness.study.model import OK, Outcome, Row
from harness.study.study_file import StudyError, UnknownNameError
from spinach import toml, tools
from spinach.errors import BuildError, RunError, SpinachError, UnknownName
from spinach.figure import Series, draw
from spinach.frames import frame
from spinach.machine import Machine, source_file
from spinach.progress import progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

NAME = "sweep.toml"  # of the file that a sweep would be
PlusMinus = " ±"


@dataclass(frozen=True)
class Axis:
    """What is varied: a setting of the study file (D.NAME, set.PATH.NAME, option.NAME or seed), and its values."""

    setting: str
    values: Sequence[Any]
    label: str = ""


@dataclass(frozen=True)
class Measure:
    """What is measured: an expression, its unit, its label, and whether "more" or "less" is better."""

    value: str
    unit: str = ""
    label: str = ""
    better: str = ""


@dataclass(frozen=True)
class Sweep:
    """The points of a study, and what each came to."""

    outcome: Outcome
    toml: str

    @property
    def frame(self) -> DataFrame:
        """A row for each point: its place on the axes, its measures, half of their 95 % intervals, and its command."""
        study = self.outcome.study
        axes, measures = outputs.axes(study), list(study.measures)
        known = [name for name in measures if any(name in row.errors for row in self.outcome.every)]
        columns = [*axes, *measures, *(name + PlusMinus for name in known), "status", "why", "command"]
        return frame([self._row(row) for row in self.outcome.every], columns)

    def _row(self, row: Row) -> dict[str, Any]:
        errors = {name + PlusMinus: half for name, half in row.errors.items()}
        made = {"status": row.status, "why": row.why, "command": outputs.command(self.outcome.study, row.point)}
        return {**row.point.coordinates, **row.measures, **errors, **made}

    def plot(self, x: str, y: str, series: str | None = None) -> Figure:
        """A measure over an axis, a line for each value of another axis."""
        study = self.outcome.study
        axes = outputs.axes(study)
        for what, name, known in ("axis", x, axes), ("measure", y, list(study.measures)), ("axis", series, axes):
            if name is not None and name not in known:
                near = machines.near(name, known)
                raise UnknownName(name, near, f"the sweep has no {what} {name!r}; {machines.suggest(name, known)}")
        drawn: dict[str, Series] = {}
        for row in self.outcome.every:
            if row.status == OK and y in row.measures:
                line = drawn.setdefault(str(row.point.coordinates[series]) if series else "", Series())
                line.add(row.point.coordinates[x], row.measures[y], row.errors.get(y))
        measure = study.measures[y]
        unit = f" ({measure.unit})" if measure.unit else ""
        labels = {axis.name: axis.label or axis.name for axis in study.file.axis}
        return draw(drawn, labels.get(x, x), (measure.label or y) + unit, labels.get(series, series) if series else "")

    def write(self, out: str | os.PathLike[str]) -> Path:
        """Writes the report of the study, with results.csv and results.json, and returns its page."""
        return page.write(self.outcome, Path(out), progress())


def sweep(
    machine: Machine | str | os.PathLike[str], axes: Mapping[str, Axis | Sequence[Any]],
    measures: Mapping[str, str | Measure], *, base: Mapping[str, Any] | None = None,
    window: tuple[str, str] | Mapping[str, Any] | None = None, start: Mapping[str, Any] | None = None,
    checks: Sequence[str] = (), jobs: int | None = None, workers: str | None = None,
    on_error: Literal["raise", "keep"] = "raise", build: str | os.PathLike[str] | None = None,
) -> Sweep:  # fmt: skip
    """Runs a machine for each combination of values; what was run before is not run again.

    `base`, `window`, `start` and `checks` are those of a study file.  With on_error="keep" a point that failed is a row
    whose `status` and `why` say so, else it is a RunError.
    """
    if isinstance(machine, Machine):
        source, lss, place = machine.source, machine.lss, Path(build or machine.build)
        include, given = machine.include, machine.given
    else:
        place, lss, include, given = Path(build or "build"), tools.find(), [], {}
        source = source_file(machine, place)
    if isinstance(window, tuple):
        window = {"from": window[0], "to": window[1]}
    here, settings = Path.cwd(), {f"D.{name}": value for name, value in given.items()}
    settings |= base or {}

    def netlist() -> machines.Machine:
        compiler.choose(place, lss)
        machines.forget()
        return machines.export(source, machines.defines(settings), place, tuple(map(str, include)))

    text = toml.text({
        "title": source.stem,
        "machine": os.path.relpath(source, here),
        "include": [os.path.relpath(folder, here) for folder in include],
        "base": settings,
        "axis": [{"name": name, **_axis(name, axis, netlist)} for name, axis in axes.items()],
        "window": window,
        "start": start,
        "check": list(checks),
        "measure": {name: _measure(one) for name, one in measures.items()},
    })  # fmt: skip
    return _make(here / NAME, text, place, lss, jobs, workers, on_error)


def study(
    path: str | os.PathLike[str], *, build: str | os.PathLike[str] = "build", jobs: int | None = None,
    workers: str | None = None, on_error: Literal["raise", "keep"] = "raise",
) -> Sweep:  # fmt: skip
    """Makes the study of a file, as `spinach study` does."""
    file = Path(path)
    try:
        text = file.read_text()
    except OSError as error:
        raise SpinachError(["spinach", "study", file], 1, f"{file}: {error.strerror}") from error
    return _make(file, text, Path(build), tools.find(), jobs, workers, on_error)


def _axis(name: str, axis: Axis | Sequence[Any], netlist: Callable[[], machines.Machine]) -> dict[str, Any]:
    """The table of an axis; one without a setting varies the parameter of the machine that has its name."""
    if isinstance(axis, Axis):
        given = {"setting": axis.setting, "values": list(axis.values)}
        return given | ({"label": axis.label} if axis.label else {})
    if name == "seed":
        return {"setting": name, "values": list(axis)}
    with _errors(["lss", "export"], Path(NAME)):
        machine = netlist()
    kinds = {one: "option" if parameter["runtime"] else "D" for one, parameter in machine.top.items()}
    kinds |= dict.fromkeys(machines.OPTIONS, "option")
    if name not in kinds:
        text = f"{machine.path.name} has no parameter {name!r}; {machines.suggest(name, kinds)}"
        raise UnknownName(name, machines.near(name, kinds), f"{text} (pass an Axis for a parameter of an instance)")
    return {"setting": f"{kinds[name]}.{name}", "values": list(axis)}


def _measure(one: str | Measure) -> str | dict[str, Any]:
    return one if isinstance(one, str) else {key: text for key, text in asdict(one).items() if text}


def _make(
    path: Path, text: str, build: Path, lss: Path, jobs: int | None, workers: str | None, on_error: str
) -> Sweep:  # fmt: skip
    """Makes a study; what is wrong with it is found before anything runs."""
    compiler.choose(build, lss)
    machines.forget()
    say = progress()
    with _errors(["spinach", "study", path], path):
        made = runner.prepare(path, build, say, text=text)
        runner.build(made, say)
        with executor(workers=workers, jobs=jobs) as pool:
            done = Sweep(runner.run(made, pool, say), text)
    if on_error == "raise" and (failed := done.outcome.failed):
        row = failed[0]
        said = f"{row.point.name}: {row.why} ({len(failed)} of {len(done.outcome.every)} points failed)"
        job = made.jobs.get(row.point.number)
        if job is None:
            raise BuildError(["lss", "build", row.point.machine], 1, said)
        folder = build.resolve() / runner.STORE / job.name() / "failed"
        raise RunError(job.command(), 1, said, row.result.directory if row.result else folder)
    return done


@contextlib.contextmanager
def _errors(command: Sequence[object], path: Path) -> Iterator[None]:
    """What the study system reports, as exceptions of this package; after Ctrl-C the next cell can run others."""
    try:
        yield
    except UnknownNameError as error:
        raise UnknownName(error.name, error.near, _words(error, path)) from None
    except (StudyError, ExecuteError) as error:
        raise SpinachError(command, 1, _words(error, path)) from None
    except compiler.CompilerError as error:
        raise BuildError(command, 1, str(error)) from None
    except KeyboardInterrupt:
        process.allow_children()
        raise


def _words(error: Exception, path: Path) -> str:
    """A message; a sweep has no file that it could name."""
    text = str(error)
    return text.removeprefix(f"{path}: ") if path.name == NAME else text
