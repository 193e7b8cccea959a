"""The tools' command lines: what they print on request, the service of system calls, and one line for each mistake."""

import os
import re
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.programs import TEXT, assemble

COUNT = "addiu $t0, $zero, 3\n1: addiu $t0, $t0, -1\nbnez $t0, 1b\nnop\nEXIT 0\n"


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs 1 + 3 * 3 instructions and three for its end."""
    return assemble(COUNT, tmp_path_factory.mktemp("tools") / "count.elf", True)


def tool(build_dir: Path, name: str, *words: object, **options) -> subprocess.CompletedProcess:
    command = [build_dir / "bin" / name, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


@pytest.mark.parametrize("limit", [0, 1, 12])
def test_a_limit_ends_a_run_before_the_next_instruction(limit: int, counting: Path, build_dir: Path):
    done = tool(build_dir, "mips-oracle", "--registers", "--limit", limit, counting)
    assert (done.returncode, done.stderr) == (124, "") and done.stdout.endswith(f"retired {limit}\n")


def test_a_limit_that_is_not_reached(counting: Path, build_dir: Path):
    """The system call that ends a program is not retired: nothing comes behind it."""
    done = tool(build_dir, "mips-oracle", "--registers", "--limit", 13, counting)
    assert done.returncode == 0 and done.stdout.endswith("retired 12\n")


def test_memory_that_is_requested(counting: Path, build_dir: Path):
    done = tool(build_dir, "mips-oracle", "--dump", f"{TEXT:#x}:8", counting)
    assert (done.returncode, done.stdout) == (0, "0x00400000 0x24080003\n0x00400004 0x2508ffff\n")
    done = tool(build_dir, "mips-oracle", "--dump", "0xfffffffc:4", counting)
    assert (done.returncode, done.stdout) == (0, "0xfffffffc unmapped\n"), "up to the end of the address space"
    done = tool(build_dir, "mips-oracle", "--dump", "0x7fffeffc:5", counting)
    assert done.stdout == "0x7fffeffc 0x00000000\n0x7ffff000 unmapped\n", "up to the end of the stack, by words"


@pytest.mark.parametrize("what", ["x", "0x1000", "0x1000:", "0x1000:0", "0x1000:4x", "2:4", "0xfffffffc:5", "0x1000:-4", "0x100000000:4", "-4:4"])
def test_memory_that_there_cannot_be(what: str, counting: Path, build_dir: Path):
    done = tool(build_dir, "mips-oracle", f"--dump={what}", counting)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"mips-oracle: --dump {what}: expected ADDRESS:BYTES, such as 0x1000:64\n"


def test_traces(counting: Path, build_dir: Path, tmp_path: Path):
    done = tool(build_dir, "mips-oracle", "--trace", "-", counting)
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and len(lines) == 13 and lines[0] == "0x00400000 24080003 addiu $t0, $zero, 3"
    assert lines[-1].endswith(" syscall")
    for place, status, why in (tmp_path, 2, "Is a directory"), ("/dev/full", 1, "No space left on device"):
        done = tool(build_dir, "mips-oracle", "--trace", place, counting)
        assert (done.returncode, done.stderr) == (status, f"mips-oracle: cannot write {place}: {why}\n")


def test_counts_and_trace_of_the_other_processor(build_dir: Path, tmp_path: Path):
    elf = riscv.assemble("li t0, 3\n1: addi t0, t0, -1\nbnez t0, 1b\nEXIT 261\n", tmp_path / "x.elf")
    done = tool(build_dir, "rv32i-oracle", "--counts", "--trace", "-", elf)
    assert done.returncode == 261 % 256 and done.stdout == "bne      3\naddi     6\necall    1\n"
    assert done.stderr.splitlines()[1:3] == ["0x00400004 fff28293 addi t0, t0, -1", "0x00400008 fe029ee3 bne t0, zero, 0x400004"]


SERVICES = {  # number, arguments, result or Linux's number of the error
    "nowhere": ("write", (3, "message", 5), 9, True),
    "outside": ("write", (1, 0x1000, 5), 14, True),
    "nothing": ("write", (1, 0x1000, 0), 0, False),
    "over the end": ("write", (1, 0x7FFFEFFE, 3), 14, True),
    "errors": ("write", (2, "message", 5), 5, False),
    "unknown": (0, (1, 2, 3), 38, True),
}


@pytest.mark.parametrize("name", SERVICES)
def test_system_calls(name: str, build_dir: Path, tmp_path: Path):
    number, (fd, address, length), value, failed = SERVICES[name]
    data = '\n.data\nmessage: .ascii "hello"\n.text\n'
    mips, risc = (4004, 64) if number == "write" else (1, 1)
    place = f"lui $a1, %hi({address})\naddiu $a1, $a1, %lo({address})"
    text = f"addiu $a0, $zero, {fd}\n{place}\naddiu $a2, $zero, {length}\naddiu $v0, $zero, {mips}\naddiu $a3, $zero, 7\nsyscall\nbreak 3\n"
    done = tool(build_dir, "mips-oracle", "--registers", assemble(text + data, tmp_path / "m.elf", True))
    assert re.findall(r"\$(v0|a3) +0x(\w+)", done.stdout) == [("v0", f"{value:08x}"), ("a3", f"{failed:08x}")]
    assert done.stderr.startswith("hello") == (name == "errors") and "break 3 at" in done.stderr
    text = f"li a0, {fd}\nla a1, {address}\nli a2, {length}\nli a7, {risc}\necall\nebreak\n"
    done = tool(build_dir, "rv32i-oracle", "--registers", riscv.assemble(text + data, tmp_path / "r.elf"))
    assert re.findall(r"a0 +0x(\w+)", done.stdout) == [f"{(-value if failed else value) & 0xFFFFFFFF:08x}"]
    assert done.stderr.startswith("hello") == (name == "errors") and "ebreak at" in done.stderr


@pytest.mark.parametrize("number", [4001, 4246])
def test_a_program_ends_with_a_status_of_eight_bits(number: int, build_dir: Path, tmp_path: Path):
    elf = assemble(f"addiu $a0, $zero, 0x1fe\naddiu $v0, $zero, {number}\nsyscall\n", tmp_path / "x.elf", True)
    assert tool(build_dir, "mips-oracle", elf).returncode == 0xFE


@pytest.mark.parametrize(
    ("name", "words", "status", "says"),
    [
        ("mips-oracle", [], 2, "one program is expected; see mips-oracle --help"),
        ("mips-oracle", ["a", "b"], 2, "one program is expected; see mips-oracle --help"),
        ("rv32i-oracle", ["--speed", "a"], 2, "Unknown option --speed"),
        ("mips-oracle", ["--set", "mips3", "a"], 2, "there is no instruction set 'mips3'; there are mips1, mips2, prijoff, mips32, mips32r2, mips32r2_system, mips32r2_mt"),
        ("rv32i-disasm", [], 2, "one program (or --words) is expected; see rv32i-disasm --help"),
        ("mips-disasm", ["--words", "a"], 2, "one program (or --words) is expected; see mips-disasm --help"),
        ("mips-disasm", ["--speed"], 2, "Unknown option --speed"),
        ("mips-disasm", ["--set", "mips", "a"], 2, "there is no instruction set 'mips'; there are mips1, mips2, prijoff, mips32, mips32r2, mips32r2_system, mips32r2_mt"),
        ("mips-disasm", ["--words", "--pc", "0x100000000"], 2, '--pc: "0x100000000" is not in the range 0 to 4294967295'),
        ("mips-disasm", ["--words", "--pc=-4"], 2, '--pc: "-4" is not in the range 0 to 4294967295'),
        ("mips-disasm", ["/none"], 1, 'cannot read program "/none": No such file or directory'),
        ("mips-oracle", ["/"], 2, 'cannot read program "/": it is a folder'),
        ("mips-oracle", ["/dev/null"], 2, 'cannot read program "/dev/null": it is a device, not a file'),
    ],
)
def test_wrong_command_lines(name: str, words: list[str], status: int, says: str, build_dir: Path):
    done = tool(build_dir, name, *words, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", f"{name}: {says}\n")


def test_a_program_comes_from_a_file_or_an_open_one(counting: Path, build_dir: Path, tmp_path: Path):
    """A pipe that was handed over is read to its end; one that has a name could wait for ever."""
    oracle = f"{build_dir}/bin/mips-oracle"
    done = subprocess.run(f"cat {counting} | {oracle} /dev/stdin", shell=True, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    with counting.open() as file:
        assert tool(build_dir, "mips-oracle", "/dev/fd/0", stdin=file).returncode == 0
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        for kind, why in ("pipe", "it is a named pipe, not a file"), ("socket", "it is a socket, not a file"):
            done = tool(build_dir, "mips-oracle", tmp_path / kind)
            assert (done.returncode, done.stderr) == (2, f'mips-oracle: cannot read program "{tmp_path / kind}": {why}\n')
    done = tool(build_dir, "mips-oracle", "/dev/stdin", stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (2, 'mips-oracle: cannot read program "/dev/stdin": it is a device, not a file\n')


@pytest.mark.parametrize(("flags", "refused"), [(0, False), (1, True), (2, True), (6, True), (8, True), (0x10, False)])
def test_code_for_other_riscv_processors_is_refused(flags: int, refused: bool, build_dir: Path, tmp_path: Path):
    elf = riscv.assemble("EXIT 0\n", tmp_path / "x.elf")
    image = bytearray(elf.read_bytes())
    struct.pack_into("<I", image, 36, flags)
    elf.write_bytes(image)
    done = tool(build_dir, "rv32i-oracle", elf)
    assert done.returncode == (2 if refused else 0)
    assert (f"ELF flags 0x{flags:08x} say compressed, floating-point or embedded code" in done.stderr) == refused


# Of the section header of the symbol table (offset, value), or of its first symbols; what the message must say.
TABLES = {
    "entry size": (36, 12, "malformed symbol table: wrong entry size"),
    "its strings": (24, 0x7FFF, "is not in the string table"),
    "its place": (16, 0x7FFFFFF0, "malformed symbol table: "),
}


@pytest.mark.parametrize("defect", TABLES)
def test_malformed_symbol_table(defect: str, counting: Path, build_dir: Path, tmp_path: Path):
    offset, value, message = TABLES[defect]
    image = bytearray(counting.read_bytes())
    at = struct.unpack_from(">I", image, 32)[0]
    while struct.unpack_from(">I", image, at + 4)[0] != 2:
        at += 40
    struct.pack_into(">I", image, at + offset, value)
    bad = tmp_path / "bad.elf"
    bad.write_bytes(image)
    done = tool(build_dir, "mips-oracle", bad)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"mips-oracle: {bad}: section ") and message in done.stderr, done.stderr


REFERENCES = {
    "sw": ("sw $t0, 8($t0)", "nothing at that address 0x12340008"),
    "swl": ("swl $t0, 9($t0)", "nothing at that address 0x12340009"),
    "swr": ("swr $t0, 9($t0)", "nothing at that address 0x12340008"),
    "lwl": ("lwl $v1, 9($t0)", "nothing at that address 0x12340009"),
    "lwr": ("lwr $v1, 9($t0)", "nothing at that address 0x12340008"),
    "ll": ("ll $v1, 8($t0)", "nothing at that address 0x12340008"),
    "sc": ("sc $v1, 9($t0)", "misaligned address 0x12340009"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_references_to_nothing(name: str, build_dir: Path, tmp_path: Path):
    line, text = REFERENCES[name]
    elf = assemble(f"addiu $v1, $zero, 99\nlui $t0, 0x1234\nX: {line}\n", tmp_path / "x.elf", True)
    done = tool(build_dir, "mips-oracle", "--registers", elf)
    assert done.returncode == 125 and f"{text} at 0x00400008 <X+0x0>" in done.stderr, done.stderr
    assert "$v1   0x00000063" in done.stdout and done.stdout.endswith("retired 2\n")


def test_a_conditional_store_without_a_link_stores_nothing(build_dir: Path, tmp_path: Path):
    """So it does not matter that there is no memory; a link counts for its address alone, and once."""
    lines = ["lui $t0, 0x1234", "addiu $s0, $zero, 9", "sc $s0, 8($t0)", "ll $t1, -8($sp)", "addiu $s1, $zero, 9", "sc $s1, -12($sp)",
             "ll $t1, -8($sp)", "addiu $s2, $zero, 9", "sc $s2, -8($sp)", "addiu $s3, $zero, 9", "sc $s3, -8($sp)", "lw $s4, -8($sp)"]  # fmt: skip
    done = tool(build_dir, "mips-oracle", "--registers", assemble("\n".join(lines) + "\nEXIT 0\n", tmp_path / "x.elf", True))
    assert re.findall(r"\$s[0-4] +0x(\w+)", done.stdout) == ["00000000", "00000000", "00000001", "00000000", "00000009"]
