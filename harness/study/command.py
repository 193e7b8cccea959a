"""The commands `study` and `studies`: from files to pages."""

import argparse
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from harness.run import process, store
from harness.run.compiler import CompilerError
from harness.run.execute import ExecuteError, executor
from harness.run.progress import Progress
from harness.run.used_files import UsedFiles
from harness.study import WRITTEN, model, outputs, runner
from harness.study.study_file import StudyError


def _guarded(
    work: Callable[[argparse.Namespace, Progress], bool], options: argparse.Namespace, progress: Progress
) -> int:
    """Does the work; what is wrong is a line, and a signal ends the simulators first."""
    try:
        return 0 if work(options, progress) else 1
    except StudyError as error:  # in one line, whatever text of the study it shows
        progress.fail(str(error).replace("\n", " "))
        return 1
    except (CompilerError, ExecuteError) as error:
        progress.fail(str(error))
        return 1
    except KeyboardInterrupt:
        process.end_children()
        progress.fail("interrupted; what was finished is kept")
        return 130


def _pool(options: argparse.Namespace) -> Executor:
    return executor(options.workers, options.slurm, options.jobs)


def _spare_inputs(study: model.Study, out: Path) -> None:
    """What a study runs and reads lies in no place that its pages take."""
    used = UsedFiles()
    used.writes_in(out, WRITTEN, "the study's page")
    used.reads(study.path, "the study")
    for point in study.points:
        used.reads(point.machine, "the study")
        job = study.jobs.get(point.number)
        for option, given in job.inputs if job else ():
            for file in store.several(given):
                used.reads(file, f"{option} of the study")


def _one(options: argparse.Namespace, progress: Progress) -> bool:
    study = runner.prepare(options.study, options.build, progress)
    runner.build(study, progress)
    out = options.out or options.build / "studies" / study.name
    _spare_inputs(study, out)
    with _pool(options) as pool:
        outcome = runner.run(study, pool, progress)
    outputs.show(outcome, progress)
    from harness.study import page  # plotting takes a second to load

    progress.say(f"report: {page.write(outcome, out, progress, options.plain)}")
    return not outcome.failed


def _several(options: argparse.Namespace, progress: Progress) -> bool:
    from harness.study import collection, validation

    with _pool(options) as pool:
        made = collection.run(options.study, options.only, options.build, pool, progress)
    for why in made.failed:
        progress.say(f"failed: {why}")
    try:
        progress.say(f"report: {validation.write(made, options.text, options.build)}")
    except validation.TextError as error:
        raise StudyError(str(error)) from error
    return not made.failed


def one(options: argparse.Namespace, progress: Progress | None = None) -> int:
    """Makes one study; the status is 1 when one of its points failed."""
    return _guarded(_one, options, progress or Progress())


def several(options: argparse.Namespace) -> int:
    """Makes several studies and the report on them."""
    return _guarded(_several, options, Progress())
