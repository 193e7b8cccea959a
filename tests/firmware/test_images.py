"""Firmware that is not one, and firmware that does what it must not: each ends with one line that names the thing and the place."""

import struct
from pathlib import Path

import pytest

START = 0x4000


def image(*words: int, load: int = START, more: bytes = b"") -> bytes:
    """As a shipped one: version, start and load address, then what is loaded."""
    return bytes(4) + struct.pack(f">II{len(words)}I", START, load, *words) + more


BEYOND = "are outside the NIC's memory from 0x2000 up to 0x100000"
WRONG = {
    "empty": (b"", "neither an ELF file nor a version, a start and a load address with an image"),
    "text": (b"this is a text and no firmware", "0x12 bytes at 0x61207465 " + BEYOND),
    "low": (image(1, 2, load=0x200), "0x8 bytes at 0x200 " + BEYOND),
    "high": (image(1, 2, load=0xFFFFC), "0x8 bytes at 0xffffc " + BEYOND),
    "large": (image(more=bytes(0x100000)), "0x100000 bytes at 0x4000 " + BEYOND),
    "cut": (b"\x7fELF\x01\x02\x01", "truncated"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_firmware_is_refused(machine, tmp_path: Path, name: str) -> None:
    contents, words = WRONG[name]
    file = tmp_path / "firmware"
    file.write_bytes(contents)
    ran = machine().run("--payload", 18, firmware=file, ok=False)
    assert ran.status == 1 and ran.err.count("\n") == 1 and f"{file}: " in ran.err and words in ran.err


def test_the_end_of_the_memory_is_that_of_the_machine(machine, tmp_path: Path) -> None:
    file = tmp_path / "firmware"
    file.write_bytes(image(more=bytes(0x90000)))
    ran = machine(sram_size="512 KiB").run("--payload", 18, firmware=file, ok=False)
    assert "0x90000 bytes at 0x4000 are outside the NIC's memory from 0x2000 up to 0x80000" in ran.err


def test_a_program_for_another_machine_is_refused(machine, build_dir: Path) -> None:
    for name, words in (("sha256", "a Tigon-2 is big-endian, this program is little-endian"), ("hello", BEYOND), ("nic10g", BEYOND)):
        ran = machine().run("--payload", 18, firmware=build_dir / f"firmware/{name}/{name}.elf", ok=False)
        assert ran.status == 1 and ran.err.count("\n") == 1 and words in ran.err


LOOP = (0x1000FFFF, 0)  # b .
CRASHES = {
    "store": ((0x3C0100D0, 0xAC200000, *LOOP), "responds at address 0x00d00000"),  # lui $1, 0xd0; sw $0, 0($1)
    "load": ((0x3C0100D0, 0x8C210010, *LOOP), "address 0x00d00010, pc 0x00004004"),
    "register": ((0x3C01C000, 0x8C210400, *LOOP), "address 0xc0000400, pc 0x00004004"),
    "jump": ((0x3C0100D0, 0x00200008, 0), "nothing to fetch there: pc 0x00d00000"),
    "unaligned": ((0xAC004002, *LOOP), "unaligned access: address 0x00004002, pc 0x00004000"),
    "half": ((0x84004001, *LOOP), "unaligned access: address 0x00004001, pc 0x00004000"),
    "break": ((0x0000000D,), "breakpoint: pc 0x00004000"),
    "syscall": ((0x0000000C,), "pc 0x00004000, instruction 0x0000000c"),
    "reserved": ((0xFFFFFFFF,), "reserved instruction: pc 0x00004000"),
    # lui $29, 0xc0; then addiu $29, $29, -8; b back; sw $0, 0($29)
    "stack": ((0x3C1D00C0, 0x27BDFFF8, 0x1000FFFE, 0xAFA00000), "responds at address 0x00befff8"),
}  # fmt: skip


@pytest.mark.parametrize("name", CRASHES)
def test_what_no_firmware_may_do_ends_the_run(machine, tmp_path: Path, name: str) -> None:
    """With a report of where each processor is."""
    words, told = CRASHES[name]
    file = tmp_path / "firmware"
    file.write_bytes(image(*words))
    ran = machine().run("--payload", 18, firmware=file, ok=False)
    first = ran.err.splitlines()[0]
    assert ran.status == 1 and "error: nic.cpu[0]." in first and told in first
    assert "cpu nic.cpu[0].pipeline:" in ran.err and "how it came here, oldest first:" in ran.err
