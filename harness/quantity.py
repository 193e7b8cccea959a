"""Reads numbers and quantities as compiler and simulators do (lss/runtime/text/number.h), from the same table of units.

Decimal, where a leading zero means nothing, hexadecimal `0x40`, binary `0b101`, underscores, `2.5` and `1e6`.  What is
none of these is a NumberError, whose text is one line that says what is wrong and what would be right.
"""

import argparse
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

OWN = Path(__file__).resolve().with_name("units.def")  # in a wheel, which has no source tree around it
TABLE = OWN if OWN.exists() else OWN.parents[1] / "lss/runtime/text/units.def"
DIMENSIONS = {"frequency": "DIM_FREQUENCY", "time": "DIM_TIME", "size": "DIM_SIZE", "rate": "DIM_RATE",
              "fraction": "DIM_FRACTION"}  # fmt: skip
NUMBER = (
    r"(?:0[xX]_*[0-9a-fA-F][0-9a-fA-F_]*|0[bB]_*[01][01_]*"
    r"|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?)"
)
PER = {"time": 10**15}  # module code has times in femtoseconds, and other quantities in their base unit
INTEGER_MOST, COUNT_MOST = 2**63 - 1, 2**64 - 1
MOST_DIGITS = 1000
_WHOLE = re.compile(rf"\s*(-?)({NUMBER})\s*")


class NumberError(ValueError):
    """What is no such number; the text is one line without its place."""


class Unit:
    """A unit: its name, its dimension, and what it is in base units (Hz, s, B, b/s, 1)."""

    def __init__(self, name: str, dimension: str, factor: Fraction) -> None:
        self.name = name
        self.dimension = dimension
        self.factor = factor


def _read_table() -> dict[str, Unit]:
    names = {name: dimension for dimension, name in DIMENSIONS.items()}
    rows = re.findall(r'^UNIT\("([^"]+)", (\w+), (\d+), (\d+), \w+\)$', TABLE.read_text(), re.MULTILINE)
    return {name: Unit(name, names[dimension], Fraction(int(num), int(den))) for name, dimension, num, den in rows}


UNITS: Mapping[str, Unit] = _read_table()
UNIT = "(?:" + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True)) + ")"
_WITH_UNIT = re.compile(rf"\s*({NUMBER})\s*({UNIT})\s*")
TIME = re.compile(rf"\s*{NUMBER}\s*(?:{'|'.join(n for n, unit in UNITS.items() if unit.dimension == 'time')})\s*")


def units(dimension: str) -> str:
    """The units of a dimension, for messages."""
    return ", ".join(name for name, unit in UNITS.items() if unit.dimension == dimension and name[0].isalpha())


def _right(dimension: str) -> str:
    names = units(dimension)
    return f"a {dimension} is a number and {'one of ' if ',' in names else ''}{names}"


def exact(text: str) -> Fraction:
    """The value of a NUMBER."""
    if len(text) > MOST_DIGITS:
        raise NumberError(f'"{text[:20]}…" has too many digits')
    digits = text.replace("_", "").lower()
    if digits[:2] in ("0x", "0b"):
        return Fraction(int(digits[2:], 16 if digits[1] == "x" else 2))
    head, _, exponent = digits.partition("e")
    if exponent and abs(int(exponent)) > 400:  # as Fraction would take gigabytes; no number below needs it
        return Fraction(head) * Fraction(10) ** (400 if int(exponent) > 0 else -400)
    return Fraction(head) * Fraction(10) ** int(exponent or 0)


def _whole(text: str) -> tuple[bool, str, int]:
    """Sign, digits and magnitude of a whole number of 64 bits."""
    if not (found := _WHOLE.fullmatch(text)):
        raise NumberError(f'"{text}" is not a whole number')
    value = exact(found[2])
    if value.denominator != 1:
        raise NumberError(f'"{text}" is not a whole number')
    if value > COUNT_MOST:
        raise NumberError(f'"{text}" does not fit in 64 bits')
    return bool(found[1]), found[2], int(value)


def integer(text: str) -> int:
    """A signed number of 64 bits; hexadecimal and binary ones are bit patterns: 0xffffffffffffffff is -1."""
    negative, digits, value = _whole(text)
    if digits[:2].lower() in ("0x", "0b") and not negative and value > INTEGER_MOST:
        return value - 2**64
    if value > INTEGER_MOST + negative:
        raise NumberError(f'"{text}" does not fit in 64 bits')
    return -value if negative else value


def count(text: str, least: int = 0, most: int = COUNT_MOST) -> int:
    """A number in this range."""
    negative, _, value = _whole(text)
    if not negative and least <= value <= most:
        return value
    if most < COUNT_MOST:
        raise NumberError(f'"{text}" is not in the range {least} to {most}')
    raise NumberError(f'"{text}" is less than {least}' if least else f'"{text}" is negative')


def real(text: str) -> float:
    """A floating-point number."""
    if not (found := _WHOLE.fullmatch(text)):
        raise NumberError(f'"{text}" is not a number')
    try:
        value = float(exact(found[2]))
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        raise NumberError(f'"{text}" is too large for a floating-point number')
    return -value if found[1] else value


def quantity(text: str, dimension: str) -> Fraction:
    """A quantity in base units: Hz, s, B, b/s, 1."""
    right = _right(dimension)
    if not (found := re.fullmatch(rf"\s*(-?)({NUMBER})\s*(.*?)\s*", text)):
        raise NumberError(f'"{text}" does not begin with a number; {right}')
    sign, digits, name = found.groups()
    if not name:
        raise NumberError(f'"{text}" lacks its unit; {right}')
    if name not in UNITS:
        raise NumberError(f'"{text}" has an unknown unit; {right}')
    if UNITS[name].dimension != dimension:
        raise NumberError(f'"{text}" is a {UNITS[name].dimension}; {right}')
    value = exact(digits) * UNITS[name].factor
    return -value if sign else value


def with_unit(text: str) -> tuple[Fraction, Unit] | None:
    """A NUMBER with any unit: the value in base units, and the unit; None for any other text."""
    if not (found := _WITH_UNIT.fullmatch(text)):
        return None
    unit = UNITS[found[2]]
    return exact(found[1]) * unit.factor, unit


def spelt(value: Fraction, dimension: str) -> str:
    """A quantity in the largest decimal unit of which it is 1 or more: 88 MHz."""
    decimal = [one for one in UNITS.values() if one.dimension == dimension and re.fullmatch(r"[^i]*", one.name)]
    fitting = [one for one in decimal if value >= one.factor]
    unit = max(fitting, key=lambda one: one.factor) if fitting else min(decimal, key=lambda one: one.factor)
    return f"{float(value / unit.factor):g} {unit.name}"


def base(text: str, dimension: str) -> int:
    """The same as module code has it: a whole number of Hz, fs, B or b/s."""
    value = quantity(text, dimension) * PER.get(dimension, 1)
    if value.denominator != 1:
        raise NumberError(f'"{text}" is finer than the base unit; {_right(dimension)}')
    if abs(value) > INTEGER_MOST:
        raise NumberError(f'"{text}" is too large; {_right(dimension)}')
    return int(value)


def option(least: int, most: int = COUNT_MOST) -> Callable[[str], int]:
    """What reads a number in this range from a command line."""

    def read(text: str) -> int:
        try:
            return count(text, least, most)
        except NumberError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read
