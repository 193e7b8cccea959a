"""What the parts of a network counted over time: their samples, also while they run.

A run with `--sample` keeps its samples in a file next to its statistics until it ends (docs/running.md).
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]  # of statistics
WANTED = {"frames", "sent", "bytes", "damaged", "dropped"}  # for the picture of a network


def _wanted(names: Sequence[Mapping[str, Any]]) -> list[tuple[int, str, str]]:
    found = ((place, one["path"], one["name"]) for place, one in enumerate(names))
    return [one for one in found if one[2].partition("[")[0] in WANTED]


def _rows(wanted: Iterable[tuple[int, str, str]], values: Sequence[Any]) -> Rows:
    return [{"path": path, "name": name, "value": values[place]} for place, path, name in wanted]


class Samples:
    """The samples of a part, by their times in femtoseconds."""

    def __init__(self, folder: Path) -> None:
        self.by_time: dict[int, Rows] = {}
        self._folder, self._since = folder, time.time() - 1
        self._file: Path | None = None
        self._read = 0  # bytes of it
        self._wanted: list[tuple[int, str, str]] = []

    def follow(self) -> None:
        """Reads what has come since the last time."""
        try:
            if self._file is None:  # an earlier run that was killed has left its own
                files = self._folder.glob("statistics.json.??????")
                self._file = next((file for file in files if file.stat().st_mtime > self._since), None)
            if self._file is None:
                return
            with self._file.open("rb") as stream:
                stream.seek(self._read)
                text = stream.read()
        except OSError:  # the run has just ended
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            one = json.loads(line)
            if "time_fs" in one:
                self.by_time[one["time_fs"]] = _rows(self._wanted, one["values"])
            else:
                self._wanted = _wanted(one["statistics"])

    def take(self, document: Mapping[str, Any]) -> None:
        """All samples of a run that has ended."""
        wanted = _wanted(document["statistics"])
        self.by_time = {one["time_fs"]: _rows(wanted, one["values"]) for one in document.get("samples", ())}


def together(parts: Sequence[Samples]) -> list[tuple[float, Rows]]:
    """The times at which all parts have a sample, in seconds, each with what all have counted."""
    common = set(parts[0].by_time).intersection(*(part.by_time for part in parts[1:])) if parts else set()
    return [(time * 1e-15, [row for part in parts for row in part.by_time[time]]) for time in sorted(common)]
