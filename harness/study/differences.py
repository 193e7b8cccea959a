"""In what the machines of two points differ: their structure, which block diagrams show, and their settings."""

from markupsafe import Markup

from harness.study.machine import Machine
from harness.study.model import Row, Study

NONE = "default"  # of a setting that one of the points does not have


def same_blocks(one: Machine, other: Machine) -> bool:
    """Whether both have the same instances and connections, so that their block diagrams are the same."""
    return _blocks(one) == _blocks(other)


def _blocks(machine: Machine) -> tuple:
    instances = [(one["path"], one["module"]) for one in machine.netlist["instances"]]
    keys = ("from", "from_lane", "to", "to_lane")
    return instances, [tuple(one[key] for key in keys) for one in machine.netlist["connections"]]


def of_settings(study: Study, one: Row, other: Row) -> list[tuple[str, str, str]]:
    """What has another value at the other point: the label of its axis, or the setting; and both values."""
    labels = {axis.setting: axis.label or axis.name for axis in study.file.axis if axis.setting}
    here, there = study.settings(one.point), study.settings(other.point)
    names = dict.fromkeys([*here, *there])
    pairs = [(name, _spelt(here, name), _spelt(there, name)) for name in names]
    return [(labels.get(name, name), first, second) for name, first, second in pairs if first != second]


def _spelt(settings: dict, name: str) -> str:
    value = settings.get(name, NONE)
    return str(value).lower() if isinstance(value, bool) else str(value)


def table(found: list[tuple[str, str, str]], heads: tuple[str, str]) -> Markup:
    """A table of them; nothing if there are none."""
    if not found:
        return Markup("")
    row = Markup("<tr><th>{}</th><td>{}</td><td>{}</td></tr>")
    rows = Markup("\n").join(row.format(*one) for one in found)
    head = Markup("<thead><tr><th></th><th>{}</th><th>{}</th></tr></thead>").format(*heads)
    return Markup('<table class="differences">\n{}\n<tbody>\n{}\n</tbody></table>\n').format(head, rows)
