"""Bottleneck analysis: what limits a machine, what waits for it, and which requesters use its memories.

`python -m harness bottleneck` is the command; docs/bottleneck.md explains its report.
"""

from harness.bottleneck.analysis import Analysis, analyse
from harness.bottleneck.netlist import NetlistError

__all__ = ["WRITTEN", "Analysis", "NetlistError", "analyse"]

# What a report writes in its folder.
WRITTEN = (
    "index.html", "bottleneck.json", "netlist.json", "collectors.lss", "simulator", "statistics.json", "earlier.json",
)  # fmt: skip
