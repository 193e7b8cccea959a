"""Seconds to build the two-CPU Tigon-2: from an empty cache, and after each of five one-parameter changes.

The machine's folder is copied, so that a change is what a user would do: one edited number or policy in the LSS.
"""

import re
import shutil
import tempfile
from pathlib import Path

from measuring import BenchError, wall_seconds

ROOT = Path(__file__).resolve().parent.parent.parent

# Name of the change: file below the machine's folder, pattern with one group, replacement of the group.
CHANGES: dict[str, tuple[str, str, str]] = {
    "a latency (SRAM, first access)": ("tigon2.lss", r"parameter first_access = (\d+) : int", "4"),
    "a cache size (instruction line)": ("tigon2_core.lss", r"line = (128);", "256"),
    "a width (interrupt register)": ("tigon2.lss", r"interrupt_bits = (1);", "2"),
    "a policy userpoint (SRAM arbiter)": ("tigon2_nic.lss", r"keep_at_most\(requests, last, served, (16)\)", "8"),
}


def change(folder: Path, name: str) -> None:
    """Makes one of the changes in a copy of the machine."""
    file, pattern, replacement = CHANGES[name]
    path = folder / file
    text = path.read_text()
    found = re.search(pattern, text)
    if not found:
        raise BenchError(f"{file}: nothing matches {pattern!r} for the change of {name}")
    path.write_text(text[: found.start(1)] + replacement + text[found.end(1) :])


def measure(build: Path) -> dict:
    """Build time from nothing, and rebuild times by change."""
    with tempfile.TemporaryDirectory(dir=build / "bench") as scratch:
        original = Path(scratch) / "machine"
        shutil.copytree(ROOT / "examples" / "tigon2", original)
        environment = {"LSS_CACHE": str(Path(scratch) / "cache")}

        def build_once(folder: Path, *options: str) -> float:
            command = [build / "bin" / "lss", "build", folder / "tigon2.lss", "-o", Path(scratch) / "simulator"]
            return wall_seconds([*command, *options], env=environment)

        empty = build_once(original, "-D", "cpus=2")
        times = {}
        for name in CHANGES:
            changed = Path(scratch) / "changed"
            shutil.copytree(original, changed)
            change(changed, name)
            times[name] = build_once(changed, "-D", "cpus=2")
            shutil.rmtree(changed)
        times["the number of CPUs"] = build_once(original, "-D", "cpus=1")
    return {"build_seconds": empty, "rebuild_seconds": max(times.values()), "rebuild_changes": times}
