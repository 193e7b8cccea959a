"""Text that the machine's consoles printed: printed("cycles (\\d+)") in a measure, printed('done') in a check.

A console is an instance with a debug view `console`, whose role `printed` is the statistic of the bytes that it has
printed, and with the run-time parameter `output`, the file of that text.  The statistic is in every snapshot, so it
gives the part of the file that belongs to a window.  A run that begins at a checkpoint writes only its own text, so
places in the file are counted from its end.
"""

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import quantity
from harness.run.store import Result
from harness.study import expression
from harness.study.expression import ExpressionError, NoValue
from harness.study.reading import Counted

if TYPE_CHECKING:
    from harness.study.machine import Machine

VIEW, ROLE, PARAMETER = "console", "printed", "output"


@dataclass(frozen=True)
class Console:
    """An instance that prints into a file."""

    path: str
    statistic: str  # of the bytes that it has printed
    parameters: tuple[str, ...]  # those that set its file: its own first, that of the machine last

    @property
    def option(self) -> str:
        """The option of a simulator that names its file."""
        name = self.parameters[-1]
        return f"--set {name}" if "." in name else f"--{name}"

    @property
    def file(self) -> str:
        """Its file in the directory of a run."""
        return f"printed-{re.sub(r'[^A-Za-z0-9]+', '-', self.path).strip('-')}.txt"

    @property
    def settings(self) -> list[str]:
        """The settings that would name another file."""
        return [f"{kind}.{name}" for name in self.parameters for kind in ("set", "option")]


def consoles(machine: "Machine") -> dict[str, Console]:
    """The consoles of a machine by their paths."""
    found = {}
    for view in machine.netlist.get("debug_views", []):
        path, statistic = view["instance"], view["roles"].get(ROLE)
        name = f"{path}.{PARAMETER}"
        if view["name"] != VIEW or not statistic or name not in machine.runtime:
            continue
        chain = [name]
        while (outer := machine.parameters[chain[-1]].set_as) in machine.parameters and outer not in chain:
            chain.append(outer)
        found[path] = Console(path, statistic, tuple(chain))
    return found


def choose(path: str, machine: "Machine") -> Console:
    """The console at a path; "": the only one."""
    known = consoles(machine)
    paths = ", ".join(known)
    if not known:
        raise ExpressionError(f"nothing in {machine.path.name} prints")
    if not path and len(known) > 1:
        raise ExpressionError(f'which console prints? write printed(PATTERN, "PATH"); known are {paths}')
    if path and path not in known:
        raise ExpressionError(f"{machine.path.name} has no console {path!r}; known are {paths}")
    return known[path or next(iter(known))]


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern:
    """The regular expression of a pattern; ExpressionError if it is none."""
    try:
        return re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ExpressionError(f"{pattern!r} is no regular expression: {error}") from error


def used(texts: Iterable[str], machine: "Machine") -> list[Console]:
    """The consoles whose text these expressions ask for."""
    paths = {path for text in texts for _, path in expression.printed_calls(text)}
    return list(dict.fromkeys(choose(path, machine) for path in sorted(paths)))


def check(text: str, machine: "Machine", settings: Mapping[str, Any]) -> None:
    """Refuses an expression whose patterns or consoles cannot be, with the settings of a point."""
    for pattern, path in expression.printed_calls(text):
        compiled(pattern)
        console = choose(path, machine)
        if taken := next((name for name in console.settings if name in settings), None):
            raise ExpressionError(f"printed() sets {taken!r} itself (leave this setting out)")
        others = [one.path for one in consoles(machine).values() if one.option == console.option and one != console]
        if others:
            share = f"{console.path} and {others[0]} print into one file, {console.parameters[-1]!r}"
            raise ExpressionError(f"{share}, which does not say who printed what")


def number(text: str) -> float | str:
    """A printed number, with its unit or without; another text as it is."""
    plain = text.strip()
    sign, digits = (-1, plain[1:]) if plain.startswith("-") else (1, plain.removeprefix("+"))
    try:
        if found := quantity.with_unit(digits):
            return sign * float(found[0])
        value = sign * quantity.exact(digits)
        return int(value) if value.denominator == 1 and re.fullmatch(r"\w+", digits) else float(value)
    except (quantity.NumberError, ValueError, OverflowError, ZeroDivisionError):
        return text


@dataclass(frozen=True)
class Printed:
    """The texts of a run's consoles."""

    result: Result
    machine: "Machine"

    def last(self, pattern: str, path: str, counted: Counted) -> float | str:
        """The last match in what was printed while this was counted: of the first group, if there is one."""
        console = choose(path, self.machine)
        if counted.ends is None:
            raise NoValue("text has no error")
        file = self.result.output(console.option)
        if file is None:
            raise NoValue(f"the run kept nothing of what {console.path} printed")
        text = self._between(console, file, *counted.ends)
        matches = deque(compiled(pattern).finditer(text), maxlen=1)
        if not matches:
            what = f"nothing that {console.path} printed in the window matches {pattern!r}"
            what = what if text else f"{console.path} printed nothing in the window, where {pattern!r} is looked for"
            raise NoValue(f"{what}; see {file}")
        match = matches[0]
        found = next((group for group in match.groups() if group is not None), match[0])
        return number(found)

    def _between(self, console: Console, file: Path, first: Mapping | None, last: Mapping | None) -> str:
        """The text between two snapshots; None: an end of the run."""
        stats, data = self.result.stats, file.read_bytes()
        entries = stats.get("statistics", [])
        place = next(n for n, one in enumerate(entries) if f"{one['path']}.{one['name']}" == console.statistic)

        def at(snapshot: Mapping | None, otherwise: int) -> int:
            if snapshot is None:
                return otherwise
            return min(max(len(data) - (entries[place]["value"] - snapshot["values"][place]), 0), len(data))

        text = data[at(first, 0) : at(last, len(data))].decode(errors="replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")
