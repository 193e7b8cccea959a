"""Commands of the harness in a folder of one's own: the compiler is the one on the PATH, and nothing else is asked for."""

import os
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from harness import __main__ as main
from tests.sample import sampled

MACHINE = """
/** How ready it is. */ runtime parameter ready = 1.0 : float;
clock clk = 100 MHz;
instance producer : source { count = 100; };  instance consumer : sink { ready = ready; };
producer.out -> consumer.in : uint32;
"""
STUDY = """
title = "A sink"
machine = "machine.lss"
axis = [{ name = "ready", setting = "option.ready", values = [0.5, 1] }]
[window]
to = "cycles(clk) >= 50"
[measure.rate]
value = "consumer.items / cycles(clk)"
"""
COMMANDS = {
    "study": (["study", "study.toml", "--plain", "--out", "out"], "out/index.html"),
    "bottleneck": (["bottleneck", "machine.lss", "--", "--cycles", "90"], "build/bottleneck/index.html"),
    "reference": (["reference", "memory_types"], "build/docs/modules/index.html"),
}


def harness(root: Path, folder: Path, path: Path, arguments: list[str]) -> subprocess.CompletedProcess:
    """Runs a command in a folder outside the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(root), "PATH": f"{path}:/usr/bin:/bin"}
    return subprocess.run(
        [sys.executable, "-m", "harness", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "machine.lss").write_text(MACHINE)
    (tmp_path / "work" / "study.toml").write_text(STUDY)
    return tmp_path / "work"


@pytest.mark.parametrize("command", sampled(COMMANDS, 3, 1))
def test_the_compiler_on_the_path_is_used(root: Path, build_dir: Path, folder: Path, command: str) -> None:
    (folder.parent / "bin").mkdir()
    (folder.parent / "bin" / "lss").symlink_to(build_dir / "bin" / "lss")
    arguments, written = COMMANDS[command]
    done = harness(root, folder, folder.parent / "bin", arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / written).stat().st_size > 0
    # What it wrote is what it says that it writes, so that it spares its inputs (test_used_files.py).
    names = {"study": main.STUDY, "bottleneck": main.BOTTLENECK, "reference": main.folder("*")}[command].names
    made = [str(file.relative_to((folder / written).parent)) for file in (folder / written).parent.rglob("*") if file.is_file()]
    assert made and all(any(fnmatch(name, known) for known in names) for name in made), made


@pytest.mark.parametrize("command", ["study", "bottleneck"])
def test_inputs_are_spared(root: Path, build_dir: Path, folder: Path, command: str) -> None:
    """Also those that a study names, or that the machine is made of."""
    (folder.parent / "bin").mkdir()
    (folder.parent / "bin" / "lss").symlink_to(build_dir / "bin" / "lss")
    name = {"study": "index.html", "bottleneck": "collectors.lss"}[command]
    (folder / name).write_text(MACHINE)
    (folder / "machine.lss").write_text("import collectors;\n")
    (folder / "study.toml").write_text(STUDY.replace("machine.lss", name))
    done = harness(root, folder, folder.parent / "bin", [*COMMANDS[command][0][:2], "--out", "."])
    assert done.returncode == 2 and f'cannot write "./{name}" for the ' in done.stderr and "reads it too" in done.stderr, done
    assert (folder / name).read_text() == MACHINE and not (folder / "results.csv").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_compiler_one_line_says_so(root: Path, folder: Path, command: str) -> None:
    done = harness(root, folder, folder, COMMANDS[command][0])
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if "examining" not in line and line.strip()]
    assert line == "harness: there is no compiler build/bin/lss, and no lss on the PATH: run make, or name the build folder"
