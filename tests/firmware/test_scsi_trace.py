"""What Linux's am53c974 driver does to the adapter while it looks for disks, and which commands they get: on examples/host as on QEMU, which has the chip, too.

No machine of QEMU with a PCI bus boots the host machine's kernel, so QEMU's is Debian's for its `malta`; the driver is the same. Its disk is of a later standard,
refuses synchronous transfers, and has no tags: what is asked of such a disk alone is left out.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.hosts import SCSI, fast
from tests.linux_guest import Guest, build_host, on_host, pack

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(3600)]

PACKAGE = "linux-image-6.1.0-50-4kc-malta"
MODULES = "scsi_transport_spi", "esp_scsi", "am53c974"
INIT = f"""#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
for m in {" ".join(MODULES)}; do insmod /$m.ko; done
until [ -b /dev/sda ]; do sleep 1; done
sleep 3
poweroff -f
"""
TARGET, FIFO, COMMAND, DMA = 4, 2, 3, 16  # numbers of registers; those of the transfers to memory come behind the chip's
SELECT, SELECT_STOP, SELECT_3, TRANSFER = 0x42, 0x43, 0x46, 0x10
INQUIRY, REQUEST_SENSE, MODE_SENSE, READ, REPORT_LUNS, MAINTENANCE = 0x12, 0x03, 0x1A, 0x28, 0xA0, 0xA3
SYNCHRONOUS = bytes([0x01, 0x03, 0x01, 0x19, 0x0F])  # a message: 100 ns, offset 15
# What a disk is asked until a sector is read: who it is, four times of these to see whether data come through; that it was reset; its size, its write protection,
# and the length and contents of its page on the cache, twice.
FOUND = "12 12 12 12 12 12 12 12 00 03 00 25 1a3f 1a08 1a08 00 25 1a3f 1a08 1a08 28"

Access = tuple[int, int, bool]  # number of the register, value, whether it is written


def run(*command: object, **how: object) -> str:
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True, **how).stdout


@pytest.fixture(scope="module")
def on_qemu(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    """The accesses of Debian's kernel on QEMU."""
    if not shutil.which("qemu-system-mipsel"):
        pytest.skip("there is no qemu-system-mipsel (package qemu-system-mips)")
    directory, fetch = tmp_path_factory.mktemp("malta"), root / "firmware/linux/fetch"
    got = subprocess.run([fetch, PACKAGE, build_dir / "downloads"], capture_output=True, text=True)
    if got.returncode:
        pytest.skip(got.stderr.strip())
    run("dpkg-deb", "-x", got.stdout.strip(), directory / "kernel")
    run("dpkg-deb", "-x", run(fetch, "busybox-static", build_dir / "downloads").strip(), directory / "busybox")
    files = directory / "files"
    for folder in "bin", "dev", "proc":
        (files / folder).mkdir(parents=True)
    shutil.copy(directory / "busybox/bin/busybox", files / "bin/busybox")
    (files / "bin/sh").symlink_to("busybox")
    for name in MODULES:
        [module] = (directory / "kernel").glob(f"lib/modules/*/kernel/drivers/scsi/{name}.ko")
        shutil.copy(module, files)
    (files / "init").write_text(INIT)
    (files / "init").chmod(0o755)
    names = "".join(f"{path.relative_to(files)}\n" for path in sorted(files.rglob("*")))
    with open(directory / "initramfs", "wb") as initramfs:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=files, input=names.encode(), stdout=initramfs, check=True)
    (directory / "disk").write_bytes(bytes(64 << 20))
    [kernel] = (directory / "kernel").glob("boot/vmlinuz-*")
    command = ["qemu-system-mipsel", "-M", "malta", "-m", "256", "-no-reboot", "-nic", "none", "-vga", "none", "-display", "none", "-monitor", "none", "-serial", "stdio"]
    command += ["-kernel", kernel, "-initrd", directory / "initramfs", "-append", "console=ttyS0 rdinit=/init"]
    command += ["-device", "am53c974,id=scsi", "-drive", f"file={directory / 'disk'},if=none,id=disk,format=raw", "-device", "scsi-hd,drive=disk,bus=scsi.0,scsi-id=0"]
    command += ["-trace", "esp_mem_*", "-trace", "esp_pci_dma_*", "-D", directory / "trace"]
    console = run(*command, stdin=subprocess.DEVNULL, timeout=1200)
    assert "[sda] Attached SCSI disk" in console, console[-2000:]
    found: list[Access] = []
    for line in (directory / "trace").read_text().splitlines():
        if match := re.match(r"esp_(mem|pci_dma)_(?:read|write)b? reg\[(\d+)\]: 0x([0-9a-f]+)(?: -> 0x([0-9a-f]+))?$", line):
            number = int(match[2]) + (DMA if match[1] == "pci_dma" else 0)
            found.append((number, int(match[4] or match[3], 16), match[4] is not None))
    return found


