"""The command that a failing test prints, which runs that test alone."""

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.conftest import rerun


@pytest.mark.parametrize("soak", [False, True])
def test_the_command_names_one_test_whatever_its_name(root: Path, soak: bool) -> None:
    """Spaces, quotes and dollar signs pass the shell, make, and the shell behind make."""
    nodeid = "tests/x.py::test_y[4 of 8, \"quoted\" it's $5 * (a|b)]"
    command = rerun(nodeid, soak)
    done = subprocess.run(f"{command} --dry-run", shell=True, capture_output=True, text=True, cwd=root)
    [line] = [one for one in done.stdout.splitlines() if "-m pytest" in one]
    assert command.startswith("make soak " if soak else "make test ")
    assert shlex.split(line)[-1] == nodeid and ("not soak" in line) != soak
