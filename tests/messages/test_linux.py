"""The program vianet and the module uvia of examples/messages under Linux: each message that leaves, byte by byte, in all modes."""

import struct
import subprocess
from pathlib import Path

import dpkt
import pytest

from harness.net import packets
from tests.linux_guest import guest

pytestmark = [pytest.mark.soak, pytest.mark.optimised]
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/messages"
MODES = ("udp", "udpc", "raw", "via", "via-mapped")
SIZES = (1, 100, 1483, 1484, 1485, 4000, 8000)
WARM, HEADER, ETHERTYPE = 16, 16, 0x88B5


@pytest.fixture(scope="module")
def software(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernel, initramfs, device tree, and the machine."""
    guest(build_dir)
    place = tmp_path_factory.mktemp("messages")
    machine = f"{EXAMPLE}/messages_host.lss -I {root}/examples/tigon2"
    subprocess.run(["make", "-s", "linux", f"GUEST={EXAMPLE}/guest", f"LINUX_OUT={place}", f"MACHINE={machine}"], cwd=root, check=True, stdin=subprocess.DEVNULL)
    subprocess.run([build_dir / "bin/lss", "build", *machine.split(), "-o", place / "machine"], check=True)
    return place


def run(software: Path, directory: Path, commands: str, *options: str) -> tuple[list[str], list[bytes]]:
    """What commands at the shell print, and the frames that leave."""
    directory.mkdir(exist_ok=True)
    (directory / "script").write_text(f'wait "/ # "\nsend "echo BEGIN; {commands}; echo END; poweroff -f\\n"\n')
    files = ["--kernel", software / "vmlinux", "--dtb", software / "host.dtb", "--initramfs", software / "initramfs.cpio"]
    settings = ["--set", "slots.card[0].station.capture=wire.pcap", "--console_script", "script", "--quiet", *options]
    done = subprocess.run([str(word) for word in (software / "machine", *files, *settings)], cwd=directory, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.replace("\r", "").splitlines()
    sent = [one.data for one in packets.read(directory / "wire.pcap") if one.data[6:12] == bytes([2, 0, 0, 0, 0, 1])]
    return lines[lines.index("BEGIN") + 1 : lines.index("END")], sent


def message(number: int, length: int) -> bytes:
    """What vianet writes."""
    value, words = number * 2654435761, []
    for _ in range(0, length, 4):
        value = (value + 0x9E3779B9) % 2**32
        words.append(value)
    return struct.pack(f"<{len(words)}I", *words)[:length]


def by_header(frames: list[bytes]) -> list[tuple[int, bytes]]:
    """Messages of the modes without protocols, with their numbers: the frames come in order, and say what they are."""
    found: list[tuple[int, bytes]] = []
    for frame in frames:
        assert frame[:6] == bytes([2, 0, 0, 0, 0, 2])
        number, length, offset, piece = struct.unpack(">4I", frame[14 : 14 + HEADER])
        data = frame[14 + HEADER : 14 + HEADER + piece]
        assert len(data) == piece and len(frame) in (60, 14 + HEADER + piece) and len(frame) <= 1514
        assert piece == min(1500 - HEADER, length - offset)
        if offset:
            assert found[-1][0] == number and len(found[-1][1]) == offset
            data = found.pop()[1] + data
        found.append((number, data))
    return found


def by_udp(frames: list[bytes]) -> list[bytes]:
    """Payloads of datagrams, from their fragments; each has a checksum, and it is right."""
    found: list[bytes] = []
    for frame in frames:
        ip = frame[14 : 14 + int.from_bytes(frame[16:18], "big")]
        more, offset = ip[6] & 0x20, 8 * (int.from_bytes(ip[6:8], "big") & 0x1FFF)
        assert ip[0] == 0x45 and dpkt.in_cksum(ip[:20]) == 0
        if offset == 0:
            found.append(b"")
        assert offset == len(found[-1])
        found[-1] += ip[20:]
        if more:
            continue
        whole = found[-1]
        assert len(whole) == int.from_bytes(whole[4:6], "big")
        assert whole[6:8] != b"\0\0" and dpkt.in_cksum(ip[12:20] + struct.pack(">BBH", 0, 17, len(whole)) + whole) == 0
    return [one[8:] for one in found]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("pause", "switch"), [(0, "end"), (0, "marker(3)"), (20_000, "marker(3)")])
def test_every_byte_of_every_message_leaves(software: Path, tmp_path: Path, mode: str, pause: int, switch: str) -> None:
    """On the functional processor and on the detailed one; without pauses, where buffers and rings run full, and with them."""
    commands = f"for size in {' '.join(map(str, SIZES))}; do vianet {mode} $size 30 {pause}; done"
    printed, frames = run(software, tmp_path, commands, "--switch_at", switch)
    assert printed == ["vianet: done"] * len(SIZES)
    numbers = [(n, size) for size in SIZES for n in range(WARM + 30)]
    if mode.startswith("udp"):
        assert by_udp([one for one in frames if one[12:14] == b"\x08\x00"]) == [message(n, size) for n, size in numbers]
    else:
        own = [one for one in frames if int.from_bytes(one[12:14], "big") == ETHERTYPE]
        assert by_header(own) == [(n, message(n, size)) for n, size in numbers]


def test_checksums_are_those_of_the_interface_or_of_software(software: Path, tmp_path: Path) -> None:
    """The driver does not let ethtool switch the interface's off, but with the module it does."""
    printed, _ = run(software, tmp_path, "vianet udpc 100 1; rmmod uvia; vianet udpc 100 1; vianet via 100 1", "--switch_at", "end")
    assert printed == ["vianet: done", "vianet: checksums of eth0: Operation not supported", "vianet: /dev/uvia: No such file or directory"]


def test_datagrams_come_back(software: Path, tmp_path: Path) -> None:
    """The program compares them.  Named, the station is the receiver that it is without a name; for frames, too."""
    sizes = (1, 1472, 1400)
    commands = [*(f"vianet udp-echo {size} 20 0" for size in sizes), "vianet udp-echo 100 5 0 10.0.0.1", "vianet via 100 5 0 10.0.0.1"]
    printed, frames = run(software, tmp_path, "; ".join(commands), "--switch_at", "end")
    assert printed == ["vianet: done"] * len(commands)
    own = [one for one in frames if int.from_bytes(one[12:14], "big") == ETHERTYPE]
    assert by_header(own) == [(n, message(n, 100)) for n in range(WARM + 5)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("via 100", "usage: vianet udp|udpc|udp-echo|udp-reply|raw|via|via-mapped|via-nic|via-nic-echo|via-nic-reply|via-nic-rate BYTES COUNT [PAUSE [HOST]]"),
        ("vi 100 1", "usage: vianet udp|udpc|udp-echo|udp-reply|raw|via|via-mapped|via-nic|via-nic-echo|via-nic-reply|via-nic-rate BYTES COUNT [PAUSE [HOST]]"),
        ("via 0 1", "vianet: BYTES is 1 to 65000, not '0'"),
        ("udp 65001 1", "vianet: BYTES is 1 to 65000, not '65001'"),
        ("udp 100 x", "vianet: COUNT is 1 to 1000000, not 'x'"),
        ("udp 100 1 -1", "vianet: PAUSE is 0 to 1000000000, not '-1'"),
        ("udp 100 1 0 station", "vianet: station: Invalid argument"),
        ("via 100 1 0 10.0.0.9", "vianet: 10.0.0.9: No route to host"),
    ],
)
def test_what_the_program_refuses(software: Path, tmp_path: Path, words: str, told: str) -> None:
    assert run(software, tmp_path, f"vianet {words}", "--switch_at", "end")[0] == [told]
