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


def test_bandwidth_of_memory(study: Study) -> None:
    """Three regions: within a cache the rate does not depend on the size, and each level is slower.  Copies that conflict are slower in memory."""
    points = study("lmbench_bandwidth")
    for variant, sizes in {"octane": ((8192, 16384), (65536, 131072), (2097152,)), "blade": ((8192, 16384), (131072, 524288), (8388608,))}.items():
        for way in ("bcopy", "copy", "conflict"):
            regions = [[at(points, "rate", variant=variant, way=way, size=size) for size in level] for level in sizes]
            assert all(max(level) < 1.05 * min(level) for level in regions), (variant, way)
            assert min(regions[0]) > 1.2 * max(regions[1]) and min(regions[1]) > 1.2 * max(regions[2]), (variant, way)
        largest = sizes[2][0]
        assert at(points, "rate", variant=variant, way="conflict", size=largest) < 0.98 * at(points, "rate", variant=variant, way="copy", size=largest)


def test_switches_between_processes(study: Study) -> None:
    """More processes than the first-level cache holds the arrays of take longer; and more conflicts in level 2, too."""
    points = study("lmbench_switches")
    for variant in ("octane", "blade"):
        few, many = (at(points, "microseconds", variant=variant, bytes=16384, processes=processes) for processes in (2, 16))
        assert 0 < few < many and at(points, "microseconds", variant=variant, bytes=0, processes=16) < many
    one, eight = (at(points, "step", variant=variant, bytes=16384, processes=16) for variant in ("octane_direct", "octane_eight"))
    assert one > 1.02 * eight


def test_transfers_through_the_kernel(study: Study) -> None:
    """Opening and closing costs a small file more than a large one; the kernel has nearly all of the time."""
    points = study("lmbench_transfers")
    for variant in ("octane", "blade"):
        small, large = (at(points, "rate", variant=variant, way="open", bytes=size) / at(points, "rate", variant=variant, way="file", bytes=size) for size in (1024, 1048576))
        assert small < 0.6 and 0.9 < large < 1.02
    assert all(one["measures"]["kernel"] > 80 for one in points)


def test_disks_through_the_kernel(study: Study) -> None:
    """The disk takes what its closed form says, apart from where the platters are; bus and kernel add what does not depend on the distance."""
    points = study("lmbench_seeks")
    for variant in ("octane", "blade"):
        reads = [one["measures"] for one in points if one["variant"] == variant]
        assert correlation([one["disk"] for one in reads], [one["closed_form"] for one in reads]) ** 2 > 0.98
        for part in ("bus", "between"):
            times = [one[part] for one in reads]
            assert 0.05 < min(times) <= max(times) < 1.1 * min(times) + 0.01, (variant, part)
        assert all(abs(one["disk"] + one["bus"] + one["between"] - one["read"]) < 0.02 * one["read"] for one in reads)
    points = study("lmbench_sequential")
    rates = {(one["variant"], one["place"]): one["measures"]["rate"] for one in points if one["way"] == "read" and one["size"] == 64}
    for variant in ("octane", "blade"):
        rate = rates[variant, 0]
        assert all(0.95 * rate < other < 1.05 * rate for (which, _), other in rates.items() if which == variant), "the platters have one zone"
        assert 3 < rate < min(10, at(points, "platters", variant=variant, way="read", place=0, size=64))


def test_files(study: Study) -> None:
    """A file that waits for its folder waits for the disk; one that does not is at most some requests of it."""
    points = study("lmbench_files")
    for one in points:
        waits = one["folders"] == "dirsync"
        assert one["measures"]["created"] < 200 if waits else one["measures"]["created"] > 1000
        assert (one["measures"]["requests"] >= 1) == waits


def test_boot(study: Study) -> None:
    """The processor idles while the driver waits for the disk."""
    points = study("lmbench_boot")
    with_disk, without = (at(points, "busy", disk=disk) for disk in ("SCSI", "none"))
    assert 20 < without < with_disk < 200 and at(points, "seconds", disk="SCSI") > 2
