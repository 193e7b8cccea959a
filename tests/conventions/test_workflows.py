"""The workflows that GitHub runs: they run what a developer runs, and only goals that the Makefile has."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = found(ROOT / ".github/workflows", "*.yml")


def test_they_run_what_exists() -> None:
    goals = set(re.findall(r"^([a-z][a-z-]*):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    run = {path.name: re.findall(r"^ *(?:- )?run: (.*)$", path.read_text(), re.MULTILINE) for path in WORKFLOWS}
    assert ".ci/run" in run["ci.yml"] and (ROOT / ".ci/run").exists()
    assert "make dist" in run["release.yml"]
    for commands in run.values():
        assert {goal for line in commands for goal in re.findall(r"\bmake ([a-z-]+)$", line)} <= goals
    files = [name for path in WORKFLOWS for call in re.findall(r"hashFiles\((.*)\)", path.read_text()) for name in re.findall(r"'([^']*)'", call)]
    assert files and all((ROOT / name).is_file() for name in files)


def test_actionlint_accepts_them() -> None:
    if not shutil.which("actionlint"):
        pytest.skip("there is no actionlint")
    done = subprocess.run(["actionlint", *WORKFLOWS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
