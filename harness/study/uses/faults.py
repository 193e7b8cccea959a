"""The plug-in `faults`: what became of injected faults, each beside the statistic that counted it.

Statistics are those of a machine whose instances are called ethernet, host, driver and checker, with the device
in `nic`.
"""

import html
import json
from collections.abc import Mapping
from pathlib import Path

from harness.report import page
from harness.study import uses
from harness.study.study_file import StudyError

# Fault, statistics that say how often it was injected, statistics of the device that count it.  Kinds that the device
# cannot distinguish share a row.
RECEIVE = "nic.mac_rx"
ROWS = [
    ("wrong FCS", ["ethernet.faulty_fcs"], [f"{RECEIVE}.bad_fcs"]),
    ("too short", ["ethernet.faulty_short", "ethernet.faulty_fragment"], [f"{RECEIVE}.too_short"]),
    ("too long", ["ethernet.faulty_long", "ethernet.faulty_jabber"], [f"{RECEIVE}.too_long"]),
    ("error of the line", ["ethernet.faulty_error"], [f"{RECEIVE}.line_errors"]),
    ("overrun", ["checker.missing"], [f"{RECEIVE}.no_descriptor", f"{RECEIVE}.no_room", f"{RECEIVE}.overruns"]),
    ("failed bus read", ["host.read_aborts", "host.read_parity"], ["nic.dma_read.bus_errors"]),
    ("failed bus write", ["host.write_aborts", "host.write_parity"], ["nic.dma_write.bus_errors"]),
]


def table(statistics: Mapping[tuple[str, str], float]) -> list[dict]:
    """A row for each fault: how many were injected, how many counted, by what, and how many good frames suffered.

    `statistics` are values by (path, name).  A run that ended normally has compared every frame that came through,
    so the only frames that a fault can have disturbed are those that should have been delivered and were not: neither
    faulty nor overrun.
    """

    def total(names: list[str]) -> int:
        return int(sum(statistics.get(tuple(name.rsplit(".", 1)), 0) for name in names))

    losses = ["checker.missing", "checker.faulty"]
    counted = [name for fault, _, names in ROWS[:5] for name in names]
    disturbed = abs(total(losses) - total(counted))
    return [
        {
            "fault": fault,
            "injected": total(injected),
            "counted": total(names),
            "statistic": " + ".join(names),
            "disturbed": disturbed,
        }
        for fault, injected, names in ROWS
    ]


def of_file(stats: Path) -> list[dict]:
    """The table of a run's --stats file."""
    entries = json.loads(stats.read_text())["statistics"]
    return table({(entry["path"], entry["name"]): entry["value"] for entry in entries})


class Plugin(uses.Use):
    """`examine = { with = "faults" }`: which statistic counted which fault."""

    needs_result = True

    def __post_init__(self) -> None:
        for key in self.keys:
            if key != "where":
                raise StudyError(f"{self.place}: unknown key {key!r}; known is where")

    def examine(self, looked: uses.Looked) -> uses.Examined:
        rows = of_file(looked.result.directory / "stats.json")
        injected, counted = (sum(row[key] for row in rows) for key in ("injected", "counted"))
        disturbed = max(row["disturbed"] for row in rows)
        cells = [
            [html.escape(row["fault"]), f"{row['injected']:,}", f"{row['counted']:,}", html.escape(row["statistic"])]
            for row in rows if row["injected"] or row["counted"]
        ]  # fmt: skip
        verdict = f"{injected:,} faults, {counted:,} counted, {disturbed:,} other frames disturbed"
        body = page.table(["Fault", "Injected", "Counted", "Statistic"], cells, f"{looked.title}: {verdict}.")
        return uses.Examined(verdict, page.scrolled(body, looked.title))
