"""Programs in the form in which Linux's acenic driver loads them."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from harness.firmware import tool

START = 0x4000


def elf(*segments: tuple[int, bytes, int], start: int = START, machine: bytes = b"\x7fELF\1\2\1") -> bytes:
    """A big-endian program: of each segment the load address, the contents, and what it takes in memory beyond them."""
    at = 52 + 32 * len(segments)
    headers, contents = b"", b""
    for load, part, more in segments:
        headers += struct.pack(">8I", 1, at + len(contents), 0xC00000, load, len(part), len(part) + more, 7, 4)
        contents += part
    head = machine.ljust(16, b"\0") + struct.pack(">HHIIIIIHHHHHH", 2, 8, 1, start, 52, 0, 0, 52, 32, len(segments), 0, 0, 0)
    return head + headers + contents


@pytest.fixture
def convert(root: Path, tmp_path: Path):
    def run(program: Path, *options: str) -> tuple[subprocess.CompletedProcess, Path]:
        output = tmp_path / "tg2.bin"
        command = [sys.executable, root / "firmware/tools/acenic_image.py", program, output, *options]
        return subprocess.run(command, capture_output=True, text=True), output

    return run


@pytest.fixture
def made(convert, tmp_path: Path):
    def make(contents: bytes, *options: str) -> tuple[subprocess.CompletedProcess, Path]:
        (tmp_path / "program.elf").write_bytes(contents)
        return convert(tmp_path / "program.elf", *options)

    return make


def test_header_and_contents_are_what_the_driver_reads(made) -> None:
    """Segments go where they are loaded, not where they run; gaps are zero, sizes without contents are left out."""
    done, image = made(elf((0x4010, b"second", 100), (START, b"first123", 0), start=0x4004), "--version", "12.4.11")
    assert (done.returncode, done.stderr) == (0, "")
    assert image.read_bytes() == bytes([12, 4, 11, 0]) + struct.pack(">II", 0x4004, START) + b"first123" + bytes(8) + b"second" + bytes(2)


WRONG = {
    "text": (b"no program", "is no big-endian 32-bit ELF file"),
    "little": (elf(machine=b"\x7fELF\1\1\1"), "is no big-endian 32-bit ELF file"),
    "cut": (elf((START, bytes(64), 0))[:-1], "is cut off"),
    "empty": (elf((START, b"", 64)), "has nothing to load"),
    "low": (elf((0x3000, bytes(8), 0), start=0x3000), "loads 0x8 bytes at 0x3000, outside 0x4000 to 0x80000"),
    "high": (elf((0x7FFFC, bytes(8), 0), start=0x7FFFC), "loads 0x8 bytes at 0x7fffc, outside 0x4000 to 0x80000"),
    "twice": (elf((START, bytes(8), 0), (START + 4, bytes(8), 0)), "has two segments at 0x4004"),
    "start": (elf((START, bytes(8), 0), start=0x5000), "starts at 0x5000, but is loaded at 0x4000"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_driver_could_not_load_is_refused(made, name: str) -> None:
    contents, words = WRONG[name]
    done, image = made(contents)
    assert done.returncode == 1 and not image.exists()
    assert done.stderr.count("\n") == 1 and "program.elf" in done.stderr and words in done.stderr


def test_the_firmware_as_a_linker_would_lay_it_out(convert, build_dir: Path, tmp_path: Path) -> None:
    firmware = build_dir / "firmware/tigon2/tigon2.elf"
    subprocess.run([tool("llvm-objcopy"), "-O", "binary", firmware, tmp_path / "raw"], check=True)
    raw = (tmp_path / "raw").read_bytes()
    image = convert(firmware)[1].read_bytes()
    assert image[4:12] == struct.pack(">II", START, START) and image[12:] == raw + bytes(-len(raw) % 4)


@pytest.mark.slow
def test_the_interface_runs_it(machine, convert, firmware: Path) -> None:
    """Loaded as a driver would, the firmware does what it does when a loader of ELF has brought it in."""
    ran = [machine().run("--payload", 333, "--count", 40, firmware=f) for f in (firmware, convert(firmware)[1])]
    assert ran[0].received == 40 and ran[0].statistics == ran[1].statistics
