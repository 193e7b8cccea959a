"""Leases: a process that works in a directory renews a file there, so that others see whether it still works.

A process number means nothing on another host, and a host's clock may be wrong: what is compared is the time stamp of
the lease with that of a file just written to the same file system.
"""

import contextlib
import os
import shutil
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

RENEW = 10.0  # seconds between renewals
EXPIRE = 60.0  # a lease that was not renewed for so long has expired
NAME = "lease"


def _now(folder: Path) -> float:
    """The time of the file system of a folder."""
    probe = folder / f".now-{uuid.uuid4().hex}"
    probe.touch()
    try:
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


@contextlib.contextmanager
def working_directory(folder: Path, what: str = "") -> Iterator[Path]:
    """A new directory in `folder` under a lease, which names the work; what is left of it at the end is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    working = folder / f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
    working.mkdir()
    lease, done = working / NAME, Event()
    lease.write_text(what)

    def renew() -> None:
        while not done.wait(RENEW):
            with contextlib.suppress(OSError):  # the directory may have been moved away
                os.utime(lease)

    Thread(target=renew, daemon=True).start()
    try:
        yield working
    finally:
        done.set()
        shutil.rmtree(working, ignore_errors=True)


def held(folder: Path) -> dict[str, Path]:
    """The directories of `folder` that are worked in now, on any host, by the names of the work."""
    found = {}
    for lease in sorted(folder.glob(f"*/{NAME}")):
        with contextlib.suppress(OSError):  # it has just ended
            found[lease.read_text()] = lease.parent
    return found


def clear_abandoned(folder: Path) -> int:
    """Removes the directories of `folder` whose lease expired; returns how many."""
    if not folder.is_dir():
        return 0
    now, count = _now(folder), 0
    for working in folder.iterdir():
        try:
            renewed = max(path.stat().st_mtime for path in (working, working / NAME) if path.exists())
        except (OSError, ValueError):
            continue
        if working.is_dir() and now - renewed > EXPIRE:
            shutil.rmtree(working, ignore_errors=True)
            count += 1
    return count
