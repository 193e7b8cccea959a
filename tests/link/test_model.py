"""The agreement of parts that wait, in the model checker spin: the models hold, and planted faults in them are found."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).with_name("board.pml")
HOSTS = Path(__file__).with_name("hosts.pml")
pytestmark = pytest.mark.skipif(not shutil.which("spin"), reason="the model checker is missing (apt-get install spin)")


def check(folder: Path, *definitions: str, model: Path = MODEL) -> tuple[int, str]:
    """The errors that the checker finds in all that the model can do, and what it says."""
    subprocess.run(["spin", *(f"-D{name}" for name in definitions), "-a", model], cwd=folder, check=True, capture_output=True)
    subprocess.run(["cc", "-w", "-O2", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"], cwd=folder, check=True)
    said = subprocess.run(["./pan", "-m100000"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "max search depth too small" not in said and "out of memory" not in said
    return int(re.search(r"errors: (\d+)", said).group(1)), said


def test_the_model_holds_for_a_short_run(tmp_path: Path) -> None:
    errors, said = check(tmp_path, "END=2")
    assert not errors, said


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_model_holds(tmp_path: Path) -> None:
    """Two parts, three instants, two items each: 31 million states, in a GiB."""
    errors, said = check(tmp_path, "END=3")
    assert not errors, said


SLOW = [pytest.mark.soak, pytest.mark.timeout(3600)]


@pytest.mark.parametrize(
    "fault, expected",
    [
        ("NO_SUMS", "assertion violated"),
        ("STALE_TICKET", "invalid end state"),
        ("ONE_LOOK", "assertion violated"),
        pytest.param("LATE", "assertion violated|invalid end state", marks=SLOW),
    ],
)
def test_a_planted_fault_is_found(tmp_path: Path, fault: str, expected: str) -> None:
    errors, said = check(tmp_path, "END=3", fault)
    assert errors and re.search(expected, said), said


def test_the_model_of_hosts_holds(tmp_path: Path) -> None:
    """Two hosts, three instants, an item each: a million states."""
    errors, said = check(tmp_path, "END=3", model=HOSTS)
    assert not errors, said


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("definitions", [["END=4"], ["END=2", "PROMISES"]])
def test_the_model_of_hosts_holds_longer(tmp_path: Path, definitions: list[str]) -> None:
    errors, said = check(tmp_path, *definitions, model=HOSTS)
    assert not errors, said


@pytest.mark.parametrize(
    "fault, expected", [("NO_SUMS", "assertion violated"), ("HOLD_ALL", "invalid end state"), ("NO_END", "assertion violated")]
)
def test_a_planted_fault_of_hosts_is_found(tmp_path: Path, fault: str, expected: str) -> None:
    errors, said = check(tmp_path, "END=3", fault, model=HOSTS)
    assert errors and expected in said, said
