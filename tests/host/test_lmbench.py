"""The studies of the workstations of the ML-RSIM paper under Linux: levels of memory, system calls, and the two clocks that
measure these."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import correlation

import pytest

from tests.linux_guest import guest

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(3600)]

CACHES = {"octane": (32 << 10, 1 << 20), "blade": (64 << 10, 8 << 20)}
STRIDES = (32, 64, 128, 256, 512, 1024)
Study = Callable[[str], list[dict]]


@pytest.fixture
def study(root: Path, build_dir: Path, tmp_path: Path) -> Study:
    """The points of a study of the workstations, each with its coordinates and measures."""

    def made(name: str) -> list[dict]:
        guest(build_dir)
        file = root / f"examples/host/studies/{name}.toml"
        command = [sys.executable, "-m", "harness", "study", file, "--out", tmp_path / name, "--build", build_dir, "--plain"]
        subprocess.run(command, cwd=root, check=True)
        points = json.loads((tmp_path / name / "results.json").read_text())["points"]
        assert all(one["status"] == "ok" for one in points)
        return points

    return made


def at(points: list[dict], measure: str, **place: object) -> float:
    """A measure at a place."""
    [found] = [one["measures"][measure] for one in points if all(one[key] == value for key, value in place.items())]
    return found


def test_levels_of_memory(study: Study) -> None:
    """Each stride: r² of at least 0.98; the last array that fits takes what small ones take, but for the TLB, and the next one that of the next level."""
    points = study("lmbench_memory")
    for variant, caches in CACHES.items():
        for stride in STRIDES:
            curve = {p["size"]: p["measures"] for p in points if (p["variant"], p["stride"], p["pages"]) == (variant, stride, "contiguous")}
            measured, closed = ([one[name] for one in curve.values()] for name in ("cycles", "closed_form"))
            assert len(curve) > 17 and correlation(measured, closed) ** 2 >= 0.98, (variant, stride)
            sizes = sorted(curve)
            for cache in caches:
                fits, larger = (curve[sizes[sizes.index(cache) + k]] for k in (0, 1))
                assert fits["cycles"] < 1.15 * fits["closed_form"] < 0.9 * larger["closed_form"] < larger["cycles"], (variant, stride, cache)


def test_system_calls(study: Study) -> None:
    """All 15; those without fork have the order of the Octane's.  getpid is the shortest, and takes about a cycle for each instruction."""
    points = study("lmbench")
    assert len(points) == 30
    octane = [one for one in points if one["variant"] == "octane" and one["program"] not in ("fork", "exec")]
    ranks = []
    for name in ("microseconds", "workstation"):
        values = [one["measures"][name] for one in octane]
        ranks.append([sum(other < one for other in values) + sum(other == one for other in values) / 2 for one in values])
    assert len(octane) == 13 and correlation(*ranks) >= 0.8
    for variant in ("octane", "blade"):
        calls = {one["program"]: one["measures"] for one in points if one["variant"] == variant}
        assert min(calls, key=lambda name: calls[name]["microseconds"]) == "getpid"
        assert calls["getpid"]["instructions"] < 260 and 0.8 < calls["getpid"]["cycles_of_an_instruction"] < 1.2
        assert 3 < calls["exec"]["microseconds"] / calls["fork"]["microseconds"] < 5


def test_two_clocks(study: Study) -> None:
    """What a call takes by the guest's clock, and by cycles between markers: within 5 %, which the study checks, too."""
    points = study("lmbench_clock")
    assert len(points) == 6 and all(0.95 < one["measures"]["agreement"] < 1.05 for one in points)
