#!/usr/bin/env python3
"""Puts a Tigon-2 program into the form in which Linux's acenic driver loads it, from /lib/firmware/acenic/tg2.bin.

    acenic_image.py PROGRAM.elf IMAGE [--version MAJOR.MINOR.FIX]

The image is, as ace_load_firmware of drivers/net/ethernet/alteon/acenic.c reads it: four bytes of version (major,
minor, fix, 0), the start address and the load address as big-endian words, then what is loaded from there on, in whole
words.  What lies between segments is zero; what only has a size in memory is left out: the driver clears it first.
"""

from __future__ import annotations

import argparse
import struct
import sys
from pathlib import Path

START, END = 0x4000, 0x80000  # where the driver takes start and load address; it clears 0x2000 up to the end
PT_LOAD = 1


class ImageError(Exception):
    """A program that the driver could not load."""


def segments(elf: bytes) -> list[tuple[int, bytes]]:
    """Load address and contents of the segments of a big-endian ELF file that have any, by address."""
    offset, (size, count) = struct.unpack_from(">I", elf, 28)[0], struct.unpack_from(">HH", elf, 42)
    found = []
    for n in range(count):
        kind, at, _, load, length = struct.unpack_from(">5I", elf, offset + n * size)
        if at + length > len(elf):
            raise ImageError("is cut off")
        if kind == PT_LOAD and length:
            found.append((load, elf[at : at + length]))
    return sorted(found)


def image(elf: bytes, version: tuple[int, int, int]) -> bytes:
    """The image of a program."""
    if elf[:6] != b"\x7fELF\1\2" or len(elf) < 52:
        raise ImageError("is no big-endian 32-bit ELF file")
    loaded = segments(elf)
    if not loaded:
        raise ImageError("has nothing to load")
    entry, first = struct.unpack_from(">I", elf, 24)[0], loaded[0][0]
    contents = bytearray()
    for address, part in loaded:
        if address - first < len(contents):
            raise ImageError(f"has two segments at {address:#x}")
        contents += bytes(address - first - len(contents)) + part
        if address < START or address + len(part) > END:
            raise ImageError(f"loads {len(part):#x} bytes at {address:#x}, outside {START:#x} to {END:#x}")
    if entry not in range(first, first + len(contents)) or first % 4:
        raise ImageError(f"starts at {entry:#x}, but is loaded at {first:#x}")
    contents += bytes(-len(contents) % 4)
    return bytes([*version, 0]) + struct.pack(">II", entry, first) + contents


def version_of(text: str) -> tuple[int, int, int]:
    """Three numbers of a byte each."""
    major, minor, fix = (int(part) for part in text.split("."))
    if not all(0 <= part < 256 for part in (major, minor, fix)):
        raise ValueError(text)
    return major, minor, fix


def main() -> int:
    parser = argparse.ArgumentParser(description="makes acenic/tg2.bin of a Tigon-2 program")
    parser.add_argument("program", type=Path)
    parser.add_argument("image", type=Path)
    parser.add_argument("--version", type=version_of, default=(1, 0, 0), help="what ethtool -i shows; default 1.0.0")
    options = parser.parse_args()
    try:
        options.image.write_bytes(image(options.program.read_bytes(), options.version))
    except ImageError as error:
        sys.exit(f"acenic_image: {options.program} {error}")
    except (OSError, struct.error) as error:
        sys.exit(f"acenic_image: {options.program}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
