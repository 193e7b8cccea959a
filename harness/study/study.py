"""The study of the main job: which machine is driven with which traffic, and which published figures stand beside it.

It is a TOML file beside the machine, so that nothing in this package knows any machine.  Paths in it are relative to
the file, or to the build directory where they begin with "build/".
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.net import theory
from harness.study import schema


class StudyError(schema.SchemaError):
    """A study file that cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class Replay:
    """A capture played through the machine once: frames of `host` are sent, all others received.

    `words` are the simulator's options."""

    capture: Path
    host: str
    about: str
    words: tuple[str, ...] = ()

    def resolved(self, path: Path, build: Path) -> "Replay":
        """The same with its path resolved, for a study that lies at `path`."""
        return replace(self, capture=schema.resolve(self.capture, path, build))


@dataclass(frozen=True)
class Direction:
    """One kind of traffic of a sweep.  Several ratios mean: run each, report the best (as measurements do)."""

    name: str
    ratios: tuple[str, ...]
    ways: int  # 1 or 2: how many directions of the link the theoretical maximum counts


@dataclass(frozen=True)
class Sweep:
    """Payload sizes in bytes, and frames of a run: all of both directions, and those that are not measured."""

    payloads: tuple[int, ...]
    frames: int
    warmup: int
    direction: tuple[Direction, ...]


@dataclass(frozen=True)
class Series:
    """A variant of the machine: its name, the parameters it is built with, the directions it is swept over (or all)."""

    name: str
    defines: dict[str, Any] = field(default_factory=dict)
    directions: tuple[str, ...] | None = None

    def words(self) -> tuple[str, ...]:
        """The parameters as -D takes them."""
        return tuple(f"{name}={value}" for name, value in self.defines.items())


@dataclass(frozen=True)
class OpenLoop:
    """Frames of one size offered at fixed rates whether the machine can take them or not: what is measured is drops.

    `words` are the simulator's options, in which {rate} stands for the rate on the wire in bit/s."""

    payload: int
    direction: str
    frames: int
    rates: tuple[float, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Effort:
    """A statistic per frame of one kind of traffic, beside what others reported for it."""

    label: str
    statistic: str
    payload: int
    ratio: str
    published: float


@dataclass(frozen=True)
class Published:
    """A figure that others reported, in percent of the theoretical maximum."""

    payload: int
    direction: str
    percent: float
    label: str


@dataclass(frozen=True)
class Study:
    """Everything of a study file, with paths resolved."""

    path: Path
    title: str
    about: str
    machine: Path
    replay: Replay
    sweep: Sweep
    series: tuple[Series, ...]
    firmware: Path | None = None
    link_rate: float = theory.GIGABIT
    conversations: Replay | None = None
    open_loop: OpenLoop | None = None
    effort: tuple[Effort, ...] = ()
    published: tuple[Published, ...] = ()


def load(path: Path, build: Path) -> Study:
    """Reads a study; every complaint names the file and what is wrong in it."""
    study = schema.load(Study, path, path=path)
    names = [direction.name for direction in study.sweep.direction]
    used = {name for s in study.series for name in s.directions or ()} | {p.direction for p in study.published}
    for name in sorted(used | ({study.open_loop.direction} if study.open_loop else set())):
        if name not in names:
            raise StudyError(f"{path}: direction {name!r} is not one of {', '.join(names)}")
    return replace(
        study,
        machine=schema.resolve(study.machine, path, build),
        firmware=study.firmware and schema.resolve(study.firmware, path, build),
        replay=study.replay.resolved(path, build),
        conversations=study.conversations and study.conversations.resolved(path, build),
        series=tuple(
            replace(s, directions=tuple(names if s.directions is None else s.directions)) for s in study.series
        ),
    )
