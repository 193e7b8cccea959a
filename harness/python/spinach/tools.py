"""The compiler: where it is, whether its version fits, one call of it or of a simulator.

It is looked for in the argument `lss`, in SPINACH_LSS, on the PATH, and in the source tree that this package is in.
"""

import os
import re
import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from harness.run import process
from harness.version import version
from spinach.errors import BuildError, SpinachError, VersionError

VERSION = version().rpartition(".")[0]  # of the compiler that this package speaks to: major.minor
TREE = Path(__file__).resolve().parents[3]  # where this package lies in the source tree


def find(lss: str | os.PathLike[str] | None = None) -> Path:
    """The compiler, whose version fits."""
    named = [(lss, "lss="), (os.environ.get("SPINACH_LSS"), "SPINACH_LSS")]
    for given, place in named:
        if given:
            if not os.access(given, os.X_OK) or not Path(given).is_file():
                said = f"{place}: there is no program {given} (name the compiler, such as build/bin/lss)"
                raise BuildError([given], 127, said)
            return _fitting(Path(given))
    built = TREE / "build" / "bin" / "lss"
    if found := shutil.which("lss"):
        return _fitting(Path(found))
    if not built.exists():
        cure = "install Spinach (make install), put the folder of lss on the PATH, or name it in SPINACH_LSS or lss="
        raise BuildError(["lss"], 127, f"the compiler is missing: no lss on the PATH ({cure})")
    return _fitting(built)


def _fitting(lss: Path) -> Path:
    status = lss.stat()
    found = _version(lss.resolve(), status.st_mtime_ns, status.st_size)
    if found != VERSION:
        cure = "install the package and the compiler of one version"
        raise VersionError([lss, "--version"], 0, f"{lss}: version {found}, but this package needs {VERSION} ({cure})")
    return lss.resolve()


@lru_cache(maxsize=16)
def _version(lss: Path, modified: int, size: int) -> str:
    said = call(BuildError, [lss, "--version"])
    numbers = re.search(r"(\d+\.\d+)", said)
    return numbers[1] if numbers else said.strip()


def call(kind: type[SpinachError], command: Sequence[str | Path]) -> str:
    """What a command prints; if it fails, what it says is the error.  It ends with this process, and with Ctrl-C."""
    try:
        done = process.run(command)
    except OSError as error:
        raise kind(command, 127, f"{command[0]}: {error.strerror}") from error
    if done.status:
        raise kind(command, done.status, done.err or done.out or f"{command[0]}: status {done.status}")
    return done.out


def spelt(value: object) -> str:
    """A value as the command lines take it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
