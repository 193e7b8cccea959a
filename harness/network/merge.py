"""One document of the statistics of all parts, in the order in which a simulator of the whole network writes them."""

import json
from collections.abc import Iterable, Sequence

from harness.network.launch import Started
from harness.network.network_file import Network, is_below


def _units(order: Sequence[str], paths: Iterable[str]) -> dict[str, int]:
    """The place in the order of the innermost unit that each path is in; behind all of them, what is in none."""
    places = {unit: place for place, unit in enumerate(order)}
    found = {}
    for path in paths:
        unit = path
        while unit and unit not in places:
            unit = unit[: max(unit.rfind("."), unit.rfind("["), 0)]
        found[path] = places.get(unit, len(order))
    return found


def in_order(network: Network, lists: Sequence[Sequence[dict]]) -> list[dict]:
    """The statistics of the parts by units: within a part as they are, of a crossing the sender's half first."""
    units = _units(network.order, {entry["path"] for entries in lists for entry in entries})
    receivers = {(link.path.rpartition(".")[0], link.receiver) for link in network.links}
    numbered = [(number, entry) for number, entries in enumerate(lists) for entry in entries]
    numbered.sort(key=lambda one: (units[one[1]["path"]], (one[1]["path"], one[0]) in receivers))
    return [entry for _, entry in numbered]


def _named(network: Network, documents: Sequence[dict], what: str) -> dict:
    """Parameters or constants, by name, in the order of the units."""
    merged = {name: value for document in documents for name, value in document["manifest"][what].items()}
    units = _units(network.order, merged)
    numbers = {name: number for number, name in enumerate(merged)}

    def place(name: str) -> tuple[int, int]:
        return units[name], numbers[name]

    top = [name for name in merged if not any(is_below(name, unit) for unit in network.order)]
    return {name: merged[name] for name in [*top, *sorted(merged.keys() - set(top), key=place)]}


def _each_once(lists: Iterable[Sequence[dict]]) -> list[dict]:
    seen: dict[str, dict] = {}
    for entries in lists:
        for entry in entries:
            seen.setdefault(json.dumps(entry), entry)
    return list(seen.values())


def merge(network: Network, documents: Sequence[dict]) -> dict:
    """The document of the whole run."""
    first = documents[0]
    manifest = {
        **{key: first["manifest"][key] for key in ("machine", "version", "debug", "seed")},
        "network": network.hash,
        "parameters": _named(network, documents, "parameters"),
        "constants": _named(network, documents, "constants"),
        "sources": _each_once(document["manifest"]["sources"] for document in documents),
        "inputs": _each_once(document["manifest"]["inputs"] for document in documents),
    }
    cycles: dict[str, int] = {}
    for document in documents:
        for clock, count in document["run"]["cycles"].items():
            cycles[clock] = max(count, cycles.get(clock, 0))
    simulated = min(document["run"]["simulated_ns"] for document in documents)
    ended = {"ended": first["run"]["ended"], "simulated_ns": simulated}
    merged = {"manifest": manifest, "run": ended | {"cycles": cycles}}
    for what in ("statistics", "derived"):
        if entries := in_order(network, [document.get(what, []) for document in documents]):
            merged[what] = entries
    return merged


def read(started: Sequence[Started]) -> list[dict]:
    """The documents of all parts."""
    return [json.loads((part.folder / "statistics.json").read_bytes()) for part in started]


def text(document: dict) -> str:
    """As simulators write it."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def loads(started: Sequence[Started]) -> list[tuple[str, float, float]]:
    """Of each part: its path, the seconds that it ran, and those of them in which it waited for others."""
    found = []
    for part in started:
        timing = json.loads((part.folder / "timing.json").read_bytes())
        found.append((part.path, timing["host_seconds"], timing["waited_seconds"]))
    return found
