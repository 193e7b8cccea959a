"""Statistics of a run as simulators write them: read with numbers as they stand, and written to the same bytes."""

import json
from collections.abc import Iterator
from pathlib import Path

INLINE = ("values", "derived", "connections")  # members of a snapshot that are one line


class Written(float):
    """A number with a fraction, which is written as it was read."""

    text: str

    def __new__(cls, text: str) -> "Written":
        number = super().__new__(cls, text)
        number.text = text
        return number


def read(file: Path) -> dict:
    """A document that a simulator has written."""
    return json.loads(file.read_bytes(), parse_float=Written)


def _scalar(value: object) -> str:
    return value.text if isinstance(value, Written) else json.dumps(value, ensure_ascii=False)


def _line(value: object) -> str:
    """A value in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_line(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_line, value)) + "]"
    return _scalar(value)


def _rows(value: object) -> bool:
    return isinstance(value, list) and not any(isinstance(element, dict) for element in value)


def _block(value: object, depth: int) -> Iterator[str]:
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        yield "{\n"
        for number, (key, member) in enumerate(value.items()):
            yield f"{',' if number else ''}{chr(10) if number else ''}{inner}{_scalar(key)}: "
            if key in INLINE and _rows(member):
                yield _line(member)
            elif key == "samples":
                yield from _samples(member, depth + 1)
            else:
                yield from _block(member, depth + 1)
        yield f"\n{outer}}}"
    elif isinstance(value, list) and value:
        yield "[\n"
        for number, element in enumerate(value):
            yield f"{',' if number else ''}{chr(10) if number else ''}{inner}"
            yield from _block(element, depth + 1)
        yield f"\n{outer}]"
    else:
        yield _line(value)


def _samples(samples: list, depth: int) -> Iterator[str]:
    """A line for each."""
    inner = "  " * (depth + 1)
    yield "["
    for number, sample in enumerate(samples):
        yield f"{',' if number else ''}\n{inner}{_line(sample)}"
    yield f"\n{'  ' * depth}]" if samples else "]"


def text(document: dict) -> str:
    """As simulators write it."""
    return "".join(_block(document, 0)) + "\n"
