"""Guest folders: which programs and files a folder becomes, and what is said of a wrong one.  The compiler is a script that writes down how
it was called."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION = "6.1.192 mod_unload MIPS32_R2 32BIT "
COMPILER = """#!/bin/sh
for last; do :; done
[ "${FAILS:-}" = "" ] || { echo "$FAILS" >&2; exit 1; }
echo "$@" >"$last"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder `mine` with one program, a base with two files, and a kernel."""
    kernel = f"code\0{VERSION}\0code"
    given = {"mine/bin/one.c": "int main(void) { return 0; }\n", "base/bin/job": "job", "base/etc/rc.local": "shell", "kernel/vmlinux": kernel}
    for file, text in given.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    (tmp_path / "cc").write_text(COMPILER)
    (tmp_path / "cc").chmod(0o755)
    return tmp_path


def make(place: Path, folder: str = "mine", **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "CC_GUEST": str(place / "cc"), **environment}
    modules = "compiled" if (place / "compiled").exists() else ""
    command = [ROOT / "firmware/linux/guest", folder, "base", "kernel", modules, "out"]
    return subprocess.run(command, cwd=place, env=given, capture_output=True, text=True)


def files(place: Path) -> set[str]:
    return {str(path.relative_to(place / "out")) for path in (place / "out").rglob("*") if not path.is_dir()}


def test_programs_and_files(place: Path) -> None:
    """Each C file is a program, with the options that it names; other files are over those of the guest with a shell."""
    (place / "mine/bin/two.c").write_text("/* build: -O3 -lm */\n")
    (place / "mine/bin/two.h").write_text("")
    (place / "mine/root/etc").mkdir(parents=True)
    (place / "mine/root/etc/rc.local").write_text("mine")
    (place / "mine/tree.dts").write_text("/ { };\n")
    (place / "mine/README.md").write_text("text\n")
    done = make(place)
    assert (done.returncode, done.stderr) == (0, "") and files(place) == {"bin/job", "bin/one", "bin/two", "etc/rc.local"}
    assert (place / "out/etc/rc.local").read_text() == "mine"
    one, two = ((place / f"out/bin/{name}").read_text().split() for name in ("one", "two"))
    assert "-static" in one and "mine/bin/one.c" in one and f"-I {ROOT}/firmware/linux/../lib" in " ".join(one)
    assert two.index("-O2") < two.index("-O3") < two.index("-lm") < two.index("mine/bin/two.c")


def test_variants_of_a_program(place: Path) -> None:
    (place / "mine/bin/one.variants").write_text("# how it is compiled\nslow -O0\n\nfast -O3 -funroll-loops")  # no end of line
    assert make(place).returncode == 0 and files(place) == {"bin/job", "bin/one-slow", "bin/one-fast", "etc/rc.local"}
    assert "-O3 -funroll-loops mine/bin/one.c" in (place / "out/bin/one-fast").read_text()


def test_modules(place: Path) -> None:
    """Those that were compiled, and those that the folder has as files, if they are for this kernel."""
    for file, text in {"compiled/rule.ko": f"vermagic={VERSION}\0", "compiled/order": "rule\n", "mine/root/opt/own.ko": f"name=own\0vermagic={VERSION}\0"}.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(text)
    assert make(place).returncode == 0
    assert files(place) == {"bin/job", "bin/one", "etc/rc.local", "lib/modules/order", "lib/modules/rule.ko", "opt/own.ko"}
    (place / "mine/root/opt/own.ko").write_text("vermagic=6.1.192 SMP mod_unload MIPS32_R2 32BIT \0")
    done = make(place)
    other = "6.1.192 SMP mod_unload MIPS32_R2 32BIT "
    assert (done.returncode, done.stderr) == (1, f"linux: mine/root/opt/own.ko is for another kernel: {other}, not {VERSION}\n")


WRONG = [
    ({"mine/lib/x": ""}, "mine/lib: a guest has bin, modules, nic_firmware, root and tree.dts"),
    ({"mine/nic_firmware": "tigon3\n"}, "mine/nic_firmware: 'tigon3' is no firmware that Linux loads into the network interface; there are: tigon2 tigon2_messages"),
    ({"mine/bin/tool": ""}, "mine/bin/tool: bin has C files, and NAME.variants of them; other programs belong into root/bin"),
    ({"mine/bin/zero.variants": "a -O0\n"}, "mine/bin/zero.variants: there is no mine/bin/zero.c"),
    ({"mine/bin/one.variants": "a/b -O0\n"}, "mine/bin/one.variants: a line is SUFFIX OPTIONS; 'a/b' is no part of a file name"),
]


@pytest.mark.parametrize(("more", "why"), WRONG, ids=[next(iter(more)) for more, _ in WRONG])
def test_what_is_no_guest(place: Path, more: dict[str, str], why: str) -> None:
    """One line, and what was made before stays."""
    assert make(place).returncode == 0
    before = files(place)
    for file, text in more.items():
        (place / file).parent.mkdir(exist_ok=True)
        (place / file).write_text(text)
    done = make(place)
    assert (done.returncode, done.stderr) == (1, f"linux: {why}\n") and files(place) == before and not (place / "out.part").exists()


def test_a_program_that_does_not_compile(place: Path) -> None:
    """The compiler's message, then which it was."""
    done = make(place, FAILS="mine/bin/one.c:1: error")
    assert (done.returncode, done.stderr) == (1, "mine/bin/one.c:1: error\nlinux: mine/bin/one.c does not compile\n") and not (place / "out").exists()
    done = make(place, CC_GUEST="no-such-compiler")
    assert done.stderr == "linux: mine/bin/one.c needs no-such-compiler: apt-get install gcc-mipsel-linux-gnu libc6-dev-mipsel-cross\n"


@pytest.mark.parametrize("folder", ["empty", "absent"])
def test_a_folder_without_anything(place: Path, folder: str) -> None:
    (place / "empty").mkdir()
    said = {"empty": "empty is empty: a guest has bin, modules, nic_firmware, root or tree.dts", "absent": "GUEST names a folder with bin, modules, nic_firmware, root and tree.dts; absent is none"}
    assert make(place, folder).stderr == f"linux: {said[folder]}\n"
