"""What it costs to run a network in parts: processor time of all its processes, beside that of the whole in one.

Two Tigon-2 with their drivers are cut at cables of several latencies, under full load, idle, and with a frame now and
then; rings of them have more nodes than there are cores.  Whole and parts take turns, and the least of several runs
counts: other work on the computer only adds to it.
"""

import json
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import BenchError, run

MACHINE = Path(__file__).with_name("tigon2_ring.lss")
NIC = ["-I", MACHINE.parents[2] / "examples/tigon2"]
LATENCIES = ("500 ns", "5 us", "50 us")  # of the cables that are cut
RATES = ("1 Mb/s", "15 Mb/s", "100 Mb/s")
RINGS = (2, 8, 32)
BUSY, IDLE, RING = "30 ms", "50 ms", "3 ms"
REPETITIONS = 5


@dataclass
class Used:
    """What the processes of a run took, in seconds, and how many cycles each of them left out in whole loops."""

    processor: float
    wall: float
    in_loops: list[int]


@dataclass
class Network:
    """A ring of `nodes`, built in parts, and a pair also whole."""

    whole: Path
    parts: Path
    nodes: int
    firmware: Path

    def settings(self, node: int, traffic: Sequence[str]) -> list[str]:
        """The options that make the driver of a node send."""
        return [word for one in (f"firmware={self.firmware}", *traffic) for word in ("--set", f"node[{node}].driver.{one}")]


def build_network(build: Path, nodes: int, latency: str) -> Network:
    """Compiles it."""
    name = f"tigon2_ring_{nodes}_{latency.replace(' ', '')}"
    whole, parts = build / "bench" / name, build / "bench" / f"{name}.net"
    command = [build / "bin" / "lss", "build", MACHINE, *NIC, "-D", f"nodes={nodes}", "-D", f"latency={latency}"]
    run([*command, "--parts", "-o", parts])
    if nodes == 2:  # many in one process take minutes to compile
        run([*command, "-o", whole])
    return Network(whole, parts, nodes, build / "firmware" / "tigon2" / "tigon2.elf")


def wait_for(children: Sequence[subprocess.Popen], began: float, folders: Sequence[Path]) -> Used:
    """What they took, when all have ended."""
    used = 0.0
    for child in children:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        used += usage.ru_utime + usage.ru_stime
    wall = time.monotonic() - began
    for child in children:
        if child.returncode:
            raise BenchError(f"{' '.join(map(str, child.args))}: exit status {child.returncode}")
    timings = [json.loads((folder / "timing.json").read_text()) for folder in folders]
    return Used(used, wall, [timing["cycles_in_loops"] for timing in timings])


def begin(command: Sequence[str | Path]) -> subprocess.Popen:
    """A process that says nothing."""
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)


def run_whole(simulator: Path, options: Sequence[str]) -> Used:
    """A run of the whole network."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        child = begin([simulator, "--quiet", "--run-dir", folder, *options])
        return wait_for([child], began, [Path(folder)])


def run_parts(folder: Path, options: Callable[[str], Sequence[str]]) -> Used:
    """A run in parts, each with its options, without the launcher, whose own start would count."""
    network = json.loads((folder / "network.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        own = ["--network", folder / "network.json", "--board", f"bench-{secrets.token_hex(8)}", "--quiet"]
        began, children, outputs = time.monotonic(), [], []
        for part in network["parts"]:
            simulator = folder / network["kinds"][part["kind"]]["simulator"]
            outputs.append(Path(place) / part["path"])
            words = ["--part", part["path"], *own, "--run-dir", outputs[-1], *options(part["path"])]
            children.append(begin([simulator, *words]))
        return wait_for(children, began, outputs)


def whole_and_parts(network: Network, until: str, traffic: Sequence[str]) -> tuple[list[Used], list[Used]]:
    """Both in turns."""
    all_settings = [word for node in range(network.nodes) for word in network.settings(node, traffic)]
    whole, parts = [], []
    for _ in range(REPETITIONS):
        whole.append(run_whole(network.whole, ["--time", until, *all_settings]))
        parts.append(in_parts(network, until, traffic))
    return whole, parts


def in_parts(network: Network, until: str, traffic: Sequence[str]) -> Used:
    """A run in parts."""
    own = {f"node[{node}]": network.settings(node, traffic) for node in range(network.nodes)}
    return run_parts(network.parts, lambda path: ["--time", until, *own[path]])


def least(runs: Sequence[Used]) -> float:
    """Seconds of processor time."""
    return min(one.processor for one in runs)


FULL = ("payload=1472", "mode=fast")


def measure_cost(pairs: dict[str, Network]) -> dict[str, float]:
    """Processor time in parts, as a multiple of that of the whole, under full load."""
    cost = {}
    for latency, network in pairs.items():
        whole, parts = whole_and_parts(network, BUSY, FULL)
        cost[latency] = least(parts) / least(whole)
    return cost


def measure_loops(pair: Network) -> dict[str, float]:
    """Cycles that the part with the fewest leaves out in whole loops, as a share of those of the whole."""
    shares = {}
    for rate in RATES:
        whole, parts = whole_and_parts(pair, BUSY, ("payload=1472", "mode=rate", f"offered={rate}"))
        shares[rate] = min(min(one.in_loops) for one in parts) / max(one.in_loops[0] for one in whole)
    return shares


def measure_rings(build: Path, pair: Network) -> dict[str, float]:
    """Seconds of processor time of a node in a ring of so many."""
    seconds = {}
    for nodes in RINGS:
        network = pair if nodes == pair.nodes else build_network(build, nodes, LATENCIES[0])
        seconds[str(nodes)] = least([in_parts(network, RING, FULL) for _ in range(REPETITIONS)]) / nodes
    return seconds


def measure(build: Path) -> dict:
    """Ratios, seconds of processor time, and shares of loops."""
    pairs = {latency: build_network(build, 2, latency) for latency in LATENCIES}
    pair = pairs[LATENCIES[0]]
    whole, parts = whole_and_parts(pair, IDLE, ())
    return {
        "parts_cost": measure_cost(pairs),
        "parts_idle_seconds": {"in one process": least(whole), "in two": least(parts)},
        "parts_loops": measure_loops(pair),
        "parts_ring_seconds": measure_rings(build, pair),
    }
