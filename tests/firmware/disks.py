"""Linux with its files on a disk of examples/host: what the tests of both disks have it do there, and what must be on the disk afterwards."""

import hashlib
import subprocess
from pathlib import Path

from tests.hosts import commit
from tests.linux_guest import Guest, comparable, on_host

# Writes some files and tells their sums.
LITTLE = "mount | grep ' / '\nfor k in 1 2 3; do head -c ${k}00000 /bin/busybox >/file$k; done\nmd5sum /file*\nexit 4\n"


def in_two_boots(first: str = "", readers: str = "", last: str = "") -> str:
    """What a guest does that is booted twice: the first time it writes 16 MB and notes their sum, the second time it looks whether they are what was noted,
    while `readers` are at work; `first` comes before that, `last` behind it."""
    return f"""
mount | grep ' / '
{first}
if [ -e /sum ]; then
  {readers}
  md5sum -c /sum || exit 1
  rm /large
else
  for k in 1 2 3 4 5 6 7 8; do echo "$k"; cat /bin/busybox; done >/large
  truncate -s 16777216 /large
  md5sum /large >/sum
  cat /sum
fi
sync
{last}
exit 3
"""


def checked(image: Path) -> str:
    """What e2fsck says of an image, in which it must find nothing to mend."""
    done = subprocess.run(["/usr/sbin/e2fsck", "-f", "-n", image], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def in_image(image: Path, file: str) -> bytes:
    return subprocess.run(["/usr/sbin/debugfs", "-R", f"cat {file}", image], capture_output=True, check=True).stdout


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


def boot(made: Guest, host: Path, directory: Path, after: str) -> tuple[int, str, dict]:
    """A boot whose disk is written to a file at the end, on which the file system must be whole; the image that it began with stays as it was."""
    assert made.disk
    before, changed = md5(made.disk.read_bytes()), made.disk.stat().st_mtime_ns
    done = on_host(made, host, directory, *commit(made.drive, after))
    assert (md5(made.disk.read_bytes()), made.disk.stat().st_mtime_ns) == (before, changed)
    assert "Backtrace" not in done[1]
    checked(directory / after)
    return done


def boot_twice(made: Guest, host: Path, directory: Path) -> list[tuple[str, dict]]:
    """Boots a guest `in_two_boots`, the second time with the disk as the first one left it; consoles and statistics."""
    first = boot(made, host, directory, "first.ext4")
    assert first[0] == 3 and "/dev/root on / type ext4 (rw" in first[1] and first[1].endswith("reboot: Power down\n"), first[1][-3000:]
    large = in_image(directory / "first.ext4", "/large")
    assert len(large) == 16 << 20 and f"{md5(large)}  /large\n" == in_image(directory / "first.ext4", "/sum").decode()
    made.disk = directory / "first.ext4"
    second = boot(made, host, directory, "second.ext4")
    assert second[0] == 3 and "/large: OK\n" in second[1] and "recover" not in second[1], second[1][-3000:]
    return [first[1:], second[1:]]


def said(console: str) -> list[str]:
    """What programs print, but for the network."""
    lines = console[console.index("init: Linux") :].splitlines()
    return [line for line in lines if not line.startswith(("[", "init: eth0"))]


def does_the_same(made: Guest, host: Path, other: Path, directory: Path) -> None:
    """A guest that runs LITTLE tells the same on two machines, and writes the same files."""
    plain, done = boot(made, host, directory, "plain.ext4"), boot(made, other, directory, "other.ext4")
    assert (done[0], plain[0]) == (4, 4) and said(done[1]) == said(plain[1]) and len(said(plain[1])) == 6
    for k in (1, 2, 3):
        assert in_image(directory / "other.ext4", f"/file{k}") == in_image(directory / "plain.ext4", f"/file{k}") != b""


def tells_the_same(made: Guest, alone: Guest, host: Path, directory: Path) -> None:
    """A machine tells the same, times left out, whether its kernel believes that caches see what devices do or, `alone`, takes care of that itself, which
    costs time; and what is on the disk is the same."""
    told, kept = boot(made, host, directory, "coherent.ext4"), boot(alone, host, directory, "alone.ext4")
    assert told[0] == kept[0] == 4 and comparable(told[1]) == comparable(kept[1])
    assert told[2]["run"]["cycles"] != kept[2]["run"]["cycles"]
    for k in (1, 2, 3):
        assert in_image(directory / "alone.ext4", f"/file{k}") == in_image(directory / "coherent.ext4", f"/file{k}") != b""
