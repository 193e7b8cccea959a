"""Machines of a study: what their netlists name, and the simulators that are built of them.

Which settings, statistics, clocks and events there are, `lss export` says, so a wrong name in a study is reported
before anything runs, with the nearest names.
"""

import difflib
import json
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from harness import quantity
from harness.run import compiler, patterns
from harness.run.store import Job, content_name
from harness.study import expression, parameters
from harness.study.parameters import Parameter
from harness.study.study_file import StudyError, UnknownNameError

if TYPE_CHECKING:
    from harness.study.points import Point
    from harness.study.uses import Use

KIT = Path(__file__).resolve().parents[2]  # the source tree, or PREFIX/share/spinach
OPTIONS = ("cycles", "time", "until", "watchdog", "idle-timeout")  # of every simulator
CONNECTION_EVENTS = ("transferred", "stalled", "cancelled", "idle")
MOST_ELEMENTS = 4096  # of a statistic that is an array


@dataclass(frozen=True)
class Machine:
    """One machine with its -D parameters: the netlist from `lss export`."""

    path: Path
    defines: tuple[tuple[str, str], ...]
    netlist: Mapping[str, Any]
    include: tuple[str, ...] = ()  # folders with modules

    @property
    def options(self) -> list[str]:
        """What the compiler takes beside the file."""
        return compiler_options(self.defines, self.include)

    @cached_property
    def top(self) -> dict[str, dict]:
        """The parameters of the machine itself."""
        return {p["name"]: p for p in self._instance("").get("parameters", [])}

    @cached_property
    def runtime(self) -> dict[str, dict]:
        """All run-time parameters by PATH.NAME."""
        return {
            f"{one['path']}.{p['name']}".lstrip("."): p
            for one in self.netlist["instances"] for p in one.get("parameters", []) if p["runtime"]
        }  # fmt: skip

    @cached_property
    def states(self) -> list[str]:
        """The names of all states, statistics included."""
        return [
            element for one in self.netlist["instances"] for state in one["state"]
            for element in _elements(f"{one['path']}.{state['name']}".lstrip("."), state["dimensions"])
        ]  # fmt: skip

    @cached_property
    def statistics(self) -> dict[str, float]:
        """The names of all statistics."""
        names = {}
        for one in self.netlist["instances"]:
            for state in one["state"]:
                if state["kind"] == "statistic":
                    name = f"{one['path']}.{state['name']}".lstrip(".")
                    names |= dict.fromkeys(_elements(name, state["dimensions"]), 0.0)
        return names | dict.fromkeys(self.derived, 0.0)

    @cached_property
    def derived(self) -> dict[str, str]:
        """The expressions of statistics that are worked out of others, by name."""
        known = self.netlist.get("derived", [])
        return {f"{one['path']}.{one['name']}".lstrip("."): one["expression"] for one in known}

    @cached_property
    def events(self) -> dict[str, float]:
        return {f"{one['path']}.{event['name']}": 0.0 for one in self.netlist["instances"] for event in one["events"]}

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """All parameters by PATH.NAME."""
        return parameters.of_netlist(self.netlist)

    @property
    def clocks(self) -> list[str]:
        return [clock["name"] for clock in self.netlist["clocks"]]

    @property
    def clock_texts(self) -> list[str]:
        """Its clocks with their frequencies."""
        hertz = [Fraction(one["hertz_numerator"], one["hertz_denominator"]) for one in self.netlist["clocks"]]
        return [f"{name} {quantity.spelt(rate, 'frequency')}" for name, rate in zip(self.clocks, hertz, strict=True)]

    def _instance(self, path: str) -> dict:
        return next((one for one in self.netlist["instances"] if one["path"] == path), {})

    def set_by(self, setting: str) -> list[dict]:
        """The parameters that a setting sets: of a pattern all that match, of an option of all simulators none."""
        kind, _, name = setting.partition(".")
        known = self.runtime if kind == "set" else self.top
        if kind != "set" or "*" not in name:
            return [known[name]] if name in known else []
        matches = patterns.compiled(name).fullmatch
        return [one for path, one in known.items() if matches(path)]

    def acts_at_start(self, setting: str) -> bool:
        """Whether a setting is read at the start of a run only, and names no file."""
        return any(one.get("init") and one["type"] != "string" for one in self.set_by(setting))

    def type_of(self, setting: str) -> str:
        """The type of what a run-time setting sets; "" for options of the simulator."""
        return next((one["type"] for one in self.set_by(setting)), "")


