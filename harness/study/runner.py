"""Makes a study: builds its simulators, runs its points wherever they can run, measures, keeps the best of some axes.

What fails is collected and listed; the rest continues.  Results are kept in the store, so what was run before is not
run again, and several studies at once do not disturb each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from harness.run import files, store, watch
from harness.run.compiler import CompilerError
from harness.run.execute import awaited, completed, threads
from harness.run.lease import clear_abandoned
from harness.run.progress import Progress, Task
from harness.run.store import Result, RunError
from harness.study import (
    expression,
    intervals,
    machine,
    names,
    printed,
    reading,
    starts,
    uses,
    windows,
)
from harness.study.linux import guests, jobs
from harness.study.model import FAILED, NOT_RUN, OK, WAITING, Outcome, Row, Study, published
from harness.study.points import VARIANT, Point, points
from harness.study.statistics import errors, seeds
from harness.study.study_file import Measure, StudyError, read
from harness.study.uses import Use
from harness.study.words import number

STORE = "run"  # where results are in the build directory


def prepare(
    path: Path, build: Path, progress: Progress, built_only: bool = False, text: str | None = None
) -> Study:  # fmt: skip
    """Reads a study, or the text of one that would lie there, and checks every name in it, with its machines' netlists;
    with `built_only`, only points whose simulators were built before."""
    study = _read(path, build, text, built_only)
    points = study.points
    if built_only:
        points = [p for p in points if _is_built(study, p)]
    wanted = list(dict.fromkeys(study.structure(point) for point in points))
    if wanted:
        with progress.step(f"{study.name}: reading {len(wanted)} netlists"), threads() as pool:
            exporting = {one: pool.submit(machine.export, *one, build, study.include) for one in wanted}
        for one, future in exporting.items():
            try:
                study.machines[one] = awaited(future)
            except CompilerError as error:
                study.broken[one] = str(error)
        if not study.machines:
            names.check_broken(study, points)
            raise CompilerError(next(iter(study.broken.values())))
    names.check(study)
    for point in study.points:
        progress.part(point.number, point.name, WAITING)
    return study


def _is_built(study: Study, point: Point) -> bool:
    structure = study.structure(point)
    try:
        known = machine.export(*structure, study.build, study.include)
        return machine.simulator_path(*structure, study.extra(known), study.build).exists()
    except (CompilerError, StudyError):
        return False


def _read(path: Path, build: Path, text: str | None, built_only: bool) -> Study:
    file = read(path, text)
    every = list(points(file, path))
    if not every:
        raise StudyError(f"{path}: no point is left")
    study = Study(path, file, build, every, {})
    seeds.check(study)
    plugins: dict[str, Use | None] = {}
    for point in every:
        key = repr(point.use)
        if key not in plugins:
            plugins[key] = uses.find(point.use, file, path, build, str(path))
        study.uses[point.number] = plugins[key]
        if not point.machine.exists():
            why = "" if point.machine.is_absolute() else " (its name is relative to the study's folder)"
            raise StudyError(f"{path}: machine: there is no {point.machine}{why}")
    for folder in file.include:
        if not (path.parent / folder).is_dir():
            raise StudyError(f"{path}: include: there is no folder {path.parent / folder}")
    for needed, command in () if built_only else file.needs.items():
        if not machine.resolve(needed, path, build).exists():
            raise StudyError(f"{path}: there is no {machine.resolve(needed, path, build)}: `{command}` makes it")
    for use in plugins.values():
        if use:
            use.check_points([point for point in every if study.uses[point.number] is use])
    study.runs  # noqa: B018  (finds the plug-ins of `examine`)
    try:
        windows.options(file)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
    return study


def build(study: Study, progress: Progress) -> None:
    """Builds the guests and simulators, and makes the jobs of all points."""
    guests.make(study, progress)
    build = study.build
    simulators: dict[tuple, Path] = {}
    begun: list[tuple] = []

    def make(key: tuple) -> Path:
        begun.append(key)
        try:
            return machine.simulator(study.machines[key], build, study.extra(study.machines[key]))
        finally:
            begun.remove(key)

    def at_work() -> str:
        return "; ".join(map(_machine_words, list(begun)))

    building = progress.task(f"{study.name}: building simulators", len(study.machines))
    with building as task, progress.showing(task, at_work), threads() as pool:
        made = {pool.submit(make, key): key for key in study.machines}
        for future in completed(made):
            key = made[future]
            try:
                simulators[key] = future.result()
            except CompilerError as error:
                study.broken[key] = str(error)
            task.step(f"{'failed: ' if key in study.broken else ''}{_machine_words(key)}")
    _make_jobs(study, simulators)


def _machine_words(key: tuple) -> str:
    path, parameters = key
    return " ".join([path.name, *(f"{name}={value}" for name, value in parameters)])


def find_built(study: Study) -> None:
    """Makes the jobs of those points whose simulators were built before."""
    guests.make_trees(study)
    _make_jobs(study, {key: machine.simulator_path(*key, study.extra(one), study.build)
                       for key, one in study.machines.items()})  # fmt: skip


def _make_jobs(study: Study, simulators: Mapping[tuple, Path]) -> None:
    run = study.file.run
    built = [point for point in study.points if study.structure(point) in simulators]
    used = {point.number: _files(study, point) for point in built}
    study.begun = starts.plan(study, simulators, used)
    carried: dict[str, uses.Files] = {}
    for point in built:
        use, simulator = study.uses[point.number], simulators[study.structure(point)]
        window = windows.options(study.file, bool(use and study.file.sample and use.samples(study.file.sample.every)))
        settings, own = study.settings(point), used[point.number]
        if start := study.begun.get(point.number):
            settings, own = start.left(settings, own)
        made = machine.job(study.machine(point), simulator, settings, window, study.path, study.build, run.timeout,
                           run.retries)  # fmt: skip
        consoles = tuple((one.option, one.file) for one in printed.used(study.texts(point), study.machine(point)))
        if run.checkpoint_every and (lost := (*own.outputs, *consoles)):
            lost = f"what {lost[0][0]} has written of a run that was ended is lost"
            raise StudyError(f"{study.path}: run: checkpoint_every: {lost}")
        plain = (*made.plain, *(use.options(point) if use else ()))
        more, folder = uses.Files(), study.settings(point).get(jobs.SETTING)
        if folder is not None:
            if folder not in carried:
                carried[folder], study.packed[folder] = jobs.given(study, folder)
            more = carried[folder]
        study.jobs[point.number] = replace(made, plain=plain, inputs=(*made.inputs, *own.inputs, *more.inputs),
                                           outputs=(*own.outputs, *consoles, *more.outputs),
                                           checkpoint_every=run.checkpoint_every or "")  # fmt: skip


def _files(study: Study, point: Point) -> uses.Files:
    """The files of a point: those of its plug-in, and those whose text the study gives."""
    use = study.uses[point.number]
    given = use.files(point) if use else uses.Files()
    written = []
    for setting, text in study.file.text.items():
        kind, _, name = setting.partition(".")
        text = names.filled(text, point.coordinates)
        place = study.build / "texts" / store.content_name(text)
        place.parent.mkdir(parents=True, exist_ok=True)
        files.write(place, text)
        written.append((f"--set {name}" if kind == "set" else f"--{name}", place))
    return replace(given, inputs=(*given.inputs, *written))


def run(study: Study, pool: Executor, progress: Progress, before_only: bool = False) -> Outcome:
    """Runs all points; with `before_only`, only looks for what was run before."""
    place = study.build.resolve() / STORE
    clear_abandoned(place / store.BUSY)
    rows: dict[int, Row] = {}

    def note(row: Row) -> None:
        rows[row.point.number] = row
        progress.part(row.point.number, row.point.name, row.status, _came_to(study, row))

    if not study.runs:
        for p in study.points:
            why = study.broken.get(study.structure(p))
            note(Row(p, FAILED, why=why) if why is not None else Row(p, OK if p.number in study.jobs else NOT_RUN))
        return Outcome(study, seeds.merged(rows.values()))
    groups: dict[int, tuple[Use | None, list[Point]]] = {}
    not_begun = starts.run(study, pool, place, progress, before_only)
    for point in study.points:
        if point.number in not_begun:
            note(Row(point, NOT_RUN if before_only else FAILED, why=not_begun[point.number]))
        if why := study.broken.get(study.structure(point)):
            note(Row(point, FAILED, why=why))
        use = study.uses[point.number]
        groups.setdefault(id(use), (use, []))[1].append(point)
    waves: list[list[Point]] = []
    for use, own in groups.values():
        for index, wave in enumerate(use.waves(own) if use else [own]):
            waves += [[]] if index == len(waves) else []
            waves[index] += wave
    for wave in waves:
        done = {point: rows[point.number].measures for point in study.points
                if point.number in rows and rows[point.number].status == OK}  # fmt: skip
        for point in wave:
            use = study.uses[point.number]
            if point.number not in rows and use and use.stop(point, done):
                note(Row(point, NOT_RUN))
        left = [point for point in wave if point.number not in rows]
        if before_only:
            for point in left:
                job = study.jobs.get(point.number)
                known = store.find(job, place) if job else None
                note(_row(study, point, known) if known else Row(point, NOT_RUN, why="not run yet"))
        elif left:
            busy = watch.Watch(place / store.BUSY)
            with progress.task(f"{study.name}: simulating", len(left)) as task, progress.showing(task, busy.latest):
                for row in _run_wave(study, left, pool, place, task):
                    note(row)
    return Outcome(study, seeds.merged(rows[point.number] for point in study.points))


def _run_wave(study: Study, wave: Sequence[Point], pool: Executor, place: Path, task: Task) -> Iterable[Row]:
    """Rows as they come.  Points that are the same simulation share one."""
    futures: dict[str, Future] = {}
    shared: dict[Future, list[Point]] = {}
    for point in wave:
        job = study.jobs[point.number]
        name = job.name()
        task.progress.part(point.number, point.name, WAITING, job=name)
        if name not in futures:
            futures[name] = pool.submit(store.run, job, place)
        shared.setdefault(futures[name], []).append(point)
    try:
        for future in completed(shared):
            for point in shared[future]:
                row = _finished(study, point, future)
                task.step(f"{point.name}: {_words(study, row)}")
                yield row
    except BaseException:
        for future in shared:
            future.cancel()
        raise


def _finished(study: Study, point: Point, future: Future) -> Row:
    try:
        return _row(study, point, future.result())
    except RunError as error:
        return Row(point, FAILED, why=str(error))
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "distributed":
            raise
        return Row(point, FAILED, why=f"its worker was lost: {error}")


def _words(study: Study, row: Row) -> str:
    return f"failed: {_came_to(study, row)}" if row.status == FAILED else _came_to(study, row)


def _came_to(study: Study, row: Row) -> str:
    """The measures of a point that ran, or why it failed or did not run."""
    if row.why:
        return row.why.splitlines()[0]
    known = [(name, measure) for name, measure in study.measures.items() if name in row.measures]
    shown = [f"{name} {number(row.measures[name])}{unit(measure)}" for name, measure in known]
    kept = " (kept from before)" if row.result and row.result.reused else ""
    return ", ".join(shown[:4]) + kept


def unit(measure: Measure) -> str:
    return f" {measure.unit}" if measure.unit else ""


def _row(study: Study, point: Point, result: Result) -> Row:
    """Measures a run; a measure without a value, or a check that is not true, fails the point."""
    use = study.uses[point.number]
    try:
        wrong = list(use.check(point, result)) if use else []
        if wrong:
            return Row(point, FAILED, result=result, why="\n  ".join(wrong))
        left = jobs.results(result)
        others = dict(use.measures(point, result)) if use else {}
        series = dict(use.time_series(point, result)) if use else {}
        texts = {name: m.value for name, m in study.measures.items() if m.value}
        figures = published(study.file, point)

        def ask(counted: reading.Counted) -> reading.PointReading:
            manifest = result.stats.get("manifest", {})
            machine = study.machine(point)
            return reading.PointReading(counted, manifest, point.coordinates, texts, machine.derived, others, figures,
                                        series, machine.parameters, printed.Printed(result, machine), intervals.value,
                                        intervals.names(study.file.interval))  # fmt: skip

        if sample := study.file.sample:
            for name in sample.measures:
                if name in texts and study.measures[name].applies(point.coordinates.get(VARIANT)):
                    samples = [(at, ask(one)) for at, one in reading.series(result.stats, sample.window)]
                    series[name] = list(_time_series(name, samples))
        whole = ask(intervals.whole(reading.counted(result.stats), result.stats, study.file.interval))
        others |= intervals.all_values(study.file.interval, whole.counted)
        lengths = intervals.series(study.file.interval, whole.counted)
        variant = point.coordinates.get(VARIANT)
        here = [name for name, one in study.measures.items() if one.applies(variant)]
        measures = {name: whole.name(name) for name in here if name in others or name in texts}
        if words := [f"measure {name!r}: {value!r} is no number" for name, value in measures.items()
                     if isinstance(value, str)]:  # fmt: skip
            return Row(point, FAILED, result=result, why=words[0])
        known = dict(use.errors(point, result)) if use else {}
        own = [*texts, *intervals.measures(study.file.interval)]
        known |= _errors(study, result, whole, [name for name in own if name in here])
        for text in study.file.check:
            if not expression.evaluate(text, whole):
                return Row(point, FAILED, measures, result=result, why=f"check {text!r} is not true")
    except (expression.ExpressionError, RunError) as error:
        return Row(point, FAILED, result=result, why=str(error))
    return Row(point, OK, measures, known, series, result, job=left, intervals=lengths)


def _time_series(name: str, readings: Iterable[tuple[float, reading.PointReading]]) -> Iterable[tuple[float, float]]:
    """A measure over time; samples in which it has no value are left out."""
    for at, one in readings:
        with suppress(expression.NoValue):
            yield at, one.name(name)


def _measured(point: reading.PointReading, name: str) -> float:
    """A measure of the file, or of an interval."""
    return point.statistic(name) if "." in name else point.name(name)


def _errors(study: Study, result: Result, whole: reading.PointReading, wanted: Iterable[str]) -> dict[str, float]:
    """Half of the 95 % interval of each measure, from the parts of the window; without parts, from the intervals."""
    parts = windows.parts(study.file, result.stats)
    if len(parts) < 2:
        return _interval_errors(study, whole, wanted)
    gauges = reading.gauges(result.stats)
    moved = errors.shifts(whole.counted, parts, gauges)
    found = {name: errors.half(lambda one, name=name: _measured(replace(whole, counted=one), name), moved)
             for name in wanted}  # fmt: skip
    return {name: half for name, half in found.items() if half is not None}


def _interval_errors(study: Study, whole: reading.PointReading, wanted: Iterable[str]) -> dict[str, float]:
    """The same of measures that depend on nothing but the mean of one interval."""
    texts, found = {name: one.value for name, one in study.measures.items() if one.value}, {}
    for interval in study.file.interval:
        moved = errors.shifts(whole.counted, intervals.single(interval, whole.counted), frozenset())
        names = [name for name in wanted if intervals.is_of_mean(interval, name, texts)] if len(moved) > 1 else []
        found |= {name: errors.half(lambda one, name=name: _measured(replace(whole, counted=one), name), moved)
                  for name in names}  # fmt: skip
    return {name: half for name, half in found.items() if half is not None}
