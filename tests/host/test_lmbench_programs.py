"""The programs of the guest that measures the workstations, on the functional machine: each measures what it is asked for, and
refuses what it is not made for."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.linux_guest import guest, on_oracle, pack

CALLS = ["getpid", "read", "readfile", "write", "stat", "fstat", "open", "select10", "select60", "install", "handler", "pipe", "socket", "fork", "exec"]
# What is typed, and what comes back.
RUNS = {
    **{f"calls {name}": r"\d+\.\d{3} microseconds" for name in CALLS},
    "calls getppid": r"usage: calls NAME, one of( \w+)+",
    "latency memory 4096 64": "16384 loads",
    "latency memory 4096 100": "latency: SIZE must be a multiple of STRIDE, and that of a pointer",
    "latency memory many 64": "SIZE = many must be a number, at least 1",
    "switches 2 0": "64 switches",
    "switches 16 4096": "64 switches",
    "switches 1 0": "PROCESSES = 1 must be a number, at least 2",
    "switches 17 0": "switches: a ring has at most 16 processes",
    "transfer pipe 100000 4096": "100000 bytes",
    "transfer socket 100000 4096": "100000 bytes",
    "transfer file 100000 65536": "100000 bytes",
    "transfer open 1000 65536": "1000 bytes",
    "transfer disk 1000 1000": "transfer: disk is none of pipe, socket, file, open",
    **{f"bandwidth {way} 65536": "131072 bytes" for way in ("bcopy", "bzero", "copy", "read", "write", "conflict")},
    "bandwidth copy 2097152": "1048576 bytes",
    "bandwidth copy 100": "bandwidth: BYTES must be a multiple of 64",
    "files 20 10240": "20 files",
    "files 20 0": "20 files",
    "files 0 1": "COUNT = 0 must be a number, at least 1",
    "disk /etc/disk ahead 0 16 4": "4 requests",
    "disk /etc/disk ahead 0 16 99": "read: Success",
    "disk /etc/disk read 0 16 4": "/etc/disk: Invalid argument",
    "disk /etc/disk seek 0 0 4": "SPAN = 0 must be a number, at least 1",
    "disk /etc/disk write 0 1 1": "disk: write is none of seek, read, ahead",
    "disk /dev/none read 0 1 1": "/dev/none: No such file or directory",
}


def test_programs(root: Path, build_dir: Path, tmp_path: Path) -> None:
    if not shutil.which("mipsel-linux-gnu-gcc"):
        pytest.skip("there is no mipsel-linux-gnu-gcc (package gcc-mipsel-linux-gnu)")
    software, folder = guest(build_dir), root / "examples/host/latency"
    (tmp_path / "base").mkdir()
    subprocess.run([root / "firmware/linux/guest", folder, tmp_path / "base", software.vmlinux.parent, "", tmp_path / "made"], check=True)
    script = "head -c 100000 /dev/zero >/etc/disk\n" # which cannot be read past the cache of files
    script += "".join(f'echo "# {command}"; {command} 2>&1\n' for command in RUNS)
    packed = pack(software, script, sorted((tmp_path / "made/bin").iterdir()), root, build_dir, tmp_path / "guest")
    _, console = on_oracle(packed, build_dir)
    printed = dict(re.findall(r"^# (.*)\n(.*)\n", console.replace("\r", ""), re.MULTILINE))
    for command, expected in RUNS.items():
        assert re.fullmatch(expected, printed[command]), (command, printed[command])
