"""Linux on the host machine with an out-of-order core, its data cache with several misses, and a disk or a network interface: what goes on from a
checkpoint is the run without, and a debug build, which checks what must always be so, does the same."""

import hashlib
import os
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.firmware.disks import LITTLE, checked
from tests.hosts import COHERENT, DISK, NIC, wide
from tests.linux_guest import Guest, build_host, on_host, pack
from tests.modules.wire.stations import stream

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(5400)]

MACHINE = [wide(mshrs=8), COHERENT]
PING = "ping -A -c 20 10.0.0.1\nnc 10.0.0.1 5001 </init >/tmp/a\nmd5sum </tmp/a\nexit 4\n"
STREAM = ["--set", "slots.card[0].station.tcp_send=200000", "--set", "slots.card[0].station.tcp_close=true"]
RESTORES = 6
BOUND = ["--time", "3 s"]


@dataclass
class Whole:
    """A machine, what it boots, and the run of that from its start to its end."""

    options: list[str]  # of the machine
    machine: Path
    made: Guest
    settings: list[str]  # of a run that begins
    disk: bytes = b""  # behind it
    console: str = ""
    stats: dict = field(default_factory=dict)

    def begun(self, machine: Path, directory: Path, *options: object) -> tuple[int, str, dict]:
        return on_host(self.made, machine, directory, *self.settings, *options)

    def ended(self, machine: Path, directory: Path, *restored: object) -> tuple[int, str, dict, bytes]:
        """What a run comes to, from the start or a checkpoint: status, console, statistics, the disk."""
        options, after = [*restored, *BOUND], directory / "after.ext4"
        if self.made.disk:
            options += ["--disk_commit", after]
        done = on_host(None, machine, directory, *options) if restored else self.begun(machine, directory, *options)
        return *done, after.read_bytes() if self.made.disk else b""


@pytest.fixture(scope="module", params=["disk", "nic"])
def whole(request: pytest.FixtureRequest, software: Guest, root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A guest whose files are on a disk, where it writes, or one that talks to the station on the wire."""
    folder, disk = tmp_path_factory.mktemp("whole"), request.param == "disk"
    made = pack(software, LITTLE if disk else PING, [], root, build_dir, folder / "made", on_disk=disk)
    options = [*MACHINE, DISK if disk else NIC]
    run = Whole(options, build_host(root, build_dir, folder / "host", *options), made, [] if disk else STREAM)
    status, run.console, run.stats, run.disk = run.ended(run.machine, folder)
    assert status == 4 and run.console.endswith("reboot: Power down\n"), run.console[-2000:]
    assert ("/dev/root on / type ext4 (rw" if disk else f"{hashlib.md5(stream(200000)).hexdigest()}  -") in run.console, run.console[-2000:]
    assert ("20 packets transmitted, 20 packets received" in run.console) != disk
    if disk:
        checked(folder / "after.ext4")
    return run


def test_restored_runs_go_on_as_the_run_without(whole: Whole, tmp_path: Path) -> None:
    """From checkpoints at random instants of the boot and of the work behind it: console, statistics, and the disk. SEED in the environment repeats a run."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"SEED={seed}")
    rng, end = random.Random(seed), whole.stats["run"]["cycles"]["cpu_clk"]
    for cycle in sorted(rng.randrange(1000, end) for _ in range(RESTORES)):
        begun = whole.begun(whole.machine, tmp_path, "--cycles", cycle, "--checkpoint", "point")
        status, console, stats, disk = whole.ended(whole.machine, tmp_path, "--restore", "point")
        assert status == 4 and begun[1] + console == whole.console, (seed, cycle)
        assert stats["statistics"] == whole.stats["statistics"], (seed, cycle)
        assert disk == whole.disk, (seed, cycle)


def test_a_debug_build_does_the_same(whole: Whole, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """To the cycle, and to the last statistic."""
    command = [build_dir / "bin/lss", "build", root / "examples/host/host.lss", "--debug", "-I", root / "examples/tigon2", "-o", tmp_path / "debug"]
    subprocess.run([*command, *(word for one in whole.options for word in ("-D", one))], check=True)
    status, console, stats, disk = whole.ended(tmp_path / "debug", tmp_path)
    assert (status, console, disk) == (4, whole.console, whole.disk) and stats["statistics"] == whole.stats["statistics"]
