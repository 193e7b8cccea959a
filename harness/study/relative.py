"""What the points of a figure or a table are compared with: those at the `relative_to` of one axis, or of the variants.

A point is compared with the one there that agrees with it in all other axes that both have.  So a variant without some
axis is what all values of that axis are compared with.
"""

import re
from collections.abc import Iterable, Sequence

from harness.study.machine import suggest
from harness.study.model import Row, Study
from harness.study.points import VARIANT, Point, is_drawn
from harness.study.study_file import Figure, ShownTable, StudyError


def axes_of(shape: Figure | ShownTable) -> list[str]:
    """The axes of which `relative_to` may be a value; the first that has it counts."""
    if isinstance(shape, Figure):
        return [shape.series or VARIANT]
    return list(dict.fromkeys([shape.rows, shape.columns, VARIANT]))


def _values(points: Iterable[Point], axis: str) -> list[str]:
    found = (point.coordinates[axis] for point in points if axis in point.coordinates)
    return list(dict.fromkeys(map(str, found)))


def _axis(study: Study, shape: Figure | ShownTable) -> str | None:
    return next((axis for axis in axes_of(shape) if shape.relative_to in _values(study.points, axis)), None)


def _bases(study: Study, shape: Figure | ShownTable, point: Point) -> list[Point]:
    """The points that one is compared with: there should be one.  If those that are shown have one, others do not
    count."""
    key = _axis(study, shape)
    free = {key, *(axis.name for axis in study.file.axis if axis.best)}

    def agrees(other: Point) -> bool:
        shared = (point.coordinates.keys() & other.coordinates.keys()) - free
        return all(point.coordinates[axis] == other.coordinates[axis] for axis in shared)

    found = [one for one in study.points if str(one.coordinates.get(key)) == shape.relative_to and agrees(one)]
    return [one for one in found if one.matches(shape.where)] or found


def base(study: Study, shape: Figure | ShownTable, row: Row, rows: Sequence[Row], name: str) -> Row | None:
    """The one of these rows that a row is compared with; None if it is not there, or has no such measure."""
    numbers = {one.number for one in _bases(study, shape, row.point)}
    found = [one for one in rows if one.point.number in numbers and name in one.measures]
    return found[0] if len(found) == 1 else None


def check(study: Study) -> None:
    """Refuses a `relative_to` that is no value, or with which nothing can be compared."""
    shapes = [("figure", number, one) for number, one in enumerate(study.file.figure, 1)]
    shapes += [("table", number, one) for number, one in enumerate(study.file.table, 1)]
    for kind, number, shape in shapes:
        if shape.relative_to is None:
            continue
        place = f"{study.path}{_line(study, shape.relative_to)}: {kind} {number}: relative_to"
        if kind == "figure" and shape.kind in ("series", "stack"):
            raise StudyError(f"{place}: a figure of kind {shape.kind!r} shows no changes; use bars, lines or scaling")
        if _axis(study, shape) is None:
            among = {axis: _values(study.points, axis) for axis in axes_of(shape)}
            named = [axis for axis, values in among.items() if values] or [VARIANT]
            what = f"{shape.relative_to!r} is no value of {' or '.join(named)}"
            if named == [VARIANT]:
                what = f"there is no variant {shape.relative_to!r}"
            known = [value for values in among.values() for value in values]
            raise StudyError(f"{place}: {what}; {suggest(shape.relative_to, known)}")
        _check_points(study, shape, place)


def _check_points(study: Study, shape: Figure | ShownTable, place: str) -> None:
    key = _axis(study, shape)
    fixed = {axis.name for axis in study.file.axis if axis.best}
    what = ""
    for point in study.points:
        drawn = is_drawn(shape, point, study.file, place) if isinstance(shape, Figure) else point.matches(shape.where)
        if not drawn or str(point.coordinates.get(key)) == shape.relative_to:
            continue
        found = _bases(study, shape, point)
        if len({str({k: v for k, v in one.coordinates.items() if k not in fixed}) for one in found}) == 1:
            return
        if found:
            what = f"{point.name!r} could be compared with {len(found)} points, such as {found[0].name!r}"
    if what:
        raise StudyError(f"{place}: {what} (choose one with `where`)")


def _line(study: Study, value: str) -> str:
    """The line of the file that has this value, after a colon."""
    form = re.compile(rf"relative_to\s*=\s*(['\"]){re.escape(value)}\1")
    try:
        lines = study.path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    return next((f":{number}" for number, text in enumerate(lines, 1) if form.search(text)), "")
