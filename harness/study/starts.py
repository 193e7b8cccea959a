"""Where the runs of a study begin: at a checkpoint that exists, or at one that a run of the same simulator makes.

Points that begin at one checkpoint share a start: a run with the settings that all of them have, up to a condition.
What they differ in is set when they go on from there, so what acts only at the start of a run cannot be among it.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.run import store, watch
from harness.run.execute import awaited
from harness.run.progress import Progress
from harness.run.store import Job, Result, RunError
from harness.study import machine
from harness.study.model import MISSING, Start, Study
from harness.study.points import Point
from harness.study.study_file import StudyError
from harness.study.uses import Files

FILE = "start.checkpoint"
OF_START = "its start "  # how the reason of a point begins whose start is to blame
REACHED = "the condition of --until holds"  # why a start ends
BOUNDS = ("option.cycles", "option.time", "option.until")  # where a point ends, not its start


def check(study: Study) -> None:
    """Refuses a start that names nothing, or points that it cannot serve."""
    start, where = study.file.start, f"{study.path}: start"
    if start is None:
        return
    if bool(start.checkpoint) == bool(start.make):
        raise StudyError(f"{where}: write either checkpoint = FILE or make = {{ until = CONDITION }}")
    if start.checkpoint and not machine.resolve(start.checkpoint, study.path, study.build).is_file():
        raise StudyError(f"{where}: there is no {start.checkpoint}")
    for group in _groups(study).values():
        known = study.machines.get(study.structure(group[0]))
        if start.make and known:
            common = _common(study.settings(point) for point in group)
            for name in start.make.settings:
                machine.check_setting(name, known, f"{where}: make: settings")
                if name.startswith("D."):
                    raise StudyError(f"{where}: make: settings: {name!r} is built into the machine of the points")
            for name in {name for point in group for name in study.settings(point)} - set(common):
                if known.acts_at_start(name):
                    raise StudyError(f"{where}: {name!r} acts only at the start of a run, and these points share one: "
                                     "add it to once_per")  # fmt: skip


def _groups(study: Study) -> dict[tuple, list[Point]]:
    """The points of each start."""
    start = study.file.start
    more = ["seed"] if study.file.run.seeds > 1 else []
    groups: dict[tuple, list[Point]] = {}
    for point in study.points if start else ():
        own = sorted((name, machine.spelt(value)) for name, value in study.settings(point).items()
                     if any(fnmatchcase(name, pattern) for pattern in (*start.once_per, *more)))  # fmt: skip
        groups.setdefault((study.structure(point), study.guest(point), tuple(own)), []).append(point)
    return groups


def _common(every: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The settings that all have, with their values."""
    first, *others = every
    return {name: value for name, value in first.items()
            if name not in BOUNDS and all(one.get(name, MISSING) == value for one in others)}  # fmt: skip


def plan(study: Study, simulators: Mapping[tuple, Path], files: Mapping[int, Files]) -> dict[int, Start]:
    """The start of each point, by number."""
    start, starts = study.file.start, {}
    for (structure, *_), group in _groups(study).items():
        if structure not in simulators:
            continue
        whole = (files[point.number] for point in group if not files[point.number].of_window)
        if writes := next((one.outputs for one in whole if one.outputs), None):
            raise StudyError(f"{study.path}: start: {writes[0][0]} writes a whole run, and these begin at a checkpoint")
        if start.checkpoint:
            place = machine.resolve(start.checkpoint, study.path, study.build)
            made = Start({}, frozenset(), None, place)
        else:
            settings = _common(study.settings(point) for point in group) | start.make.settings
            inputs = frozenset.intersection(*(frozenset(files[point.number].inputs) for point in group))
            job = machine.job(study.machines[structure], simulators[structure], settings, ["--until", start.make.until],
                              study.path, study.build, study.file.run.timeout, study.file.run.retries)  # fmt: skip
            job = replace(job, inputs=(*job.inputs, *sorted(inputs)), outputs=(("--checkpoint", FILE),))
            made = Start(settings, inputs, job)
        starts |= {point.number: made for point in group}
    return starts


def served(study: Study, job: Job) -> str:
    """The points that begin at a checkpoint, for people."""
    numbers = [number for number, start in study.begun.items() if start.job == job]
    first, *others = (one.name for one in study.points if one.number in numbers)
    return f"for {first}" + (f" and {len(others)} more" if others else "")


def run(study: Study, pool: Executor, place: Path, progress: Progress, before_only: bool) -> dict[int, str]:
    """Makes the checkpoints and has the jobs of all points begin there; returns why some cannot, by number.  With
    `before_only`, nothing is run."""
    jobs = list(dict.fromkeys(start.job for start in study.begun.values() if start.job))
    found: dict[Job, Result | None] = {job: store.find(job, place) for job in jobs}
    why: dict[Job, str] = dict.fromkeys(jobs, f"{OF_START}was not run yet")
    left = [job for job in jobs if not found[job]]
    if left and not before_only:
        busy, title = watch.Watch(place / store.BUSY), f"{study.name}: simulating starts"
        with progress.task(title, len(left)) as task, progress.showing(task, busy.latest):
            running = {job: pool.submit(store.run, job, place) for job in left}
            for job, future in running.items():
                try:
                    found[job] = awaited(future)
                except RunError as error:
                    why[job] = f"{OF_START}failed: {error}"
                task.step(why[job].splitlines()[0] if not found[job] else served(study, job))
    for job, result in found.items():
        if result and result.stats["run"]["ended"] != REACHED:
            found[job], until, log = None, study.file.start.make.until, result.directory / store.LOG
            why[job] = f"{OF_START}ended before {until}: {result.stats['run']['ended']}; see {log}"
    failed: dict[int, str] = {}
    for number, start in study.begun.items():
        result = found.get(start.job) if start.job else None
        checkpoint = result.output("--checkpoint") if result else start.checkpoint
        if checkpoint:
            job = study.jobs[number]
            study.jobs[number] = replace(job, inputs=(*job.inputs, (store.RESTORE, checkpoint)))
        else:
            failed[number] = why[start.job]
    return failed
