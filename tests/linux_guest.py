"""The software of the host machine, where `make linux` leaves it, on the functional machine and on QEMU's with the same
addresses; and what of a console has to agree between machines.

QEMU takes the device tree from the kernel's own section, which is exchanged in a copy, and the initramfs from its loader,
which puts it where the tree says.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.firmware import tool

INITRAMFS_AT = 0x02000000  # linux,initrd-start of the device tree, as a physical address
# What one machine has and the other has not, or has otherwise: caches, debug hardware, the clock, what is on the PCI bus;
# how often each interrupt came.
OWN = re.compile(
    r"Primary (instruction|data) cache|hardware watchpoint|ASEs implemented|Options implemented"
    r"|rtc-ds1742|rtc rtc0|pci 0000:|pci_bus 0000:|acenic|eth0|0000:00:"
    r"|^ *\d+: +\d+ +MIPS +\d+ "
)


# The page of a device tree that is in RAM and not, as for QEMU, in the kernel.
TREE_PAGE = re.compile(r"(?<=Memory: )\d+K|\d+K(?= reserved)")


@dataclass
class Guest:
    """Kernel, initramfs and device tree."""

    vmlinux: Path
    initramfs: Path
    tree: Path
    big_endian: bool = False
    disk: Path | None = None  # image of the files, if they are not an initramfs
    drive: str = "vda"  # the disk that has it

    @property
    def options(self) -> list[object]:
        """What examples/host is given to boot it."""
        image = ["--disk_image", self.disk] if self.drive == "vda" else ["--set", f"slots.card[0].image={self.disk}"]
        files = image if self.disk else ["--initramfs", self.initramfs]
        return ["--kernel", self.vmlinux, "--dtb", self.tree, *files]


def guest(build: Path, vpes: bool = False) -> Guest:
    """What `make linux` has made, or `make linux VPES=true`; a test that wants it is skipped where it is absent."""
    out = build / "linux" / ("out-vpes" if vpes else "out")
    found = Guest(out / "vmlinux", out / "initramfs.cpio", out / "host.dtb")
    for file in (found.vmlinux, found.initramfs, found.tree):
        if not file.exists():
            pytest.skip(f"there is no {file}; `make linux{' VPES=true' * vpes}` makes it")
    return found


def pack(
    software: Guest, script: str, programs: Iterable[Path], root: Path, build: Path, directory: Path, on_disk: bool = False, drive: str = "vda", dma_coherent: bool = True
) -> Guest:  # fmt: skip
    """The software with a script to run and programs of one's own, in an initramfs or on a disk; without `dma_coherent` a kernel that keeps its caches right
    beside devices."""

    def run(*command: str | Path) -> str:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    directory.mkdir(exist_ok=True)
    overlay, made = directory / "overlay", Guest(software.vmlinux, directory / "initramfs.cpio", directory / "host.dtb")
    files = made.initramfs
    if on_disk:
        made.disk = files = directory / "root.ext4"
        made.drive = drive
    (overlay / "etc").mkdir(parents=True)
    (overlay / "etc/rc.local").write_text(script)
    (overlay / "bin").mkdir()
    for program in programs:
        shutil.copy(program, overlay / "bin")
    steps = root / "firmware/linux"
    busybox = run(steps / "fetch", "busybox-static", build / "downloads")
    run(steps / ("disk" if on_disk else "initramfs"), busybox, build / "firmware/tigon2/tg2.bin", overlay, files)
    source = directory / "host.dts"
    text = (build / "gen/firmware/linux/host.dts").read_text()
    source.write_text(text if dma_coherent else text.replace("dma-coherent;", ""))
    run(steps / "tree", source, "" if on_disk else files, made.tree, drive)
    return made


def on_qemu(guest: Guest, directory: Path, timeout: float = 300) -> tuple[int, str]:
    """Exit status and console of a boot on QEMU, in which every instruction takes 8 ns and nothing else passes time."""
    if not shutil.which("qemu-system-mipsel"):
        pytest.skip("there is no qemu-system-mipsel (package qemu-system-mips)")
    done = subprocess.run(qemu_command(guest, directory), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def qemu_command(guest: Guest, directory: Path) -> list:
    """How QEMU boots a guest; the kernel with its tree is made in the directory."""
    kernel = directory / "vmlinux.qemu"
    subprocess.run([tool("llvm-objcopy"), "--update-section", f".appended_dtb={guest.tree}", guest.vmlinux, kernel], check=True)
    command = ["qemu-system-mipsel", "-M", "malta", "-cpu", "4KEc", "-m", "64", "-no-reboot", "-icount", "shift=3,sleep=off"]
    command += ["-nic", "none", "-vga", "none", "-display", "none", "-monitor", "none"]
    command += ["-serial", "null", "-serial", "null", "-serial", "stdio", "-kernel", kernel]  # the third is the guest's
    return [*command, "-device", f"loader,file={guest.initramfs},addr={INITRAMFS_AT:#x},force-raw=on"]


def on_oracle(guest: Guest, build: Path, *options: str, timeout: float = 300) -> tuple[int, str]:
    """Exit status and console of a boot on the functional machine."""
    command = [build / "bin/mips-oracle", "--system", *(["--big-endian"] if guest.big_endian else []), *options]
    command += ["--dtb", guest.tree, "--initramfs", guest.initramfs, guest.vmlinux]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def build_host(root: Path, build: Path, simulator: Path, *defines: str, recorded: str = "") -> Path:
    """The simulator of examples/host with these parameters, such as "cards=[tigon2_slot]", and events that may be `recorded`."""
    options = ["-I", root / "examples/tigon2", *(word for one in defines for word in ("-D", one)), "-o", simulator]
    options += ["--record", recorded] if recorded else []
    subprocess.run([build / "bin/lss", "build", root / "examples/host/host.lss", *options], check=True)
    return simulator


def on_host(guest: Guest | None, simulator: Path, directory: Path, *options: object) -> tuple[int, str, dict]:
    """Exit status, console and statistics of a boot on examples/host.  What bounds it is simulated time, which does not depend on who else is at work."""
    files = guest.options if guest and "--restore" not in options else []
    bound = [] if "--time" in options or "--cycles" in options else ["--time", "60 s"]
    command = [simulator, "--quiet", "--console_output", "console", "--stats", "stats.json", *files, *options, *bound]
    done = subprocess.run(list(map(str, command)), cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (directory / "stats.json").exists(), done.stderr[-4000:]
    return done.returncode, (directory / "console").read_text(errors="replace"), json.loads((directory / "stats.json").read_text())


def comparable(console: str) -> str:
    """A console without times and without what machines may have otherwise."""
    lines = (re.sub(r"^\[ *\d+\.\d+\] ", "", line.rstrip()) for line in console.splitlines())
    return "".join(TREE_PAGE.sub("…", line) + "\n" for line in lines if not OWN.search(line))
