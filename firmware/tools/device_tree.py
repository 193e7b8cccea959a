#!/usr/bin/env python3
"""Fills what a machine knows into the source of its device tree.

    device_tree.py [--computer PATH] MACHINE.json TEMPLATE... OUTPUT

MACHINE.json is from `lss export`.  Several templates follow one another in OUTPUT, and errors of dtc name them.  In a
template ${NAME.base}, ${NAME.size} and ${NAME.unit} (the base as nodes are called by it) are of an entry of the
machine's memory_map or other_map, ${NAME.interrupt} and ${NAME.intx} are the number in the key of the lane to which
that port of the instance leads, or of one in it, ${NAME.frequency} is that of a clock, ${NAME.device} of a card on a
PCI bus is its address there, and every other ${NAME.FIELD} a parameter of an instance.  Numbers of the map may have an
offset: ${NAME.base+0x200}.  Numbers may be divided, and are rounded down: ${NAME.frequency/200}.  NAME may be a path;
`machine` is the whole.  What stands between ${if NAME} and ${end} is left out when the machine has no instance of that
name.

Where the computer, which has RAM and a memory_map, is an instance of a larger machine, NAME is within that, or else
in the larger machine.  In a machine with several computers, PATH is the one of which the tree is, or an instance that
contains it.
"""

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path


class Unknown(Exception):
    """Something that the template asks for, and the machine does not have."""


def computer(parameters: dict[str, dict], within: str) -> str:
    """Where it is in the machine, as what its names begin with: the innermost instance with RAM and a memory_map."""
    if within not in parameters:
        raise Unknown(f"the machine has no instance {within}{nearest(within, parameters)}")
    part = {path: known for path, known in parameters.items() if not within or f"{path}.".startswith(f"{within}.")}
    found = [path for path, known in part.items() if known.keys() >= {"memory", "memory_map"}]
    inside = {path: f"{path}." if path else "" for path in found}
    inner = [path for path in found if not any(other != path and other.startswith(inside[path]) for other in found)]
    if len(inner) > 1:
        listed = ", ".join(inner[:4]) + (", …" if len(inner) > 4 else "")
        raise Unknown(f"the machine has several computers, and a tree is of one: {listed} (--computer, make COMPUTER=)")
    if within and not inner:
        raise Unknown(f"{within} is no computer: it has no RAM with an address map")
    return inside[inner[0]] if inner else ""


class Machine:
    """What an export says, with names within the computer."""

    def __init__(self, exported: dict, within: str) -> None:
        parameters = {
            one["path"]: {parameter["name"]: parameter["value"] for parameter in one["parameters"]}
            for one in exported["instances"]
        }
        self.inside = computer(parameters, within)
        self.instances = {path.removeprefix(self.inside): known for path, known in parameters.items()}
        self.paths = {path.removeprefix(self.inside): path for path in parameters}
        whole = self.instances["machine"] = parameters[self.inside.rstrip(".")]
        self.map = {entry["name"]: entry for one in ("memory_map", "other_map") for entry in whole.get(one) or []}
        self.clocks = {
            one["name"].removeprefix(self.inside): one["hertz_numerator"] // one["hertz_denominator"]
            for one in exported["clocks"]
        }
        self.connections = exported["connections"]

    def interrupt(self, name: str, port_name: str) -> int:
        """Follows an interrupt through what has one input and one output."""
        if name not in self.paths:
            map_only = f"; {name} is an entry of the address map, and no instance" if name in self.map else ""
            raise Unknown(f"the machine has no instance {name}{map_only}{nearest(name, self.paths)}")
        inside = re.compile(rf"{re.escape(self.paths[name])}\.(.*\.)?{port_name}")
        port = next((one["from"] for one in self.connections if inside.fullmatch(one["from"])), "")
        for _ in self.connections:
            step = next((one for one in self.connections if one["from"] == port), None)
            if step is None:
                break
            if match := re.search(r"\d+$", step.get("to_key", "")):
                return int(match[0])
            port = step["to"].rpartition(".")[0] + ".out"
        raise Unknown(f"the {port_name} of {name} leads to no lane with a number in its key")

    def value(self, name: str, field: str, offset: str | None = None) -> str:
        if field in ("base", "size", "unit") and name in self.map:
            number = self.map[name]["base" if field == "unit" else field] + int(offset or "0", 16)
            return f"{number:x}" if field == "unit" else f"{number:#x}"
        if offset:
            raise Unknown(f"{name}.{field} has no offset: it is no number of the address map")
        if field == "frequency" and name in self.clocks:
            return str(self.clocks[name])
        if field in ("interrupt", "intx"):
            return str(self.interrupt(name, field))
        if field == "device" and (card := re.fullmatch(r"(.+)\.\w+\[(\d+)\]", name)) and name in self.instances:
            return f"{self.instances[card[1]]['devices'][int(card[2])] << 11:#06x}"
        value = self.instances.get(name, {}).get(field)
        if isinstance(value, bool) or not isinstance(value, int):
            known = name in self.instances or name in self.map
            near = "" if known else nearest(name, [*self.instances, *self.map])
            raise Unknown(f"the machine has no number {name}.{field}{near}")
        return str(value)


def nearest(name: str, known: Iterable[str]) -> str:
    """A name that may have been meant, as the end of a message."""
    found = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {found[0]}?" if found else ""


def with_instances(machine: Machine, template: str) -> str:
    """The template without the parts of instances that the machine does not have."""
    first, *rest = re.split(r"\$\{(if [\w.\[\]]+|end)\}", template)
    text, open_parts = first, list[str]()
    for mark, part in zip(rest[::2], rest[1::2], strict=True):
        if mark != "end":
            open_parts.append(mark)
        elif not open_parts:
            raise Unknown("${end} ends nothing: there is no ${if NAME} before it")
        else:
            open_parts.pop()
        if all(one.removeprefix("if ") in machine.instances for one in open_parts):
            text += part
        else:
            text += "\n" * part.count("\n")  # lines keep their numbers
    if open_parts:
        raise Unknown(f"${{{open_parts[-1]}}} has no ${{end}}")
    return text


def filled(known: Machine, template: Path) -> str:
    text = with_instances(known, template.read_text())
    wanted = re.compile(r"\$\{([\w.\[\]]+)\.(\w+)(?:\+0x([0-9a-f]+)|/([1-9][0-9]*))?\}")

    def number(match: re.Match[str]) -> str:
        value = known.value(*match.groups()[:3])
        if match[4] and match[2] == "unit":
            raise Unknown(f"{match[1]}.unit cannot be divided: it is part of a node's name")
        return str(int(value, 0) // int(match[4])) if match[4] else value

    return wanted.sub(number, text)


def main() -> int:
    words = argparse.ArgumentParser(usage="device_tree.py [--computer PATH] MACHINE.json TEMPLATE... OUTPUT")
    words.add_argument("--computer", default="")
    words.add_argument("files", type=Path, nargs="+")
    given = words.parse_args()
    if len(given.files) < 3:
        words.error("MACHINE.json, TEMPLATE and OUTPUT are needed")
    machine, template, *more, output = given.files
    try:
        known = Machine(json.loads(machine.read_text()), given.computer)
        text = filled(known, template)
        for template in more:
            text += f'# 1 "{template}"\n' + filled(known, template)
        output.write_text(text)
    except (OSError, Unknown, KeyError, json.JSONDecodeError) as error:
        print(f"linux: {template}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
