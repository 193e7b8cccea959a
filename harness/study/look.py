"""A second look at points: the plug-ins that `examine` names, and without any the bottleneck of the best and the worst.

What a look came to is kept under a name of all that determines it: the simulation, the plug-in with its keys, and the
sources of the harness, so it is made once.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from harness.run import files, process
from harness.run.compiler import CompilerError
from harness.run.execute import awaited, threads
from harness.run.progress import Progress
from harness.run.store import RunError, content_name, digest
from harness.study import uses
from harness.study.model import OK, Outcome, Row
from harness.study.points import VARIANT
from harness.study.uses import Examined, Looked, Use

FOLDER = "examined"
MOST_CYCLES = 20_000_000  # of a run whose bottleneck is found without being asked for


@dataclass(frozen=True)
class Look:
    """One plug-in's look at one point."""

    row: Row
    use: Use
    name: str  # of the plug-in
    title: str


def title(row: Row) -> str:
    """What a point is called where people read it."""
    parts = [row.point.label, *(f"{k} {v}" for k, v in row.point.coordinates.items() if k != VARIANT)]
    return ", ".join(part for part in parts if part) or "the machine"


def requested(outcome: Outcome) -> Iterator[Look]:
    """The looks that the study asks for."""
    study = outcome.study
    for keys in study.file.examine or []:
        use = uses.find(keys, study.file, study.path, study.build, f"{study.path}: examine")
        for row in outcome.rows:
            if row.status == OK and row.matches(keys.get("where", {})) and row.point.number in study.jobs:
                yield Look(row, use, str(keys["with"]), title(row))


def extremes(outcome: Outcome) -> list[tuple[str, Row]]:
    """The best and the worst point by the first measure; none, unless it is said which values are better."""
    measures = outcome.study.measures
    name, measure = next(iter(measures.items()), (None, None))
    rows = [row for row in outcome.rows if row.status == OK and name in row.measures and row.result]
    if not rows or not measure.better:
        return []
    rows = sorted(rows, key=lambda row: row.measures[name])
    worst, best = (rows[0], rows[-1]) if measure.better == "more" else (rows[-1], rows[0])
    return [("The best", best), ("The worst", worst)][: 1 if best is worst else 2]


@cache
def _sources() -> list[str]:
    return [digest(file) for file in sorted(Path(__file__).parents[1].rglob("*.py"))]


def _file(outcome: Outcome, look: Look) -> Path:
    job = outcome.study.jobs[look.row.point.number]
    inputs = look.row.result.stats["manifest"].get("inputs", []) if look.row.result else []
    name = content_name(job.name(), look.name, dict(look.use.keys), look.title, outcome.study.file.window.begin,
                        [one.get("blocks_sha256") or one["sha256"] for one in inputs], _sources())  # fmt: skip
    return outcome.study.build / FOLDER / f"{name}.json"


def kept(outcome: Outcome, look: Look) -> Examined | None:
    """What a look came to, if it was made before."""
    try:
        return Examined(**json.loads(_file(outcome, look).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def make(outcome: Outcome, look: Look) -> Examined:
    """Makes a look, or finds that it was made before."""
    if known := kept(outcome, look):
        return known
    file, point = _file(outcome, look), look.row.point
    file.parent.mkdir(parents=True, exist_ok=True)
    study = outcome.study
    begun = study.begun.get(point.number)
    looked = Looked(point, study.machine(point), study.jobs[point.number], look.title, look.row.result,
                    file.with_suffix(""), begun.job if begun else None)  # fmt: skip
    made = look.use.examine(looked)
    files.write(file, json.dumps(asdict(made)))
    return made


def make_all(outcome: Outcome, looks: Iterable[Look], progress: Progress) -> list[tuple[Look, Examined | str]]:
    """Makes looks, several at a time; one that fails gives the reason instead."""
    looks = list(looks)

    def one(look: Look) -> Examined | str:
        try:
            return make(outcome, look)
        except (RunError, CompilerError) as error:
            return str(error)

    if not looks:
        return []
    found = []
    title = f"{outcome.study.name}: examining, which --plain leaves out"
    with progress.task(title, len(looks)) as task, threads(2) as pool:
        running = [pool.submit(one, look) for look in looks]
        for look, came in zip(looks, map(awaited, running), strict=True):
            found.append((look, came))
            verdict = came.verdict if isinstance(came, Examined) else f"failed: {process.reason(came)}"
            task.step(f"{look.row.point.name}: {look.title}: {verdict}")
    return found


def cycles(row: Row) -> int:
    """What a look steps again, unasked: all cycles of the run, those that were skipped as well."""
    return max(row.result.stats.get("run", {}).get("cycles", {}).values(), default=0) if row.result else 0


def bottlenecks(outcome: Outcome) -> list[Look]:
    """The bottleneck of the best and the worst point, where it is found within a minute or so."""
    study = outcome.study
    use = uses.find("bottleneck", study.file, study.path, study.build, str(study.path))
    rows = [row for _, row in extremes(outcome) if cycles(row) <= MOST_CYCLES]
    return [Look(row, use, "bottleneck", "Where the cycles go") for row in rows]
