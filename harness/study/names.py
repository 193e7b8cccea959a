"""Checks the names in a study before its first run: settings, measures, conditions, figures, published values.

What a machine knows comes from its netlist; a name that nobody knows is an error that says where it is.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from harness import quantity
from harness.run.compiler import CompilerError
from harness.study import conditions, expression, headline, intervals, machine, printed, relative, starts, windows
from harness.study.axis_values import axis_labels, scale_of
from harness.study.linux import guests, jobs
from harness.study.model import Study
from harness.study.points import VARIANT, Point, is_drawn
from harness.study.study_file import StudyError

PUBLISHED_KEYS = ("where", "label", "mark", "source", "explained", "comparable", "reason")


def check(study: Study) -> None:
    """Checks every name in the study and in its settings with the netlists of its machines."""
    file, where = study.file, str(study.path)
    understood = {name for use in study.uses.values() if use for name in use.axes()}
    understood |= {name for text in file.text.values() for name in re.findall(r"\{(\w+)\}", text)}
    for axis in file.axis:
        plain = [value for value in axis.values if not isinstance(value, dict)]
        if plain and not axis.setting and axis.name not in understood:
            _check_texts(study, [VARIANT, *(one.name for one in file.axis)])  # its name may be misspelt there
            raise StudyError(
                f"{where}: axis {axis.name!r}: it needs a setting, values with settings, or a `text` with its name"
            )
        if axis.best and axis.best not in study.measures:
            raise StudyError(f"{where}: axis {axis.name!r}: best: there is no measure {axis.best!r}")
    places = [VARIANT, *(axis.name for axis in file.axis)]
    variants = [variant.name for variant in file.variant]
    for name, measure in study.measures.items():
        if unknown := [one for one in measure.only if one not in variants]:
            raise StudyError(f"{where}: measure {name!r}: only: there is no variant {unknown[0]!r}")
        if name in (*places, "time"):
            raise StudyError(f"{where}: measure {name!r}: expressions know something else by this name")
    names = [*places, *study.measures, *(f"{one.name}.series" for one in file.interval)]
    for point in study.points:
        structure = study.structure(point)
        known = study.machines.get(structure)
        if structure in study.broken:
            # Another structure of the same machine shows what its parameters are called.
            known = next((one for (path, _), one in study.machines.items() if path == point.machine), None)
        if known and study.guest(point):
            guests.check(study, study.settings(point), known, origin(study, point, "guest"))
        if known and "job" in study.settings(point):
            jobs.check(study, study.settings(point), known, origin(study, point, "job"))
        for setting, value in study.settings(point).items() if known else ():
            machine.check_setting(setting, known, origin(study, point, setting))
            for name in value if isinstance(value, list) and known.type_of(setting) == "string" else ():
                machine.listed(name, setting, study.path, study.build)
    _check_measures(study, names)
    for one in {id(one): one for one in study.machines.values()}.values():
        intervals.check(study, one)
        for use in [*{id(use): use for use in study.uses.values() if use}.values(), *study.looks]:
            for text in use.texts():
                machine.check_expression(text, one, names, use.place)
        for text in file.check:
            machine.check_expression(text, one, names, f"{where}: check")
        for key, text in windows.conditions(file, list(study.uses.values())):
            conditions.check(text, one, f"{where}: {key}")
    _check_printed(study)
    starts.check(study)
    every = file.run.checkpoint_every
    if every:
        _check_distance(every, f"{where}: run: checkpoint_every")
    _check_texts(study, places)
    _check_shown(study, names)
    headline.check(study)


def _check_measures(study: Study, names: list[str]) -> None:
    """Each measure with the machines where it is measured, which may be those of some variants only."""
    singles = [one.name for one in study.file.point]
    for name, measure in study.measures.items():
        machines = {}
        for point in study.points:
            known = study.machines.get(study.structure(point))
            if known and measure.value and measure.applies(point.coordinates.get(VARIANT)):
                machines.setdefault(id(known), (known, point.coordinates.get(VARIANT)))
        for known, variant in machines.values():
            at = f": {'point' if variant in singles else 'variant'} {variant!r}" if variant else ""
            machine.check_expression(measure.value, known, names, f"{study.path}: measure {name!r}{at}")


def origin(study: Study, point: Point, setting: str) -> str:
    """Where a study says a setting of a point: file, line, and the axis or what else it is of."""
    file = study.file
    try:
        lines = study.path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    line = next((n for n, text in enumerate(lines, 1) if f'"{setting}"' in text or f"'{setting}'" in text), 0)
    where = f"{study.path}:{line}" if line else str(study.path)
    for axis in file.axis:
        tables = [value.get("settings", {}) for value in axis.values if isinstance(value, dict)]
        if axis.setting == setting or any(setting in table for table in tables):
            return f"{where}: axis {axis.name!r}"
    named = point.coordinates.get(VARIANT)
    kind = "variant" if any(one.name == named and setting in one.settings for one in file.variant) else "point"
    own = kind == "variant" or any(one.name == named and setting in one.settings for one in file.point)
    return f"{where}: {kind} {named!r}" if own else f"{where}: {'base' if setting in file.base else point.name}"


def check_broken(study: Study, points: Iterable[Point]) -> None:
    """Refuses settings that a machine cannot be built with at all, as the study has them: the compiler knows nothing of
    studies."""
    for point in points:
        said = study.broken.get(study.structure(point), "")
        with suppress(CompilerError):
            plain = machine.export(point.machine, (), study.build, study.include)
            for setting in study.settings(point):
                if setting.startswith("D."):
                    machine.check_setting(setting, plain, origin(study, point, setting))
        if found := re.match(r"-D (.+?):\d+:\d+: error\[[\w-]+\]: (.*)", said):
            setting = f"D.{found[1]}"
            value = machine.spelt(study.settings(point).get(setting, ""))
            raise StudyError(f"{origin(study, point, setting)}: setting {setting!r}: {value!r}: {found[2]}")


def _check_distance(text: str, where: str) -> None:
    """Cycles, or a time."""
    try:
        far = quantity.count(text)
    except quantity.NumberError:
        try:
            far = quantity.base(text, "time")
        except quantity.NumberError as error:
            raise StudyError(f"{where}: neither cycles nor a time: {error}") from None
    if far <= 0:
        raise StudyError(f"{where}: {text!r} is not more than 0")


def filled(text: str, coordinates: Mapping[str, Any]) -> str:
    """A text in which {AXIS} stands for the point's value."""
    return re.sub(r"\{(\w+)\}", lambda found: machine.spelt(coordinates.get(found[1], "")), text)


