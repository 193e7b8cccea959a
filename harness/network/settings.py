"""Which parts of a network a setting is for: by the path in its name, or by a pattern of names."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from harness.network.network_file import Network, NetworkError, is_below
from harness.run import patterns, process

PATH = re.compile(r"[A-Za-z_][\w.\[\]*]*")


@cache
def listed(simulator: Path) -> dict:
    """What the simulator of a kind has, with the names in its representative."""
    status, said, wrong = process.output([simulator.resolve(), "--list=json"])
    try:
        found = json.loads(said)
        return {"parameters": found["parameters"], "events": found["events"]}
    except (ValueError, KeyError, TypeError):
        why = wrong.strip().splitlines()[-1:] or [f"status {status}"]
        raise NetworkError(f"{simulator}: it is no simulator of this network ({why[0]})") from None


def _names(simulator: Path) -> list[str]:
    """The run-time parameters of a kind."""
    return [name for one in listed(simulator)["parameters"] for name in (one["name"], *one["aliases"])]


def renamed(name: str, names: Mapping[str, str]) -> str:
    """The name in a part of what has this name in the representative of its kind."""
    units = [unit for unit in names if is_below(name, unit)]
    return names[unit] + name[len(unit) :] if (unit := max(units, key=len, default="")) else name


def _matching(network: Network, pattern: str) -> set[int]:
    """The parts that have a parameter with a name that the pattern matches."""
    matches = patterns.compiled(pattern).fullmatch
    return {
        number for number, part in enumerate(network.parts)
        if any(matches(renamed(name, part.renamed)) for name in _names(part.simulator))
    }  # fmt: skip


def owners(network: Network, text: str) -> list[int]:
    """The parts in which the paths of a text are, such as those of a condition."""
    return sorted({number for path in PATH.findall(text) for number in network.owners(path)})


def parts_of(network: Network, name: str) -> list[int]:
    """The parts that a setting of this name is for."""
    found = sorted(_matching(network, name)) if "*" in name else owners(network, name)
    if not found:
        raise NetworkError(f'--set: "{name}" names nothing in any part of {network.machine}')
    return found


def part_with(network: Network, path: str) -> list[int]:
    """The part that has the gateway at a path."""
    found = owners(network, path)
    if not found:
        raise NetworkError(f'--gateway: "{path}" names nothing in any part of {network.machine}')
    return found
