"""Writes the tables of a study as TOML, which Python itself only reads."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def text(table: Mapping[str, Any]) -> str:
    """A file with one line for each key; what is empty is left out."""
    return "".join(f"{_key(key)} = {value(one)}\n" for key, one in table.items() if one not in ("", [], {}, None))


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _string(name)


def _string(one: str) -> str:
    return json.dumps(one, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(one: Any) -> str:
    """A value in one line; numbers of numpy are the numbers that they stand for."""
    if hasattr(one, "item") and not isinstance(one, str | Mapping):
        one = one.item()
    match one:
        case bool():
            return str(one).lower()
        case float() if not math.isfinite(one):
            return "nan" if math.isnan(one) else f"{'-' * (one < 0)}inf"
        case int() | float():
            return repr(one)
        case str():
            return _string(one)
        case Mapping():
            return "{ " + ", ".join(f"{_key(str(key))} = {value(inner)}" for key, inner in one.items()) + " }"
        case Sequence():
            return "[" + ", ".join(value(inner) for inner in one) + "]"
    return _string(str(one))  # a path
