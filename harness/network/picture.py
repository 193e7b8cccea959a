"""The picture of a network: hosts, switches and cables, laid out by Graphviz.

A cable is coloured by the load of its busier direction, and a switch shows the frames that it dropped.
"""

from collections import deque

from harness.bottleneck.diagram import LINES, SHOWN, as_svg, shade
from harness.network.topology import Cable, Counts, Load, Topology

DROPS = "#c62828"
MANY = 200  # nodes for which a layout by springs takes too long


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or not share else f"{100 * share:.1f} %"


def describe(load: Load) -> str:
    """A direction of a cable in words."""
    text = f"{load.frames:,.0f} frames, {load.bytes:,.0f} bytes"
    if load.share is not None:
        text += f", {percent(load.share)} of the line"
    return text + (f", {load.damaged:,.0f} damaged" if load.damaged else "")


def tiers(topology: Topology) -> dict[str, int]:
    """How far each switch is from the nearest host; hosts are at 0."""
    near: dict[str, list[str]] = {node: [] for node in topology.nodes}
    for cable in topology.cables:
        a, b = cable.ends
        near[a].append(b)
        near[b].append(a)
    found = {node: 0 for node in topology.nodes if node not in topology.switches}
    wave = deque(found)
    while wave:
        at = wave.popleft()
        for other in near[at]:
            if other not in found:
                found[other] = found[at] + 1
                wave.append(other)
    return found


def _label(path: str, module: str, dropped: float, small: bool) -> str:
    drops = f'<br/><font color="{DROPS}">{dropped:,.0f} dropped</font>' if dropped else ""
    if small:
        return f"<{path}{drops}>"
    return f'<<b>{path}</b><br/><font point-size="9">{module}</font>{drops}>'


def _edge(number: int, cable: Cable, loads: list[Load], labelled: bool) -> str:
    busiest = max((load.share or 0.0 for load in loads), default=0.0)
    directions = zip(cable.ways, loads, strict=True)
    tips = [cable.path, *(f"{way.sender} → {way.receiver}: {describe(load)}" for way, load in directions)]
    label = f'label=" {percent(busiest)} ", ' if labelled or busiest >= SHOWN else ""
    return (
        f"  {_quoted(cable.ends[0])} -- {_quoted(cable.ends[1])} [id=c{number}, {label}"
        f'color="{shade(LINES, busiest)}", penwidth={1 + 4 * min(busiest, 1):.1f}, '
        f"tooltip={_quoted(chr(10).join(tips))}];"
    )


def dot(topology: Topology, now: Counts, before: Counts | None, labelled: bool) -> tuple[str, str]:
    """The graph, and the Graphviz program that lays it out: by tiers if there are several, else by springs."""
    tier, switches = tiers(topology), topology.switches
    tall = max(tier.values(), default=0) > 1
    radius = 1.0 if tall else max(1.5, 0.15 * len(tier))  # inches between tiers; those around one switch are a circle
    lines = [
        "graph network {",
        '  graph [bgcolor="white", fontname="Helvetica", overlap=scale, splines=line, rankdir=BT, start=1,',
        f"    outputorder=edgesfirst, ranksep={radius:.2f}, nodesep=0.2];",
        '  node [shape=box, style="filled,rounded", fillcolor="#f7f7f7", color="#555555", fontname="Helvetica",',
        '    fontsize=11, margin="0.08,0.04"];',
        '  edge [fontname="Helvetica", fontsize=9, len=2.0];',
    ]
    for number, (path, module) in enumerate(topology.nodes.items()):
        dropped = now.dropped[path] - (before.dropped[path] if before else 0.0)
        filled = 'fillcolor="#dde7f3", root=true, ' if path in switches else ""
        lines.append(
            f"  {_quoted(path)} [id=n{number}, {filled}label={_label(path, module, dropped, len(tier) > MANY)}, "
            f"tooltip={_quoted(f'{path} ({module}): {dropped:,.0f} frames dropped')}];"
        )
    for height in sorted(set(tier.values())) if tall else ():
        same = "; ".join(_quoted(node) for node, own in tier.items() if own == height)
        lines.append(f"  {{ rank=same; {same} }}")
    for number, cable in enumerate(topology.cables):
        # The lower end first, so that tiers are in order.
        upside_down = tall and tier.get(cable.ends[0], 0) > tier.get(cable.ends[1], 0)
        shown = Cable(cable.path, cable.ways[::-1]) if upside_down and len(cable.ways) > 1 else cable
        lines.append(_edge(number, shown, [now.load(way, before) for way in shown.ways], labelled))
    program = "dot" if tall else "twopi" if len(switches) == 1 else "neato" if len(tier) <= MANY else "sfdp"
    return "\n".join([*lines, "}"]) + "\n", program


def draw(topology: Topology, now: Counts, before: Counts | None = None, labelled: bool = False) -> str:
    """The load since an earlier time, or since the beginning; `labelled`: each cable has a label, also an idle one."""
    return as_svg(*dot(topology, now, before, labelled))
