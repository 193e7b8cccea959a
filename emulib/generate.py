"""Turns instructions.def into the generated headers of emulib.

    generate.py instructions.def BODIES... OUTPUT_DIRECTORY

writes ISA_instructions.h (enumerations, decoder tables, hazard sets, operand formats; see isa.h beside the table) and
ISA_control.inc (one CONTROL(...) line per instruction with what a pipeline does with it), where ISA is what the table's
line `isa NAME` says and isas.py knows.  Refuses a table that contradicts itself: encodings that overlap within a set, a
format whose registers differ from the reads and writes, an instruction without a body.  Diagnostics are
`file:line: text`; nothing is written when there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from isas import Isa, known

ISAS = known()


class TableError(Exception):
    """A line of the table that cannot be right."""


@dataclass
class Instruction:
    name: str
    tag: str
    match: int
    mask: int
    operands: list[str]
    reads: set[str]
    writes: set[str]
    kind: str
    control: dict[str, str]
    line: int
    sets: set[str] = field(default_factory=set)

    @property
    def identifier(self) -> str:
        """The name in C."""
        return self.name.replace(".", "_")


@dataclass
class Alias:
    """A word with a name of its own."""

    name: str
    tag: str
    word: int
    line: int


@dataclass
class Table:
    path: str
    isa: Isa | None = None
    sets: dict[str, str | None] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)

    def contains(self, name: str) -> set[str]:
        """The tags of all instructions in a set: its own and those of the sets it extends."""
        tags: set[str] = set()
        while name:
            tags.add(name)
            name = self.sets[name] or ""
        return tags


def names(text: str) -> list[str]:
    return [] if text == "-" else text.split(",")


def parse_line(table: Table, number: int, columns: list[str]) -> Instruction:
    if len(columns) < 9:
        raise TableError(f"an instruction has 9 columns (name set match mask operands reads writes class control), "
                         f"this line has {len(columns)}")
    name, tag, match, mask, operands, reads, writes, kind, *control = columns
    if tag not in table.sets:
        raise TableError(f"{name}: there is no set '{tag}'; sets are {', '.join(table.sets)}")
    isa = table.isa
    if kind not in isa.classes:
        raise TableError(f"{name}: there is no class '{kind}'; classes are {', '.join(isa.classes)}")
    words: dict[str, str] = {}
    for item in [] if control == ["-"] else control:
        key, _, value = item.partition("=")
        if key not in isa.words or value not in isa.words[key]:
            known = ", ".join(isa.words.get(key, isa.words))
            raise TableError(f"{name}: control '{item}' is not known; possible here: {known}")
        words[key] = value
    new = Instruction(name, tag, int(match, 16), int(mask, 16), names(operands), set(names(reads)),
                      set(names(writes)), kind, words, number)
    check(new, isa)
    return new


def check(i: Instruction, isa: Isa) -> None:
    """The columns of one line must say the same thing."""
    if i.match & ~i.mask:
        raise TableError(f"{i.name}: match {i.match:#010x} has bits outside mask {i.mask:#010x}")
    for operand in i.operands:
        if operand not in isa.operands:
            raise TableError(f"{i.name}: there is no operand '{operand}'; operands are {', '.join(isa.operands)}")
    for register in i.reads | i.writes:
        if register not in isa.fields:
            raise TableError(f"{i.name}: there is no register field '{register}'; fields are {', '.join(isa.fields)}")
    used = set(i.operands) | {isa.uses[o] for o in i.operands if o in isa.uses}
    for register, low in isa.fields.items():
        if low is None:
            continue
        used_here = register in i.reads | i.writes
        if used_here and (i.mask >> low & 31):
            raise TableError(f"{i.name}: uses {register}, but its mask fixes that field")
        if used_here != (register in used):
            raise TableError(f"{i.name}: operands {','.join(i.operands)} and the registers read and written disagree "
                             f"about {register}")
    dest = i.control.get("dest")
    results = i.writes & set(isa.results)
    if results != ({dest} if dest else set()):
        written = ",".join(sorted(results)) or "no register"
        raise TableError(f"{i.name}: writes {written}, but dest is {dest or 'absent'}")
    for select in ("a", "b"):
        if i.control.get(select) in isa.fields and i.control[select] not in i.reads:
            raise TableError(f"{i.name}: operand {select} is {i.control[select]}, which it does not read")


def parse(path: str) -> Table:
    table = Table(path)
    problems = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        columns = line.split("#")[0].split()
        if not columns:
            continue
        try:
            if columns[0] == "isa":
                if len(columns) != 2 or columns[1] not in ISAS:
                    raise TableError(f"an instruction set is named as 'isa NAME'; known are {', '.join(ISAS)}")
                table.isa = ISAS[columns[1]]
            elif table.isa is None:
                raise TableError("the table must begin with 'isa NAME'")
            elif columns[0] == "set":
                base = columns[3] if len(columns) == 4 and columns[2] == ":" else None
                if len(columns) not in (2, 4) or (base is not None and base not in table.sets):
                    raise TableError("a set is declared as 'set NAME' or 'set NAME : EXTENDED'")
                table.sets[columns[1]] = base
            elif columns[0] == "alias":
                if len(columns) != 4 or columns[2] not in table.sets:
                    raise TableError("a word's own name is declared as 'alias NAME SET WORD'")
                table.aliases.append(Alias(columns[1], columns[2], int(columns[3], 16), number))
            else:
                table.instructions.append(parse_line(table, number, columns))
        except (TableError, ValueError) as error:
            problems.append(f"{path}:{number}: {error}")
    for name in table.sets:
        tags = table.contains(name)
        for i in table.instructions:
            if i.tag in tags:
                i.sets.add(name)
    problems += overlaps(table)
    for a in table.aliases:
        if not any(a.tag in i.sets and a.word & i.mask == i.match for i in table.instructions):
            problems.append(f"{path}:{a.line}: alias {a.name}: {a.word:#010x} is no instruction of set {a.tag}")
    if problems:
        raise TableError("\n".join(problems))
    return table


def overlaps(table: Table) -> list[str]:
    """No word may be two instructions of one set."""
    found = []
    for index, a in enumerate(table.instructions):
        for b in table.instructions[index + 1 :]:
            common = a.mask & b.mask
            if a.sets & b.sets and (a.match & common) == (b.match & common):
                which = ", ".join(sorted(a.sets & b.sets))
                found.append(f"{table.path}:{b.line}: {b.name} overlaps {a.name} (line {a.line}) in set {which}: "
                             f"{a.match | b.match:#010x} would be both")
            if a.name == b.name:
                found.append(f"{table.path}:{b.line}: {b.name} is already on line {a.line}")
    return found


def fixes(i: Instruction, shift: int, bits: int) -> bool:
    """True when the instruction's mask fixes the whole field."""
    return ~i.mask >> shift & (1 << bits) - 1 == 0


