"""`make linux PREBUILT=…`: a kernel from the archive of a release, whose hash must be known.  Archives and packages are small
ones of these tests, and the server of one is here."""

import functools
import hashlib
import http.server
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.firmware.test_linux import package

ROOT = Path(__file__).resolve().parents[2]
NAME = "spinach-guest-9.tar.zst"
MACHINERY = """
BUILD = build
PYTHON3 = python3
CC = clang-22
DEPS_LINUX :=
found = $(wildcard $(1))
linux:
include firmware/linux/build.mk
linux: $(LINUX_FILES)
"""
pytestmark = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in ("zstd", "dpkg-deb", "cpio", "dtc")), reason="a tool is missing that `make linux` installs"
)


class Tree:
    """A source tree with the guest's part alone, and an archive."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tree"
        shutil.copytree(ROOT / "firmware/linux", self.folder / "firmware/linux")
        self.sums = self.folder / "firmware/linux/prebuilt.sha256"
        version = next(line.split()[1] for line in (self.folder / "firmware/linux/versions").read_text().splitlines() if line.startswith("busybox-static "))
        self.busybox = f"busybox-static_{version.replace(':', '%3a')}.deb"
        self.archive = folder / NAME
        inside = folder / "inside/spinach-guest-9"
        for name in "out", "out-vpes", "downloads":
            (inside / name).mkdir(parents=True)
        for name, text in ("out", ""), ("out-vpes", " for several"):
            (inside / name / "vmlinux").write_text(f"a kernel{text}")
            (inside / name / "Module.symvers").write_text(f"symbols{text}")
            (inside / name / "vmlinux.key").write_text(f"key{text}\n")
        (inside / "README.md").write_text("words")
        for name in "host.config", "vpes.config", "versions":
            shutil.copy(self.folder / "firmware/linux" / name, inside / name)
        shutil.move(package(folder, "bin/busybox", b"all commands"), inside / "downloads" / self.busybox)
        self.pack(inside)
        self.build, self.out = self.folder / "build", self.folder / "build/linux/out"

    def pack(self, inside: Path) -> None:
        subprocess.run(["tar", "--zstd", "-cf", self.archive, "-C", inside.parent, inside.name], check=True)
        self.digest = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        self.sums.write_text(f"# archives\n{self.digest}  {NAME}\n")

    def take(self, archive: object, *more: str) -> subprocess.CompletedProcess:
        command = ["python3", "-B", self.folder / "firmware/linux/prebuilt.py", archive, self.build, self.out, *(more or ("little", ""))]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True)

    def make(self, *words: object) -> subprocess.CompletedProcess:
        """The goal of the Makefile, where the tree's source was made already."""
        for name, text in {
            "Makefile": MACHINERY, "build/bin/lss": "", "build/firmware/tigon2/tg2.bin": "nic", "build/gen/firmware/linux/host.json": "",
            "build/gen/firmware/linux/host.dts": '/dts-v1/;\n/ { chosen { bootargs = "console=ttyS0"; linux,initrd-start = <0x2000000>; }; };\n',
        }.items():  # fmt: skip
            if not (self.folder / name).exists():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / name).write_text(text)
        for name in "firmware/lib", "firmware/tools":
            if not (self.folder / name).exists():
                (self.folder / name).symlink_to(ROOT / name)
        return subprocess.run(["make", "-s", "linux", *map(str, words), "-o", "build/gen/firmware/linux/host.dts"], cwd=self.folder, capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_known_archive_is_taken(tree: Tree) -> None:
    done = tree.take(tree.archive)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tree.out / "vmlinux").read_text() == "a kernel" and (tree.out / "vmlinux.key").read_text() == "key\n"
    assert (tree.out / "Module.symvers").read_text() == "symbols"
    assert [one.name for one in (tree.build / "downloads").iterdir()] == [tree.busybox]
    before = (tree.out / "vmlinux").stat().st_mtime_ns
    (tree.out / "vmlinux.key").write_text("of another\n")
    assert tree.take(tree.archive).returncode == 0
    assert (tree.out / "vmlinux").stat().st_mtime_ns == before and (tree.out / "vmlinux.key").read_text() == "key\n"
    assert sorted(one.name for one in tree.out.iterdir()) == ["Module.symvers", "vmlinux", "vmlinux.key"]


def test_another_one_is_refused(tree: Tree, tmp_path: Path) -> None:
    other = tmp_path / "other.tar.zst"
    other.write_bytes(tree.archive.read_bytes() + b"x")
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    done = tree.take(other)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"linux: PREBUILT: {other} has the SHA-256 {digest}, which is not in {tree.sums} (archives there: {NAME})\n"
    tree.sums.write_text("# none yet\n")
    assert "(archives there: none)" in tree.take(tree.archive).stderr
    assert not tree.build.exists()


