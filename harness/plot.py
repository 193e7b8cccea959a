"""Throughput plots: measured series beside the theoretical line and published figures, as SVG and PNG.

Series differ in marker and dash as well as in colour (Okabe and Ito's palette), so the plot survives print and
colour blindness.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from harness import theory  # noqa: E402

STYLES = [("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", "-."), ("#cc79a7", "D", ":")]
INK, FAINT = "#222222", "#d9d9d9"


@dataclass(frozen=True)
class Line:
    """A measured series: its name, payload sizes in bytes and rates in bit/s."""

    name: str
    payloads: Sequence[int]
    rates: Sequence[float]


@dataclass(frozen=True)
class Mark:
    """One published figure."""

    label: str
    payload: int
    rate: float


def throughput(title: str, lines: Sequence[Line], marks: Sequence[Mark], ways: int, rate: float, out: Path) -> None:
    """Draws out.svg and out.png: UDP payload in Mb/s over payload size."""
    settings = {
        "font.size": 11, "font.family": "DejaVu Sans", "axes.edgecolor": INK, "text.color": INK, "svg.fonttype": "path",
        "svg.hashsalt": "spinach", "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    }  # fmt: skip
    with pyplot.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(7.2, 4.6), layout="constrained")
        sizes = list(range(18, 1473, 2))
        limit = [ways * theory.payload_rate(size, rate) / 1e6 for size in sizes]
        axes.plot(sizes, limit, color=INK, linewidth=1.4, label=f"theoretical maximum, {_ways(ways)}")
        axes.fill_between(sizes, limit, color=FAINT, alpha=0.35, linewidth=0)
        for (color, marker, dash), line in zip(STYLES, lines, strict=False):
            megabits = [value / 1e6 for value in line.rates]
            axes.plot(
                line.payloads, megabits, color=color, marker=marker, linestyle=dash, linewidth=1.8, label=line.name
            )
        for (color, _, _), mark in zip(STYLES[len(lines) :], marks, strict=False):
            axes.plot(
                mark.payload, mark.rate / 1e6, color=color, marker="*", markersize=15, linestyle="", label=mark.label
            )
        axes.set_xlim(0, 1540)
        axes.set_ylim(0, 1.08 * max(limit))
        axes.set_xticks([18, 200, 400, 600, 800, 1000, 1200, 1472])
        axes.set_xlabel("UDP payload, bytes")
        axes.set_ylabel("UDP payload throughput, Mb/s")
        axes.set_title(title, loc="left", fontweight="bold")
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(frameon=False, loc="outside lower left", ncols=2)
        figure.savefig(out.with_suffix(".svg"), metadata={"Date": None})
        figure.savefig(out.with_suffix(".png"), dpi=150)
        pyplot.close(figure)


def _ways(ways: int) -> str:
    return "one direction" if ways == 1 else "both directions"
