"""Flame graphs as SVG: a box for each chain of callers, as wide as its cycles, upon that of its caller."""

import html
import os
import zlib
from collections import defaultdict
from dataclasses import dataclass, field

from harness.trace.profile import Core, chains

WIDTH, HEIGHT, MARGIN, TITLE = 1200, 18, 10, 28  # pixels: of the picture and a box, around it, of the heading
LEAST = 0.3  # pixels: what is narrower is not drawn
LETTER = 6.6  # pixels of a letter


@dataclass
class Box:
    """A function in a chain, with what it calls."""

    name: str
    own: int = 0
    calls: int = 0
    inner: dict[str, "Box"] = field(default_factory=lambda: {})

    @property
    def cycles(self) -> int:
        return self.own + sum(box.cycles for box in self.inner.values())

    @property
    def depth(self) -> int:
        return 1 + max((box.depth for box in self.inner.values()), default=0)


def tree(cores: list[Core]) -> Box:
    """All processors beside each other."""
    root = Box("all")
    for core in cores:
        base = root.inner.setdefault(core.path, Box(core.path))
        for names, call in chains(core):
            box = base
            for name in names:
                box = box.inner.setdefault(name, Box(name))
            box.own += call.cycles
            box.calls += call.calls
    return root


def _colour(name: str) -> str:
    """The same for a function wherever it is."""
    hashed = zlib.crc32(os.fsencode(name))
    return f"hsl({10 + hashed % 45} {70 + hashed // 64 % 20}% {60 + hashed // 4096 % 14}%)"


def _draw(box: Box, x: float, level: int, scale: float, bottom: int, whole: int, out: list[str]) -> None:
    width = box.cycles * scale
    if width < LEAST:
        return
    y = bottom - HEIGHT * (level + 1)
    share = 100 * box.cycles / whole if whole else 0
    called = f", called {box.calls:,} times" if box.calls else ""
    title = f"{box.name}: {box.cycles:,} cycles ({share:.2f} %), {box.own:,} by itself{called}"
    fits = int((width - 6) / LETTER)
    label = box.name if len(box.name) <= fits else box.name[: fits - 1] + "…" if fits > 2 else ""
    fill = _colour(box.name) if level > 1 else "hsl(210 25% 82%)"
    out.append(
        f'<g><title>{html.escape(title)}</title><rect x="{x:.2f}" y="{y}" width="{max(width - 0.4, 0.2):.2f}" '
        f'height="{HEIGHT - 1}" fill="{fill}" rx="1"/>'
        + (f'<text x="{x + 3:.2f}" y="{y + HEIGHT - 6}">{html.escape(label)}</text>' if label else "")
        + "</g>"
    )
    for inner in sorted(box.inner.values(), key=lambda one: one.name):
        _draw(inner, x, level + 1, scale, bottom, whole, out)
        x += inner.cycles * scale


def svg(cores: list[Core], title: str) -> str:
    """The picture; a viewer shows the numbers of a box under the pointer."""
    root = tree(cores)
    whole, depth = root.cycles, root.depth
    bottom = TITLE + MARGIN + depth * HEIGHT
    out: list[str] = []
    if whole:
        _draw(root, MARGIN, 0, (WIDTH - 2 * MARGIN) / whole, bottom, whole, out)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + MARGIN}" '
            f'viewBox="0 0 {WIDTH} {bottom + MARGIN}" font-family="monospace" font-size="11">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{MARGIN}" y="20" font-size="14">{html.escape(title)}</text>',
            *out,
            "</svg>",
            "",
        ]
    )


def inclusive(cores: list[Core]) -> dict[str, int]:
    """Cycles of each function with all that it calls, a recursion counted once."""
    totals: dict[str, int] = defaultdict(int)
    for core in cores:
        for names, call in chains(core):
            for name in set(names):
                totals[name] += call.cycles
    return dict(totals)
