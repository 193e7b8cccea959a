"""The host machine's Linux with its files on a SCSI disk: the kernel's own driver of the adapter, tags, disconnecting, and what is on the disk afterwards."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.firmware.test_linux_disk import checked, in_image
from tests.linux_guest import Guest, on_host, pack

pytestmark = [pytest.mark.soak, pytest.mark.optimised]

# The first boot writes 16 MB and notes their sum, the second looks whether they are what was noted; readers of their own are at work at once, so that tags wait.
SCRIPT = """
mount | grep ' / '
dmesg | grep -E 'scsi|sd 0|esp'
cat /sys/block/sda/device/queue_type /sys/block/sda/device/queue_depth
if [ -e /sum ]; then
  for k in 1 5 9 13; do dd if=/dev/sda of=/dev/null bs=64k skip=$((k * 32)) count=8 2>/dev/null & done
  wait
  md5sum -c /sum || exit 1
  rm /large
else
  for k in 1 2 3 4 5 6 7 8; do echo "$k"; cat /bin/busybox; done >/large
  truncate -s 16777216 /large
  md5sum /large >/sum
  cat /sum
fi
sync
dd if=/dev/sda of=/dev/null bs=64k count=64 2>&1 | grep records
cat /proc/interrupts
exit 3
"""


def build(root: Path, build_dir: Path, directory: Path, *options: str) -> Path:
    simulator = directory / "host"
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/host/host.lss", "-I", root / "examples/tigon2", *options, "-o", simulator], check=True)
    return simulator


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(root, build_dir, tmp_path_factory.mktemp("host"), "-D", "scsi=2")


@pytest.fixture
def on_disk(software: Guest, root: Path, build_dir: Path, tmp_path: Path):
    return lambda script: pack(software, script, [], root, build_dir, tmp_path, on_disk=True, drive="sda")


def counted(stats: dict, instance: str) -> dict[str, int]:
    return {one["name"]: one["value"] for one in stats["statistics"] if one["path"] == instance}


def test_what_is_written_is_there_after_a_boot(on_disk, host: Path, tmp_path: Path) -> None:
    made = on_disk(SCRIPT)
    held = made.disk.read_bytes()
    status, console, stats = on_host(made, host, tmp_path, "--scsi_commit", "first.ext4", timeout=1800)
    assert status == 3 and "/dev/root on / type ext4 (rw" in console and console.endswith("reboot: Power down\n"), console[-3000:]
    assert made.disk.read_bytes() == held and "Backtrace" not in console
    assert "is a AM53C974, 40 MHz (ccf=0), SCSI ID 7" in console and "FAST-10 SCSI 10.0 MB/s ST (100 ns, offset 15)" in console
    assert "[sda] Attached SCSI disk" in console and "[sdb] Attached SCSI disk" in console
    assert re.search(r"^simple\n7$", console, re.MULTILINE) and re.search(r"^64\+0 records in$", console, re.MULTILINE)
    assert not re.search(r"DMA error|resetting|Unexpected|Spurious|I/O error|timeout|Aborting|nobody cared", console) and "ERR:          0" in console
    disk, adapter = counted(stats, "scsi_disk[0]"), counted(stats, "scsi_adapter")
    assert disk["tagged"] > 100 and disk["disconnects"] > 100 and adapter["reselections"] >= disk["disconnects"] and adapter["errors"] == 0
    assert adapter["timeouts"] == 5 and disk["full"] == disk["aborts"] == 0 and counted(stats, "scsi_contents[0]")["sectors_changed"] > 32768
    checked(tmp_path / "first.ext4")
    large = in_image(tmp_path / "first.ext4", "/large")
    assert len(large) == 16 << 20 and f"{hashlib.md5(large).hexdigest()}  /large\n" == in_image(tmp_path / "first.ext4", "/sum").decode()
    made.disk = tmp_path / "first.ext4"
    status, console, stats = on_host(made, host, tmp_path, "--scsi_commit", "second.ext4", timeout=1800)
    assert status == 3 and "/large: OK\n" in console and "recover" not in console, console[-3000:]
    checked(tmp_path / "second.ext4")


LITTLE = "mount | grep ' / '\nfor k in 1 2 3; do head -c ${k}00000 /bin/busybox >/file$k; done\nmd5sum /file*\nexit 4\n"


def said(console: str) -> list[str]:
    """What programs print, but for the network."""
    lines = console[console.index("init: Linux") :].splitlines()
    return [line for line in lines if not line.startswith(("[", "init: eth0"))]


@pytest.mark.parametrize("options", [["coherent=true"], ["nic=true"]], ids=" ".join)
def test_other_machines_do_the_same(on_disk, host: Path, root: Path, build_dir: Path, options: list[str], tmp_path: Path) -> None:
    """With other caches, or a card beside it on the PCI bus: console and files of the plain one."""
    made = on_disk(LITTLE)
    status, plain, _ = on_host(made, host, tmp_path, "--scsi_commit", "plain.ext4", timeout=1800)
    other = build(root, build_dir, tmp_path, "-D", "scsi=1", *(word for option in options for word in ("-D", option)))
    done = on_host(made, other, tmp_path, "--scsi_commit", "other.ext4", timeout=1800)
    assert (done[0], status) == (4, 4) and said(done[1]) == said(plain) and len(said(plain)) == 6
    for k in (1, 2, 3):
        assert in_image(tmp_path / "other.ext4", f"/file{k}") == in_image(tmp_path / "plain.ext4", f"/file{k}") != b""
    checked(tmp_path / "other.ext4")