def decoder(table: Table) -> tuple[list[list[tuple[int, int, int]]], list[str], dict[str, dict[str, str]]]:
    """Dense tables.  Per set and group: first leaf, shift, mask; leaves; and the next candidate per set."""
    leaves: list[str] = []
    groups: list[list[tuple[int, int, int]]] = []
    chain: dict[str, dict[str, str]] = {i.identifier: {} for i in table.instructions}
    isa = table.isa
    first, bits = isa.major
    for set_name in table.sets:
        rows = []
        for number in range(1 << bits):
            inside = [i for i in table.instructions
                      if set_name in i.sets and i.match >> first & (1 << bits) - 1 == number]
            shift, mask = 0, 0
            if len(inside) > 1:
                # The field that separates them: the first that all of them fix, else the last there is.
                shift, width = next((m for m in isa.minors if all(fixes(i, *m) for i in inside)), isa.minors[-1])
                mask = (1 << width) - 1
            rows.append((len(leaves), shift, mask))
            for value in range(mask + 1):
                here = [i.identifier for i in inside
                        if (value ^ (i.match >> shift)) & (i.mask >> shift) & mask == 0]
                leaves.append(here[0] if here else "reserved")
                for a, b in zip(here, here[1:], strict=False):
                    chain[a][set_name] = b
        groups.append(rows)
    return groups, leaves, chain


def bit_set(order: Iterable[str], values: set[str]) -> str:
    """The number with a bit for each of the values, whose bits go by the order."""
    return f"{sum(1 << n for n, name in enumerate(order) if name in values):#x}"


