"""The study file: its keys, checked as it is read.  docs/studies.md explains them.

Unknown keys and wrong types are one line that names the file and the place.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import msgspec

MOST_CARDS = 4


class StudyError(Exception):
    """A study that cannot be used; the text is one line for the user."""


class Table(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """A table of the file: any key that is not named here is an error."""


class Variant(Table):
    """One of several machines or settings that are compared; the first is what others are compared with."""

    name: str
    label: str = ""
    settings: dict[str, Any] = {}
    machine: str | None = None
    job: str | None = None
    guest: str | None = None
    use: str | dict[str, Any] | None = None


class AxisValue(Table):
    """A value of an axis that sets several things."""

    label: str | int | float
    settings: dict[str, Any]


class Axis(Table):
    """What is varied, independently of all other axes."""

    name: str
    values: list[Any]
    setting: str | None = None
    best: str | None = None
    only: list[str] = []
    label: str = ""
    unit: str = ""


class Single(Table):
    """A point beside the grid."""

    name: str
    settings: dict[str, Any] = {}
    job: str | None = None
    guest: str | None = None


class Window(Table):
    """Between which two instants is measured."""

    begin: str | None = msgspec.field(default=None, name="from")
    to: str | None = None
    parts: int = 1
    every: str | None = None
    warm: str | None = None


class Interval(Table):
    """Times between two events, which repeat."""

    name: str
    begin: str = msgspec.field(name="from")
    to: str
    parts: list[str] = []


class Sample(Table):
    """When measures are taken on the way."""

    every: str
    measures: list[str]
    window: bool = False  # only within the window


class Measure(Table):
    """What is measured."""

    value: str
    unit: str = ""
    label: str = ""
    better: Literal["more", "less", ""] = ""  # which of two values is better; "": neither
    only: list[str] = []
    hidden: bool = False  # a step on the way to others, which tables leave out
    limit: float | str | None = None  # that it cannot pass: a number, or the measure that gives it

    def applies(self, variant: str | None) -> bool:
        """Whether points of a variant have this measure."""
        return not self.only or variant in self.only


class Card(Table):
    """One of the results that a page begins with: a value in `{…}`, and the condition under which it holds."""

    value: str
    text: str


class ShownMark(Table):
    """A point of others in a plot, of something else than what is measured here: for comparison by eye alone."""

    x: Any
    y: float
    label: str


class Figure(Table):
    """A plot."""

    y: str | list[str]
    x: str = ""
    kind: Literal["lines", "bars", "scaling", "series", "stack"] = "lines"
    series: str | None = None
    relative_to: str | None = None
    beside: str | None = None  # a measure that each line is compared with
    log: bool = False  # the axis
    log_y: bool = False  # the values
    mark: list[ShownMark] = []
    where: dict[str, Any] = {}
    skip: list[str] = []
    title: str = ""

    @property
    def measures(self) -> list[str]:
        """What is drawn: of a stack, several."""
        return [self.y] if isinstance(self.y, str) else self.y


class ShownTable(Table):
    """A table of the page: rows over columns."""

    rows: str
    columns: str
    value: str
    relative_to: str | None = None
    where: dict[str, Any] = {}
    title: str = ""


class Run(Table):
    """How runs are made."""

    timeout: float = 600.0
    retries: int = 0
    named_only: bool = False
    seeds: int = 1  # runs of each point, with the seeds 1, 2, …
    checkpoint_every: str | None = None


class Make(Table):
    """A run up to a condition, where others begin; `settings` are its own, where theirs differ."""

    until: str
    settings: dict[str, Any] = {}


class Start(Table):
    """Where runs begin: at a checkpoint, or where a run ends that points share as far as `once_per` is alike."""

    checkpoint: str | None = None
    make: Make | None = None
    once_per: list[str] = msgspec.field(default_factory=lambda: ["D.*"])


class StudyFile(Table):
    """The whole file."""

    title: str
    machine: str
    about: str = ""
    headline: str = ""
    card: list[Card] = []
    include: list[str] = []
    needs: dict[str, str] = {}
    base: dict[str, Any] = {}
    text: dict[str, str] = {}
    job: str | None = None
    guest: str | None = None
    variant: list[Variant] = []
    axis: list[Axis] = []
    point: list[Single] = []
    skip: list[str] = []
    start: Start | None = None
    window: Window = Window()
    interval: list[Interval] = []
    sample: Sample | None = None
    measure: dict[str, str | Measure] = {}
    check: list[str] = []
    figure: list[Figure] = []
    table: list[ShownTable] = []
    published: list[dict[str, Any]] = []
    examine: list[dict[str, Any]] | None = None
    run: Run = Run()
    use: str | dict[str, Any] | None = None


def _place(path: str, table: dict) -> str:
    """The place of a `$.variant[0].name` of msgspec, as the file spells it."""
    names, value = [], table
    for key, index in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", path):
        if key:
            names.append(key)
            value = value.get(key) if isinstance(value, dict) else None
        elif index.isdecimal():
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else None
            name = value.get("name") if isinstance(value, dict) else None
            names[-1] += f" {name!r}" if isinstance(name, str) else f" {int(index) + 1}"
    return ": ".join(names)


def _tables_of(kind: object) -> list[type[Table]]:
    """The tables that a value of a type may be, or a list or a dictionary of it has."""
    if isinstance(kind, type) and not get_args(kind):
        return [kind] if issubclass(kind, Table) else []
    return [table for part in get_args(kind) for table in _tables_of(part)]


def _keys_at(path: str) -> set[str]:
    """The keys of the table at a `$.variant[0]` of msgspec."""
    tables: list[type[Table]] = [StudyFile]
    for key in re.findall(r"\.(\w+)", path):
        kinds = [get_type_hints(table).get(key) for table in tables]
        tables = [table for kind in kinds for table in _tables_of(kind)]
    return {name for table in tables for name in table.__struct_encode_fields__}


def _message(error: msgspec.ValidationError, table: dict) -> str:
    """msgspec's message, with the place in the file and a suggestion."""
    text, _, path = str(error).partition(" - at `")
    place = _place(path.rstrip("`"), table)
    if found := re.search(r"unknown field `(.*)`", text):
        keys = sorted(_keys_at(path))
        close = difflib.get_close_matches(found[1], keys, 1)
        text = f"unknown key {found[1]!r}; " + (
            f"did you mean {close[0]!r}?" if close else f"known are {', '.join(keys)}"
        )
    elif found := re.search(r"missing required field `(.*)`", text):
        text = f"the key {found[1]!r} is missing"
    else:
        types = {"int": "a whole number", "float": "a number", "str": "a string", "array": "a list",
                 "object": "a table", "bool": "true or false"}  # fmt: skip
        text = re.sub(r"`([^`]*)`", lambda m: " or ".join(types.get(w.strip(), w) for w in m[1].split("|")), text)
        text = text[0].lower() + text[1:]
    return f"{place}: {text}" if place else text


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def _control_character(value: Any, place: str = "") -> str:
    """Where a text holds a character that no name, command line or message can have; a line may end in `about`."""
    match value:
        case dict():
            inner = [(one, f"{place}: {key}" if place else str(key)) for key, one in value.items() if key != "about"]
            return next((f"{place}: a key" for key in value if CONTROL.search(key)), "") or _first(inner)
        case list():
            return _first((one, f"{place} {number}") for number, one in enumerate(value, 1))
        case str() if CONTROL.search(value):
            return place
    return ""


