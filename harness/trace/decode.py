"""JSON that simulators and the compiler write, as structures.

A byte of a name that is of no character is a surrogate there (surrogateescape), which msgspec refuses: such a text goes
the slower way through Python's own reader.
"""

import json
from typing import TypeVar

import msgspec

Structure = TypeVar("Structure")


def decode(content: bytes, decoder: "msgspec.json.Decoder[Structure]") -> Structure:
    """What the text holds; what is wrong with it is a msgspec.DecodeError."""
    try:
        return decoder.decode(content)
    except msgspec.DecodeError:
        if b"\\udc" not in content:
            raise
    try:
        return msgspec.convert(json.loads(content), decoder.type)
    except ValueError as error:
        raise msgspec.DecodeError(str(error)) from error
