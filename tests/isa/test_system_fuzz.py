"""Random programs under a kernel that changes the TLB, address spaces, caches and the timer at random, on the core in lockstep with the functional
system, with an interrupt line that is high by chance.  Memory answers after 1, 9, 40 and random cycles."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.system_core import KSEG0_CACHED, build, large_ways, on_core
from tests.isa.system_fuzz import fuzz_program
from tests.isa.test_system_hostile import MEMORIES

FIRST = int(os.environ.get("SEED", "1"))
# Little-endian are the hosts of tests/host/test_host.py and the wide core of test_wide_system.py; this machine is so in the soak.
BYTE_ORDERS = pytest.mark.parametrize("big", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["big", "little"])
INTERRUPTED = ["--set", "line.count=-1"]  # line ip2 is high in some cycles


def compare(seed: int, big: bool, memory: str, systems: dict[bool, Path], tmp_path: Path, cycles: int = 5000000, write_back: bool = False) -> int:
    """The number of instructions that agree; caches that `write_back` are not told to lose what was written."""
    elf = system.assemble(fuzz_program(seed, write_back=write_back), tmp_path / "fuzz.elf", big)
    done = on_core(systems[big], elf, tmp_path, big, KSEG0_CACHED, *INTERRUPTED, "--seed", str(seed), *MEMORIES[memory], cycles=cycles)
    where = f"seed {seed}, {memory} memory: {done.stderr}"
    assert done.returncode == 0 and "the program exited" in done.stderr, where
    found = {name: int(n) for name, n in re.findall(r"^core +(\w+) +(\d+)", done.stdout + done.stderr, re.MULTILINE)}
    assert found["compared_exceptions"] > 100 and found["compared_interrupts"] > 20, where
    return found["compared"]


@BYTE_ORDERS
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 1))
def test_random_program(seed: int, memory: str, big: bool, systems: dict[bool, Path], tmp_path: Path):
    """SEED=n in the environment starts at another seed."""
    assert compare(seed, big, memory, systems, tmp_path) > 50000


@pytest.mark.parametrize(
    ("settings", "kib"),
    [({}, 64), ({"wide": 4, "coherent": "true", "mshrs": 8, "fetch_mshrs": 4}, 16), *(pytest.param(settings, kib, marks=pytest.mark.soak) for settings in ({"coherent": "true"}, {"wide": 4}) for kib in (16, 64))],
    ids=str,
)
def test_random_program_on_ways_that_exceed_a_page(settings: dict[str, object], kib: int, root: Path, build_dir: Path, tmp_path: Path, optimising):
    """Pages are mapped several times: an address has one place all the same, as Config7 says."""
    with optimising():
        machine = build(root, build_dir, tmp_path / "system", *large_ways(kib, **settings), "-D", "checked=true")
    assert compare(FIRST, False, "random", {False: machine}, tmp_path, cycles=20000000, write_back="coherent" in settings) > 50000


def test_lockstep_goes_on_behind_a_checkpoint(systems: dict[bool, Path], tmp_path: Path):
    """In another process, with the same memory and registers of the functional system."""
    elf, point = system.assemble(fuzz_program(FIRST), tmp_path / "fuzz.elf", True), tmp_path / "point"
    whole = on_core(systems[True], elf, tmp_path, True, KSEG0_CACHED, *INTERRUPTED, cycles=5000000)
    first = on_core(systems[True], elf, tmp_path, True, KSEG0_CACHED, *INTERRUPTED, "--checkpoint", str(point), cycles=60000)
    rest = subprocess.run([systems[True], "--restore", point, "--cycles", "5000000"], capture_output=True, text=True)
    assert (whole.returncode, first.returncode, rest.returncode) == (0, 0, 0), rest.stderr
    compared = [re.findall(r"^core +(compared\w*|unchecked) +(\d+)", done.stdout + done.stderr, re.MULTILINE) for done in (first, whole, rest)]
    assert len(compared[0]) == 4 and compared[0] != compared[1] == compared[2]


@pytest.mark.soak
def test_ten_million_instructions(systems: dict[bool, Path], tmp_path: Path):
    agreed, seed = 0, 1000
    while agreed < 10**7:
        agreed += sum(compare(seed, big, memory, systems, tmp_path) for big in (True, False) for memory in MEMORIES)
        seed += 1
