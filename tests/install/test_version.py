"""The version: one number, which everything that names a version names, and the commit that `lss --version` adds."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MACHINE = "instance s : source { count = 3; };\ninstance k : sink;\ns.out -> k.in : uint32;\n"
COMMIT = re.compile(r"[0-9a-f]{12}(, modified)?")


@pytest.fixture(scope="module")
def number(root: Path) -> str:
    text = (root / "lss/VERSION").read_text()
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", text)
    return text.strip()


def said(*command: str | Path, **further) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, **further).stdout


def test_programs_name_it(root: Path, build_dir: Path, number: str) -> None:
    lss = said(build_dir / "bin/lss", "--version")
    assert re.fullmatch(rf"lss {re.escape(number)}( \({COMMIT.pattern}\))?\n", lss)
    assert said(sys.executable, "-m", "harness", "--version", cwd=root) == f"python -m harness {number}\n"
    spinach = said(root / "harness/spinach", "--version", env={**os.environ, "SPINACH_PYTHON": sys.executable})
    assert spinach == f"spinach {number}\n"


def test_files_name_it(root: Path, number: str) -> None:
    extension = json.loads((root / "harness/editors/vscode/package.json").read_text())
    assert extension["version"] == number
    changes = re.findall(r"^## \[(.*)\] - (\d{4}-\d\d-\d\d)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes[0][0] == number
    assert sorted({day for _, day in changes}, reverse=True) == [day for _, day in changes], "the newest version is the first"
    citation = dict(re.findall(r"^([a-z-]+): (.*)$", (root / "CITATION.cff").read_text(), re.MULTILINE))
    assert (citation["version"], citation["date-released"]) == (number, f'"{changes[0][1]}"')


def test_outputs_name_it_without_the_commit(lss, tmp_path: Path, number: str) -> None:
    """Statistics are the same bytes whichever commit the compiler was built from."""
    (tmp_path / "m.lss").write_text(MACHINE)
    lss("build", "m.lss", "-o", "sim", cwd=tmp_path)
    said("./sim", "--cycles", "5", "--quiet", "--stats", "s.json", cwd=tmp_path)
    assert json.loads((tmp_path / "s.json").read_text())["manifest"]["version"] == number
    commit = COMMIT.search(lss("--version").out.partition("(")[2])
    assert not commit or commit[0][:12] not in (tmp_path / "s.json").read_text()


def commit_of(tree: Path) -> str:
    return said(tree / "harness/dist/commit").strip()


def copied(root: Path, tree: Path) -> Path:
    shutil.copytree(root / "harness/dist", tree / "harness/dist")
    (tree / "file").write_text("1\n")
    return tree


def git(tree: Path, *words: str) -> str:
    return said("git", "-c", "user.name=a", "-c", "user.email=a@localhost", *words, cwd=tree).strip()


def test_the_commit_is_that_of_the_tree(root: Path, tmp_path: Path) -> None:
    """It is known in a repository and in an archive of it, and not inside the repository of something else."""
    tree = copied(root, tmp_path / "tree")
    shutil.copy(root / ".gitattributes", tree)
    assert commit_of(tree) == ""
    git(tree, "init", "-q")
    assert commit_of(tree) == ""
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "one")
    head = git(tree, "rev-parse", "HEAD")[:12]
    assert commit_of(tree) == head
    (tree / "untracked").write_text("")
    assert commit_of(tree) == head
    (tree / "file").write_text("2\n")
    assert commit_of(tree) == f"{head}, modified"

    archive = subprocess.run(["git", "archive", "HEAD"], cwd=tree, check=True, capture_output=True).stdout
    (tmp_path / "unpacked").mkdir()
    subprocess.run(["tar", "-x"], cwd=tmp_path / "unpacked", input=archive, check=True)
    assert commit_of(tmp_path / "unpacked") == head
    assert commit_of(copied(root, tree / "inner")) == ""


def test_a_commit_does_not_build_the_compiler_again(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Firmware and exported machines depend on the compiler, so each commit would build them again."""
    (tmp_path / "lib").mkdir()
    command = ["make", "-s", f"BUILD={tmp_path}", f"{tmp_path}/lib/commit"]
    environment = {name: text for name, text in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    subprocess.run(command, cwd=root, env=environment, check=True)
    assert (tmp_path / "lib/commit").read_text().strip() == commit_of(root)
    before = (tmp_path / "lib/commit").stat().st_mtime_ns
    subprocess.run(command, cwd=root, env=environment, check=True)
    assert (tmp_path / "lib/commit").stat().st_mtime_ns == before
    shutil.copytree(build_dir / "bin", tmp_path / "bin")
    shutil.copy(build_dir / "lib/libspinach.a", tmp_path / "lib")
    for commit, shown in ("0123456789ab, modified\n", " (0123456789ab, modified)"), ("\n", ""), ("", ""):
        (tmp_path / "lib/commit").write_text(commit)
        assert said(tmp_path / "bin/lss", "--version") == f"lss {(root / 'lss/VERSION').read_text().strip()}{shown}\n"
