"""Machines that are no ordinary files, and wrong command lines: one line, and the status that says whose fault."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.kits import Kit


def run(compiler: Path, *arguments: str | Path, cwd: Path) -> tuple[int, str]:
    done = subprocess.run([compiler, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def test_no_such_file(kit: Kit, tmp_path: Path) -> None:
    assert run(kit.lss, "check", "x.lss", cwd=tmp_path) == (
        1,
        "error[import-missing]: cannot read x.lss: there is no such file\n",
    )


def test_a_folder(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "x.lss").mkdir()
    assert run(kit.lss, "check", "x.lss", cwd=tmp_path) == (
        1,
        "error[import-missing]: cannot read x.lss: it is a folder\n",
    )


def test_a_huge_file(kit: Kit, tmp_path: Path) -> None:
    with open(tmp_path / "x.lss", "wb") as file:
        file.truncate((1 << 26) + 1)
    assert run(kit.lss, "check", "x.lss", cwd=tmp_path) == (
        1,
        "x.lss: error[syntax]: this file is larger than 64 MiB\n",
    )


def test_a_machine_called_like_a_module(kit: Kit, tmp_path: Path) -> None:
    lib = Path(__file__).resolve().parent / "lib"
    (tmp_path / "relay.lss").write_text(
        "instance p : producer; instance r : relay; instance c : consumer; p.out -> r.in; r.out -> c.in;"
    )
    assert run(kit.lss, "check", "relay.lss", "-I", lib, cwd=tmp_path) == (0, "")


@pytest.mark.parametrize(
    "arguments, says",
    [
        ((), "usage: lss COMMAND"),
        (("chek",), 'did you mean "check"'),
        (("check",), "which machine?"),
        (("check", "a.lss", "b.lss"), "one machine at a time"),
        (("check", "-D", "n", "a.lss"), "-D takes name=value"),
        (("check", "-D", ".n=1", "a.lss"), "-D takes name=value"),
        (("check", "-D", "p.=1", "a.lss"), "-D takes name=value"),
        (("check", "--max-steps", "many", "a.lss"), "is not a whole number"),
        (("check", "--maximum", "a.lss"), "unknown option --maximum; `lss check --help` shows the usage"),
        (("check", "--netlist-onl", "a.lss"), "unknown option --netlist-onl; did you mean --netlist-only?"),
        (("build", "a.lss", "-O9"), '-O takes 0, 1, 2 or 3, not "9"'),
        (("explain", "--all"), "unknown option --all"),
        (("list", "-D", "n=1"), "unknown option -D"),
        (("fmt", "--chek"), "did you mean --check?"),
        (("run", "a.lss", "--cycles", "100"), "unknown option --cycles; options of the simulator follow --: lss run M.lss -- --cycles"),
        (("check", "a.lss", "-I"), "-I needs a value"),
        (("check", "a.lss", "--", "x"), "nothing may follow --"),
    ],
)
def test_wrong_command_line(arguments: tuple, says: str, kit: Kit, tmp_path: Path) -> None:
    status, text = run(kit.lss, *arguments, cwd=tmp_path)
    assert status == 2
    assert says in text


def test_a_file_without_a_machine(kit: Kit, tmp_path: Path) -> None:
    """Nothing in it was checked but its syntax, and that is said."""
    (tmp_path / "m.lss").write_text("module m { inport in : nothing; phase_end; }\n")
    says = "m.lss: warning[no-behaviour]: nothing is instantiated here, so there is no machine; a module is checked where it is used\n"
    assert run(kit.lss, "check", "m.lss", cwd=tmp_path) == (0, says)


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A machine of one module."""
    (tmp_path / "m.lss").write_text('module m { stat uint64 n "cycles"; phase_end; }\n')
    (tmp_path / "m.c").write_text('#include "m.h"\nphase_end() { count(n, STEP); }\n')
    (tmp_path / "m.h").write_text("#define STEP 1\n")
    (tmp_path / "top.lss").write_text("instance a : m;\n")
    return tmp_path


@pytest.mark.parametrize("name", ["top.lss", "m.lss", "m.c", "m.h", "./link"])
@pytest.mark.parametrize("command", ["build", "export"])
def test_sources_are_not_overwritten(command: str, name: str, lss, counted: Path) -> None:
    (counted / "link").symlink_to("m.c")
    before = (counted / name).read_text()
    done = lss(command, "top.lss", "-o", name, ok=False)
    assert done.status == 2
    assert done.err == f'lss {command}: "{name}" is a source of this machine; -o names the file to write\n'
    assert (counted / name).read_text() == before


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("pipe", "it is no regular file"),
        (".", "it is a directory"),
        ("none/sim", "No such file or directory"),
        ("top.lss/sim", "Not a directory"),
    ],
)
def test_places_where_no_simulator_can_stand(output: str, why: str, lss, counted: Path) -> None:
    """A device is none: it would be replaced."""
    os.mkfifo(counted / "pipe")
    done = lss("build", "top.lss", "-o", output, ok=False)
    assert (done.status, done.err) == (3, f"lss: cannot write {output}: {why}\n")
    assert (counted / "pipe").is_fifo()


@pytest.mark.parametrize("damage", [b"", b"no object", None])
def test_damaged_objects_are_made_anew(damage: bytes | None, lss, counted: Path) -> None:
    env = {"LSS_CACHE": str(counted / "cache")}
    time.sleep(0.02)  # the times of files are coarse, and what may have changed while it was compiled is not kept
    lss("build", "top.lss", "-o", "sim", env=env)
    objects = list((counted / "cache").glob("*.o"))
    assert objects
    for path in objects:
        path.write_bytes(path.read_bytes()[:1000] if damage is None else damage)
    (counted / "sim").unlink()
    lss("build", "top.lss", "-o", "sim", env=env)
    done = subprocess.run([counted / "sim", "--cycles", "3", "--print", "a.n"], capture_output=True, text=True)
    assert "a.n = 3\n" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["list"], ["doc", "pipe"], ["explain"], ["schedule", "top.lss"], ["help"], ["check", "--help"]]
)
def test_a_full_standard_output_is_an_error(arguments: list[str], build_dir: Path, counted: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [build_dir / "bin" / "lss", *arguments], cwd=counted, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (3, "lss: cannot write to standard output: No space left on device\n")


def test_version(kit: Kit) -> None:
    done = subprocess.run([kit.lss, "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("lss ") and done.stdout.count("\n") == 1
