"""Machine: a netlist that was built into a simulator; what it has, as tables, and its runs."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.run import files, patterns, process
from harness.run.store import content_name
from spinach import tools
from spinach.errors import BuildError, RunError, UnknownName, unknown
from spinach.frames import frame
from spinach.run import LOG, STATS, Run, full_name, no_end, result
from spinach.session import Session

if TYPE_CHECKING:
    from pandas import DataFrame

Value = int | float | bool | str | os.PathLike[str]


def source_file(source: str | os.PathLike[str], build: Path) -> Path:
    """The file of a machine; text, which has a newline, is written to one that is named by its content."""
    text = os.fspath(source)
    if "\n" not in text:
        return Path(text)
    place = build / "python" / f"text-{hashlib.sha256(text.encode()).hexdigest()[:12]}.lss"
    place.parent.mkdir(parents=True, exist_ok=True)
    files.write(place, text)
    return place


@dataclass(frozen=True)
class Order:
    """A run that was checked: its command, its folder, and how many seconds it may take."""

    command: list[str]
    folder: Path
    timeout: float | None


class Machine:
    """A machine, from an LSS file or from LSS text (with a newline).  It is built at once, or found built.

    With `debug`, it is a debug build, whose runs also check what modules say of cycles in which they do nothing.  The
    results are the same.
    """

    def __init__(
        self, source: str | os.PathLike[str], *, include: Sequence[str | os.PathLike[str]] = (),
        lss: str | os.PathLike[str] | None = None, build: str | os.PathLike[str] = Path("build"),
        optimise: int | None = None, debug: bool = False, watch: Sequence[str] = (), **parameters: Value,
    ) -> None:  # fmt: skip
        self.lss, self.build = tools.find(lss), Path(build)
        self.source = source_file(source, self.build)
        self.include = [Path(folder) for folder in include]
        self.given: dict[str, Any] = dict(parameters)
        self._options = [word for folder in self.include for word in ("-I", str(folder))]
        for name, value in parameters.items():
            self._options += ["-D", f"{name}={_text(value)}"]
        built = [word for event in watch for word in ("--watch", event)]
        built += ["-O", str(optimise)] if optimise is not None else []
        built += ["--debug"] if debug else []
        self._checks = ["--check-idle"] if debug else []
        named = content_name(str(self.source.resolve()), self._options, built, os.environ.get("LSS_CFLAGS", ""))
        self.simulator = (self.build / "python" / named / self.source.stem).resolve()
        self.simulator.parent.mkdir(parents=True, exist_ok=True)
        tools.call(BuildError, [self.lss, "build", self.source, "-o", self.simulator, *self._options, *built])
        self._listed: dict[str, Any] = json.loads(tools.call(BuildError, [self.simulator, "--list=json"]))

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.given.items())
        return f"Machine({str(self.source)!r}{given})"

    def _repr_svg_(self) -> str:
        """The block diagram, for notebooks."""
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "machine.svg"
            tools.call(BuildError, [self.lss, "graph", self.source, "-o", picture, *self._options])
            return picture.read_text()

    @cached_property
    def netlist(self) -> dict[str, Any]:
        """The resolved netlist, as `lss export` writes it."""
        found: dict[str, Any] = json.loads(tools.call(BuildError, [self.lss, "export", self.source, *self._options]))
        return found

    @property
    def clocks(self) -> dict[str, float]:
        """Frequencies in Hz."""
        return {clock["name"]: float(Fraction(clock["hertz"])) for clock in self._listed["clocks"]}

    @property
    def parameters(self) -> DataFrame:
        """All parameters: name → type, default, when they are set (build, init or run), description."""
        listed = self._listed["parameters"]
        begun = {name for one in listed if one.get("init") for name in (one["name"], *one["aliases"])}
        rows = []
        for instance in self.netlist["instances"]:
            for one in instance["parameters"]:
                name = full_name({"path": instance["path"], "name": one["name"]})
                when = "build" if not one["runtime"] else "init" if name in begun else "run"
                rows.append({"name": name, "type": one["type"], "default": one.get("value"), "when": when,
                             "description": one["doc"] or ""})  # fmt: skip
        return frame(rows, ["name", "type", "default", "when", "description"], ["name"])

    @property
    def statistics(self) -> DataFrame:
        """All statistics: instance, statistic → unit, description."""
        rows = [
            {"instance": one["path"], "statistic": one["name"], "unit": one.get("unit", ""),
             "description": one.get("description", "")}
            for one in self._listed["statistics"]
        ]  # fmt: skip
        return frame(rows, ["instance", "statistic", "unit", "description"], ["instance", "statistic"])

    @property
    def events(self) -> DataFrame:
        """All events: name → arguments, description."""
        rows = [
            {"name": full_name(one), "arguments": one["arguments"], "description": one.get("description", "")}
            for one in self._listed["events"]
        ]
        return frame(rows, ["name", "arguments", "description"], ["name"])

    def run(
        self, *, cycles: int | str | None = None, time: str | None = None, until: str | None = None, seed: int = 1,
        window: tuple[str, str] | None = None, sample: str | None = None, watchdog: str | None = None,
        restore: str | os.PathLike[str] | None = None, checkpoint: str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None, timeout: float | None = None,
        **settings: Value | Sequence[Value],
    ) -> Run:  # fmt: skip
        """Runs the machine to its end.  Settings are run-time parameters: NAME=… or **{"PATH.NAME": …}.

        A run that fails raises RunError and keeps its folder, and so does one that takes longer than `timeout` seconds.
        """
        order = self._order(
            settings, folder, timeout, cycles=cycles, time=time, until=until, seed=seed, sample=sample,
            watchdog=watchdog, restore=_file(restore), checkpoint=_file(checkpoint),
            measure_from=window[0] if window else None, measure_to=window[1] if window else None,
        )  # fmt: skip
        done = process.run(order.command, order.folder, order.timeout)
        (order.folder / LOG).write_bytes(os.fsencode(done.out + done.err))
        if done.status is None:
            raise RunError(order.command, None, no_end(order.timeout or 0, order.folder), order.folder)
        return result(order.command, order.folder, done.status, done.out, done.err)

    def start(
        self, *, cycles: int | str | None = None, time: str | None = None, until: str | None = None, seed: int = 1,
        window: tuple[str, str] | None = None, sample: str | None = None, watchdog: str | None = None,
        restore: str | os.PathLike[str] | None = None, checkpoint: str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None, timeout: float | None = None,
        **settings: Value | Sequence[Value],
    ) -> Session:  # fmt: skip
        """Starts a run that goes on step by step, as its caller says; it takes what run() takes.

        Each step that takes longer than `timeout` seconds ends the run and raises RunError.
        """
        order = self._order(
            settings, folder, timeout, cycles=cycles, time=time, until=until, seed=seed, sample=sample,
            watchdog=watchdog, restore=_file(restore), checkpoint=_file(checkpoint),
            measure_from=window[0] if window else None, measure_to=window[1] if window else None,
        )  # fmt: skip
        return Session(order.command, order.folder, order.timeout)

    def _order(
        self, settings: Mapping[str, Value | Sequence[Value]], folder: str | os.PathLike[str] | None,
        timeout: float | None, **options: int | str | None,
    ) -> Order:  # fmt: skip
        """The command of a run, whose names are all known, and its folder."""
        command = [str(self.simulator), "--quiet", "--stats", STATS, *self._checks]
        for name, value in options.items():
            if value is not None:
                command += [f"--{name.replace('_', '-')}", str(value)]
        known = {name: one for one in self._listed["parameters"] for name in (one["name"], *one["aliases"])}
        for name, given in settings.items():
            matches = patterns.compiled(name).fullmatch if "*" in name else name.__eq__
            one = next((one for path, one in known.items() if matches(path)), None)
            if one is None:
                raise self._unknown_setting(name, known)
            text = _setting(given, one["type"])
            command += ["--set", f"{name}={text}"] if "." in name or "*" in name else [f"--{name}", text]
        return Order(command, self.new_folder(folder), timeout)

    def _unknown_setting(self, name: str, known: Mapping[str, Any]) -> UnknownName:
        for instance in self.netlist["instances"]:
            for one in instance["parameters"]:
                if not one["runtime"] and full_name({"path": instance["path"], "name": one["name"]}) == name:
                    return UnknownName(name, [], f"{self.source.name} is built with {name!r}: pass it to Machine()")
        near = difflib.get_close_matches(name, list(known), 3)
        return unknown(f"{self.source.name} has no run-time parameter", name, near, known)

    def new_folder(self, given: str | os.PathLike[str] | None = None) -> Path:
        """The folder of a run: the one that was given, or the next one of this machine."""
        if given is not None:
            folder = Path(given).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / STATS).unlink(missing_ok=True)
            return folder
        place = (self.build / "runs").resolve()
        place.mkdir(parents=True, exist_ok=True)
        stem = self.source.stem
        number = len(list(place.glob(f"{stem}-*"))) + 1
        while True:
            try:
                (place / f"{stem}-{number}").mkdir()
                return place / f"{stem}-{number}"
            except FileExistsError:
                number += 1


def _file(given: str | os.PathLike[str] | None) -> str | None:
    """A file of a run, which has another folder: its whole path."""
    return None if given is None else str(Path(given).resolve())


def _text(value: Any) -> str:
    return _file(value) or "" if isinstance(value, os.PathLike) else tools.spelt(value)


def _setting(value: Value | Sequence[Value], kind: str) -> str:
    """A value as the simulator takes it: a text that names a file here stands for that file."""
    if isinstance(value, list | tuple):
        return ",".join(_setting(one, kind) for one in value)
    if kind == "string" and isinstance(value, str) and value and Path(value).is_file():
        return str(Path(value).resolve())
    return _text(value)
