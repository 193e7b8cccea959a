"""Runs the studies of plans: builds every variant, makes all runs on all cores, measures, and keeps the best ratios.

Of several ratios those come first in which the link carries most; one in which it cannot carry as much as was measured
by then is not run.
Results lie in the store that the main job uses, so an interrupted campaign goes on where it was, and studies that were
not asked for are shown as far as they were run before.
"""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness.net import packets, theory, traffic
from harness.run.progress import Progress
from harness.run.sweep import Job, Result, RunError, kept, sweep
from harness.study import measure
from harness.study.examine import FORMS, Examined, examine, tasks
from harness.study.examine import kept as kept_examination
from harness.study.plan import Plan, PlanError, Series, Study
from harness.study.runs import STORE, Load, build_simulator, job, simulator_path, throughput, verify


@dataclass(frozen=True)
class Run:
    """One simulation of a study; a soak has no generated packet files, its machine makes the frames."""

    plan: Plan
    study: Study
    series: Series
    load: Load
    job: Job

    @property
    def place(self) -> tuple[str, str, int]:
        return self.study.name, self.series.name, self.load.payload

    @property
    def bound(self) -> float:
        """What the link can carry in this ratio, UDP payload in bit/s."""
        sends, receives = traffic.parse_ratio(self.load.ratio)
        one_way = theory.payload_rate(self.load.payload, self.plan.link_rate)
        return one_way * (sends + receives) / max(sends, receives)


@dataclass(frozen=True)
class Point:
    """What one payload size of one series came to; of several ratios the best."""

    study: Study
    series: Series
    payload: int
    ratio: str
    rate: float  # UDP payload, bit/s
    uncertainty: float  # half of the 95 % confidence interval, bit/s
    maximum: float  # theoretical, bit/s
    frames: int
    drops: int
    damaged: int
    result: Result

    @property
    def percent(self) -> float:
        return 100 * self.rate / self.maximum


@dataclass
class Outcome:
    """All points of all studies that were run now or before, by study, series and payload size."""

    plans: list[Plan]
    points: dict[tuple[str, str, int], Point] = field(default_factory=dict)
    every: list[Point] = field(default_factory=list)  # of all ratios
    courses: dict[tuple[str, str, int], list[tuple[int, float]]] = field(default_factory=dict)
    examined: dict[str, list[Examined]] = field(default_factory=dict)  # by study

    def of(self, study: str) -> list[Point]:
        return [point for (name, _, _), point in self.points.items() if name == study]

    def alike(self, point: Point) -> list[str]:
        """Ratios that carry as much as this point's, as far as the errors of both tell, the best first."""
        place = point.study, point.series, point.payload
        others = [one for one in self.every if (one.study, one.series, one.payload) == place and one is not point]
        close = [one for one in others if one.rate + one.uncertainty >= point.rate - point.uncertainty]
        return [one.ratio for one in sorted(close, key=lambda one: -one.rate)]

    def studies(self) -> list[Study]:
        return [study for plan in self.plans for study in plan.study]


def chosen(plans: list[Plan], names: list[str]) -> set[str]:
    """The studies to run: those named, else all but soaks."""
    known = {study.name: study for plan in plans for study in plan.study}
    for name in names:
        if name not in known:
            raise PlanError(f"there is no study {name!r}; known are {', '.join(known)}")
    return set(names) or {name for name, study in known.items() if study.form != "soak"}


def _variant(plan: Plan, series: Series) -> tuple[Path, str]:
    """A machine, and a name of its own for each set of parameters."""
    return plan.machine_of(series), "-".join(plan.defines(series)) or "plain"


def _build(studies: list[tuple[Plan, Study]], build: Path, progress: Progress) -> None:
    wanted = {_variant(plan, series): plan.defines(series) for plan, study in studies for series in study.series}
    with progress.task("building simulators", len(wanted)) as task, ThreadPoolExecutor(os.cpu_count()) as pool:
        built = pool.map(lambda variant: build_simulator(*variant, wanted[variant], build), wanted)
        for simulator in built:
            task.step(simulator.name)


