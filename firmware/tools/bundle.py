#!/usr/bin/env python3
"""Compiles for a pipeline of two slots: a compiler of C or assembly first, whose instructions then go into bundles.

    bundle.py CLANG [OPTIONS] -c SOURCE -o OBJECT

A bundle is one instruction for each slot; what is read in it is what the bundles before it have left.  Slot 0 takes
branches, loads, stores, system instructions and halves of addresses; slot 1 multiplication, division, HI and LO;
everything else goes into either.  Within a block of straight code instructions are reordered by how much waits for
them, references to memory not among each other.  Functions whose name ends in _narrow stay as they are, one instruction
to a bundle.

Slot 0 of the section .text.f stays in it, slot 1 is put into .slot1.text.f, instruction for instruction, for a linker
script that places both at the distance that the machine expects.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "emulib"))
import generate  # noqa: E402

NOP = "\tnop"
LATENCY = {"load": 2, "muldiv": 2}  # bundles from an instruction to a use that does not wait; others: 1, to a branch 2
SET = "mips2"
SLOT0 = ("branch", "jump", "load", "store", "system", "trap")
SLOT1 = ("muldiv", "hilo")
# What says nothing to slot 1 and nothing true of slot 0 any more, and what every file says once for all.
DROPPED = re.compile(r"#|\.set (no)?(reorder|macro|at)$|\.set (push|pop)$|\.p2align|\.align|\.(ent|end|frame|f?mask)\b")


class BundleError(Exception):
    """Something that cannot be bundled, with its line."""


@dataclass
class Op:
    """One instruction."""

    text: str
    name: str
    kind: str
    reads: set
    writes: set
    slots: tuple[int, ...]
    after: list[tuple[Op, int, int]] = field(default_factory=list)  # an earlier one, bundles at least, without waiting
    height: int = 0

    @property
    def branches(self) -> bool:
        return self.kind in ("branch", "jump")

    @property
    def refers(self) -> bool:
        return self.kind in ("load", "store")


@cache
def table() -> list[generate.Instruction]:
    path = Path(generate.__file__).parent / "mips" / "instructions.def"
    return [i for i in generate.parse(str(path)).instructions if SET in i.sets]


def decode(word: int, text: str) -> Op:
    found = next((i for i in table() if word & i.mask == i.match), None)
    if found is None or found.control.get("likely") == "yes":
        raise BundleError(f"'{text.strip()}' ({word:#010x}) is nothing that a bundle takes")
    at = {"rs": word >> 21 & 31, "rt": word >> 16 & 31, "rd": word >> 11 & 31, "ra": 31, "hi": "hi", "lo": "lo"}
    reads, writes = ({at[f] for f in fields} - {0} for fields in (found.reads, found.writes))
    slots = (0, 1)
    if found.kind in SLOT0 or "%" in text:
        slots = (0,)
    elif found.kind in SLOT1:
        slots = (1,)
    return Op(text, found.name, found.kind, reads, writes, slots)


def distance(a: Op, b: Op) -> tuple[int, int] | None:
    """How many bundles b must come behind a, and should; None when they have nothing to do with each other."""
    if a.writes & b.reads:
        return 1, 2 if b.branches else LATENCY.get(a.kind, 1)
    if a.writes & b.writes or (a.refers and b.refers):
        return 1, 1
    return (0, 0) if a.reads & b.writes else None


def prepare(block: list[Op]) -> None:
    """Who must come before whom; a branch comes last."""
    for n, op in enumerate(block):
        op.after = []
        for earlier in block[:n]:
            near = distance(earlier, op)
            if near or op.branches:
                op.after.append((earlier, *(near or (0, 0))))
    for op in reversed(block):
        for earlier, _, wanted in op.after:
            earlier.height = max(earlier.height, op.height + max(wanted, 1))


def schedule(block: list[Op]) -> list[list[Op | None]]:
    """The bundles of a block of straight code."""
    prepare(block)
    bundles: list[list[Op | None]] = []
    when: dict[int, int] = {}  # by id: the time of the bundle
    left, time = list(block), 0

    def ready(op: Op) -> bool:
        """Nothing before it is missing; in the bundle at hand only what it may share that with."""
        return all(id(e) in when and when[id(e)] + (wanted if when[id(e)] < time else least) <= time
                   for e, least, wanted in op.after)

    while left:
        bundle: list[Op | None] = [None, None]
        for slot in (0, 1, 0):  # what slot 1 takes may let slot 0 overwrite what it reads
            if bundle[slot] is None:
                # What fits nowhere else first, then what most waits for.
                fits = sorted((op for op in left if slot in op.slots and ready(op)),
                              key=lambda op: (len(op.slots), -op.height))
                if fits:
                    bundle[slot] = fits[0]
                    when[id(fits[0])] = time
                    left.remove(fits[0])
        if bundle != [None, None]:
            bundles.append(bundle)
        time += 1
    return bundles


def in_order(block: list[Op]) -> list[list[Op | None]]:
    return [[op, None] if 0 in op.slots else [None, op] for op in block]


@dataclass
class Section:
    name: str
    header: str
    words: list[int]
    slots: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    block: list[Op] = field(default_factory=list)
    pending: bool = False  # the branch at the end of the block wants its delay slot
    used: int = 0

    def operate(self, text: str) -> None:
        if self.used >= len(self.words):
            raise BundleError(f"'{text.strip()}' is more than one instruction")
        op = decode(self.words[self.used], text)
        self.used += 1
        if self.pending:
            if op.branches:
                raise BundleError(f"'{text.strip()}' is a branch behind a branch")
            self.pending = False
            self.flush()
            self.emit(in_order([op]))
        elif op.kind in ("system", "trap"):
            self.flush()
            self.emit(in_order([op]))
        else:
            self.block.append(op)
            self.pending = op.branches

    def flush(self) -> None:
        if self.pending:
            raise BundleError(f"'{self.block[-1].text.strip()}' has no delay slot")
        self.emit((in_order if self.name.endswith("_narrow") else schedule)(self.block))
        self.block = []

    def emit(self, bundles: list[list[Op | None]]) -> None:
        for bundle in bundles:
            for lines, op in zip(self.slots, bundle, strict=True):
                lines.append(op.text if op else NOP)


def section_words(path: Path) -> dict[str, list[int]]:
    """The words of the executable sections of a big-endian ELF object."""
    data = path.read_bytes()
    offset, (size, count, names) = struct.unpack_from(">I", data, 32)[0], struct.unpack_from(">HHH", data, 46)
    headers = [struct.unpack_from(">10I", data, offset + size * n) for n in range(count)]
    strings = headers[names][4]
    found = {}
    for name, _, flags, _, at, length, *_ in headers:
        if flags & 4:
            text = data[strings + name : data.index(b"\0", strings + name)].decode()
            found[text] = list(struct.unpack_from(f">{length // 4}I", data, at))
    return found


def is_directive(code: str) -> bool:
    """True for what is neither a label nor an instruction; a .word among code is one."""
    return bool(re.match(r"\.(?!word\b)[\w.]+(?!\w*:)|[\w.$]+\s*=", code)) and not code.endswith(":")


def bundled(text: str, words: dict[str, list[int]]) -> str:
    """Assembly text with its code in bundles."""
    sections: dict[str, Section] = {}
    out = ["\t.set noreorder", "\t.set nomacro", "\t.set noat"]
    current: Section | None = None
    for line in text.splitlines():
        code = re.sub(r'\s#(?=([^"]*"[^"]*")*[^"]*$).*', "", line).strip()
        named = re.match(r"\.section\s+([^,\s]+)|(\.text)$|\.(data|bss|rdata)\b", code)
        if named:
            name = named[1] or named[2] or ""
            current = sections.setdefault(name, Section(name, line, words[name])) if name in words else None
            if current is None:
                out.append(line)
        elif current is None:
            out.append(line)
        elif not code or DROPPED.match(code):
            continue
        elif is_directive(code):
            current.slots[0].append(line)
        elif re.match(r"[\w.$]+:", code):
            label, _, rest = code.partition(":")
            current.flush()
            current.slots[0].append(f"{label}:")
            if rest.strip():
                current.operate("\t" + rest.strip())
        else:
            current.operate("\t" + code)
    for section in sections.values():
        section.flush()
        if section.used != len(section.words):
            raise BundleError(f"section {section.name} has {len(section.words)} words for {section.used} instructions")
        out += [section.header, "\t.p2align 4", *section.slots[0]]
        out += [f'\t.section .slot1{section.name},"ax",@progbits', "\t.p2align 4", *section.slots[1]]
    return "\n".join(out) + "\n"


def run(command: list[str]) -> None:
    done = subprocess.run(command)
    if done.returncode:
        sys.exit(done.returncode)


def main(command: list[str]) -> int:
    if "-c" not in command or "-o" not in command:
        print("usage: bundle.py CLANG [OPTIONS] -c SOURCE -o OBJECT", file=sys.stderr)
        return 2
    source, output = command[command.index("-c") + 1], command[command.index("-o") + 1]
    options = [w for n, w in enumerate(command) if w not in ("-c", "-o") and command[n - 1] not in ("-c", "-o")]
    target = [w for w in options[1:] if w.startswith(("--target=", "-m", "-E"))]
    options.append("-Wno-unused-command-line-argument")
    with tempfile.TemporaryDirectory() as directory:
        plain, objects, wide = (Path(directory, name) for name in ("plain.s", "plain.o", "wide.s"))
        made = ["-E", "-P"] if source.endswith(".S") else ["-S"]
        run([*options, "-g0", *made, "-MT", output, source, "-o", str(plain)])
        text = "\t.set noreorder\n\t.set nomacro\n\t.set noat\n" + plain.read_text()
        text = re.sub(r"^\s*\.(module\s.*|set\s+(reorder|macro|at|push|pop))$", "", text, flags=re.MULTILINE)
        plain.write_text(text)
        run([options[0], *target, "-c", str(plain), "-o", str(objects)])
        try:
            wide.write_text(bundled(text, section_words(objects)))
        except BundleError as error:
            print(f"{source}: {error}", file=sys.stderr)
            return 1
        run([options[0], *target, "-c", str(wide), "-o", output])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
