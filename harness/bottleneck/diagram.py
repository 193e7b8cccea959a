"""The netlist in pictures coloured by what was counted: boxes by how busy they are, lines by how long items wait there.

One picture for each level of the hierarchy that has something to show, laid out by Graphviz.
"""

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass

from harness.bottleneck.analysis import Analysis, percent
from harness.bottleneck.netlist import Link

# One hue from light to dark, so that the order is plain in grey as well.
FILLS = ["#f7f7f7", "#fdebd9", "#fdc998", "#f79a4b", "#d9601a"]
LINES = ["#9aa5a0", "#e0a070", "#dd7a2e", "#c1440e", "#8c1d04"]
STEPS = [0.05, 0.25, 0.5, 0.75]
LIMITER = "#8c1d04"
SHOWN = 0.05  # lines that wait for less carry no label
PICTURES = 8
WIDEST = 1100  # points, of a picture that fits a page and can still be read


def shade(colours: list[str], share: float) -> str:
    """The colour of a share of the time."""
    return colours[sum(share >= step for step in STEPS)]


@dataclass(frozen=True)
class Level:
    """The inside of a hierarchical instance: "" is the whole machine."""

    path: str
    title: str
    dot: str


def _child(level: str, path: str) -> str | None:
    """The instance right below a level that holds a path; None when the path is elsewhere."""
    if level and not path.startswith(level + "."):
        return None
    rest = path[len(level) + 1 :] if level else path
    return (f"{level}." if level else "") + rest.split(".")[0]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Drawing:
    def __init__(self, analysis: Analysis, level: str) -> None:
        self.analysis, self.level = analysis, level
        self.lines: dict[tuple[str, str], list[Link]] = defaultdict(list)
        self.outside: set[str] = set()
        links = analysis.machine.links
        # A line points as its requests do; replies only add to its counts.
        for link in sorted(links, key=self._is_reply):
            ends = [_child(level, place.path) for place in (link.source, link.target)]
            if ends[0] == ends[1]:  # within a child, or all of it elsewhere
                continue
            for index, place in enumerate((link.source, link.target)):
                if ends[index] is None:
                    ends[index] = place.path
                    self.outside.add(place.path)
            backwards = ends[1], ends[0]
            self.lines[backwards if self._is_reply(link) and backwards in self.lines else tuple(ends)].append(link)

    def _is_reply(self, link: Link) -> bool:
        here = self.analysis.machine.instances[link.source.path]
        return here.reply_of(link.source.port) is not None and not here.is_request(link)

    @property
    def waits(self) -> float:
        """The longest wait among the lines of this level."""
        return max((link.waiting for links in self.lines.values() for link in links), default=0.0)

    def _node(self, path: str) -> str:
        inside = [m for m in self.analysis.modules if m.path == path or m.path.startswith(path + ".")]
        busy = max((m.busy for m in inside), default=0.0)
        leaf = path in self.analysis.machine.instances
        module = self.analysis.machine.modules[path]
        name = path[len(self.level) + 1 :] if self.level else path
        limiter = self.analysis.limiter
        limiting = limiter and limiter.cause.kind != "source" and any(
            one == path or one.startswith(path + ".")
            for one in limiter.cause.members or (limiter.cause.path,)
        )  # fmt: skip
        text = f"{percent(busy)} busy" if leaf else f"{percent(busy)} busy inside"
        font = ', fontcolor="white"' if busy >= STEPS[-1] else ""
        border = f', color="{LIMITER}", penwidth=4' if limiting else ""
        return (
            f'  {_quoted(path)} [label=<<b>{name}</b><br/><font point-size="9">{module}<br/>{text}</font>>, '
            f'fillcolor="{shade(FILLS, busy)}"{font}{border}{"" if leaf else ", peripheries=2"}, '
            f"tooltip={_quoted(f'{path} ({module}): {text}')}];"
        )

    def _line(self, ends: tuple[str, str], links: list[Link]) -> str:
        worst = max(links, key=lambda link: (link.waiting, link.moved))
        tips = [f"{link}: moves {percent(link.moved)}, waits {percent(link.waiting)}" for link in links]
        label = f'label=" waits {percent(worst.waiting)} ", ' if worst.waiting >= SHOWN else ""
        colour = shade(LINES, worst.waiting)
        if all(link.level or not link.transferred for link in links):
            label += "style=dotted, constraint=false, "  # signals: they do not order the picture
        return (
            f"  {_quoted(ends[0])} -> {_quoted(ends[1])} [{label}"
            f'color="{colour}", fontcolor="{colour if worst.waiting >= SHOWN else "#555555"}", '
            f"penwidth={1 + 4 * worst.waiting:.1f}, tooltip={_quoted(chr(10).join(tips))}];"
        )

    def dot(self) -> str:
        paths = [path for path in self.analysis.machine.modules if path]
        children = dict.fromkeys(child for path in paths if (child := _child(self.level, path)))
        children.pop(self.level, None)
        lines = [
            "digraph machine {",
            '  graph [nodesep=0.35, ranksep=0.6, bgcolor="white", fontname="Helvetica"];',
            '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=11, color="#555555"];',
            '  edge [fontname="Helvetica", fontsize=9, arrowsize=0.7];',
            *(self._node(path) for path in children),
            *(f"  {_quoted(path)} [shape=cds, fillcolor=\"#eeeeee\", fontsize=9, label={_quoted(path)}];"
              for path in sorted(self.outside)),
            *(self._line(ends, links) for ends, links in self.lines.items()),
            "}",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def _kind(analysis: Analysis, path: str) -> tuple[str, str]:
    """What the levels of equal modules in an array have in common."""
    return re.sub(r"\[\d+\]", "[]", path), analysis.machine.modules[path]


def levels(analysis: Analysis) -> list[Level]:
    """The levels that get a picture: the machine, then those in which something waits, or which hold the limiter."""
    limiting = analysis.limiter.cause.path if analysis.limiter else ""
    holding = [path for path in analysis.machine.parents if path and limiting.startswith(path + ".")]
    # Of equal modules in an array, the one that holds the limiter, else the first in which something waits.
    chosen, seen = [], {_kind(analysis, path) for path in holding}
    for path in analysis.machine.parents:
        drawing, kind = _Drawing(analysis, path), _kind(analysis, path)
        if path and path not in holding and (drawing.waits < SHOWN or kind in seen):
            continue
        seen.add(kind)
        title = f"Inside {path}, a {analysis.machine.modules[path]}" if path else "The machine"
        chosen.append(Level(path, title, drawing.dot()))
    return chosen[:PICTURES]


def render(level: Level) -> str:
    """The picture of a level as SVG, from left to right, or downwards where that would be too wide for a page and is
    narrower; OSError when Graphviz is missing or fails."""
    across = as_svg(level.dot, "dot", "-Grankdir=LR")
    if _width(across) <= WIDEST:
        return across
    return min(across, as_svg(level.dot, "dot", "-Grankdir=TB"), key=_width)


def as_svg(graph: str, program: str = "dot", *options: str) -> str:
    """A graph in the language of Graphviz as SVG; OSError when the program is missing or fails."""
    done = subprocess.run([program, "-Tsvg", *options], input=graph, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{program}: {done.stderr.strip()}")
    return done.stdout


def _width(svg: str) -> float:
    found = re.search(r'<svg width="(\d+)pt"', svg)
    return float(found[1]) if found else 0.0
