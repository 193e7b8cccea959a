"""Leads a simulator through its run by --interactive=json, in slices, so that it can be looked at and paused."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.watch.graph import Graph

SLICE = 0.2  # seconds that a slice is to take
LOOK = 0.5  # seconds between two looks at statistics
DRAW = 2.0  # seconds between two drawings of the diagram, at least
REST = 20  # times as long as the last drawing took
MOST_CYCLES = 1 << 40  # of a slice
LINES = 200  # of the console that are kept
GRACE = 5.0  # seconds that a simulator has to end
CHECKPOINT = re.compile(r"\w[\w.-]*", re.ASCII)
Message = dict[str, Any]


class WishError(Exception):
    """A wish of the page that cannot be fulfilled; the text says why."""


class Leader:
    """A run: it goes on in slices until it is paused, and carries out wishes between them."""

    def __init__(
        self, simulator: Path, options: Sequence[str], notify: Callable[[Message], None], graph: "Graph | None" = None
    ) -> None:
        self._graph, self._next_drawing = graph, 0.0
        self._command, self._notify = [str(simulator.resolve()), *options, "--interactive=json"], notify
        self._wishes: deque[str] = deque()
        self._awake = asyncio.Event()
        self._console: deque[str] = deque([""], maxlen=LINES)
        self._cycles = 1000
        self._stopped = False
        self._child: asyncio.subprocess.Process | None = None
        self._looked = 0.0
        self._state: Message = {"paused": False, "going": True, "error": None, "command": None, "status": None,
                                "graph": None}  # fmt: skip

    async def run(self) -> int:
        """The whole run, to the end of the simulator; returns its status."""
        child = self._child = await asyncio.create_subprocess_exec(
            *self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0,
            limit=1 << 30,
        )  # fmt: skip
        if self._stopped:
            child.send_signal(signal.SIGTERM)
        listener = asyncio.create_task(self._listen(child))
        try:
            await self._lead(child)
        finally:
            await _end(child)
        await listener
        self._state["status"] = child.returncode
        self._show()
        return child.returncode or 0

    def stop(self) -> None:
        """Ends the run, with what it has come to, as a signal ends any run."""
        self._stopped = True
        if self._child and self._child.returncode is None:
            self._child.send_signal(signal.SIGTERM)
        self._awake.set()

    def latest(self) -> Message:
        """All that there is to show."""
        return {**self._state, "console": list(self._console)}

    # ---- Wishes of the page

    def wish(self, what: str, value: str) -> None:
        """Pause, go on, or a command; WishError if it is none."""
        if what == "pause":
            self._state["paused"] = True
            self._interrupt()
        elif what == "go":
            self._state["paused"] = False
        else:
            self._state["paused"] = True
            self._wishes.append(_command(what, value))
        self._awake.set()
        self._show()

    def _interrupt(self) -> None:
        """Ends the command at hand; a slice is about to end by itself."""
        if self._state["command"] and self._child and self._child.returncode is None:
            self._child.send_signal(signal.SIGINT)

    # ---- The run

    async def _lead(self, child: asyncio.subprocess.Process) -> None:
        while child.returncode is None:
            self._awake.clear()
            if self._wishes:
                if not await self._fulfil(self._wishes.popleft()):
                    return
            elif self._state["paused"]:
                self._state["going"] = False
                if not await self._look(forced=True):
                    return
                await self._awake.wait()
                self._state["going"] = True
            elif not await self._slice():
                return

    async def _slice(self) -> bool:
        """Some cycles; False once the run is over."""
        began = time.monotonic()
        reply = await self._ask(f"cycle {self._cycles}")
        spent = time.monotonic() - began
        self._cycles = max(100, min(int(self._cycles * SLICE / max(spent, 1e-4)), 4 * self._cycles, MOST_CYCLES))
        return await self._follow(reply)

    async def _fulfil(self, command: str) -> bool:
        self._state["command"] = command
        self._show()
        reply = await self._ask(command)
        self._state["command"] = None
        return await self._follow(reply, forced=True)

    async def _follow(self, reply: Message | None, forced: bool = False) -> bool:
        """Shows where the run is; a run that is over is ended."""
        if reply is None:
            return False
        self._state["error"] = None if reply["ok"] else reply["error"]
        if not await self._look(forced):
            return False
        if self._state["ended"]:
            await self._ask("quit")
        return not self._state["ended"]

    async def _look(self, forced: bool = False) -> bool:
        """Shows where the run is; False when the simulator is gone."""
        status = await self._ask("status")
        if status is None:
            return False
        self._state |= {name: status[name] for name in ("time_fs", "cycles", "ended")} | status["result"]
        now = time.monotonic()
        if forced or now - self._looked > LOOK:
            self._looked = now
            reply = await self._ask("statistics")
            rows = reply["result"] if reply and reply["ok"] else []
            self._state["statistics"] = [[f"{r['path']}.{r['name']}", r["value"], r.get("unit", "")] for r in rows]
            if self._graph and (forced or now > self._next_drawing):
                await self._draw(self._graph, rows)
        self._show()
        return True

    async def _draw(self, graph: "Graph", statistics: list[Message]) -> None:
        """Draws the load of the connections since the last time."""
        began = time.monotonic()
        reply = {"ok": True, "result": []} if graph.network else await self._ask("connections")
        if reply and reply["ok"]:
            await graph.draw(statistics, reply["result"], self._state["time_fs"])
        elif reply:
            graph.error = reply["error"]
        self._state["graph"] = graph.shown()
        now = time.monotonic()
        self._next_drawing = now + max(DRAW, REST * (now - began))

    def _show(self) -> None:
        self._notify(self.latest())

    async def _ask(self, command: str) -> Message | None:
        """The reply to a command; None when the simulator is gone."""
        assert self._child and self._child.stdin and self._child.stdout
        with contextlib.suppress(ConnectionError):
            self._child.stdin.write(f"{command}\n".encode())
            await self._child.stdin.drain()
        line = await self._child.stdout.readline()
        return json.loads(line) if line else None

    async def _listen(self, child: asyncio.subprocess.Process) -> None:
        """What the simulator says is shown here, too."""
        assert child.stderr
        while text := await child.stderr.read(4096):
            os.write(sys.stderr.fileno(), text)
            first, *lines = text.decode(errors="replace").split("\n")
            self._console[-1] += first
            self._console.extend(lines)


async def _end(child: asyncio.subprocess.Process) -> None:
    """No simulator is left."""
    assert child.stdin
    child.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None and child.returncode is None:
            os.killpg(child.pid, number)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(child.wait(), GRACE)
            return


def _command(what: str, value: str) -> str:
    """The command that a wish stands for."""
    if any(ord(c) < 32 for c in value):
        raise WishError(f"{what}: the text has more than one line")
    match what:
        case "cycle" if value.isascii() and value.isdecimal() and 0 < int(value) < MOST_CYCLES:
            return f"cycle {int(value)}"
        case "cycle":
            raise WishError(f'cycle: "{value}" is not a number of cycles')
        case "until" if value.strip():
            return f"until {value.strip()}"
        case "checkpoint" if not CHECKPOINT.fullmatch(value):
            raise WishError(f'checkpoint: "{value}" is not a plain file name')
        case "checkpoint" if Path(value).exists():
            raise WishError(f'checkpoint: "{value}" exists already (choose another name)')
        case "checkpoint":
            return f"checkpoint {value}"
    raise WishError(f'there is no command "{what}"')
