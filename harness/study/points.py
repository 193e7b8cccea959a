"""The points of a study: variants times axes, what is skipped of them, and single points; each with all its settings.

Names are text here and nowhere a path.  Their errors are reported before anything is built.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from harness.study import expression
from harness.study.axis_values import in_expressions
from harness.study.study_file import AxisValue, Figure, Single, StudyError, StudyFile, Variant

VARIANT = "variant"  # the coordinate that every point has


@dataclass(frozen=True)
class Point:
    """One simulation of a study: its coordinates, and everything that is set there."""

    number: int  # in the order of the study
    coordinates: Mapping[str, Any] = field(hash=False)
    settings: Mapping[str, Any] = field(hash=False)
    machine: Path
    use: str | dict | None = field(default=None, hash=False)
    label: str = ""  # of the variant
    seed: int = 0  # of several, whose runs are one point; 0: there is one

    @property
    def name(self) -> str:
        """What progress and failures call it."""
        parts = [f"{axis} {value}" if axis != VARIANT else str(value) for axis, value in self.coordinates.items()]
        whole = ", ".join(part for part in parts if part) or "the only point"
        return f"{whole}, seed {self.seed}" if self.seed else whole

    def matches(self, where: Mapping[str, Any]) -> bool:
        """Whether the point has these coordinates; a list means any of its values."""
        own = {VARIANT: "", **self.coordinates}
        return all(
            key in own and (own[key] in value if isinstance(value, list) else own[key] == value)
            for key, value in where.items()
        )


def _twice(names: list, where: str, what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise StudyError(f"{where}: two {what} are called {name!r}")


def _axis_values(study: StudyFile, where: str) -> dict[str, list[tuple[Any, dict[str, Any]]]]:
    """Label and settings of each value of each axis; an axis without `setting` is for a plug-in."""
    axes = {}
    for axis in study.axis:
        place = f"{where}: axis {axis.name!r}"
        values = []
        for value in axis.values:
            if isinstance(value, dict):
                try:
                    both = msgspec.convert(value, AxisValue)
                except msgspec.ValidationError as error:
                    raise StudyError(f"{place}: a value that is a table has a label and settings: {error}") from error
                values.append((both.label, both.settings))
            else:
                values.append((value, {axis.setting: value} if axis.setting else {}))
        if not values:
            raise StudyError(f"{place}: it has no values")
        _twice([label for label, _ in values], place, "values")
        axes[axis.name] = values
    return axes


def _variants(study: StudyFile, where: str) -> list[Variant]:
    _twice([variant.name for variant in study.variant], where, "variants")
    _twice([axis.name for axis in study.axis], where, "axes")
    _twice([single.name for single in study.point], where, "points")
    names = [variant.name for variant in study.variant]
    for axis in study.axis:
        taken = ("time", VARIANT, *expression.LISTS, *expression.QUERIES, expression.PRINTED)
        if not axis.name.isidentifier() or axis.name in taken:
            raise StudyError(f"{where}: axis {axis.name!r}: expressions use its name, so it must be an identifier")
        for name in axis.only:
            if name not in names:
                raise StudyError(f"{where}: axis {axis.name!r}: only: there is no variant {name!r}")
    return study.variant or [Variant(name="")]


class _Place:
    """The coordinates of a point, for expressions."""

    def __init__(self, coordinates: Mapping[str, Any]) -> None:
        self.coordinates = coordinates

    def name(self, name: str) -> Any:
        if name not in self.coordinates:
            raise expression.NoValue(f"there is no {name} at this point")
        return in_expressions(self.coordinates[name])

    def __getattr__(self, query: str) -> Any:
        raise expression.ExpressionError("this is an expression over axes only")


def holds(text: str, study: StudyFile, coordinates: Mapping[str, Any], where: str) -> bool:
    """Whether an expression over axes is true at a place; of an axis that the place does not have, nothing is."""
    known = [VARIANT, *(axis.name for axis in study.axis)]
    try:
        for kind, name in expression.mentions(text):
            if kind != "name" or name not in known:
                raise StudyError(f"{where} {text!r}: {name!r} is no axis; known are {', '.join(known)}")
        return bool(expression.evaluate(text, _Place(coordinates)))
    except expression.NoValue:
        return False
    except expression.ExpressionError as error:
        raise StudyError(f"{where}: {error}") from error


def _skipped(study: StudyFile, coordinates: Mapping[str, Any], where: str) -> bool:
    return any(holds(text, study, coordinates, f"{where}: skip") for text in study.skip)


def is_drawn(figure: Figure, point: Point, study: StudyFile, where: str) -> bool:
    """Whether a point is one of a figure."""
    return point.matches(figure.where) and not any(
        holds(text, study, {VARIANT: "", **point.coordinates}, f"{where}: skip") for text in figure.skip
    )


def _own(one: StudyFile | Variant | Single, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the job and the guest that are named next to them."""
    named = {"job": one.job, "guest": one.guest}
    return dict(settings) | {name: folder for name, folder in named.items() if folder is not None}


def points(study: StudyFile, path: Path) -> Iterator[Point]:
    """All points, each with its seeds if it has several."""
    count = study.run.seeds
    if count <= 1:
        yield from _points(study, path)
        return
    for number, point in enumerate(_points(study, path)):
        for seed in range(1, count + 1):
            settings = {**point.settings, "seed": seed}
            yield replace(point, number=number * count + seed - 1, settings=settings, seed=seed)


def _points(study: StudyFile, path: Path) -> Iterator[Point]:
    """All points in the order of the file: variants, then axes, the last one fastest; then single points."""
    where, axes, number = str(path), _axis_values(study, str(path)), 0
    for variant in _variants(study, where):
        own = {axis.name: axes[axis.name] for axis in study.axis if not axis.only or variant.name in axis.only}
        machine = path.parent / (variant.machine or study.machine)
        use = study.use if variant.use is None else variant.use
        for choice in product(*own.values()):
            coordinates: dict[str, Any] = {VARIANT: variant.name} if study.variant else {}
            coordinates |= {axis: label for axis, (label, _) in zip(own, choice, strict=True)}
            if _skipped(study, {VARIANT: variant.name, **coordinates}, where):
                continue
            settings = _own(study, study.base) | _own(variant, variant.settings)
            for _, more in choice:
                settings |= more
            yield Point(number, coordinates, settings, machine, use, variant.label or variant.name)
            number += 1
    for single in study.point:
        settings = _own(study, study.base) | _own(single, single.settings)
        yield Point(number, {VARIANT: single.name}, settings, path.parent / study.machine, study.use, single.name)
        number += 1
