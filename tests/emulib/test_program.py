"""The program loader: what it finds in ELF and raw files, and that a malformed file gets one clear line."""

import struct
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import assemble, link, run, tool
from tests.kits import Kit
from tests.sample import sampled

EMULIB = Path(__file__).resolve().parents[2] / "emulib"


@pytest.fixture(scope="session")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A C program with functions, data and line numbers."""
    directory = tmp_path_factory.mktemp("elf")
    source = directory / "sample.c"
    source.write_text("int counter;\nint table[4] = {1, 2, 3, 4};\n"
                      "__attribute__((noinline)) int twice(int x) {\n  counter++;\n  return 2 * x + table[x & 3];\n}\n"
                      "void __start(void) {\n  counter = twice(21);\n  __builtin_trap();\n}\n")
    return link([source], directory / "sample.elf", True)


def oracle(build_dir: Path, *words) -> subprocess.CompletedProcess:
    return subprocess.run([build_dir / "bin" / "mips-oracle", *map(str, words)], capture_output=True, text=True)


def test_symbols_and_lines(elf: Path, build_dir: Path):
    done = subprocess.run([build_dir / "bin" / "mips-disasm", elf], capture_output=True, text=True)
    assert done.returncode == 0
    for text in ("\ntwice:\n", "\n__start:\n", "sample.c:4\n", "sample.c:5\n", "sample.c:8\n"):
        assert text in done.stdout, text


def test_reports_name_function_file_and_line(elf: Path, build_dir: Path):
    done = oracle(build_dir, elf)
    assert done.returncode == 125
    assert "__start+0x" in done.stderr and "sample.c:9" in done.stderr


@pytest.mark.parametrize("start", [0x4000, 0x4FFC])
def test_raw_image(start: int, build_dir: Path, tmp_path: Path):
    """It may begin anywhere: the second one ends in another page of memory."""
    elf = assemble("addiu $v1, $zero, 42\nbreak 7\n", tmp_path / "x.elf", True)
    run([tool("llvm-objcopy"), "-O", "binary", "-j", ".text", elf, tmp_path / "x.bin"])
    raw = tmp_path / "x.raw"
    raw.write_bytes(struct.pack(">4BII", 12, 4, 11, 0, start, start) + (tmp_path / "x.bin").read_bytes())
    done = oracle(build_dir, "--raw", "--registers", raw)
    assert f"break 7 at {start + 4:#010x}" in done.stderr and "$v1   0x0000002a" in done.stdout
    assert [len(line.split()) for line in done.stdout.splitlines()] == [8] * 9, "32 registers, then hi, lo, pc and a count"


# What is written where (offset in the file, bytes), and what the message must say.
DEFECTS = {
    "magic": ([(0, b"\x7fELG")], "not an ELF file"),
    "64-bit": ([(4, b"\x02")], "ELF class 2 is not 32-bit (1)"),
    "byte order": ([(5, b"\x03")], "ELF byte order 3 is neither little (1) nor big (2)"),
    "not executable": ([(16, b"\0\x01")], "ELF type 1 is not an executable (2)"),
    "shared": ([(16, b"\0\x03")], "link it statically"),
    "machine": ([(18, b"\0\x3e")], "ELF machine 62 is none of MIPS (8), RISC-V (243)"),
    "another processor's": ([(18, b"\0\xf3"), (36, bytes(4))], "ELF machine 243 is not MIPS (8)"),
    "MIPS32": ([(36, b"\x50")], "ELF flags 0x50001001 say MIPS32 code, the processors execute up to mips2: build with -mips2"),
    "MIPS32r2": ([(36, b"\x70")], "say MIPS32r2 code"),
    "MIPS III": ([(36, b"\x20")], "say MIPS III code, which no processor executes: build with -mips2 or -mips32r2"),
    "MIPS32r6": ([(36, b"\x90")], "say MIPS32r6 code, which no processor executes"),
    "newer": ([(36, b"\xf0")], "say newer code, which no processor executes"),
    "MIPS16": ([(36, b"\x14")], "say 16-bit code (MIPS16, microMIPS), which no processor executes"),
    "entry": ([(24, b"\0\0\0\0")], "entry address 0x00000000 is in no executable segment"),
    "odd entry": ([(24, b"\x00\x40\x00\x02")], "entry address 0x00400002 is not a multiple of 4"),
    "headers outside": ([(28, b"\x7f\0\0\0")], "program headers at offset 0x7f000000, but the file has only"),
    "header size": ([(42, b"\0\x21")], "ELF program headers of 33 bytes, expected 32"),
    "no headers": ([(44, b"\0\0")], "the ELF file has no program headers"),
}
# The same within the first loadable program header.
SEGMENT_DEFECTS = {
    "offset": (4, 0x7FFFFFFF, "bytes at offset 0x7fffffff, but the file has only"),
    "file size": (16, 0x00FFFFFF, "0xffffff bytes in the file but only"),
    "wraps": (12, 0xFFFFFFF0, "pass the end of the address space"),
    "overlap": (12, 0x00400000, "overlap"),
    "dynamic": (0, 3, "needs a dynamic linker"),
}


def refused(build_dir: Path, path: Path, message: str) -> None:
    done = oracle(build_dir, path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mips-oracle: {path}: ") and message in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("defect", DEFECTS)
def test_malformed_header(defect: str, elf: Path, build_dir: Path, tmp_path: Path):
    changes, message = DEFECTS[defect]
    image = bytearray(elf.read_bytes())
    for offset, data in changes:
        image[offset : offset + len(data)] = data
    bad = tmp_path / "bad.elf"
    bad.write_bytes(image)
    refused(build_dir, bad, message)


# Where the set stands in the flags, which sets execute it.
@pytest.mark.parametrize(("flags", "name", "sets"), [
    (0x00, "MIPS I", ["mips1", "mips2", "prijoff", "mips32", "mips32r2"]), (0x10, "MIPS II", ["mips2", "prijoff", "mips32", "mips32r2"]),
    (0x50, "MIPS32", ["mips32", "mips32r2"]), (0x70, "MIPS32r2", ["mips32r2"]),
])  # fmt: skip
def test_code_for_newer_instruction_sets_is_refused(flags: int, name: str, sets: list[str], build_dir: Path, tmp_path: Path):
    program = assemble("EXIT 0\n", tmp_path / "x.elf", True)
    image = bytearray(program.read_bytes())
    image[36] = flags
    program.write_bytes(image)
    for which in ("mips1", "mips2", "prijoff", "mips32", "mips32r2"):
        done = oracle(build_dir, "--set", which, program)
        if which in sets:
            assert (done.returncode, done.stderr) == (0, "")
        else:
            option = "mips2" if which == "prijoff" else which
            assert done.returncode == 2 and done.stderr.count("\n") == 1
            assert f"say {name} code, the processors execute up to {which}: build with -{option}\n" in done.stderr


@pytest.mark.parametrize("defect", SEGMENT_DEFECTS)
def test_malformed_segment(defect: str, elf: Path, build_dir: Path, tmp_path: Path):
    offset, value, message = SEGMENT_DEFECTS[defect]
    image = bytearray(elf.read_bytes())
    first = struct.unpack_from(">I", image, 28)[0]
    while struct.unpack_from(">I", image, first)[0] != 1:
        first += 32
    struct.pack_into(">I", image, first + offset, value)
    bad = tmp_path / "bad.elf"
    bad.write_bytes(image)
    refused(build_dir, bad, message)


@pytest.mark.parametrize("size", [0, 3, 20, 51, 60, 100])
def test_truncated_file(size: int, elf: Path, build_dir: Path, tmp_path: Path):
    bad = tmp_path / "short.elf"
    bad.write_bytes(elf.read_bytes()[:size])
    refused(build_dir, bad, "truncated")


def test_missing_file(build_dir: Path, tmp_path: Path):
    done = oracle(build_dir, tmp_path / "none.elf")
    assert done.returncode == 2 and "none.elf" in done.stderr and "No such file" in done.stderr


@pytest.mark.parametrize(
    ("header", "message"),
    [((0, 0x4000), "no raw image"), ((0x5000, 0x4000), "start address 0x00005000 (byte 4 of the file) is outside"),
     ((0xFFFFFFF8, 0xFFFFFFF8), "passes the end of the address space"), ((0x4002, 0x4000), "not a multiple of 4")],
)
def test_malformed_raw(header: tuple, message: str, build_dir: Path, tmp_path: Path):
    bad = tmp_path / "bad.raw"
    bad.write_bytes(struct.pack(">III", 0, *header) + (bytes(16) if header[0] else b""))
    done = oracle(build_dir, "--raw", bad)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_raw_image_may_end_with_the_address_space(build_dir: Path, tmp_path: Path):
    raw = tmp_path / "top.raw"
    raw.write_bytes(struct.pack(">III", 0, 0xFFFFFFF0, 0xFFFFFFF0) + bytes(16))
    done = subprocess.run([build_dir / "bin" / "mips-disasm", "--raw", raw], capture_output=True, text=True)
    assert done.returncode == 0 and "fffffffc" in done.stdout, done.stderr


@pytest.fixture(scope="session")
def loader(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The loader, in the soak with sanitizers."""
    return kit.program(Path(__file__).with_name("loader_mutation.c"), ["program/*.c"], tmp_path_factory.mktemp("loader") / "loader_mutation")


@pytest.fixture(scope="session")
def compressed(elf: Path) -> Path:
    """The program with debug information compressed by zstd."""
    run([tool("llvm-objcopy"), "--compress-debug-sections=zstd", elf, elf.with_name("zstd.elf")])
    return elf.with_name("zstd.elf")


@pytest.mark.parametrize("seed", sampled(range(1, 5), 4))
@pytest.mark.parametrize("program", ["elf", "compressed"])
def test_mutations_are_loaded_or_refused(seed: int, program: str, loader: Path, request: pytest.FixtureRequest):
    done = subprocess.run([loader, request.getfixturevalue(program), str(seed), "500"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.soak
@pytest.mark.parametrize("kit", ["sanitized"], indirect=True)
@pytest.mark.parametrize("program", ["elf", "compressed"])
def test_many_mutations(program: str, loader: Path, request: pytest.FixtureRequest):
    done = subprocess.run([loader, request.getfixturevalue(program), "99", "50000"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
