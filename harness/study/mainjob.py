"""The main job: builds a study's machines, plays a capture through them, sweeps payload sizes, checks every frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.net import theory
from harness.run.progress import Progress
from harness.run.sweep import Job, Result, sweep
from harness.study import measure
from harness.study.runs import IGNORED, STORE, Load, build_simulator, cycles_per_second, job, throughput, verify
from harness.study.study import Direction, Effort, Replay, Series, Study

LATENCIES = tuple(f"latency_{way}_{what}" for way in ("sent", "received") for what in ("min", "median", "p99"))


@dataclass(frozen=True)
class Point:
    """One row of the table: a payload size of one series in one direction."""

    series: str
    direction: str
    payload: int
    ratio: str
    rate: float  # UDP payload, bit/s
    maximum: float  # theoretical, bit/s
    frames: int
    drops: int
    cycles_per_second: float
    result: Result

    @property
    def percent(self) -> float:
        return 100 * self.rate / self.maximum

    @property
    def latencies(self) -> list[float | None]:
        """Nanoseconds, in the order of LATENCIES; None where the machine has no such statistic."""
        return [self.result.named(name) for name in LATENCIES]


@dataclass(frozen=True)
class Offered:
    """What became of frames offered at a fixed rate; both rates are UDP payload in bit/s."""

    series: str
    offered: float
    carried: float
    frames: int
    drops: int
    result: Result


@dataclass(frozen=True)
class Worked:
    """How much of something one frame took, start-up included."""

    series: str
    effort: Effort
    per_frame: float


@dataclass(frozen=True)
class Replayed:
    """How a capture came out."""

    series: str
    frames_in: int
    frames_out: int
    drops: int
    result: Result


@dataclass(frozen=True)
class Outcome:
    """All that a report needs."""

    study: Study
    replays: list[Replayed]
    conversations: list[Replayed]
    points: list[Point]
    offered: list[Offered]
    efforts: list[Worked]


def _traffic_job(
    study: Study, series: Series, simulators: dict[str, Path], build: Path, load: Load, label: str,
    words: Sequence[str] = (),
) -> Job:  # fmt: skip
    return load.job(f"{series.name}, {label}", simulators[series.name], study.firmware, words, build)


def _sweep_jobs(
    study: Study, simulators: dict[str, Path], build: Path
) -> list[tuple[Series, Direction, int, str, Job]]:
    return [
        (series, direction, payload, ratio, _traffic_job(
            study, series, simulators, build, Load(payload, ratio, study.sweep.frames),
            f"{direction.name}, {payload} B, {ratio}",
        ))
        for series in study.series
        for direction in study.sweep.direction if direction.name in series.directions
        for payload in study.sweep.payloads
        for ratio in direction.ratios
    ]  # fmt: skip


def _open_jobs(study: Study, simulators: dict[str, Path], build: Path) -> list[tuple[Series, float, Job]]:
    loop = study.open_loop
    if not loop:
        return []
    direction = next(d for d in study.sweep.direction if d.name == loop.direction)
    return [
        (series, rate, _traffic_job(
            study, series, simulators, build, Load(loop.payload, direction.ratios[0], loop.frames),
            f"{direction.name}, {loop.payload} B offered at {rate / 1e6:.0f} Mb/s",
            [word.format(rate=f"{rate:.0f}") for word in loop.words],
        ))
        for series in study.series if direction.name in series.directions
        for rate in loop.rates
    ]  # fmt: skip


def _effort_jobs(study: Study, simulators: dict[str, Path], build: Path) -> list[tuple[Series, Effort, Job]]:
    return [
        (series, effort, _traffic_job(
            study, series, simulators, build, Load(effort.payload, effort.ratio, study.sweep.frames), effort.label,
        ))
        for series in study.series
        for effort in study.effort
    ]  # fmt: skip


def _worked(rows: list, results: list[Result]) -> list[Worked]:
    return [
        Worked(series.name, effort, result.total(effort.statistic) / verify(result)[1])
        for (series, effort, _), result in zip(rows, results, strict=True)
    ]


def _best_points(study: Study, rows: list, results: list[Result]) -> list[Point]:
    """The points of the sweep, of each payload size the ratio that carried most."""
    best: dict[tuple[str, str, int], Point] = {}
    for (series, direction, payload, ratio, _), result in zip(rows, results, strict=True):
        carried = throughput(result, study.sweep.warmup, ratio).payload_rate
        _, frames_out, drops = verify(result)
        point = Point(
            series.name, direction.name, payload, ratio, carried,
            direction.ways * theory.payload_rate(payload, study.link_rate),
            frames_out, drops, cycles_per_second(result), result,
        )  # fmt: skip
        place = series.name, direction.name, payload
        if place not in best or point.rate > best[place].rate:
            best[place] = point
    return list(best.values())


def _offered_points(study: Study, rows: list, results: list[Result]) -> list[Offered]:
    points = []
    for (series, rate, _), result in zip(rows, results, strict=True):
        carried = throughput(result, study.sweep.warmup).payload_rate
        _, frames_out, drops = verify(result)
        offered = rate * study.open_loop.payload / theory.wire_bytes(study.open_loop.payload)
        points.append(Offered(series.name, offered, carried, frames_out, drops, result))
    return points


def _replay_jobs(study: Study, simulators: dict[str, Path], replay: Replay | None, name: str, build: Path) -> list[Job]:
    if not replay:
        return []
    send, receive = measure.split(replay.capture, replay.host, build / "traffic" / name)
    return [
        job(f"{series}, the {name}", simulator, study.firmware, send, receive, replay.words)
        for series, simulator in simulators.items()
    ]


def run(study: Study, build: Path, progress: Progress) -> Outcome:
    """Does the whole job; raises RunError at the first thing that is not right."""
    simulators = {}
    for series in study.series:
        with progress.step(f"building the simulator: {series.name}"):
            simulators[series.name] = build_simulator(study.machine, series.name, series.words(), build)

    jobs = _replay_jobs(study, simulators, study.replay, "capture", build)
    talks = _replay_jobs(study, simulators, study.conversations, "conversations", build)
    with progress.step("generating traffic"):
        swept = _sweep_jobs(study, simulators, build)
        offered = _open_jobs(study, simulators, build)
        efforts = _effort_jobs(study, simulators, build)

    def words(result: Result) -> str:
        frames_in, frames_out, drops = verify(result)
        ignored = int(result.total(IGNORED))
        lost = f"{drops} dropped" + (f", {ignored} ignored" if ignored else "")
        return f"{frames_out} of {frames_in} frames, {lost}, {result.seconds:.1f} s"

    every = [*jobs, *talks, *(row[-1] for row in swept), *(row[-1] for row in [*offered, *efforts])]
    results = iter(sweep(every, build / STORE, progress, words))
    replays, talked = (
        [Replayed(name, *verify(result), result) for name, _ in zip(simulators, part, strict=False)
         for result in [next(results)]]
        for part in (jobs, talks)
    )  # fmt: skip
    points = _best_points(study, swept, [next(results) for _ in swept])
    dropped = _offered_points(study, offered, [next(results) for _ in offered])
    return Outcome(study, replays, talked, points, dropped, _worked(efforts, list(results)))
