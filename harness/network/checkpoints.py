"""Checkpoints of a network: a folder with the file of each part, all of one instant, and network.json.

The parts write into a folder next to the one that was asked for, below the instant that each file is of.  When all
files of an instant are there, they take the place of the earlier checkpoint in one step."""

import contextlib
import ctypes
import json
import os
import shutil
import tempfile
from pathlib import Path

from harness.network.network_file import Network, NetworkError

SUFFIX = ".checkpoint"  # of the file of a part
NETWORK = "network.json"
AT_FDCWD, EXCHANGE = -100, 2  # of renameat2(2)


def _is_checkpoint(folder: Path) -> bool:
    names = [path.name for path in folder.iterdir()]
    return NETWORK in names and all(name == NETWORK or name.endswith(SUFFIX) for name in names)


def check_restored(path: Path) -> None:
    """Whether parts can begin there, as far as the names of the files show."""
    if not path.exists():
        raise NetworkError(f'cannot restore "{path}": there is no such file or folder')
    if not path.is_dir():
        return  # the checkpoint of a whole machine
    try:
        parts = [part["path"] for part in json.loads((path / NETWORK).read_bytes())["parts"]]
    except OSError:
        reason = f"it is a folder without {NETWORK}, so it is no checkpoint of a network"
        raise NetworkError(f'cannot restore "{path}": {reason}') from None
    except (ValueError, KeyError, TypeError):
        reason = f"its {NETWORK} is none that `lss build --parts` has written"
        raise NetworkError(f'cannot restore "{path}": {reason}') from None
    for part in parts:
        if not (path / f"{part}{SUFFIX}").is_file():
            raise NetworkError(f'cannot restore "{path}": it lacks the checkpoint of {part}, {part}{SUFFIX}')


class Stage:
    """Where the parts of a run write their checkpoints."""

    def __init__(self, network: Network, target: Path) -> None:
        self.network, self.target = network, Path(os.path.realpath(target))
        if self.target.exists() and not (self.target.is_dir() and _is_checkpoint(self.target)):
            raise NetworkError(f'cannot write the checkpoint "{target}": it exists, and is none of a network')
        try:
            self.folder = Path(tempfile.mkdtemp(prefix=f"{self.target.name}.", dir=self.target.parent))
            self.folder.chmod(0o777 & ~_umask())
        except OSError as error:
            raise NetworkError(f'cannot write the checkpoint "{target}": {error.strerror}') from None

    def take(self) -> None:
        """Lets the latest instant of which all files are there take the place of the earlier checkpoint."""
        instants = (path for path in self.folder.iterdir() if path.name.isdigit())
        complete = sorted((one for one in instants if self._is_complete(one)), key=lambda one: int(one.name))
        if not complete:
            return
        try:
            shutil.copyfile(self.network.file, complete[-1] / NETWORK)
            self._put(complete[-1])
        except OSError as error:
            raise NetworkError(f'cannot write the checkpoint "{self.target}": {error.strerror}') from None
        for one in complete:
            shutil.rmtree(one, ignore_errors=True)  # earlier ones, and the one that was replaced

    def _is_complete(self, folder: Path) -> bool:
        return all((folder / f"{part.path}{SUFFIX}").is_file() for part in self.network.parts)

    def _put(self, folder: Path) -> None:
        if not self.target.exists():
            folder.rename(self.target)
            return
        _exchange(folder, self.target)

    def remove(self) -> None:
        """What is left of the parts' files is of no complete checkpoint."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _exchange(one: Path, other: Path) -> None:
    """Exchanges two folders, in one step where the file system can do that."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), EXCHANGE) == 0:
        return
    between = one.with_name(f"{one.name}.old")
    other.rename(between)
    one.rename(other)
    with contextlib.suppress(OSError):
        between.rename(one)