def _first(inner: Iterable[tuple[Any, str]]) -> str:
    return next((found for one, place in inner if (found := _control_character(one, place))), "")


def _check_published(study: StudyFile, path: Path) -> None:
    """The keys of figures of others, but for the measures."""
    for number, entry in enumerate(study.published, 1):
        where = f"{path}: published {number}"
        if not isinstance(entry.get("where", {}), dict):
            raise StudyError(f"{where}: where: expected a table, axis = value")
        if not isinstance(entry.get("comparable", True), bool):
            raise StudyError(f"{where}: comparable: expected true or false")
        if is_comparable(entry) == bool(entry.get("reason")):
            need = "it needs a `reason`" if not is_comparable(entry) else "`reason` is for `comparable = false`"
            raise StudyError(f"{where}: comparable: {need}")


def is_comparable(entry: Mapping[str, Any]) -> bool:
    """Whether a published figure is of the same thing as the measure next to it."""
    return bool(entry.get("comparable", True))


class UnknownNameError(StudyError):
    """A name that nothing has; `near` are those that may have been meant."""

    def __init__(self, text: str, name: str, near: list[str]) -> None:
        super().__init__(text)
        self.name, self.near = name, near


def read(path: Path, text: str | None = None) -> StudyFile:
    """Reads a study file, or the text of one that would lie there."""
    try:
        table = tomllib.loads(path.read_text() if text is None else text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        cure = "; a text needs quotation marks" if why.startswith("Invalid value") else ""
        raise StudyError(f"{path}: {why}{cure}") from error
    for key in "figure", "table", "examine", "variant", "axis", "point", "published", "card", "interval":
        if isinstance(table.get(key), dict):  # one may be written without a list
            table[key] = [table[key]]
    for key in "skip", "check":
        if isinstance(table.get(key), str):
            table[key] = [table[key]]
    if place := _control_character(table):
        raise StudyError(f"{path}: {place}: a text holds a control character")
    try:
        study = msgspec.convert(table, StudyFile)
    except msgspec.ValidationError as error:
        raise StudyError(f"{path}: {_message(error, table)}") from error
    _check_published(study, path)
    if len(study.card) > MOST_CARDS:
        raise StudyError(f"{path}: card: {len(study.card)} cards (at most {MOST_CARDS}, the results that matter most)")
    for number, one in enumerate(study.figure, 1):
        if (one.kind == "stack") != isinstance(one.y, list) or not one.measures:
            first = one.measures[0] if one.measures else "MEASURE"
            what = f"several: y = ['{first}', ...]" if one.kind == "stack" else f"one measure: y = '{first}'"
            raise StudyError(f"{path}: figure {number}: y: a figure of kind {one.kind!r} draws {what}")
    if study.axis:
        over = study.axis[0].name
        drawn = [
            one if one.x or one.kind not in ("lines", "scaling") else msgspec.structs.replace(one, x=over)
            for one in study.figure
        ]
        study = msgspec.structs.replace(study, figure=drawn)
    if study.window.every or study.window.warm:
        raise StudyError(f"{path}: window: many windows in one run (every, warm) need sampling, which is not there yet")
    return study
