"""The files of a release: they are those of a commit, the same bytes each time, and what is missing is named."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.install.release import dist, git

NODE = shutil.which("node")
OLD_NODE = not NODE or int(subprocess.run([NODE, "-p", "process.versions.node"], capture_output=True, text=True).stdout.split(".")[0]) < 20


def test_the_sources_are_those_of_the_commit(tree: Path, tmp_path: Path) -> None:
    version = (tree / "lss/VERSION").read_text().strip()
    (tree / "untracked").write_text("")
    done = dist(tree, "source", tmp_path / "a")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path}/a/spinach-{version}.tar.gz\n"
    (tree / "lss/VERSION").touch()
    assert dist(tree, "source", tmp_path / "b").returncode == 0
    first, second = ((tmp_path / name / f"spinach-{version}.tar.gz").read_bytes() for name in "ab")
    assert first == second
    with tarfile.open(tmp_path / f"a/spinach-{version}.tar.gz") as archive:
        names = archive.getnames()
        archive.extractall(tmp_path / "out", filter="data")
    assert all(name.split("/")[0] == f"spinach-{version}" for name in names) and f"spinach-{version}/untracked" not in names
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, capture_output=True, text=True).stdout
    unpacked = tmp_path / f"out/spinach-{version}"
    assert subprocess.run([unpacked / "harness/dist/commit"], capture_output=True, text=True).stdout.strip() == head[:12]
    done = dist(unpacked, "source", tmp_path / "c")
    assert done.returncode == 1
    assert done.stderr == f"dist: {unpacked} is no git checkout: releases are made of commits\n"


def test_a_modified_tree_is_refused(tree: Path, tmp_path: Path) -> None:
    (tree / "lss/VERSION").write_text("9.9.9\n")
    (tree / "LICENSE").unlink()
    for script in "source", "vsix":
        done = dist(tree, script, tmp_path / "a", tmp_path / "w")
        if script == "source" or not OLD_NODE:
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr == "dist: files that differ from the commit: 2 (commit or restore them; see git status)\n"
    assert not (tmp_path / "a").exists()


def test_missing_tools_are_named(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for tool in "sh", "dirname", "cat":
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    expected = {"source": "gzip (package gzip)", "vsix": "node (package nodejs), npm (package npm)", "sums": "sha256sum (package coreutils)"}
    for script, missing in expected.items():
        done = dist(tree, script, tmp_path / "a", tmp_path / "w", path=str(tmp_path / "bin"))
        assert (done.returncode, done.stderr) == (1, f"dist: missing: {missing}\n")


def test_all_that_is_missing_is_named_first(root: Path, tree: Path, tmp_path: Path) -> None:
    """`make dist` looks for the tools of every part before it makes one."""
    recipe = re.search(r"^dist:.*\n((?:\t.*\n)+)", (root / "Makefile").read_text(), re.MULTILINE)[1]
    (tree / "Makefile").write_text(f"DIST = dist\nDIST_PARTS = dist-source dist-deb\ndist:\n{recipe}\ndist-source dist-deb: ; @echo made >made\n")
    (tmp_path / "bin").mkdir()
    for tool in "sh", "dirname", "cat", "make", "tar":
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    done = subprocess.run(["make", "dist"], cwd=tree, env={"PATH": str(tmp_path / "bin"), "GTKWAVE": "/none"}, capture_output=True, text=True)
    assert done.returncode == 2 and not (tree / "made").exists()
    assert done.stderr.splitlines()[:2] == [
        "dist: missing: gzip (package gzip)",
        "dist: missing: dpkg-deb (package dpkg), dpkg-shlibdeps (package dpkg-dev), strip (package binutils), gzip (package gzip), /none/fstapi.c (package verilator)",
    ]


def test_checksums_are_of_all_files(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert dist(tree, "sums", out).stderr.endswith(f"dist: there are no files in {out}\n")
    for name in "b", "A":
        (out / name).write_text(name)
    for _ in range(2):
        assert dist(tree, "sums", out).returncode == 0
        assert (out / "SHA256SUMS").read_text() == "".join(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in "Ab")


@pytest.mark.soak
@pytest.mark.skipif(OLD_NODE, reason="there is no node of version 20")
def test_the_extension_is_one_small_file(tree: Path, tmp_path: Path) -> None:
    """Its packages are fetched once, so the second run is quick."""
    version = (tree / "lss/VERSION").read_text().strip()
    for out in "a", "b":
        done = dist(tree, "vsix", tmp_path / out, tmp_path / "work")
        assert (done.returncode, done.stderr) == (0, "")
    first, second = (tmp_path / out / f"spinach-lss-{version}.vsix" for out in "ab")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
        script = archive.read("extension/extension.js").decode()
    assert len(names) <= 10
    assert {name.lower() for name in names} >= {"extension/readme.md", "extension/license.txt", "extension/package.json"}
    assert set(re.findall(r'require\("(vscode[^"]*)"\)', script)) == {"vscode"}, "everything else is in the file"


def test_the_site_is_the_same_twice(tree: Path, tmp_path: Path) -> None:
    version = (tree / "lss/VERSION").read_text().strip()
    site = tmp_path / "site"
    assert dist(tree, "site", tmp_path / "a", site).stderr == f"dist: missing: {site}/index.html (make docs)\n"
    (site / "deep").mkdir(parents=True)
    for name in "index.html", "deep/page.html":
        (site / name).write_text(name)
    for out, time in ("a", 1), ("b", 2):
        os.utime(site / "index.html", (time, time))
        done = dist(tree, "site", tmp_path / out, site)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path}/{out}/spinach-site-{version}.tar.gz\n", "")
    first, second = (tmp_path / out / f"spinach-site-{version}.tar.gz" for out in "ab")
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        assert {one.name for one in archive if one.isfile()} == {f"spinach-site-{version}/{name}" for name in ("index.html", "deep/page.html")}


def test_the_wheel_is_that_of_the_commit(root: Path, tree: Path, tmp_path: Path) -> None:
    version = (tree / "lss/VERSION").read_text().strip()
    (tree / "pkg").mkdir()
    (tree / "pkg/__init__.py").write_text("")
    project = f'[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[project]\nname = "spinach-sim"\nversion = "{version}"\nrequires-python = ">=3.11"\n'
    (tree / "pyproject.toml").write_text(project + '[tool.hatch.build.targets.wheel]\npackages = ["pkg"]\n')
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "two")
    (tree / "pkg/untracked.py").write_text("")
    for out in "a", "b":
        done = dist(tree, "wheel", tmp_path / out, tmp_path / "work", sys.executable)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path}/{out}/spinach_sim-{version}-py3-none-any.whl\n", "")
    first, second = (tmp_path / out / f"spinach_sim-{version}-py3-none-any.whl" for out in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert "pkg/untracked.py" not in zipfile.ZipFile(first).namelist()
    done = dist(tree, "wheel", tmp_path / "c", tmp_path / "work", "/bin/false")
    assert (done.returncode, done.stderr) == (1, "dist: missing: hatchling for /bin/false (make deps)\n")
