"""Runs programs on the MIPS32 core with caches of system_machine.lss: what its boot ROM does before a program begins, and where
the parts of a program go."""

from __future__ import annotations

import struct
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.isa.programs import CONSOLE, DATA, HEAD, TEXT, executable, run, target, tool

ROM, PHYSICAL = 0x1FC00000, 0x1FFFFFFF  # kseg0 and kseg1 are these addresses
DEVICES = 0x1F000000  # physical; the console's registers are at its start
CACHED, UNCACHED, DIRTY, VALID, GLOBAL = 3 << 3, 2 << 3, 4, 2, 1

LI = """
.macro LI r, value
  lui \\r, (\\value) >> 16
  ori \\r, \\r, (\\value) & 0xffff
.endm
.macro SET number, value
  LI $k0, (\\value)
  mtc0 $k0, $\\number
.endm
"""
KSEG0_CACHED = """
  mfc0 $k0, $16
  ori $k0, $k0, 7
  xori $k0, $k0, 4
  mtc0 $k0, $16
"""


def frame(address: int) -> int:
    return address >> 12 << 6 | DIRTY | VALID | GLOBAL


# Text and data of a program without an operating system in pages of 1 MiB, its console in one of 4 KiB.
MAPPED = f"""
  SET 0, 0
  SET 10, {TEXT:#x}
  SET 2, {frame(TEXT) | CACHED:#x}
  SET 3, {frame(DATA) | CACHED:#x}
  SET 5, 0x1fe000
  tlbwi
  SET 0, 1
  SET 10, {CONSOLE:#x}
  SET 2, {frame(DEVICES) | UNCACHED:#x}
  SET 3, 1
  SET 5, 0
  tlbwi
  SET 10, 0
  SET 12, 0
"""


@cache
def assembled(text: str, big: bool) -> bytes:
    """Code for the boot ROM."""
    with TemporaryDirectory() as directory:
        source, linked, raw = (Path(directory) / name for name in ("boot.s", "boot.elf", "boot.bin"))
        source.write_text(f"{HEAD}{LI}.text\n.globl __start\n__start:\n{text}\n")
        executable([source], linked, target(big, "mips32r2"), "-Ttext=0xbfc00000", "-e", "__start")
        run([tool("llvm-objcopy"), "-O", "binary", "-j", ".text", linked, raw])
        return raw.read_bytes()


def jump_to(entry: int) -> list[int]:
    """lui, ori, jr, and a delay slot."""
    return [0x3C1A0000 | entry >> 16, 0x375A0000 | entry & 0xFFFF, 0x03400008, 0]


def boot(elf: Path, directory: Path, big: bool, text: str) -> list[str]:
    """What a run of a program wants: its segments at physical addresses, those of the ROM behind the code there."""
    order, image = ">" if big else "<", bytearray(elf.read_bytes())
    entry, headers = struct.unpack_from(order + "II", image, 24)
    size, count = struct.unpack_from(order + "HH", image, 42)
    rom = bytearray(4096)
    for at in range(headers, headers + size * count, size):
        kind, offset, _, address, length = struct.unpack_from(order + "IIIII", image, at)
        address &= PHYSICAL if address >> 30 == 2 else 0xFFFFFFFF
        struct.pack_into(order + "I", image, at + 12, address)
        if kind == 1 and address >= ROM:
            rom[address - ROM : address - ROM + length] = image[offset : offset + length]
            struct.pack_into(order + "I", image, at, 0)
    struct.pack_into(order + "I", image, 24, entry & PHYSICAL)  # of RAM's image nothing begins there
    code = assembled(text, big) + struct.pack(order + "4I", *jump_to(entry))
    rom[: len(code)] = code
    (directory / "ram.elf").write_bytes(image)
    (directory / "rom.bin").write_bytes(rom)
    return ["--ram", str(directory / "ram.elf"), "--rom", str(directory / "rom.bin")]


def build(root: Path, build_dir: Path, output: Path, *options: str) -> Path:
    run([build_dir / "bin" / "lss", "build", root / "tests" / "isa" / "system_machine.lss", "-o", output, *options])
    return output


def on_core(machine: Path, elf: Path, directory: Path, big: bool, text: str, *options: str, cycles: int = 400000) -> subprocess.CompletedProcess:
    """Bounded by cycles, so that a core that stands still fails instead of running for ever, and one on a busy machine does not."""
    command = [machine, *boot(elf, directory, big, text), "--cycles", str(cycles), *options]
    return subprocess.run(command, capture_output=True, text=True)
