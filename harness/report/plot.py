"""Plots: measured series beside limits and published figures, as SVG and PNG.

Series differ in marker and dash as well as in colour (Okabe and Ito's palette), so the plot survives print and
colour blindness.  The first seven have a style each; the next ones have the same colours with other markers and dashes.
Lines that coincide share one line, whose dashes have their colours in turn, and one name.
"""

import contextlib
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter  # noqa: E402

from harness.report import places  # noqa: E402

STYLES = [
    ("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", "-."), ("#cc79a7", "D", ":"),
    ("#e69f00", "v", (0, (5, 1))), ("#56b4e9", "P", (0, (3, 1, 1, 1))), ("#7a7a00", "X", (0, (1, 1))),
]  # fmt: skip
INK, FAINT = "#222222", "#d9d9d9"
SHORT, LONG = 1e5, 1e10  # numbers between these are written out


@dataclass(frozen=True)
class Line:
    """A measured series: its name, what it is plotted over, and the values."""

    name: str
    across: Sequence
    values: Sequence[float]
    errors: Sequence[float] = ()  # half of the interval of each value; 0: it is not known


@dataclass(frozen=True)
class Mark:
    """One published figure: its label, and its position."""

    label: str
    across: float
    value: float


LABEL = 30  # characters of a line of the vertical axis' label
GAP = 5  # pixels between two numbers below the horizontal axis, at least
MOST_IN_PLACE = 5  # more names than that are in a legend
ROWS, ROW = 6, 0.22  # of a legend, that a picture has room for; the height of one more, in inches
SAME = 0.003  # of the vertical axis: about a pixel
DASH = 4.0  # of a line that several share, in widths of the line
MOST_BETWEEN = 50  # the ratio of values up to which there are marks between two powers of ten
MOST_POWERS = 11  # powers of two that fit below an axis; of more, every second is there, or third


def legend_columns(labels: Sequence[str]) -> int:
    """Two columns of a legend hold about 38 characters each, four hold 12; longer labels get the whole width."""
    longest = max(map(len, labels))
    return 1 if longest > 38 else 2 if longest > 12 else 4


def _write_large_numbers_out(axes: Axes) -> None:
    """2,500,000 in place of 2.5 and a factor of 1e6 that stands elsewhere."""
    for axis in axes.xaxis, axes.yaxis:
        largest = max(map(abs, axis.get_view_interval()))
        if isinstance(axis.get_major_formatter(), ScalarFormatter) and SHORT <= largest < LONG:
            axis.set_major_formatter(lambda value, _: f"{value:,.10g}")


