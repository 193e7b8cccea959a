"""The tables of a study's page: every point, one measure over two axes, and published figures next to the model's."""

import html
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from harness.report.page import link, scrolled, table
from harness.study import outputs, relative
from harness.study.model import OK, Outcome, Row
from harness.study.points import VARIANT
from harness.study.study_file import ShownTable, is_comparable
from harness.study.words import axis_label, changed, measure_label, measured, place, signed, spelt

AGREES = 9.0  # percent: a larger difference from a published figure needs an explanation
BEYOND = "*"  # marks a value above its limit by less than its error
WHY_BEYOND = (
    f"{BEYOND} Above the limit by less than ±: the window begins and ends within frames or items, which are cut there."
)
INTERVAL = "half of the 95 % confidence interval"


def interval(outcome: Outcome, rows: Iterable[Row]) -> str:
    """What ± is of these points."""
    if outcome.study.file.run.seeds > 1:
        return f"{INTERVAL} of the mean of {outcome.study.file.run.seeds} runs with different seeds"
    parts = {use.parts if (use := outcome.study.uses[row.point.number]) and use.parts else 0 for row in rows}
    count = max(parts, default=0) or outcome.study.file.window.parts
    return f"{INTERVAL} from {count} consecutive parts of the measured time" if count > 1 else INTERVAL


def limit(outcome: Outcome, row: Row, name: str) -> float | None:
    """What a measure of a point cannot pass."""
    given = outcome.study.measures[name].limit
    return row.measures.get(given) if isinstance(given, str) else given


def is_beyond(outcome: Outcome, row: Row, name: str) -> bool:
    """Whether a value is above its limit, but by less than its error."""
    most, error = limit(outcome, row, name), row.errors.get(name)
    return most is not None and error is not None and 0 < row.measures[name] - most < error


def _cell(outcome: Outcome, row: Row, name: str) -> str:
    if name not in row.measures:
        return "–"
    mark = f"<sup>{BEYOND}</sup>" if is_beyond(outcome, row, name) else ""
    return html.escape(measured(row, name)) + mark


def _keep(outcome: Outcome, row: Row, out: Path) -> list[str]:
    """Copies the files that a plug-in wants to show into the folder of the page."""
    use = outcome.study.uses[row.point.number]
    kept = use.shown_files(row.point, row.result) if use and row.result else {}
    for name, file in kept.items():
        shutil.copyfile(file, out / name)
    return list(kept)


def points_table(outcome: Outcome, out: Path) -> Markup:
    """Every point that is shown, with the command that repeats it: a table for variants that have the same columns."""
    variants: dict[str, list[Row]] = {}
    for row in outcome.rows:
        variants.setdefault(row.point.coordinates.get(VARIANT, ""), []).append(row)
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Row]] = {}
    for rows in variants.values():
        axes = tuple(axis for axis in outputs.axes(outcome.study) if any(axis in row.point.coordinates for row in rows))
        listed = [name for name, measure in outcome.study.measures.items() if not measure.hidden]
        known = tuple(name for name in listed if any(name in row.measures for row in rows))
        groups.setdefault((axes, known), []).extend(rows)
    parts = [_points(outcome, out, axes, known, rows) for (axes, known), rows in groups.items()]
    return Markup("\n").join(parts)


def _points(
    outcome: Outcome, out: Path, axes: Sequence[str], known: Sequence[str], points: Sequence[Row]
) -> Markup:  # fmt: skip
    study = outcome.study
    variants = list(dict.fromkeys(row.point.label for row in points if row.point.label))
    if len(variants) == 1 and len(axes) > 1:
        axes = [axis for axis in axes if axis != VARIANT]  # the caption has it
    first, *others = axes or [""]
    heads = [axis_label(study, one) if one != VARIANT else "Variant" for one in (first, *others) if one]
    columns = [measure_label(name, study.measures[name]) for name in known]
    rows = []
    for row in points:
        where = [row.point.label if one == VARIANT else str(row.point.coordinates.get(one, "–")) for one in axes]
        files = "".join(f'<br><a href="{link(name)}">{html.escape(name)}</a>' for name in _keep(outcome, row, out))
        command = html.escape(outputs.command(study, row.point))
        status = f"<details><summary>{row.status}</summary><code>{command}</code>{files}</details>"
        values = [_cell(outcome, row, name) for name in known]
        rows.append([*map(html.escape, where[:1]), status, *map(html.escape, where[1:]), *values])
    head = [*heads[:1], "Status", *heads[1:], *columns]
    has_errors = any(row.errors.get(name) for row in points for name in known)
    notes = [f"± is {interval(outcome, points)}."] if has_errors else []
    if any(name in row.measures and is_beyond(outcome, row, name) for row in points for name in known):
        notes.append(WHY_BEYOND)
    caption = " ".join(["; ".join(variants) + "." if variants else "", *notes]).strip()
    body = table([html.escape(one) for one in head], rows, caption, min(2, len(head)) if axes else 1)
    return Markup(scrolled(body, "; ".join(variants) or study.file.title))


