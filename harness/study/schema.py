"""Reads a TOML table as a dataclass: unknown and missing keys and wrong types are one line that names the place.

The fields are the schema: a field without a default must be given; nested dataclasses are tables, tuples of them arrays
of tables.
"""

import difflib
import tomllib
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

WORDS = {
    str: "a string",
    Path: "a path",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
}
T = TypeVar("T")


class SchemaError(Exception):
    """A table that cannot be used; the text is one line for the user."""


def _place(where: str, key: str, index: int, item: Any) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return f"{where}: {key} {name!r}" if isinstance(name, str) else f"{where}: {key} {index}"


def _value(kind: Any, value: Any, where: str, key: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value not in inner:
            raise SchemaError(f"{where}: {key!r} is {value!r}; it may be {', '.join(map(repr, inner))}")
        return value
    if isinstance(kind, types.UnionType):  # X | None: a key that may be left out
        return _value(inner[0], value, where, key)
    if origin is tuple:
        if not isinstance(value, list):
            raise SchemaError(f"{where}: {key!r} has the wrong type: it is a list")
        return tuple(_value(inner[0], item, _place(where, key, n, item), key) for n, item in enumerate(value, 1))
    if is_dataclass(kind):
        return read(kind, value, where)
    if origin is dict:
        if not isinstance(value, dict):
            raise SchemaError(f"{where}: {key!r} has the wrong type: it is a table")
        return {name: _value(inner[1], item, where, f"{key}.{name}") for name, item in value.items()}
    if kind is Any:
        return value
    if kind is Path and isinstance(value, str):  # resolve() makes it one of the file that it stands in
        return Path(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise SchemaError(f"{where}: {key!r} has the wrong type: it is {WORDS[kind]}")
    return value


def _needed(field: Field) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def read(kind: type[T], table: Any, where: str, /, **given: Any) -> T:
    """The table as a `kind`; `where` begins every complaint.  What is `given` here is no key of the table."""
    if not isinstance(table, dict):
        raise SchemaError(f"{where}: a table is expected here")
    hints, known = get_type_hints(kind), {field.name: field for field in fields(kind) if field.name not in given}
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"
            raise SchemaError(f"{where}: unknown key {key!r}; {hint}")
    for name, field in known.items():
        if _needed(field) and name not in table:
            raise SchemaError(f"{where}: the key {name!r} is missing")
    return kind(**{key: _value(hints[key], value, where, key) for key, value in table.items()}, **given)


def resolve(text: Path | str, file: Path, build: Path) -> Path:
    """A path of a file: relative to it, or to the build directory where it begins with "build/"."""
    path = Path(text)
    return build / Path(*path.parts[1:]) if path.parts[:1] == ("build",) else file.parent / path


def load(kind: type[T], path: Path, /, **given: Any) -> T:
    """A whole TOML file as a `kind`."""
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SchemaError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    return read(kind, table, str(path), **given)
