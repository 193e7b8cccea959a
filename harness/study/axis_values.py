"""The values of axes: numbers, texts, and quantities, which are texts with a unit (`4 KiB`).

Expressions and figures have a quantity as a number; everywhere else it is the text of the study.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from harness import quantity
from harness.study.study_file import StudyFile


def axis_labels(file: StudyFile, name: str) -> list[Any]:
    """The values of an axis, as points have them: of those that set several things, the labels."""
    values = [value for axis in file.axis if axis.name == name for value in axis.values]
    return [value["label"] if isinstance(value, dict) else value for value in values]


def in_expressions(value: Any) -> Any:
    """A value as expressions have it: a quantity is a number of s, Hz, B or b/s, or a fraction."""
    found = quantity.with_unit(value) if isinstance(value, str) else None
    return float(found[0]) if found else value


@dataclass(frozen=True)
class Scale:
    """How a figure shows the values of an axis along it."""

    unit: str = ""
    factor: Fraction = Fraction(1)

    def at(self, value: Any) -> Any:
        """Where a value is: a quantity is a number of the unit; anything else stays as it is."""
        number = in_expressions(value)
        return float(Fraction(number) / self.factor) if self.unit and number is not value else value

    def label(self, text: str) -> str:
        """What the axis is called."""
        return f"{text}, {self.unit}" if self.unit else text


def scale_of(values: Iterable[Any], log: bool = False) -> Scale:
    """The scale of an axis: the smallest unit of its values, if all are quantities of one dimension.  Powers of two of
    sizes are counted in bytes."""
    found = [quantity.with_unit(value) if isinstance(value, str) else None for value in values]
    units = [one[1] for one in found if one]
    if not units or None in found or len({unit.dimension for unit in units}) > 1:
        return Scale()
    binary = log and units[0].dimension == "size"
    unit = quantity.UNITS["B"] if binary else min(units, key=lambda unit: unit.factor)
    return Scale(unit.name, unit.factor)