def _runs(plan: Plan, study: Study, build: Path) -> list[Run]:
    runs = []
    for series in study.series:
        simulator = simulator_path(*_variant(plan, series), build)
        firmware = plan.firmware_of(series, build)
        if firmware and not firmware.exists():
            raise RunError(f"study {study.name}, series {series.name}: there is no firmware {firmware}")
        if not simulator.exists():  # of a study that was not asked for
            continue
        for load in study.loads():
            name = f"{study.name}, {series.label}, {load.payload} B"
            if study.form == "soak":
                words = ["--payload", str(load.payload), "--cycles", str(study.cycles), *series.words]
                made = job(name, simulator, firmware, None, None, words)
            else:
                made = load.job(f"{name}, {load.ratio}", simulator, firmware, series.words, build)
            runs.append(Run(plan, study, series, load, made))
    return runs


def _soaked(result: Result) -> tuple[float, float, int]:
    """Throughput, its uncertainty and frames of a run whose frames the machine itself made and checked."""
    payload = sum(result.total(f"window_{way}_payload") for way in ("sent", "received"))
    frames = int(result.total("sent") + result.total("received"))
    return 8e9 * payload / max(result.total("window"), 1), 0.0, frames


def measured(run: Run, result: Result) -> Point:
    """The point that a run came to; a frame that came out wrong or was lost without being counted is an error."""
    study, load = run.study, run.load
    if study.form == "soak":
        (rate, spread, frames), drops = _soaked(result), int(result.total("counted_drops"))
    else:
        _, frames, drops = verify(result)
        carried = throughput(result, study.warmup, load.ratio)
        rate, spread = carried.payload_rate, carried.uncertainty
    maximum = study.ways * theory.payload_rate(load.payload, run.plan.link_rate)
    # A damaged frame would have ended the run, and verify() would have refused its files.
    return Point(study, run.series, load.payload, load.ratio, rate, spread, maximum, frames, drops, 0, result)


def _course(result: Result) -> list[tuple[int, float]]:
    files = [result.output(option) for option in ("--sent", "--received")]
    return measure.course(*(list(packets.read(file)) if file else [] for file in files))


def _highest(values: Iterable[tuple[tuple[str, str, int], float]]) -> dict[tuple[str, str, int], float]:
    """The highest value at each place."""
    highest: dict[tuple[str, str, int], float] = {}
    for place, value in values:
        highest[place] = max(highest.get(place, value), value)
    return highest


def run(plans: list[Plan], names: list[str], build: Path, progress: Progress) -> Outcome:
    """Makes the runs; raises RunError at the first that is not right."""
    wanted, outcome = chosen(plans, names), Outcome(plans)
    every = [(plan, study) for plan in plans for study in plan.study]
    swept = [(plan, study) for plan, study in every if study.form not in FORMS]
    _build([pair for pair in swept if pair[1].name in wanted], build, progress)
    with progress.step("generating traffic"):
        runs = [run for plan, study in swept if study.name in wanted for run in _runs(plan, study, build)]
    points: dict[str, Point] = {}
    by_name = {run.job.name: run for run in runs}

    def words(result: Result) -> str:
        point = points[result.job.name] = measured(by_name[result.job.name], result)
        return f"{point.percent:.1f} %, {point.frames} frames, {point.drops} dropped, {result.seconds:.1f} s"

    most = _highest((run.place, run.bound) for run in runs)
    sweep([run.job for run in runs if run.bound == most[run.place]], build / STORE, progress, words)
    best = _highest((run.place, points[run.job.name].rate) for run in runs if run.job.name in points)
    runs = [run for run in runs if run.job.name in points or run.bound > best[run.place]]
    if others := [run.job for run in runs if run.job.name not in points]:
        sweep(others, build / STORE, progress, words)
    examinations = [task for plan, study in every if study.form in FORMS for task in tasks(plan, study)]
    examine([task for task in examinations if task.study.name in wanted], build, progress)
    for task in examinations:
        if found := kept_examination(task, build):
            outcome.examined.setdefault(task.study.name, []).append(found)
    before = [run for plan, study in swept if study.name not in wanted for run in _runs(plan, study, build)]
    for run in before:
        if result := kept(run.job, build / STORE):
            points[run.job.name] = measured(run, result)
    best = _highest((run.place, points[run.job.name].rate) for run in before if run.job.name in points)
    # The best of some ratios misleads, unless the others cannot be better.
    partly = {run.place for run in before if run.job.name not in points and run.bound > best.get(run.place, 0.0)}
    runs += before
    runs = [run for run in runs if run.job.name in points and run.place not in partly]
    for run in runs:
        point, place = points[run.job.name], run.place
        outcome.every.append(point)
        if place not in outcome.points or point.rate > outcome.points[place].rate:
            outcome.points[place] = point
            if run.study.form == "course":
                outcome.courses[place] = _course(point.result)
    return outcome
