"""What generate.py must know of an instruction set beyond its table: the fields of its words, and the words that the
table's columns may hold.  An instruction set's folder says that in fields.py."""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Isa:
    name: str  # as the table's line `isa NAME` says; prefix of everything generated
    major: tuple[int, int]  # the field that groups the instructions of a set: first bit, bits
    minors: tuple[tuple[int, int], ...]  # fields that tell a group's members apart: the first that all of them fix
    fields: dict[str, int | None]  # registers; first of the 5 bits that name one, None: not in the word
    results: tuple[str, ...]  # those that `dest` may name
    classes: tuple[str, ...]
    operands: tuple[str, ...]
    uses: dict[str, str]  # registers in operands that are more than a register
    words: dict[str, tuple[str, ...]]  # the control column; the first word is meant when the column is silent

    @property
    def prefix(self) -> str:
        return self.name.upper()

    def absence(self, key: str) -> str:
        """What a control word is when the table does not give it."""
        return self.words[key][0]


def known() -> dict[str, Isa]:
    """Each instruction set by its name: the ISA of the fields.py in its folder."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*/fields.py")):
        isa = runpy.run_path(str(path))["ISA"]
        found[isa.name] = isa
    return found
