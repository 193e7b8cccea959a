"""Completion of command lines: the scripts that the compiler prints, in the shells that run them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest


def complete(lss: Path, folder: Path, *arguments: str) -> set[str]:
    """What bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in arguments)
    script = f'. <({lss} completion bash); COMP_WORDS=({line}); COMP_CWORD={len(arguments) - 1}; _lss; printf "%s\\n" "${{COMPREPLY[@]}}"'
    environment = {"PATH": f"{lss.parent}:/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


def test_bash(build_dir: Path, tmp_path: Path) -> None:
    lss = build_dir / "bin" / "lss"
    (tmp_path / "machine.lss").write_text("")
    (tmp_path / "machine.txt").write_text("")
    usage = subprocess.run([lss, "help"], capture_output=True, text=True).stdout
    commands = set(re.findall(r"^  lss (\w+)", usage, re.MULTILINE))
    assert {"build", "server", "completion"} <= commands == complete(lss, tmp_path, "lss", "")
    assert complete(lss, tmp_path, "lss", "ch") == {"check"}
    assert complete(lss, tmp_path, "lss", "check", "--n") == {"--netlist-only"}
    assert complete(lss, tmp_path, "lss", "check", "mach") == {"machine.lss"}
    assert {"-D", "-I", "--keep", "--watch"} <= complete(lss, tmp_path, "lss", "build", "-")
    assert complete(lss, tmp_path, "lss", "explain", "fan") <= complete(lss, tmp_path, "lss", "explain", "")
    assert "unknown-port" in complete(lss, tmp_path, "lss", "explain", "unknown")
    assert complete(lss, tmp_path, "lss", "doc", "memory_st") == {"memory_state"}


def test_zsh_takes_the_script(build_dir: Path) -> None:
    done = subprocess.run([build_dir / "bin" / "lss", "completion", "zsh"], capture_output=True, text=True)
    assert done.returncode == 0 and "server)" in done.stdout and "--netlist-only" in done.stdout
    if not shutil.which("zsh"):
        pytest.skip("there is no zsh")
    assert subprocess.run(["zsh", "-n"], input=done.stdout, text=True).returncode == 0


@pytest.mark.parametrize("shells", [["fish"], [], ["bash", "zsh"]])
def test_one_of_two_shells_is_named(build_dir: Path, shells: list[str]) -> None:
    done = subprocess.run([build_dir / "bin" / "lss", "completion", *shells], capture_output=True, text=True)
    assert done.returncode == 2 and "bash or zsh" in done.stderr and not done.stdout
