"""From a machine's LSS file to its bottleneck report: builds it with collectors, runs it, reads what it counted.

To leave a machine's start out of the account, its run is made twice, first until that condition, and what the first
counted is subtracted: simulators are deterministic, so the first run is the beginning of the second.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from harness import quantity
from harness.bottleneck import WRITTEN, memories
from harness.bottleneck.analysis import Analysis, analyse
from harness.run import compiler, process
from harness.run.store import without
from harness.run.used_files import UsedFiles


class MeasureError(Exception):
    """The machine could not be built or run; the text is the message of compiler or simulator."""


def _do(command: Sequence[str | Path]) -> None:
    done = process.run(command)
    if done.status:
        message = (done.err or done.out).strip()
        raise MeasureError(message or f"{command[0]} ended with status {done.status}")


def _compiler(build: Path) -> Path:
    try:
        return compiler.find(build)
    except compiler.CompilerError as error:
        raise MeasureError(str(error)) from error


def build(
    machine: Path, out: Path, build: Path, defines: Sequence[str] = (), include: Sequence[str] = ()
) -> tuple[dict, Path]:  # fmt: skip
    """The exported netlist of a machine, and its simulator, which counts everything that the report needs."""
    out.mkdir(parents=True, exist_ok=True)
    lss = _compiler(build)
    settings = [one for option, given in (("-I", include), ("-D", defines)) for word in given for one in (option, word)]
    netlist, extra, simulator = out / "netlist.json", out / "collectors.lss", out / "simulator"
    _do([lss, "export", machine, "-o", netlist, *settings])
    exported = json.loads(netlist.read_text())
    used = UsedFiles()
    for source in exported["sources"]:
        used.reads(source, "the machine")
    used.writes_in(out, WRITTEN, "the report")
    text = memories.collectors(exported)
    extra.write_text(text)
    more = ["--collect", extra] if text else []
    _do([lss, "build", machine, "-o", simulator, *settings, "--collect", "connections", *more])
    return exported, simulator


def run(simulator: Path, out: Path, arguments: Sequence[str] = (), after: str = "") -> tuple[dict, dict | None]:
    """The statistics of a run with these options, and of its beginning until `after`: 0.5ms, or another condition."""
    earlier = None
    if after:
        bound = ["--time" if quantity.TIME.fullmatch(after) else "--until", after]
        shorter = [*without(arguments, ["--until"]), *bound]
        _do([simulator.resolve(), *shorter, "--quiet", "--stats", out / "earlier.json"])
        earlier = json.loads((out / "earlier.json").read_text())
    _do([simulator.resolve(), *arguments, "--quiet", "--stats", out / "statistics.json"])
    return json.loads((out / "statistics.json").read_text()), earlier


def examine(
    machine: Path,
    build_folder: Path,
    out: Path,
    defines: Sequence[str] = (),
    arguments: Sequence[str] = (),
    after: str = "",
    include: Sequence[str] = (),
) -> Analysis:
    """All of it; what was built and counted stays in `out`."""
    exported, simulator = build(machine, out, build_folder, defines, include)
    stats, earlier = run(simulator, out, arguments, after)
    return analyse(exported, stats, earlier)
