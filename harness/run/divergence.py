"""Where two runs part: the first cycle after which their states differ, and which states those are.

Both runs write hashes of their state, far apart at first.  From a checkpoint where they were last the same they are
run again, with hashes closer together, until these are a cycle apart.  The runs may be of two builds of a machine, or
of one with other options.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.run import process

STEPS = (100_000, 2_000, 50, 1)  # cycles between two hashes, from pass to pass; each divides the one before


class DivergenceError(Exception):
    """The runs cannot be compared; the text says which of them fails, and how."""


@dataclass(frozen=True)
class Divergence:
    """The first cycle before which the states differ, the latest before which they do not, and a line per value."""

    cycle: int
    same: int | None
    differences: list[str]


def _run(command: Sequence[str], *options: object, fine: tuple[int, ...] = (0,)) -> str:
    done = process.run([*command, *map(str, options)])
    if done.status not in fine:
        lines = done.err.strip().splitlines() or ["no message"]
        raise DivergenceError(f"{' '.join(command)}: exit status {done.status}: {lines[0]}")
    return done.out


def _hashes(command: Sequence[str], folder: Path, every: int, *options: object) -> list[tuple[int, str]]:
    file = folder / "hashes"
    _run(command, "--quiet", "--state-hashes", file, "--state-hash-every", every, *options)
    return [(int(cycle), text) for cycle, text in (line.split() for line in file.read_text().splitlines())]


def _first(one: list[tuple[int, str]], other: list[tuple[int, str]]) -> tuple[int | None, int | None]:
    """The last cycle with the same hash on both sides, and the first without; None when there is none."""
    same = None
    for a, b in zip(one, other, strict=True):
        if a != b:
            return same, a[0]
        same = a[0]
    return same, None


def find(commands: Sequence[Sequence[str]], folder: Path) -> Divergence | None:
    """Where the runs of two commands part; None when they end in the same state.  `folder` is for what lies between."""
    lists = [_hashes(command, folder, STEPS[0]) for command in commands]
    ends = [hashes[-1][0] for hashes in lists]
    limit: list[object] = ["--cycles", min(ends)]
    if ends[0] != ends[1]:
        lists = [_hashes(command, folder, STEPS[0], *limit) for command in commands]
    found = _narrow(commands, folder, lists, limit)
    if found or ends[0] == ends[1]:
        return found
    return Divergence(min(ends), min(ends), [f"the first run ends in cycle {ends[0]}, the second in cycle {ends[1]}"])


def _narrow(
    commands: Sequence[Sequence[str]], folder: Path, lists: list[list[tuple[int, str]]], limit: list[object]
) -> Divergence | None:
    points = [folder / "first.checkpoint", folder / "second.checkpoint"]
    begin: list[list[object]] = [[], []]
    same, differs = _first(*lists)
    if differs is None:
        return None
    for every in STEPS[1:]:
        if same is None:
            break
        _checkpoints(commands, begin, same, points)
        begin = [["--restore", point] for point in points]
        limit = ["--cycles", differs]
        lists = [
            _hashes(command, folder, every, *limit, *start) for command, start in zip(commands, begin, strict=True)
        ]
        same, differs = _first(*lists)
        assert differs is not None, "what differs at the end of a run does so again"
    last = [folder / "first.end", folder / "second.end"]
    _checkpoints(commands, begin, differs, last)
    lines = _run(commands[0][:1], "--restore", last[0], "--compare", last[1], fine=(0, 1)).splitlines()
    return Divergence(differs, same, lines)


def _checkpoints(commands: Sequence[Sequence[str]], begin: list[list[object]], cycle: int, points: list[Path]) -> None:
    for command, start, point in zip(commands, begin, points, strict=True):
        _run(command, "--quiet", "--cycles", cycle, *start, "--checkpoint", point)