def _elements(name: str, dimensions: list[int]) -> list[str]:
    names = [name]
    for size in dimensions:
        names = [f"{one}[{index}]" for one in names for index in range(size)][:MOST_ELEMENTS]
    return names


def near(name: str, known: Iterable[str]) -> list[str]:
    """The known names that an unknown one is most like, the nearest first."""
    return difflib.get_close_matches(name, list(known), 3)


def _is_short_for(name: str, whole: str) -> bool:
    """Whether the parts of a path are among those of another one, in the same order and with the same end."""
    parts = iter(reversed(whole.split(".")))
    first, *others = reversed(name.split("."))
    return next(parts) == first and all(part in parts for part in others)


def suggest(name: str, known: Iterable[str]) -> str:
    """The name that an unknown one may stand for, or the longer names of which it has some parts and the last."""
    known = list(known)
    ends = sorted((one for one in known if one != name and _is_short_for(name, one)), key=lambda one: (len(one), one))
    if len(ends) > 1:
        return f"did you mean one of {', '.join(ends[:4])}{', …' if len(ends) > 4 else ''}?"
    close = ends or near(name, known)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {', '.join(sorted(known)[:12])}{', …' if len(known) > 12 else ''}" if known else "there are none"


def check_setting(setting: str, machine: Machine, where: str) -> None:
    """Refuses a setting that the machine does not have."""
    kind, _, name = setting.partition(".")
    if setting in ("seed", "job", "guest"):
        return
    known = {
        "D": [p for p, one in machine.top.items() if not one["runtime"]],
        "set": list(machine.runtime),
        "option": [*(p for p, one in machine.top.items() if one["runtime"]), *OPTIONS],
    }
    if kind not in known or not name:
        raise StudyError(f"{where}: setting {setting!r}: it begins with D., set. or option., or is seed, job or guest")
    if kind == "D" and "." in name:
        return  # of an instance inside, which the compiler knows
    if name not in known[kind] and not (kind == "set" and machine.set_by(setting)):
        others = [f"{other}.{name}" for other in known if name in known[other]]
        if kind != "D" and name in machine.parameters and name not in (*machine.top, *machine.runtime):
            text = f"{name!r} is fixed when the machine is built; 'D.{name}' builds another one for each value"
            raise UnknownNameError(f"{where}: setting {setting!r}: {text}", name, [f"D.{name}"])
        meant = f"did you mean {others[0]!r}?" if others else suggest(name, known[kind])
        text = f"{machine.path.name} has no {_kind(kind)} {name!r}; {meant}"
        raise UnknownNameError(f"{where}: setting {setting!r}: {text}", name, near(name, known[kind]))


def _kind(kind: str) -> str:
    return {"D": "parameter", "set": "run-time parameter", "option": "option or top-level run-time parameter"}[kind]


def check_expression(text: str, machine: Machine, names: Iterable[str], where: str) -> None:
    """Refuses an expression that speaks of what the machine does not have."""
    known: dict[str, Iterable[str]] = {
        "statistic": machine.statistics, "events": machine.events, "cycles": [*machine.clocks, "fastest"],
        "param": machine.parameters, "name": names, "published": names, "settled": names,
    }  # fmt: skip
    kinds = {"statistic": "statistic", "events": "event", "cycles": "clock", "param": "parameter",
             "name": "measure or axis", "published": "measure", "settled": "measure"}  # fmt: skip
    try:
        for kind, name in expression.mentions(text):
            if kind == expression.PRINTED:
                continue  # printed.py checks it with the settings of the points
            if kind in ("statistic", "events") and "*" in name:
                if any(patterns.compiled(name).fullmatch(one) for one in known[kind]):
                    continue
            elif name in known[kind] or (kind == "statistic" and name in names):  # of an interval
                continue
            if kind == "events" and name.rpartition(".")[2] in CONNECTION_EVENTS:
                continue  # the compiler refuses it, if there is no such connection
            if kind in ("statistic", "events") and _has_alternative(text):
                continue
            meant = _meant(name, machine) if kind == "name" else ""
            others = [*known[kind], *(one for one in names if kind == "statistic" and "." in one)]
            what = f"{machine.path.name} has no {kinds[kind]} {name!r}; {meant or suggest(name, others)}"
            raise UnknownNameError(f"{where}: {text!r}: {what}", name, near(name, others))
    except expression.ExpressionError as error:
        raise StudyError(f"{where}: {error}") from error


