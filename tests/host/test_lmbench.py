"""The study of the levels of memory on the workstations of the ML-RSIM paper: edges where the caches end, and times of the closed form."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import correlation

import pytest

from tests.linux_guest import guest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

CACHES = {"octane": (32 << 10, 1 << 20), "blade": (64 << 10, 8 << 20)}
STRIDES = (32, 64, 128, 256, 512, 1024)


def test_levels_of_memory(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Each stride: r² of at least 0.98; the last array that fits takes what small ones take, but for the TLB, and the next one that of the next level."""
    guest(build_dir)
    command = [sys.executable, "-m", "harness", "study", root / "examples/host/lmbench_memory.toml", "--out", tmp_path / "report", "--build", build_dir, "--plain"]
    subprocess.run(command, cwd=root, check=True)
    points = json.loads((tmp_path / "report/results.json").read_text())["points"]
    for variant, caches in CACHES.items():
        for stride in STRIDES:
            curve = {p["size"]: p["measures"] for p in points if (p["variant"], p["stride"], p["pages"]) == (variant, stride, "contiguous")}
            measured, closed = ([one[name] for one in curve.values()] for name in ("cycles", "closed_form"))
            assert len(curve) > 17 and correlation(measured, closed) ** 2 >= 0.98, (variant, stride)
            sizes = sorted(curve)
            for cache in caches:
                fits, larger = (curve[sizes[sizes.index(cache) + k]] for k in (0, 1))
                assert fits["cycles"] < 1.15 * fits["closed_form"] < 0.9 * larger["closed_form"] < larger["cycles"], (variant, stride, cache)
