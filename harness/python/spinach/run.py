"""Run: what one simulation came to, read from the JSON that the simulator wrote."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.study import reading
from harness.study.expression import ExpressionError
from spinach.errors import RunError, SpinachError, unknown
from spinach.frames import frame

if TYPE_CHECKING:
    from pandas import DataFrame

SECOND = 1e15  # femtoseconds
LOG, STATS = "log.txt", "stats.json"  # in the folder of a run: what it said, and what the simulator wrote


def full_name(entry: Mapping[str, Any]) -> str:
    """PATH.NAME of an entry; what the machine itself has is called by its name alone."""
    return f"{entry['path']}.{entry['name']}".lstrip(".")


@dataclass(frozen=True)
class Run:
    """A finished simulation.  `run["PATH.STATISTIC"]` is one statistic at its end."""

    command: list[str]
    folder: Path
    printed: str
    json: dict[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> float:
        known = {full_name(entry): entry["value"] for entry in self.json["statistics"]}
        if name not in known:
            raise unknown("the run has no statistic", name, difflib.get_close_matches(name, list(known), 3), known)
        value: float = known[name]
        return value

    @property
    def stats(self) -> DataFrame:
        """All statistics at the end: instance, statistic → value, unit."""
        return self._table({full_name(one): one["value"] for one in self.json["statistics"]})

    @property
    def window(self) -> DataFrame:
        """The same within the window of the run; minima, percentiles and similar statistics are those at its end."""
        if not self.json.get("measured"):
            raise SpinachError(self.command, 0, "the run has no window: pass window=(FROM, TO) to run()")
        try:
            return self._table(reading.counted(self.json).values)
        except ExpressionError as error:
            raise SpinachError(self.command, 0, str(error)) from error

    def _table(self, values: Mapping[str, float | None]) -> DataFrame:
        rows = [
            {"instance": one["path"], "statistic": one["name"], "value": values.get(full_name(one)),
             "unit": one.get("unit", "")}
            for one in self.json["statistics"]
        ]  # fmt: skip
        return frame(rows, ["instance", "statistic", "value", "unit"], ["instance", "statistic"])

    @property
    def samples(self) -> DataFrame:
        """A row for each sample: time in seconds → `cycles(CLOCK)` and all statistics so far."""
        names = [full_name(one) for one in self.json["statistics"]]
        clocks = list(self.cycles)
        rows = [
            {"time": one["time_fs"] / SECOND, **{f"cycles({clock})": one["cycles"].get(clock) for clock in clocks},
             **dict(zip(names, one["values"], strict=True))}
            for one in self.json.get("samples", [])
        ]  # fmt: skip
        return frame(rows, ["time", *(f"cycles({clock})" for clock in clocks), *names], ["time"])

    @property
    def cycles(self) -> dict[str, int]:
        """Cycles of each clock."""
        return dict(self.json["run"]["cycles"])

    @property
    def seconds(self) -> float:
        """Simulated time."""
        return float(self.json["run"]["simulated_ns"]) * 1e-9

    @property
    def ended(self) -> str:
        """Why the run ended."""
        return str(self.json["run"]["ended"])

    @property
    def manifest(self) -> dict[str, Any]:
        """What the run was made of: seed, parameters, sources and files, with their hashes."""
        return dict(self.json["manifest"])


def no_end(seconds: float, folder: Path) -> str:
    """What is wrong with a run that takes too long."""
    return f"no end after {seconds:g} s: {folder}/{LOG} has what the run printed (pass a longer timeout=)"


def result(command: list[str], folder: Path, status: int, printed: str, said: str) -> Run:
    """The run that has ended with this status; RunError if it failed."""
    if status:
        text = said or printed or f"{Path(command[0]).name}: ended with status {status}"
        raise RunError(command, status, text, folder)
    return Run(command, folder, printed, json.loads((folder / STATS).read_text()))
