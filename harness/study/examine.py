"""Examinations among the studies: what a frame costs by function, where a machine's cycles go, what becomes of faults.

They build and run the machine in ways of their own, apart from the sweep; what they came to is kept as a piece of HTML
and a sentence with a key of all that determines them, so that a report can show it without examining again.
"""

import hashlib
import html
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.bottleneck import NetlistError
from harness.bottleneck import measure as bottleneck
from harness.bottleneck import page as bottleneck_page
from harness.net.traffic import parse_ratio
from harness.report.page import table
from harness.run import files
from harness.run.progress import Progress
from harness.run.sweep import Job, RunError, digest, run
from harness.study import cost, faults
from harness.study.plan import Plan, Series, Study
from harness.study.runs import STORE, Load, build_simulator, simulator_path

FORMS = ("cost", "bottleneck", "faults")
FOLDER = "examined"


@dataclass(frozen=True)
class Examined:
    """What an examination came to: a sentence and a piece of HTML."""

    verdict: str
    body: str


@dataclass(frozen=True)
class Task:
    """One examination: a series under one load."""

    plan: Plan
    study: Study
    series: Series
    load: Load

    @property
    def name(self) -> str:
        return f"{self.study.name}-{self.series.name}-{self.load.payload}-{self.load.ratio.replace(':', 'to')}"

    @property
    def title(self) -> str:
        return f"{self.series.label}, {self.load.payload} B, sends to receives {self.load.ratio}"

    @property
    def variant(self) -> tuple[Path, str]:
        """The machine, and what its simulator is called."""
        return self.plan.machine_of(self.series), "-".join(self.plan.defines(self.series)) or "plain"

    def key(self, build: Path) -> str:
        """A hash of all that determines the result: the machine, firmware, options, and the examining programs."""
        sources = [simulator_path(*self.variant, build), *sorted(Path(__file__).parent.rglob("*.py"))]
        if firmware := self.plan.firmware_of(self.series, build):
            sources.append(firmware)
        parts = [self.title, self.words(), self.study.form, self.study.frames, self.study.after, self.study.counts]
        return hashlib.sha256(json.dumps([*parts, *map(digest, sources)]).encode()).hexdigest()

    def words(self) -> list[str]:
        """The simulator's options, but for how many frames."""
        sends, receives = parse_ratio(self.load.ratio)
        return ["--payload", str(self.load.payload), "--ratio_send", str(sends), "--ratio_receive", str(receives),
                *self.series.words]  # fmt: skip


def tasks(plan: Plan, study: Study) -> list[Task]:
    """What a study of these forms asks for."""
    return [Task(plan, study, series, load) for series in study.series for load in study.loads()]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def _cost(task: Task, build: Path) -> Examined:
    firmware = task.plan.firmware_of(task.series, build)
    if not firmware:
        raise RunError(f"{task.name}: the cost of a frame is that of a firmware, and this series has none")
    folder = build / FOLDER / task.name
    folder.mkdir(exist_ok=True)
    simulator = cost.build_simulator(task.plan.machine_of(task.series), folder, build, task.plan.defines(task.series))
    costs = cost.per_frame(simulator.resolve(), firmware, task.words())
    sums = cost.totals(costs)
    cores = sorted(sums)
    whole = {kind: sum(sums[core][kind] for core in cores) for kind in cost.KINDS}

    def row(name: str, counts: dict[str, float], strong: bool = False) -> list[str]:
        cells = [html.escape(name), *(_number(counts[kind]) if kind in counts else "–" for kind in cost.KINDS)]
        return [f"<strong>{cell}</strong>" for cell in cells] if strong else cells

    rows = [row("all", whole, strong=True)]
    if task.study.counts:
        rows.append(row("published", task.study.counts))
    for core in cores:
        rows += [row(core, sums[core], strong=True)] if len(cores) > 1 else []
        rows += [row(c.function, c.counts) for c in costs if c.core == core and max(c.counts.values()) >= 0.05]
    caption = f"{task.title}: per frame, start-up taken out."
    body = f'<div class="wide">{table(["Function", *cost.KINDS], rows, caption)}</div>'
    return Examined(f"{_number(whole['instructions'])} instructions", body)


def _bottleneck(task: Task, build: Path) -> Examined:
    firmware = task.plan.firmware_of(task.series, build)
    words = [*task.words(), "--frames", str(task.study.frames), *(["--firmware", str(firmware)] if firmware else [])]
    machine, out = task.plan.machine_of(task.series), build / FOLDER / task.name
    try:
        analysis = bottleneck.examine(machine, build, out, task.plan.defines(task.series), words, task.study.after)
        body = bottleneck_page.fragment(analysis, task.title, f"{task.name}-")
    except (bottleneck.MeasureError, NetlistError, OSError) as error:
        raise RunError(f"{task.name}: {error}") from error
    return Examined(analysis.verdict, body)


def _faults(task: Task, build: Path) -> Examined:
    simulator = simulator_path(*task.variant, build)
    firmware = task.plan.firmware_of(task.series, build)
    words = (*task.words(), "--count", str(task.study.frames))
    result = run(Job(task.name, simulator, words, (("--firmware", firmware),) if firmware else ()), build / STORE)
    rows = faults.of_file(result.directory / "stats.json")
    injected, counted = (sum(row[key] for row in rows) for key in ("injected", "counted"))
    disturbed = max(row["disturbed"] for row in rows)
    cells = [
        [html.escape(row["fault"]), f"{row['injected']:,}", f"{row['counted']:,}", html.escape(row["statistic"])]
        for row in rows if row["injected"] or row["counted"]
    ]  # fmt: skip
    verdict = f"{injected:,} faults, {counted:,} counted, {disturbed:,} other frames disturbed"
    body = table(["Fault", "Injected", "Counted", "Statistic"], cells, f"{task.title}: {verdict}.")
    return Examined(verdict, f'<div class="wide">{body}</div>')


def _file(task: Task, build: Path) -> Path:
    return build / FOLDER / f"{task.name}.json"


def kept(task: Task, build: Path) -> Examined | None:
    """What an examination came to when it was made last, if it would come to the same now."""
    try:
        noted = json.loads(_file(task, build).read_text())
        return Examined(noted["verdict"], noted["body"]) if noted["key"] == task.key(build) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _examine(task: Task, build: Path) -> tuple[Examined, bool]:
    """What an examination comes to, and whether that was known."""
    build_simulator(*task.variant, task.plan.defines(task.series), build)
    if known := kept(task, build):
        return known, True
    made = {"cost": _cost, "bottleneck": _bottleneck, "faults": _faults}[task.study.form](task, build)
    files.write(_file(task, build), json.dumps({**asdict(made), "key": task.key(build)}))
    return made, False


def examine(todo: list[Task], build: Path, progress: Progress) -> None:
    """Makes examinations, several at a time, and keeps what they come to."""
    if not todo:
        return
    (build / FOLDER).mkdir(parents=True, exist_ok=True)
    with progress.task("examining", len(todo)) as steps, ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda task: _examine(task, build), todo)
        for task, (result, known) in zip(todo, found, strict=True):
            steps.step(f"{task.study.name}, {task.title}: {result.verdict}{' (kept from before)' if known else ''}")
