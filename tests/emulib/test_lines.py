"""Source lines: what the disassembler says about every instruction of the firmware is what llvm-addr2line says, and lines
of what the linker dropped, which the line table keeps from address 0 on, hide nothing."""

import re
import struct
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import run, tool

EM_RISCV = 243


def lines_of(elf: Path, build_dir: Path) -> dict[int, str]:
    """`file:line` of every instruction, as the disassembler tells it."""
    isa = "rv32i" if EM_RISCV in elf.read_bytes()[18:20] else "mips"
    done = run([build_dir / "bin" / f"{isa}-disasm", elf])
    place, lines = "", {}
    for line in done.stdout.decode().splitlines():
        if line.startswith("; "):
            place = line[2:].partition(" in ")[0]
        elif found := re.match(r"([0-9a-f]{8}):  ", line):
            lines[int(found[1], 16)] = place
    return lines


def test_every_instruction_of_the_firmware(build_dir: Path) -> None:
    programs = sorted((build_dir / "firmware").glob("*/*.elf"))
    assert len(programs) >= 8, programs
    compared = 0
    for elf in programs:
        lines = lines_of(elf, build_dir)
        command = [tool("llvm-addr2line"), "-e", str(elf)]
        addresses = "".join(f"{address:#x}\n" for address in lines)
        told = subprocess.run(command, input=addresses, capture_output=True, text=True, check=True).stdout.splitlines()
        known = [(address, line, theirs.partition(" (")[0]) for (address, line), theirs in zip(lines.items(), told, strict=True)
                 if not re.match(r"\?|.*:0$", theirs.partition(" (")[0])]
        compared += len(known)
        wrong = [f"{address:#x}: {line}, llvm-addr2line: {theirs}" for address, line, theirs in known if not theirs.endswith(line) or not line]
        assert not wrong, f"{elf}: {wrong[:5]}"
    assert compared > 10000, f"{compared} lines"


SOURCE = """int x;
int dropped_short(void) {
  return 3;
}
__attribute__((noinline)) int dropped(int a) {
  x += a;
  x ^= a << 3;
  x += a * 7;
  return x + 3;
}
int start(void) {
  x = 1;
  return x + 4;
}
__attribute__((noinline)) int dropped_too(int a) {
  x += a;
  x ^= a << 3;
  x *= 4;
  return x + 3;
}
"""
ASSEMBLER = """.globl start
start:
  addiu $2, $0, 1
  jr $31
  nop
"""


def lines_in_order(source: Path, dwarf: int, build_dir: Path, tmp_path: Path) -> list[list[str]]:
    """The lines of a program that begins at 0 with `source` and ends with behind.c, for each order of its units.  The linker
    drops all others: their units come before the program's or behind it."""
    other = SOURCE.replace("start", "unused").replace("int x", "extern int x")
    (tmp_path / "a.c").write_text(other.replace("dropped", "a").replace("unused", "a_unused"))
    (tmp_path / "z.c").write_text(other.replace("dropped", "z").replace("unused", "z_unused"))
    (tmp_path / "behind.c").write_text("int x;\nint behind(int a) {\n  return a + 3;\n}\n")
    flags = ["--target=mips-linux-gnu", "-mips2", "-G0", "-mno-abicalls", "-fno-pic", "-O1", f"-gdwarf-{dwarf}", "-ffunction-sections"]
    objects = {}
    for file in (source, tmp_path / "a.c", tmp_path / "z.c", tmp_path / "behind.c"):
        objects[file.stem] = file.with_suffix(".o")
        run([tool("clang"), *flags, "-c", file, "-o", objects[file.stem]])
    told = []
    for order in (["a", "start", "z"], ["z", "a", "start"], ["start", "z", "a"]):
        elf = tmp_path / "program.elf"
        run([tool("ld.lld"), "--omagic", "--gc-sections", "-e", "start", "-u", "behind", "--image-base=0", "-Ttext=0",
             *(objects[name] for name in [*order, "behind"]), "-o", elf])
        told.append(list(dict.fromkeys(Path(line).name for line in lines_of(elf, build_dir).values())))
    return told


@pytest.mark.parametrize("dwarf", [4, 5])
def test_functions_that_the_linker_dropped(dwarf: int, build_dir: Path, tmp_path: Path) -> None:
    """The table mixes their lines with those of the function at 0, in one unit with it and in others."""
    (tmp_path / "start.c").write_text(SOURCE.replace("int x", "extern int x"))
    told = lines_in_order(tmp_path / "start.c", dwarf, build_dir, tmp_path)
    assert told == [["start.c:12", "start.c:13", "behind.c:3"]] * 3


