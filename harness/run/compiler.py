"""The compiler, as the harness calls it: the one that was built here, or the one that is installed."""

import shutil
from pathlib import Path

from harness.run import process


class CompilerError(Exception):
    """What the compiler said, or that there is none."""


def find(build: Path) -> Path:
    """The compiler in the build directory, else the one on the PATH."""
    built, known = build / "bin" / "lss", shutil.which("lss")
    if built.exists():
        return built.resolve()
    if not known:
        raise CompilerError(f"there is no compiler {built}, and no lss on the PATH: run make, or name the build folder")
    return Path(known)


def lss(build: Path, *arguments: str | Path) -> str:
    """Runs the compiler and returns what it printed; its own diagnostics go to the user as they are."""
    done = process.run([find(build), *arguments])
    if done.status:
        said = (done.err or done.out).strip()
        raise CompilerError(said or f"lss {' '.join(map(str, arguments))}: status {done.status}")
    return done.out
