"""A profile at a terminal."""

from rich.console import Console
from rich.table import Table

from harness.trace.profile import Core, Cost, Profile, frames, functions

NAMES = {
    "issued": "issued",
    "fetch": "fetch",
    "memory": "memory",
    "load_use": "operand",
    "branch": "branch",
    "multiply_divide": "mul/div",
    "structural": "unit",
    "unknown": "unknown",
}


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "0"


def _columns(core: Core, causes: list[str]) -> list[int]:
    """The causes that cost anything, the first of which is issuing."""
    return [i for i in range(len(causes)) if i == 0 or any(place.cycles[i] for place in core.places)]


def _row(name: str, cost: Cost, core: Core, causes: list[int], per: int) -> list[str]:
    row = [name, f"{cost.total:,}", _percent(cost.total, core.cycles)]
    if per:
        row += [f"{cost.total / per:,.1f}", f"{cost.instructions / per:,.1f}"]
    row += [f"{cost.instructions:,}"]
    row += [_percent(cost.cycles[i], cost.total) for i in causes]
    return [*row, f"{cost.reads:,}", f"{cost.writes:,}"]


def _grid(title: str, columns: list[str]) -> Table:
    grid = Table(title=f"\n{title}", title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(columns):
        grid.add_column(name, justify="right" if number else "left", no_wrap=True)
    return grid


def _memories(core: Core) -> Table:
    """What the processor waits for in each memory."""
    counts = [[0, 0, 0, 0] for _ in core.region_names()]
    for place in core.places:
        for region, *numbers in place.requests:
            counts[region] = [a + b for a, b in zip(counts[region], numbers, strict=True)]
    grid = _grid(
        "memory: cycles that loads and stores wait",
        ["region", "reads", "writes", "to be accepted", "for the reply"],
    )
    for name, numbers in zip(core.region_names(), counts, strict=True):
        if any(numbers):
            grid.add_row(name, *(f"{n:,}" for n in numbers))
    return grid


def show(console: Console, profile: Profile, cores: list[Core], most: int, events: str | None) -> None:
    """Prints a table for each processor."""
    what, per = frames(profile, events)
    for core in cores:
        causes = _columns(core, profile.causes)
        rate = core.instructions / core.cycles if core.cycles else 0
        each = f"; {per:,} frames ({what})" if per else ""
        title = f"{core.path}: {core.cycles:,} cycles, {core.instructions:,} instructions, {rate:.2f} a cycle{each}"
        columns = ["function", "cycles", "%", *(["cycles/frame", "instr/frame"] if per else []), "instructions"]
        columns += [NAMES.get(profile.causes[i], profile.causes[i]) + " %" for i in causes]
        grid = _grid(title, [*columns, "reads", "writes"])
        ranked = functions(core)
        for name, cost in ranked[:most]:
            grid.add_row(*_row(name, cost, core, causes, per))
        if len(ranked) > most:
            rest = Cost(cycles=[0] * len(profile.causes))
            for place in core.places:
                if (place.function or "") not in {name for name, _ in ranked[:most]}:
                    rest.add(place)
            grid.add_row(*_row(f"{len(ranked) - most} others", rest, core, causes, per))
        console.print(grid)
        console.print(_memories(core))
