"""Runs programs on the MIPS32 core with caches of system_machine.lss: what its boot ROM does before a program begins, and where
the parts of a program go; and one on each of several contexts, each at physical addresses of its own, with the console of its context, in one image of
the memory."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.isa.programs import CONSOLE, DATA, HEAD, TEXT, executable, run, target, tool
from tests.isa.system import LAYOUT

ROM, PHYSICAL = 0x1FC00000, 0x1FFFFFFF  # kseg0 and kseg1 are these addresses
DEVICES = 0x1F000000  # physical; the console's registers are at its start
SPACE = 8 << 20  # bytes of memory for the program of a context
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


def large_ways(kib: int, **settings: object) -> list[str]:
    """Options of `build`: two ways of this size, in both caches."""
    return [word for name, value in ({"cache_size": f"{2 * kib} KiB", "ways": 2} | settings).items() for word in ("-D", f"{name}={value}")]


def on_core(machine: Path, elf: Path, directory: Path, big: bool, text: str, *options: str, cycles: int = 400000) -> subprocess.CompletedProcess:
    """Bounded by cycles, so that a core that stands still fails instead of running for ever, and one on a busy machine does not."""
    command = [machine, *boot(elf, directory, big, text), "--cycles", str(cycles), *options]
    return subprocess.run(command, capture_output=True, text=True)


# ---- Several contexts -----------------------------------------------------------------------------------------------


def moved(text: str, context: int) -> str:
    """A program, or its layout, that is in the memory of another context, with that context's vectors and console: its addresses in kseg0 and those that
    are mapped to themselves, also where only the upper halves of them are named, are so much higher."""
    by = context * SPACE
    text = re.sub(r"\b0x(8[0-7][0-9a-f]{6}|400000)\b", lambda m: hex(int(m[1], 16) + by), text)
    text = re.sub(r"(lui \$\w+, )0x(80|a0)?(30|50)\b", lambda m: m[1] + hex(int((m[2] or "") + m[3], 16) + (by >> 16)), text)
    text = re.sub(r"(lui \$\w+, )0xbf00\b", lambda m: m[1] + hex(0xBF00 + context), text)
    vectors = f"__start:\n  lui $k0, {0x8000 + (by >> 16):#x}\n  mtc0 $k0, $15, 1\n"
    return re.sub(r"^__start:\n", vectors, text, flags=re.MULTILINE)


def assemble_for(context: int, text: str, output: Path, big: bool) -> Path:
    source, layout = output.with_suffix(".s"), output.with_suffix(".ld")
    source.write_text(moved(text, context))
    layout.write_text(moved(LAYOUT, context))
    return executable([source], output, target(big, "mips32r2"), "-T", str(layout))


def segments(elf: Path, big: bool) -> tuple[int, list[tuple[int, bytes, int]]]:
    """The entry of an executable, and its parts: physical address, bytes, and how many there are with zeros behind them."""
    order, image = ">" if big else "<", elf.read_bytes()
    entry, headers = struct.unpack_from(order + "II", image, 24)
    size, count = struct.unpack_from(order + "HH", image, 42)
    found = []
    for at in range(headers, headers + size * count, size):
        kind, offset, address, _, length, whole = struct.unpack_from(order + "6I", image, at)
        if kind == 1 and whole > 0:
            found.append((address & PHYSICAL if address >> 30 == 2 else address, image[offset : offset + length], whole))
    return entry, found


def together(elves: Sequence[Path], output: Path, big: bool) -> list[int]:
    """One image of the parts of several executables that are in memory; where each begins.  One that is there several times is executed by several."""
    order, found = ">" if big else "<", {elf: segments(elf, big) for elf in elves}
    parts = [part for _, some in found.values() for part in some if part[0] < ROM]
    headers, at = b"", 52 + 32 * len(parts)
    for address, data, whole in parts:
        headers += struct.pack(order + "8I", 1, at, address, address, len(data), whole, 7, 4)
        at += len(data)
    head = b"\x7fELF\x01" + (b"\x02" if big else b"\x01") + b"\x01" + bytes(9)
    head += struct.pack(order + "HHIIIIIHHHHHH", 2, 8, 1, found[elves[0]][0] & PHYSICAL, 52, 0, 0, 52, 32, len(parts), 40, 0, 0)
    output.write_bytes(head + headers + b"".join(data for _, data, _ in parts))
    return [found[elf][0] for elf in elves]


def boot_contexts(elves: Sequence[Path], directory: Path, big: bool) -> list[str]:
    """What a run of a program on each context wants: in the ROM is where each goes on, by the number of its processor."""
    entries = together(elves, directory / "ram.elf", big)
    begin = KSEG0_CACHED + "  mfc0 $k0, $15, 1\n  andi $k0, $k0, 7\n  sll $k0, $k0, 2\n  lui $k1, 0xbfc0\n  addu $k0, $k0, $k1\n  lw $k0, 0x800($k0)\n  jr $k0\n  nop"
    code = assembled(begin, big)
    rom = code + bytes(0x800 - len(code)) + struct.pack(f"{'>' if big else '<'}{len(entries)}I", *entries)
    (directory / "rom.bin").write_bytes(rom + bytes(4096 - len(rom)))
    return ["--ram", str(directory / "ram.elf"), "--rom", str(directory / "rom.bin")]


def on_contexts(machine: Path, elves: Sequence[Path], directory: Path, big: bool, *options: str, cycles: int) -> subprocess.CompletedProcess:
    """Bounded, so that a core that stands still fails instead of running for ever."""
    printers = [word for c in range(len(elves)) for word in ("--set", f"printer[{c}].output={directory / f'printed{c}'}")]
    command = [machine, *boot_contexts(elves, directory, big), *printers, "--cycles", str(cycles), *options]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
