"""Names of series within a plot, each next to its line or mark, where it hides nothing.

Every candidate place is rated by the part of the drawing that it would cover; the best one is taken, and what is named
later keeps off the names before it.  Where a name would hide something or might be of another line, the names stand
in the order of the ends of their lines to the right of the axes, each joined to its line.  The same plot gets the same
places.
"""

import math
import textwrap
from collections.abc import Sequence
from itertools import pairwise

import numpy
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SIZE = 9.5  # of the names, in points
GAP = 5.0  # between a name and what it names, in points
STEP = 3.0  # between the samples of a line, in points
OUTSIDE, OVER_NAME, MET, FAR = 1000.0, 200.0, 30.0, 0.02  # costs: of a name outside the axes, over another name, that
# might be of another line, and for a long way
LEADER = 14.0  # from the end of a line to its name to the right of the axes, in points
WIDEST = 34  # characters of a line of a name
NOT_JOINED = ("None", "", " ")  # the style of marks that no line joins
MOST = 200  # points of a line next to which its name may be
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


def _drawn(axes: Axes, step: float) -> list[tuple[Artist, numpy.ndarray]]:
    """All that is drawn, and the points of it: lines, marks, and the bars of errors."""
    found = []
    for line in axes.get_lines():
        if len(points := line.get_xydata()):
            joined = line.get_linestyle() not in NOT_JOINED
            found.append((line, _samples(axes, axes.transData.transform(points), joined, step)))
    for collection in axes.collections:
        for segment in getattr(collection, "get_segments", list)():
            found.append((collection, _samples(axes, axes.transData.transform(segment), True, step)))
    return found


def name_in_place(axes: Axes, handles: Sequence[Artist], title: str = "", shared: Sequence[str] = ()) -> None:
    """Writes the label of each line and group of marks next to it; `title` is what distinguishes them, and a label that
    is `shared` by several has the colour of none."""
    renderer = axes.figure.canvas.get_renderer()
    texts: list[tuple[Artist, Text]] = []
    for handle in handles:
        label = str(handle.get_label())
        color = legible("black" if label in shared else handle.get_color())
        label = textwrap.fill(f"{title} {label}" if title else label, WIDEST)
        text = axes.text(0, 0, label, fontsize=SIZE, color=color, transform=None, ha="left", va="bottom")
        text.set_in_layout(False)
        texts.append((handle, text))
    chosen = _choose(axes, texts, renderer)
    lines = [one for one, _ in texts if one.get_linestyle() not in NOT_JOINED]
    if any(chosen[one][1] >= MET for one in lines) and (at_ends := _name_at_ends(axes, texts, renderer)):
        texts = [(one, text) for one, text in texts if one not in at_ends]
        chosen = _choose(axes, texts, renderer)
    for handle, text in texts:
        _put(axes, text, chosen[handle][0].x0, chosen[handle][0].y0)


def _choose(
    axes: Axes, texts: Sequence[tuple[Artist, Text]], renderer: RendererBase
) -> dict[Artist, tuple[Bbox, float]]:  # fmt: skip
    """For each name the best place, and its cost."""
    scale = axes.figure.dpi / 72
    drawn = _drawn(axes, STEP * scale)
    frame, chosen = axes.get_window_extent(renderer), {}
    for handle, text in texts:
        size = text.get_window_extent(renderer)
        own = axes.transData.transform(handle.get_xydata())
        gap = GAP * scale + (handle.get_markersize() * scale / 2 if handle.get_marker() not in ("", "None") else 0)
        others = [points for one, points in drawn if one is not handle and handle.get_linestyle() not in NOT_JOINED]
        taken = [box for box, _ in chosen.values()]
        costs = [
            (box, _cost(box, away, drawn, taken, frame) + MET * _is_nearer(box, away, others))
            for box, away in _candidates(own, size.width, size.height, gap)
        ]
        chosen[handle] = min(costs, key=lambda one: one[1])
    return chosen


def _put(axes: Axes, text: Text, x: float, y: float) -> None:
    """At a place in pixels, wherever that is when the picture has another size."""
    text.set_position(axes.transData.inverted().transform((x, y)))
    text.set_transform(axes.transData)


