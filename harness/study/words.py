"""How pages say values, places and measures: with units, true minus signs, labels and no identifiers."""

import math
from collections.abc import Iterable
from typing import Any

from harness.study.model import Row, Study
from harness.study.points import VARIANT, Point
from harness.study.study_file import Axis, Measure

MINUS = "\u2212"


def number(value: Any) -> str:
    """A value for people."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:.4g}"


def minus(text: str) -> str:
    """A number with the sign that is as wide as a plus."""
    return MINUS + text[1:] if text.startswith("-") else text


def spelt(value: Any, unit: str, error: float | None = None) -> str:
    """A value with its unit, as a text has it, and its error if there is one."""
    if error:
        return f"{with_error(value, error)} {unit}".strip()
    if unit == "%":
        return f"{minus(f'{value:.1f}')} %"
    return f"{minus(number(value))} {unit}".strip()


def with_error(value: float, error: float) -> str:
    """A value and its error, with two digits of the error, or as many as make five of the value."""
    places = 1 - math.floor(math.log10(error))
    most = 4 - math.floor(math.log10(abs(value))) if value else places
    places = max(0, min(places, most))
    return minus(f"{value:,.{places}f} ± {error:,.{places}f}")


def measured(row: Row, name: str) -> str:
    """A measure of a point, with its error if it has one; nothing where it was not measured."""
    return spelt(row.measures[name], "", row.errors.get(name)) if name in row.measures else ""


def signed(percent: float, error: float = 0.0) -> str:
    """A difference, never −0.0, and its error, unless that is 0."""
    if error:
        return ("+" if percent > 0 else "") + f"{with_error(percent, error)} %"
    return minus(f"{round(percent, 1) + 0:+.1f} %")


def changed(value: float, base: float, error: float = 0.0, base_error: float = 0.0) -> str:
    """How much a value differs from another one, with the error that follows from theirs, which are independent."""
    if not base:
        return ""
    return signed(100 * (value / base - 1), 100 * math.hypot(error / base, value * base_error / base**2))


def measure_label(name: str, measure: Measure) -> str:
    """What a measure is called, with its unit."""
    called = measure.label or name
    return called if measure.unit in ("", called) else f"{called}, {measure.unit}"


def axis_of(study: Study, name: str) -> Axis:
    """An axis by its name; the variants are one too."""
    found = (axis for axis in study.file.axis if axis.name == name)
    return next(found, Axis(name, [], label="" if name == VARIANT else name))


def axis_label(study: Study, name: str) -> str:
    """What an axis is called, with its unit."""
    axis = axis_of(study, name)
    return (axis.label or name) + (f", {axis.unit}" if axis.unit else "")


def place(study: Study, point: Point, keys: Iterable[str] | None = None) -> str:
    """A point for people, by all or some of its coordinates: its variant by its label, axes by theirs."""
    parts = []
    for key, value in point.coordinates.items():
        if keys is not None and key not in keys:
            continue
        if key == VARIANT:
            parts.append(point.label)
        else:
            axis = axis_of(study, key)
            parts.append(f"{axis.label or key} {value} {axis.unit}".strip())
    return ", ".join(part for part in parts if part) or point.label


def row_name(study: Study, row: Row) -> str:
    """What a point is called where people read it."""
    return place(study, row.point) or "the machine"
