"""Plans of studies: TOML files beside machines that say what is built, run, plotted and compared with the literature.

docs/studies.md documents the keys.  Nothing here knows any machine; what a plan gets wrong is one line.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.net import theory, traffic
from harness.study import schema
from harness.study.cost import KINDS as COUNTED
from harness.study.runs import Load

RECEIVE_ONLY = "0:1"


class PlanError(schema.SchemaError):
    """A plan that cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class Series:
    """A variant of the machine; what it leaves out is the plan's."""

    name: str
    label: str
    cores: int
    sram_mhz: int
    defines: dict[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    firmware: str | None = None  # empty: none
    machine: str | None = None


@dataclass(frozen=True)
class Published:
    """A figure of others, in percent of the theoretical maximum; `explained` names the studies of a difference."""

    series: str
    payload: int
    percent: float
    label: str
    explained: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """One question: variants of a machine under the same traffic.  Of several ratios the best is reported."""

    name: str
    title: str
    about: str
    direction: Literal["duplex", "receive"]
    payloads: tuple[int, ...]
    series: tuple[Series, ...]
    form: Literal["curve", "comparison", "course", "soak", "cost", "bottleneck", "faults"] = "curve"
    ratios: tuple[str, ...] = (RECEIVE_ONLY,)
    frames: int = 0
    warmup: int = 0
    cycles: int = 0  # form soak: how long, in cycles of the fastest clock
    after: str = ""  # form bottleneck: the time that is left out
    counts: dict[str, float] = field(default_factory=dict)  # form cost: what was published, per frame
    published: tuple[Published, ...] = ()

    @property
    def ways(self) -> int:
        """How many directions of the link the theoretical maximum counts."""
        return 2 if self.direction == "duplex" else 1

    def loads(self) -> list[Load]:
        """The traffic of each run of one series."""
        return [Load(payload, ratio, self.frames) for payload in self.payloads for ratio in self.ratios]

    def find(self, series: str) -> Series | None:
        return next((one for one in self.series if one.name == series), None)


@dataclass(frozen=True)
class Plan:
    """One file.  `parameters` says which of the machine's parameters `cores` and `sram_mhz` are, if it has them."""

    path: Path
    machine: str
    study: tuple[Study, ...]
    firmware: str = ""
    link_rate: float = theory.GIGABIT
    parameters: dict[str, str] = field(default_factory=dict)

    def defines(self, series: Series) -> tuple[str, ...]:
        """The -D parameters of a series; hardware alone, with cores = 0, has no parameter for them."""
        named = {name: getattr(series, column) for column, name in self.parameters.items() if getattr(series, column)}
        return tuple(f"{name}={value}" for name, value in (named | series.defines).items())

    def machine_of(self, series: Series) -> Path:
        return self.path.parent / (series.machine or self.machine)

    def firmware_of(self, series: Series, build: Path) -> Path | None:
        """Relative to the plan, or to the build directory where it begins with "build/"."""
        text = self.firmware if series.firmware is None else series.firmware
        return schema.resolve(text, self.path, build) if text else None


def _check_study(study: Study, where: str) -> None:
    series = [one.name for one in study.series]
    if not series or not study.payloads:
        raise PlanError(f"{where}: it needs at least one series and one payload size")
    if twice := next((name for name in series if series.count(name) > 1), None):
        raise PlanError(f"{where}: two series are called {twice!r}")
    for payload in study.payloads:
        if not traffic.SMALLEST <= payload <= traffic.LARGEST:
            raise PlanError(f"{where}: payload {payload}: sizes are {traffic.SMALLEST} to {traffic.LARGEST} bytes")
    for ratio in study.ratios:
        try:
            sends, receives = traffic.parse_ratio(ratio)
        except traffic.TrafficError as error:
            raise PlanError(f"{where}: {error}") from error
        if (study.direction == "receive") != (sends == 0):
            raise PlanError(f"{where}: ratio {ratio!r} is not {study.direction} traffic")
    if study.form == "soak":
        if study.cycles < 1:
            raise PlanError(f"{where}: a soak needs cycles")
    elif study.form != "cost" and study.frames <= study.warmup:
        raise PlanError(f"{where}: {study.frames} frames leave nothing to measure after {study.warmup} of warm-up")
    for kind in study.counts:
        if study.form != "cost" or kind not in COUNTED:
            raise PlanError(f"{where}: counts {kind!r}: a cost has {', '.join(COUNTED)}")
    for figure in study.published:
        if figure.series not in series:
            raise PlanError(f"{where}: published series {figure.series!r} is not one of {', '.join(series)}")
        if figure.payload not in study.payloads:
            raise PlanError(f"{where}: published payload {figure.payload} is not one of its sizes")


def load(paths: list[Path]) -> list[Plan]:
    """Reads plans; every complaint names the file, the place and what is wrong there."""
    plans, names = [], {}
    for path in paths:
        plan = schema.load(Plan, path, path=path)
        for column in plan.parameters:
            if column not in ("cores", "sram_mhz"):
                raise PlanError(f"{path}: parameters: {column!r} is neither 'cores' nor 'sram_mhz'")
        for study in plan.study:
            where = f"{path}: study {study.name!r}"
            if study.name in names:
                raise PlanError(f"{where}: {names[study.name]} has a study of this name already")
            names[study.name] = path
            _check_study(study, where)
            for series in study.series:
                if not plan.machine_of(series).exists():
                    raise PlanError(f"{where}: series {series.name!r}: there is no {plan.machine_of(series)}")
        plans.append(plan)
    for plan in plans:
        for study in plan.study:
            for name in (name for figure in study.published for name in figure.explained):
                if name not in names:
                    raise PlanError(f"{plan.path}: study {study.name!r}: explained by {name!r}, which is no study")
    return plans
