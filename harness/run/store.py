"""The store of results: what was simulated once is found again, as long as everything that determines it is the same.

A simulation is named by its content: the simulator, the options, and of options that are files the content.  Below
that name is one result for each content of the files that the run opened, as its manifest lists them; a kept result
counts only while all of them are as they were.  Several processes on several hosts may work in one store: each works
in a directory of its own, under a lease, and moves it into place when it is complete; the first one's result counts.

    store/busy/HOST-PID-RANDOM/     being worked in
    store/NAME/INPUTS/              a result: run.json, stats.json, log.txt, what the run wrote
    store/NAME/failed/              the last run that failed, to be looked at
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from harness.run import lease, process, serve, watch

STATS, NOTES, LOG = "stats.json", "run.json", "log.txt"
PRINTED = "printed-*.txt"  # what consoles print, in the directory of a run that keeps it apart from the log
BUSY = "busy"  # the folder of a store in which runs are being made
NO_END = "no end after"  # of a run that took longer than it may
SHOWN = 8  # lines of a run that failed
BLOCK = 4096  # bytes of an image's block
LARGE = 1 << 30  # bytes of a file that is not hashed byte by byte
UNFINISHED = "unfinished.checkpoint"  # of the latest run of a job that was ended
RESTORE = "--restore"  # the input of a job that begins at a checkpoint


class RunError(Exception):
    """A simulation that failed; the text is a few lines for the user, the first of which says why."""


@lru_cache(maxsize=65536)
def _digest_at(path: Path, changed: tuple[int, int], size: int, inode: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file's content."""
    status = path.stat()
    return _digest_at(path, (status.st_mtime_ns, status.st_ctime_ns), status.st_size, status.st_ino)


