"""What a build that takes long says meanwhile: a line that a terminal rewrites, or one each ten seconds; standard output is clean."""

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MACHINE = "instance p : source;  instance k : sink;  p.out -> k.in : uint32;\n"
SHOWN = re.compile(r"lss: compiling: \d+ of \d+ units done, \d+ s")


def build(lss: Path, folder: Path, seconds: float, **environment: str) -> tuple[str, str]:
    """Standard output and what a terminal got, of a build whose clang takes longer by so much."""
    clang = shutil.which("clang-22") or shutil.which("clang-19") or shutil.which("clang")
    (folder / "tools").mkdir()
    slow = folder / "tools" / Path(clang).name
    slow.write_text(f'#!/bin/sh\ncase "$*" in *unit.o*) sleep {seconds};; esac\nexec {clang} "$@"\n')
    slow.chmod(0o755)
    (folder / "m.lss").write_text(MACHINE)
    terminal, other = pty.openpty()
    own = {"LSS_CACHE": str(folder / "cache"), "PATH": f"{folder / 'tools'}:{os.environ['PATH']}", **environment}
    with subprocess.Popen([lss, "build", "-O0", "m.lss", "-o", "sim"], cwd=folder, stdout=subprocess.PIPE, stderr=other, env={**os.environ, **own}, text=True) as run:
        os.close(other)
        printed, shown = run.stdout.read(), ""
        while more := read(terminal):
            shown += more
    os.close(terminal)
    assert run.returncode == 0, shown
    return printed, shown


def read(terminal: int) -> str:
    try:
        return os.read(terminal, 4096).decode()
    except OSError:
        return ""


@pytest.mark.parametrize(("environment", "seen"), [({"LSS_PROGRESS": ""}, True), ({"LSS_PROGRESS": "off"}, False)])
def test_a_terminal_shows_how_far_a_build_is(environment: dict, seen: bool, build_dir: Path, tmp_path: Path) -> None:
    """And nothing of it stays."""
    printed, shown = build(build_dir / "bin/lss", tmp_path, 3, **environment)
    assert printed == "" and bool(SHOWN.search(shown)) == seen
    assert not SHOWN.search(shown.split("\r\033[K")[-1])
