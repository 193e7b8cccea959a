"""A profile at a terminal."""

from rich.console import Console
from rich.table import Table

from harness.trace.profile import UNNAMED, Core, Cost, Profile, Requests, frames, functions

NAMES = {
    "issued": "issued",
    "fetch": "fetch",
    "memory": "memory",
    "load_use": "operand",
    "branch": "branch",
    "multiply_divide": "mul/div",
    "structural": "unit",
    "halted": "halted",
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


def _grid(columns: list[str]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(columns):
        grid.add_column(name, justify="right" if number else "left", no_wrap=True)
    return grid


def _whole(core: Core) -> Cost:
    cost = Cost()
    for place in core.places:
        cost.add(place)
    return cost


def _unasked(cost: Cost, causes: list[str]) -> int:
    """Cycles without an instruction for which no memory is to blame."""
    waits = sum(one.fetch_accept + one.fetch_reply for one in cost.requests.values())
    return cost.cycles[causes.index("fetch")] - waits if "fetch" in causes else 0


def _memories(core: Core, whole: Cost, causes: list[str]) -> Table:
    """What the processor, whose costs add up to `whole`, waits for in each memory."""
    columns = ["memory", "reads", "writes", "to be accepted", "for the reply"]
    columns += ["fetches: to be accepted", "for the reply"]
    grid = _grid(columns)
    for number, name in enumerate(core.region_names()):
        one = whole.requests.get(number, Requests(number))
        numbers = [one.reads, one.writes, one.accept, one.reply, one.fetch_accept, one.fetch_reply]
        if any(numbers):
            grid.add_row(name, *(f"{n:,}" for n in numbers))
    if _unasked(whole, causes):
        grid.add_row("none: after a branch", "", "", "", "", f"{_unasked(whole, causes):,}")
    return grid


def _waits(core: Core, whole: Cost, causes: list[str], ranked: list[tuple[str, Cost]]) -> Table:
    """The same for each function."""
    names = core.region_names()
    fetched = [n for n, one in sorted(whole.requests.items()) if one.fetch_accept + one.fetch_reply]
    used = [n for n, one in sorted(whole.requests.items()) if one.accept + one.reply]
    columns = [f"fetch {names[n]}" for n in fetched] + ["fetch: none"] + [names[n] for n in used]
    grid = _grid(["function", *columns])
    for name, cost in ranked:
        empty = Requests(0)
        cells = [(one.fetch_accept, one.fetch_reply) for one in (cost.requests.get(n, empty) for n in fetched)]
        more = [(one.accept, one.reply) for one in (cost.requests.get(n, empty) for n in used)]
        row = [f"{a:,} + {b:,}" if a + b else "" for a, b in cells + more]
        unasked = _unasked(cost, causes)
        grid.add_row(name, *row[: len(fetched)], f"{unasked:,}" if unasked else "", *row[len(fetched) :])
    return grid


def show(
    console: Console, profile: Profile, cores: list[Core], most: int, events: str | None, inlined: bool = False
) -> None:
    """Prints a table for each processor."""

    def print_titled(title: str, grid: Table) -> None:
        console.print(f"\n{title}", style="italic", highlight=False, markup=False, soft_wrap=True)
        console.print(grid)

    what, per = frames(profile, events)
    for core in cores:
        causes = _columns(core, profile.causes)
        rate = core.instructions / core.cycles if core.cycles else 0
        each = f"; {per:,} frames ({what})" if per else ""
        title = f"{core.path}: {core.cycles:,} cycles, {core.instructions:,} instructions, {rate:.2f} a cycle{each}"
        columns = ["function", "cycles", "%", *(["cycles/frame", "instr/frame"] if per else []), "instructions"]
        columns += [NAMES.get(profile.causes[i], profile.causes[i]) + " %" for i in causes]
        grid = _grid([*columns, "reads", "writes"])
        ranked = functions(core, inlined)
        for name, cost in ranked[:most]:
            grid.add_row(*_row(name, cost, core, causes, per))
        if len(ranked) > most:
            rest = Cost(cycles=[0] * len(profile.causes))
            shown = {name for name, _ in ranked[:most]}
            for place in core.places:
                name = place.innermost if inlined else place.function
                if (name or UNNAMED) not in shown:
                    rest.add(place)
            grid.add_row(*_row(f"{len(ranked) - most} others", rest, core, causes, per))
        print_titled(title, grid)
        whole = _whole(core)
        memories = _memories(core, whole, profile.causes)
        print_titled("cycles that loads and stores, and fetches, wait for each memory", memories)
        print_titled("of functions: to be accepted + for the reply", _waits(core, whole, profile.causes, ranked[:most]))
