"""The parameters of a machine as expressions ask for them with `param("PATH.NAME")`.

Types come from `lss export`, and with them the unit: quantities are numbers of s, Hz, B, b/s, or a fraction, both where
the parameter is a constant of the structure and where it is set when a run starts.  A run's manifest has the latter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness import quantity
from harness.study.expression import ExpressionError, NoValue


@dataclass(frozen=True)
class Parameter:
    """A parameter as the netlist declares it."""

    type: str
    runtime: bool
    set_as: str  # the run-time parameter that it is set through, perhaps of the machine
    value: Any  # of the netlist: times in fs


def of_netlist(netlist: Mapping[str, Any]) -> dict[str, Parameter]:
    """All parameters by PATH.NAME; those of the machine itself have no path."""
    return {
        name: Parameter(one["type"], one["runtime"], (one.get("alias_of") or name).lstrip("."), one["value"])
        for instance in netlist["instances"] for one in instance.get("parameters", [])
        for name in [f"{instance['path']}.{one['name']}".lstrip(".")]
    }  # fmt: skip


def value(path: str, known: Mapping[str, Parameter], manifest: Mapping[str, Any]) -> Any:
    """What a parameter was in a run: a number, a truth or a text."""
    if path not in known:
        raise NoValue(f"there is no parameter {path}")
    one = known[path]
    if one.runtime:
        for _ in range(len(known)):  # through the instances around it
            if one.set_as == path or one.set_as not in known:
                break
            path, one = one.set_as, known[one.set_as]
        given = manifest.get("parameters", {})
        if path in given:
            return _written(path, one.type, given[path])
    if isinstance(one.value, dict | list) or one.value is None:
        raise ExpressionError(f"the parameter {path} is of type {one.type}: numbers, truths and texts are known here")
    if one.type in quantity.DIMENSIONS:
        return one.value / quantity.PER.get(one.type, 1)
    return one.value


def _written(path: str, kind: str, text: str) -> Any:
    """A value of a manifest, which is as command lines have it."""
    try:
        if kind in quantity.DIMENSIONS:
            return float(quantity.quantity(text, kind))
        if kind == "int":
            return quantity.integer(text)
        if kind == "float":
            return quantity.real(text)
    except quantity.NumberError as error:
        raise ExpressionError(f"the parameter {path}: {error}") from error
    return text == "true" if kind == "bool" else text
