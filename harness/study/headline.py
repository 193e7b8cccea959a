"""Results within a text: `{MEASURE where CONDITION}` in the headline of a study and on its cards.

What is in the braces is checked before the first run, so a headline cannot fail after it.  Conditions are expressions
over axes, as those of `skip`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.study.axis_values import in_expressions
from harness.study.model import OK, Outcome, Row, Study
from harness.study.points import Point, holds
from harness.study.statistics import curves
from harness.study.study_file import StudyError, is_comparable
from harness.study.words import changed, spelt

NOT_RUN = "(not run)"
RESULT = re.compile(r"\{([^{}]*)\}")
FORM = re.compile(
    r"\s*(?:(?P<how>\w+)\s+)?(?P<measure>\w+)(?:\s+with\s+(?P<other>\w+))?"
    r"(?:\s+where\s+(?P<where>.+?))?(?:\s+from\s+(?P<base>.+?))?\s*",
    re.DOTALL,
)
HOW = "least, most, sum, published, off, change, crossing or rank"


@dataclass(frozen=True)
class Result:
    """One result that a text asks for."""

    how: str  # "": the value of one point
    measure: str
    where: str
    base: str  # of a change or a crossing: the condition of the point, or the points, that it is from
    other: str = ""  # the measure that a rank correlation is with

    def chosen(self, study: Study, points: Iterable[Point], condition: str, place: str) -> list[Point]:
        """The points that the result is of."""
        text = condition or "1 == 1"
        return [one for one in points if holds(text, study.file, {"variant": "", **one.coordinates}, place)]


def _parse(study: Study, text: str, place: str) -> Result:
    place = f"{place}: {{{text}}}"
    found = FORM.fullmatch(text)
    if not found or (found["how"] or "least") not in (*MANY, *ONE, RANK):
        raise StudyError(f"{place}: write {{MEASURE where CONDITION}}, or {HOW} before the measure")
    words = (found[name] or "" for name in ("how", "measure", "where", "base", "other"))
    result = Result(*words)
    for name in filter(None, (result.measure, result.other)):
        if name not in study.measures:
            raise StudyError(f"{place}: there is no measure {name!r}; known are {', '.join(study.measures)}")
    if (result.how == RANK) != bool(result.other):
        raise StudyError(f"{place}: a rank, and nothing else, is with another measure: rank MEASURE with MEASURE")
    if (result.how in FROM) != bool(result.base):
        which = "a change or a crossing, and nothing else, is from other points"
        raise StudyError(f"{place}: {which}: change MEASURE where … from …")
    return result


def check(study: Study) -> None:
    """Refuses what a headline or a card cannot show.  A page with a headline is for readers who do not know the study's
    identifiers, so it shows none."""
    file = study.file
    if file.headline:
        _check_labels(study)
    texts = [("headline", file.headline)]
    texts += [(f"card {number}", f"{one.value} {one.text}") for number, one in enumerate(file.card, 1)]
    for key, text in texts:
        check_text(study, text, f"{study.path}: {key}")


def check_text(study: Study, text: str, place: str) -> None:
    """Refuses a text with results that cannot be."""
    free = {axis.name for axis in study.file.axis if axis.best}
    for found in RESULT.finditer(text):
        result = _parse(study, found[1], place)
        if result.how == "crossing":
            _crossed(study, result, f"{place}: {{{found[1]}}}")
            continue
        for condition in (result.where, result.base)[: 2 if result.base else 1]:
            points = result.chosen(study, study.points, condition, place)
            places = {tuple((k, str(v)) for k, v in one.coordinates.items() if k not in free) for one in points}
            if not places or (len(places) > 1 and result.how not in (*MANY, RANK)):
                which = "no point is" if not places else f"{len(places)} points are"
                raise StudyError(f"{place}: {{{found[1]}}}: {which} there (name one point, or {', '.join(MANY)})")
            if len(places) < 2 and result.how == RANK:
                raise StudyError(f"{place}: {{{found[1]}}}: one point has no order")
        if result.how in ("published", "off") and not _entries(study, result, study.points, place):
            raise StudyError(f"{place}: {{{found[1]}}}: nothing comparable was published for that point")


def _crossed(study: Study, result: Result, place: str) -> str:
    """The axis along which two curves may cross."""
    first, second = (result.chosen(study, study.points, one, place) for one in (result.where, result.base))
    return curves.axis_of(study.file, first, second, place)


def _check_labels(study: Study) -> None:
    shown = [("measure", name, one.label) for name, one in study.measures.items() if not one.hidden]
    shown += [("axis", axis.name, axis.label) for axis in study.file.axis]
    for kind, name, label in shown:
        if not label:
            where = f"{study.path}: {kind} {name!r}"
            raise StudyError(f"{where}: no label, where a headline is for all readers (label = \"…\", unit = \"…\")")
    for number, one in enumerate(study.file.published, 1):
        if not one.get("label"):
            raise StudyError(f"{study.path}: published {number}: no label (what was published, in words)")


def _entries(study: Study, result: Result, points: Sequence[Point], place: str) -> list[float]:
    chosen = result.chosen(study, points, result.where, place)
    return [
        entry[result.measure] for entry in study.file.published
        if result.measure in entry and is_comparable(entry)
        and any(one.matches(entry.get("where", {})) for one in chosen)
    ]  # fmt: skip


MANY: dict[str, Callable[[Sequence[float]], float]] = {"least": min, "most": max, "sum": sum}
FROM = ("change", "crossing")
ONE = ("published", "off", *FROM)
RANK = "rank"


def fill(outcome: Outcome, text: str, shown: Callable[[str], Any] = str) -> str:
    """A text with its results, each as `shown` has it."""
    study = outcome.study

    def one(found: re.Match[str]) -> str:
        return str(shown(_value(outcome, _parse(study, found[1], str(study.path)))))

    return RESULT.sub(one, " ".join(text.split()))


def _rows(outcome: Outcome, result: Result, condition: str) -> list[Row]:
    chosen = {id(one) for one in result.chosen(outcome.study, outcome.study.points, condition, "")}
    known = [row for row in outcome.rows if row.status == OK and result.measure in row.measures]
    return [row for row in known if id(row.point) in chosen]


def _measured(row: Row, result: Result) -> tuple[float, float]:
    """The value of a measure, and its error: 0 where none is known."""
    return row.measures[result.measure], row.errors.get(result.measure) or 0.0


def _value(outcome: Outcome, result: Result) -> str:
    rows, study = _rows(outcome, result, result.where), outcome.study
    unit = study.measures[result.measure].unit
    if not rows:
        return NOT_RUN
    if result.how == RANK:
        ranked = curves.rank_correlation(rows, result.measure, result.other)
        return NOT_RUN if ranked is None else f"{ranked:.2f}"
    if result.how in MANY:
        return spelt(MANY[result.how]([row.measures[result.measure] for row in rows]), unit)
    if result.how == "crossing":
        axis, base = _crossed(study, result, ""), _rows(outcome, result, result.base)
        both = [{in_expressions(row.point.coordinates[axis]): _measured(row, result)[0] for row in some}
                for some in (rows, base)]  # fmt: skip
        return curves.spelt(*both, study.file, axis) if base else NOT_RUN
    value, error = _measured(rows[0], result)
    if result.how in ("published", "off"):
        [published, *_] = _entries(study, result, [rows[0].point], "")
        return f"{published:g} {unit}".strip() if result.how == "published" else changed(value, published, error)
    if result.how == "change":
        base = _rows(outcome, result, result.base)
        if not base:
            return NOT_RUN
        other, other_error = _measured(base[0], result)
        return changed(value, other, error, other_error)
    return spelt(value, unit, error)
