"""A small repository with the scripts that make a release."""

import shutil
from pathlib import Path

import pytest

from tests.install.release import git


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A repository with what the scripts need."""
    tree = tmp_path / "tree"
    shutil.copytree(root / "harness/dist", tree / "harness/dist")
    shutil.copytree(root / "harness/editors/vscode", tree / "harness/editors/vscode", ignore=shutil.ignore_patterns("node_modules"))
    (tree / "lss").mkdir()
    for name in "lss/VERSION", "LICENSE", ".gitattributes":
        shutil.copy(root / name, tree / name)
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "one")
    return tree