@contextlib.contextmanager
def _axes(
    title: str, across: str, up: str, out: Path, height: float = 4.6, legend_title: str = "", in_place: bool = False,
    shared: Sequence[str] = (), apart: bool = False,
) -> Iterator[Axes]:  # fmt: skip
    """Axes in the common style; the picture is written as out.svg and out.png at the end; `legend_title` says what
    distinguishes the series, which are named `in_place` if they are few; `shared` are names of several series.
    With `apart`, numbers below the axis that would touch are left out."""
    settings = {
        "font.size": 11, "font.family": "DejaVu Sans", "axes.edgecolor": INK, "text.color": INK, "svg.fonttype": "path",
        "svg.hashsalt": "spinach", "text.parse_math": False, "axes.labelcolor": INK, "xtick.color": INK,
        "ytick.color": INK,
    }  # fmt: skip
    with pyplot.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(7.2, height), layout="constrained")
        yield axes
        axes.set_xlabel(across)
        axes.set_ylabel(_broken(up))
        axes.set_title(textwrap.fill(title, 62), loc="left", fontweight="bold")
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        _write_large_numbers_out(axes)
        handles, labels = axes.get_legend_handles_labels()
        if in_place and len(labels) <= MOST_IN_PLACE:
            figure.canvas.draw()  # the layout is known from here on
            figure.set_layout_engine("none")
            places.name_in_place(axes, handles, legend_title, shared)
        elif labels:
            columns = legend_columns([str(label) for label in labels])
            more = max(-(-len(labels) // columns) - ROWS, 0)
            figure.set_size_inches(7.2, height + more * ROW)
            legend = figure.legend(frameon=False, loc="outside lower left", ncols=columns, title=legend_title or None)
            legend.set_alignment("left")
        if apart:
            _leave_touching_out(axes)
        figure.savefig(out.with_suffix(".svg"), metadata={"Date": None})
        figure.savefig(out.with_suffix(".png"), dpi=150)
        pyplot.close(figure)


def lines(
    title: str, across: str, up: str, drawn: Sequence[Line], marks: Sequence[Mark], out: Path, from_zero: bool = False,
    markers: bool = True, limits: Sequence[Line] = (), legend_title: str = "", beside: Sequence[Line] = (),
    log: bool = False, log_up: bool = False,
) -> None:  # fmt: skip
    """Draws out.svg and out.png: values over an axis; one whose values are no numbers has them side by side.
    Those `beside` are thin lines that others are compared with; a `log` axis is one of powers of two, and with `log_up`
    the vertical one is of powers of ten: then all values are above 0."""
    groups = coinciding(drawn, log_up)
    others = {line.name for line in (*limits, *beside) if line.name} | {mark.label for mark in marks}
    few = len(groups) + len(others) <= MOST_IN_PLACE
    shared = [joined([line.name for line in group]) for group in groups if few and len(group) > 1]
    height = 3.6 if few else 4.6  # with a legend
    ticks = list(dict.fromkeys(at for line in drawn for at in line.across))
    named = not all(isinstance(at, int | float) and not isinstance(at, bool) for at in ticks)
    apart = not named and not log and len(ticks) <= 9 and markers
    with _axes(title, across, up, out, height, legend_title, in_place=True, shared=shared, apart=apart) as axes:
        for limit in limits:
            axes.plot(limit.across, limit.values, color=INK, linewidth=1.4, label=limit.name)
            axes.fill_between(limit.across, limit.values, color=FAINT, alpha=0.35, linewidth=0)
        for (color, marker, dash), line in zip(_styles(), drawn, strict=False):
            at = [ticks.index(one) for one in line.across] if named else line.across
            [group] = [one for one in groups if any(line is member for member in one)]
            turn, turns = [line is member for member in group].index(True), len(group)
            name = line.name if not few or turns == 1 else "" if turn else joined([one.name for one in group])
            if turns > 1:
                dash = (DASH * (turns - turn), (DASH, DASH * (turns - 1)))
            axes.plot(
                at, line.values, color=color, marker=marker if markers else "", linestyle=dash, linewidth=1.8,
                label=name or None, clip_on=False, markevery=(turn, turns),
            )  # fmt: skip
            _bars_of_errors(axes, at, line, color)
        for line in beside:
            at = [ticks.index(one) for one in line.across] if named else line.across
            axes.plot(at, line.values, color=INK, linewidth=0.9, zorder=3, label=line.name or None)
        labels = dict.fromkeys(mark.label for mark in marks)
        for (color, _, _), label in zip(islice(_styles(), len(drawn), None), labels, strict=False):
            alike = [mark for mark in marks if mark.label == label]
            at = [ticks.index(mark.across) if named else mark.across for mark in alike]
            size = 15 if len(alike) < 5 else 9
            values = [mark.value for mark in alike]
            axes.plot(at, values, color=color, marker="*", markersize=size, linestyle="", label=label)
        if named:
            axes.set_xticks(range(len(ticks)), [str(one) for one in ticks])
        elif log:
            axes.set_xscale("log", base=2)
            axes.set_xticks(*_powers(ticks))
        elif apart:
            axes.set_xticks(sorted(ticks))
        if from_zero:
            axes.set_xlim(0, None)
        if log_up:
            _draw_powers_of_ten(axes, [value for line in (*drawn, *limits, *beside) for value in line.values])
        elif not any(value < 0 for line in drawn for value in line.values):
            axes.set_ylim(0, None)


def _draw_powers_of_ten(axes: Axes, values: Sequence[float]) -> None:
    """Makes the vertical axis logarithmic, between powers of ten or, over few of them, twice or five times one."""
    few = max(values) < MOST_BETWEEN * min(values)
    parts = (1.0, 2.0, 5.0) if few else (1.0,)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=parts))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    known = [part * 10.0**k for k in range(-30, 31) for part in parts]
    least = max((one for one in known if one <= min(values)), default=min(values))
    axes.set_ylim(least, min((one for one in known if one >= max(values) and one > least), default=None))


