"""Linux on the host machine with an out-of-order core, its data cache with several misses, and a disk: what goes on from a checkpoint is the run
without, and a debug build, which checks what must always be so, does the same."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.firmware.disks import LITTLE, checked
from tests.linux_guest import Guest, build_host, on_host, pack

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(5400)]

MACHINE = ["wide=4", "coherent=true", "mshrs=8", "disk=true"]
RESTORES = 6
BOUND = ["--time", "3 s"]


@pytest.fixture(scope="module")
def made(software: Guest, root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Guest:
    """Its files are on the disk, and it writes there."""
    return pack(software, LITTLE, [], root, build_dir, tmp_path_factory.mktemp("guest") / "made", on_disk=True)


@pytest.fixture(scope="module")
def whole(made: Guest, root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str, dict]:
    """The machine, and a run of it: the file of the disk behind it, console and statistics."""
    folder = tmp_path_factory.mktemp("whole")
    machine = build_host(root, build_dir, folder / "host", *MACHINE)
    status, console, stats = on_host(made, machine, folder, "--disk_commit", "after.ext4", *BOUND)
    assert status == 4 and "/dev/root on / type ext4 (rw" in console and console.endswith("reboot: Power down\n"), console[-2000:]
    checked(folder / "after.ext4")
    return machine, folder / "after.ext4", console, stats


def test_restored_runs_go_on_as_the_run_without(whole, made: Guest, tmp_path: Path) -> None:
    """From checkpoints at random instants of the boot and the writes to the disk: console, statistics, and the disk. SEED in the environment repeats a run."""
    machine, disk, console, stats = whole
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"SEED={seed}")
    rng, end = random.Random(seed), stats["run"]["cycles"]["cpu_clk"]
    for cycle in sorted(rng.randrange(1000, end) for _ in range(RESTORES)):
        begun = on_host(made, machine, tmp_path, "--cycles", cycle, "--checkpoint", "point")
        rest = on_host(None, machine, tmp_path, "--restore", "point", "--disk_commit", "rest.ext4", *BOUND)
        assert rest[0] == 4 and begun[1] + rest[1] == console, (seed, cycle)
        assert rest[2]["statistics"] == stats["statistics"], (seed, cycle)
        assert (tmp_path / "rest.ext4").read_bytes() == disk.read_bytes(), (seed, cycle)


def test_a_debug_build_does_the_same(whole, made: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """To the cycle, and to the last statistic."""
    _, disk, console, stats = whole
    command = [build_dir / "bin/lss", "build", root / "examples/host/host.lss", "--debug", "-I", root / "examples/tigon2", "-o", tmp_path / "debug"]
    subprocess.run([*command, *(word for one in MACHINE for word in ("-D", one))], check=True)
    done = on_host(made, tmp_path / "debug", tmp_path, "--disk_commit", "after.ext4", *BOUND)
    assert done[:2] == (4, console) and done[2]["statistics"] == stats["statistics"]
    assert (tmp_path / "after.ext4").read_bytes() == disk.read_bytes()
