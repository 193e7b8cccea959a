"""The figures of a study: lines over an axis, bars of change, scaling, series over time; published figures beside them.

Names and labels are text, whatever they hold; pictures are named by their number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.report import plot
from harness.study import relative, tables
from harness.study.axis_values import Scale, axis_labels, scale_of
from harness.study.model import OK, Outcome, Row
from harness.study.points import VARIANT, is_drawn
from harness.study.statistics.curves import fit
from harness.study.study_file import Figure
from harness.study.words import axis_label, measure_label, place

TIMES = (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))


def _shown(outcome: Outcome, figure: Figure) -> list[Row]:
    file = outcome.study.file
    return [row for row in outcome.rows if row.status == OK and is_drawn(figure, row.point, file, "figure")]


def _rows(outcome: Outcome, figure: Figure) -> list[Row]:
    return [row for row in _shown(outcome, figure) if any(name in row.measures for name in figure.measures)]


def _series(
    outcome: Outcome, figure: Figure, rows: Sequence[Row], titled: bool
) -> tuple[str, dict[str, list[Row]]]:  # fmt: skip
    """What distinguishes the lines, if it is to be their title and is one axis; the rows of each line, by its name."""
    others = [axis.name for axis in outcome.study.file.axis if not axis.best]
    fixed = {name for name, value in figure.where.items() if not isinstance(value, list)}
    keys = [name for name in [VARIANT, *others] if name != figure.x and name not in fixed]
    keys = [figure.series] if figure.series else keys
    shown = [key for key in keys if any(key in row.point.coordinates for row in rows)]
    title = axis_label(outcome.study, shown[0]) if titled and len(shown) == 1 and shown[0] != VARIANT else ""
    lines: dict[str, list[Row]] = {}
    for row in rows:
        name = str(row.point.coordinates[shown[0]]) if title else place(outcome.study, row.point, keys)
        lines.setdefault(name, []).append(row)
    return title, lines


def _value(outcome: Outcome, row: Row, figure: Figure) -> float | None:
    value = row.measures[figure.y]
    if figure.relative_to is None:
        return value
    base = relative.base(outcome.study, figure, row, outcome.rows, figure.y)
    return 100 * (value / base.measures[figure.y] - 1) if base and base.measures[figure.y] else None


def _lines(outcome: Outcome, figure: Figure, groups: Mapping[str, list[Row]], scale: Scale) -> list[plot.Line]:
    """A line for each group.  A point without the axis of x has its value at all places of the others: it is a
    horizontal line."""
    shown = {row.point.coordinates.get(figure.x) for own in groups.values() for row in own}
    known = dict.fromkeys(point.coordinates.get(figure.x) for point in outcome.study.points)
    places = [one for one in known if one in shown and one is not None] or [""]
    found = []
    for label, own in groups.items():
        along = [row for row in own if figure.x in row.point.coordinates]
        across = [row for row in own if row not in along]
        alone = not along and len(across) == 1
        named = [(label, along), *((label if alone else place(outcome.study, row.point), [row]) for row in across)]
        for name, rows in named:
            triples = [
                (scale.at(at), value, 0.0 if figure.relative_to is not None else row.errors.get(figure.y, 0.0))
                for row in rows if (value := _value(outcome, row, figure)) is not None
                for at in (places if row in across else [row.point.coordinates[figure.x]])
            ]  # fmt: skip
            if scale.unit:
                triples.sort()
            if triples:
                found.append(plot.Line(name, *map(list, zip(*triples, strict=True))))
    return found


def _marks(outcome: Outcome, figure: Figure, rows: list[Row], scale: Scale) -> list[plot.Mark]:
    """Published figures that belong into a plot, one mark for one that is beside several lines, and those that it names
    itself."""
    marks = {(one.x, one.y): plot.Mark(one.label, one.x, one.y) for one in figure.mark}
    for entry in [] if figure.relative_to is not None else outcome.study.file.published:
        beside = [row for row in rows if row.matches(entry.get("where", {})) and figure.x in row.point.coordinates]
        for row in beside[:1]:
            use, at = outcome.study.uses[row.point.number], row.point.coordinates[figure.x]
            value = entry.get(figure.y, use.mark(figure, entry, row.measures) if use else None)
            if value is not None:
                label = entry.get("mark") or entry.get("label", "published")
                marks.setdefault((at, value), plot.Mark(label, at, value))
    return [replace(mark, across=scale.at(mark.across)) for mark in marks.values()]


def _stack(outcome: Outcome, figure: Figure, rows: Sequence[Row], title: str, out: Path) -> bool:
    """A bar for each point, of what several measures are there."""
    fixed = {name for name, value in figure.where.items() if not isinstance(value, list)}
    places = [place(outcome.study, row.point, set(row.point.coordinates) - fixed) for row in rows]
    known = {name: outcome.study.measures[name] for name in figure.measures}
    lines = [
        plot.Line(one.label or name, places, [row.measures.get(name, 0.0) for row in rows])
        for name, one in known.items() if any(row.measures.get(name) for row in rows)
    ]  # fmt: skip
    if lines:
        units = {one.unit for one in known.values()}
        plot.stack(title, figure.x or ", ".join(sorted(units)), lines, out)
    return bool(lines)


def _beside(outcome: Outcome, figure: Figure, groups: Sequence[list[Row]], scale: Scale) -> list[plot.Line]:
    """Lines that others are compared with; the first says in the legend what all are, and how well those fit."""
    lines, measure = [], figure.beside
    if not measure:
        return lines
    for own in groups:
        if others := [row for row in own if measure in row.measures and figure.x in row.point.coordinates]:
            across = [scale.at(row.point.coordinates[figure.x]) for row in others]
            lines.append(plot.Line("", across, [row.measures[measure] for row in others]))
    fitted = fit((row for own in groups for row in own), figure.measures[0], measure)
    label = (outcome.study.measures[measure].label or measure) if lines else ""
    if fitted is not None:
        label += f" (r² = {fitted:.4f})"
    return [plot.Line("" if k else label, one.across, one.values) for k, one in enumerate(lines)]


def _over_time(lines: Sequence[plot.Line]) -> tuple[str, list[plot.Line]]:
    """Lines over seconds, in the largest unit of which the time is not a fraction."""
    most = max(max(line.across, default=0.0) for line in lines)
    unit, parts = next((one for one in TIMES if most * one[1] >= 1), TIMES[-1])
    return f"simulated time, {unit}", [replace(line, across=[parts * at for at in line.across]) for line in lines]


def draw(outcome: Outcome, figure: Figure, out: Path) -> bool:
    """Draws out.svg and out.png; False when there is nothing to show yet."""
    rows, title = _rows(outcome, figure), figure.title or outcome.study.file.title
    if figure.kind == "stack":
        return _stack(outcome, figure, rows, title, out)
    measure = outcome.study.measures[figure.y]
    up = measure_label(figure.y, measure)
    if figure.relative_to is not None:
        up = f"change of {measure.label or figure.y}, %"
    if figure.kind == "series":
        lines = [
            plot.Line(place(outcome.study, row.point), *map(list, zip(*row.time_series[figure.y], strict=True)))
            for row in _shown(outcome, figure) if row.time_series.get(figure.y)
        ]  # fmt: skip
        across = figure.x
        if lines and not across:
            across, lines = _over_time(lines)
        lines = _above_0(figure, lines)
        if lines:
            plot.lines(title, across, up, lines, [], out, markers=False, log_up=figure.log_y)
        return bool(lines)
    use = outcome.study.uses[rows[0].point.number] if rows else None
    limits = use.limits(figure, [row.point for row in rows]) if use else []
    scale = Scale() if figure.kind == "bars" else scale_of(axis_labels(outcome.study.file, figure.x), figure.log)
    marks = [one for one in _marks(outcome, figure, rows, scale) if one.value > 0 or not figure.log_y]
    legend, groups = _series(outcome, figure, rows, titled=not limits and not marks)
    drawn = _above_0(figure, _lines(outcome, figure, groups, scale))
    if not drawn:
        return False
    if figure.kind == "bars":
        plot.bars(title, up, drawn, out, legend_title=axis_label(outcome.study, figure.x))
    else:
        plot.lines(title, scale.label(axis_label(outcome.study, figure.x)), up, drawn, marks, out,
                   from_zero=figure.kind == "scaling", limits=_above_0(figure, limits), legend_title=legend,
                   beside=_above_0(figure, _beside(outcome, figure, list(groups.values()), scale)), log=figure.log,
                   log_up=figure.log_y)  # fmt: skip
    return True


def _above_0(figure: Figure, drawn: Sequence[plot.Line]) -> list[plot.Line]:
    """The lines without what a logarithmic axis has no place for."""
    if not figure.log_y:
        return list(drawn)
    kept = []
    for line in drawn:
        chosen = [index for index, value in enumerate(line.values) if value > 0]
        if chosen:
            errors = [line.errors[index] for index in chosen] if line.errors else ()
            across, values = ([of[index] for index in chosen] for of in (line.across, line.values))
            kept.append(plot.Line(line.name, across, values, errors))
    return kept


def caption(outcome: Outcome, figure: Figure) -> str:
    """What a figure shows of all points, which its axes and labels do not say: what is fixed, the best of what, ±."""
    rows, study = _rows(outcome, figure), outcome.study
    fixed = {name for name in figure.where if len({str(row.point.coordinates.get(name)) for row in rows}) == 1}
    words = list(dict.fromkeys(place(study, row.point, fixed) for row in rows)) if fixed else []
    parts = [f"Fixed: {words[0]}."] if words and words[0] else []
    for axis in study.file.axis:
        if axis.best and any(axis.name in row.point.coordinates for row in rows):
            best = study.measures[axis.best]
            parts.append(f"Each point has the {axis.label or axis.name} with the highest {best.label or axis.best}.")
    if figure.log_y and any(row.measures.get(figure.y, 1) <= 0 for row in rows):
        parts.append("Values of 0 or less are not drawn.")
    has_bars = figure.kind in ("lines", "scaling") and figure.relative_to is None
    if has_bars and any(row.errors.get(figure.y) for row in rows):
        parts.append(f"Bars show ±, {tables.interval(outcome, rows)}.")
    return " ".join(parts)
