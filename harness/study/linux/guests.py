"""The guest of a point: Linux with the programs and files of a folder, and a device tree of the machine.

`make linux GUEST=FOLDER` of the source tree makes kernel and initramfs, once for a folder, a kind of processor (one
with virtual processing elements gets the kernel that uses them) and, where programs or modules include registers.h,
the registers of a machine.  The tree is made for each structure, from its netlist.  Where a study sets kernel,
initramfs or device tree itself, that is what counts.  In a network, all computers get the guest, each with a tree of
its own.
"""

import fcntl
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
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
FILES = ("kernel", "initramfs", "dtb")
INCLUDES = re.compile(rb"""^\s*#\s*include\s*["<]registers\.h[">]""", re.MULTILINE)


def check(study: "Study", settings: Mapping[str, Any], known: "Machine", where: str) -> None:
    """Refuses a guest that cannot be made."""
    folder = settings[SETTING]
    if not isinstance(folder, str):
        raise StudyError(f"{where}: guest: a folder is expected, not {folder!r}")
    place = machine.resolve(folder, study.path, study.build)
    needed = (machine.resolve(one, study.path, study.build) for one in study.file.needs)
    # What is needed was there before, unless the study only shows what it came to earlier.
    if not place.is_dir() and not any(one.is_relative_to(place) for one in needed):
        raise StudyError(f"{where}: guest: there is no folder {folder!r}")
    if not _computers(known.netlist):
        lost = next((one for one in FILES if one not in known.top), "")
        raise StudyError(f"{where}: guest: {known.path.name} boots no Linux: it has no parameter {lost!r}")


def _computers(netlist: Mapping[str, Any]) -> list[str]:
    """The paths of what boots Linux; one that is within another one gets its files from that."""
    own = {one["path"]: {parameter["name"]: parameter.get("alias_of") for parameter in one["parameters"]}
           for one in netlist["instances"]}  # fmt: skip
    return [path for path, names in own.items() if all(name in names and not names[name] for name in FILES)]


@dataclass(frozen=True)
class Guest:
    """What is made once: a folder, for a processor with or without virtual processing elements, and a machine's
    registers.h if it is included."""

    folder: Path
    vpes: bool
    registers: Path | None = None

    @property
    def place(self) -> Path:
        """Where its kernel and its initramfs are."""
        whole = hashlib.sha256(str(self.folder.resolve()).encode())
        if self.registers:
            whole.update(self.registers.read_bytes())
        name = f"{self.folder.resolve().name}-{whole.hexdigest()[:8]}"
        return KIT / "build/linux/guest" / (name + ("-vpes" if self.vpes else ""))

    @property
    def modules(self) -> list[Path]:
        """The kernel modules that it loads."""
        return sorted((self.place / "modules").glob("*.ko")) if (self.folder / "modules").is_dir() else []


def of(setting: str, known: "Machine", path: Path, build: Path) -> Guest:
    """The guest that a study's file `path` names for a machine."""
    parameters = (one for instance in known.netlist["instances"] for one in instance["parameters"])
    vpes = any(one["name"] == "vpes" and isinstance(one["value"], int) and one["value"] > 0 for one in parameters)
    folder = machine.resolve(setting, path, build)
    return Guest(folder, vpes, _registers(known, folder, path, build))


def _registers(known: "Machine", folder: Path, path: Path, build: Path) -> Path | None:
    """The machine's header, called by its content, if a source of the folder includes it."""
    sources = (file for part in ("bin", "modules") for file in (folder / part).rglob("*.[ch]"))
    if not any(INCLUDES.search(file.read_bytes()) for file in sources):
        return None
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        files.write(work / "machine.json", json.dumps(known.netlist))
        _call(path, [sys.executable, "-B", KIT / "firmware/tools/describe.py", work / "machine.json", work], work)
        data = (work / "registers.h").read_bytes()
    return _kept(data, build / TREES, ".h")


def _kept(data: bytes, folder: Path, ending: str) -> Path:
    """A file that is called by its content."""
    place = folder / f"{hashlib.sha256(data).hexdigest()[:24]}{ending}"
    folder.mkdir(parents=True, exist_ok=True)
    files.write_bytes(place, data)
    return place.resolve()


