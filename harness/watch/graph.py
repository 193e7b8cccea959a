"""The block diagram of a run with the load of its connections, as the bottleneck report draws it.

Of a network it is the picture of hosts, switches and cables, whose modules count what they carry.  The counts of the
simulator are those since the start.  The diagram shows the time since it was drawn last.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from harness.bottleneck import NetlistError, analyse, diagram
from harness.network import picture, topology
from harness.watch.server import WatchError


class Graph:
    """The diagram of a machine; `picture` is the latest one, as SVG."""

    def __init__(self, netlist: dict[str, Any]) -> None:
        self._netlist = netlist
        self.network = topology.of_netlist(netlist)  # None: it is none
        self._earlier: dict[str, Any] | None = None
        self.picture = ""
        self.number = 0  # of the picture
        self.error: str | None = None  # why there is none

    async def draw(self, statistics: list[dict[str, Any]], connections: list[dict[str, Any]], time_fs: int) -> None:
        """Draws the load since the last drawing; nothing, if the run has not gone on."""
        rows = [{"unit": "", **row} for row in statistics]
        now = {"statistics": rows, "connections": connections, "run": {"simulated_ns": time_fs / 1e6}}
        if not time_fs or (self._earlier and now["run"] == self._earlier["run"]):
            return
        try:
            self.picture = await asyncio.to_thread(self._drawn, now, self._earlier)
        except (NetlistError, OSError) as error:
            self.error = str(error)
        except (LookupError, TypeError, ValueError):  # of a netlist that lss export did not write
            self.error = "the netlist is damaged: write it again with lss export MACHINE -o FILE"
        else:
            self.error = None
            self.number += 1
            self._earlier = now

    def _counts(self, now: dict[str, Any]) -> topology.Counts:
        assert self.network
        return topology.Counts(self.network, now["statistics"], now["run"]["simulated_ns"] * 1e-9)

    def _drawn(self, now: dict[str, Any], earlier: dict[str, Any] | None) -> str:
        if self.network:
            return picture.draw(self.network, self._counts(now), self._counts(earlier) if earlier else None)
        return diagram.render(diagram.levels(analyse(self._netlist, now, earlier))[0])

    def shown(self) -> dict[str, Any]:
        """For the page."""
        return {"number": self.number, "error": self.error} | ({"network": True} if self.network else {})


def read(path: Path) -> Graph:
    """The diagram of the machine whose netlist is in a file."""
    try:
        netlist = json.loads(path.read_bytes())
    except OSError as error:
        raise WatchError(f"--netlist {path}: {error.strerror} (lss export MACHINE -o FILE writes one)") from error
    except ValueError:
        netlist = None
    if not isinstance(netlist, dict) or not {"instances", "connections", "types", "clocks"} <= netlist.keys():
        raise WatchError(f"--netlist {path}: this is no netlist (lss export MACHINE -o FILE writes one)")
    return Graph(netlist)
