"""Exceptions: the text of each is what the tool said, or one line that names the thing and the cure."""

from collections.abc import Iterable, Sequence
from pathlib import Path


class SpinachError(Exception):
    """A tool that failed: its command, its status (None: it was ended at the timeout), and what it said."""

    def __init__(self, command: Sequence[object], status: int | None, said: str) -> None:
        super().__init__(said.strip())
        self.command, self.status, self.said = [str(word) for word in command], status, said


class BuildError(SpinachError):
    """A machine that the compiler refuses, or no compiler."""


class VersionError(SpinachError):
    """A compiler of another version than this package."""


class RunError(SpinachError):
    """A simulation that failed; its folder is kept."""

    def __init__(self, command: Sequence[object], status: int | None, said: str, folder: Path) -> None:
        super().__init__(command, status, said)
        self.folder = folder


class UnknownName(KeyError):  # noqa: N818  (as KeyError and NameError are called)
    """A name that nothing has; `near` are those that it may stand for."""

    def __init__(self, name: str, near: Iterable[str], text: str) -> None:
        super().__init__(text)
        self.name, self.near, self.text = name, list(near), text

    def __str__(self) -> str:
        return self.text


def unknown(what: str, name: str, near: Sequence[str], known: Iterable[str]) -> UnknownName:
    """There is no such thing: which one was meant, or the first of those that there are."""
    first = sorted(known)
    if near:
        cure = f"did you mean {near[0]!r}?"
    elif first:
        cure = f"known are {', '.join(first[:12])}{', …' if len(first) > 12 else ''}"
    else:
        cure = "there are none"
    return UnknownName(name, near, f"{what} {name!r}; {cure}")
