#!/usr/bin/env python3
"""Writes what firmware must know of a machine, from the machine itself: a C header of its registers, the memory
regions for the linker, the instruction sets of its cores, and the same tables for people as Markdown and HTML.

The input is the JSON of `lss export`.  Every instance with a parameter `registers` (a list of records name, offset,
reset, access, mask, doc) is a block of registers, whose bits a parameter `register_bits` (records register, fields,
and in these name, mask) names; the parameters `memory_map` and `other_map` (records name, base, size, doc) list the
addresses a processor sees.  Cores of an instruction set X that has flags in firmware/flags have a module X_decode.
Files appear in the output directory whole or not at all.
"""

import argparse
import html
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path


class DescriptionError(Exception):
    """Something in the export that firmware could not be built against."""


@dataclass
class Register:
    name: str
    offset: int
    reset: int
    access: str
    mask: int
    doc: str


@dataclass
class Block:
    """The registers of one instance."""

    path: str
    name: str
    size: int
    registers: list[Register]
    bits: list[tuple[str, int]]  # names, which begin with that of the register, and masks


@dataclass
class Region:
    """A stretch of addresses of the memory map."""

    name: str
    base: int
    size: int
    doc: str


def identifier(name: str, where: str) -> str:
    """The name, if C can use it."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise DescriptionError(f"{where}: {name!r} is no lower-case C identifier")
    return name


def number(record: dict, key: str, where: str, default: int | None = None) -> int:
    value = record.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise DescriptionError(f"{where}: {key} is {value!r}, not a number of 32 bits")
    return value


def read_bits(path: str, records: list[dict], known: set[str]) -> list[tuple[str, int]]:
    """The names of bits, by register; no name of another register may be one of them."""
    bits: dict[str, int] = {}
    for record in records:
        register = record.get("register", "")
        if register not in known:
            raise DescriptionError(f"{path}.register_bits: there is no register {register!r}")
        for field in record.get("fields", []):
            name = f"{register}_{identifier(field.get('name', ''), f'{path}.{register}')}"
            if name in bits or name in known:
                raise DescriptionError(f"{path}.register_bits: the name {name!r} is used twice")
            bits[name] = number(field, "mask", f"{path}.{name}")
    return list(bits.items())


def read_block(path: str, parameters: dict) -> Block:
    """The block of registers that an instance's parameters declare."""
    registers, taken = [], {}
    for record in parameters["registers"]:
        if record.get("access") == "hidden":
            continue
        name = identifier(record.get("name", ""), path)
        where = f"{path}.{name}"
        offset = number(record, "offset", where)
        if offset % 4:
            raise DescriptionError(f"{where}: offset {offset:#x} is not a multiple of 4")
        for key in (name, offset):
            if key in taken:
                raise DescriptionError(f"{where}: {key!r} is also used by {taken[key]}")
            taken[key] = name
        registers.append(
            Register(
                name,
                offset,
                number(record, "reset", where, 0),
                str(record.get("access", "rw")),
                number(record, "mask", where, 0) or 0xFFFFFFFF,
                str(record.get("doc") or ""),
            )
        )
    registers.sort(key=lambda register: register.offset)
    end = registers[-1].offset + 4 if registers else 0
    size = max(parameters.get("size") or 0, end)
    bits = read_bits(path, parameters.get("register_bits") or [], {register.name for register in registers})
    return Block(path, identifier(path.split(".")[-1].split("[")[0], path), size, registers, bits)


