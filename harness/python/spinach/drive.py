"""drive: a module alone, between sources that offer items and sinks that take them, both as tables.

The netlist around the module is made from its declaration (`lss doc --json`).  Items are written as scripts of `source`
and read from the records of `sink`; both are the texts of values that lss/runtime/text/type.h describes.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.run import files
from spinach import tools
from spinach.errors import BuildError, SpinachError, unknown
from spinach.frames import frame
from spinach.machine import Machine, Value
from spinach.run import Run

if TYPE_CHECKING:
    from pandas import DataFrame

LANE = re.compile(r'(\w+)(?:\[(?:(\d+)|"([^"]*)")\])?')  # a port, or a lane of it by its number or key
IMPORT = re.compile(r"^import\s+(\w+)\s*;", re.MULTILINE)
NUMBER = re.compile(r"bool|u?int\d+|float\d+|'.*|.* \| .*")  # the types of ports that are no names
TOKEN = re.compile(r"\s*([{}\[\]=]|[^\s{}\[\]=]+)")


@dataclass(frozen=True)
class Port:
    """A port as the module declares it."""

    name: str
    output: bool
    optional: bool
    type: str


@dataclass(frozen=True)
class Declared:
    """What a module declares: its ports, and its parameters and userpoints, each with whether it is set at run time.
    `types` are the bundles and the types that it may name, with what they are."""

    ports: dict[str, Port]
    parameters: dict[str, bool]
    types: dict[str, str]

    def is_bundle(self, port: Port) -> bool:
        return self.types.get(port.type.partition("(")[0]) == "bundle"


class Driven(dict[str, "DataFrame"]):
    """What left each outport: a table of cycle, lane and item.  `run` has the statistics; the module is `dut` there."""

    def __init__(self, tables: Mapping[str, DataFrame], run: Run) -> None:
        super().__init__(tables)
        self.run = run


def drive(
    module: str, inputs: Mapping[str, Sequence[Any] | str], *, ready: Mapping[str, float | str] | None = None,
    cycles: int, types: Mapping[str, str] | None = None, imports: Sequence[str] = (),
    include: Sequence[str | os.PathLike[str]] = (), debug: bool = True, **parameters: Value,
) -> Driven:  # fmt: skip
    """Runs a module for some cycles, and returns what left each outport.

    `inputs` has the items for each inport, or the text or the name of a script of `source`; the items are offered in
    their order, each as soon as it can be.  `ready` is the probability with which an outport is accepted in a cycle, or
    a pattern of 0 and 1.  A port of several lanes has an entry for each: "in[0]", "in[1]".  `types` names the types of
    inports that take several, and `imports` the files that declare them.  The machine is a debug build, which also
    checks the module's handlers, identities and `next_event`, unless `debug` is false.
    """
    accepted, types = dict(ready or {}), dict(types or {})
    known = declared(module, include)
    ports = known.ports
    _check_bundles(module, known, [*inputs, *accepted])
    for given, output in ((inputs, False), (accepted, True), (types, False)):
        _check_names(module, ports, given, output)
    _check_parameters(module, known, parameters)
    _check_complete(module, ports, inputs)
    named = {_port(name) for name in accepted}
    accepted |= {p.name: 1.0 for p in ports.values() if p.output and not p.optional and p.name not in named}
    at_run = [name for name in parameters if known.parameters.get(name)]
    built: dict[str, Any] = {f"dut.{name}": value for name, value in parameters.items() if name not in at_run}
    text = "".join(f"import {name};\n" for name in imports) + _netlist(module, ports, inputs, accepted, types)
    machine = Machine(text, include=include, debug=debug, **built)
    folder = machine.new_folder()
    settings: dict[str, Any] = {f"dut.{name}": parameters[name] for name in at_run}
    for number, items in enumerate(inputs.values()):
        settings[f"offer[{number}].script"] = _write(folder / f"offer{number}.txt", script(items))
    for number, how in enumerate(accepted.values()):
        settings[f"take[{number}].{'pattern' if isinstance(how, str) else 'ready'}"] = how
        settings[f"take[{number}].record"] = folder / f"take{number}.txt"
    run = machine.run(cycles=cycles, folder=folder, **settings)
    return Driven(_tables(folder, list(accepted)), run)


# ---- The module


def declared(module: str, include: Sequence[str | os.PathLike[str]] = ()) -> Declared:
    """What a module declares."""
    folders = [word for folder in include for word in ("-I", os.fspath(folder))]
    said = json.loads(tools.call(BuildError, [tools.find(), "doc", "--json", *folders, module]).splitlines()[0])
    ports = {}
    for one in said["ports"]:
        words = one["direction"].split()
        ports[one["name"]] = Port(one["name"], words[-1] == "outport", "optional" in words, one["type"])
    settings = {one["name"]: one["set"] != "when built" for one in said["parameters"]}
    types: dict[str, str] = {}
    if not all(NUMBER.fullmatch(port.type) for port in ports.values()):
        # The compiler shortens the paths of its library: that of the source tree, or share/spinach next to its bin.
        places = [Path(), tools.find().parents[2], tools.find().parents[1] / "share" / "spinach"]
        file = next((place / said["file"] for place in places if (place / said["file"]).is_file()), None)
        names = [str(file), *IMPORT.findall(file.read_text())] if file else []
        lines = tools.call(BuildError, [tools.find(), "doc", "--json", *folders, *names]).splitlines() if names else []
        types = {one["name"]: one["kind"].partition(" ")[0] for one in map(json.loads, lines)}
    return Declared(ports, settings | {one["name"]: False for one in said["userpoints"]}, types)


def _port(name: str) -> str:
    match = LANE.fullmatch(name)
    return match[1] if match else name


def _check_bundles(module: str, known: Declared, names: Sequence[str]) -> None:
    """Items of one port are a table; the two ways of a bundle depend on each other."""
    named = {_port(name.partition(".")[0]) for name in names}
    for port in known.ports.values():
        if known.is_bundle(port) and (not port.optional or port.name in named):
            said = f"the port {port.name!r} of {module} is a bundle ({port.type}), and drive offers items of one port"
            cure = "make a Machine with its partners around it"
            if port.type.startswith("mem("):
                cure = "make a Machine with memory_source before it, and memory_state after it"
            raise SpinachError(["drive", module], None, f"{said}: {cure}")


def _check_names(module: str, ports: Mapping[str, Port], given: Mapping[str, Any], output: bool) -> None:
    known = [port.name for port in ports.values() if port.output is output]
    for name in given:
        if _port(name) not in known:
            what = f"{module} has no {'outport' if output else 'inport'}"
            raise unknown(what, name, difflib.get_close_matches(_port(name), known, 3), known)


def _check_parameters(module: str, known: Declared, given: Mapping[str, Value]) -> None:
    """Parameters of the module itself; those of a part of it have a path."""
    for name in given:
        if "." not in name and name not in known.parameters:
            near = difflib.get_close_matches(name, list(known.parameters), 3)
            raise unknown(f"{module} has no parameter", name, near, known.parameters)


def _check_complete(module: str, ports: Mapping[str, Port], inputs: Mapping[str, Any]) -> None:
    given = {_port(name) for name in inputs}
    for port in ports.values():
        if not port.output and not port.optional and port.name not in given:
            said = f"inputs lacks the inport {port.name!r} of {module} (an empty list offers nothing)"
            raise SpinachError(["drive", module], None, said)


def _netlist(
    module: str, ports: Mapping[str, Port], inputs: Mapping[str, Sequence[Any] | str], outputs: Mapping[str, Any],
    types: Mapping[str, str],
) -> str:  # fmt: skip
    lines = [f"instance dut : {module};"]
    lines += [f"instance offer[{len(inputs)}] : source;"] if inputs else []
    lines += [f"instance take[{len(outputs)}] : sink;"] if outputs else []
    for number, (name, items) in enumerate(inputs.items()):
        kind = types.get(name) or types.get(_port(name)) or _type(module, ports[_port(name)], items)
        lines.append(f"offer[{number}].out -> dut.{name}{f' : {kind}' if kind else ''};")
    lines += [f"dut.{name} -> take[{number}].in;" for number, name in enumerate(outputs)]
    return "\n".join(lines) + "\n"


def _type(module: str, port: Port, items: Sequence[Any] | str) -> str:
    """The type for a port that may have several, by its items; "" for one that has one."""
    choices = [] if port.type.startswith("'") else port.type.split(" | ")
    if len(choices) == 1:
        return ""
    values = [_plain(item) for item in items] if not isinstance(items, str) else _scripted(script(items))
    if values and all(isinstance(value, bool) for value in values):
        fitting = ["bool"]
    elif all(isinstance(value, int) for value in values):
        fitting = ["int64", "int32", "int16", "int8"] if min(values, default=0) < 0 else []
        fitting += ["uint64", "uint32", "uint16", "uint8", "int64", "int32", "int16", "int8"]
    elif all(isinstance(value, int | float) for value in values):
        fitting = ["float64", "float32"]
    else:
        said = (
            f"the port {port.name!r} of {module} takes {port.type}, and its items are not all numbers or all truths:"
            f" name their type, types={{{port.name!r}: 'TYPE'}}"
        )
        raise SpinachError(["drive", module], None, said)
    return next((kind for kind in fitting if not choices or kind in choices), choices[0] if choices else "uint64")


# ---- Items and their texts


def _plain(item: Any) -> Any:
    """Numbers of numpy are the numbers that they stand for."""
    return item.item() if hasattr(item, "item") and not isinstance(item, str | Mapping) else item


def item_text(item: Any) -> str:
    """An item as a script has it."""
    match _plain(item):
        case bool() as truth:
            return str(truth).lower()
        case Mapping() as fields:
            return "{" + " ".join(f"{name}={item_text(value)}" for name, value in fields.items()) + "}"
        case str() as text:
            return text
        case Sequence() as elements:
            return "[" + " ".join(item_text(one) for one in elements) + "]"
        case other:
            return str(other)


def item_of(text: str) -> Any:
    """An item of its text: a number, a truth, a name; a dict for a struct and a list for an array."""
    tokens = TOKEN.findall(text)
    return _read(tokens[::-1])


def _read(tokens: list[str]) -> Any:
    """Takes one value from the end of the reversed tokens."""
    first = tokens.pop()
    if first == "[":
        elements = []
        while tokens[-1] != "]":
            elements.append(_read(tokens))
        tokens.pop()
        return elements
    if first != "{":
        return _word(first)
    fields: dict[str, Any] = {}
    while (name := tokens.pop()) != "}":
        if tokens[-1] == "=":
            tokens.pop()
            fields[name] = _read(tokens)
        else:
            fields[""] = _word(name)  # bits of a packed word that have no name
    return fields


def _word(text: str) -> int | float | bool | str:
    if text in ("true", "false"):
        return text == "true"
    for kind in (lambda word: int(word, 0), float):
        try:
            number: int | float = kind(text)
            return number
        except ValueError:
            continue
    return text


def script(items: Sequence[Any] | str) -> str:
    """A script that offers items one after the other, or the one that is given: its text or its file."""
    if isinstance(items, str):
        return items if "\n" in items else Path(items).read_text()
    return "".join(f"0 {item_text(item)}\n" for item in items)


def _scripted(text: str) -> list[Any]:
    """The values of a script."""
    lines = [line.partition("#")[0].split(maxsplit=1) for line in text.splitlines()]
    return [item_of(re.sub(r"\s+(once|cancel)\s*$", "", line[1])) for line in lines if len(line) == 2]


def _write(place: Path, text: str) -> Path:
    files.write(place, text)
    return place


def _tables(folder: Path, names: Sequence[str]) -> dict[str, DataFrame]:
    rows: dict[str, list[dict[str, Any]]] = {_port(name): [] for name in names}
    for number, name in enumerate(names):
        match = LANE.fullmatch(name)
        key = match and match[3]
        lane = key if key is not None else int((match and match[2]) or 0)
        for line in (folder / f"take{number}.txt").read_text().splitlines():
            cycle, _, text = line.partition(" ")
            rows[_port(name)].append({"cycle": int(cycle), "lane": lane, "item": item_of(text)})
    columns = ["cycle", "lane", "item"]
    return {port: frame(sorted(taken, key=lambda row: row["cycle"]), columns) for port, taken in rows.items()}
