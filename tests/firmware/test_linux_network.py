"""Linux with its own driver of the Tigon-2 on examples/host: the card on the PCI bus, our firmware in it, and a station on its wire."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.linux_guest import Guest, comparable, on_host, on_oracle

pytestmark = pytest.mark.soak

# Sends datagrams of given lengths to the station, which sends them back, and compares; the status says which was wrong.
DATAGRAMS = r"""
static long call(long number, long first, const void *second, long third)
{
  register long v0 __asm__("$2") = number, a0 __asm__("$4") = first, a2 __asm__("$6") = third, a3 __asm__("$7");
  register const void *a1 __asm__("$5") = second;
  __asm__ volatile("syscall" : "+r"(v0), "=r"(a3) : "r"(a0), "r"(a1), "r"(a2) : "memory", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25");
  return a3 ? -1 : v0;
}
enum { EXIT = 4001, READ = 4003, WRITE = 4004, CONNECT = 4170, SOCKET = 4183, DATAGRAM = 1, ECHO = 0x0700 };
static struct { unsigned short family, port; unsigned char address[4]; char rest[8]; } station = {2, ECHO, {10, 0, 0, 1}, {0}};
static unsigned char sent[1472], received[2048];
void __start(void)
{
  const long to = call(SOCKET, 2, (void *)DATAGRAM, 0);
  long status = call(CONNECT, to, &station, sizeof station) ? 255 : 0;
  unsigned number = 1;
  for (long length = 18, n = 1; length <= 1472 && !status; length += n++ % 4 ? 1 : 97) {
    for (long k = 0; k < length; k++) sent[k] = (number = number * 1103515245 + 12345) >> 16;
    status = call(WRITE, to, sent, length) != length ? 1 : call(READ, to, received, sizeof received) != length ? 2 : 0;
    for (long k = 0; k < length && !status; k++) status = sent[k] != received[k] ? 3 : 0;
  }
  call(EXIT, status, 0, 0);
}
"""
FLAGS = ["--target=mipsel-linux-gnu", "-mips32r2", "-mno-abicalls", "-fno-pic", "-static", "-nostdlib", "-fno-builtin", "-fuse-ld=lld", "-O2"]


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = tmp_path_factory.mktemp("host") / "host"
    options = ["-I", root / "examples/tigon2", "-D", "nic=true", "-o", simulator]
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/host/host.lss", *options], check=True)
    return simulator


def value(stats: dict, path: str, name: str) -> float:
    [found] = [one["value"] for one in stats["statistics"] if (one["path"], one["name"]) == (path, name)]
    return found


def test_the_driver_finds_the_card(software: Guest, host: Path, build_dir: Path, tmp_path: Path) -> None:
    """It reads the address from the EEPROM and starts the firmware; all else is as without a card. Twice the same."""
    status, console, stats = on_host(software, host, tmp_path)
    without = comparable(on_oracle(software, build_dir)[1]).splitlines()
    assert status == 0 and [line for line in comparable(console).splitlines() if line in without] == without
    assert re.search(r"pci 0000:00:01\.0: \[12ae:0001\] type 00 class 0x020000", console)
    assert re.search(r"MAC: 02:00:00:00:00:01", console) and "Firmware up and running" in console
    assert "init: eth0 02:00:00:00:00:01 is up as 10.0.0.2" in console
    assert value(stats, "card.nic.registers", "unlisted") == 0
    assert on_host(software, host, tmp_path)[1] == console


def test_datagrams_come_back(packed: Callable[..., Guest], host: Path, tmp_path: Path) -> None:
    """The driver writes mailboxes while the card writes frames: neither waits for the other for ever."""
    (tmp_path / "datagrams.c").write_text(DATAGRAMS)
    subprocess.run([tool("clang"), *FLAGS, tmp_path / "datagrams.c", "-o", tmp_path / "datagrams"], check=True)
    made = packed("datagrams; echo \"datagrams: $?\"\nping -c 2 -i 0.02 -s 1472 10.0.0.1 | grep transmitted\ngrep ERR /proc/interrupts", tmp_path / "datagrams")
    status, console, _ = on_host(made, host, tmp_path, "--time", "1 s")
    assert status == 0 and "datagrams: 0\n" in console and "2 packets transmitted, 2 packets received" in console
    assert "ERR:          0\n" in console and "hw csum failure" not in console