@lru_cache(maxsize=4096)
def _blocks_at(path: Path, changed: tuple[int, int], size: int, inode: int) -> str:
    found = hashlib.sha256(size.to_bytes(8, "little"))
    with path.open("rb") as file:
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) // BLOCK * BLOCK
            except OSError as error:
                if error.errno == errno.ENXIO:  # only zeros follow
                    break
            block = os.pread(file.fileno(), BLOCK, at)
            if block.strip(b"\0"):
                found.update((at // BLOCK).to_bytes(8, "little") + block)
            at += BLOCK
    return found.hexdigest()


def blocks_digest(path: Path) -> str:
    """SHA-256 of an image's size and of its blocks that are not zeros, each after its number."""
    status = path.stat()
    return _blocks_at(path, (status.st_mtime_ns, status.st_ctime_ns), status.st_size, status.st_ino)


def is_unchanged(noted: dict[str, str]) -> bool:
    """Whether an input is what a manifest says of it."""
    path = Path(noted["file"])
    if "blocks_sha256" in noted:
        return blocks_digest(path) == noted["blocks_sha256"]
    return digest(path) == noted["sha256"]


def content_name(*parts: object) -> str:
    """A name for what these parts, anything that JSON can hold, say."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


Files = Path | tuple[Path, ...]


def several(files: Files) -> tuple[Path, ...]:
    """The files that an option names."""
    return files if isinstance(files, tuple) else (files,)


def _named(path: Path) -> str:
    """What names an input of a job: of a large one the blocks that are not zeros."""
    return blocks_digest(path) if path.stat().st_size >= LARGE else digest(path)


def digests(files: Files) -> str | list[str]:
    """The content of the file, or of each of several."""
    return [_named(file) for file in files] if isinstance(files, tuple) else _named(files)


@dataclass(frozen=True)
class Job:
    """One simulation: `plain` are options without files, `inputs` options with the file each names, or several, with
    commas between them; `outputs` are options with the name of the file that the run writes into its directory."""

    simulator: Path
    plain: tuple[str, ...] = ()
    inputs: tuple[tuple[str, Files], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    timeout: float = 600.0
    retries: int = 0
    checkpoint_every: str = ""  # a run that was ended goes on from its latest checkpoint; "": from the beginning

    def name(self) -> str:
        """The content of the simulator, its options and their files: where results of this job lie."""
        inputs = [(option, digests(files)) for option, files in self.inputs]
        return content_name(digest(self.simulator), self.plain, inputs, self.outputs)

    def arguments(self, spell: Callable[[Path], str] = lambda path: str(path.resolve())) -> list[str]:
        """The options, with the files that the run reads."""
        given = [(option, ",".join(map(spell, several(files)))) for option, files in self.inputs]
        return [*self.plain, *(one for option, value in given for one in with_value(option, value))]

    def command(self) -> list[str]:
        """What to run, in a directory that receives the outputs."""
        written = [argument for option, name in self.outputs for argument in with_value(option, name)]
        return [str(self.simulator.resolve()), *self.arguments(), *written, "--quiet", "--stats", STATS]


def with_value(option: str, value: str) -> list[str]:
    """An option with its value; `--set X` takes X=VALUE."""
    head, space, name = option.partition(" ")
    return [head, f"{name}={value}"] if space else [option, value]


def without(arguments: Sequence[str], options: Collection[str]) -> list[str]:
    """The arguments less these options, each of which has a value."""
    kept, words = [], iter(arguments)
    for word in words:
        if word in options:
            next(words, None)
        elif word.split("=")[0] not in options:
            kept.append(word)
    return kept


@dataclass(frozen=True)
class Result:
    """A finished run: where its files lie, what it wrote, and whether it was known before."""

    job: Job
    directory: Path
    reused: bool
    _stats: list[dict] = field(default_factory=list, repr=False, compare=False)

    @property
    def stats(self) -> dict:
        """The statistics and the manifest, read when first needed."""
        if not self._stats:
            self._stats.append(json.loads((self.directory / STATS).read_text()))
        return self._stats[0]

    def output(self, option: str) -> Path | None:
        """The file written for an option, if the job has one."""
        return next((self.directory / name for known, name in self.job.outputs if known == option), None)

    def total(self, name: str) -> float:
        """The sum of all statistics of this name, of all modules."""
        return sum(entry["value"] for entry in self.stats.get("statistics", []) if entry["name"] == name)


def _files(job: Job) -> list[str]:
    return [STATS, *(name for _, name in job.outputs)]


def _stored(job: Job, directory: Path) -> Result | None:
    """The result in a directory, if it is whole and all that its run opened is as it was."""
    try:
        noted = json.loads((directory / NOTES).read_text())
        same = noted["files"] == {name: digest(directory / name) for name in _files(job)}
        same = same and all(is_unchanged(one) for one in noted["inputs"])
        return Result(job, directory, True) if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find(job: Job, store: Path) -> Result | None:
    """The result of a job that was run before with the same content of everything, if there is one."""
    try:
        folder = store / job.name()
        directories = sorted(path for path in folder.iterdir() if path.name not in ("failed", UNFINISHED))
    except OSError:
        return None
    return next((result for directory in directories if (result := _stored(job, directory))), None)


def run(job: Job, store: Path) -> Result:
    """Runs a job, or finds that it was run before."""
    if known := find(job, store):
        return known
    for _ in range(job.retries):
        with contextlib.suppress(RunError):
            return _run_once(job, store)
    return _run_once(job, store)


def _run_once(job: Job, store: Path) -> Result:
    folder = store / job.name()
    try:
        with lease.working_directory(store / BUSY, job.name()) as working:
            why, notes, said = _simulate(job, working, folder / UNFINISHED)
            (working / lease.NAME).unlink(missing_ok=True)
            if why:
                place = _keep_failed(working, folder / "failed")
                raise RunError(_reason(job, f"{why}; see {place}/{LOG}", _printed(place), said))
            place = folder / content_name(notes["inputs"])
            _move_into_place(job, working, place)
            (folder / UNFINISHED).unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"its result cannot be kept: {error.filename or store}: {error.strerror}") from error
    return Result(job, place, False)


def _printed(place: Path) -> str:
    """What consoles printed into files and not into the log."""
    return "".join(file.read_text(errors="replace").rstrip() + "\n" for file in sorted(place.glob(PRINTED)))


def _reason(job: Job, why: str, printed: str, said: str) -> str:
    """What failed on one line; below it the last lines of consoles, or else of what the simulator said."""
    name = f"{job.simulator.name}: "
    # What a console printed last may precede an error in its line.
    errors = [error for line in said.splitlines() if (error := line.partition(f"{name}error: ")[2])]
    lines = [line.removeprefix(name) for line in watch.printed(said)]
    before = watch.printed(printed + said.partition(f"{name}error: ")[0])
    if why.startswith(NO_END):
        return "\n  ".join([why, *(before or lines)[-SHOWN:]])
    errors = errors or lines[-1:]
    first = f"{errors[0]} ({why})" if errors else why
    shown = before if printed or len(before) > 1 else lines
    return "\n  ".join([first, *(shown[-SHOWN:] if len(shown) > 1 else [])])


def _move_into_place(job: Job, working: Path, place: Path) -> None:
    """Makes a working directory a result, unless there is one already: the first one counts, if it is whole."""
    place.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(100):
        try:
            working.rename(place)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if _stored(job, place):
            return
        # What is there is damaged: it is moved away under a name of its own, which only one of us can do.
        with contextlib.suppress(OSError):
            aside = working.with_name(f"{working.name}-damaged")
            place.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)
    raise OSError(errno.EEXIST, "something keeps damaging it", str(place))


def _keep_failed(working: Path, place: Path) -> Path:
    """Keeps what a failed run left, as the last one that failed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    with contextlib.suppress(OSError):  # another one's came first
        working.rename(place)
    return place


def _done_in_parts(job: Job, working: Path, unfinished: Path) -> process.Finished:
    """Runs a job from its latest checkpoint, if it has one that is whole, and writes others on the way."""
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    every = ["--checkpoint", str(unfinished.resolve()), "--checkpoint-every", job.checkpoint_every]
    if unfinished.exists():
        inputs = tuple(one for one in job.inputs if one[0] != RESTORE)
        plain = tuple(without(job.plain, ["--seed"]))  # a seed makes a run that goes on another one
        rest = replace(job, plain=plain, inputs=(*inputs, (RESTORE, unfinished)))
        done = process.run([*rest.command(), *every], working, job.timeout)
        if "cannot restore" not in done.err:
            return done
        unfinished.unlink(missing_ok=True)
    return process.run([*job.command(), *every], working, job.timeout)


def _done(job: Job, working: Path, unfinished: Path) -> process.Finished:
    if job.checkpoint_every:
        return _done_in_parts(job, working, unfinished)
    begins = [path for option, path in job.inputs if option == RESTORE]
    if not begins:
        return process.run_logged([*job.command(), watch.PROGRESS], working, working / LOG, job.timeout)
    other = replace(job, inputs=tuple(one for one in job.inputs if one[0] != RESTORE))
    return serve.run(job.simulator, begins[-1], working, [*other.command()[1:], watch.PROGRESS], job.timeout)


def _simulate(job: Job, working: Path, unfinished: Path) -> tuple[str, dict, str]:
    """Runs the simulator in a directory and notes there what it did: why it failed, the notes, what it said."""
    done = _done(job, working, unfinished)
    seen = watch.last_seen(done.err)
    done = replace(done, err=watch.without(done.err))
    said = done.err or done.out
    missing = [name for name in _files(job) if not (working / name).exists()]
    if done.status is None:
        far = f", at {watch.time_words(seen.far['time_fs'])} of simulated time" if seen.far else ""
        why = f"{NO_END} {job.timeout:g} s of real time{far} (`timeout` of `[run]` in the study allows more)"
    elif done.status:
        why = f"ended with status {done.status}" if done.status > 0 else f"ended by signal {-done.status}"
    else:
        why = f"wrote no {missing[0]}" if missing else ""
    notes = {"command": job.command(), "status": done.status}
    if not why:
        try:
            manifest = json.loads((working / STATS).read_text()).get("manifest", {})
            notes["inputs"] = sorted(manifest.get("inputs", []), key=lambda one: one["file"])
            notes["files"] = {name: digest(working / name) for name in _files(job)}
        except ValueError:
            why = f"wrote a {STATS} that is no JSON"
    (working / LOG).write_bytes(os.fsencode(done.out + done.err))
    (working / NOTES).write_text(json.dumps(notes, indent=1))
    return why, notes, said
