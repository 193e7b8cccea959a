"""The plug-in `cost`: instructions and references to each memory that a frame costs, by processor and by function.

The machine is built with collectors on the events `retire` and `access` of its processors, and run twice: the
difference of a longer and a shorter run leaves start-up out.  What is in a region of the machine's `memory_map` whose
name begins with `scratchpad` or `registers` is counted as that, everything else as memory.
"""

import html
import json
import re
import shutil
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.report.page import table
from harness.run import compiler, process
from harness.run.store import RunError
from harness.study import uses
from harness.study.study_file import StudyError

KINDS = ("instructions", "scratchpad", "memory", "registers")  # what is counted
FRAMES = (1000, 3000)  # of the shorter and of the longer run

# An open hash of addresses of code; each has one counter of each kind.
COLLECTOR = """
collector cost_{number} on "{path}" event {event} {{
  declare <<< uint32_t pc[0x8000]; uint64_t n[4][0x8000]; >>>
  init    <<< memset(self->pc, 0xff, sizeof self->pc); memset(self->n, 0, sizeof self->n); >>>
  record  <<<
    uint32_t at = (pc >> 2) * 2654435761u >> 17;
    while (self->pc[at] != pc && self->pc[at] != UINT32_MAX) at = (at + 1) & 0x7fff;
    self->pc[at] = pc;
    self->n[{kind}][at]++;
  >>>
  report  <<<
    for (uint32_t i = 0; i < 0x8000; i++)
      for (int kind = 0; kind < 4; kind++)
        if (self->n[kind][i])
          fprintf(stderr, "cost %s %d %#x %llu\\n", path, kind, self->pc[i], (unsigned long long)self->n[kind][i]);
  >>>
}}
"""


@dataclass
class Cost:
    """What one function on one processor costs per frame."""

    core: str
    function: str
    counts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))


def collectors(netlist: dict) -> str:
    """The collectors for a machine, from its exported netlist."""
    regions = []
    for instance in netlist["instances"]:
        for parameter in instance.get("parameters", []):
            if parameter["name"] == "memory_map":
                regions += parameter["value"]
    kind = "1"
    if regions:
        kind = "2"
        for number, name in (3, "registers"), (1, "scratchpad"):
            for region in regions:
                if region["name"].startswith(name):
                    kind = f"address - {region['base']}u < {region['size']}u ? {number} : {kind}"
    # Memories may have events of these names too: a processor's have the pc.
    observed = [
        (instance["path"], event["name"])
        for instance in netlist["instances"]
        for event in instance["events"]
        if event["name"] in ("retire", "access") and any(a["name"] == "pc" for a in event["arguments"])
    ]
    kinds = {"retire": "0", "access": f"({kind})"}
    return "".join(
        COLLECTOR.format(number=number, path=path, event=event, kind=kinds[event])
        for number, (path, event) in enumerate(observed)
    )


def functions(firmware: Path) -> list[tuple[int, str]]:
    """Functions of a program by address."""
    for tool in "llvm-nm-22", "llvm-nm-19", "llvm-nm", "nm":
        if not shutil.which(tool):
            continue
        done = process.run([tool, "-n", "-S", firmware])
        if done.status:
            raise RunError(done.err.strip())
        found = re.findall(r"^([0-9a-f]+) (?:([0-9a-f]+) )?[tT] (\S+)$", done.out, re.MULTILINE)
        # Of several names of an address a function's counts, which has a size, not the label where its section begins.
        names = [(int(size or "0", 16) > 0, int(address, 16), name) for address, size, name in found]
        return sorted({address: name for _, address, name in sorted(names)}.items())
    raise RunError("no llvm-nm to read symbols with")


def counted(simulator: Path, firmware: Path, frames: int, arguments: Sequence[str]) -> dict[tuple[str, int, int], int]:
    """Counts of a run, by (processor, kind, address)."""
    command = [str(simulator), "--quiet", "--firmware", str(firmware), "--frames", str(frames), *arguments]
    done = process.run(command)
    if done.status:
        raise RunError(f"{' '.join(command)}: status {done.status}\n{done.err[-2000:]}".rstrip())
    counts: dict[tuple[str, int, int], int] = {}
    for path, kind, pc, count in re.findall(r"^cost (\S+) (\d) (0x[0-9a-f]+) (\d+)$", done.err, re.MULTILINE):
        counts[path.rpartition(".")[0], int(kind), int(pc, 16)] = int(count)
    return counts


def build_simulator(machine: Path, folder: Path, build: Path, defines: Sequence[str] = ()) -> Path:
    """A simulator of the machine that counts."""
    netlist, extra, simulator = (folder / name for name in ("netlist.json", "collectors.lss", "simulator"))
    options = [one for define in defines for one in ("-D", define)]
    compiler.lss(build, "export", machine, "-o", netlist, *options)
    extra.write_text(collectors(json.loads(netlist.read_text())))
    compiler.lss(build, "build", machine, "-o", simulator, *options, "--collect", extra)
    return simulator


def per_frame(simulator: Path, firmware: Path, arguments: Sequence[str] = ()) -> list[Cost]:
    """Costs of all functions that a frame touches, the most expensive of each processor first."""
    table = functions(firmware)
    shorter, longer = (counted(simulator, firmware, frames, arguments) for frames in FRAMES)
    costs: dict[tuple[str, str], Cost] = {}
    for (core, kind, pc), count in longer.items():
        place = bisect_right(table, (pc, "\uffff")) - 1
        name = table[place][1] if place >= 0 else f"{pc:#x}"
        cost = costs.setdefault((core, name), Cost(core, name))
        cost.counts[KINDS[kind]] += (count - shorter.get((core, kind, pc), 0)) / (FRAMES[1] - FRAMES[0])
    counted_costs = [cost for cost in costs.values() if max(cost.counts.values()) >= 0.005]
    return sorted(counted_costs, key=lambda cost: (cost.core, -cost.counts["instructions"], cost.function))


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
        simulator = build_simulator(looked.machine.path, looked.folder, self.build, defines)
        costs = per_frame(simulator.resolve(), firmware, looked.job.plain)
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
        body = f'<div class="wide">{table(["Function", *KINDS], rows, caption)}</div>'
        return uses.Examined(f"{_number(whole['instructions'])} instructions", body)


def _row(name: str, counts: dict[str, float], strong: bool = False) -> list[str]:
    cells = [html.escape(name), *(_number(counts[kind]) if kind in counts else "–" for kind in KINDS)]
    return [f"<strong>{cell}</strong>" for cell in cells] if strong else cells