def coinciding(drawn: Sequence[Line], log: bool = False) -> list[list[Line]]:
    """The lines in groups: those of a group have the same places, and values that no picture tells apart, on an axis
    from 0 or on one of powers."""
    if log:
        drawn_at = {id(line): [math.log(value) for value in line.values] for line in drawn}
    else:
        drawn_at = {id(line): [0.0, *line.values] for line in drawn}
    values = [value for at in drawn_at.values() for value in at]
    least = SAME * (max(values) - min(values)) if values else 0.0
    groups: list[list[Line]] = []
    for line in drawn:
        for group in groups:
            first = group[0]
            if list(first.across) == list(line.across) and all(
                abs(one - other) <= least for one, other in zip(drawn_at[id(first)], drawn_at[id(line)], strict=True)
            ):
                group.append(line)
                break
        else:
            groups.append([line])
    return groups


def joined(names: Sequence[str]) -> str:
    """One name for several: words that all of them begin or end with occur once, "memory 10, 20 cycles away"."""
    words = [name.split(" ") for name in names]
    shortest = min(map(len, words)) - 1
    first = next((k for k in range(shortest) if len({one[k] for one in words}) > 1), max(shortest, 0))
    rest = shortest - first
    last = next((k for k in range(rest) if len({one[-1 - k] for one in words}) > 1), max(rest, 0))
    middle = ", ".join(" ".join(one[first : len(one) - last]) for one in words)
    return " ".join([*words[0][:first], middle, *words[0][len(words[0]) - last :]])


