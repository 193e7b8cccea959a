"""The archive of a folder, as a guest finds it: the same bytes for the same names, contents, targets of links and
permission to execute, whoever packs it and when."""

import hashlib
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.job.archive import BLOCK, CAPACITY, FOLDER, OUT, PART, RUN, SIZE, JobError, shown

CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A file, folder or link below the folder."""

    path: str
    name: str  # within the folder; "": itself
    mode: int
    size: int
    target: str = ""  # of a link

    @property
    def header(self) -> bytes:
        """What precedes its content in the archive."""
        info = tarfile.TarInfo("/".join(filter(None, [FOLDER, self.name])))
        info.mode = 0o644
        if stat.S_ISDIR(self.mode):
            info.type, info.mode = tarfile.DIRTYPE, 0o755
        elif stat.S_ISLNK(self.mode):
            info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, self.target
        else:
            info.size, info.mode = self.size, 0o755 if self.mode & 0o111 else 0o644
        return _header(info)


def _header(info: tarfile.TarInfo) -> bytes:
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def _padding(size: int) -> bytes:
    return bytes(-size % BLOCK)


def check(folder: Path) -> None:
    """Refuses a folder that is no job."""
    run, place = folder / RUN, shown(str(folder))
    if not folder.is_dir():
        raise JobError(f"there is no folder {place}")
    if not run.is_file():
        raise JobError(f"{place} has no file {RUN}, which the guest executes (a program of the guest, or a script)")
    if not run.stat().st_mode & 0o111:
        raise JobError(f"{place}/{RUN} is not executable (chmod +x {place}/{RUN})")


def _entries(folder: str, name: str = "") -> Iterator[Entry]:
    """A folder and all below it, in the order of the bytes of names."""
    status = os.lstat(folder) if name else os.stat(folder)
    yield Entry(folder, name, status.st_mode, 0)
    for one in sorted(os.listdir(folder), key=os.fsencode):
        path, below = os.path.join(folder, one), f"{name}/{one}" if name else one
        if below in (OUT, PART):  # results of an earlier run
            continue
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode):
            yield from _entries(path, below)
        elif stat.S_ISLNK(status.st_mode):
            yield Entry(path, below, status.st_mode, 0, os.readlink(path))
        elif stat.S_ISREG(status.st_mode):
            yield Entry(path, below, status.st_mode, status.st_size)
        else:
            raise JobError(f"{shown(path)} is neither a file, a folder nor a symbolic link (leave it out of the job)")


def _copy(entry: Entry, output: IO[bytes]) -> str:
    """The content of a file into the archive; returns its SHA-256."""
    found, left = hashlib.sha256(), entry.size
    with open(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        while left and (part := file.read(min(left, CHUNK))):
            found.update(part)
            output.write(part)
            left -= len(part)
        if left or file.read(1):
            raise JobError(f"{shown(entry.path)} was changed while it was read (run the job again)")
    output.write(_padding(entry.size))
    return found.hexdigest()


def pack(folder: Path, output: IO[bytes], capacity: int = CAPACITY) -> list[dict[str, str]]:
    """Writes the archive of a folder; returns its files, each with its SHA-256."""
    check(folder)
    entries = [(entry, entry.header) for entry in _entries(str(folder))]
    first = tarfile.TarInfo(SIZE)
    size = 4 * BLOCK + sum(len(header) + entry.size + len(_padding(entry.size)) for entry, header in entries)
    if size > capacity:
        raise JobError(f"{shown(str(folder))} takes {size} bytes on the disk of jobs, which has {capacity}")
    text = f"{size}\n".encode()
    first.size = len(text)
    output.write(_header(first) + text + _padding(len(text)))
    files = []
    for entry, header in entries:
        output.write(header)
        if stat.S_ISREG(entry.mode):
            files.append({"file": entry.name, "sha256": _copy(entry, output)})
    output.write(bytes(2 * BLOCK))
    return files
