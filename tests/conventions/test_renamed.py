"""renamed.txt of the library and of machines: old names are gone, new ones exist, and nothing uses an old one."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted({path.parent for top in ("modules", "examples") for path in found(ROOT / top, "renamed.txt")})


def renamed(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "renamed.txt").read_text().splitlines()
    return [tuple(line.split()) for line in lines if line and not line.startswith("#")]


def test_there_are_tables() -> None:
    assert ROOT / "modules" in FOLDERS and len(FOLDERS) > 1


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_table_is_in_order(folder: Path) -> None:
    names = [old for old, _ in renamed(folder)]
    assert names and names == sorted(set(names))


def described(lss: Path, file: Path, module: str, text: str) -> list[str]:
    """The parameters and ports of a module, or the parameters of a machine, those that it passes on included."""
    if re.search(rf"^module {module}\b", text, re.MULTILINE):
        done = subprocess.run([lss, "doc", "-I", file.parent, module], capture_output=True, text=True)
        return re.findall(r"^  (\w+)", done.stdout, re.MULTILINE)
    done = subprocess.run([lss, "export", file], capture_output=True, text=True)
    [top] = [one for one in json.loads(done.stdout)["instances"] if not one["path"]]
    return [one["name"] for one in top["parameters"]]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_old_names_are_gone_and_new_ones_exist(folder: Path, build_dir: Path) -> None:
    """A module has what it declares and what it passes on of modules that it wraps."""
    files = {path.stem: path for path in found(folder, "*.lss")}
    for old, new in renamed(folder):
        module, _, member = old.rpartition(".")
        if module:
            text = files[module].read_text()
            if not re.search(rf"\b{new}\b", text):
                assert new in described(build_dir / "bin" / "lss", files[module], module, text), new
            assert not re.search(rf"^\s*.*(?:port|parameter|userpoint) {member} [:=]", text, re.MULTILINE), old
        else:
            assert new in files and old not in files
