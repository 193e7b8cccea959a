"""The Makefile: what one run of make builds is all there."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.tree import found

ENVIRONMENT = {name: text for name, text in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def test_generated_headers_stay(root: Path, tmp_path: Path) -> None:
    """Modules include the instruction sets' headers, so make must not delete them as links of a chain of rules."""
    command = ["make", "-s", "-j2", f"BUILD={tmp_path}", f"{tmp_path}/obj/emulib/program/input_file.o"]
    done = subprocess.run(command, cwd=root, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sets = {path.parent.name for path in found(root / "emulib", "instructions.def")}
    assert len(sets) >= 2
    made = {path.name for path in (tmp_path / "gen" / "emulib").iterdir()}
    assert {f"{name}_instructions.h" for name in sets} <= made


@pytest.mark.parametrize(
    ("folder", "missing"),
    [("modules", "modules/*.lss"), ("firmware/lib", "firmware/lib/*.c"), ("lss/runtime", "lss/runtime/*/*.c")],
)
def test_patterns_that_find_nothing_stop_make(root: Path, tmp_path: Path, folder: str, missing: str) -> None:
    """A tree in which something was moved must not be built without it."""
    top = folder.split("/")[0]
    for path in root.iterdir():
        if path.name not in (top, "build"):
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / top).mkdir()
    if "/" in folder:
        for path in (root / top).iterdir():
            if path.name != folder.split("/")[1]:
                (tmp_path / top / path.name).symlink_to(path)
    command = ["make", "-n", f"BUILD={tmp_path}/build", "reference"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 2 and f"there is no file {missing}" in done.stderr


def test_clean_keeps_what_was_downloaded(root: Path, tmp_path: Path) -> None:
    for name in ("downloads", "venv", "obj", "linux"):
        (tmp_path / name).mkdir()
    done = subprocess.run(["make", "-s", f"BUILD={tmp_path}", "clean"], cwd=root, env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"downloads", "venv"}
