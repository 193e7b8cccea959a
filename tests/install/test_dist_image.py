"""The container image: its files, its settings, and that it is the same twice, here of a system of a few bytes; the real one is
made by `make dist`, and executed in the soak."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import IO

import pytest

from tests.install.release import dist, git

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
STUBS = {
    "mmdebstrap": 'echo "$@" >"$LOG"\nfor word in "$@"; do case $word in */root.tar) cp "$SYSTEM" "$word" ;; *copy-in*) eval "set -- ${word#*copy-in }"; ls "$1" >>"$LOG" ;; esac; done',
    "python3": 'case "$*" in *download*) echo "$*" >>"$LOG.pip"; for out in "$@"; do :; done; mkdir -p "$out"; echo wheel >"$out/one.whl" ;; esac',
    "dpkg-deb": "exit 0",
    "dpkg": "echo amd64",
}


@pytest.fixture
def parts(tree: Path, tmp_path: Path) -> Path:
    """A folder with the parts of a release that go into the image."""
    (tmp_path / "bin").mkdir()
    for name, text in STUBS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tree / "harness/notebook.txt").write_text("one==1\n")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "two")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/motd").write_text("hello")
    with tarfile.open(tmp_path / "system.tar", "w") as system:
        system.add(tmp_path / "etc", "etc")
    version = (tree / "lss/VERSION").read_text().strip()
    (tmp_path / "out").mkdir()
    for name in f"spinach_{version}_amd64.deb", f"spinach-lss-{version}.vsix":
        (tmp_path / "out" / name).write_text(name)
    return tmp_path / "out"


def image(tree: Path, out: Path, work: str = "scratch") -> subprocess.CompletedProcess:
    tmp_path = tree.parent
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    return dist(tree, "image", out, tmp_path / work, path=path, LOG=str(tmp_path / "log"), SYSTEM=str(tmp_path / "system.tar"), DEBIAN_MIRROR="http://mirror")


def blob(archive: tarfile.TarFile, one: dict) -> IO[bytes]:
    """What an image's index, manifest or settings name."""
    return archive.extractfile(f"./blobs/{one['digest'].replace(':', '/')}")


@pytest.mark.skipif(not shutil.which("umoci") or not Path(KEYRING).exists(), reason="there is no umoci")
def test_an_image(tree: Path, parts: Path, tmp_path: Path) -> None:
    version = (tree / "lss/VERSION").read_text().strip()
    done = image(tree, parts)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{parts}/spinach-{version}.oci.tar\n", "")
    first = (parts / f"spinach-{version}.oci.tar").read_bytes()
    for work in "scratch", "elsewhere":
        assert image(tree, parts, work).returncode == 0 and (parts / f"spinach-{version}.oci.tar").read_bytes() == first
    assert (tmp_path / "log.pip").read_text().count("download") == 2, "the packages of Python are fetched once for each folder"
    said = (tmp_path / "log").read_text()
    assert f"deb [signed-by={KEYRING}] http://mirror/debian bookworm main" in said
    assert said.splitlines()[1:] == ["inside", f"spinach-lss-{version}.vsix", f"spinach_{version}_amd64.deb", "wheels"]

    with tarfile.open(parts / f"spinach-{version}.oci.tar") as archive:
        (index,) = json.load(archive.extractfile("./index.json"))["manifests"]
        assert index["annotations"]["org.opencontainers.image.ref.name"] == version
        manifest = json.load(blob(archive, index))
        settings = json.load(blob(archive, manifest["config"]))
        assert (settings["architecture"], settings["os"], settings["config"]["Cmd"]) == ("amd64", "linux", ["bash"])
        assert "PYTHONPATH=/usr/lib/spinach:/usr/lib/spinach/harness/python" in settings["config"]["Env"]
        (layer,) = manifest["layers"]
        with tarfile.open(fileobj=blob(archive, layer)) as system:
            assert system.extractfile("etc/motd").read() == b"hello"


