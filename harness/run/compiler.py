"""The compiler, as the harness calls it: the one that was chosen, was built here, or is installed."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from harness.run import process

HANDED = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


class CompilerError(Exception):
    """What the compiler said, or that there is none."""


_chosen: dict[Path, Path] = {}  # by build directory


def choose(build: Path, compiler: Path) -> None:
    """From now on this compiler builds what lies in that directory."""
    _chosen[build.resolve()] = compiler


def find(build: Path) -> Path:
    """The compiler that was chosen, else the one in the build directory, else the one on the PATH."""
    if chosen := _chosen.get(build.resolve()):
        return chosen
    built, known = build / "bin" / "lss", shutil.which("lss")
    if built.exists():
        return built.resolve()
    if not known:
        raise CompilerError(f"there is no compiler {built}, and no lss on the PATH: run make, or name the build folder")
    return Path(known)


def packets(build: Path, capture: str | os.PathLike) -> bytes:
    """A capture as simulators read it, in the format that they write.

    One that the shell hands over (/dev/stdin, /dev/fd/63) becomes the standard input of the compiler, which has none of
    the other descriptors of this process.
    """
    path = os.fspath(capture)
    with contextlib.ExitStack() as handed:
        stdin = subprocess.DEVNULL
        try:
            if path.startswith(HANDED):
                stdin, path = handed.enter_context(open(path, "rb")).fileno(), HANDED[0]
        except OSError as error:
            raise CompilerError(f"{path}: {error.strerror}") from error
        status, out, said = process.output([find(build), "packets", Path(path)], stdin)
    if status:
        raise CompilerError(said.strip().removeprefix("lss packets: ") or f"lss packets {path}: status {status}")
    return out


def lss(build: Path, *arguments: str | Path) -> str:
    """Runs the compiler and returns what it printed; its own diagnostics go to the user as they are."""
    done = process.run([find(build), *arguments])
    if done.status:
        said = (done.err or done.out).strip()
        raise CompilerError(said or f"lss {' '.join(map(str, arguments))}: status {done.status}")
    return done.out
