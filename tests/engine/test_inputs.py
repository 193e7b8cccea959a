"""What a user names to be read must be a file with an end: a named pipe or a device is one line, at once."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

KINDS = {
    "pipe": "it is a named pipe, not a file",
    "/dev/zero": "it is a device, not a file",
    "folder": "it is a folder",
}


@pytest.fixture(params=KINDS)
def named(request, tmp_path: Path) -> tuple[str, str]:
    """The path of something that is no file, and why it is refused."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    path = request.param if request.param.startswith("/") else str(tmp_path / request.param)
    return path, KINDS[request.param]


def test_a_netlist(named, lss) -> None:
    done = lss("check", named[0], ok=False, timeout=20)
    assert (done.status, done.err) == (1, f"error[import-missing]: cannot read {named[0]}: {named[1]}\n")


def test_a_file_to_format(named, lss) -> None:
    done = lss("fmt", named[0], ok=False, timeout=20)
    assert done.err == f'lss fmt: cannot read "{named[0]}": {named[1]}\n'


@pytest.fixture(scope="module")
def simulator(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reads a script, a memory image and packets."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "m.lss").write_text(
        "instance s : source; instance k : sink; s.out -> k.in : uint32;\ninstance p : capture;\n"
    )
    (folder / "capture.lss").write_text(
        'module capture {\n  runtime init parameter program = "" : string;\n  runtime init parameter packets = "" : string;\n'
        "  state { stream frames; }\n  init;\n  phase_end;\n}\n"
    )
    (folder / "capture.c").write_text(
        '#include "program/program.h"\n'
        "init() {\n  if (*param(packets)) packet_read_open(&self->frames, param(packets));\n"
        "  GError *error = NULL;\n"
        '  if (*param(program) && !program_open(param(program), PROGRAM_ELF, &error)) sim_input_error("%s", error->message);\n'
        "}\nphase_end() {}\n"
    )
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", folder / "m.lss", "-o", folder / "sim"], check=True)
    return folder / "sim"


@pytest.mark.parametrize("parameter", ["s.script", "p.packets", "p.program"])
def test_inputs_of_a_run(parameter: str, named, simulator: Path, run_sim: Callable) -> None:
    done = run_sim(simulator, "--set", f"{parameter}={named[0]}", "--cycles", "3", ok=False, timeout=20)
    assert done.err.count("\n") == 1 and f'"{named[0]}": {named[1]}' in done.err


def test_pipes_that_were_handed_over_are_read(build_dir: Path, simulator: Path, tmp_path: Path) -> None:
    command = f'echo 5 7 | "{simulator}" --set s.script=/dev/stdin --set k.record=r.txt --cycles 9'
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "r.txt").read_text().split()[:2] == ["5", "7"]
    done = subprocess.run(
        ["sh", "-c", f'echo "instance a: sink;" | "{build_dir}/bin/lss" fmt -'], capture_output=True, text=True
    )
    assert done.stdout == "instance a : sink;\n"
