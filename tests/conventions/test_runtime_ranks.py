"""The runtime's folders form an order, in which nothing calls what comes later, and no files call each other in a circle.

Who calls whom say the object files: what one of them needs, another one defines.
"""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "lss" / "runtime"
# Folders of one rank may call each other.
RANKS = [{"text"}, {"files"}, {"gateway"}, {"engine"}, {"replay", "observe", "wave", "trace", "checkpoint"}, {"link"}, {"carrier"}, {"cores"}, {"debug"}, {"commands"}, {"run"}]
Calls = dict[str, dict[str, set[str]]]  # of each file: the files that it calls, and what it calls there


def rank(file: str) -> int:
    folder = file.partition("/")[0]
    return next(number for number, folders in enumerate(RANKS) if folder in folders)


def calls(objects: Iterable[Path], folder: Path) -> Calls:
    """What the object files below a folder need of each other."""
    listed = subprocess.run([tool("llvm-nm"), "-A", "-P", *objects], capture_output=True, text=True, check=True).stdout
    symbols = [(str(Path(line.group(1)).relative_to(folder).with_suffix("")), line.group(2), line.group(3)) for line in re.finditer(r"^(.*\.o): (\S+) (\w)", listed, re.MULTILINE)]
    home = {symbol: file for file, symbol, kind in symbols if kind.isupper() and kind != "U"}
    made: Calls = {file: {} for file, _, _ in symbols}
    for file, symbol, kind in symbols:
        if kind == "U" and home.get(symbol, file) != file:
            made[file].setdefault(home[symbol], set()).add(symbol)
    return made


def upward(made: Calls) -> list[str]:
    return [f"{file} calls {', '.join(sorted(names))} of {other}" for file in made for other, names in made[file].items() if rank(other) > rank(file)]


def in_circles(made: Calls) -> set[str]:
    """The files that are called, over others, by themselves: what is left when those go that call, or are called by, nobody who is left."""
    left = {file: set(others) for file, others in made.items()}
    while idle := {file for file in left if not left[file] & left.keys() or not any(file in others for others in left.values())}:
        left = {file: others for file, others in left.items() if file not in idle}
    return {file for file in left if reaches(left, file, file)}


def reaches(left: dict[str, set[str]], start: str, end: str) -> bool:
    seen, todo = set(), [*left[start]]
    while todo:
        file = todo.pop()
        if file == end:
            return True
        if file in left and file not in seen:
            seen.add(file)
            todo += left[file]
    return False


@pytest.fixture(scope="module")
def runtime(build_dir: Path) -> Calls:
    folder = build_dir / "obj" / "runtime"
    # What needs MPI is not compiled everywhere.
    objects = [folder / path.relative_to(RUNTIME).with_suffix(".o") for path in found(RUNTIME, "*.c") if path.name != "mpi.c"]
    return calls(objects, folder)


def test_every_folder_has_a_rank() -> None:
    folders = [folder for folders in RANKS for folder in folders]
    assert sorted(folders) == sorted(path.name for path in RUNTIME.iterdir() if path.is_dir())


def test_nothing_is_called_upwards(runtime: Calls) -> None:
    assert len(runtime) > 100
    assert not upward(runtime)


def test_no_files_call_each_other_in_a_circle(runtime: Calls) -> None:
    assert not in_circles(runtime)


def test_nothing_is_included_from_above() -> None:
    wrong = []
    for path in found(RUNTIME, "*.[ch]"):
        for name in re.findall(r'^#include "lss/runtime/([^"]+)"', path.read_text(), re.MULTILINE):
            if rank(name) > rank(path.parent.name):
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


PLANTED = {  # file: what it is made of
    "text/low": "int low(void) { return 1; }",
    "engine/one": "int two(void), low(void); int one(int n) { return n ? two() : low(); }",
    "engine/two": "int three(void); int two(void) { return three(); }",
    "engine/three": "extern int set; int one(int n); int three(void) { return set ? one(0) : 0; }",
    "engine/set": "int set;",
    "run/high": "int one(int n); int high(void) { return one(1); }",
}


def planted(folder: Path, files: dict[str, str]) -> Calls:
    for name, text in files.items():
        source = (folder / name).with_suffix(".c")
        source.parent.mkdir(exist_ok=True)
        source.write_text(text)
        subprocess.run([tool("clang"), "-c", source, "-o", source.with_suffix(".o")], check=True)
    return calls(found(folder, "*.o"), folder)


def test_a_circle_is_found(tmp_path: Path) -> None:
    made = planted(tmp_path, PLANTED)
    assert in_circles(made) == {"engine/one", "engine/two", "engine/three"}
    assert not upward(made)


def test_a_call_upwards_is_found(tmp_path: Path) -> None:
    made = planted(tmp_path, PLANTED | {"text/low": "int high(void); int low(void) { return high(); }"})
    assert upward(made) == ["text/low calls high of run/high"]
    assert in_circles(made) == PLANTED.keys() - {"engine/set"}
