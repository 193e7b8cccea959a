"""Profiles in callgrind's format, for kcachegrind and callgrind_annotate."""

from collections import defaultdict

from harness.trace.profile import UNNAMED, Core, Cost, Place, Profile


def _edges(core: Core) -> dict[str, dict[str, list[int]]]:
    """Of each caller and what it calls: how often, and cycles and instructions of all that happens there."""
    totals = [[call.cycles, call.instructions] for call in core.calls]
    for number in range(len(core.calls) - 1, 0, -1):  # callees are behind their callers
        parent = core.calls[number].parent
        totals[parent] = [a + b for a, b in zip(totals[parent], totals[number], strict=True)]
    edges: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for call, total in zip(core.calls, totals, strict=True):
        if call.parent <= 0:
            continue
        caller = core.calls[call.parent].name
        edge = edges[caller].setdefault(call.name, [0, 0, 0])
        edges[caller][call.name] = [a + b for a, b in zip(edge, [call.calls, *total], strict=True)]
    return edges


def _line(name: str) -> str:
    """A name of a file without the ends of lines that it may hold."""
    return name.replace("\r", "\\r").replace("\n", "\\n")


def _function(name: str, places: list[Place], starts: dict[str, int], edges: dict[str, list[int]]) -> list[str]:
    out, file = [], _line(places[0].file or "???")
    out += [f"fl={file}", f"fn={name}"]
    for place in places:
        if place.file and _line(place.file) != file:
            file = _line(place.file)
            out.append(f"fi={file}")
        cost = Cost()
        cost.add(place)
        costs = [cost.total, cost.instructions, cost.reads, cost.writes, *cost.cycles]
        out.append(f"{place.pc:#x} {place.line} {' '.join(map(str, costs))}")
    for callee, (calls, cycles, instructions) in edges.items():
        out += [f"cfn={callee}", f"calls={max(calls, 1)} {starts.get(callee, 0):#x} 0"]
        out.append(f"{places[0].pc:#x} {places[0].line} {cycles} {instructions}")
    return [*out, ""]


def text(profile: Profile, cores: list[Core]) -> str:
    """The file: a part for each processor, positions are addresses and lines."""
    events = ["Cycles", "Instructions", "Reads", "Writes", *(f"cycles_{cause}" for cause in profile.causes)]
    command = f"cmd: {_line(profile.machine)}"
    out = ["# callgrind format", "version: 1", "creator: spinach", command, "positions: instr line"]
    whole = Cost(cycles=[0] * len(profile.causes))
    for core in cores:
        for place in core.places:
            whole.add(place)
    totals = [whole.total, whole.instructions, whole.reads, whole.writes, *whole.cycles]
    out += [f"events: {' '.join(events)}", f"summary: {' '.join(map(str, totals))}", ""]
    for core in cores:
        by_function: dict[str, list[Place]] = defaultdict(list)
        for place in core.places:
            by_function[place.innermost or UNNAMED].append(place)
        starts = {name: places[0].pc for name, places in by_function.items()}
        edges = _edges(core)
        out.append(f"ob={core.path}")
        for name, places in by_function.items():
            out += _function(name, places, starts, edges.get(name, {}))
    return "\n".join(out)
