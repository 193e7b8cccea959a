#!/usr/bin/env python3
"""Takes the host machine's kernel from the guest archive of a release, instead of compiling it.

    prebuilt.py ARCHIVE BUILD OUTPUT ENDIAN VPES

ARCHIVE is a file, or the address of one, which is fetched into BUILD/downloads once.  Its SHA-256 must stand in
prebuilt.sha256: nothing of another file is used.  The kernel, what it offers to loadable modules, and its key go to
OUTPUT, and the package of busybox, of which the first file system is made, to BUILD/downloads.  With VPES it is the
kernel for several processors.  Files that are there with the same contents are left alone.  A kernel of other options,
or of another version, than this tree would compile is refused.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

KNOWN = Path(__file__).with_name("prebuilt.sha256")
OPTIONS, MORE, VERSIONS = "host.config", "vpes.config", "versions"
SECONDS = 30  # that a server may be silent


class Refused(Exception):
    """The archive cannot be used; the text says why, and what to do."""


def known() -> dict[str, str]:
    """The names of the archives that may be used, by hash."""
    lines = [line.split() for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    return {digest: name for digest, name in lines}


def digest(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fetched(address: str, downloads: Path) -> Path:
    """The file of an address."""
    name = Path(urlsplit(address).path).name
    if not name:
        raise Refused(f"{address} names no file")
    file = downloads / name
    if file.is_file() and digest(file) in known():
        return file
    part = file.with_name(f"{name}.part")
    downloads.mkdir(parents=True, exist_ok=True)
    print(f"linux: fetching {address}", file=sys.stderr)
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as source, open(part, "wb") as out:
            shutil.copyfileobj(source, out)
        return part.replace(file)
    except (urllib.error.URLError, OSError, ValueError) as error:
        part.unlink(missing_ok=True)
        reason = getattr(error, "reason", error)
        raise Refused(f"{address} cannot be fetched: {getattr(reason, 'strerror', None) or reason}") from error


def checked(archive: str, downloads: Path) -> Path:
    """The archive as a file with a known hash."""
    file = fetched(archive, downloads) if "://" in archive else Path(archive)
    if not file.is_file():
        raise Refused(f"there is no file {archive}")
    if (found := digest(file)) not in known():
        names = ", ".join(sorted(set(known().values()))) or "none"
        raise Refused(f"{file} has the SHA-256 {found}, which is not in {KNOWN} (archives there: {names})")
    return file


def put(data: bytes, place: Path) -> None:
    """Writes a file whole, unless it is there already."""
    if place.is_file() and place.read_bytes() == data:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"{place.name}.part")
    part.write_bytes(data)
    part.replace(place)


def contents(file: Path, wanted: set[str]) -> dict[str, bytes]:
    """The wanted files of the archive and its downloads, by name below its folder."""
    needed = {}
    with subprocess.Popen(["zstd", "-dc", "--", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as zstd:
        with tarfile.open(fileobj=zstd.stdout, mode="r|") as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                if member.isreg() and (name in wanted or name.startswith("downloads/")):
                    needed[name] = archive.extractfile(member).read()
        zstd.stdout.read()
    return needed


def version(versions: bytes) -> str:
    """Of the kernel's source."""
    return next((line for line in versions.decode().splitlines() if line.startswith("linux-source-")), "no kernel")


def compare(options: dict[str, bytes], versions: bytes) -> None:
    """Refuses what this tree would not compile; `options` are the texts of the files that have them."""
    tree = KNOWN.parent
    here = (tree / VERSIONS).read_bytes()
    has, wanted = version(versions), version(here)
    if has != wanted:
        raise Refused(f"its kernel is {has}, that of {tree / VERSIONS} {wanted}: leave out PREBUILT")
    for name, text in options.items():
        if text != (tree / name).read_bytes():
            raise Refused(f"its kernel has other options than {tree / name}: leave out PREBUILT")


def take(archive: str, build: Path, output: Path, vpes: bool) -> None:
    """Puts the files of the archive in their places."""
    if not shutil.which("zstd"):
        raise Refused("PREBUILT needs zstd (on Debian, install the package zstd)")
    file = checked(archive, build / "downloads")
    inside = "out-vpes" if vpes else "out"
    parts = ("vmlinux", "Module.symvers", "vmlinux.key")  # the key says of what the kernel was made; written last
    of_kernel = {f"{inside}/{part}": output / part for part in parts}
    of_options = (OPTIONS, MORE) if vpes else (OPTIONS,)
    try:
        needed = contents(file, {*of_kernel, *of_options, VERSIONS})
        kernel = {place: needed.pop(name) for name, place in of_kernel.items()}
        compare({name: needed.pop(name) for name in of_options}, needed.pop(VERSIONS))
    except (tarfile.TarError, KeyError) as error:
        raise Refused(f"{file} has no kernel: {error}") from error
    for name, data in needed.items():
        put(data, build / "downloads" / Path(name).name)
    if not all(place.is_file() and place.read_bytes() == data for place, data in kernel.items()):
        (output / "vmlinux.key").unlink(missing_ok=True)
    for place, data in kernel.items():
        put(data, place)


def main() -> int:
    archive, build, output, endian, vpes = sys.argv[1:]
    try:
        if endian != "little":
            raise Refused("archives have only little-endian kernels: leave out ENDIAN, or PREBUILT")
        take(archive, Path(build), Path(output), bool(vpes))
    except Refused as error:
        print(f"linux: PREBUILT: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"linux: PREBUILT: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
