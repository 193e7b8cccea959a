"""A measure over an axis as a figure of matplotlib that notebooks show by themselves.

It is drawn without pyplot, so no window opens and no figure is kept.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class Series:
    """The points of one line; half of the 95 % interval where it is known."""

    across: list[Any] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, across: Any, value: float, error: float | None) -> None:
        """One more point."""
        self.across.append(across)
        self.values.append(value)
        self.errors.append(error or 0.0)


def draw(lines: Mapping[str, Series], across: str, up: str, title: str) -> Figure:
    """All lines in the style of the reports; what is no number stands side by side."""
    from matplotlib.figure import Figure

    from harness.report.plot import FAINT, STYLES

    class Shown(Figure):
        """A figure that is a picture in a notebook, whatever backend is chosen there."""

        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=100)
            return picture.getvalue()

    figure = Shown(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.subplots()
    places = list(dict.fromkeys(one for line in lines.values() for one in line.across))
    named = not all(isinstance(one, int | float) and not isinstance(one, bool) for one in places)
    for (color, marker, dash), (name, line) in zip(cycle(STYLES), lines.items(), strict=False):
        at = [places.index(one) for one in line.across] if named else line.across
        axes.errorbar(
            at, line.values, yerr=line.errors if any(line.errors) else None, color=color, marker=marker, linestyle=dash,
            capsize=3, label=name or None,
        )  # fmt: skip
    if named:
        axes.set_xticks(range(len(places)), [str(one) for one in places])
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(color=FAINT)
    axes.spines[["top", "right"]].set_visible(False)
    if any(lines):
        axes.legend(title=title or None, frameon=False)
    return figure