def _meant(name: str, machine: Machine) -> str:
    """What somebody meant who left out the form of a query."""
    if name == "cycles":
        return f"write cycles({machine.clocks[0] if machine.clocks else 'CLOCK'})"
    if name in machine.clocks:
        return f"write cycles({name})"
    return f'write param("{name}")' if name in machine.parameters else ""


def _has_alternative(text: str) -> bool:
    """Whether `or` says what is taken where something is missing."""
    return " or " in text


def spelt(value: Any) -> str:
    """A value as the command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def defines(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The -D parameters among the settings."""
    return tuple(sorted((name[2:], spelt(value)) for name, value in settings.items() if name.startswith("D.")))


def compiler_options(defines: Iterable[tuple[str, str]], include: Iterable[str] = ()) -> list[str]:
    """Folders with modules, and parameters, as the compiler takes them."""
    folders = [one for folder in include for one in ("-I", folder)]
    return [*folders, *(one for name, value in defines for one in ("-D", f"{name}={value}"))]


@lru_cache(maxsize=1024)
def export(
    path: Path, parameters: tuple[tuple[str, str], ...], build: Path, include: tuple[str, ...] = ()
) -> Machine:  # fmt: skip
    """The netlist of a machine; its errors are the compiler's."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "netlist.json"
        compiler.lss(build, "export", path, "-o", file, *compiler_options(parameters, include))
        return Machine(path, parameters, json.loads(file.read_text()), include)


def of_point(point: "Point", use: "Use") -> Machine:
    """The machine of a point, for a plug-in."""
    include = tuple(str(use.path.parent / folder) for folder in use.study.include)
    return export(point.machine, defines({**use.settings(point), **point.settings}), use.build, include)


def simulator_path(path: Path, parameters: tuple, extra: tuple[str, ...], build: Path) -> Path:
    """Where the simulator of a machine is: it is named by machine, parameters and options, never by a label."""
    return build / "sim" / content_name(str(path.resolve()), parameters, extra)


_built: dict[Path, Future] = {}
_turn = Lock()


def forget() -> None:
    """Files of machines may have changed since they were read: a process that goes on reads and builds them again."""
    export.cache_clear()
    with _turn:
        _built.clear()


def simulator(machine: Machine, build: Path, extra: tuple[str, ...] = ()) -> Path:
    """Builds the simulator of a machine, once in this process."""
    path = simulator_path(machine.path, machine.defines, extra, build)
    with _turn:
        known = _built.get(path)
        mine = _built.setdefault(path, Future())
    if known is None:
        try:
            _build(machine, path, build, extra)
            mine.set_result(path)
        except BaseException as error:
            mine.set_exception(error)
            del _built[path]
    return mine.result()


def _build(machine: Machine, path: Path, build: Path, extra: tuple[str, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    compiler.lss(build, "build", machine.path, "-o", path, *compiler_options(machine.defines), *extra)


def resolve(text: str, study: Path, build: Path) -> Path:
    """A path of a study: relative to it, or to the build directory where it begins with "build/": the one that is used,
    else the one that came with the kit, which has the firmware."""
    path = Path(text)
    if path.parts[:1] != ("build",):
        return study.parent / path
    own, kit = (place / Path(*path.parts[1:]) for place in (build, KIT / "build"))
    return kit if kit.exists() and not own.exists() else own


def listed(text: str, setting: str, study: Path, build: Path) -> Path:
    """A file of a list, which has to be there."""
    file = resolve(text, study, build)
    if not file.is_file():
        raise StudyError(f"{study}: {setting}: there is no file {text!r}, which is in a list of files")
    return file


def job(
    machine: Machine, simulator: Path, settings: Mapping[str, Any], arguments: Iterable[str], study: Path, build: Path,
    timeout: float = 600.0, retries: int = 0,
) -> Job:  # fmt: skip
    """The simulation of a point: strings that name files beside the study, or in the build directory, are inputs, and
    so are lists of such strings."""
    plain, inputs = [], []
    for setting, value in sorted(settings.items()):
        kind, _, name = setting.partition(".")
        if kind in ("D", "job", "guest"):
            continue
        option = f"--set {name}" if kind == "set" else "--seed" if setting == "seed" else f"--{name}"
        text = machine.type_of(setting) == "string"
        if text and isinstance(value, list):
            inputs.append((option, tuple(listed(one, setting, study, build) for one in value)))
        elif text and value and (file := resolve(str(value), study, build)).is_file():
            inputs.append((option, file))
        elif kind == "set":
            plain += ["--set", f"{name}={spelt(value)}"]
        else:
            plain += [option, spelt(value)]
    return Job(simulator, (*plain, *arguments), tuple(inputs), (), timeout, retries)
