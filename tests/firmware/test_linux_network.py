"""Linux with its own driver of the Tigon-2 on examples/host: the card on the PCI bus, our firmware in it, and a station on its wire."""

import hashlib
import json
import re
import subprocess
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import dpkt
import pytest

from harness.firmware import tool
from harness.net import packets
from tests.hosts import CHECKED, COHERENT, NIC, wide
from tests.linux_guest import Guest, build_host, comparable, on_host, on_oracle, pack
from tests.modules.wire.stations import stream

pytestmark = [pytest.mark.soak, pytest.mark.optimised, pytest.mark.timeout(7200)]

STATION = "slots.card[0].station"
# Sends datagrams of given lengths to the station, which sends them back, and compares; the status says which was wrong.  As the first
# process it gives eth0 its address before, says the status, and switches off.
DATAGRAMS = r"""
static long call(long number, long first, const void *second, long third)
{
  register long v0 __asm__("$2") = number, a0 __asm__("$4") = first, a2 __asm__("$6") = third, a3 __asm__("$7");
  register const void *a1 __asm__("$5") = second;
  __asm__ volatile("syscall" : "+r"(v0), "=r"(a3) : "r"(a0), "r"(a1), "r"(a2) : "memory", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25");
  return a3 ? -1 : v0;
}
enum { EXIT = 4001, READ = 4003, WRITE = 4004, IOCTL = 4054, REBOOT = 4088, CONNECT = 4170, SOCKET = 4183, DATAGRAM = 1 };
enum { SET_FLAGS = 0x8914, SET_ADDRESS = 0x8916, SET_MASK = 0x891c, UP = 0x41, POWER_OFF = 0x4321fedc };
struct address { unsigned short family; unsigned char port[2], address[4]; char rest[8]; };
static struct address station = {2, {0, 7}, {10, 0, 0, 1}, {0}};
static struct { char name[16]; union { struct address address; unsigned short flags; } is; } device = {"eth0", {{0}}};
static unsigned char sent[1472], received[2048];
static long echo(void)
{
  const long to = call(SOCKET, 2, (void *)DATAGRAM, 0);
  unsigned number = 1;
#ifdef FIRST_PROCESS
  device.is.address = (struct address){2, {0, 0}, {10, 0, 0, 2}, {0}};
  if (call(IOCTL, to, (void *)SET_ADDRESS, (long)&device)) return 4;
  device.is.address = (struct address){2, {0, 0}, {255, 255, 255, 0}, {0}};
  if (call(IOCTL, to, (void *)SET_MASK, (long)&device)) return 5;
  device.is.flags = UP;
  if (call(IOCTL, to, (void *)SET_FLAGS, (long)&device)) return 6;
#endif
  if (call(CONNECT, to, &station, sizeof station)) return 255;
  for (long length = 18, n = 1; length <= 1472; length += n++ % 4 ? 1 : 118) {
    for (long k = 0; k < length; k++) sent[k] = (number = number * 1103515245 + 12345) >> 16;
    if (call(WRITE, to, sent, length) != length) return 1;
    if (call(READ, to, received, sizeof received) != length) return 2;
    for (long k = 0; k < length; k++)
      if (sent[k] != received[k]) return 3;
  }
  return 0;
}
void __start(void)
{
  const long status = echo();
#ifdef FIRST_PROCESS
  char text[] = "datagrams: 0\n";
  text[11] += status;
  call(WRITE, 1, text, 13);
  call(REBOOT, 0xfee1dead, (void *)672274793, POWER_OFF);
#endif
  call(EXIT, status, 0, 0);
}
"""
FLAGS = ["-mips32r2", "-mno-abicalls", "-fno-pic", "-static", "-nostdlib", "-fno-builtin", "-fuse-ld=lld", "-O2"]


def datagrams(directory: Path, *flags: str) -> Path:
    (directory / "datagrams.c").write_text(DATAGRAMS)
    subprocess.run([tool("clang"), *FLAGS, *flags, directory / "datagrams.c", "-o", directory / "datagrams"], check=True)
    return directory / "datagrams"