def _check_texts(study: Study, places: list[str]) -> None:
    for setting, text in study.file.text.items():
        where = f"{study.path}: text: {setting!r}"
        if unknown := [name for name in re.findall(r"\{(\w+)\}", text) if name not in places]:
            raise StudyError(f"{where}: {{{unknown[0]}}} is no axis; known are {', '.join(places)}")
        for one in study.machines.values():
            machine.check_setting(setting, one, where)
            if one.type_of(setting) != "string":
                raise StudyError(f"{where}: it names no file")


def _check_printed(study: Study) -> None:
    """The patterns of printed(), and which consoles print."""
    for use in study.looks:
        if any(list(expression.printed_calls(text)) for text in use.texts()):
            raise StudyError(f"{use.place}: printed() is for measures and checks, and not for a second look")
    for point in study.points:
        known = study.machines.get(study.structure(point))
        texts = [text for text in study.texts(point) if list(expression.printed_calls(text))]
        for text in texts if known else ():
            try:
                printed.check(text, known, {**study.settings(point), **study.file.text})
            except expression.ExpressionError as error:
                raise StudyError(f"{study.path}: {text!r}: {error}") from None


def _check_shown(study: Study, names: list[str]) -> None:
    file, where = study.file, str(study.path)
    axes = [VARIANT, *(axis.name for axis in file.axis)]
    for number, one in enumerate(file.figure, 1):
        over = axes if one.kind not in ("series", "stack") else [one.x]  # a label of the axis of time, or of bars
        drawn = [("y", name, list(study.measures)) for name in one.measures]
        drawn.append(("beside", one.beside, list(study.measures)))
        for point in study.points if one.skip else ():
            is_drawn(one, point, file, f"{where}: figure {number}")
        for key, value, known in ("x", one.x, over), ("series", one.series, axes), *drawn:
            if value and value not in known:
                raise StudyError(f"{where}: figure {number}: {key}: {value!r} is none of {', '.join(known)}")
        places = axis_labels(file, one.x)
        for mark in one.mark:
            if one.kind not in ("lines", "scaling") or mark.x not in places:
                what = f"mark {mark.label!r}: it is at no value of the axis of a figure of lines: {mark.x!r}"
                raise StudyError(f"{where}: figure {number}: {what}")
        across = map(scale_of(places).at, places)
        if one.log and not (places and all(isinstance(value, int | float) and value > 0 for value in across)):
            raise StudyError(f"{where}: figure {number}: log: the values of x are no numbers above 0")
        if one.log_y and (one.kind not in ("lines", "series") or one.relative_to is not None):
            begins = f"a figure of kind {one.kind!r} begins at 0"
            what = begins if one.relative_to is None else "a change is no such value"
            raise StudyError(f"{where}: figure {number}: log_y: {what}; it is for `lines` and `series`")
    for number, one in enumerate(file.table, 1):
        given = ("rows", one.rows, axes), ("columns", one.columns, axes), ("value", one.value, list(study.measures))
        for key, value, known in given:
            if value not in known:
                raise StudyError(f"{where}: table {number}: {key}: {value!r} is none of {', '.join(known)}")
    relative.check(study)
    for number, one in enumerate(file.published, 1):
        place = f"{where}: published {number}"
        for key, value in one.items():
            if key not in PUBLISHED_KEYS and key not in study.measures:
                raise StudyError(f"{place}: {key!r} is no measure; known are {', '.join(study.measures)}")
            if key in study.measures and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise StudyError(f"{place}: {key}: a number is expected")
        if not any(point.matches(one.get("where", {})) for point in study.points):
            raise StudyError(f"{place}: there is no point where {one.get('where', {})}")