def _styles() -> Iterator[tuple[str, str, Any]]:
    """Colour, marker and dash of one series after the other: no two of the first 49 are the same."""
    for number in count():
        other = (number + number // len(STYLES)) % len(STYLES)
        yield STYLES[number % len(STYLES)][0], STYLES[other][1], STYLES[other][2]


def _broken(label: str) -> str:
    """The label of the vertical axis in lines: what it is, and its unit, if one line cannot hold both."""
    what, _, unit = label.rpartition(", ")
    if len(label) > LABEL and what and max(len(what) + 1, len(unit)) <= LABEL:
        return f"{what},\n{unit}"
    return textwrap.fill(label, LABEL)


def _leave_touching_out(axes: Axes) -> None:
    """Leaves out numbers below the axis that would touch those to their left; their ticks stay, without a number."""
    axes.figure.canvas.draw()  # the layout is known from here on
    kept: list[float] = []
    left_out: list[float] = []
    end = -math.inf
    for at, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        box = label.get_window_extent()
        if box.x0 < end + GAP:
            left_out.append(at)
            continue
        kept.append(at)
        end = box.x1
    axes.set_xticks(kept)
    axes.set_xticks(left_out, minor=True)


def _bars_of_errors(axes: Axes, at: Sequence, line: Line, color: str) -> None:
    """The intervals of the values that have one; none begins below 0, where no value of the series does."""
    known = [(x, y, error) for x, y, error in zip(at, line.values, line.errors or [0] * len(at), strict=True) if error]
    if not known:
        return
    across, values, errors = zip(*known, strict=True)
    least = 0 if min(line.values) >= 0 else -math.inf
    below = [min(error, value - least) for value, error in zip(values, errors, strict=True)]
    axes.errorbar(across, values, yerr=[below, errors], fmt="none", ecolor=color, elinewidth=1.1, capsize=3)


def _powers(places: Sequence[float]) -> tuple[list[float], list[str]]:
    """Powers of two from the first to the last of an axis, of many every second, and what they are called: 4 Ki."""
    least, most = (math.frexp(at)[1] for at in (min(places), max(places)))
    powers = [2.0**k for k in range(least - 1, most + 1) if min(places) <= 2.0**k <= max(places)]
    powers = powers[:: 1 + (len(powers) - 1) // MOST_POWERS]
    return powers, [
        f"{int(at) >> 10} Ki"
        if at >= 1 << 10 and at < 1 << 20
        else f"{at / 2**20:g} Mi"
        if at >= 1 << 20
        else f"{at:g}"
        for at in powers
    ]


def bars(title: str, up: str, drawn: Sequence[Line], out: Path, legend_title: str = "") -> None:
    """Draws out.svg and out.png: a row for each series, in it a bar for each of the values of the axis."""
    columns = list(dict.fromkeys(at for line in drawn for at in line.across))
    thick = 0.8 / max(len(columns), 1)
    with _axes("", up, "", out, height=1.8 + 0.36 * len(drawn), legend_title=legend_title) as axes:
        # The names of the series take half of the width: the title begins above them.
        axes.figure.suptitle(title, x=0.01, ha="left", fontsize="large", fontweight="bold", wrap=True)
        for (color, _, hatch), (index, column) in zip(_fills(), enumerate(columns), strict=False):
            values = [dict(zip(line.across, line.values, strict=True)).get(column, math.nan) for line in drawn]
            places = [row + (index - (len(columns) - 1) / 2) * thick for row in range(len(drawn))]
            axes.barh(places, values, height=thick, color=color, hatch=hatch, edgecolor="white", linewidth=0,
                      label=str(column) or None)  # fmt: skip
        axes.axvline(0, color=INK, linewidth=1.0)
        axes.set_yticks(range(len(drawn)), [line.name for line in drawn], fontsize=9)
        axes.invert_yaxis()
        axes.margins(x=0.05, y=0.01)


def stack(title: str, across: str, drawn: Sequence[Line], out: Path) -> None:
    """Draws out.svg and out.png: a row for each place, in it what the series have there, one after the other."""
    places = list(dict.fromkeys(at for line in drawn for at in line.across))
    with _axes("", across, "", out, height=2.0 + 0.36 * len(places) + 0.12 * len(drawn)) as axes:
        axes.figure.suptitle(title, x=0.01, ha="left", fontsize="large", fontweight="bold", wrap=True)
        left = [0.0] * len(places)
        for (color, _, hatch), line in zip(_fills(), drawn, strict=False):
            values = [dict(zip(line.across, line.values, strict=True)).get(place, 0.0) for place in places]
            axes.barh(range(len(places)), values, left=left, height=0.7, color=color, hatch=hatch, edgecolor="white",
                      linewidth=0.5, label=line.name)  # fmt: skip
            left = [before + value for before, value in zip(left, values, strict=True)]
        axes.set_yticks(range(len(places)), [str(place) for place in places], fontsize=9)
        axes.invert_yaxis()
        axes.margins(x=0.02)


def areas(title: str, across: str, up: str, drawn: Sequence[Line], out: Path) -> None:
    """Draws out.svg and out.png: series over one axis, upon each other; `across` says where each stretch ends."""
    with _axes(title, across, up, out) as axes:
        at = drawn[0].across
        begins = [max(0.0, 2 * at[0] - at[1]) if len(at) > 1 else 0.0, *at[:-1]]
        stretches = [edge for pair in zip(begins, at, strict=True) for edge in pair]
        values = [[value for value in line.values for _ in range(2)] for line in drawn]
        colors = [color for color, _, _ in islice(_fills(), len(drawn))]
        axes.stackplot(stretches, values, labels=[line.name for line in drawn], colors=colors, linewidth=0)
        axes.set_xlim(begins[0], at[-1])
        axes.set_ylim(0, max(map(sum, zip(*values, strict=True))) or 1)


def _fills() -> Iterator[tuple[str, str, str]]:
    """Colours, and patterns for those that come again."""
    for hatch in cycle(["", "//", "..", "xx"]):
        for color, marker, _ in STYLES:
            yield color, marker, hatch
