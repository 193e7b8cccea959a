"""What the tests of modules of out-of-order cores share: a Device that is driven with Python values, cycle by cycle, and whose
outputs are Python values again."""

import re
from collections.abc import Mapping
from typing import Any

from tests.modules.harness import Bench, Ran, read_monitor
from tests.modules.mips import BundleDevice

IMPORTS = "import memory_types;\nimport core_types;\nimport wide_types;\n"


def text(value: object) -> str:
    """A value as modules read it; fields that are left out are 0."""
    if isinstance(value, Mapping):
        return "{" + " ".join(f"{name}={text(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + " ".join(text(one) for one in value) + "]"
    return str(int(value)) if isinstance(value, bool) else str(value)


def value_of(words: str) -> Any:
    """What modules print."""
    tokens = re.findall(r"[][{}=]|[^][{}=\s]+", words)

    def take(at: int) -> tuple[Any, int]:
        if tokens[at] == "{":
            fields, at = {}, at + 1
            while tokens[at] != "}":
                fields[tokens[at]], at = take(at + 2)
            return fields, at + 1
        if tokens[at] == "[":
            items, at = [], at + 1
            while tokens[at] != "]":
                item, at = take(at)
                items.append(item)
            return items, at + 1
        word = tokens[at]
        return {"true": 1, "false": 0}.get(word, int(word, 0) if re.fullmatch(r"-?(0x)?[0-9a-f]+", word) and word[0] in "-0123456789" else word), at + 1

    return take(0)[0]


QUIET = 200  # cycles behind those of interest in which nothing comes: a module that does not sleep then is told


class Wide(BundleDevice):
    """A module whose ports are driven in given cycles; None of an output is nothing."""

    def __init__(self, bench: Bench, module: str, ports: dict[str, tuple[str, int, str]], body: str = "", after: str = "") -> None:
        super().__init__(bench, module, ports, body, after=after, before=IMPORTS)
        self.ran: Ran

    def play(
        self,
        inputs: Mapping[str, Mapping[int, object]],
        cycles: int,
        settings: Mapping[str, object] | None = None,
        files: Mapping[str, str | bytes] | None = None,
    ) -> dict[str, list[Any]]:
        """inputs["done[1]"][7] is offered on lane 1 of `done` in cycle 7; of a port with one lane the lane may be left out.
        All that the module offers and that is accepted must be committed.  `settings` and `files` are for what is beside the module."""
        scripts, settings, files = {}, dict(settings or {}), dict(files or {})
        for name, items in inputs.items():
            port, _, lane = name.partition("[")
            scripts[port, int(lane.rstrip("]") or 0)] = "".join(f"{cycle} {text(items[cycle])} once\n" for cycle in sorted(items))
        for port, lane, direction in self.lanes():
            settings[f"{port}_monitor[{lane}].record"] = f"{port}{lane}.seen"
            settings[f"{port}_monitor[{lane}].idle"] = True
            if direction == "in":
                settings[f"{port}_source[{lane}].script"] = f"{port}{lane}.txt"
                files[f"{port}{lane}.txt"] = scripts.pop((port, lane), "")
        assert not scripts, f"no such inputs: {sorted(scripts)}"
        self.ran = self.bench.run(self.simulator, cycles + QUIET, settings, files=files)
        seen = {}
        for port, lane, _ in self.lanes():
            name = f"{port}[{lane}]" if self.ports[port][1] > 1 else port
            lines = read_monitor(self.ran.directory / f"{port}{lane}.seen")
            cancelled = [line for line in lines if line.cancelled]
            assert not cancelled, f"{name} is offered and not committed: {cancelled}"
            seen[name] = [None if line.value is None else value_of(line.value) for line in lines[:cycles]]
        return seen

    def stat(self, name: str) -> int:
        """Of the latest run."""
        return self.ran.stat("dut", name)


# Instructions, as decoders make them.
ALU = {"kind": "alu", "alu": "add"}
LOAD = {"kind": "load", "alu": "add", "size": 4}
STORE = {"kind": "store", "alu": "add", "size": 4}
MULTIPLY = {"kind": "multiply", "product": "low"}
BRANCH = {"kind": "branch", "flow": "conditional", "compare": "eq"}


def micro_op(control: Mapping[str, object] = ALU, dest: int = 0, source: tuple[int, ...] = (0, 0), pc: int = 0, **fields: object) -> dict[str, object]:
    needs = {
        "memory": int(control["kind"] in ("load", "linked", "conditional", "barrier", "store")),
        "integer": int(control["kind"] in ("alu", "branch", "jump", "indirect", "select")),
        "product": int(control["kind"] in ("multiply", "divide")),
        "dest": int(dest != 0),
        "snapshot": int("flow" in control),
    }
    return {"pc": pc, "next": pc + 4, "control": control, "needs": needs, "source": list(source), "dest": dest, **fields}


def renamed(age: int, control: Mapping[str, object] = ALU, dest: int = 0, source: tuple[int, ...] = (0, 0), **fields: Any) -> dict[str, Any]:
    """With its physical registers; those of the program are left out."""
    own = {name: fields.pop(name) for name in ("logical", "old", "snapshot") if name in fields}
    op = micro_op(control, **fields) | {"needs": micro_op(control, dest)["needs"]}
    return {"op": op, "source": list(source), "dest": dest, "age": age, **own}


def renamed_group(*ops: dict[str, Any], words: int = 1) -> dict[str, Any]:
    return {"count": len(ops), "dest": registers(*(op["dest"] for op in ops if op["dest"]), words=words), "op": list(ops)}


def registers(*numbers: int, words: int = 1) -> dict[str, list[int]]:
    """A register_set of so many words."""
    return {"of": [sum(1 << n % 64 for n in numbers if n // 64 == k) for k in range(words)]}


def each(*numbers: int) -> dict[str, list[int]]:
    """context_numbers."""
    return {"of": list(numbers)}


def of_each(inputs: Mapping[int, int]) -> dict[int, object]:
    """Numbers of a core with one context, by cycle."""
    return {cycle: each(number) for cycle, number in inputs.items()}


def only(seen: list[Any]) -> list[int]:
    """What is shown of the only context."""
    return [number for one in seen for number in one["of"]]


STATUS = {"valid": 0, "redirects": 0, "taken": 0, "size": 0, "fault": "none"}


def completion(age: int, **fields: object) -> dict[str, object]:
    """What a unit shows of an instruction that was executed."""
    status = {name: fields.pop(name) for name in STATUS if name in fields}
    return {"status": {"valid": 1} | status, "age": age, **fields}


def completions(seen: list[Any]) -> list[dict[str, Any]]:
    """What was shown in each cycle, the members of the status beside the others."""
    return [STATUS | (one["status"] or {}) | {name: value for name, value in one.items() if name != "status"} for one in seen]
