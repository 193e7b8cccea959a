"""Seconds to build the two-CPU Tigon-2: from an empty cache, and after each of five one-parameter changes.

Of each change the median of three rebuilds is taken, each with the cache as the first build left it.  The machine's folder is copied and changed in place, which is what a user would do: one edited number or policy in the LSS.
"""

import re
import shutil
import statistics
import tempfile
from pathlib import Path

from measuring import BenchError, wall_seconds

ROOT = Path(__file__).resolve().parent.parent.parent

# Name of the change: file below the machine's folder, pattern with one group, replacement of the group.
CHANGES: dict[str, tuple[str, str, str]] = {
    "a latency (SRAM, first access)": ("tigon2_nic.lss", r"parameter first_access = (\d+) : int", "4"),
    "a cache size (instruction line)": ("tigon2_core.lss", r"line = (128);", "256"),
    "a width (interrupt register)": ("tigon2.lss", r"interrupt_bits = (1);", "2"),
    "a policy userpoint (SRAM arbiter)": ("tigon2_nic.lss", r"keep_at_most\(requests, last, served, (16)\)", "8"),
}


def changed(text: str, name: str) -> str:
    """A file's text after one of the changes."""
    file, pattern, replacement = CHANGES[name]
    found = re.search(pattern, text)
    if not found:
        raise BenchError(f"{file}: nothing matches {pattern!r} for the change of {name}")
    return text[: found.start(1)] + replacement + text[found.end(1) :]


def measure(build: Path) -> dict:
    """Build time from nothing, and rebuild times by change."""
    with tempfile.TemporaryDirectory(dir=build / "bench") as scratch:
        machine = Path(scratch) / "machine"
        shutil.copytree(ROOT / "examples" / "tigon2", machine)
        first, cache = Path(scratch) / "first", Path(scratch) / "cache"

        def build_once(cpus: int) -> float:
            command = [build / "bin" / "lss", "build", machine / "tigon2.lss", "-o", Path(scratch) / "simulator"]
            return wall_seconds([*command, "-D", f"processors={cpus}"], env={"LSS_CACHE": str(cache)})

        def rebuild(cpus: int) -> float:
            seconds = []
            for _ in range(3):
                shutil.rmtree(cache)
                shutil.copytree(first, cache)
                seconds.append(build_once(cpus))
            return statistics.median(seconds)

        empty = build_once(2)
        shutil.copytree(cache, first)
        times = {}
        for name, (file, _, _) in CHANGES.items():
            text = (machine / file).read_text()
            (machine / file).write_text(changed(text, name))
            times[name] = rebuild(2)
            (machine / file).write_text(text)
        times["the number of CPUs"] = rebuild(1)
    return {"build_seconds": empty, "rebuild_seconds": max(times.values()), "rebuild_changes": times}
