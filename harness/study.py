"""A study: which machine is driven with which traffic, and which published figures stand beside the result.

It is a TOML file beside the machine, so that nothing in this package knows any machine.  Paths in it are relative to
the file, or to the build directory where they begin with "build/".
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

SECTIONS = {
    "title",
    "about",
    "machine",
    "firmware",
    "link_rate",
    "replay",
    "sweep",
    "open_loop",
    "effort",
    "series",
    "published",
}


class StudyError(Exception):
    """A study file that cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class Replay:
    """A capture played through the machine once: frames of `host` are sent, all others received."""

    capture: Path
    host: str
    about: str


@dataclass(frozen=True)
class Direction:
    """One kind of traffic of a sweep.  Several ratios mean: run each, report the best (as measurements do)."""

    name: str
    ratios: tuple[str, ...]
    ways: int  # 1 or 2: how many directions of the link the theoretical maximum counts


@dataclass(frozen=True)
class Series:
    """A variant of the machine: its name, and the values of parameters it is built with."""

    name: str
    defines: tuple[str, ...]
    directions: tuple[str, ...]


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
    """A figure that others reported, as a fraction of the theoretical maximum."""

    payload: int
    direction: str
    fraction: float
    label: str


@dataclass(frozen=True)
class Study:
    """Everything of a study file, with paths resolved."""

    path: Path
    title: str
    about: str
    machine: Path
    firmware: Path | None
    link_rate: float
    replay: Replay
    payloads: tuple[int, ...]
    frames: int
    warmup: int
    directions: tuple[Direction, ...]
    open_loop: OpenLoop | None
    efforts: tuple[Effort, ...]
    series: tuple[Series, ...]
    published: tuple[Published, ...]


def load(path: Path, build: Path) -> Study:
    """Reads a study; every complaint names the file and what is wrong in it."""
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise StudyError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if unknown := sorted(set(table) - SECTIONS):
        raise StudyError(f"{path}: unknown key {unknown[0]!r}; known are {', '.join(sorted(SECTIONS))}")

    def resolve(text: str) -> Path:
        return build / text.removeprefix("build/") if text.startswith("build/") else path.parent / text

    try:
        sweep, replay = table["sweep"], table["replay"]
        directions = tuple(Direction(d["name"], tuple(d["ratios"]), d["ways"]) for d in sweep["direction"])
        names = [direction.name for direction in directions]
        series = tuple(
            Series(
                s["name"], tuple(f"{k}={v}" for k, v in s.get("defines", {}).items()), tuple(s.get("directions", names))
            )
            for s in table["series"]
        )
        published = tuple(
            Published(p["payload"], p["direction"], p["percent"] / 100, p["label"]) for p in table.get("published", [])
        )
        loop = table.get("open_loop")
        open_loop = loop and OpenLoop(
            loop["payload"], loop["direction"], loop["frames"], tuple(map(float, loop["rates"])), tuple(loop["words"])
        )
        study = Study(
            path=path,
            title=table["title"],
            about=table["about"],
            machine=resolve(table["machine"]),
            firmware=resolve(table["firmware"]) if "firmware" in table else None,
            link_rate=float(table.get("link_rate", 1e9)),
            replay=Replay(resolve(replay["capture"]), replay["host"], replay["about"]),
            payloads=tuple(sweep["payloads"]),
            frames=sweep["frames"],
            warmup=sweep["warmup"],
            directions=directions,
            open_loop=open_loop,
            efforts=tuple(Effort(**effort) for effort in table.get("effort", [])),
            series=series,
            published=published,
        )
    except KeyError as error:
        raise StudyError(f"{path}: the key {error.args[0]!r} is missing") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise StudyError(f"{path}: a value has the wrong type: {error}") from error
    used = {name for s in series for name in s.directions} | {p.direction for p in published}
    for name in sorted(used | ({open_loop.direction} if open_loop else set())):
        if name not in names:
            raise StudyError(f"{path}: direction {name!r} is not one of {', '.join(names)}")
    return study
