"""Runs many simulations on all cores and keeps their results under a key of everything that determines them.

A simulator is deterministic, so a run with the same simulator, files and options need not be made twice: results lie
in store/<key>/ and an interrupted sweep goes on where it was.  A run works in a directory of its own that is renamed
into place when it succeeded; one that failed stays under its key with ".failed" appended, to be looked at.  A result
whose files are not what they were then is none.
"""

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

from harness.run.progress import Progress


class RunError(Exception):
    """A simulation that failed; the text is a few lines for the user, the first of which names the run."""


@cache
def _digest_at(path: Path, modified: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file's content."""
    status = path.stat()
    return _digest_at(path, status.st_mtime_ns, status.st_size)


@dataclass(frozen=True)
class Job:
    """One simulation.  `inputs` and `outputs` map an option of the simulator to a file; the rest is plain words."""

    name: str
    simulator: Path
    words: tuple[str, ...] = ()
    inputs: tuple[tuple[str, Path], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    timeout: float = 600

    def key(self) -> str:
        """Names the result: a hash of the simulator, its options and the content of its input files."""
        parts = [digest(self.simulator), self.words, [(o, digest(p)) for o, p in self.inputs], self.outputs]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]

    def command(self) -> list[str]:
        """What to run, in a directory that receives the outputs."""
        files = [word for option, path in self.inputs for word in (option, str(path.resolve()))]
        outputs = [word for option, name in self.outputs for word in (option, name)]
        return [str(self.simulator.resolve()), *self.words, *files, *outputs, "--stats", "stats.json"]


@dataclass(frozen=True)
class Result:
    """A finished run: where its files lie, what it wrote, and how long the host took."""

    job: Job
    directory: Path
    stats: dict = field(repr=False)
    seconds: float
    reused: bool

    def output(self, option: str) -> Path | None:
        """The file written for an option, if the job asked for one."""
        return next((self.directory / name for known, name in self.job.outputs if known == option), None)

    def named(self, name: str) -> float | None:
        """The first statistic of this name, whoever reports it, or None where this machine has no such thing."""
        return next((entry["value"] for entry in self.stats.get("statistics", []) if entry["name"] == name), None)

    def total(self, name: str) -> float:
        """The sum of all statistics of this name, whoever counted them."""
        return sum(entry["value"] for entry in self.stats.get("statistics", []) if entry["name"] == name)


def _files(job: Job) -> list[str]:
    return ["stats.json", *(name for _, name in job.outputs)]


def _stored(job: Job, directory: Path) -> Result | None:
    try:
        noted = json.loads((directory / "run.json").read_text())
        if noted["files"] != {name: digest(directory / name) for name in _files(job)}:
            return None
        return Result(job, directory, json.loads((directory / "stats.json").read_text()), noted["seconds"], True)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def kept(job: Job, store: Path) -> Result | None:
    """The result of a job that was run before, if it was."""
    return _stored(job, store / job.key())


def run(job: Job, store: Path) -> Result:
    """Runs one job, or finds that it was run before."""
    directory = store / job.key()
    if known := _stored(job, directory):
        return known
    working = directory.with_name(f"{directory.name}.{os.getpid()}")
    failed = directory.with_name(f"{directory.name}.failed")
    for stale in working, failed, directory, *_abandoned(directory):
        shutil.rmtree(stale, ignore_errors=True)
    try:
        working.mkdir(parents=True)
        why, seconds, said = _simulate(job, working)
        if not why:
            working.rename(directory)
            return Result(job, directory, json.loads((directory / "stats.json").read_text()), seconds, False)
        working.rename(failed)
    except OSError as error:
        shutil.rmtree(working, ignore_errors=True)
        raise RunError(f"{job.name}: its result cannot be kept: {error.filename or store}: {error.strerror}") from error
    last = "\n  ".join(said.strip().splitlines()[-8:])
    raise RunError(f"{job.name}: {why}; see {failed}/log.txt\n  {last}")


def _abandoned(directory: Path) -> Iterable[Path]:
    """Where processes worked at this result that were killed."""
    for path in directory.parent.glob(f"{directory.name}.*"):
        number = path.name.rpartition(".")[2]
        if number.isdecimal() and not Path(f"/proc/{number}").exists():
            yield path


def _simulate(job: Job, working: Path) -> tuple[str, float, str]:
    """Runs the simulator in a directory, notes there what it did; what went wrong, the seconds, its complaint."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            job.command(), cwd=working, capture_output=True, text=True, errors="replace", timeout=job.timeout
        )
        text, said, status = done.stdout + done.stderr, done.stderr or done.stdout, done.returncode
    except subprocess.TimeoutExpired:
        text, status = f"no end after {job.timeout:.0f} s", None
        said = text
    seconds = time.monotonic() - began
    missing = [name for name in _files(job) if not (working / name).exists()]
    why = f"ended with status {status}" if status != 0 else f"wrote no {missing[0]}" if missing else ""
    noted = {"name": job.name, "command": job.command(), "seconds": seconds, "status": status}
    if not why:
        noted["files"] = {name: digest(working / name) for name in _files(job)}
    (working / "log.txt").write_text(text)
    (working / "run.json").write_text(json.dumps(noted, indent=1))
    return why, seconds, said


def sweep(
    jobs: Iterable[Job],
    store: Path,
    progress: Progress,
    words: Callable[[Result], str] = lambda result: "",
    workers: int | None = None,
) -> list[Result]:
    """Runs all jobs, in any order, and returns their results in the order given; one failure ends the sweep."""
    jobs = list(jobs)
    results: dict[int, Result] = {}
    # Equal jobs share a key and with it a directory: one runs, the others wait and find its result.
    turns = {key: Lock() for key in {job.key() for job in jobs}}

    def run_in_turn(job: Job) -> Result:
        with turns[job.key()]:
            return run(job, store)

    with ThreadPoolExecutor(workers or os.cpu_count()) as pool, progress.task("simulating", len(jobs)) as task:
        futures = {pool.submit(run_in_turn, job): index for index, job in enumerate(jobs)}
        try:
            for future in as_completed(futures):
                result = results[futures[future]] = future.result()
                task.step(f"{result.job.name}: {words(result)}{' (kept from before)' if result.reused else ''}")
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return [results[index] for index in range(len(jobs))]
