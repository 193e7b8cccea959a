"""Decoded code of the functional system: random programs that write to their own code, and whose memory others write to, do with it
what they do without, in both byte orders and with VPEs."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.kits import Kit

WORLDS = pytest.mark.parametrize(("big", "vpes"), [(False, 1), (True, 1), (False, 8), (True, 8)], ids=["little", "big", "little, VPEs", "big, VPEs"])


@pytest.fixture(scope="module")
def program(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In the soak with sanitizers."""
    return kit.program(Path(__file__).with_name("system_code.c"), ["mips/mvp.c", "mips/system*.c"], tmp_path_factory.mktemp("code") / "system_code", "-O1")


def code_stores(program: Path, seed: int, rounds: int, big: bool, vpes: int) -> int:
    """How many stores to decoded code the run had that found no difference."""
    done = subprocess.run([program, str(seed), str(rounds), str(int(big)), str(vpes)], capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    counted = re.search(r"(\d+) stores to decoded code", done.stdout)
    assert counted
    return int(counted[1])


@WORLDS
def test_decoded_code_changes_nothing(program: Path, big: bool, vpes: int) -> None:
    assert sum(code_stores(program, seed, 1000, big, vpes) for seed in (1, 2)) > 10_000


@pytest.mark.soak
@pytest.mark.parametrize("kit", ["sanitized"], indirect=True)
@WORLDS
def test_a_million_stores_to_decoded_code(program: Path, big: bool, vpes: int) -> None:
    stores = 0
    for seed in range(3, 1000):
        stores += code_stores(program, seed, 10_000, big, vpes)
        if stores >= 1_000_000:
            return
    raise AssertionError(f"only {stores} stores")
