"""Kernel modules that a guest loads: the functions of a relocatable ELF file, at the address that the guest printed.

    symbols = [{ file = "build/guest/modules/rule30.ko", section_at = "printed" }]

The modules of a guest folder need no entry.  The guest prints a line `module NAME ADDRESS` with the address of the
module's section .text, which Linux has in /sys/module/NAME/sections/.text.  The last such line counts, of the run or of
the run at whose end it began.
"""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.run import store
from harness.run.store import Result, RunError
from harness.study.study_file import StudyError
from harness.trace.profile import Place

SECTION, SYMBOLS, FUNCTION, RELOCATABLE = ".text", 2, 2, 1
LINE = re.compile(rb"^module (\S+) (?:0[xX])?([0-9a-fA-F]{1,16})\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Function:
    """A function, by its place in the section."""

    first: int
    size: int
    name: str


@dataclass(frozen=True)
class Module:
    """A module's file: its functions in the order of their places, and the size of their section."""

    file: Path
    functions: tuple[Function, ...]
    size: int

    @property
    def name(self) -> str:
        """As the kernel calls it."""
        return self.file.stem.replace("-", "_")

    def function_at(self, offset: int) -> str | None:
        """The function at a place in the section."""
        number = bisect_right(self.functions, offset, key=lambda one: one.first) - 1
        one = self.functions[number] if number >= 0 else None
        return one.name if one and offset < one.first + one.size else None


def is_module(given: Any) -> bool:
    """Whether an entry of `symbols` is a module, and not the path of an executable."""
    return isinstance(given, Mapping)


def check(given: Mapping[str, Any], where: str) -> str:
    """The file of an entry."""
    for key in given:
        if key not in ("file", "section_at"):
            raise StudyError(f"{where}: unknown key {key!r}; known are file, section_at")
    if not isinstance(given.get("file"), str):
        raise StudyError(f"{where}: `file` names the module")
    if given.get("section_at") != "printed":
        raise StudyError(f'{where}: {given["file"]}: it needs section_at = "printed": the guest prints where it is')
    return given["file"]


def read(file: Path) -> Module:
    """The functions of a module's file; StudyError, without its place, if it has none."""
    found = functions(file)
    if not found.functions:
        raise StudyError(f"{file} names no function in {SECTION} (was it stripped?)")
    return found


def functions(file: Path) -> Module:
    """The same of a file that may have none: the whole work of a module may be done while it is loaded."""
    try:
        data = file.read_bytes()
        return _read(file, data)
    except OSError as error:
        raise StudyError(f"{file}: {error.strerror}") from error
    except (struct.error, IndexError, ValueError):
        raise StudyError(f"{file} is a damaged ELF file") from None


def _read(file: Path, data: bytes) -> Module:
    if data[:4] != b"\x7fELF" or len(data) < 52:
        raise StudyError(f"{file} is no ELF file")
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    if struct.unpack_from(f"{order}H", data, 16)[0] != RELOCATABLE:
        raise StudyError(f"{file} is no loadable module, but a linked program (name it by its path alone)")
    sections = _sections(data, wide, order)
    names = [_text(data, sections[_names_at(data, wide, order)].offset + one.name) for one in sections]
    if SECTION not in names:
        raise StudyError(f"{file} has no section {SECTION}")
    text = names.index(SECTION)
    found = []
    for table in sections:
        if table.type == SYMBOLS:
            found += _functions(data, table, sections[table.link].offset, text, wide, order)
    return Module(file, tuple(sorted(found, key=lambda one: one.first)), sections[text].size)


@dataclass(frozen=True)
class _Section:
    name: int
    type: int
    offset: int
    size: int
    link: int
    entry: int


def _names_at(data: bytes, wide: bool, order: str) -> int:
    return struct.unpack_from(f"{order}H", data, 62 if wide else 50)[0]


def _sections(data: bytes, wide: bool, order: str) -> list[_Section]:
    first = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", data, 40 if wide else 32)[0]
    size, count = struct.unpack_from(f"{order}2H", data, 58 if wide else 46)
    form = f"{order}2I4Q2I2Q" if wide else f"{order}10I"
    found = []
    for number in range(count):
        name, kind, _, _, offset, length, link, _, _, entry = struct.unpack_from(form, data, first + number * size)
        found.append(_Section(name, kind, offset, length, link, entry))
    return found


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode(errors="replace")


def _functions(data: bytes, table: _Section, names: int, text: int, wide: bool, order: str) -> Iterable[Function]:
    for at in range(table.offset, table.offset + table.size, table.entry):
        if wide:
            name, info, _, section, value, size = struct.unpack_from(f"{order}I2BH2Q", data, at)
        else:
            name, value, size, info, _, section = struct.unpack_from(f"{order}3I2BH", data, at)
        if info & 15 == FUNCTION and section == text:
            yield Function(value, size, _text(data, names + name))


# ---- Where they are


def logs(result: Result) -> list[Path]:
    """The files with what a run printed, after those of the run at whose end it began."""
    begun = [path.parent for option, path in result.job.inputs if option == store.RESTORE and isinstance(path, Path)]
    folders = [*begun, result.directory]
    every = (file for folder in folders for file in [folder / store.LOG, *sorted(folder.glob(store.PRINTED))])
    return [file for file in every if file.is_file()]


def addresses(modules: Sequence[Module], files: Sequence[Path]) -> dict[str, int]:
    """Where each module was loaded, by name."""
    found = {name.decode(errors="replace"): int(at, 16) for file in files for name, at in LINE.findall(_lines(file))}
    for one in modules:
        if one.name not in found:
            where = " or ".join(map(str, files)) or "the run"
            missing = f"no line 'module {one.name} ADDRESS' was printed"
            raise RunError(f"{missing}, which says where {one.file} was loaded; see {where}")
    return found


def _lines(file: Path) -> bytes:
    return file.read_bytes().replace(b"\r\n", b"\n")


def name_places(places: Iterable[Place], modules: Sequence[Module], at: Mapping[str, int]) -> None:
    """Gives places within modules their functions: no executable has code there."""
    for place in places:
        for one in modules:
            offset = place.pc - at[one.name]
            if 0 <= offset < one.size:
                place.function = one.function_at(offset)
