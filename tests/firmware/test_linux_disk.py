"""The host machine's Linux with its files on a disk: what it writes is there after a boot, the image is whole, and nobody's file is touched."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from tests.linux_guest import Guest, on_host, pack

pytestmark = [pytest.mark.soak, pytest.mark.optimised]

# The first boot writes 16 MB and notes their sum, the second looks whether they are what was noted.
SCRIPT = """
mount | grep ' / '
if [ -e /sum ]; then
  md5sum -c /sum || exit 1
  rm /large
else
  for k in 1 2 3 4 5 6 7 8; do echo "$k"; cat /bin/busybox; done >/large
  truncate -s 16777216 /large
  md5sum /large >/sum
  cat /sum
fi
sync
grep virtio /proc/interrupts
exit 3
"""


def build(root: Path, build_dir: Path, directory: Path, *options: str) -> Path:
    simulator = directory / "host"
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/host/host.lss", "-I", root / "examples/tigon2", "-D", "disk=true", *options, "-o", simulator], check=True)
    return simulator


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(root, build_dir, tmp_path_factory.mktemp("host"))


@pytest.fixture
def on_disk(software: Guest, root: Path, build_dir: Path, tmp_path: Path):
    return lambda script: pack(software, script, [], root, build_dir, tmp_path, on_disk=True)


def checked(image: Path) -> str:
    """What e2fsck says of an image, in which it must find nothing to mend."""
    done = subprocess.run(["/usr/sbin/e2fsck", "-f", "-n", image], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def in_image(image: Path, file: str) -> bytes:
    return subprocess.run(["/usr/sbin/debugfs", "-R", f"cat {file}", image], capture_output=True, check=True).stdout


def test_the_image_is_the_same_wherever_it_is_made(on_disk, tmp_path: Path) -> None:
    first = on_disk("exit 0").disk.read_bytes()
    subprocess.run(["rm", "-r", tmp_path / "overlay"], check=True)
    made = on_disk("exit 0")
    assert made.disk.read_bytes() == first and "27/1024 files" in checked(made.disk)
    assert in_image(made.disk, "/etc/rc.local") == b"exit 0"


def test_what_is_written_is_there_after_a_boot(on_disk, host: Path, tmp_path: Path) -> None:
    made = on_disk(SCRIPT)
    held = made.disk.read_bytes()
    status, console, stats = on_host(made, host, tmp_path, "--disk_commit", "first.ext4")
    assert status == 3 and "/dev/root on / type ext4 (rw" in console and console.endswith("reboot: Power down\n")
    assert made.disk.read_bytes() == held and "Backtrace" not in console
    values = {(one["path"], one["name"]): one["value"] for one in stats["statistics"]}
    assert values["drive", "sectors_changed"] > 32768 and values["virtio", "flushes"] > 0 and values["virtio", "errors"] == values["virtio", "failures"] == 0
    checked(tmp_path / "first.ext4")
    large = in_image(tmp_path / "first.ext4", "/large")
    assert len(large) == 16 << 20 and f"{hashlib.md5(large).hexdigest()}  /large\n" == in_image(tmp_path / "first.ext4", "/sum").decode()
    made.disk = tmp_path / "first.ext4"
    status, console, _ = on_host(made, host, tmp_path, "--disk_commit", "second.ext4")
    assert status == 3 and "/large: OK\n" in console and "recover" not in console
    checked(tmp_path / "second.ext4")


LITTLE = "mount | grep ' / '\nfor k in 1 2 3; do head -c ${k}00000 /bin/busybox >/file$k; done\nmd5sum /file*\nexit 4\n"


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


def said(console: str) -> list[str]:
    """What programs print, but for the network."""
    lines = console[console.index("init: Linux") :].splitlines()
    return [line for line in lines if not line.startswith(("[", "init: eth0"))]


@pytest.mark.parametrize("options", [["coherent=true"], ["lockstep=true"], ["nic=true"], ["nic=true", "coherent=true"]], ids=" ".join)
def test_other_machines_do_the_same(on_disk, host: Path, root: Path, build_dir: Path, options: list[str], tmp_path: Path) -> None:
    """With other caches, each instruction compared, and a card beside it: console and files of the plain one."""
    made = on_disk(LITTLE)
    status, plain, _ = on_host(made, host, tmp_path, "--disk_commit", "plain.ext4")
    other = build(root, build_dir, tmp_path, *(word for option in options for word in ("-D", option)))
    done = on_host(made, other, tmp_path, "--disk_commit", "other.ext4", timeout=1500)
    assert (done[0], status) == (4, 4) and said(done[1]) == said(plain) and len(said(plain)) == 6
    for k in (1, 2, 3):
        assert in_image(tmp_path / "other.ext4", f"/file{k}") == in_image(tmp_path / "plain.ext4", f"/file{k}") != b""
    checked(tmp_path / "other.ext4")
