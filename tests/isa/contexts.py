"""Programs of the tests of the system for a core with several contexts: each at physical addresses of its own, with the console of its context, in one
image of the memory; and what the boot ROM does before they begin."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.isa import system
from tests.isa.programs import executable, target
from tests.isa.system_core import KSEG0_CACHED, PHYSICAL, ROM, assembled

SPACE = 8 << 20  # bytes of memory for the program of a context


def moved(text: str, context: int) -> str:
    """A program, or its layout, that is in the memory of another context, with that context's vectors and console: its addresses in kseg0 and those that
    are mapped to themselves, also where only the upper halves of them are named, are so much higher."""
    by = context * SPACE
    text = re.sub(r"\b0x(8[0-7][0-9a-f]{6}|400000)\b", lambda m: hex(int(m[1], 16) + by), text)
    text = re.sub(r"(lui \$\w+, )0x(80|a0)?(30|50)\b", lambda m: m[1] + hex(int((m[2] or "") + m[3], 16) + (by >> 16)), text)
    text = re.sub(r"(lui \$\w+, )0xbf00\b", lambda m: m[1] + hex(0xBF00 + context), text)
    vectors = f"__start:\n  lui $k0, {0x8000 + (by >> 16):#x}\n  mtc0 $k0, $15, 1\n"
    return re.sub(r"^__start:\n", vectors, text, flags=re.MULTILINE)


def assemble(text: str, output: Path, big: bool, context: int) -> Path:
    source, layout = output.with_suffix(".s"), output.with_suffix(".ld")
    source.write_text(moved(text, context))
    layout.write_text(moved(system.LAYOUT, context))
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
    """One image of the parts of several executables that are in memory; where each begins."""
    order, found = ">" if big else "<", [segments(elf, big) for elf in elves]
    parts = [part for _, some in found for part in some if part[0] < ROM]
    headers, at = b"", 52 + 32 * len(parts)
    for address, data, whole in parts:
        headers += struct.pack(order + "8I", 1, at, address, address, len(data), whole, 7, 4)
        at += len(data)
    head = b"\x7fELF\x01" + (b"\x02" if big else b"\x01") + b"\x01" + bytes(9)
    head += struct.pack(order + "HHIIIIIHHHHHH", 2, 8, 1, 0, 52, 0, 0, 52, 32, len(parts), 40, 0, 0)
    output.write_bytes(head + headers + b"".join(data for _, data, _ in parts))
    return [entry for entry, _ in found]


def boot(elves: Sequence[Path], directory: Path, big: bool) -> list[str]:
    """What a run of a program on each context wants: in the ROM is where each goes on, by the number of its processor."""
    entries = together(elves, directory / "ram.elf", big)
    begin = KSEG0_CACHED + "  mfc0 $k0, $15, 1\n  andi $k0, $k0, 7\n  sll $k0, $k0, 2\n  lui $k1, 0xbfc0\n  addu $k0, $k0, $k1\n  lw $k0, 0x800($k0)\n  jr $k0\n  nop"
    code = assembled(begin, big)
    rom = code + bytes(0x800 - len(code)) + struct.pack(f"{'>' if big else '<'}{len(entries)}I", *entries)
    (directory / "rom.bin").write_bytes(rom + bytes(4096 - len(rom)))
    return ["--ram", str(directory / "ram.elf"), "--rom", str(directory / "rom.bin")]


def run(machine: Path, elves: Sequence[Path], directory: Path, big: bool, *options: str, cycles: int) -> subprocess.CompletedProcess:
    """Bounded, so that a core that stands still fails instead of running for ever."""
    printers = [word for c in range(len(elves)) for word in ("--set", f"printer[{c}].output={directory / f'printed{c}'}")]
    command = [machine, *boot(elves, directory, big), *printers, "--cycles", str(cycles), *options]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
