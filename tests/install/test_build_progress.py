"""What a command of lss that takes long says meanwhile: a line that a terminal rewrites, or one each ten seconds; standard output is clean."""

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MACHINE = "instance p : source;  instance k : sink;  p.out -> k.in : uint32;\n"
SHOWN = re.compile(r"lss: compiling( \w+(, \w+( and \d+ more)?)?)?: \d+ of \d+ units done, \d+ s")


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
    """It names what is being compiled, and nothing of it stays."""
    printed, shown = build(build_dir / "bin/lss", tmp_path, 3, **environment)
    assert printed == "" and any(match[1] for match in SHOWN.finditer(shown)) == seen
    assert not SHOWN.search(shown.split("\r\033[K")[-1])


NETLIST = ["elaborating", "inferring types", "completing the netlist", "checking the netlist"]
STAGES = {
    "check": [*NETLIST, "scheduling", "writing C", "checking"],
    "check --netlist-only": [*NETLIST, "scheduling"],
    "build -O0 -o sim": [*NETLIST, "scheduling", "writing C", "compiling", "linking"],
    "export -o m.json": [*NETLIST, "writing the netlist"],
    "graph -o m.svg": [*NETLIST, "drawing"],
}


@pytest.mark.parametrize("command", STAGES)
def test_each_stage_says_what_it_is(command: str, build_dir: Path, tmp_path: Path) -> None:
    """At once here, after two seconds of a command otherwise; what is quick says nothing."""
    (tmp_path / "m.lss").write_text(MACHINE)
    for seconds, stages in (("0", STAGES[command]), ("", [])):
        terminal, other = pty.openpty()
        name, *options = command.split()
        environment = {**os.environ, "LSS_CACHE": str(tmp_path / "cache"), "LSS_PROGRESS": seconds or "60"}
        with subprocess.Popen([build_dir / "bin/lss", name, "m.lss", *options], cwd=tmp_path, stderr=other, env=environment) as run:
            os.close(other)
            shown = ""
            while more := read(terminal):
                shown += more
        os.close(terminal)
        assert run.returncode == 0, shown
        said = [re.match(r"lss: (compiling|checking(?! the)|[a-zA-Z ]+)( [\w, ]+)?(: \d+ [a-z ]+|: \d+ of \d+ (units|levels) done)?, \d+ s$", line) for line in re.split(r"\r\x1b\[K", shown)]
        heads = [match[1] for match in said if match]
        assert [head for k, head in enumerate(heads) if not k or heads[k - 1] != head] == stages, shown


def test_errors_stand_on_lines_of_their_own(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text(MACHINE + "warn(\"look\");\ninstance q : nothing_like_it;\n")
    terminal, other = pty.openpty()
    with subprocess.Popen([build_dir / "bin/lss", "check", "m.lss"], cwd=tmp_path, stderr=other, env={**os.environ, "LSS_PROGRESS": "0"}) as run:
        os.close(other)
        shown = ""
        while more := read(terminal):
            shown += more
    os.close(terminal)
    kept = [line.split("\r\x1b[K")[-1].rstrip("\r") for line in shown.split("\n")]
    assert run.returncode == 1 and any(line.startswith("m.lss:3:") for line in kept) and not any(line.startswith("lss: elaborating") for line in kept), shown
