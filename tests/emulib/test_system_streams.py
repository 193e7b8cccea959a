"""Random programs in user mode under a handler of every exception: the functional system against qemu, in both byte orders."""

import os
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.system_streams import random_system_program

pytestmark = pytest.mark.skipif(not system.qemu_is_there(), reason="qemu-system-mips and qemu-system-mipsel are not installed")

FIRST = int(os.environ.get("SEED", "1"))
BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
NAMES = [*(f"register {n}" for n in range(32)), "sum of exceptions", "refills", "sum of pages"]  # 0: hi, 29: lo


def compare(seed: int, big: bool, build_dir: Path, tmp_path: Path) -> None:
    elf = system.assemble(random_system_program(seed), tmp_path / "stream.elf", big)
    ours, other = system.on_oracle(elf, big, build_dir, "--limit", "10000000"), system.on_qemu(elf, big)
    assert (ours.returncode, other.returncode) == (0, 0), f"seed {seed}: {ours.stderr}{other.stderr}"
    found, expected = ours.stdout.split(), other.stdout.split()
    assert len(expected) == len(NAMES)
    wrong = [f"{name}: {a}, qemu {b}" for name, a, b in zip(NAMES, found, expected, strict=True) if a != b]
    assert not wrong, f"seed {seed}: {'; '.join(wrong)}"


@BYTE_ORDERS
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 5))
def test_random_program(seed: int, big: bool, build_dir: Path, tmp_path: Path):
    """SEED=n in the environment starts at another seed."""
    compare(seed, big, build_dir, tmp_path)


@pytest.mark.soak
@BYTE_ORDERS
def test_many_random_programs(big: bool, build_dir: Path, tmp_path: Path):
    for seed in range(1000, 2000):
        compare(seed, big, build_dir, tmp_path)
