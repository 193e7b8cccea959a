"""modules/renamed.txt: old names are gone, new ones exist, and nothing in the tree uses an old one."""

import re
from pathlib import Path

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]


def renamed() -> list[tuple[str, str]]:
    lines = (ROOT / "modules" / "renamed.txt").read_text().splitlines()
    return [tuple(line.split()) for line in lines if line and not line.startswith("#")]


def test_the_table_is_in_order() -> None:
    names = [old for old, _ in renamed()]
    assert names and names == sorted(set(names))


def test_old_names_are_gone_and_new_ones_exist() -> None:
    files = {path.stem: path for path in found(ROOT / "modules", "*.lss")}
    for old, new in renamed():
        module, _, member = old.rpartition(".")
        if module:
            text = files[module].read_text()
            assert re.search(rf"\b{new}\b", text) and not re.search(rf"^\s*.*(?:port|parameter|userpoint) {member} :", text, re.MULTILINE), old
        else:
            assert new in files and old not in files