def test_a_kernel_of_something_else_is_refused(tree: Tree) -> None:
    """A tree with other options or another kernel compiles its own."""
    linux = tree.folder / "firmware/linux"
    with open(linux / "host.config", "a") as options:
        options.write("CONFIG_MORE=y\n")
    done = tree.take(tree.archive)
    assert done.returncode == 1 and done.stderr == f"linux: PREBUILT: its kernel has other options than {linux}/host.config: leave out PREBUILT\n"
    here = next(line for line in (linux / "versions").read_text().splitlines() if line.startswith("linux-source-"))
    (linux / "versions").write_text("linux-source-9 9.1\n")
    done = tree.take(tree.archive)
    assert done.stderr == f"linux: PREBUILT: its kernel is {here}, that of {linux}/versions linux-source-9 9.1: leave out PREBUILT\n"
    assert not (tree.out / "vmlinux").exists()


def test_a_kernel_for_several_processors(tree: Tree) -> None:
    assert tree.take(tree.archive, "little", "true").returncode == 0
    assert (tree.out / "vmlinux").read_text() == "a kernel for several" and (tree.out / "vmlinux.key").read_text() == "key for several\n"
    more = tree.folder / "firmware/linux/vpes.config"
    more.write_text("CONFIG_NR_CPUS=4\n")
    assert tree.take(tree.archive, "little", "").returncode == 0
    done = tree.take(tree.archive, "little", "true")
    assert (done.returncode, done.stderr) == (1, f"linux: PREBUILT: its kernel has other options than {more}: leave out PREBUILT\n")


def test_wrong_words_are_one_line(tree: Tree, tmp_path: Path) -> None:
    def says(*words: object) -> str:
        done = tree.take(*words)
        *before, line = done.stderr.splitlines()
        assert done.returncode == 1 and before in ([], [f"linux: fetching {words[0]}"])
        return line.removeprefix("linux: PREBUILT: ")

    assert says("/nowhere") == "there is no file /nowhere"
    assert says(tree.archive, "big", "") == "archives have only little-endian kernels: leave out ENDIAN, or PREBUILT"
    assert says("http://") == "http:// names no file"
    assert says("http://127.0.0.1:1/a.tar.zst") == "http://127.0.0.1:1/a.tar.zst cannot be fetched: Connection refused"
    tree.pack(tmp_path / "inside/spinach-guest-9/downloads")
    assert says(tree.archive) == f"{tree.archive} has no kernel: 'out/vmlinux'"
    (tmp_path / "text").write_text("no archive")
    tree.sums.write_text(f"{hashlib.sha256(b'no archive').hexdigest()}  text\n")
    assert says(tmp_path / "text") == f"{tmp_path}/text has no kernel: empty file"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of the files in tmp_path."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_address_is_fetched_once(tree: Tree, served: str) -> None:
    done = tree.take(f"{served}/{NAME}")
    assert (done.returncode, done.stderr) == (0, f"linux: fetching {served}/{NAME}\n")
    assert tree.take(f"{served}/{NAME}").stderr == ""
    shutil.rmtree(tree.build)
    tree.archive.write_bytes(b"a page")
    done = tree.take(f"{served}/{NAME}")
    assert done.returncode == 1 and f"which is not in {tree.sums}" in done.stderr and not tree.out.exists()
    done = tree.take(f"{served}/none.tar.zst")
    assert done.returncode == 1 and done.stderr.endswith(f"linux: PREBUILT: {served}/none.tar.zst cannot be fetched: File not found\n")
    assert not list((tree.build / "downloads").glob("*.part"))


@pytest.mark.skipif(not shutil.which("clang-22"), reason="there is no clang-22")
def test_all_else_is_made_with_it(tree: Tree, tmp_path: Path) -> None:
    """The first file systems, with an overlay, and trees; nothing is fetched and no kernel compiled."""
    (tmp_path / "overlay").mkdir()
    (tmp_path / "overlay/mine").write_text("own words")
    done = tree.make(f"PREBUILT={tree.archive}", f"OVERLAY={tmp_path}/overlay", "DEBIAN_MIRROR=http://127.0.0.1:1")
    assert done.returncode == 0, done.stderr
    linux = tree.build / "linux"
    assert (linux / "out/vmlinux").read_text() == "a kernel"
    made = [linux / name for name in ("out/initramfs.cpio", "out/host.dtb", "out/disk.dtb", "out/root.ext4", "shell/initramfs.cpio", "shell/host.dtb")]
    assert all(one.stat().st_size for one in made)
    for initramfs, overlaid in ((made[0], True), (made[4], False)):
        listed = subprocess.run(["cpio", "-it", "--quiet"], input=initramfs.read_bytes(), capture_output=True).stdout.decode().split()
        assert {"bin/busybox", "init"} <= set(listed) and ("mine" in listed) == overlaid
    done = tree.make(f"PREBUILT={tree.archive}", "VPES=true", "DEBIAN_MIRROR=http://127.0.0.1:1")
    assert done.returncode == 0 and (linux / "out-vpes/vmlinux").read_text() == "a kernel for several", done.stderr
