"""Files that are written whole or not at all: a full disk or a killed process leaves no half of one behind."""

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

LONGEST_NAME = 255  # bytes of a name in a folder


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` when all is written.  A name that is a symbolic link stays one,
    a file that was there keeps its mode, and what is no file (a pipe, a device) is written as it comes."""
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        with target.open("wb") as file:
            yield file
        return
    end = f".{os.getpid()}-{threading.get_native_id()}.part".encode()  # threads may write the same file at a time
    part = target.with_name(os.fsdecode(os.fsencode(target.name)[: LONGEST_NAME - len(end)] + end))
    made = False
    try:
        with part.open("wb") as file:
            made = True
            if mode is not None:
                part.chmod(stat.S_IMODE(mode))
            yield file
        part.replace(target)
    except BaseException:
        if made:
            part.unlink(missing_ok=True)
        raise


def write(path: Path, text: str) -> None:
    """Gives a file its new content in one step."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """The same of bytes."""
    with replacing(path) as file:
        file.write(content)
