"""The archive of the guest: what `make linux` has made, of files that stand for them, and how its hash gets into the tree."""

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.install.release import dist, git

pytestmark = pytest.mark.skipif(not shutil.which("zstd"), reason="there is no zstd")
MADE = ("out/vmlinux", "out/vmlinux.key", "out/Module.symvers", "out/initramfs.cpio", "out/host.dtb", "out/root.ext4", "out/disk.dtb",
        "shell/initramfs.cpio", "shell/host.dtb", "out-vpes/vmlinux", "out-vpes/vmlinux.key", "out-vpes/Module.symvers")  # fmt: skip


@pytest.fixture
def guest(root: Path, tree: Path, tmp_path: Path) -> Path:
    shutil.copytree(root / "firmware/linux", tree / "firmware/linux")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "two")
    for name in MADE:
        (tmp_path / "linux" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "linux" / name).write_text(name)
    return tree


def test_an_archive(guest: Path, tmp_path: Path) -> None:
    """The same of another commit, at another time; refused by `make linux` until its hash is in the tree."""
    version = (guest / "lss/VERSION").read_text().strip()
    name = f"spinach-guest-{version}.tar.zst"
    words = (tmp_path / "linux", tmp_path / "downloads")
    busybox = next(line.split()[1] for line in (guest / "firmware/linux/versions").read_text().splitlines() if line.startswith("busybox-static "))
    package = tmp_path / "downloads" / f"busybox-static_{busybox.replace(':', '%3a')}.deb"
    assert dist(guest, "guest", tmp_path / "a", *words).stderr == f"dist: missing: {package} (make linux)\n"
    package.parent.mkdir()
    package.write_text("package")
    done = dist(guest, "guest", tmp_path / "a", *words)
    line = f"{hashlib.sha256((tmp_path / 'a' / name).read_bytes()).hexdigest()}  {name}"
    assert done.returncode == 1
    assert done.stderr == f"dist: 'make linux PREBUILT' refuses this archive until firmware/linux/prebuilt.sha256 has the line: {line}\n"
    with open(guest / "firmware/linux/prebuilt.sha256", "a") as known:
        known.write(f"{line}\n")
    git(guest, "commit", "-qam", "three")
    for path in (tmp_path / "linux").rglob("*"):
        os.utime(path, (1, 1))
    done = dist(guest, "guest", tmp_path / "b", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path}/b/{name}\n", "")
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()

    subprocess.run(["zstd", "-q", "-d", tmp_path / "a" / name, "-o", tmp_path / "a.tar"], check=True)
    with tarfile.open(tmp_path / "a.tar") as archive:
        names = {one.name.partition("/")[2] for one in archive if one.isfile()}
        readme = archive.extractfile(f"spinach-guest-{version}/README.md").read().decode()
    papers = {"README.md", "COPYING.GPL-2", "COPYING.spinach", "host.config", "vpes.config", "host.dts", "versions"}
    assert names == {*MADE, *papers, f"downloads/{package.name}"}
    assert readme.startswith(f"# The guest of Spinach {version}\n") and "@" not in readme
    for vpes, kernel in ("", "out/vmlinux"), ("true", "out-vpes/vmlinux"):
        taken = subprocess.run(
            ["python3", "-B", guest / "firmware/linux/prebuilt.py", tmp_path / "a" / name, tmp_path / "build", tmp_path / "out", "little", vpes],
            capture_output=True, text=True,
        )  # fmt: skip
        assert (taken.returncode, taken.stderr) == (0, "") and (tmp_path / "out/vmlinux").read_text() == kernel


@pytest.mark.parametrize(("folder", "goal"), [("out", "make linux"), ("out-vpes", "make linux VPES=true")])
def test_without_a_kernel(guest: Path, tmp_path: Path, folder: str, goal: str) -> None:
    (tmp_path / "linux" / folder / "vmlinux").unlink()
    done = dist(guest, "guest", tmp_path / "a", tmp_path / "linux", tmp_path / "downloads")
    why = f"{goal}; or quickly with PREBUILT=FILE, the archive of a release"
    assert (done.returncode, done.stderr) == (1, f"dist: missing: {tmp_path}/linux/{folder}/vmlinux ({why})\n")
