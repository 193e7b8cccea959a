"""The files of a command, each with what it is used for: one that is written is used for nothing else.

Arguments say by their type (READ, WRITTEN, Folder) what becomes of the file that they name, and `check_arguments` notes
all of them before the command opens any; what a command learns of later, it notes itself.  Two names of one file (a
symbolic or hard link, another way there) are the same file, also when it is still to be made.
"""

import argparse
import fnmatch
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class ClashError(Exception):
    """A file would be written that is used already; the text is one line for the user."""


@dataclass(frozen=True)
class FileArgument:
    """The type of an argument that names a file."""

    written: bool

    def __call__(self, text: str) -> Path:
        return Path(text)


@dataclass(frozen=True)
class Folder:
    """The type of an argument that names a folder in which files of these names are written; `*` matches any text."""

    names: tuple[str, ...]

    def __call__(self, text: str) -> Path:
        return Path(text)


def folder(*names: str) -> Folder:
    return Folder(names)


READ, WRITTEN, FOLDER = FileArgument(False), FileArgument(True), folder()


# What tells a file from others: device and inode of itself, or of the innermost folder on its way, and the names below.
Identity = tuple[int, int, str]


def _identity(path: str | os.PathLike) -> Identity | None:
    """None for what is no file of one use: a pipe, a device, or nothing that can be reached at all."""
    place = Path(os.path.realpath(path))  # without links, and without ".." in folders still to be made
    for candidate in os.fspath(path), *(os.fspath(one) for one in (place, *place.parents)):
        try:
            found = os.stat(candidate)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(found.st_mode):
            names = os.path.relpath(place, candidate)
            return (found.st_dev, found.st_ino, names) if names != "." else None
        return (found.st_dev, found.st_ino, "") if stat.S_ISREG(found.st_mode) else None
    return None


@dataclass
class UsedFiles:
    """Those of one command."""

    _used: dict[Identity, tuple[str, str, bool]] = field(default_factory=dict)  # path, user, written
    _folders: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)  # path, user, names

    def reads(self, path: str | os.PathLike, user: str) -> None:
        """Notes that `user` ("--text", "the study") reads a file."""
        self._note(path, user, False)
        for place, writer, names in self._folders:
            self._spare(place, writer, names, path, user, False)

    def writes(self, path: str | os.PathLike, user: str) -> None:
        """Notes that `user` writes a file."""
        self._note(path, user, True)
        for place, writer, names in self._folders:
            self._spare(place, writer, names, path, user, True)

    def writes_in(self, place: str | os.PathLike, names: Iterable[str], user: str) -> None:
        """Notes that `user` writes files of these names in a folder."""
        names = tuple(names)
        for name in names:
            if "*" not in name:
                self._note(os.path.join(place, name), user, True)
        for path, other, written in list(self._used.values()):
            if other != user:
                self._spare(os.fspath(place), user, names, path, other, written)
        self._folders.append((os.fspath(place), user, names))

    def _note(self, path: str | os.PathLike, user: str, written: bool) -> None:
        identity, text = _identity(path), os.fspath(path)
        if identity is None:
            return
        before = self._used.setdefault(identity, (text, user, written))
        if before[:2] == (text, user) or not (written or before[2]):
            return
        mine, other = ((text, user), before) if written else (before, (text, user, False))
        _refuse(*mine[:2], *other)

    def _spare(
        self, place: str, writer: str, names: tuple[str, ...], path: str | os.PathLike, user: str, writes: bool
    ) -> None:  # fmt: skip
        """Refuses what another one uses in a folder where files of such names are written."""
        below = os.path.relpath(os.path.realpath(path), os.path.realpath(place))
        if any("*" in name and fnmatch.fnmatchcase(below, name) for name in names):
            _refuse(os.path.join(place, below), writer, os.fspath(path), user, writes)


def _refuse(path: str, writer: str, other: str, user: str, writes: bool) -> None:
    alias = f', as "{other}"' if other != path else ""
    verb = "writes" if writes else "reads"
    raise ClashError(f'cannot write "{path}" for {writer}: {user} {verb} it too{alias} (name another file)')


def _standard(used: UsedFiles) -> None:
    """Notes output that was directed to files; both streams may go to one, as 2>&1 has it."""
    for number, name in (2, "standard error"), (1, "standard output"):
        try:
            found = os.fstat(number)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            path = os.readlink(f"/proc/self/fd/{number}")
            used._used.setdefault((found.st_dev, found.st_ino, ""), (path, name, True))


def _name(action: argparse.Action) -> str:
    return action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest).upper()


def _given(action: argparse.Action, options: argparse.Namespace) -> Sequence[Path]:
    value: Any = getattr(options, action.dest, None)
    return [] if value is None else value if isinstance(value, list) else [value]


def check_arguments(actions: Iterable[argparse.Action], options: argparse.Namespace) -> UsedFiles:
    """The files that the arguments of a command name, none of which is written and used for something else too."""
    used = UsedFiles()
    _standard(used)
    for action in actions:
        for path in _given(action, options):
            if isinstance(action.type, Folder):
                used.writes_in(path, action.type.names, _name(action))
            elif isinstance(action.type, FileArgument):
                (used.writes if action.type.written else used.reads)(path, _name(action))
    return used