def _cell_row(rows: Sequence[Row], place: dict[str, Any]) -> Row | None:
    """The row at a place of a table, if there is one: of those with both axes, else of those that lack one."""
    there = [row for row in rows if row.matches(place)]
    if not there:
        there = [row for row in rows if all(row.point.coordinates.get(axis, at) == at for axis, at in place.items())]
    return there[0] if len(there) == 1 else None


def cross_table(outcome: Outcome, shape: ShownTable) -> Markup:
    """One measure, an axis down and another one across; next to it the change, where it is relative to something.  A
    point without one of the axes is at all values of it."""
    study, name = outcome.study, shape.value
    measure = study.measures[name]
    good = [row for row in outcome.rows if row.status == OK and name in row.measures]
    rows = [row for row in good if row.matches(shape.where)]
    labels = {row.point.coordinates.get(VARIANT): row.point.label for row in rows}

    def values(axis: str) -> list:
        return list(dict.fromkeys(row.point.coordinates[axis] for row in rows if axis in row.point.coordinates))

    def head(axis: str, value: Any) -> str:
        return html.escape(labels[value] if axis == VARIANT else str(value))

    across, body = values(shape.columns), []
    for down in values(shape.rows):
        cells = [head(shape.rows, down)]
        for column in across:
            row = _cell_row(rows, {shape.rows: down, shape.columns: column})
            cells.append(html.escape(spelt(row.measures[name], measure.unit)) if row else "–")
            if shape.relative_to is not None:
                cells.append(change(row, row and relative.base(study, shape, row, good, name), name))
        body.append(cells)
    ways = (shape.rows, "↓"), (shape.columns, "→")
    named = [f"{axis_label(study, axis)} {way}" for axis, way in ways if axis != VARIANT]
    corner = "<br>".join(map(html.escape, named))
    heads = [head(shape.columns, column) for column in across]
    if shape.relative_to is not None:
        heads = [cell for one in heads for cell in (one, "change")]
    caption = shape.title or f"{measure_label(name, measure)}. {' '.join(study.file.about.split())}"
    return Markup(scrolled(table([corner, *heads], body, caption), caption))


def change(row: Row | None, base: Row | None, name: str) -> str:
    """How much a row differs from another one."""
    if row is None or base is None or row is base:
        return ""
    return changed(row.measures[name], base.measures[name])


def published_table(outcome: Outcome) -> Markup | str:
    """Figures of others next to the model's; those that are of something else come last, without a difference."""
    entries = sorted(outcome.study.file.published, key=lambda entry: not is_comparable(entry))
    rows = [cells for entry in entries for cells in _compared(outcome, entry)]
    if not rows:
        return ""
    head = ["What", "Published", "Model", "Difference", "Why it differs", "Point", "Source"]
    if not any(row[-1] for row in rows):  # no entry names a source
        head, rows = head[:-1], [row[:-1] for row in rows]
    texts = frozenset({0, 4, 5, 6})
    caption = f"A difference of at most {AGREES:g} % counts as agreement."
    return Markup(scrolled(table(head, rows, caption, texts), "Published figures and the model's"))


def _compared(outcome: Outcome, entry: dict) -> Iterable[list[str]]:
    """A line for each point and measure of an entry."""
    for row in outcome.rows:
        for name, measure in outcome.study.measures.items():
            if name not in entry or name not in row.measures or not row.matches(entry.get("where", {})):
                continue
            off = 100 * (row.measures[name] / entry[name] - 1) if entry[name] else 0.0
            why = "agrees" if abs(off) <= AGREES else ", ".join(entry.get("explained", [])) or "not explained"
            difference = signed(off)
            if not is_comparable(entry):
                difference, why = "not comparable", entry["reason"]
            texts = [
                entry.get("label") or measure_label(name, measure), f"{entry[name]:g} {measure.unit}".strip(),
                spelt(row.measures[name], measure.unit), difference, why, place(outcome.study, row.point),
                entry.get("source", ""),
            ]  # fmt: skip
            yield [html.escape(str(one)) for one in texts]