@pytest.mark.parametrize("dwarf", [4, 5])
def test_an_assembler_file_at_0(dwarf: int, build_dir: Path, tmp_path: Path) -> None:
    """Its unit names no function."""
    (tmp_path / "start.s").write_text(ASSEMBLER)
    told = lines_in_order(tmp_path / "start.s", dwarf, build_dir, tmp_path)
    assert told == [["start.s:3", "start.s:4", "start.s:5", "behind.c:3"]] * 3


def test_lines_without_symbols(build_dir: Path, tmp_path: Path) -> None:
    """Of a function at 0 only a symbol tells that it was not dropped."""
    (tmp_path / "start.c").write_text("int start(void) {\n  return 3;\n}\n")
    flags = ["--target=mips-linux-gnu", "-mips2", "-mno-abicalls", "-fno-pic", "-O1", "-g", "-nostdlib", "-static", "-fuse-ld=lld"]
    link = ["-Wl,--omagic", "-Wl,-e,start", "-Wl,--image-base=0", "-Wl,-Ttext=0"]
    run([tool("clang"), *flags, *link, tmp_path / "start.c", "-o", tmp_path / "start.elf"])
    run([tool("llvm-objcopy"), "--strip-all", "--keep-section=.debug*", tmp_path / "start.elf", tmp_path / "bare.elf"])
    assert set(lines_of(tmp_path / "start.elf", build_dir).values()) != {""}
    assert set(lines_of(tmp_path / "bare.elf", build_dir).values()) == {""}


@pytest.fixture(scope="module")
def compressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one program, its debug information uncompressed (none), and compressed with zlib and with zstd."""
    folder = tmp_path_factory.mktemp("compressed")
    others = "".join(f"int other{n}(int a) {{\n  x += a;\n  return x * {n};\n}}\n" for n in range(100))  # enough to compress
    (folder / "start.c").write_text("int x;\nint start(void) {\n  x = 1;\n  return x + 4;\n}\n" + others)
    flags = ["--target=mips-linux-gnu", "-mips2", "-mno-abicalls", "-fno-pic", "-O1", "-gdwarf-5", "-nostdlib", "-static", "-fuse-ld=lld"]
    for way in ("none", "zlib", "zstd"):
        run([tool("clang"), *flags, "-Wl,-e,start", f"-Wl,--compress-debug-sections={way}", folder / "start.c", "-o", folder / f"{way}.elf"])
    return folder


def compression_headers(elf: bytes) -> list[tuple[int, int]]:
    """The places in a big-endian ELF file where a compressed section begins, with their numbers."""
    table, entry, count = (struct.unpack_from(form, elf, at)[0] for form, at in ((">I", 32), (">H", 46), (">H", 48)))
    sections = [(number, struct.unpack_from(">10I", elf, table + number * entry)) for number in range(count)]
    return [(section[4], number) for number, section in sections if section[2] & 0x800]


@pytest.mark.parametrize("way", ["zlib", "zstd"])
def test_compressed_debug_information(way: str, compressed: Path, build_dir: Path) -> None:
    lines = lines_of(compressed / "none.elf", build_dir)
    assert any(line.endswith("start.c:3") for line in lines.values())
    assert compression_headers((compressed / f"{way}.elf").read_bytes()), "nothing is compressed"
    assert lines_of(compressed / f"{way}.elf", build_dir) == lines


DAMAGE = {
    "another way": (0, ">I", 7, "is compressed in a way other than zlib and Zstandard"),
    "huge": (4, ">I", 0xFFFFFFFF, "claims to hold more than 1 GiB"),
    "too small": (4, ">I", 1, "Destination buffer is too small"),
    "too large": (4, ">I", 1 << 20, "holds fewer bytes than it claims"),
    "no frame": (12, ">I", 0, "Unknown frame descriptor"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_debug_information_that_cannot_be_expanded(damage: str, compressed: Path, build_dir: Path, tmp_path: Path) -> None:
    """The program is read without lines, and one line says why."""
    offset, form, value, reason = DAMAGE[damage]
    elf = bytearray((compressed / "zstd.elf").read_bytes())
    place, number = compression_headers(elf)[0]
    struct.pack_into(form, elf, place + offset, value)
    file = tmp_path / "damaged.elf"
    file.write_bytes(elf)
    done = subprocess.run([build_dir / "bin" / "mips-disasm", file], capture_output=True, text=True)
    assert done.returncode == 0 and "start:" in done.stdout and "; " not in done.stdout
    note = f"its section {number}, debug information, {reason}"
    assert done.stderr == f"mips-disasm: warning: {file}: no source lines: {note}\n"
