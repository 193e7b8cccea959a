"""A program for the host machine that reads and writes its disk, and the disk it wants."""

import subprocess
from pathlib import Path

from harness.firmware import tool

FLAGS = ["--target=mipsel-linux-gnu", "-mips32r2", "-mno-abicalls", "-fno-pic", "-ffreestanding", "-static", "-nostdlib", "-fuse-ld=lld", "-O2", "-G0", "-Wall", "-Wextra", "-Werror"]
TEXT = b"what is on the disk\n"


def program(passes: int, directory: Path) -> Path:
    elf = directory / f"sectors{passes}.elf"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([tool("clang"), *FLAGS, "-Wl,-Ttext=0x80100000", f"-DPASSES={passes}", source, "-o", elf], check=True)
    return elf


def image(directory: Path, sectors: int) -> Path:
    file = directory / "sectors.image"
    file.write_bytes(TEXT.ljust(512 * sectors, b"\0"))
    return file


def after(passes: int, sectors: int) -> bytes:
    """What the disk holds when the program has ended."""
    written = b"".join(bytes((n * 7 + k) & 255 for k in range(512)) for n in range(1, passes + 1))
    return (TEXT.ljust(512, b"\0") + written).ljust(512 * sectors, b"\0")
