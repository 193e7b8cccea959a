"""One document of the statistics of all parts, in the order in which a simulator of the whole network writes them."""

import json
from collections.abc import Iterable, Sequence

from harness.network import document as documents_of
from harness.network.launch import Started
from harness.network.network_file import Network, NetworkError, is_below

FEMTO = 10**15

# The place of each value of the whole: the part that it is from, and its number among those of that part.
Places = list[tuple[int, int]]


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


def places_of(network: Network, lists: Sequence[Sequence[dict]]) -> Places:
    """The statistics of the parts by units: within a part as they are, of a crossing the sender's half first."""
    units = _units(network.order, {entry["path"] for entries in lists for entry in entries})
    receivers = {(link.path.rpartition(".")[0], link.receiver) for link in network.links}
    places = [(part, number) for part, entries in enumerate(lists) for number in range(len(entries))]

    def order(place: tuple[int, int]) -> tuple[int, bool]:
        path = lists[place[0]][place[1]]["path"]
        return units[path], (path, place[0]) in receivers

    return sorted(places, key=order)


def _taken(places: Places, lists: Sequence[Sequence]) -> list:
    return [lists[part][number] for part, number in places]


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


# ---- Snapshots


def _snapshot(network: Network, parts: Sequence[dict | None], places: dict[str, Places]) -> dict | None:
    """What all parts have written down at one instant."""
    taken = [part for part in parts if part is not None]
    if len(taken) < len(parts):
        return None
    instant = min(part["time_fs"] for part in taken)
    events: dict[str, int] = {}
    for part in taken:
        for event, count in part["events"].items():
            events[event] = events.get(event, 0) + count
    merged = {"time_fs": instant, "cycles": _cycles_at(network, instant), "events": events}
    merged["values"] = _taken(places["statistics"], [part["values"] for part in taken])
    if places["derived"]:
        merged["derived"] = _taken(places["derived"], [part.get("derived", []) for part in taken])
    return merged


def _cycles_at(network: Network, femtoseconds: int) -> dict[str, int]:
    """Cycles of all clocks before an instant, which is that of a tick or in between."""
    ticks = -(-femtoseconds * network.ticks_per_second // FEMTO)
    return network.cycles(ticks)


def _samples(network: Network, documents: Sequence[dict], places: dict[str, Places]) -> list[dict | None]:
    counts = {len(document["samples"]) for document in documents}
    if len(counts) != 1:
        raise NetworkError(f"the parts have taken {min(counts)} to {max(counts)} samples (a part is of another run)")
    series = zip(*(document["samples"] for document in documents), strict=True)
    return [_snapshot(network, parts, places) for parts in series]


# ---- All of it


def _manifest(network: Network, documents: Sequence[dict]) -> dict:
    first = documents[0]["manifest"]
    manifest = {
        **{key: first[key] for key in ("machine", "version", "debug", "seed")},
        "network": network.hash,
        "parameters": _named(network, documents, "parameters"),
        "constants": _named(network, documents, "constants"),
    }
    for what in "sources", "inputs", "gateways", "restored":
        found = _each_once(document["manifest"].get(what, []) for document in documents)
        if found or what in first:
            manifest[what] = found
    if "gateways" in manifest:
        manifest["repeatable"] = all(document["manifest"].get("repeatable", True) for document in documents)
    return manifest


def merge(network: Network, documents: Sequence[dict]) -> dict:
    """The document of the whole run."""
    run = documents[0]["run"]
    merged = {
        "manifest": _manifest(network, documents),
        "run": {**{key: run[key] for key in ("ended", "simulated_ns")}, "cycles": network.cycles(run["until"])},
    }
    places = {}
    for what in "statistics", "derived":
        lists = [document.get(what, []) for document in documents]
        places[what] = places_of(network, lists)
        if places[what] or what == "statistics":
            merged[what] = _taken(places[what], lists)
    if "measured" in documents[0]:
        ends = ([document["measured"][end] for document in documents] for end in ("from", "to"))
        merged["measured"] = {
            end: _snapshot(network, parts, places) for end, parts in zip(("from", "to"), ends, strict=True)
        }
    if "samples" in documents[0]:
        merged["samples"] = _samples(network, documents, places)
    return merged


def read(started: Sequence[Started]) -> list[dict]:
    """The documents of all parts."""
    return [documents_of.read(part.folder / "statistics.json") for part in started]


def loads(started: Sequence[Started]) -> list[tuple[str, float, float]]:
    """Of each part: its path, the seconds that it ran, and those of them in which it waited for others."""
    found = []
    for part in started:
        timing = json.loads((part.folder / "timing.json").read_bytes())
        found.append((part.path, timing["host_seconds"], timing.get("waited_seconds", 0.0)))
    return found
