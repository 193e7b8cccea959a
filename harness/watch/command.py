"""`spinach watch`: a simulator, and the page on which its run is shown."""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

from harness.watch import graph
from harness.watch.leader import Leader
from harness.watch.server import LINGER, Server, WatchError, show_address


def run(simulator: Path, options: Sequence[str], port: int, opened: bool, netlist: Path | None = None) -> int:
    """Runs a simulator to its end, with its page; returns its status."""
    if not simulator.is_file():
        raise WatchError(f"there is no simulator {simulator} (lss build makes one)")
    for word in options:
        if word.split("=")[0] in ("--interactive", "--gdb", "--serve"):
            raise WatchError(f"{word}: spinach watch controls the run from its page (leave this option out)")
    drawn = graph.read(netlist) if netlist else None
    return asyncio.run(_run(simulator, options, port, opened, drawn))


async def _run(
    simulator: Path, options: Sequence[str], port: int, opened: bool, drawn: graph.Graph | None
) -> int:  # fmt: skip
    server = Server(port, "index.html")
    leader = Leader(simulator, options, server.notify, drawn)
    if drawn:
        server.picture = lambda: drawn.picture
    server.latest, server.wish = leader.latest, leader.wish
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, leader.stop)
    show_address(server, opened)
    status = await leader.run()
    if server.watchers:
        await asyncio.sleep(LINGER)
    server.stop()
    return status if status >= 0 else 128 - status
