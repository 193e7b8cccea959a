"""What Linux's acenic driver does to the card's registers, in order, and what it finds there: recorded on examples/host, and compared
with the driver's source, register by register."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.hosts import NIC
from tests.linux_guest import Guest, on_host

pytestmark = [pytest.mark.soak, pytest.mark.timeout(7200)]

# OFFSET=VALUE is a write, OFFSET:VALUE a read, hexadecimal; cXX of the PCI header.  Of the serial EEPROM's pins only that they are
# used, of the window how many zeros are written and what comes then.  `info`: where the driver has its information block.
START = """
c04=400 c04=0 c3c=3 c04=2 c04=6 c0d=40 c0d=40
40=8000008 40:60000000 40=22000022 40:60000020 140:10000 140=10000 140:10000 504=0 40:60000020 240:10000 240=10000 240:10000
44=200 50=100000 618=4000021c 618:4000021c eeprom 600=200 604=1 c0c=20 5c:80000 5c=760a0000
140:10000 zeros=1f800 image
608=0 60c=info 628=0 commands=0 50c=0 62c=0 68=3800 61c=80 620=80 664=0 65c=1 638=1e8480 644=0
634=190 63c=3c 630=78 640=19 624=15 648=70af0000 64c=70af0000
144=4000 504=0 514=0 680=0 11c=1 140:10000 140=0 140:0
40:60000021 504=0 504:0 628:0 628=1 51c=48 52c=40
660=5ee 50c:0 700=f000000 50c=1 50c:1 704=1001000 50c=2 50c:2 708=e002000 50c=3
40:60000021 504=0 504:0 628:1 668:70af0000 628=2 50c:3 70c=e001000 50c=4
"""
# Rings as the driver describes them in the information block, as words: address (4096: of a ring), flags and length.
INFO = [(0, 4096, 0), (0, 0x100, 0), (0, 4096, 0x01000079), (0, 4096, 0x05EE0019), (0, 4096, 0x00000019), (0, 4096, 0x00640019), (0, 4096, 0x08000000)]
STATISTICS = (0x4EC, 0x4F0, 0x4F8)  # read whenever somebody asks for the counters
CONFIGURATION_SCAN = {*range(0x10, 0x28), 0x30}  # base addresses, whose sizes PCI's own code finds out


def accesses(trace: Path, lss: Path) -> list[tuple[str, int, int, bool]]:
    """Header or device, offset, value, whether it is a write."""
    lines = subprocess.run([lss, "trace", "--json", trace], check=True, capture_output=True, text=True).stdout.splitlines()
    sources = [source["event"] for source in json.loads(lines[0])["sources"]]
    found = [json.loads(line) for line in lines[1:]]
    return [(sources[one["source"]], *(one["arguments"][name] for name in ("offset", "value", "write"))) for one in found]


def token(event: str, offset: int, value: int, write: bool, configured: bool) -> str | None:
    """A word of START."""
    if event == "access":
        return f"c{offset:02x}={value:x}" if write and offset not in CONFIGURATION_SCAN else None
    if offset in STATISTICS and not write:
        return None
    if offset == 0x44 and configured:
        return "eeprom"
    return f"{offset:x}{'=' if write else ':'}{value:x}"


def summary(trace: list[tuple[str, int, int, bool]], image: bytes, load: int) -> list[str]:
    """The words of START."""
    words: list[str] = []
    sram, base = {}, 0  # what was written through the window, and where
    configured = False
    for event, offset, value, write in trace:
        if event == "device_access" and write and offset == 0x68:
            base = value
        if event == "device_access" and write and 0x800 <= offset < 0x1000:
            at = base + offset - 0x800
            assert value == 0 or at >= load, "the driver clears before it loads"
            sram.setdefault(at, []).append(value)
            continue
        word = token(event, offset, value, write, configured)
        configured |= word == "618:4000021c"
        words += [word] if word else []
    written = range(0x2000, 0x80000, 4)
    assert sorted(sram) == list(written) and all(sram[at][0] == 0 for at in written)
    loaded = b"".join(sram[at][1].to_bytes(4, "big") for at in written if len(sram[at]) == 2)
    assert loaded == image and [at for at in written if len(sram[at]) == 2] == list(range(load, load + len(image), 4))
    text = re.sub(r"(eeprom )+", "eeprom ", " ".join(words))
    text = re.sub(r"(68=[0-9a-f]+ )+(?=608=)", f"zeros={len(written):x} image ", text)
    text = re.sub(r"60c=[0-9a-f]+", "60c=info", text)
    commands = " ".join(f"{0x700 + 4 * n:x}=0" for n in range(64))
    return text.replace(commands, "commands=0").split()


def test_the_driver_starts_the_card(software: Guest, root: Path, build_dir: Path, tmp_path: Path) -> None:
    lss = build_dir / "bin/lss"
    machine = ["-I", root / "examples/tigon2", "-D", NIC, "--record", "slots.card[0].card.pci.*", "-o", tmp_path / "host"]
    subprocess.run([lss, "build", root / "examples/host/host.lss", *machine], check=True)
    record = ["--record", "trace", "--record-events", "slots.card[0].card.pci.*", "--time", "460 ms", "--checkpoint", "point"]
    status, console, _ = on_host(software, tmp_path / "host", tmp_path, *record)
    assert status == 0 and "PCI bus width: 64 bits, speed: 66MHz, latency: 64 clks" in console
    trace = accesses(tmp_path / "trace", lss)
    firmware = (build_dir / "firmware/tigon2/tg2.bin").read_bytes()
    assert summary(trace, firmware[12:], int.from_bytes(firmware[8:12], "big")) == START.split()

    [info] = [value for event, offset, value, write in trace if (event, offset, write) == ("device_access", 0x60C, True)]
    shown = ["--time", "460.001 ms", "--print", f"system.ram.bytes[{info + 0x400}..{info + 0x48F}]"]
    printed = subprocess.run([tmp_path / "host", "--quiet", "--restore", "point", *shown], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    data = bytes.fromhex("".join(line[8:58] for line in printed.splitlines()[1:]))
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
    rings, pointers = words[:28], words[28:]
    assert [(high, 4096 if low and low % 4096 == 0 else low, how) for high, low, how, _ in zip(*[iter(rings)] * 4, strict=True)] == INFO
    assert all(high == 0 and low % 32 == 0 and low for high, low in zip(*[iter(pointers)] * 2, strict=True))
