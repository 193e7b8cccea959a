"""Where simulations run: processes of this host, or the workers of a Dask cluster on hosts that share the files.

All are used through `concurrent.futures.Executor`.  Results are in the store and nowhere else, so a task may be begun
twice: a worker that was killed loses nothing but its time.
"""

import contextlib
import os
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from queue import Empty, SimpleQueue

from harness.run import process, serve

KIT = Path(__file__).resolve().parents[2]  # what workers import
RETRIES = 10  # of a task whose worker was lost
WAKE = 0.2  # seconds: Python does not see a signal that comes just before it begins to wait, until it wakes


class ExecuteError(Exception):
    """Workers that cannot be reached or started; the text is one line for the user."""


@contextlib.contextmanager
def executor(workers: str | None = None, slurm: Path | None = None, jobs: int | None = None) -> Iterator[Executor]:
    """The workers at an address, those that Slurm starts, or so many processes of this host (one for each core)."""
    if workers and slurm:
        raise ExecuteError("--workers and --slurm exclude each other")
    if workers:
        with _dask(workers) as pool:
            yield pool
    elif slurm:
        with _slurm_cluster(slurm) as cluster, _dask(cluster) as pool:
            yield pool
    else:
        try:
            with threads(jobs) as pool:
                yield pool
        finally:
            serve.end_all()


def completed(futures: Iterable[Future]) -> Iterator[Future]:
    """Futures as they complete; Ctrl-C is seen after WAKE at the latest, where `as_completed` may never see it."""
    done: SimpleQueue[Future] = SimpleQueue()
    futures = list(futures)
    for future in futures:
        future.add_done_callback(done.put)
    for _ in futures:
        found = None
        while not found:
            with contextlib.suppress(Empty):
                found = done.get(timeout=WAKE)
        yield found


def awaited(future: Future) -> object:
    """What a future comes to, with Ctrl-C as above."""
    while wait([future], WAKE).not_done:
        pass
    return future.result()


@contextlib.contextmanager
def threads(jobs: int | None = None) -> Iterator[ThreadPoolExecutor]:
    """Threads of this process, each of which waits for one child.  Ctrl-C ends the children; then none is started."""
    pool = ThreadPoolExecutor(jobs or os.cpu_count())
    try:
        yield pool
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            process.end_children()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


@contextlib.contextmanager
def _dask(where: object) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ExecuteError(f"workers need Dask, and there is no {error.name}: pip install distributed") from error
    try:
        client = Client(where, timeout="5 s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ExecuteError(f"--workers {where}: {error}") from error

    # Both are defined here so that their code is sent: one that was started in the wrong place cannot import this file.
    def retry_lost_workers(dask_scheduler: object = None) -> None:
        """A task whose worker was killed goes to another one, however often workers are killed."""
        dask_scheduler.allowed_failures = 100

    def has_harness() -> bool:
        from importlib.util import find_spec

        return find_spec("harness") is not None

    try:
        known = {"scheduler": client.run_on_scheduler(has_harness)}
        known |= {f"worker {address}": found for address, found in client.run(has_harness).items()}
        if lost := [one for one, found in known.items() if not found]:
            raise ExecuteError(f"--workers: the {lost[0]} finds no module harness; start it with PYTHONPATH={KIT}")
        client.run_on_scheduler(retry_lost_workers)
        yield client.get_executor(pure=False, retries=RETRIES)
    finally:
        client.close()


@contextlib.contextmanager
def _slurm_cluster(path: Path) -> Iterator[object]:
    """A cluster as a TOML file describes it: `jobs` workers, all else as dask_jobqueue.SLURMCluster takes it.

    Scheduler and workers use TLS, with certificates that are made for this run, unless the file has `security = false`.
    Without TLS, everyone who reaches their ports can execute any program.
    """
    try:
        options = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ExecuteError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        from dask_jobqueue import SLURMCluster
    except ModuleNotFoundError as error:
        raise ExecuteError(f"--slurm needs dask-jobqueue, and this Python has no {error.name}") from error
    count = options.pop("jobs", 1)
    if options.pop("security", True):
        options |= {"security": True, "protocol": "tls://"}
    options.setdefault("shared_temp_directory", str(Path.cwd()))  # where workers find their certificates
    options.setdefault("scheduler_options", {}).setdefault("dashboard", False)
    try:
        cluster = SLURMCluster(**options)
    except ImportError as error:
        why = "certificates need the Python package cryptography, or say security = false"
        raise ExecuteError(f"{path}: {why} (then everyone who reaches its ports can run programs)") from error
    except (TypeError, ValueError) as error:
        raise ExecuteError(f"{path}: {error}") from error
    with cluster:
        cluster.scale(jobs=count)
        yield cluster
