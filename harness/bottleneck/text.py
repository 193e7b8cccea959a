"""The bottleneck report at a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from harness.bottleneck.analysis import Analysis, percent
from harness.bottleneck.back_pressure import Chain, Step
from harness.bottleneck.memories import Memory

MODULES, WAITS, MEMORIES = 12, 10, 4


def rates(bits_per_second: float) -> str:
    """A rate for people."""
    for unit, scale in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if bits_per_second >= scale:
            return f"{bits_per_second / scale:,.2f} {unit}"
    return f"{bits_per_second:,.0f} b/s"


def memory_title(memory: Memory) -> str:
    """A memory, what it carried, and what it could have carried."""
    carried, most = (rates(8 * count / memory.seconds) for count in (memory.bytes, memory.capacity))
    return f"{memory.path} ({memory.module}): {carried} of the {most} that it could carry"


def cause_words(chain: Chain) -> str:
    """What is at the end of a chain, in a few words."""
    cause = chain.cause
    return {
        "own": f"{cause.path} refuses of its own: it is at work",
        "port": f"{cause.path} carries all it can",
        "answers": f"{cause.path} takes its time",
        "loop": f"the loop {' → '.join(cause.members)} turns slowly",
        "source": f"{cause.path} offers no more",
    }[cause.kind]


def chain_lines(chain: Chain) -> list[str]:
    """A chain, a line for each step: where it waits or starves, and what the instance there does meanwhile."""

    def line(step: Step) -> str:
        link = step.link
        starves = link.idle > link.waiting and link.waiting < chain.link.waiting
        share = f"nothing comes for {percent(link.idle)}" if starves else percent(link.waiting)
        who = link.source if starves else link.target
        return f"{link} ({share})" + (f"; {who.path} {step.then}" if step.then else "")

    return [*map(line, chain.steps), cause_words(chain)]


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
        (one.name, "-" if one.busy is None else percent(one.busy), percent(one.waited), str(one.doors[0]))
        for one in analysis.limiters[:MODULES]
    ]
    _table(console, "What is waited for", ("instance", ">busy", ">others wait", "who, most"), rows)
    rows = [
        (str(c.link), percent(c.link.waiting), percent(c.link.moved), cause_words(c))
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
    chains = analysis.limiter.chains if analysis.limiter else analysis.starved
    if chains:
        longest = max(chains, key=lambda chain: len(chain.steps))
        console.print(f"\nHow that shows at {longest.link}:", markup=False, highlight=False)
        for line in chain_lines(longest):
            console.print(f"  {line}", markup=False, highlight=False)
    if analysis.limiters:
        _waits(analysis, console)
    rows = [
        (m.path, m.module, percent(m.busy) + (" *" if m.declared else "  "), percent(m.refuses), percent(m.waits))
        for m in analysis.modules[:MODULES]
    ]
    title = "Modules at work (* as the module itself counts)"
    _table(console, title, ("instance", "module", ">busy", ">refuses", ">is refused"), rows)
    for memory in analysis.memories[:MEMORIES]:
        _memory(memory, console)
