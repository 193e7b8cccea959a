"""The plug-in `layers`: what processors do with their cycles by groups of functions, for each of what is counted.

    use = { with = "layers", per = "station.frames_received", unit = "cycles a packet", layer = [
      { name = "driver", core = "core", functions = ["ace_*"] },
      { name = "user", core = "core", addresses = "0-0x7fffffff" },
      { name = "other", core = "core" },
    ] }

Each run is profiled within the window of the study; a layer's cycles, divided by `per`, are a measure by its name.  A
cycle belongs to the first layer of its processor that has its function, or its address; one with neither key takes what
is left.  `symbols` names executables that the machine's parameters do not, and kernel modules that the guest loads:
{ file = "driver.ko", section_at = "printed" } (harness/study/loaded_modules.py).  Those of the study's guest are known.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness import quantity
from harness.run.store import Result, RunError
from harness.study import expression, intervals, loaded_modules, machine, reading, uses
from harness.study.linux import guests
from harness.study.printed import Printed
from harness.study.study_file import Measure, StudyError
from harness.trace.profile import Core, Place, Profile, ProfileError, chosen, read

if TYPE_CHECKING:
    from harness.study.points import Point

PROFILE = "profile.json"
RANGE = re.compile(rf"({quantity.NUMBER})-({quantity.NUMBER})")


@dataclass(frozen=True)
class Layer:
    """Functions and addresses whose cycles are added up."""

    name: str
    core: str
    functions: tuple[str, ...]
    first: int
    last: int

    @property
    def takes_all(self) -> bool:
        return not self.functions and self.first > self.last

    def has(self, place: Place) -> bool:
        if self.takes_all or self.first <= place.pc <= self.last:
            return True
        return any(fnmatchcase(place.function or "", pattern) for pattern in self.functions)


class Plugin(uses.Use):
    """Measures by layers."""

    listed_last = True

    def __post_init__(self) -> None:
        known = ("layer", "per", "unit", "symbols")
        for key in self.keys:
            if key not in known:
                raise StudyError(f"{self.place}: unknown key {key!r}; known are {', '.join(known)}")
        if not isinstance(self.keys.get("per"), str) or not self.keys.get("layer"):
            raise StudyError(f"{self.place}: it needs `per`, what is counted, and `layer`, a list")
        for one in self._symbols(True):
            loaded_modules.check(one, f"{self.place}: symbols")
        for layer in self.layers:
            self.measured[layer.name] = Measure("", self.unit, self.labels[layer.name], "less")

    def _symbols(self, modules: bool) -> list[Any]:
        """The entries of `symbols`: modules, or executables."""
        given = self.keys.get("symbols", [])
        if not isinstance(given, list):
            raise StudyError(f"{self.place}: symbols: expected a list")
        return [one for one in given if loaded_modules.is_module(one) == modules]

    @cached_property
    def _modules(self) -> list[loaded_modules.Module]:
        files = [loaded_modules.check(one, f"{self.place}: symbols") for one in self._symbols(True)]
        try:
            return [loaded_modules.read(machine.resolve(file, self.path, self.build)) for file in files]
        except StudyError as error:
            raise StudyError(f"{self.place}: symbols: {error}") from None

    @cached_property
    def _found(self) -> dict[tuple, list[loaded_modules.Module]]:
        """Modules of guests, by folder and structure."""
        return {}

    @property
    def unit(self) -> str:
        return str(self.keys.get("unit", "cycles"))

    @cached_property
    def labels(self) -> dict[str, str]:
        return {one["name"]: one.get("label", one["name"]) for one in self.keys["layer"]}

    @cached_property
    def layers(self) -> list[Layer]:
        return [self._layer(number, dict(one)) for number, one in enumerate(self.keys["layer"], 1)]

    def _layer(self, number: int, given: dict[str, Any]) -> Layer:
        where = f"{self.place}: layer {given.get('name', number)!r}"
        for key in given:
            if key not in ("name", "label", "core", "functions", "addresses"):
                raise StudyError(f"{where}: unknown key {key!r}; known are name, label, core, functions, addresses")
        if not str(given.get("name", "")).isidentifier():
            raise StudyError(f"{where}: measures are called by its name, so it must be an identifier")
        found = RANGE.fullmatch(str(given.get("addresses", "1-0")))
        if not found:
            raise StudyError(f"{where}: addresses are FIRST-LAST, such as 0-0x7fffffff")
        try:
            first, last = (quantity.count(text) for text in found.groups())
        except quantity.NumberError as error:
            raise StudyError(f"{where}: addresses: {error}") from None
        return Layer(given["name"], given.get("core", "*"), tuple(given.get("functions", ())), first, last)

    def texts(self) -> Iterable[str]:
        return [self.keys["per"]]

    def check_points(self, points: "Sequence[Point]") -> None:
        self._modules  # noqa: B018  (reads them before anything runs)

    def build_options(self) -> Sequence[str]:
        return ("--record", "profile")

    def options(self, point: "Point") -> Sequence[str]:
        window = self.study.window
        begin = ["--record-from", window.begin] if window.begin else []
        return [*begin, *(["--record-to", window.to] if window.to and window.to != "end" else [])]

    def files(self, point: "Point") -> uses.Files:
        symbols = [machine.resolve(str(text), self.path, self.build) for text in self._symbols(False)]
        for file in symbols:
            if not file.exists():
                raise StudyError(f"{self.place}: symbols: there is no {file}")
        return uses.Files(tuple(("--symbols", file) for file in symbols), (("--profile", PROFILE),), of_window=True)

    def measures(self, point: "Point", result: Result) -> Mapping[str, float]:
        profile = self._profile(point, result)
        per = self._per(point, result)
        found = dict.fromkeys((layer.name for layer in self.layers), 0.0)
        for pattern in dict.fromkeys(layer.core for layer in self.layers):
            own = [layer for layer in self.layers if layer.core == pattern]
            for core in self._cores(profile, pattern):
                for name, cycles in _added(core, own).items():
                    found[name] += cycles / per
        return found

    def _of_guest(self, point: "Point") -> list[loaded_modules.Module]:
        """The modules that the point's guest loads, but those that have no code left then."""
        settings = {**self.settings(point), **point.settings}
        folder = settings.get(guests.SETTING)
        if folder is None:
            return []
        key = (folder, point.machine, machine.defines(settings))
        if key not in self._found:
            guest = guests.of(folder, machine.of_point(point, self), self.path, self.build)
            every = map(loaded_modules.functions, guest.modules)
            self._found[key] = [module for module in every if module.functions]
        return self._found[key]

    def _cores(self, profile: Profile, pattern: str) -> list[Core]:
        try:
            return chosen(profile, pattern)
        except ProfileError as error:
            raise RunError(f"{self.place}: core: {error}") from None

    def _profile(self, point: "Point", result: Result) -> Profile:
        file = result.output("--profile")
        assert file
        try:
            profile = read(file)
        except ProfileError as error:
            raise RunError(str(error)) from error
        modules = [*self._modules, *self._of_guest(point)]
        if modules:
            at = loaded_modules.addresses(modules, loaded_modules.logs(result))
            for core in profile.cores:
                loaded_modules.name_places(core.places, modules, at)
        return profile

    def _per(self, point: "Point", result: Result) -> float:
        manifest = result.stats.get("manifest", {})
        known = machine.of_point(point, self)
        counted = intervals.whole(reading.counted(result.stats), result.stats, self.study.interval)
        place = reading.PointReading(counted, manifest, point.coordinates, {}, known.derived,
                                     parameters=known.parameters, consoles=Printed(result, known),
                                     intervals=intervals.value,
                                     interval_names=intervals.names(self.study.interval))  # fmt: skip
        per = float(expression.evaluate(self.keys["per"], place))
        if per <= 0:
            raise RunError(f"{self.keys['per']} is {per:g}: there is nothing by which cycles can be divided")
        return per


def _added(core: Core, layers: Sequence[Layer]) -> dict[str, int]:
    """The cycles of each layer on a processor."""
    found: dict[str, int] = {}
    for place in core.places:
        layer = next((one for one in layers if one.has(place)), None)
        if layer:
            found[layer.name] = found.get(layer.name, 0) + sum(place.cycles)
    return found
