"""The package for Debian: what is in it and what it needs, here of a kit of a few lines; the soak makes the real one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.install.release import dist, git

needs = pytest.mark.skipif(not all(shutil.which(tool) for tool in ("dpkg-shlibdeps", "strip", "clang-22")), reason="there are no tools that make packages")
KIT = """
all:
	mkdir -p build/bin build/lib build/gen/emulib build/firmware/one
	clang-22 -g -ffile-prefix-map=$(CURDIR)=$(HOME_FOLDER) -O2 lss/lss.c -lz -o build/bin/lss
	cp build/bin/lss build/bin/mips-disasm
	clang-22 -g -ffile-prefix-map=$(CURDIR)=$(HOME_FOLDER) -c lss/lss.c -o build/lib/lss.o
	llvm-ar-22 rcs build/lib/libspinach.a build/lib/lss.o && rm build/lib/lss.o
	echo 'named $(NAMED)' >build/gen/emulib/one.h
	echo '{"made in": "$(CURDIR)"}' >build/gen/emulib/one.json
	echo program >build/firmware/one/one.elf && chmod 755 build/firmware/one/one.elf
"""
PROGRAM = """// A program that is linked with something.
#include <stdio.h>
const char *zlibVersion(void);
int main(void) { return !printf("complete -F %s\\n", *zlibVersion() ? "lss" : ""); }
"""


@pytest.fixture
def kit(root: Path, tree: Path, tmp_path: Path) -> Path:
    """A repository that is built in a second."""
    (tree / "Makefile").write_text(KIT)
    (tree / "lss/lss.c").write_text(PROGRAM)
    for name in ("harness/install", "harness/spinach", "harness/deps", "README.md", "CHANGELOG.md", "CITATION.cff"):
        shutil.copy(root / name, tree / name)
    for folder in "lss/runtime", "modules", "emulib", "firmware", "examples", "docs":
        (tree / folder).mkdir()
        (tree / folder / "file").write_text(folder)
    (tmp_path / "gtkwave").mkdir()
    (tmp_path / "gtkwave/fstapi.c").write_text("")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "two")
    return tree


def package(kit: Path, out: str, work: str) -> subprocess.CompletedProcess:
    tmp_path = kit.parent
    return dist(kit, "deb", tmp_path / out, tmp_path / work, GTKWAVE=str(tmp_path / "gtkwave"), MAKEFLAGS="NAMED=wrong")


@needs
def test_a_package(kit: Path, tmp_path: Path) -> None:
    version = (kit / "lss/VERSION").read_text().strip()
    done = package(kit, "a", "first")
    assert (done.returncode, done.stderr) == (0, "")
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True).stdout.strip()
    name = f"spinach_{version}_{architecture}.deb"
    assert done.stdout == f"{tmp_path}/a/{name}\n"
    again, elsewhere = package(kit, "a2", "first"), package(kit, "b", "second/of/another/length")
    assert again.returncode == elsewhere.returncode == 0, elsewhere.stderr
    first, second, third = ((tmp_path / out / name).read_bytes() for out in ("a", "a2", "b"))
    assert first == second == third

    fields = subprocess.run(["dpkg-deb", "-f", tmp_path / "a" / name], capture_output=True, text=True, check=True).stdout
    depends = set(re.search(r"^Depends: (.*)$", fields, re.MULTILINE)[1].split(", "))
    assert depends >= {"clang-22 | clang-19", "graphviz", "python3 (>= 3.11)", "libpcap-dev"} and any(one.startswith("zlib1g (") for one in depends)
    subprocess.run(["dpkg-deb", "-x", tmp_path / "a" / name, tmp_path / "x"], check=True)
    home = tmp_path / "x/usr/lib/spinach"
    for tool, place in {"lss": "build/bin/lss", "mips-disasm": "build/bin/mips-disasm", "spinach": "harness/spinach"}.items():
        assert (tmp_path / "x/usr/bin" / tool).resolve() == home / place
    assert (tmp_path / "x/usr/share/spinach").resolve() == home and (tmp_path / "x/usr/share/doc/spinach/examples").resolve() == home / "examples"
    assert (home / "build/gen/emulib/one.h").read_text() == "named \n" and not (home / "build/gen/emulib/one.json").exists()
    assert (home / "build/firmware/one/one.elf").stat().st_mode & 0o111 == 0
    assert not (home / "Makefile").exists() and (home / "lss/VERSION").exists()
    sections = subprocess.run(["readelf", "-S", home / "build/bin/lss"], capture_output=True, text=True).stdout
    assert ".debug_info" not in sections
    assert (tmp_path / "x/usr/share/bash-completion/completions/lss").read_text() == "complete -F lss\n"


@needs
def test_traces_of_the_builder_are_refused(kit: Path, tmp_path: Path) -> None:
    (kit / "Makefile").write_text(KIT.replace("one.json", "two.h"))
    git(kit, "commit", "-qam", "three")
    done = package(kit, "a", "w")
    assert done.returncode == 1 and re.fullmatch(r"dist: files name the folder in which they were built: \S+/build/gen/emulib/two.h\n", done.stderr)
    assert not list((tmp_path / "a").glob("*.deb"))


@needs
def test_a_kit_that_does_not_build(kit: Path, tmp_path: Path) -> None:
    (kit / "lss/lss.c").write_text("// Not a program.\nint x = y;\n")
    git(kit, "commit", "-qam", "three")
    done = package(kit, "a", "w")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("dist: the kit does not build: lss/lss.c:2:9: error: use of undeclared identifier 'y'")
    assert done.stderr.endswith(f"; all of it is in {tmp_path}/w/make.log\n")


def test_it_is_refused_without_the_writer_of_waves(kit: Path, tmp_path: Path) -> None:
    done = dist(kit, "kit", tmp_path / "w", GTKWAVE="/nowhere")
    assert (done.returncode, done.stderr) == (1, "dist: missing: /nowhere/fstapi.c (package verilator)\n")


def test_its_papers_are_those_of_the_kit(root: Path) -> None:
    papers = root / "harness/dist/debian"
    holder = re.search(r"^Copyright \(c\) (.*)$", (root / "LICENSE").read_text(), re.MULTILINE)[1]
    assert f"Files: *\nCopyright: {holder}\nLicense: Expat\n" in (papers / "copyright").read_text()
    headers = {line.split()[0] for line in (papers / "depends").read_text().splitlines() if not line.startswith("#")}
    packages = {"glib-2.0": "libglib2.0-dev", "pcap": "libpcap-dev", "zstd": "libzstd-dev", "nettle": "nettle-dev", "dw": "libdw-dev", "elf": "libelf-dev", "m": "libc6-dev", "z": "zlib1g-dev"}
    linked = set(re.findall(r'"-l([\w.-]+)"', (root / "lss/build/link.c").read_text()))
    assert linked == set(packages) and headers >= set(packages.values())


@pytest.mark.soak
@needs
def test_the_real_one(root: Path, tmp_path: Path) -> None:
    """The same from two builds, and lintian finds no error."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", root, clone], check=True)
    for out, work in (("a", "first"), ("b", "second")):
        done = dist(clone, "deb", tmp_path / out, tmp_path / work)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    first, second = (next((tmp_path / out).glob("*.deb")) for out in "ab")
    assert first.read_bytes() == second.read_bytes()
    if shutil.which("lintian"):
        found = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", first], capture_output=True, text=True)
        assert found.returncode == 0, found.stdout