@pytest.mark.skipif(not shutil.which("umoci") or not Path(KEYRING).exists(), reason="there is no umoci")
def test_what_is_missing_or_fails_is_one_line(tree: Path, parts: Path, tmp_path: Path) -> None:
    (tmp_path / "bin/mmdebstrap").write_text("#!/bin/sh\necho working; echo 'E: no mirror'; exit 1\n")
    done = image(tree, parts)
    assert (done.returncode, done.stderr) == (1, f"dist: mmdebstrap cannot make the system: E: no mirror; all of it is in {tmp_path}/scratch/mmdebstrap.log\n")
    (tmp_path / "bin/python3").write_text('#!/bin/sh\ncase "$*" in *download*) echo no index; exit 1 ;; esac\n')
    done = image(tree, parts, "other")
    assert (done.returncode, done.stderr) == (1, f"dist: pip cannot fetch the packages of {tree}/harness/notebook.txt ({tmp_path}/other/pip.log says why)\n")
    next(parts.glob("*.deb")).unlink()
    done = image(tree, parts)
    assert done.returncode == 1 and re.fullmatch(r"dist: missing: \S+/spinach_\S+_amd64.deb \(make dist-deb dist-vsix\)\n", done.stderr)
    git(tree, "rm", "-q", "LICENSE")
    assert "files that differ from the commit: 1" in image(tree, parts).stderr


def test_the_packages_are_those_of_the_kit(root: Path) -> None:
    """And the image, the Containerfile and the container of VS Code agree on places and versions."""
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", (root / "harness/pinned.txt").read_text(), re.MULTILINE))
    image = dict(re.findall(r"^([\w.-]+)==(\S+) --hash=sha256:[0-9a-f]{64}$", (root / "harness/notebook.txt").read_text(), re.MULTILINE))
    assert pinned.items() <= image.items() and {"notebook", "ipykernel", "pandas"} <= image.keys()
    text = (root / ".devcontainer/devcontainer.json").read_text()
    settings = json.loads(re.sub(r"^//.*\n", "", text))
    assert settings["image"] == f"localhost/spinach:{(root / 'lss/VERSION').read_text().strip()}"
    extension = settings["customizations"]["vscode"]["extensions"][0]
    script, containerfile = ((root / "harness/dist" / name).read_text() for name in ("image", "Containerfile"))
    assert extension == "/usr/lib/spinach/editors/spinach-lss.vsix" and extension in containerfile and "editors/spinach-lss.vsix" in script
    assert re.search(r"include=(\S+)", script)[1].split(",") == sorted(re.search(r"recommends (.*?) /tmp", containerfile)[1].split())
    assert re.search(r'config\.env "PYTHONPATH=\$home:\$home(\S+)"', script)[1] == re.search(r"PYTHONPATH=/usr/lib/spinach:/usr/lib/spinach(\S+)", containerfile)[1]


@pytest.mark.soak
@pytest.mark.skipif(not all(shutil.which(tool) for tool in ("mmdebstrap", "umoci")) or os.getuid() != 0, reason="images cannot be made here")
def test_the_real_one(root: Path, tmp_path: Path) -> None:
    """It compiles and runs a machine, makes a study's figures, and is small enough."""
    clone, out = tmp_path / "clone", tmp_path / "out"
    subprocess.run(["git", "clone", "-q", root, clone], check=True)
    assert dist(clone, "deb", out, tmp_path / "kit").returncode == 0
    version = (root / "lss/VERSION").read_text().strip()
    (out / f"spinach-lss-{version}.vsix").write_text("an extension")
    done = dist(clone, "image", out, tmp_path / "work")
    assert (done.returncode, done.stderr) == (0, "")
    archive = out / f"spinach-{version}.oci.tar"
    assert archive.stat().st_size <= 400e6
    inside = tmp_path / "system"
    inside.mkdir()
    subprocess.run(["tar", "-xf", tmp_path / "work/root.tar", "-C", inside], check=True)
    (inside / "work/m.lss").write_text("instance s : source { count = 3; };\ninstance k : sink;\ns.out -> k.in : uint32;\n")
    for command in (
        "lss run m.lss -- --cycles 10 --quiet",
        "spinach theory 1472",
        "PYTHONPATH=/usr/lib/spinach:/usr/lib/spinach/harness/python /usr/lib/spinach/venv/bin/python -c 'import spinach, pandas, notebook'",
        "gdb-multiarch --version",
    ):
        subprocess.run(["chroot", inside, "sh", "-c", f"cd /work && {command}"], check=True, capture_output=True)