def make(study: "Study", progress: Progress) -> None:
    """Makes the guests of all points, and the trees of their machines."""
    found = _guests(study)
    for guest in dict.fromkeys(found.values()):
        kind = " for several processors" if guest.vpes else ""
        with progress.step(f"{study.name}: making the guest {guest.folder.name}{kind}"):
            _make(study, guest)
    _make_trees(study, found)


def _guests(study: "Study") -> dict[tuple, Guest]:
    """By the structure and the setting of a point; without the machines that are wrong."""
    keys = dict.fromkeys((study.structure(point), study.guest(point)) for point in study.points)
    return {(structure, setting): of(setting, study.machines[structure], study.path, study.build)
            for structure, setting in keys if setting and structure in study.machines}  # fmt: skip


def _make(study: "Study", guest: Guest) -> None:
    folder, place = guest.folder.resolve(), guest.place
    if not (KIT / "Makefile").exists():
        why = f"guests are made in a source tree of Spinach (make linux GUEST={guest.folder})"
        raise StudyError(f"{study.path}: guest: {why}")
    if any(character.isspace() for character in str(folder)):
        raise StudyError(f"{study.path}: guest: make takes no folder with a space in its name: {folder}")
    goals = [place / "vmlinux", place / "initramfs.cpio"]  # the tree is made for each machine
    given = [f"GUEST={folder}", f"LINUX_OUT={place}", f"BUILD={KIT / 'build'}",
             f"VPES={'true' if guest.vpes else ''}", f"REGISTERS={guest.registers or ''}"]  # fmt: skip
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as held:  # another study may have the same guest
        fcntl.flock(held, fcntl.LOCK_EX)
        _call(study.path, ["make", "-s", *goals, *given], KIT)


def _call(path: Path, command: list[Any], folder: Path) -> None:
    """A step, whose message is that of the study's file `path` when it fails; what compilers say precedes it."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    said = next((line for line in reversed(lines) if line.startswith(("linux: ", "deps: "))), None)
    before = [line for line in lines if line != said and not line.startswith("make")]
    if said and before:
        print("\n".join(before[-40:]), file=sys.stderr)
    why = said.partition(": ")[2] if said else (lines or ["make failed"])[-1]
    raise StudyError(f"{path}: guest: {why}")


def make_trees(study: "Study") -> None:
    """The tree of each structure with a guest that was made, and the files of these guests."""
    _make_trees(study, _guests(study))


def _make_trees(study: "Study", found: Mapping[tuple, Guest]) -> None:
    made = {key: guest for key, guest in found.items() if (guest.place / "initramfs.cpio").exists()}
    with threads() as pool:
        trees = {(key, path): pool.submit(_tree, study, key[0], guest, path)
                 for key, guest in made.items() for path in _computers(study.machines[key[0]].netlist)}  # fmt: skip
        for (key, path), future in trees.items():
            place = made[key].place
            values = (place / "vmlinux", place / "initramfs.cpio", awaited(future))
            begins = f"set.{path}" if path else "option"
            of_one = {f"{begins}.{name}": str(file) for name, file in zip(FILES, values, strict=True)}
            study.guests[key] = study.guests.get(key, {}) | of_one


def _tree(study: "Study", structure: tuple, guest: Guest, path: str) -> Path:
    """Fills the templates with the numbers of the computer at a path, and compiles them; the file is called by its
    content."""
    more = [guest.folder.resolve() / "tree.dts"] if (guest.folder / "tree.dts").exists() else []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        files.write(work / "machine.json", json.dumps(study.machines[structure].netlist))
        fill = [sys.executable, "-B", KIT / "firmware/tools/device_tree.py", "--computer", path, work / "machine.json"]
        _call(study.path, [*fill, SOURCES / "host.dts", *more, work / "tree.dts"], work)
        initramfs = guest.place / "initramfs.cpio"
        _call(study.path, [SOURCES / "tree", work / "tree.dts", initramfs, work / "tree.dtb"], work)
        data = (work / "tree.dtb").read_bytes()
    return _kept(data, study.build / TREES, ".dtb")