def _name_at_ends(axes: Axes, texts: Sequence[tuple[Artist, Text]], renderer: RendererBase) -> list[Artist]:
    """Writes the names of the lines that end farthest right to the right of the axes; returns these lines."""
    figure = axes.figure
    scale = figure.dpi / 72
    lines = [(one, text) for one, text in texts if one.get_linestyle() not in NOT_JOINED and len(one.get_xydata())]
    if len(lines) < 2:
        return []
    last = max(one.get_xydata()[-1][0] for one, _ in lines)
    lines = [(one, text) for one, text in lines if one.get_xydata()[-1][0] == last]
    lines.sort(key=lambda pair: pair[0].get_xydata()[-1][1])

    def ends() -> list[tuple[float, float]]:
        return [tuple(axes.transData.transform(one.get_xydata()[-1])) for one, _ in lines]

    sizes = [text.get_window_extent(renderer) for _, text in lines]
    apart = [(one.height + other.height) / 2 + scale for one, other in pairwise(sizes)]
    place, width = axes.get_position(), figure.bbox.width
    share = (ends()[0][0] / width - place.x0) / place.width  # lines may end short of the axes
    room = (1.04 * max(size.width for size in sizes) + (LEADER + 2 * GAP) * scale) / width
    axes.set_position([place.x0, place.y0, min(place.width, (1 - room - place.x0) / share), place.height])
    frame, at = axes.get_window_extent(renderer), ends()
    heights = _spread([y for _, y in at], apart, frame.y0 + sizes[0].height / 2, frame.y1)
    for (_, text), (x, y), height, size in zip(lines, at, heights, sizes, strict=True):
        begin, end = x + GAP * scale, x + (GAP + LEADER) * scale
        _put(axes, text, end + GAP * scale / 2, height - size.height / 2)
        across, up = zip(*axes.transData.inverted().transform([(begin, y), (end, height)]), strict=True)
        axes.add_artist(Line2D(across, up, color=text.get_color(), linewidth=0.8, clip_on=False))
    return [line for line, _ in lines]


def _spread(wanted: Sequence[float], apart: Sequence[float], least: float, most: float) -> list[float]:
    """Ascending heights near the wanted ones, at least as far apart as they must be, between two bounds if they fit.

    Those that must give way to each other keep the middle of where they wanted to be."""
    steps = [0.0]
    for one in apart:
        steps.append(steps[-1] + one)
    blocks: list[tuple[float, int]] = []  # the mean of what its members want of the first, and how many they are
    for number, height in enumerate(wanted):
        mean, count = height - steps[number], 1
        while blocks and blocks[-1][0] > mean:
            before, many = blocks.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        blocks.append((mean, count))
    base = [mean for mean, count in blocks for _ in range(count)]
    bounded = [max(least, min(one, most - steps[-1])) for one in base]
    return [one + step for one, step in zip(bounded, steps, strict=True)]


def _is_nearer(box: Bbox, away: float, others: Sequence[numpy.ndarray]) -> bool:
    """Whether a name that is so far from its line is about as near to another one, so that it might be of that."""
    for points in others:
        beyond = numpy.maximum(numpy.maximum((box.x0, box.y0) - points, points - (box.x1, box.y1)), 0)
        if (numpy.hypot(*beyond.T) < 1.3 * away).any():
            return True
    return False


def _candidates(own: numpy.ndarray, width: float, height: float, gap: float) -> list[tuple[Bbox, float]]:
    """Boxes next to points of a series, the last first, and how far they are from it; of many points, next to some."""
    found = []
    for x, y in own[:: -math.ceil(len(own) / MOST) or -1]:
        for away in (gap, 2 * gap, 4 * gap, 7 * gap):
            for left in (x - width, x - width / 2, x):
                found += [(left, y + away, away), (left, y - away - height, away)]
            found += [(x + away, y - height / 2, away), (x - away - width, y - height / 2, away)]
    return [(Bbox.from_bounds(x, y, width, height), away) for x, y, away in found]


def _cost(
    box: Bbox, away: float, drawn: Sequence[tuple[Artist, numpy.ndarray]], taken: Sequence[Bbox], frame: Bbox
) -> float:  # fmt: skip
    """What a place hides, and how far it is."""
    cost = FAR * away
    if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
        cost += OUTSIDE
    padded = box.padded(2)
    for _, points in drawn:
        within = (points > (padded.x0, padded.y0)) & (points < (padded.x1, padded.y1))
        cost += float(numpy.count_nonzero(within.all(axis=1)))
    return cost + OVER_NAME * sum(padded.overlaps(other) for other in taken)
