"""Turns instructions.def into the generated headers of emulib.

    generate.py instructions.def bodies.h OUTPUT_DIRECTORY

writes mips_instructions.h (enumerations, decoder tables, hazard sets, operand formats; see isa.h) and mips_control.inc
(one CONTROL(...) line per instruction with what a pipeline does with it).  Refuses a table that contradicts itself:
encodings that overlap within a set, a format whose registers differ from the reads and writes, an instruction without
a body.  Diagnostics are `file:line: text`; nothing is written when there is one.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

FIELDS = ("rs", "rt", "rd", "ra", "hi", "lo")
CLASSES = ("alu", "muldiv", "hilo", "jump", "branch", "load", "store", "trap", "system")
OPERANDS = ("rd", "rs", "rt", "sa", "simm", "uimm", "memory", "offset", "target", "code", "code10", "code20", "stype")
WORDS = {
    "alu": ("add", "sub", "and", "or", "xor", "nor", "slt", "sltu", "sll", "srl", "sra", "priority"),
    "a": ("zero", "rs", "rt"),
    "b": ("zero", "rt", "rs", "imm"),
    "imm": ("none", "signed", "unsigned", "upper", "shift", "offset", "target"),
    "mem": ("none", "load", "store", "linked", "conditional"),
    "size": ("0", "1", "2", "4"),
    "part": ("whole", "left", "right"),
    "sign": ("no", "yes"),
    "branch": ("never", "eq", "ne", "lez", "gtz", "ltz", "gez", "jump", "register", "indexed"),
    "likely": ("no", "yes"),
    "link": ("no", "yes"),
    "muldiv": ("none", "mult", "multu", "div", "divu", "mfhi", "mflo", "mthi", "mtlo"),
    "trap": ("none", "overflow", "zero", "nonzero", "syscall", "breakpoint"),
    "dest": ("none", "rd", "rt", "ra"),
}
ABSENT = {"alu": "or"}  # every other control word is its first one when the table does not give it


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


@dataclass
class Table:
    path: str
    sets: dict[str, str | None] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)

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
    if kind not in CLASSES:
        raise TableError(f"{name}: there is no class '{kind}'; classes are {', '.join(CLASSES)}")
    words: dict[str, str] = {}
    for item in [] if control == ["-"] else control:
        key, _, value = item.partition("=")
        if key not in WORDS or value not in WORDS[key]:
            known = ", ".join(WORDS.get(key, WORDS))
            raise TableError(f"{name}: control '{item}' is not known; possible here: {known}")
        words[key] = value
    new = Instruction(name, tag, int(match, 16), int(mask, 16), names(operands), set(names(reads)),
                      set(names(writes)), kind, words, number)
    check(new)
    return new


def check(i: Instruction) -> None:
    """The columns of one line must say the same thing."""
    if i.match & ~i.mask:
        raise TableError(f"{i.name}: match {i.match:#010x} has bits outside mask {i.mask:#010x}")
    for operand in i.operands:
        if operand not in OPERANDS:
            raise TableError(f"{i.name}: there is no operand '{operand}'; operands are {', '.join(OPERANDS)}")
    for register in i.reads | i.writes:
        if register not in FIELDS:
            raise TableError(f"{i.name}: there is no register field '{register}'; fields are {', '.join(FIELDS)}")
    free = {"rs": 21, "rt": 16, "rd": 11}
    used = set(i.operands) | ({"rs"} if "memory" in i.operands else set())
    for register, low in free.items():
        touched = register in i.reads | i.writes
        if touched and (i.mask >> low & 31):
            raise TableError(f"{i.name}: uses {register}, but its mask fixes that field")
        if touched != (register in used):
            raise TableError(f"{i.name}: operands {','.join(i.operands)} and the registers read and written disagree "
                             f"about {register}")
    dest = i.control.get("dest")
    results = i.writes & {"rd", "rt", "ra"}
    if results != ({dest} if dest else set()):
        written = ",".join(sorted(results)) or "no register"
        raise TableError(f"{i.name}: writes {written}, but dest is {dest or 'absent'}")
    for select in ("a", "b"):
        if i.control.get(select) in ("rs", "rt") and i.control[select] not in i.reads:
            raise TableError(f"{i.name}: operand {select} is {i.control[select]}, which it does not read")


def parse(path: str) -> Table:
    table = Table(path)
    problems = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        columns = line.split("#")[0].split()
        if not columns:
            continue
        try:
            if columns[0] == "set":
                base = columns[3] if len(columns) == 4 and columns[2] == ":" else None
                if len(columns) not in (2, 4) or (base is not None and base not in table.sets):
                    raise TableError("a set is declared as 'set NAME' or 'set NAME : EXTENDED'")
                table.sets[columns[1]] = base
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


def decoder(table: Table) -> tuple[list[list[tuple[int, int, int]]], list[str], dict[str, dict[str, str]]]:
    """Dense tables.  Per set and major opcode: first leaf, shift, mask; leaves; and the next candidate per set."""
    leaves: list[str] = []
    groups: list[list[tuple[int, int, int]]] = []
    chain: dict[str, dict[str, str]] = {i.name: {} for i in table.instructions}
    for set_name in table.sets:
        rows = []
        for opcode in range(64):
            inside = [i for i in table.instructions if set_name in i.sets and i.match >> 26 == opcode]
            shift, mask = 0, 0
            if len(inside) > 1:
                # The field that separates them: function, or rt.
                shift, mask = (0, 63) if all(i.mask & 63 == 63 for i in inside) else (16, 31)
            rows.append((len(leaves), shift, mask))
            for value in range(mask + 1):
                here = [i.name for i in inside
                        if (value ^ (i.match >> shift)) & (i.mask >> shift) & mask == 0]
                leaves.append(here[0] if here else "reserved")
                for a, b in zip(here, here[1:], strict=False):
                    chain[a][set_name] = b
        groups.append(rows)
    return groups, leaves, chain


def flags(prefix: str, values: set[str]) -> str:
    return " | ".join(f"{prefix}_{v}" for v in FIELDS if v in values) or "0"


def instructions_h(table: Table) -> str:
    groups, leaves, chain = decoder(table)
    longest = max(len(i.operands) for i in table.instructions)
    out = ["/* Generated from instructions.def by generate.py. */", "#ifndef EMULIB_MIPS_INSTRUCTIONS_H",
           "#define EMULIB_MIPS_INSTRUCTIONS_H", "#include <stdint.h>"]
    out.append("enum mips_instruction { MIPS_reserved, " + ", ".join(f"MIPS_{i.name}" for i in table.instructions)
               + ", MIPS_INSTRUCTIONS };")
    out.append("enum mips_set { " + ", ".join(f"MIPS_SET_{s}" for s in table.sets) + ", MIPS_SETS };")
    out.append("enum mips_class { MIPS_CLASS_none, " + ", ".join(f"MIPS_CLASS_{c}" for c in CLASSES) + " };")
    out.append("enum mips_operand { MIPS_OPERAND_none, " + ", ".join(f"MIPS_OPERAND_{o}" for o in OPERANDS) + " };")
    out.append("enum { " + ", ".join(f"MIPS_FIELD_{f} = {1 << n}" for n, f in enumerate(FIELDS)) + " };")
    out.append(f"enum {{ MIPS_MAX_OPERANDS = {longest} }};")
    out.append("#define MIPS_SET_NAMES { " + ", ".join(f'"{s}"' for s in table.sets) + " }")
    out.append("#define MIPS_EACH_INSTRUCTION(X) " + " ".join(f"X({i.name})" for i in table.instructions))
    out.append("struct mips_info { const char *name; uint32_t match, mask; uint8_t kind, reads, writes, sets, "
               "operands[MIPS_MAX_OPERANDS], next[MIPS_SETS]; };")
    out.append("static const struct mips_info mips_info[MIPS_INSTRUCTIONS] = {")
    out.append('  [MIPS_reserved] = {.name = "reserved"},')
    for i in table.instructions:
        operands = ", ".join(f"MIPS_OPERAND_{o}" for o in i.operands) or "0"
        follow = ", ".join(f"[MIPS_SET_{s}] = MIPS_{n}" for s, n in chain[i.name].items()) or "0"
        sets = " | ".join(f"1 << MIPS_SET_{s}" for s in table.sets if s in i.sets)
        out.append(f'  [MIPS_{i.name}] = {{"{i.name}", {i.match:#010x}, {i.mask:#010x}, MIPS_CLASS_{i.kind}, '
                   f"{flags('MIPS_FIELD', i.reads)}, {flags('MIPS_FIELD', i.writes)}, {sets}, "
                   f"{{{operands}}}, {{{follow}}}}},")
    out.append("};")
    out.append("struct mips_group { uint16_t first; uint8_t shift, mask; };")
    out.append("static const struct mips_group mips_groups[MIPS_SETS][64] = {")
    for name, rows in zip(table.sets, groups, strict=True):
        out.append(f"  [MIPS_SET_{name}] = {{" + ", ".join(f"{{{a}, {b}, {c}}}" for a, b, c in rows) + "},")
    out.append("};")
    out.append(f"static const uint8_t mips_leaves[{len(leaves)}] = {{")
    out.append("  " + ", ".join(f"MIPS_{leaf}" for leaf in leaves))
    out += ["};", "#endif", ""]
    return "\n".join(out)


def control_inc(table: Table) -> str:
    keys = ", ".join(WORDS)
    out = ["/* Generated from instructions.def by generate.py: what a pipeline does with each instruction.",
           f" * CONTROL(name, reads, writes, {keys})", " */"]
    for i in table.instructions:
        words = ", ".join(i.control.get(k, ABSENT.get(k, WORDS[k][0])) for k in WORDS)
        out.append(f"CONTROL({i.name}, {flags('MIPS_FIELD', i.reads)}, {flags('MIPS_FIELD', i.writes)}, {words})")
    return "\n".join(out) + "\n"


def check_bodies(table: Table, path: str) -> None:
    bodies = re.findall(r"^BODY\((\w+)\)", Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    listed = [i.name for i in table.instructions]
    problems = [f"{path}: instruction {n} of the table has no body; write BODY({n}) {{ ... }}"
                for n in listed if n not in bodies]
    problems += [f"{path}: BODY({n}) is not in the table" for n in bodies if n not in listed]
    if problems:
        raise TableError("\n".join(problems))


def main(arguments: list[str]) -> int:
    if len(arguments) != 3:
        print("usage: generate.py instructions.def bodies.h OUTPUT_DIRECTORY", file=sys.stderr)
        return 2
    definition, bodies, output = arguments
    try:
        table = parse(definition)
        check_bodies(table, bodies)
    except (TableError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, text in (("mips_instructions.h", instructions_h(table)), ("mips_control.inc", control_inc(table))):
        Path(output, name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
