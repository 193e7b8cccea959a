"""Where studies run, and how they end: several in one build folder, SIGTERM, Dask workers of which one is killed."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.run import execute
from tests.harness.chain import ROOT, STUDY, command, make, run
from tests.sample import sampled, seldom


@seldom
def test_two_studies_share_a_build_folder(place: Path) -> None:
    (place / "other.toml").write_text(STUDY)
    both = [
        subprocess.Popen(command(place, file=file), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for file in ("study.toml", "other.toml")
    ]
    said = [one.communicate(timeout=300)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    results = [(place / f"build/studies/{name}/results.csv").read_bytes() for name in (place.name, "other")]
    assert results[0] == results[1]


def simulators(pid: int) -> list[int]:
    """The simulators that a process runs; other children of its may end while we look, and names are bytes of any kind."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_bytes().rpartition(b")")[2].split()
            command_line = status.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == pid and b"/sim/" in command_line:
            found.append(int(status.parent.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


LONG = STUDY.replace('"option.cycles" = 1000', '"option.cycles" = 100_000_000_000')


def begin_long(place: Path) -> tuple[subprocess.Popen, list[int]]:
    """A study whose simulations take hours, and their processes."""
    (place / "study.toml").write_text(LONG)
    one = subprocess.Popen(command(place), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for _ in range(1200):
        running = simulators(one.pid)
        if len(running) >= min(2, os.cpu_count() or 1):
            return one, running
        assert one.poll() is None, one.communicate()[0]
        time.sleep(0.1)
    one.terminate()
    raise AssertionError("no simulator was started")


def test_sigterm_ends_the_simulators(place: Path) -> None:
    one, running = begin_long(place)
    one.terminate()
    said = one.communicate(timeout=60)[0]
    assert one.returncode == 128 + signal.SIGTERM and "ended by SIGTERM" in said
    assert not any(map(alive, running))
    assert run_short_after(place)


def run_short_after(place: Path) -> bool:
    """The same study with short runs: what was ended is in nobody's way."""
    return all(row.status == "ok" for row in make(place, STUDY).every)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


MANY = STUDY.replace("values = [2, 10]", "values = [2]").replace(
    "values = [0.5, 1.0]", f"values = {[round(0.04 * (n + 1), 2) for n in range(24)] + [1.0]}"
).replace('"option.cycles" = 1000', '"option.cycles" = 1_000_000')  # fmt: skip


def finished_in(results: Path) -> int:
    """How many results lie in a store."""
    return sum(path.parts[-3] != "busy" for path in results.glob("*/*/run.json"))


def wait_for(results: Path, count: int, one: subprocess.Popen) -> int:
    """Waits for so many results of a study that is running; returns how many there are."""
    for _ in range(6000):
        if (number := finished_in(results)) >= count:
            return number
        assert one.poll() is None, one.communicate()[0]
        time.sleep(0.05)
    raise AssertionError(f"{finished_in(results)} results after five minutes")


def test_a_killed_study_goes_on_where_it_was(place: Path) -> None:
    (place / "study.toml").write_text(MANY)
    one = subprocess.Popen(command(place), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for(place / "build/run", 4, one)
    one.kill()
    one.communicate()
    before = finished_in(place / "build/run")
    rows = make(place).every
    assert all(row.status == "ok" for row in rows) and len(rows) == 25
    assert sum(row.result.reused for row in rows) >= 4 and before < 25


@contextlib.contextmanager
def dask(place: Path, workers: int, python_path: str = str(ROOT)) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """A scheduler and workers, started by hand as docs/studies.md says: its address, and the workers."""
    pytest.importorskip("distributed")
    address, environment = f"tcp://127.0.0.1:{free_port()}", {**os.environ, "PYTHONPATH": python_path}
    started = []

    def start(*arguments: str) -> None:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        started.append(subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=place
        ))  # fmt: skip

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])
        for _ in range(workers):
            start("worker", address, "--nthreads", "1", "--no-nanny")
        yield address, started[1:]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def begin(place: Path, study: Path, out: str, *arguments: str) -> subprocess.Popen:
    made = command(place, "--out", str(place / out), *arguments, file=str(study))
    return subprocess.Popen(made, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def same_bytes_with_a_killed_worker(place: Path, study: Path, points: int) -> None:
    """A study on processes of this host, then on two workers, of which one is killed in the middle and not started
    again: nothing is lost, and the results are the same, byte for byte."""
    run(place, "--out", str(place / "local"), file=str(study))
    results = place / "build/run"
    results.rename(place / "before")  # nothing is kept
    with dask(place, 2) as (address, workers):
        one = begin(place, study, "remote", "--workers", address)
        assert wait_for(results, 4, one) < points - 1, "the worker is killed in the middle"
        workers[0].kill()
        said = one.communicate(timeout=500)[0]
        assert one.returncode == 0, said
    assert finished_in(results) == points
    for name in "results.csv", "results.json":
        assert (place / "remote" / name).read_bytes() == (place / "local" / name).read_bytes()


@pytest.mark.soak
def test_workers_of_which_one_is_killed(place: Path) -> None:
    (place / "study.toml").write_text(MANY)
    same_bytes_with_a_killed_worker(place, place / "study.toml", 25)


QUAD_CORE = ROOT / "examples/quad_core/study.toml"


@pytest.mark.soak
def test_a_sweep_over_structure_and_run_time_parameters(place: Path, build_dir: Path) -> None:
    """The 24 points of the four-core machine: on workers, and as two studies at once in one build folder."""
    (place / "build/firmware").symlink_to(build_dir / "firmware")
    same_bytes_with_a_killed_worker(place, QUAD_CORE, 24)
    for kept in "run", "sim":
        shutil.rmtree(place / "build" / kept)
    both = [begin(place, QUAD_CORE, out) for out in ("one", "other")]
    said = [one.communicate(timeout=600)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    for out in "one", "other":
        assert (place / out / "results.csv").read_bytes() == (place / "local/results.csv").read_bytes()


@pytest.mark.slow
def test_workers_that_cannot_import_the_harness(place: Path) -> None:
    with dask(place, 0, python_path="") as (address, _):
        said = run(place, "--workers", address, status=1)
    assert f"harness: --workers: the scheduler finds no module harness; start it with PYTHONPATH={ROOT}" in said


@pytest.mark.parametrize(
    "arguments, error",
    sampled([
        (["--workers", "tcp://127.0.0.1:1"], "--workers tcp://127.0.0.1:1: "),
        (["--slurm", "none.toml"], "none.toml: No such file"),
        (["--slurm", "none.toml", "--workers", "x"], "--workers and --slurm exclude each other"),
    ], 3),
)  # fmt: skip
def test_workers_that_are_not_there(place: Path, arguments: list[str], error: str) -> None:
    pytest.importorskip("distributed")
    (place / "study.toml").write_text(STUDY.replace("[2, 10]", "[2]"))
    assert f"harness: {error}" in run(place, *arguments, status=1)


def test_slurm_gets_what_its_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict = {}

    class Cluster:
        def __init__(self, **options) -> None:
            asked.update(options)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            asked["closed"] = True

        def scale(self, jobs: int) -> None:
            asked["jobs"] = jobs

    monkeypatch.setitem(sys.modules, "dask_jobqueue", SimpleNamespace(SLURMCluster=Cluster))
    (tmp_path / "slurm.toml").write_text('jobs = 7\nqueue = "short"\ncores = 4\nmemory = "8 GB"\n')
    with execute._slurm_cluster(tmp_path / "slurm.toml") as cluster:
        assert isinstance(cluster, Cluster)
    told = {"queue": "short", "cores": 4, "memory": "8 GB", "jobs": 7, "closed": True}
    local = {"shared_temp_directory": str(Path.cwd()), "scheduler_options": {"dashboard": False}}
    assert asked == told | local | {"security": True, "protocol": "tls://"}
    asked.clear()
    (tmp_path / "slurm.toml").write_text('jobs = 7\nqueue = "short"\ncores = 4\nmemory = "8 GB"\nsecurity = false\n')
    with execute._slurm_cluster(tmp_path / "slurm.toml"):
        assert asked == {key: told[key] for key in ("queue", "cores", "memory", "jobs")} | local
