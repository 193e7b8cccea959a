"""examples/disk: a disk alone, whose seeks, sequential rates and queues are those of the formulas."""

import json
import math
import subprocess
from pathlib import Path

import pytest

SINGLE, AVERAGE, FULL, CYLINDERS, OVERHEAD = 0.7, 7.5, 14.0, 8420, 0.3
REVOLUTION = 60e3 / 7200


@pytest.fixture(scope="module")
def build(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    directory = tmp_path_factory.mktemp("disk")

    def built(*options: str) -> Path:
        simulator = directory / str(abs(hash(options)))
        words = [word for option in options for word in ("-D", option)]
        subprocess.run([build_dir / "bin/lss", "build", root / "examples/disk/disk.lss", *words, "-o", simulator], check=True)
        return simulator

    return built


def run(simulator: Path, directory: Path, *options: object) -> dict[tuple[str, str], int]:
    command = [simulator, "--quiet", "--stats", "stats.json", *options]
    subprocess.run(list(map(str, command)), cwd=directory, check=True, capture_output=True)
    return {(one["path"], one["name"]): one["value"] for one in json.loads((directory / "stats.json").read_text())["statistics"]}


def curve(distance: int) -> float:
    a = (15 * AVERAGE - 10 * SINGLE - 5 * FULL) / (3 * math.sqrt(CYLINDERS))
    b = (7 * SINGLE - 15 * AVERAGE + 8 * FULL) / (3 * CYLINDERS)
    return a * math.sqrt(distance - 1) + b * (distance - 1) + SINGLE


def r_squared(one: list[float], other: list[float]) -> float:
    """The square of Pearson's correlation."""
    a, b = sum(one) / len(one), sum(other) / len(other)
    both = sum((x - a) * (y - b) for x, y in zip(one, other, strict=True))
    return both**2 / (sum((x - a) ** 2 for x in one) * sum((y - b) ** 2 for y in other))


def test_seeks_follow_the_curve(build, tmp_path: Path) -> None:
    """The mean of 1,000 reads at each distance against overhead, curve, half a revolution and a sector: r² is far above 0.95, and each is within 5 %."""
    simulator = build("pattern=seeks", "segments=1")
    distances = [1, 2, 5, 10, 50, 200, 700, 1500, 3000, 5000, 7000, 8400]
    seen, wanted = [], []
    for distance in distances:
        stats = run(simulator, tmp_path, "--requests", 1000, "--step", distance, "--read_ahead", "false")
        assert stats["requester", "replies"] == 1000 and stats["drive", "seeks"] == 999
        seen.append(stats["requester", "response"] / 1000 / 50e3)
        wanted.append(OVERHEAD + curve(distance) + REVOLUTION / 2 + REVOLUTION / 211)
    assert r_squared(seen, wanted) > 0.995
    assert all(abs(a / b - 1) < 0.05 for a, b in zip(seen, wanted, strict=True)), list(zip(distances, seen, wanted, strict=True))


def test_sequential_reads_go_at_the_rate_of_the_platters(build, tmp_path: Path) -> None:
    """Without a pause: bytes of a cylinder over its revolutions and skews; without reading ahead it is a fraction."""
    simulator = build("pattern=sequential", "size=32")
    skew = math.ceil(0.7 * 211 / REVOLUTION)
    per_cylinder = 2 * REVOLUTION + 2 * skew * REVOLUTION / 211
    rates = []
    for ahead in ("true", "false"):
        stats = run(simulator, tmp_path, "--requests", 2000, "--read_ahead", ahead)
        rates.append(512 * 32 * 2000 / (stats["requester", "response"] / 50e6) / 1e6)
    assert abs(rates[0] / (2 * 211 * 512 / per_cylinder / 1e3) - 1) < 0.03 and rates[1] < rates[0] / 4


def test_more_that_wait_are_done_sooner(build, tmp_path: Path) -> None:
    """One at a time takes the average seek; sixteen, of which the soonest is next, are done at twice the rate or more."""
    simulator = build("order=disk_order.shortest")
    alone = run(simulator, tmp_path, "--requests", 1000, "--read_ahead", "false")
    queued = run(simulator, tmp_path, "--requests", 1000, "--read_ahead", "false", "--outstanding", 16)
    response = alone["requester", "response"] / 1000 / 50e3
    assert abs(response / (OVERHEAD + AVERAGE + REVOLUTION / 2 + REVOLUTION / 211) - 1) < 0.04
    assert queued["requester", "response"] / 16 < 0.55 * alone["requester", "response"]