@pytest.fixture(scope="module")
def host(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_host(root, build_dir, tmp_path_factory.mktemp("host") / "host", NIC)


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
    assert value(stats, "slots.card[0].card.nic.registers", "unlisted") == 0
    assert on_host(software, host, tmp_path)[1] == console


@dataclass
class Ended:
    """A run from the prompt to the power switch."""

    status: int
    console: str
    stats: dict
    directory: Path

    def value(self, path: str, name: str) -> float:
        return value(self.stats, path, name)

    def wire(self) -> list[packets.Packet]:
        return list(packets.read(self.directory / "wire.pcap"))

    def check(self) -> None:
        """What must be so after any traffic: nothing dropped, no error counted, no interrupt that nobody caused."""
        [counters] = re.findall(r"^ *eth0: *([\d ]+)$", self.console, re.MULTILINE)
        received, sent = list(map(int, counters.split()))[:8], list(map(int, counters.split()))[8:]
        assert self.status == 7 and received[1] > 0 and sent[1] > 0, self.console
        assert received[2:6] == [0] * 4 and sent[2:] == [0] * 6, f"errors, drops, FIFO, frame or collisions: {counters}"
        assert "ERR:          0\n" in self.console
        assert not re.search(r"hw csum failure|[Ss]purious|nobody cared|Kernel panic|WATCHDOG", self.console)
        assert [self.value(STATION, f"dropped[{reason}]") for reason in range(11)] == [0] * 11


@dataclass
class Prompt:
    """A checkpoint of the booted machine, at a shell."""

    simulator: Path
    checkpoint: Path

    def run(self, directory: Path, command: str, *options: object, time: str = "20 s") -> Ended:
        directory.mkdir(exist_ok=True)
        last = "cat /proc/net/dev /proc/interrupts; devmem 0x1f000504 32 7; poweroff -f"
        (directory / "script").write_text(f'send "{command}\\n"\nwait "/ # "\nsend "{last}\\n"\n')
        given = ["--restore", self.checkpoint, "--console_script", "script", "--set", f"{STATION}.capture=wire.pcap", "--time", time, *options]
        return Ended(*on_host(None, self.simulator, directory, *given), directory)


@pytest.fixture(scope="module")
def prompt(software: Guest, host: Path, root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Prompt:
    directory = tmp_path_factory.mktemp("prompt")
    program = datagrams(directory, "--target=mipsel-linux-gnu")
    made = pack(software, "exec setsid cttyhack sh", [program], root, build_dir, directory)
    status, console, _ = on_host(made, host, directory, "--time", "480 ms", "--checkpoint", "point")
    assert status == 0 and "eth0 02:00:00:00:00:01 is up" in console and console.endswith("/ # \x1b[6n")
    return Prompt(host, directory / "point")


def ip_of(frame: bytes) -> dpkt.ip.IP | None:
    data = dpkt.ethernet.Ethernet(frame).data
    return data if isinstance(data, dpkt.ip.IP) else None


def tcp_stream(wire: list[packets.Packet], source: bytes) -> tuple[bytes, float]:
    """What went over a connection in one direction, in order and without gaps, and its megabits a second from SYN to FIN."""
    begins, ends, first, pieces, expected = 0, 0, None, [], 0
    for packet in wire:
        ip = ip_of(packet.data)
        if ip is None or ip.src != source or not isinstance(ip.data, dpkt.tcp.TCP):
            continue
        if ip.data.flags & dpkt.tcp.TH_SYN:
            begins, first = packet.time, ip.data.seq + 1
            continue
        data = ip.data.data[: ip.len - 4 * ip.hl - 4 * ip.data.off]
        if data:
            assert (ip.data.seq - first) % 2**32 == expected, "a segment was lost, or sent twice"
            pieces.append(bytes(data))
            expected, ends = expected + len(data), packet.time
    return b"".join(pieces), 8000 * expected / (ends - begins)


def md5(data: bytes) -> str:
    """What `md5sum` of the guest prints."""
    return f"\n{hashlib.md5(data).hexdigest()}  -"


def test_tcp_to_the_station(prompt: Prompt, tmp_path: Path) -> None:
    """10 MB of files: the guest's checksum of them is that of what was on the wire, and of what the station took."""
    files = "for i in 1 2 3 4; do cat /bin/busybox; done >/tmp/a; dd if=/bin/busybox bs=1000000 count=1 2>/dev/null >>/tmp/a"
    ran = prompt.run(tmp_path, f"{files}; md5sum </tmp/a; nc 10.0.0.1 5001 </tmp/a; grep -A1 Tcp: /proc/net/snmp")
    sent, rate = tcp_stream(ran.wire(), bytes([10, 0, 0, 2]))
    assert len(sent) > 10 * 2**20 and md5(sent) in ran.console
    assert (ran.value(STATION, "tcp_received"), ran.value(STATION, "tcp_received_crc")) == (len(sent), zlib.crc32(sent))
    assert ran.value(STATION, "tcp_ended") == 1 and ran.value(STATION, "tcp_out_of_order") == 0
    assert rate > 20, f"{rate} Mb/s"
    ran.check()


def test_tcp_from_the_station(prompt: Prompt, tmp_path: Path) -> None:
    """10 MB of the station's stream arrive: the guest's checksum is that of the stream."""
    settings = ["--set", f"{STATION}.tcp_send={10 * 2**20}", "--set", f"{STATION}.tcp_close=true"]
    ran = prompt.run(tmp_path, "nc 10.0.0.1 5001 </dev/null | md5sum", *settings)
    sent, rate = tcp_stream(ran.wire(), bytes([10, 0, 0, 1]))
    assert sent == stream(10 * 2**20) and md5(sent) in ran.console
    assert ran.value(STATION, "tcp_sent_crc") == zlib.crc32(sent) and ran.value(STATION, "tcp_retransmitted") == 0
    assert rate > 30, f"{rate} Mb/s"
    ran.check()


def test_the_link_goes_down_and_up(prompt: Prompt, tmp_path: Path) -> None:
    ran = prompt.run(tmp_path, "for i in 1 2 3 4 5 6 7 8 9 10; do ip link set eth0 down; ip link set eth0 up; ping -A -c 2 10.0.0.1 | grep loss; done")
    assert ran.console.count("2 packets transmitted, 2 packets received, 0% packet loss") == 10
    ran.check()


def test_a_hundred_echoes(prompt: Prompt, tmp_path: Path) -> None:
    ran = prompt.run(tmp_path, "ping -A -c 100 10.0.0.1")
    assert "100 packets transmitted, 100 packets received, 0% packet loss" in ran.console
    assert ran.value(STATION, "received[1]") == ran.value(STATION, "sent[1]") == 100
    ran.check()


def test_datagrams_come_back(prompt: Prompt, tmp_path: Path) -> None:
    """The guest compares what comes back; what came to the station and what it sent back are what its generator makes."""
    ran = prompt.run(tmp_path, 'datagrams; echo datagrams: $?; ping -c 2 -i 0.02 -s 1472 10.0.0.1 | grep loss')
    assert "datagrams: 0\n" in ran.console and "2 packets transmitted, 2 packets received" in ran.console
    number, expected, length, n = 1, [], 18, 1
    while length <= 1472:
        data = bytearray()
        for _ in range(length):
            number = (number * 1103515245 + 12345) % 2**32
            data.append(number >> 16 & 0xFF)
        expected.append(bytes(data))
        length, n = length + (1 if n % 4 else 118), n + 1
    seen = [(ip.src[3], bytes(ip.data.data)) for one in ran.wire() if (ip := ip_of(one.data)) and isinstance(ip.data, dpkt.udp.UDP)]
    for host_number in (2, 1):
        assert [data for source, data in seen if source == host_number] == expected
    assert {18, 1472} <= {len(data) for data in expected}
    ran.check()


def test_fifty_restores(prompt: Prompt, tmp_path: Path) -> None:
    """The rest of the run is the same each time: console, frames, statistics, and the state of the machine."""

    def rest(number: int) -> tuple:
        ran = prompt.run(tmp_path / str(number), "ping -c 1 10.0.0.1", "--state-hashes", "hashes", "--state-hash-every", 1_000_000)
        ran.check()
        hashes = (ran.directory / "hashes").read_text()
        assert len(hashes.splitlines()) > 5
        return ran.console, ran.stats["statistics"], hashes, (ran.directory / "wire.pcap").read_bytes()

    with ThreadPoolExecutor(2) as pool:
        first, *others = pool.map(rest, range(50))
    assert all(other == first for other in others)


def test_loops_of_a_card_beside_a_shell_that_waits(prompt: Prompt, tmp_path: Path) -> None:
    """Only the card's timer, every millisecond, comes between them: hardly anything of an idle second is stepped."""

    def waits(end: str, *options: str) -> tuple[int, dict, str]:
        directory = tmp_path / "-".join((end.replace(" ", ""), *options))
        directory.mkdir()
        given = ["--restore", prompt.checkpoint, "--time", end, "--state-hashes", "hashes", "--state-hash-every", 10_000_000, "--run-dir", "run"]
        status, _, stats = on_host(None, prompt.simulator, directory, *given, *options)
        assert status == 0
        timing = json.loads((directory / "run/timing.json").read_text())
        return timing["cycles_in_loops"], stats["statistics"], (directory / "hashes").read_text()

    assert waits("1480 ms")[0] > 190_000_000
    with_loops, without = waits("600 ms"), waits("600 ms", "--no-replay")
    assert with_loops[0] > 10_000_000 and without[0] == 0
    assert with_loops[1:] == without[1:]


@pytest.mark.parametrize("cards", [[], [NIC]], ids=["no card", "card"])
def test_a_big_endian_kernel(cards: list[str], root: Path, build_dir: Path, tmp_path: Path) -> None:
    """It boots as on the functional machine; with the card its driver turns descriptors, not frames, and datagrams come back."""
    made = Guest(build_dir / "linux/out-big/vmlinux", tmp_path / "initramfs.cpio", tmp_path / "host.dtb", big_endian=True)
    if not made.vmlinux.exists():
        pytest.skip(f"there is no {made.vmlinux}; `make linux ENDIAN=big` makes it")
    firmware = tmp_path / "lib/firmware/acenic/tg2.bin"
    firmware.parent.mkdir(parents=True)
    firmware.write_bytes((build_dir / "firmware/tigon2/tg2.bin").read_bytes())
    datagrams(tmp_path, "--target=mips-linux-gnu", "-DFIRST_PROCESS").rename(tmp_path / "init")
    names = "\n".join(["init", "lib", "lib/firmware", "lib/firmware/acenic", "lib/firmware/acenic/tg2.bin"])
    made.initramfs.write_bytes(subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=tmp_path, input=names.encode(), check=True, capture_output=True).stdout)
    subprocess.run([root / "firmware/linux/tree", build_dir / "gen/firmware/linux/host.dts", made.initramfs, made.tree], check=True)
    simulator = build_host(root, build_dir, tmp_path / "host", *cards, "big_endian=true")
    status, console, _ = on_host(made, simulator, tmp_path, "--time", "3 s")
    assert status == 0 and console.endswith("reboot: Power down\n")
    if cards:
        assert "Firmware up and running" in console and "\ndatagrams: 0\n" in console and "hw csum failure" not in console
    else:
        assert "\ndatagrams: 4\n" in console, "there is no eth0"
        assert comparable(console) == comparable(on_oracle(made, build_dir)[1])


@pytest.mark.parametrize("options", [[], [wide()], [COHERENT], [wide(), COHERENT], [wide(mshrs=8), COHERENT]], ids=lambda options: " ".join(options) or "in order")
def test_a_boot_with_the_card_in_lockstep(software: Guest, root: Path, build_dir: Path, tmp_path: Path, options: list[str]) -> None:
    """Every instruction is what the functional processor does, which is told where the card writes."""
    made = pack(software, "ping -A -c 10 10.0.0.1; nc 10.0.0.1 5001 </init >/tmp/a; md5sum </tmp/a", [], root, build_dir, tmp_path)
    simulator = build_host(root, build_dir, tmp_path / "host", NIC, CHECKED, *options)
    settings = ["--set", f"{STATION}.tcp_send=200000", "--set", f"{STATION}.tcp_close=true"]
    status, console, stats = on_host(made, simulator, tmp_path, *settings, "--time", "3 s")
    assert status == 0 and md5(stream(200000)) in console and "10 packets transmitted, 10 packets received" in console
    assert value(stats, "system.cpu.core", "compared") > 30_000_000 and value(stats, "system.cpu.core", "external") > 20_000


def test_coherent_caches(software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The card reads what is only in the data cache, and ends the copies of what it writes."""
    made = pack(software, 'datagrams; echo "datagrams: $?"; ping -A -c 10 10.0.0.1; nc 10.0.0.1 5001 </init >/tmp/a; md5sum </tmp/a', [datagrams(tmp_path, "--target=mipsel-linux-gnu")], root, build_dir, tmp_path)
    simulator = build_host(root, build_dir, tmp_path / "host", NIC, COHERENT)
    settings = ["--set", f"{STATION}.tcp_send=200000", "--set", f"{STATION}.tcp_close=true"]
    status, console, stats = on_host(made, simulator, tmp_path, *settings, "--time", "3 s")
    assert status == 0 and md5(stream(200000)) in console and "10 packets transmitted, 10 packets received" in console
    assert "datagrams: 0\n" in console and "hw csum failure" not in console
    assert value(stats, "system.cpu.dcache.controller", "supplied") > 1000 and value(stats, "system.cpu.dcache.controller", "invalidations") > 0
