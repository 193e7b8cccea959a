"""The host machine's Linux with its files on a disk: what it writes is there after a boot, the image is whole, and nobody's file is touched."""

import subprocess
from pathlib import Path

import pytest

from tests.firmware.disks import LITTLE, boot_twice, checked, does_the_same, in_image, in_two_boots, tells_the_same
from tests.hosts import CHECKED, COHERENT, DISK, LARGE_WAYS, LEVEL_2, NIC, wide
from tests.linux_guest import Guest, build_host, on_host, pack

pytestmark = [pytest.mark.soak, pytest.mark.optimised]


# In lockstep, with caches that own what they write and a disk that takes it from them.
COHERENT_CHECKED = [[*options, COHERENT, CHECKED] for options in ([], [wide()], [wide(), LEVEL_2], [wide(), NIC], [wide(mshrs=8)])]


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_host(root, build_dir, tmp_path_factory.mktemp("host") / "host", DISK)


@pytest.fixture
def on_disk(software: Guest, root: Path, build_dir: Path, tmp_path: Path):
    return lambda script, **how: pack(software, script, [], root, build_dir, tmp_path / f"guest{len(how)}", on_disk=True, **how)


def test_the_image_is_the_same_wherever_it_is_made(on_disk, tmp_path: Path) -> None:
    first = on_disk("exit 0").disk.read_bytes()
    subprocess.run(["rm", "-r", tmp_path / "guest0"], check=True)
    made = on_disk("exit 0")
    assert made.disk.read_bytes() == first and "27/1024 files" in checked(made.disk)
    assert in_image(made.disk, "/etc/rc.local") == b"exit 0"


def test_what_is_written_is_there_after_a_boot(on_disk, host: Path, tmp_path: Path) -> None:
    made = on_disk(in_two_boots(last="grep virtio /proc/interrupts"))
    (_, stats), _ = boot_twice(made, host, tmp_path)
    values = {(one["path"], one["name"]): one["value"] for one in stats["statistics"]}
    assert values["devices.drive[0]", "sectors_changed"] > 32768 and values["devices.virtio", "flushes"] > 0 and values["devices.virtio", "errors"] == values["devices.virtio", "failures"] == 0


def test_a_checkpoint_while_the_disk_is_written(on_disk, host: Path, tmp_path: Path) -> None:
    """What goes on from it is the straight run: console, statistics, and the disk."""
    made = on_disk(LITTLE)
    whole = on_host(made, host, tmp_path, "--disk_commit", "whole.ext4")
    assert whole[0] == 4
    checked(tmp_path / "whole.ext4")
    half = whole[2]["run"]["cycles"]["cpu_clk"] * 4 // 5
    begun = on_host(made, host, tmp_path, "--cycles", half, "--checkpoint", "point", "--disk_commit", "half.ext4")
    rest = on_host(None, host, tmp_path, "--restore", "point", "--disk_commit", "rest.ext4")
    assert rest[0] == 4 and begun[1] + rest[1] == whole[1] and rest[2]["statistics"] == whole[2]["statistics"]
    assert (tmp_path / "rest.ext4").read_bytes() == (tmp_path / "whole.ext4").read_bytes() != (tmp_path / "half.ext4").read_bytes()


@pytest.mark.parametrize("options", [[COHERENT], [CHECKED], [NIC], [NIC, COHERENT], [wide(), CHECKED], [wide(), NIC], *COHERENT_CHECKED], ids=" ".join)
def test_other_machines_do_the_same(on_disk, host: Path, root: Path, build_dir: Path, options: list[str], tmp_path: Path) -> None:
    """With other caches, each instruction compared, a card beside it, out of order: console and files of the plain one."""
    does_the_same(on_disk(LITTLE), host, build_host(root, build_dir, tmp_path / "other", DISK, *options), tmp_path)


@pytest.mark.parametrize("options", [[], [COHERENT], [COHERENT, LEVEL_2], [COHERENT, NIC], [COHERENT, wide(mshrs=8)], [COHERENT, *LARGE_WAYS], [COHERENT, "icache_line=64"]], ids=lambda options: " ".join(options) or "plain")
def test_kernels_need_not_know_that_caches_see_devices(on_disk, root: Path, build_dir: Path, options: list[str], tmp_path: Path) -> None:
    machine = build_host(root, build_dir, tmp_path / "host", DISK, *options)
    tells_the_same(on_disk(LITTLE), on_disk(LITTLE, dma_coherent=False), machine, tmp_path)
