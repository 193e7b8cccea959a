"""The plug-in `cost`: instructions and references to each memory that a frame costs, by processor and by function.

The machine is built to profile, and run twice: the difference of a longer and a shorter run leaves start-up out.  What
a processor finds in an instance whose name begins with `scratchpad` or `registers` is counted as that, everything else
as memory.
"""

import html
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.report.page import scrolled, table
from harness.run import compiler, process
from harness.run.store import RunError
from harness.study import uses
from harness.study.study_file import StudyError
from harness.trace.profile import Core, Profile, functions, read

KINDS = ("instructions", "scratchpad", "memory", "registers")  # what is counted
FRAMES = (1000, 3000)  # of the shorter and of the longer run


@dataclass
class Cost:
    """What one function on one processor costs per frame."""

    core: str
    function: str
    counts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))


def build_simulator(machine: Path, output: Path, build: Path, defines: Sequence[str] = ()) -> None:
    """Makes a simulator of the machine that profiles."""
    options = [one for define in defines for one in ("-D", define)]
    compiler.lss(build, "build", machine, "-o", output, *options, "--record", "profile")


def profiled(simulator: Path, firmware: Path, frames: int, arguments: Sequence[str]) -> Profile:
    """The profile of a run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(simulator), "--quiet", "--firmware", str(firmware), "--frames", str(frames), *arguments]
        done = process.run([*command, "--profile", f"{folder}/profile.json"])
        if done.status:
            raise RunError(f"{' '.join(command)}: status {done.status}\n{done.err[-2000:]}".rstrip())
        return read(Path(folder) / "profile.json")


def _kind(region: str) -> str:
    name = region.rpartition(".")[2]
    return next((kind for kind in ("scratchpad", "registers") if name.startswith(kind)), "memory")


def _counts(core: Core) -> dict[str, dict[str, int]]:
    """Of each function, how often each kind of thing happened."""
    names, counts = core.region_names(), {}
    for function, cost in functions(core):
        own = counts.setdefault(function, dict.fromkeys(KINDS, 0))
        own["instructions"] = cost.instructions
        for region, one in cost.requests.items():
            own[_kind(names[region])] += one.reads + one.writes
    return counts


def per_frame(simulator: Path, firmware: Path, arguments: Sequence[str] = ()) -> list[Cost]:
    """Costs of all functions that a frame touches, the most expensive of each processor first."""
    shorter, longer = (profiled(simulator, firmware, frames, arguments) for frames in FRAMES)
    before = {core.path: _counts(core) for core in shorter.cores}
    costs = []
    for core in longer.cores:
        for function, counts in _counts(core).items():
            base = before[core.path].get(function, dict.fromkeys(KINDS, 0))
            each = {kind: (counts[kind] - base[kind]) / (FRAMES[1] - FRAMES[0]) for kind in KINDS}
            if max(each.values()) >= 0.005:
                costs.append(Cost(core.path, function, each))
    return sorted(costs, key=lambda cost: (cost.core, -cost.counts["instructions"], cost.function))


def totals(costs: Sequence[Cost]) -> dict[str, dict[str, float]]:
    """Sums of each processor."""
    totals_of_core: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(KINDS, 0.0))
    for cost in costs:
        for kind, count in cost.counts.items():
            totals_of_core[cost.core][kind] += count
    return dict(totals_of_core)


def as_records(costs: Sequence[Cost]) -> list[dict]:
    """For JSON: one object for each function and processor."""
    return [{"core": c.core, "function": c.function, **{k: round(n, 3) for k, n in c.counts.items()}} for c in costs]


def as_text(costs: Sequence[Cost]) -> str:
    """A table for people."""
    lines = [f"{'per frame':32}" + "".join(f"{kind:>14}" for kind in KINDS)]
    for core, totals_of_core in totals(costs).items():
        rows = [("all", totals_of_core)] + [(f"  {c.function}", c.counts) for c in costs if c.core == core]
        lines.append(core)
        lines += [f"{name:32}" + "".join(f"{counts[kind]:14.2f}" for kind in KINDS) for name, counts in rows]
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


class Plugin(uses.Use):
    """`examine = { with = "cost", counts = { instructions = 474 } }`: what frames cost, beside published counts."""

    def __post_init__(self) -> None:
        self.counts = dict(self.keys.get("counts", {}))
        for key in self.keys:
            if key not in ("counts", "where"):
                raise StudyError(f"{self.place}: unknown key {key!r}; known are counts, where")
        for kind in self.counts:
            if kind not in KINDS:
                raise StudyError(f"{self.place}: counts {kind!r}: a cost has {', '.join(KINDS)}")

    def examine(self, looked: uses.Looked) -> uses.Examined:
        firmware = dict(looked.job.inputs).get("--firmware")
        if not firmware:
            raise RunError("the cost of a frame is that of a firmware, and this point has none")
        looked.folder.mkdir(parents=True, exist_ok=True)
        defines = [f"{name}={value}" for name, value in looked.machine.defines]
        simulator = (looked.folder / "simulator").resolve()
        build_simulator(looked.machine.path, simulator, self.build, defines)
        costs = per_frame(simulator, firmware, looked.job.plain)
        totals_of_core = totals(costs)
        cores = sorted(totals_of_core)
        whole = {kind: sum(totals_of_core[core][kind] for core in cores) for kind in KINDS}
        rows = [_row("all", whole, strong=True)]
        if self.counts:
            rows.append(_row("published", self.counts))
        for core in cores:
            rows += [_row(core, totals_of_core[core], strong=True)] if len(cores) > 1 else []
            rows += [_row(c.function, c.counts) for c in costs if c.core == core and max(c.counts.values()) >= 0.05]
        caption = f"{looked.title}: per frame, start-up taken out."
        body = scrolled(table(["Function", *KINDS], rows, caption), caption)
        return uses.Examined(f"{_number(whole['instructions'])} instructions", body)


def _row(name: str, counts: dict[str, float], strong: bool = False) -> list[str]:
    cells = [html.escape(name), *(_number(counts[kind]) if kind in counts else "–" for kind in KINDS)]
    return [f"<strong>{cell}</strong>" for cell in cells] if strong else cells
