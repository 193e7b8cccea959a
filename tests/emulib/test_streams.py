"""Random instruction streams: the interpreter against qemu, big- and little-endian."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import assemble
from tests.isa.streams import explain, random_program, table
from tests.sample import sampled

FIRST = int(os.environ.get("SEED", "1"))

pytestmark = pytest.mark.skipif(shutil.which("qemu-mips") is None, reason="qemu-user is not installed")


SETS = pytest.mark.parametrize("instruction_set", ["mips2", "mips32r2"])


def compare(seed: int, instruction_set: str, big: bool, build_dir: Path, tmp_path: Path) -> set[str]:
    stream = random_program(seed, instruction_set=instruction_set)
    elf = assemble(stream.text, tmp_path / f"stream{seed}.elf", big, instruction_set=instruction_set)
    qemu = subprocess.run(["qemu-mips" if big else "qemu-mipsel", "-cpu", "24Kc", elf], capture_output=True, timeout=60)
    oracle = subprocess.run([build_dir / "bin" / "mips-oracle", "--set", instruction_set, elf], capture_output=True, timeout=60)
    assert qemu.returncode == 0, f"seed {seed}: qemu: {qemu.stderr.decode()}"
    assert oracle.returncode == 0, f"seed {seed}: {oracle.stderr.decode()}"
    assert oracle.stdout == qemu.stdout, f"seed {seed}: {explain(qemu.stdout, oracle.stdout)}"
    return stream.names


@SETS
@pytest.mark.parametrize("big", sampled([True, False], 2), ids=["big", "little"])
@pytest.mark.parametrize("seed", sampled(range(FIRST, FIRST + 20)))
def test_random_stream(seed: int, big: bool, instruction_set: str, build_dir: Path, tmp_path: Path):
    """SEED=n in the environment starts at another seed."""
    compare(seed, instruction_set, big, build_dir, tmp_path)


@SETS
def test_streams_contain_every_instruction(instruction_set: str):
    names = set().union(*(random_program(seed, instruction_set=instruction_set).names for seed in range(1, 21)))
    assert names == {i.name for i in table(instruction_set)} - {"syscall", "break"}


@pytest.mark.soak
@SETS
@pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
def test_many_random_streams(big: bool, instruction_set: str, build_dir: Path, tmp_path: Path):
    for seed in range(1000, 2000):
        compare(seed, instruction_set, big, build_dir, tmp_path)
