"""Machines that are no ordinary files, and wrong command lines: one line, and the status that says whose fault."""

import subprocess
from pathlib import Path

import pytest


def run(compiler: Path, *words: str | Path, cwd: Path) -> tuple[int, str]:
    done = subprocess.run([compiler, *words], cwd=cwd, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def test_no_such_file(sanitized_lss: Path, tmp_path: Path) -> None:
    assert run(sanitized_lss, "check", "x.lss", cwd=tmp_path) == (
        1,
        "error[import-missing]: cannot read x.lss: there is no such file\n",
    )


def test_a_folder(sanitized_lss: Path, tmp_path: Path) -> None:
    (tmp_path / "x.lss").mkdir()
    assert run(sanitized_lss, "check", "x.lss", cwd=tmp_path) == (
        1,
        "error[import-missing]: cannot read x.lss: it is a folder\n",
    )


def test_a_huge_file(sanitized_lss: Path, tmp_path: Path) -> None:
    with open(tmp_path / "x.lss", "wb") as file:
        file.truncate((1 << 26) + 1)
    assert run(sanitized_lss, "check", "x.lss", cwd=tmp_path) == (
        1,
        "x.lss: error[syntax]: this file is larger than 64 MiB\n",
    )


def test_a_machine_called_like_a_module(sanitized_lss: Path, tmp_path: Path) -> None:
    lib = Path(__file__).resolve().parent / "lib"
    (tmp_path / "relay.lss").write_text(
        "instance p : producer; instance r : relay; instance c : consumer; p.out -> r.in; r.out -> c.in;"
    )
    assert run(sanitized_lss, "check", "relay.lss", "-I", lib, cwd=tmp_path) == (0, "")


@pytest.mark.parametrize(
    "words, says",
    [
        ((), "usage: lss COMMAND"),
        (("chek",), 'did you mean "check"'),
        (("check",), "which machine?"),
        (("check", "a.lss", "b.lss"), "one machine at a time"),
        (("check", "-D", "n", "a.lss"), "-D takes name=value"),
        (("check", "--max-steps", "many", "a.lss"), "takes a positive number"),
        (("check", "--maximum", "a.lss"), "unknown option --maximum"),
        (("check", "a.lss", "-I"), "-I needs a value"),
        (("check", "a.lss", "--", "x"), "nothing may follow --"),
    ],
)
def test_wrong_command_line(words: tuple, says: str, sanitized_lss: Path, tmp_path: Path) -> None:
    status, text = run(sanitized_lss, *words, cwd=tmp_path)
    assert status == 2
    assert says in text
