"""What a study came to, for programs and for a terminal: CSV, JSON, a table, the command that repeats a point.

The files say nothing of the host or of when they were written: the same study gives the same bytes wherever it ran.
"""

import csv
import io
import json
import os
import shlex
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from harness.run import files
from harness.run.progress import Progress
from harness.run.store import Job, with_value
from harness.study import intervals, machine
from harness.study.linux import jobs
from harness.study.model import OK, Outcome, Row, Study
from harness.study.points import VARIANT, Point
from harness.study.runner import unit
from harness.study.starts import OF_START
from harness.study.words import measured

LONGEST = 100_000  # characters of a line in a file


def axes(study: Study) -> list[str]:
    """The columns with the coordinates of a point."""
    named = study.file.variant or study.file.point
    return [*([VARIANT] if named else []), *(axis.name for axis in study.file.axis)]


def spelt(value: Any) -> str:
    """A value in a CSV file: numbers as short as they can be without losing anything."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return "" if value is None else str(value)


def as_csv(outcome: Outcome) -> str:
    """A line for each point that is shown; a measure with a known error has a column for it."""
    study, text = outcome.study, io.StringIO()
    errors = [name for name in study.measures if any(name in row.errors for row in outcome.rows)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*axes(study), *study.measures, *(f"{name} +-" for name in errors), "status"])
    for row in outcome.rows:
        place = [spelt(row.point.coordinates.get(axis)) for axis in axes(study)]
        values = [spelt(row.measures.get(name)) for name in study.measures]
        writer.writerow([*place, *values, *(spelt(row.errors.get(name)) for name in errors), row.status])
    return text.getvalue()


def as_json(outcome: Outcome) -> dict:
    """All of it; `points` has every point, also those of which another one is the best."""
    study, shown = outcome.study, {id(row) for row in outcome.rows}
    measures = {name: {"unit": m.unit, "label": m.label, "better": m.better} for name, m in study.measures.items()}
    return {
        "title": study.file.title,
        "measures": measures,
        "points": [
            {
                **dict(row.point.coordinates), "settings": study.settings(row.point), "status": row.status,
                "shown": id(row) in shown, "measures": dict(row.measures), "errors": dict(row.errors),
                "published": {k: v for k, v in outcome.published(row).items() if k in study.measures},
                "series": dict(row.time_series), **_seeds(row), **_job(study, row),
            }
            for row in outcome.every
        ],
    }  # fmt: skip


def _seeds(row: Row) -> dict:
    """The measures of each of several seeds."""
    return {"seeds": [{"seed": seed, "measures": dict(own)} for seed, own in row.seeds.items()]} if row.seeds else {}


def _job(study: Study, row: Row) -> dict:
    """The files of a point's job, and those that it left, which are in jobs/NUMBER."""
    folder = study.settings(row.point).get(jobs.SETTING)
    if folder is None:
        return {}
    return {"job": {"number": row.point.number, "files": study.packed.get(folder, []), **row.job}}


def show(outcome: Outcome, progress: Progress) -> None:
    """A table of each variant for people at a terminal, and what failed."""
    variants: dict[str, list[Row]] = {}
    for row in outcome.rows:
        variants.setdefault(row.point.label, []).append(row)
    for label, rows in variants.items():
        grid = _grid(outcome, label or outcome.study.file.title, rows)
        console = progress.console
        if not console.is_terminal:  # lines are as long as need be there, and cannot be erased
            width = Measurement.get(console, console.options.update(width=LONGEST), grid).maximum
            console = Console(file=console.file, width=width, highlight=False)
        console.print(grid)
    for row in outcome.failed:
        progress.say(f"failed: {row.point.name}: {row.why}\n  again: {failing_command(outcome.study, row)}")
    good = sum(row.status == OK for row in outcome.every)
    if outcome.failed:
        progress.say(f"{len(outcome.failed)} of {len(outcome.failed) + good} points failed")


def _grid(outcome: Outcome, title: str, rows: list[Row]) -> Table:
    study = outcome.study
    grid = Table(title=escape(title), title_justify="left")
    places = [axis for axis in axes(study) if axis != VARIANT and any(axis in row.point.coordinates for row in rows)]
    shown = [name for name, measure in study.measures.items()
             if not measure.hidden and any(row.measures.get(name) is not None for row in rows)]  # fmt: skip
    many = {name for use in study.uses.values() if use and use.listed_last for name in use.measured}
    many |= {name for name in intervals.measures(study.file.interval) if not name.endswith(intervals.SHOWN)}
    known = [name for name in shown if name not in many] or shown
    for axis in places:
        grid.add_column(escape(axis), justify="right", overflow="fold")
    for name in known:
        own = study.measures[name]
        head = name if own.unit == name else f"{name}{unit(own)}"
        head = f"{own.label}, {own.unit}".rstrip(", ") if own.label else head
        grid.add_column(escape(head), justify="right", overflow="fold")
    if not known or any(row.status != OK for row in rows):
        grid.add_column("")
    for row in rows:
        place = [str(row.point.coordinates.get(axis, "")) for axis in places]
        values = [measured(row, name) for name in known]
        cells = [*place, *values, row.status if row.status != OK or not known else ""]
        grid.add_row(*map(escape, cells[: len(grid.columns)]))
    return grid


def near(path: Path) -> str:
    """A path as one would type it here."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("../..") else str(path)


def failing_command(study: Study, row: Row) -> str:
    """The command that fails again as a point has: its own, or that of its start."""
    begun = study.begun.get(row.point.number)
    return command(study, row.point, begun.job if begun and row.why.startswith(OF_START) else None)


def command(study: Study, point: Point, job: Job | None = None) -> str:
    """The command that makes one point again, or another job of its simulator."""
    job, (path, defines) = job or study.jobs.get(point.number), study.structure(point)
    command = ["lss", "run", near(path), *machine.compiler_options(defines, [near(Path(one)) for one in study.include])]
    if study.file.interval:
        option, file = intervals.build_options(study.file.interval, study.machine(point), study.build)
        command += [option, near(Path(file))]
    if not job:
        return shlex.join(command)
    given = [*job.arguments(near), *(one for option, name in job.outputs for one in with_value(option, name))]
    return shlex.join([*command, "--", *given])


def _write_intervals(outcome: Outcome, out: Path) -> None:
    """Writes the lengths of the intervals of each point."""
    for old in out.glob("intervals-[0-9]*.csv"):
        old.unlink()
    for row in outcome.every:
        if not row.intervals:
            continue
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["interval", "number", "cycles"])
        for name, lengths in row.intervals.items():
            writer.writerows([name, number, spelt(length)] for number, length in enumerate(lengths, 1))
        files.write(out / f"intervals-{row.point.number}.csv", text.getvalue())


def write(outcome: Outcome, out: Path) -> None:
    """Writes results.csv and results.json."""
    out.mkdir(parents=True, exist_ok=True)
    files.write(out / "results.csv", as_csv(outcome))
    jobs.write(outcome, out)
    _write_intervals(outcome, out)
    files.write(out / "results.json", json.dumps(as_json(outcome), indent=1) + "\n")
