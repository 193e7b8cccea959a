"""The folders of the harness: which may import which, that each has a map, and that what is general knows no NIC."""

import ast
import re
from pathlib import Path

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
HARNESS = ROOT / "harness"
RANKS = ["run", "job", "net", "report", "site", "trace", "bottleneck", "network", "study", "watch", "python"]  # each may import itself and those before it
MAPS = {"python": "python/spinach"}  # a folder of packages that are imported without the harness's name


def inside() -> list[Path]:
    """The files in folders of the harness."""
    return [file for file in found(HARNESS, "*.py") if file.parent != HARNESS]


def imported(file: Path) -> set[str]:
    """The folders of the harness that a file imports from."""
    names = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("harness.")}


def test_every_folder_has_a_rank_and_a_map() -> None:
    folders = {file.relative_to(HARNESS).parts[0] for file in inside()}
    assert folders == set(RANKS)
    for folder in RANKS:
        words = ast.get_docstring(ast.parse((HARNESS / MAPS.get(folder, folder) / "__init__.py").read_text()))
        assert words and len(words) > 80, folder


def test_no_folder_imports_from_a_later_one() -> None:
    files = inside()
    assert len(files) > 30
    bad = [
        (str(file.relative_to(HARNESS)), other)
        for file in files
        for other in imported(file)
        if other in RANKS and RANKS.index(other) > RANKS.index(file.relative_to(HARNESS).parts[0])
    ]
    assert not bad


def test_running_and_traffic_know_no_device() -> None:
    """What a throughput or a NIC is, studies know; to run a machine or to write its traffic is the same for all."""
    files = [*found(HARNESS / "run", "*.py"), *found(HARNESS / "net", "*.py")]
    bad = [
        (str(file.relative_to(HARNESS)), word[0])
        for file in files
        for word in re.finditer(r"\b(nic|throughput|tigon\w*|firmware|mac_[rt]x)\b", file.read_text(), re.IGNORECASE)
    ]
    assert not bad
