"""The guest of a point: Linux with the programs and files of a folder, and a device tree of the machine.

`make linux GUEST=FOLDER` of the source tree makes kernel and initramfs, once for a folder.  The tree is made for each
structure, from its netlist.  Where a study sets kernel, initramfs or device tree itself, that is what counts.
"""

import fcntl
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.run import files
from harness.run.execute import awaited, threads
from harness.run.progress import Progress
from harness.study import machine
from harness.study.study_file import StudyError

if TYPE_CHECKING:
    from harness.study.machine import Machine
    from harness.study.model import Study

SETTING = "guest"
KIT = machine.KIT
SOURCES = KIT / "firmware/linux"
TREES = "trees"  # in the build directory


def check(study: "Study", settings: Mapping[str, Any], known: "Machine", where: str) -> None:
    """Refuses a guest that cannot be made."""
    folder = settings[SETTING]
    if not isinstance(folder, str):
        raise StudyError(f"{where}: guest: a folder is expected, not {folder!r}")
    if not machine.resolve(folder, study.path, study.build).is_dir():
        raise StudyError(f"{where}: guest: there is no folder {folder!r}")
    if lost := [one for one in ("kernel", "initramfs", "dtb") if one not in known.top]:
        raise StudyError(f"{where}: guest: {known.path.name} boots no Linux: it has no parameter {lost[0]!r}")


def place_of(folder: Path) -> Path:
    """Where the kernel and the initramfs of a folder are."""
    name = folder.resolve().name + "-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    return KIT / "build/linux/guest" / name


def make(study: "Study", progress: Progress) -> None:
    """Makes the guests of all points, and the trees of their machines."""
    folders = dict.fromkeys(_folder(study, point) for point in study.points if study.guest(point))
    for folder in folders:
        with progress.step(f"{study.name}: making the guest {folder.name}"):
            _make(study, folder)
    make_trees(study)


def _folder(study: "Study", point: Any) -> Path:
    return machine.resolve(study.guest(point), study.path, study.build)


def _make(study: "Study", folder: Path) -> None:
    if not (KIT / "Makefile").exists():
        why = f"guests are made in a source tree of Spinach (make linux GUEST={folder})"
        raise StudyError(f"{study.path}: guest: {why}")
    if any(character.isspace() for character in str(folder.resolve())):
        raise StudyError(f"{study.path}: guest: make takes no folder with a space in its name: {folder.resolve()}")
    place = place_of(folder)
    goals = [place / "vmlinux", place / "initramfs.cpio"]  # the tree is made for each machine
    given = [f"GUEST={folder.resolve()}", f"LINUX_OUT={place}", f"BUILD={KIT / 'build'}"]
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as held:  # another study may have the same guest
        fcntl.flock(held, fcntl.LOCK_EX)
        _call(study, ["make", "-s", *goals, *given], KIT)


def _call(study: "Study", command: list[Any], folder: Path) -> None:
    """A step, whose message is the study's when it fails; what compilers say precedes it."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    said = next((line for line in reversed(lines) if line.startswith(("linux: ", "deps: "))), None)
    before = [line for line in lines if line != said and not line.startswith("make")]
    if said and before:
        print("\n".join(before[-40:]), file=sys.stderr)
    why = said.partition(": ")[2] if said else (lines or ["make failed"])[-1]
    raise StudyError(f"{study.path}: guest: {why}")


def make_trees(study: "Study") -> None:
    """The tree of each structure with a guest that was made, and the files of these guests."""
    wanted = {(study.structure(point), study.guest(point)): _folder(study, point) for point in study.points
              if study.guest(point) and study.structure(point) in study.machines}  # fmt: skip
    with threads() as pool:
        making = {key: pool.submit(_tree, study, key[0], folder) for key, folder in wanted.items()
                  if (place_of(folder) / "initramfs.cpio").exists()}  # fmt: skip
        for key, future in making.items():
            place = place_of(wanted[key])
            made = {"kernel": place / "vmlinux", "initramfs": place / "initramfs.cpio", "dtb": awaited(future)}
            study.guests[key] = {f"option.{name}": str(file) for name, file in made.items()}


def _tree(study: "Study", structure: tuple, folder: Path) -> Path:
    """Fills the templates with the numbers of a machine, and compiles them; the file is called by its content."""
    more = [folder.resolve() / "tree.dts"] if (folder / "tree.dts").exists() else []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        files.write(work / "machine.json", json.dumps(study.machines[structure].netlist))
        fill = [sys.executable, "-B", KIT / "firmware/tools/device_tree.py", work / "machine.json"]
        _call(study, [*fill, SOURCES / "host.dts", *more, work / "tree.dts"], work)
        initramfs = place_of(folder) / "initramfs.cpio"
        _call(study, [SOURCES / "tree", work / "tree.dts", initramfs, work / "tree.dtb"], work)
        data = (work / "tree.dtb").read_bytes()
    place = study.build / TREES / f"{hashlib.sha256(data).hexdigest()[:24]}.dtb"
    place.parent.mkdir(parents=True, exist_ok=True)
    files.write_bytes(place, data)
    return place.resolve()
