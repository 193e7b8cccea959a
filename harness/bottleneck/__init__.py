"""Where a machine's cycles go: what limits it, what waits for that, and who uses its memories.

`python -m harness bottleneck` is the command; docs/bottleneck.md explains its report.
"""

from harness.bottleneck.analysis import Analysis, analyse
from harness.bottleneck.netlist import NetlistError

__all__ = ["Analysis", "NetlistError", "analyse"]
