"""The command `study`: one study from its file to its page."""

import argparse
import sys

from harness.run import process
from harness.run.compiler import CompilerError
from harness.run.execute import ExecuteError, executor
from harness.run.progress import Progress
from harness.study import outputs, runner
from harness.study.study_file import StudyError


def run(options: argparse.Namespace) -> int:
    """Makes the study; the status is 1 when one of its points failed."""
    process.end_children_on_signals()
    progress = Progress()
    try:
        study = runner.prepare(options.study, options.build, progress)
        runner.build(study, progress)
        with executor(options.workers, options.slurm, options.jobs) as pool:
            outcome = runner.run(study, pool, progress)
        outputs.show(outcome, progress)
        out = options.out or options.build / "studies" / study.name
        from harness.study import page  # plotting takes a second to load

        progress.say(f"page: {page.write(outcome, out, progress, examine=not options.plain)}")
    except (StudyError, CompilerError, ExecuteError) as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        process.end_children()
        print("harness: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    return 1 if outcome.failed else 0
