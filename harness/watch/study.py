"""`spinach watch --study`: a study, which runs as it does without a page, and the page with a line for each point.

The study has the main thread, so signals act on it as always; the server has a thread that ends with the process.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

from harness.run.progress import Progress
from harness.study.runner import STORE
from harness.watch.leader import WishError
from harness.watch.points import Points
from harness.watch.server import LINGER, Server, WatchError, show_address

LOOK = 0.5  # seconds between two looks at the runs


def run(path: Path, build: Path, work: Callable[[Progress], int], port: int, opened: bool) -> int:
    """Makes the study of a file by `work`, with its page; returns its status."""
    if not path.is_file():
        raise WatchError(f"there is no study {path} (--study takes the TOML file of a study)")
    points = Points(build.resolve() / STORE)
    with _served(points, port, opened):
        try:
            points.status = work(points)
        finally:
            points.status = 1 if points.status is None else points.status  # of a study that ends with an exception
    return points.status


@contextlib.contextmanager
def _served(points: Points, port: int, opened: bool) -> Iterator[None]:
    begun: Future[Callable[[], None]] = Future()
    thread = Thread(target=lambda: asyncio.run(_serve(points, port, opened, begun)), daemon=True)
    thread.start()
    end = begun.result()
    try:
        yield
    finally:
        end()
        with contextlib.suppress(KeyboardInterrupt):  # not to be kept from its end by the page
            thread.join()


async def _serve(points: Points, port: int, opened: bool, begun: "Future[Callable[[], None]]") -> None:
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    try:
        server = Server(port, "study.html")
        server.latest, server.wish = points.latest, _refuse
        show_address(server, opened)
    except BaseException as error:
        begun.set_exception(error)
        return
    begun.set_result(lambda: loop.call_soon_threadsafe(over.set))
    while not over.is_set():
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(over.wait(), LOOK)
        if changed := points.changes():
            server.notify(changed)
    if server.watchers:
        await asyncio.sleep(LINGER)
    server.stop()


def _refuse(what: str, value: str) -> None:
    raise WishError(f'the page of a study has no command "{what}"')
