"""The host machine's software on QEMU: it boots, does what it is told, ends the machine, and says the same each time."""

import subprocess
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.linux_guest import Guest, guest, on_qemu

pytestmark = pytest.mark.soak

HELLO = r"""
static void call(long number, long first, const void *second, long third)
{
  register long v0 __asm__("$2") = number, a0 __asm__("$4") = first, a2 __asm__("$6") = third;
  register const void *a1 __asm__("$5") = second;
  __asm__ volatile("syscall" : "+r"(v0) : "r"(a0), "r"(a1), "r"(a2) : "memory", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25");
}
void __start(void)
{
  call(4004, 1, "hello from C\n", 13);
  call(4001, 7, 0, 0);
}
"""
FLAGS = ["--target=mipsel-linux-gnu", "-mips32r2", "-mno-abicalls", "-fno-pic", "-static", "-nostdlib", "-fuse-ld=lld", "-O2"]


@pytest.fixture
def software(build_dir: Path) -> Guest:
    return guest(build_dir)


def test_boot_on_qemu(software: Guest, tmp_path: Path) -> None:
    """It prints, runs the script and switches off; the console is the same twice, times included."""
    status, console = on_qemu(software, tmp_path)
    assert status == 0
    lines = console.splitlines()
    assert "Linux version 6.1" in lines[0] and lines[-1].endswith("reboot: Power down")
    assert "init: /etc/rc.local ended with status 0" in lines and "system type\t\t: spinach-host" in lines
    assert not [line for line in lines if "not found" in line or "Kernel panic" in line]
    assert on_qemu(software, tmp_path) == (0, console)


def test_own_program_in_the_initramfs(software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    overlay, made = tmp_path / "overlay", Guest(software.vmlinux, tmp_path / "initramfs.cpio", tmp_path / "host.dtb")
    (overlay / "etc").mkdir(parents=True)
    (overlay / "bin").mkdir()
    (tmp_path / "hello.c").write_text(HELLO)
    (overlay / "etc/rc.local").write_text("hello")

    def run(*command: str | Path) -> str:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    run(tool("clang"), *FLAGS, tmp_path / "hello.c", "-o", overlay / "bin/hello")
    steps = root / "firmware/linux"
    busybox = run(steps / "fetch", "busybox-static", build_dir / "downloads")
    run(steps / "initramfs", busybox, build_dir / "firmware/tigon2/tg2.bin", overlay, made.initramfs)
    run(steps / "tree", made.initramfs, made.tree)
    status, console = on_qemu(made, tmp_path)
    assert status == 0 and "\nhello from C\ninit: /etc/rc.local ended with status 7\n" in console