def instructions_h(table: Table) -> str:
    isa = table.isa
    groups, leaves, chain = decoder(table)
    longest = max(len(i.operands) for i in table.instructions)
    out = ["/* Generated from instructions.def by generate.py. */", "#ifndef EMULIB_@_INSTRUCTIONS_H",
           "#define EMULIB_@_INSTRUCTIONS_H", "#include <stdint.h>"]
    out.append("enum %_instruction { @_reserved, " + ", ".join(f"@_{i.identifier}" for i in table.instructions)
               + ", @_INSTRUCTIONS };")
    out.append("enum %_set { " + ", ".join(f"@_SET_{s}" for s in table.sets) + ", @_SETS };")
    out.append("enum %_class { @_CLASS_none, " + ", ".join(f"@_CLASS_{c}" for c in isa.classes) + " };")
    out.append("enum %_operand { @_OPERAND_none, " + ", ".join(f"@_OPERAND_{o}" for o in isa.operands) + " };")
    out.append("enum { " + ", ".join(f"@_FIELD_{f} = {1 << n}" for n, f in enumerate(isa.fields)) + " };")
    out.append(f"enum {{ @_MAX_OPERANDS = {longest} }};")
    out.append("#define @_SET_NAMES " + ", ".join(f'"{s}"' for s in table.sets))
    out.append("#define @_EACH_INSTRUCTION(X) " + " ".join(f"X({i.identifier})" for i in table.instructions))
    for tag in table.sets:  # what each adds to the set that it extends
        added = " ".join(f"X({i.identifier})" for i in table.instructions if i.tag == tag)
        out.append(f"#define @_ADDED_BY_{tag}(X) {added}")
    out.append("struct %_info { const char *name; uint32_t match, mask; uint8_t kind, reads, writes, sets, "
               "operands[@_MAX_OPERANDS], next[@_SETS]; };")
    out.append("static const struct %_info %_info[@_INSTRUCTIONS] = {")
    out.append('  [@_reserved] = {.name = "reserved"},')
    for i in table.instructions:  # sets of bits as numbers: every unit that decodes reads this
        operands = ", ".join(f"@_OPERAND_{o}" for o in i.operands) or "0"
        follow = ", ".join(f"[@_SET_{s}] = @_{n}" for s, n in chain[i.identifier].items()) or "0"
        out.append(f'  [@_{i.identifier}] = {{"{i.name}", {i.match:#010x}, {i.mask:#010x}, @_CLASS_{i.kind}, '
                   f"{bit_set(isa.fields, i.reads)}, {bit_set(isa.fields, i.writes)}, {bit_set(table.sets, i.sets)}, "
                   f"{{{operands}}}, {{{follow}}}}},")
    out.append("};")
    out.append("struct %_alias { const char *name; uint32_t word; uint8_t sets; };")
    out.append("static const struct %_alias %_aliases[] = {")
    for a in table.aliases:
        holding = {s for s in table.sets if a.tag in table.contains(s)}
        out.append(f'  {{"{a.name}", {a.word:#010x}, {bit_set(table.sets, holding)}}},')
    out += ["  {0, 0, 0}", "};"]
    out.append("struct %_group { uint16_t first; uint8_t shift, mask; };")
    out.append(f"static const struct %_group %_groups[@_SETS][{1 << isa.major[1]}] = {{")
    for name, rows in zip(table.sets, groups, strict=True):
        out.append(f"  [@_SET_{name}] = {{" + ", ".join(f"{{{a}, {b}, {c}}}" for a, b, c in rows) + "},")
    out.append("};")
    out.append(f"static const uint8_t %_leaves[{len(leaves)}] = {{")
    out.append("  " + ", ".join(f"@_{leaf}" for leaf in leaves))
    out += ["};", "#endif", ""]
    return "\n".join(out).replace("@", isa.prefix).replace("%", isa.name)


def control_inc(table: Table) -> str:
    isa = table.isa
    out = ["/* Generated from instructions.def by generate.py: what a pipeline does with each instruction.",
           f" * CONTROL(name, reads, writes, {', '.join(isa.words)})", " */"]
    for i in table.instructions:
        words = ", ".join(i.control.get(k, isa.absence(k)) for k in isa.words)
        out.append(f"CONTROL({i.identifier}, {bit_set(isa.fields, i.reads)}, {bit_set(isa.fields, i.writes)}, {words})")
    return "\n".join(out) + "\n"


def check_bodies(table: Table, paths: list[str]) -> None:
    bodies = {path: re.findall(r"^BODY\((\w+)\)", Path(path).read_text(encoding="utf-8"), re.MULTILINE)
              for path in paths}
    listed = [i.identifier for i in table.instructions]
    problems = [f"{paths[0]}: instruction {n} of the table has no body; write BODY({n}) {{ ... }}"
                for n in listed if not any(n in found for found in bodies.values())]
    problems += [f"{path}: BODY({n}) is not in the table" for path in paths for n in bodies[path] if n not in listed]
    if problems:
        raise TableError("\n".join(problems))


def main(arguments: list[str]) -> int:
    if len(arguments) < 3:
        print("usage: generate.py instructions.def BODIES... OUTPUT_DIRECTORY", file=sys.stderr)
        return 2
    definition, *bodies, output = arguments
    try:
        table = parse(definition)
        check_bodies(table, bodies)
    except (TableError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, text in (("instructions.h", instructions_h(table)), ("control.inc", control_inc(table))):
        Path(output, f"{table.isa.name}_{name}").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
