"""How the speed figures are measured: processor time of whole processes, at two run lengths, interleaved.

A simulator is run for few and for many cycles, and only the difference counts, so start-up costs nothing.  The subjects
of one comparison take turns, so a machine that slows down slows all of them; what is reported are medians.
"""

import functools
import os
import platform
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class BenchError(Exception):
    """Something could not be measured; the text says what and why."""


def run(command: list, cwd: Path | None = None, env: dict[str, str] | None = None) -> tuple[float, str]:
    """Runs a command to its end and returns its user and system seconds and its standard output."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(
            [str(word) for word in command],
            stdout=out,
            stderr=err,
            stdin=subprocess.DEVNULL,
            cwd=cwd,
            env={**os.environ, "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1", **(env or {})},
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            lines = err.read().strip().splitlines() or ["no message"]
            cause = next((line for line in lines if "error" in line), lines[-1])
            raise BenchError(f"{' '.join(map(str, command))}: exit status {child.returncode}: {cause}")
        return usage.ru_utime + usage.ru_stime, out.read()


@dataclass
class Subject:
    """One simulator: the command that runs it for so many cycles, and what a figure is divided by besides cycles."""

    name: str
    command: Callable[[int], list]
    units: int = 1  # modules or cores stepped in each cycle
    cycles: int = 0  # of the long run; 0: they are calibrated


SHORT = 10  # the short run is this fraction of the long one


def calibrate(subject: Subject, seconds: float) -> None:
    """Chooses the long run's cycles so that it takes about so many seconds."""
    cycles = 10000
    while True:
        used, _ = run(subject.command(cycles))
        if used > seconds / 8 or cycles > 1 << 32:
            break
        cycles *= 4
    subject.cycles = max(int(cycles * seconds / used), SHORT)


def interleaved(subjects: list[Subject], repetitions: int = 7, seconds: float = 0.6) -> dict[str, list[float]]:
    """Nanoseconds per cycle and unit of each subject, one figure per repetition."""
    for subject in subjects:
        if not subject.cycles:
            calibrate(subject, seconds)
    figures: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    for _ in range(repetitions):
        for subject in subjects:
            short = subject.cycles // SHORT
            few, _ = run(subject.command(short))
            many, _ = run(subject.command(subject.cycles))
            figures[subject.name].append((many - few) * 1e9 / (subject.cycles - short) / subject.units)
    return figures


def median(figures: list[float]) -> float:
    """The median; with an even count, the mean of the middle two."""
    return statistics.median(figures)


def wall_seconds(command: list, cwd: Path | None = None, env: dict[str, str] | None = None) -> float:
    """Seconds on the clock that a command takes."""
    begin = time.monotonic()
    run(command, cwd, env)
    return time.monotonic() - begin


@dataclass
class Counts:
    """What valgrind counted: host instructions, and branches that its model of a processor predicts wrongly."""

    instructions: float
    mispredicted: float


def counted(command: list) -> Counts:
    """The counts of a whole run."""
    log = Path(command[0]).parent / "valgrind.log"
    options = ["--tool=cachegrind", "--cache-sim=no", "--branch-sim=yes", "--cachegrind-out-file=/dev/null"]
    run(["valgrind", *options, f"--log-file={log}", *command])
    found = [re.search(name + r":\s+([\d,]+)", log.read_text()) for name in (r"I\s+refs", "Mispredicts")]
    if not all(found):
        raise BenchError(f"valgrind counted nothing; see {log}")
    return Counts(*(int(match.group(1).replace(",", "")) for match in found))


def counted_per_cycle(command: Callable[[int], list], short: int, long: int) -> Counts:
    """The counts of a cycle, from runs of so few and so many cycles; they repeat exactly."""
    few, many = counted(command(short)), counted(command(long))
    cycles = long - short
    return Counts((many.instructions - few.instructions) / cycles, (many.mispredicted - few.mispredicted) / cycles)


@functools.cache
def has_counters() -> bool:
    """Whether perf can count the cycles of the processor here; most virtual machines do not let it."""
    try:
        done = subprocess.run(
            ["perf", "stat", "-x,", "-e", "cycles:u", "true"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0 and "<not" not in done.stderr


def host_cycles(command: list) -> float:
    """User cycles of a whole run by the processor's counters; without any, nanoseconds of processor time."""
    if not has_counters():
        return run(command)[0] * 1e9
    with tempfile.NamedTemporaryFile("r") as log:
        run(["perf", "stat", "-x,", "-o", log.name, "-e", "cycles:u", *command])
        return next(float(line.split(",")[0]) for line in log if "cycles:u" in line)


def machine_info() -> dict:
    """What the figures were measured on."""

    def first_line(*command: str) -> str:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return "absent"
        lines = (done.stdout or done.stderr).strip().splitlines()
        return lines[0] if lines else ""

    cpu = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    clang = next((c for c in ("clang-22", "clang-19", "clang") if first_line(c, "--version") != "absent"), "clang")
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "cycle_counters": has_counters(),
        "load_average": os.getloadavg()[0],
        "system": first_line("uname", "-sr"),
        "clang": first_line(clang, "--version"),
        "gcc": first_line("g++", "--version"),
        "verilator": first_line("verilator", "--version"),
    }
