"""Names of series within a plot, each next to its line or mark, where it hides nothing.

Every candidate place is rated by the part of the drawing that it would cover; the best one is taken, and what is named
later keeps off the names before it.  The same plot gets the same places.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.transforms import Bbox

SIZE = 9.5  # of the names, in points
GAP = 5.0  # between a name and what it names, in points
STEP = 3.0  # between the samples of a line, in points
OUTSIDE, OVER_NAME, FAR = 1000.0, 200.0, 0.02  # costs: of a name outside the axes, over another name, for a long way
LIGHTEST = 0.18  # luminance of a name: a contrast of 4.5 to white


def legible(color: str) -> tuple[float, float, float]:
    """A colour as dark as small letters on white need."""
    parts = numpy.array(to_rgb(color))
    while luminance(parts) > LIGHTEST:
        parts = parts * 0.95
    return tuple(float(part) for part in parts)


def luminance(parts: Sequence[float]) -> float:
    """The relative luminance of WCAG."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(numpy.dot(linear, (0.2126, 0.7152, 0.0722)))


def _samples(axes: Axes, points: numpy.ndarray, joined: bool, step: float) -> numpy.ndarray:
    """Points along a line, in pixels; of marks that nothing joins, the marks."""
    if not joined or len(points) < 2:
        return points
    parts = []
    for (x, y), (to_x, to_y) in pairwise(points):
        count = max(2, int(numpy.hypot(to_x - x, to_y - y) / step))
        parts.append(numpy.column_stack([numpy.linspace(x, to_x, count), numpy.linspace(y, to_y, count)]))
    return numpy.concatenate(parts)


def _drawn(axes: Axes, step: float) -> list[numpy.ndarray]:
    """All that is drawn: lines, marks, and the bars of errors."""
    found = []
    for line in axes.get_lines():
        if len(points := line.get_xydata()):
            joined = line.get_linestyle() not in ("None", "", " ")
            found.append(_samples(axes, axes.transData.transform(points), joined, step))
    for collection in axes.collections:
        for segment in getattr(collection, "get_segments", list)():
            found.append(_samples(axes, axes.transData.transform(segment), True, step))
    return found


def name_in_place(axes: Axes, handles: Sequence[Artist], title: str = "") -> None:
    """Writes the label of each line and group of marks next to it; `title` is what distinguishes them."""
    figure = axes.figure
    scale = figure.dpi / 72
    renderer = figure.canvas.get_renderer()
    drawn = _drawn(axes, STEP * scale)
    frame, taken = axes.get_window_extent(renderer), []
    for handle in handles:
        label = str(handle.get_label())
        label = f"{title} {label}" if title else label
        color = legible(handle.get_color())
        text = axes.text(0, 0, label, fontsize=SIZE, color=color, transform=None, ha="left", va="bottom")
        text.set_in_layout(False)
        size = text.get_window_extent(renderer)
        own = axes.transData.transform(handle.get_xydata())
        gap = GAP * scale + (handle.get_markersize() * scale / 2 if handle.get_marker() not in ("", "None") else 0)
        candidates = _candidates(own, size.width, size.height, gap)
        best = min(candidates, key=lambda one: _cost(one, drawn, taken, frame))
        text.set_position(axes.transData.inverted().transform((best[0].x0, best[0].y0)))
        text.set_transform(axes.transData)
        taken.append(best[0])


def _candidates(own: numpy.ndarray, width: float, height: float, gap: float) -> list[tuple[Bbox, float]]:
    """Boxes next to each point of a series, the last points first, and how far they are from it."""
    found = []
    for x, y in own[::-1]:
        for away in (gap, 2 * gap, 4 * gap, 7 * gap):
            for left in (x - width, x - width / 2, x):
                found += [(left, y + away, away), (left, y - away - height, away)]
            found += [(x + away, y - height / 2, away), (x - away - width, y - height / 2, away)]
    return [(Bbox.from_bounds(x, y, width, height), away) for x, y, away in found]


def _cost(one: tuple[Bbox, float], drawn: Sequence[numpy.ndarray], taken: Sequence[Bbox], frame: Bbox) -> float:
    """What a place hides, and how far it is."""
    box, away = one
    cost = FAR * away
    if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
        cost += OUTSIDE
    padded = box.padded(2)
    for points in drawn:
        within = (points > (padded.x0, padded.y0)) & (points < (padded.x1, padded.y1))
        cost += float(numpy.count_nonzero(within.all(axis=1)))
    return cost + OVER_NAME * sum(padded.overlaps(other) for other in taken)
