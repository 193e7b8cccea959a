"""renamed.txt of the library and of machines: old names are gone, new ones exist, and nothing uses an old one."""

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


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_old_names_are_gone_and_new_ones_exist(folder: Path, build_dir: Path) -> None:
    """A module has what it declares and what it passes on of modules that it wraps."""
    files = {path.stem: path for path in found(folder, "*.lss")}
    for old, new in renamed(folder):
        module, _, member = old.rpartition(".")
        if module:
            text = files[module].read_text()
            if not re.search(rf"\b{new}\b", text):
                described = subprocess.run([build_dir / "bin" / "lss", "doc", "-I", folder, module], capture_output=True, text=True)
                assert re.search(rf"^  {new}\b", described.stdout, re.MULTILINE), new
            assert not re.search(rf"^\s*.*(?:port|parameter|userpoint) {member} [:=]", text, re.MULTILINE), old
        else:
            assert new in files and old not in files