@pytest.fixture(scope="module")
def on_model(software: Guest, root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    """Those of the host machine's kernel there, on the fast core: they are the same on the other one."""
    directory = tmp_path_factory.mktemp("host")
    machine = build_host(root, build_dir, directory / "host", *fast([SCSI]), recorded="slots.card[0].adapter.access")
    record = ["--record", "trace", "--record-events", "slots.card[0].adapter.access"]
    made = pack(software, "exit 0", [], root, build_dir, directory)
    status, console, _ = on_host(made, machine, directory, "--switch_at", "end", *record)
    assert status == 0 and "[sda] Attached SCSI disk" in console
    lines = run(build_dir / "bin/lss", "trace", "--json", directory / "trace").splitlines()[1:]
    return [tuple(json.loads(line)["arguments"][name] for name in ("number", "value", "write")) for line in lines]


def commands(accesses: list[Access]) -> tuple[list[bytes], list[bytes]]:
    """The commands that unit 0 of disk 0 gets, and the messages in front of them, from what is put into the FIFO before it is sent."""
    target, unit, fifo, messages, found, told = 0, 0, b"", False, [], []
    for number, value, write in accesses:
        if not write:
            continue
        if number == TARGET:
            target = value & 7
        elif number == FIFO:
            fifo += bytes([value])
        elif number == COMMAND:
            sent, fifo = fifo, b""
            if value in (SELECT, SELECT_STOP, SELECT_3):
                unit, messages = sent[0] & 7, value == SELECT_STOP
                sent = sent[3:] if value == SELECT_3 else sent[1:]
            elif value != TRANSFER:
                continue
            elif messages and sent:
                told.append(sent)
                messages, sent = False, b""
            if sent and (target, unit) == (0, 0):
                found.append(sent)
    return found, told


def first_seen(found: list[bytes]) -> list[str]:
    """Commands up to the first that reads a sector, without what only a disk of a later standard is asked, and how it refused that."""
    words, refused = [], False
    for command in found:
        later = command[0] in (REPORT_LUNS, MAINTENANCE) or (command[0] == INQUIRY and command[1] & 1)
        if later or (refused and command[0] == REQUEST_SENSE):
            refused = command[0] == MAINTENANCE
            continue
        words.append(f"{command[0]:02x}" + (f"{command[2]:02x}" if command[0] == MODE_SENSE else ""))
        if command[0] == READ:
            break
    return words


def test_the_driver_finds_the_same_chip(on_qemu: list[Access], on_model: list[Access]) -> None:
    """Up to the first command, each access, in order, and what is read."""
    begun = []
    for accesses in on_qemu, on_model:
        selection = next(k for k, (number, value, write) in enumerate(accesses) if write and number == COMMAND and value == SELECT)
        begun.append(accesses[: selection + 1])
    assert begun[0] == begun[1] and len(begun[1]) > 30


def test_the_disk_gets_the_same_commands(on_qemu: list[Access], on_model: list[Access]) -> None:
    """And the same proposal for synchronous transfers; here behind the tag of its command."""
    (theirs, told_theirs), (ours, told_ours) = commands(on_qemu), commands(on_model)
    assert first_seen(theirs) == first_seen(ours) == FOUND.split()
    assert set(told_theirs) == {SYNCHRONOUS} and {one[2:] for one in told_ours} == {SYNCHRONOUS}
