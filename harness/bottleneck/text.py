"""The bottleneck report at a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from harness.bottleneck.analysis import Analysis, percent
from harness.bottleneck.back_pressure import Step, WaitPath
from harness.bottleneck.memories import Memory

MODULES, WAITS, MEMORIES = 12, 10, 4


def rates(bits_per_second: float) -> str:
    """A rate for people."""
    for unit, scale in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if bits_per_second >= scale:
            return f"{bits_per_second / scale:,.2f} {unit}"
    return f"{bits_per_second:,.0f} b/s"


def memory_title(memory: Memory) -> str:
    """A memory, the bandwidth used, and its capacity."""
    carried, most = (rates(8 * count / memory.seconds) for count in (memory.bytes, memory.capacity))
    return f"{memory.path} ({memory.module}): {carried} of its capacity of {most}"


def cause_text(wait_path: WaitPath) -> str:
    """The end of a path, in a few words."""
    cause = wait_path.cause
    return {
        "busy": f"{cause.path} stalls its input: it is busy",
        "port": f"{cause.path} is saturated",
        "reply": f"{cause.path} replies slowly",
        "loop": f"the latency of the loop {' → '.join(cause.members)} limits",
        "source": f"{cause.path} sends no more",
    }[cause.kind]


def path_lines(wait_path: WaitPath) -> list[str]:
    """A path, a line for each step: where it waits or starves, and why the instance there leads on."""

    def line(step: Step) -> str:
        link = step.link
        starves = link.idle > link.waiting and link.waiting < wait_path.link.waiting
        share = f"idle for {percent(link.idle)}" if starves else percent(link.waiting)
        who = link.source if starves else link.target
        return f"{link} ({share})" + (f"; {who.path} {step.then}" if step.then else "")

    return [*map(line, wait_path.steps), cause_text(wait_path)]


def _table(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table; columns whose name begins with > are numbers."""
    grid = Table(title=f"\n{title}", title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        grid.add_column(name.removeprefix(">"), justify="right" if name.startswith(">") else "left", overflow="fold")
    for row in rows:
        grid.add_row(*row)
    console.print(grid)


def _waits(analysis: Analysis, console: Console) -> None:
    rows = [
        (one.name, "-" if one.busy is None else percent(one.busy), percent(one.waited), str(one.waiters[0]))
        for one in analysis.limiters[:MODULES]
    ]
    _table(console, "Limiters", ("instance", ">busy", ">others wait", "most at"), rows)
    rows = [
        (str(c.link), percent(c.link.waiting), percent(c.link.moved), cause_text(c))
        for c in analysis.waiting[:WAITS]
    ]  # fmt: skip
    _table(console, "Connections that wait most", ("connection", ">waits", ">moves", "because"), rows)


def _memory(memory: Memory, console: Console) -> None:
    rows = [
        (
            one.name, f"{one.read:,} B", f"{one.written:,} B", rates(8 * one.bytes / memory.seconds),
            percent(memory.share(one)),
        )
        for one in memory.requesters if one.bytes
    ]  # fmt: skip
    _table(console, memory_title(memory), ("requester", ">reads", ">writes", ">rate", ">of capacity"), rows)


def show(analysis: Analysis, console: Console) -> None:
    """Prints the whole report."""
    console.print(analysis.verdict, markup=False, highlight=False)
    wait_paths = analysis.limiter.wait_paths if analysis.limiter else analysis.starved
    if wait_paths:
        longest = max(wait_paths, key=lambda wait_path: len(wait_path.steps))
        console.print(f"\nBack-pressure trace from {longest.link}:", markup=False, highlight=False)
        for line in path_lines(longest):
            console.print(f"  {line}", markup=False, highlight=False)
    if analysis.limiters:
        _waits(analysis, console)
    rows = [
        (m.path, m.module, percent(m.busy) + (" *" if m.declared else "  "), percent(m.stalls), percent(m.stalled))
        for m in analysis.modules[:MODULES]
    ]
    if analysis.stalls:
        stalls = [(one.path, percent(one.rest), one.text) for one in analysis.stalls[:MODULES]]
        _table(console, "Stalls by reason", ("instance", ">no stall", "share of the cycles"), stalls)
    title = "Busiest modules (* counted by the module itself)"
    _table(console, title, ("instance", "module", ">busy", ">stalls its input", ">is stalled"), rows)
    for memory in analysis.memories[:MEMORIES]:
        _memory(memory, console)
