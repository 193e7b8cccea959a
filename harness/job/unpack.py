"""The results of a job, out of an archive in which a guest may have written anything.

Nothing is written outside the folder for them.  Each file is opened below the folder's own descriptor, name by name and
without following links.  Links come last, and only those whose targets are in the folder, wherever other links lead.
"""

import hashlib
import os
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.job.archive import OUT, STATUS, JobError, shown

CHUNK = 1 << 20
LONGEST_STATUS = 4096
FOLDERS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Results:
    """What a job came to: the status of `run`; why there is none; the files with their SHA-256; a line for each entry
    that was left out."""

    status: int = -1
    failure: str = ""
    files: list[dict[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class _Folder:
    """The folder that receives the files."""

    def __init__(self, place: Path) -> None:
        self._root = os.open(place, FOLDERS)
        self._links: dict[tuple[str, ...], str] = {}

    def close(self) -> None:
        os.close(self._root)

    @contextmanager
    def inside(self, names: tuple[str, ...]) -> Iterator[int]:
        """The descriptor of a folder, which is made if it is not there."""
        at = os.dup(self._root)
        try:
            for name in names:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o777, dir_fd=at)
                below = os.open(name, FOLDERS, dir_fd=at)
                os.close(at)
                at = below
            yield at
        finally:
            os.close(at)

    def write(self, names: tuple[str, ...], archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
        """A new file; returns its SHA-256."""
        source, left, found = archive.extractfile(member), member.size, hashlib.sha256()
        flags, mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666 | member.mode & 0o111
        with self.inside(names[:-1]) as at, open(os.open(names[-1], flags, mode, dir_fd=at), "wb") as file:
            while left:
                part = source.read(min(left, CHUNK)) if source else b""
                if not part:
                    raise tarfile.ReadError("a file is cut short")
                found.update(part)
                file.write(part)
                left -= len(part)
        return found.hexdigest()

    def join(self, names: tuple[str, ...], earlier: tuple[str, ...]) -> None:
        """Another name of a file that was written before."""
        with self.inside(earlier[:-1]) as source, self.inside(names[:-1]) as at:
            os.link(earlier[-1], names[-1], src_dir_fd=source, dst_dir_fd=at, follow_symlinks=False)

    def link(self, names: tuple[str, ...], target: str) -> None:
        with self.inside(names[:-1]) as at:
            os.symlink(target, names[-1], dir_fd=at)


def _names(name: str) -> tuple[str, ...]:
    """The parts of a name below the archive's folder of results."""
    first, *parts = name.rstrip("/").split("/")
    if first != OUT or not all(parts) or {".", ".."} & set(parts) or "\0" in name:
        raise tarfile.ReadError(f"it has a file {shown(name)}")
    return tuple(parts)


def stays_inside(names: tuple[str, ...], target: str) -> bool:
    """Whether a link of this name leads to no place outside, whatever other links there are: it goes up through folders
    that are none, and then only down."""
    up = 0
    parts = [part for part in target.split("/") if part not in ("", ".")]
    while parts[:1] == [".."]:
        up += 1
        del parts[0]
    return not target.startswith("/") and up < len(names) and ".." not in parts


def _status(text: bytes, results: Results) -> None:
    found = re.fullmatch(r"(\d{1,3})(?: ([^\n]*))?\n", text.decode(errors="surrogateescape"))
    if not found:
        raise tarfile.ReadError("its status is no number")
    results.status, results.failure = int(found[1]), found[2] or ""


def _take(archive: tarfile.TarFile, place: _Folder, results: Results) -> None:
    links: list[tuple[tuple[str, ...], str]] = []
    written: set[tuple[str, ...]] = set()
    for member in archive:
        if results.status >= 0:
            raise tarfile.ReadError("something follows its status")
        if member.name == STATUS and member.isreg() and member.size <= LONGEST_STATUS:
            _status(archive.extractfile(member).read(), results)
            continue
        names = _names(member.name)
        if member.isdir():
            with place.inside(names):
                pass
        elif not names:
            raise tarfile.ReadError(f"{OUT} is no folder")
        elif member.issym():
            links.append((names, member.linkname))
        elif member.islnk():
            if (earlier := _names(member.linkname)) not in written:
                raise tarfile.ReadError(f"{shown(member.name)} is a link to no file before it")
            place.join(names, earlier)
        elif member.isreg() and not member.issparse():
            results.files.append({"file": "/".join(names), "sha256": place.write(names, archive, member)})
            written.add(names)
        else:
            results.left_out.append(f"{shown('/'.join(names))}: it is no file, folder or symbolic link")
    for names, target in links:
        if stays_inside(names, target):
            place.link(names, target)
        else:
            results.left_out.append(f"{shown('/'.join(names))}: it is a link to {shown(target)}, outside {OUT}")


def unpack(image: Path, folder: Path) -> Results:
    """Writes the files of an archive into a new folder."""
    results = Results()
    folder.mkdir()
    place = _Folder(folder)
    try:
        with tarfile.open(image, "r:", encoding="utf-8", errors="surrogateescape") as archive:
            _take(archive, place, results)
    except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
        if results.status < 0 and not results.files:
            raise JobError(UNFINISHED) from error
        raise JobError(f"the guest has left no sound archive on the disk of jobs: {shown(str(error))}") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        what = shown(str(error.filename2 or error.filename))
        raise JobError(f"the guest has left no sound archive on the disk of jobs: it has {what} twice") from error
    finally:
        place.close()
    if results.status < 0:
        raise JobError(UNFINISHED)
    return results


UNFINISHED = "the run has ended before the guest had packed its results (its console says what it did)"