def read_machine(text: str) -> tuple[list[Block], list[Region]]:
    """Blocks and memory map of an export.  Equal maps of several instances count once."""
    try:
        instances = json.loads(text)["instances"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise DescriptionError(f"not the JSON of `lss export`: {error}") from error
    blocks: list[Block] = []
    regions: dict[str, Region] = {}
    for instance in instances:
        parameters = {p["name"]: p["value"] for p in instance["parameters"]}
        path = instance["path"] or "machine"
        if parameters.get("registers") and isinstance(parameters["registers"], list):
            block = read_block(path, parameters)
            if block.registers and all(block.registers != other.registers for other in blocks):
                blocks.append(block)
        for record in (parameters.get("memory_map") or []) + (parameters.get("other_map") or []):
            name = identifier(record.get("name", ""), f"{path}.memory_map")
            where = f"{path}.memory_map.{name}"
            region = Region(name, number(record, "base", where), number(record, "size", where), record.get("doc") or "")
            if regions.setdefault(name, region) != region:
                raise DescriptionError(f"{where}: another instance gives this region other addresses")
    names = [block.name for block in blocks]
    for name in names:
        if names.count(name) > 1:
            raise DescriptionError(f"two different blocks of registers are called {name}")
    if not blocks and not regions:
        raise DescriptionError("the machine declares neither registers nor a memory_map")
    return blocks, list(regions.values())


def header(source: str, blocks: list[Block], regions: list[Region]) -> str:
    """The C header: a struct per block, so that an access is one instruction from the block's base."""
    lines = [
        f"/* Registers and memory map of {source}.  Generated from the machine: change it there. */",
        "#ifndef MACHINE_REGISTERS_H",
        "#define MACHINE_REGISTERS_H",
        "",
    ]
    for region in regions:
        lines.append(f"#define MAP_{region.name.upper()}_BASE {region.base:#010x}u /* {region.doc} */")
        lines.append(f"#define MAP_{region.name.upper()}_SIZE {region.size:#x}u")
    for block in blocks:
        lines += ["", f"/* Offsets in {block.path}, for assembly. */"]
        lines += [f"#define {block.name.upper()}_{r.name.upper()} {r.offset:#x}" for r in block.registers]
        if block.bits:
            lines += ["", "/* Bits of these registers. */"]
        lines += [f"#define {block.name.upper()}_{name.upper()} {mask:#x}" for name, mask in block.bits]
    lines += ["", "#ifndef __ASSEMBLER__"]
    for block in blocks:
        lines += ["", f"/* {block.path} */", f"struct {block.name} {{"]
        at = 0
        for r in block.registers:
            if r.offset > at:
                lines.append(f"  unsigned int unused_{at:x}[{(r.offset - at) // 4}];")
            lines.append(f"  volatile unsigned int {r.name}; /* {r.offset:#05x} {r.access}: {r.doc} */")
            at = r.offset + 4
        lines.append("};")
        if block.registers:
            last = block.registers[-1]
            lines.append(
                f"_Static_assert(__builtin_offsetof(struct {block.name}, {last.name}) == {last.offset:#x}, "
                f'"layout of {block.name}");'
            )
    return "\n".join([*lines, "", "#endif", "", "#endif", ""])


def linker_regions(source: str, regions: list[Region]) -> str:
    """MEMORY of a linker script, to be included by the firmware's own."""
    lines = [f"/* Memory map of {source}.  Generated from the machine: change it there. */", "MEMORY", "{"]
    lines += [f"  {r.name} (rwx) : ORIGIN = {r.base:#x}, LENGTH = {r.size:#x} /* {r.doc} */" for r in regions]
    return "\n".join([*lines, "}", ""])


def instruction_sets(machine: dict) -> list[str]:
    """Those of the machine's cores for which there are flags."""
    known = {path.name for path in (Path(__file__).resolve().parents[1] / "flags").glob("*")}
    decoders = {instance.get("module", "").partition("_decode") for instance in machine["instances"]}
    return sorted(name for name, word, rest in decoders if word and not rest and name in known)


def tables(blocks: list[Block], regions: list[Region]) -> list[tuple[str, list[str], list[list[str]]]]:
    """The tables for people: (title, columns, rows)."""
    result = []
    if regions:
        rows = [[r.name, f"{r.base:#010x}", f"{r.base + r.size - 1:#010x}", f"{r.size:#x}", r.doc] for r in regions]
        result.append(("Memory map", ["region", "first", "last", "bytes", "what"], rows))
    for block in blocks:
        rows = [
            [f"{r.offset:#05x}", r.name, r.access, f"{r.reset:#x}", f"{r.mask:#010x}", r.doc] for r in block.registers
        ]
        result.append((f"Registers of {block.path}", ["offset", "name", "access", "reset", "bits", "what"], rows))
    return result


def markdown(source: str, blocks: list[Block], regions: list[Region]) -> str:
    lines = [f"# {source}: what its firmware sees", "", "Generated from the machine."]
    for title, columns, rows in tables(blocks, regions):
        lines += ["", f"## {title}", "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([*lines, ""])


def page(source: str, blocks: list[Block], regions: list[Region]) -> str:
    style = (
        "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
        "td,th{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
        "td:first-child,td:nth-child(2){font-family:monospace}"
    )
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(source)}</title>',
        f"<style>{style}</style><h1>{html.escape(source)}: what its firmware sees</h1>",
    ]
    for title, columns, rows in tables(blocks, regions):
        parts.append(f"<h2>{html.escape(title)}</h2><table><tr>")
        parts += [f"<th>{html.escape(column)}</th>" for column in columns]
        for row in rows:
            parts.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row))
        parts.append("</table>")
    return "\n".join(parts) + "</html>\n"


def write(path: Path, text: str) -> None:
    """Writes a file at once; an unchanged one keeps its time, so nothing is rebuilt for it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + f".{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("machine", type=Path, help="JSON written by `lss export`")
    parser.add_argument("output", type=Path, help="directory for registers.h, memory.ld, isa, registers.md and .html")
    options = parser.parse_args()
    try:
        text = options.machine.read_text()
        blocks, regions = read_machine(text)
        machine = json.loads(text)
        source = Path(machine.get("file") or options.machine.name).name
        for name, content in (
            ("registers.h", header),
            ("registers.md", markdown),
            ("registers.html", page),
        ):
            write(options.output / name, content(source, blocks, regions))
        write(options.output / "memory.ld", linker_regions(source, regions))
        write(options.output / "isa", " ".join(instruction_sets(machine)) + "\n")
    except (OSError, DescriptionError) as error:
        print(f"{options.machine}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
