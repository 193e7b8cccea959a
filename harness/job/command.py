"""`spinach job`: runs a folder's files in a guest, from a checkpoint at its prompt, and brings back what they leave.

All that the run reads and writes on the way lies in PART of the folder, which one command at a time may use.  The
results of an earlier run are replaced when those of this one are whole.
"""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from harness.job.archive import OUT, PART, SCRIPT, JobError, shown
from harness.job.pack import check, pack
from harness.job.unpack import Results, unpack
from harness.run import files, process, watch
from harness.run.heartbeat import Heartbeat
from harness.run.store import digest

SIMULATOR = "host"  # in the folder of the checkpoint
NEEDED = "job"  # the parameter of a machine with a disk of jobs
RESERVED = ("restore", "job", "job_result", "console", "console_script", "serve", "interactive", "gdb")
MOST_LINES = 20  # of entries that were left out


def _check_options(options: Sequence[str]) -> None:
    """Refuses options that the command itself sets."""
    for at, word in enumerate(options):
        name = word.removeprefix("--") if word.startswith("--") else ""
        if at and options[at - 1] == "--set" or word.startswith("--set="):
            name = word.removeprefix("--set=")
        if (name := name.partition("=")[0]) in RESERVED:
            raise JobError(f"{word}: spinach job sets --{name} itself (leave this option out)")


def _has_job_disk(simulator: Path) -> bool:
    status, said, wrong = process.output([simulator.resolve(), "--list=json"])
    try:
        return any(one["name"] == NEEDED for one in json.loads(said)["parameters"])
    except (ValueError, KeyError, TypeError):
        why = f"status {status}: {wrong.strip().splitlines()[-1]}" if wrong.strip() else f"status {status}"
        raise JobError(f"{shown(str(simulator))} is no simulator ({shown(why)})") from None


def find_simulator(checkpoint: Path, given: Path | None) -> Path:
    """The simulator of a checkpoint, which must have a disk of jobs."""
    simulator = given or checkpoint.parent / SIMULATOR
    if not checkpoint.is_file():
        raise JobError(f"there is no checkpoint {shown(str(checkpoint))} (make linux-prompt makes one)")
    if not os.access(simulator, os.X_OK) or not simulator.is_file():
        raise JobError(f"there is no simulator {shown(str(simulator))} (name that of the checkpoint: --simulator FILE)")
    if not _has_job_disk(simulator):
        raise JobError(f"the machine of {shown(str(simulator))} has no disk of jobs (build it with -D jobs=true)")
    return simulator


@contextlib.contextmanager
def _working(folder: Path) -> Iterator[tuple[Path, int]]:
    """The folder for the files of a run, and the lock on it; what an ended command has left there is removed."""
    part = folder / PART
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(part)
        part.mkdir()
        try:
            yield part, lock
        finally:
            with contextlib.suppress(OSError):
                _remove(part)
    except BlockingIOError:
        raise JobError(f"another command uses {shown(str(folder))} (wait for it, or copy the folder)") from None
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def replace(new: Path, out: Path, aside: Path) -> None:
    """Gives the results their place; those of an earlier run go."""
    if out.exists() or out.is_symlink():
        out.rename(aside)
    new.rename(out)
    _remove(aside)


class Step:
    """The step that the command is at, for the lines of its heartbeat."""

    def __init__(self) -> None:
        self.words, self.time = "packing the files", ""

    def __str__(self) -> str:
        return f"job: {self.words}{self.time}"

    def enter(self, words: str) -> None:
        self.words, self.time = words, ""

    def simulated(self, seconds: float) -> None:
        """The simulator has reached this time."""
        self.words, self.time = "running in the guest", f", {1000 * seconds:.1f} ms simulated"


def _pass_on(errors: IO[str], step: Step) -> None:
    """What the simulator says on standard error, but for how far it is, which the step gets."""
    for line in errors:
        for far in watch.SHOWN.findall(line):
            step.simulated(json.loads(far)["time_fs"] / 1e15)
        if rest := watch.without(line):
            sys.stderr.buffer.write(rest.encode(errors="surrogateescape"))
            sys.stderr.buffer.flush()


def _simulate(command: Sequence[str | Path], lock: int, step: Step) -> int:
    """Runs the simulator, which holds the lock as well, in case this process is killed."""
    sys.stdout.flush()
    step.enter(f"restoring {shown(str(command[command.index('--restore') + 1]))}")
    if any(str(word).startswith("--progress") for word in command):  # then it is the user who sees it
        child = process.begin(command, log=sys.stdout, errors=sys.stderr, keep=[lock])
    else:
        child = process.begin([*command, watch.PROGRESS], log=sys.stdout, errors=subprocess.PIPE, keep=[lock])
    try:
        if child.stderr:
            _pass_on(child.stderr, step)
        return child.wait()
    finally:
        process.forget(child)


def _report(results: Results, folder: Path) -> None:
    for line in results.left_out[:MOST_LINES]:
        print(f"harness: left out {shown(str(folder))}/{OUT}/{line}", file=sys.stderr)
    if len(results.left_out) > MOST_LINES:
        print(f"harness: left out {len(results.left_out) - MOST_LINES} more", file=sys.stderr)


def run(
    checkpoint: Path, folder: Path, given: Path | None, manifest: Path | None, options: Sequence[str]
) -> int:  # fmt: skip
    """The command; returns the status of the job."""
    _check_options(options)
    check(folder)
    simulator = find_simulator(checkpoint, given)
    step = Step()
    with _working(folder) as (part, lock), Heartbeat(lambda: str(step)):
        with (part / "job.tar").open("wb") as file:
            packed = pack(folder, file)
        (part / "script").write_text(SCRIPT)
        command = [
            simulator.resolve(), "--quiet", "--restore", checkpoint, "--job", part / "job.tar",
            "--job_result", part / "result.tar", "--console_script", part / "script", *options,
        ]  # fmt: skip
        if not any(word.startswith("--console_output") for word in options):
            command += ["--console_output", "-"]  # not where the checkpoint's run had it
        status = _simulate(command, lock, step)
        step.enter(f"taking the results to {shown(str(folder))}/{OUT}")
        if status < 0:
            raise JobError(f"the simulator was ended by signal {-status}; {shown(str(folder))}/{OUT} is as it was")
        if not (part / "result.tar").exists():
            return status or 1  # the simulator has said why
        results = unpack(part / "result.tar", part / OUT)
        if results.failure:
            raise JobError(f"the guest could not finish the job: {shown(results.failure)}")
        replace(part / OUT, folder / OUT, part / "before")
    _report(results, folder)
    if manifest:
        noted = {
            "checkpoint": {"file": str(checkpoint), "sha256": digest(checkpoint)},
            "simulator": {"file": str(simulator), "sha256": digest(simulator)},
            "options": list(options), "job": packed, "out": results.files, "status": results.status,
        }  # fmt: skip
        files.write(manifest, json.dumps(noted, indent=1) + "\n")
    return results.status
