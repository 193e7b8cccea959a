"""RV32I: the interpreter against hand-worked results and against qemu, the disassembler against LLVM's."""

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.programs import run, tool
from tests.isa.streams import explain

FIRST = int(os.environ.get("SEED", "1"))
NAMES = ["zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"]
with_qemu = pytest.mark.skipif(shutil.which("qemu-riscv32") is None, reason="qemu-user is not installed")


def oracle(build_dir: Path, *words: object) -> subprocess.CompletedProcess:
    return subprocess.run([build_dir / "bin" / "rv32i-oracle", *map(str, words)], capture_output=True, text=True)


def test_every_instruction_has_cases():
    assert {i.name for i in riscv.table()} == riscv.COVERED | {"ebreak"}


def test_cases_on_the_interpreter(build_dir: Path, tmp_path: Path):
    done = oracle(build_dir, "--registers", "--limit", 100000, riscv.assemble(riscv.cases(0), tmp_path / "cases.elf"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"\b(?:zero|ra|sp|gp|tp|[ast]\d+) +0x[0-9a-f]{8}\b", done.stdout)) == 32
    assert [line.split()[0] for line in done.stdout.splitlines()[-2:]] == ["t3", "pc"]


@with_qemu
def test_cases_agree_with_qemu(tmp_path: Path):
    assert subprocess.run(["qemu-riscv32", riscv.assemble(riscv.cases(1), tmp_path / "cases.elf")]).returncode == 0


def compare(seed: int, build_dir: Path, tmp_path: Path) -> None:
    elf = riscv.assemble(riscv.random_program(seed).text, tmp_path / f"stream{seed}.elf")
    qemu = subprocess.run(["qemu-riscv32", elf], capture_output=True, timeout=60)
    found = subprocess.run([build_dir / "bin" / "rv32i-oracle", elf], capture_output=True, timeout=60)
    assert qemu.returncode == 0 and found.returncode == 0, f"seed {seed}: {qemu.stderr.decode()}{found.stderr.decode()}"
    assert found.stdout == qemu.stdout, f"seed {seed}: {explain(qemu.stdout, found.stdout)}"


@with_qemu
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 10))
def test_random_stream(seed: int, build_dir: Path, tmp_path: Path):
    """SEED=n in the environment starts at another seed."""
    compare(seed, build_dir, tmp_path)


@with_qemu
@pytest.mark.soak
def test_many_random_streams(build_dir: Path, tmp_path: Path):
    for seed in range(1000, 2000):
        compare(seed, build_dir, tmp_path)


def test_streams_contain_every_instruction():
    names = set().union(*(riscv.random_program(seed).names for seed in range(1, 21)))
    assert names >= {i.name for i in riscv.table()} - {"ecall", "ebreak"}


EXCEPTIONS = {
    "ebreak": (["X: ebreak"], "ebreak at"),
    "reserved": (["X: .word 0x0000007f"], "reserved instruction 0x0000007f"),
    "another extension": (["X: .word 0x02208033"], "reserved instruction 0x02208033"),
    "lw": (["li t0, 2", "X: lw a0, 0(t0)"], "misaligned address 0x00000002"),
    "sh": (["li t0, 1", "X: sh a0, 0(t0)"], "misaligned address 0x00000001"),
    "unmapped": (["lui t0, 0x12340", "X: lw a0, 8(t0)"], "nothing at that address 0x12340008"),
    "jump": (["li t0, 6", "X: jalr a0, 1(t0)"], "misaligned address 0x00000006"),
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_change_nothing_and_say_where(name: str, build_dir: Path, tmp_path: Path):
    lines, text = EXCEPTIONS[name]
    elf = riscv.assemble("li a0, 99\n" + "\n".join(lines) + "\nEXIT 1\n", tmp_path / "x.elf")
    done = oracle(build_dir, "--registers", elf)
    assert done.returncode == 125 and text in done.stderr and "<X+0x0>" in done.stderr, done.stderr
    assert "a0   0x00000063" in done.stdout


def test_the_wrong_processor_is_refused(build_dir: Path, tmp_path: Path):
    elf = riscv.assemble("EXIT 0\n", tmp_path / "x.elf")
    for name in ("mips-oracle", "mips-disasm"):
        done = subprocess.run([build_dir / "bin" / name, elf], capture_output=True, text=True)
        assert done.returncode in (1, 2) and done.stderr == f"{name}: {elf}: ELF machine 243 is not MIPS (8)\n"


def ours(build_dir: Path, values: list[int]) -> list[str]:
    text = "".join(f"{w:08x}\n" for w in values)
    return subprocess.run([build_dir / "bin" / "rv32i-disasm", "--words"], input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def llvm(values: list[int], directory: Path) -> list[str]:
    """One line per word; what is no instruction becomes .word."""
    source, elf = directory / "words.s", directory / "words.o"
    source.write_text(".text\n" + "".join(f".insn 4, {w:#010x}\n" for w in values))
    run([tool("clang"), *riscv.TARGET, "-c", source, "-o", elf])
    shown = ["-d", "--no-show-raw-insn", "--no-print-imm-hex", "-M", "no-aliases", "--mattr=-c"]
    listing = run([tool("llvm-objdump"), *shown, elf]).stdout.decode()
    lines = [m[1].strip() for m in re.finditer(r"^ +[0-9a-f]+:\s+(.*)$", listing, re.MULTILINE)]
    return [".word" if "<unknown>" in line else re.sub(r"\s*<.*>", "", line) for line in lines]


def normal(text: str, address: int) -> tuple:
    """Mnemonic and operands, targets relative to the instruction."""
    name, _, rest = text.replace("\t", " ").partition(" ")
    words = [w for w in re.split(r"[,\s()]+", rest) if w]
    if name in ("beq", "bne", "blt", "bge", "bltu", "bgeu", "jal"):
        words[-1] = str(int(words[-1], 16) - address & 0xFFFFFFFF)
    return name, [w if w in NAMES or name == "fence" else int(w, 0) for w in words]


def test_disassembler_agrees_with_llvm(build_dir: Path, tmp_path: Path):
    r = random.Random(7)
    words = [i.match | r.getrandbits(32) & ~i.mask & 0xFFFFFFFF for i in riscv.table() if i.name != "fence" for _ in range(30)]
    words += [0x0FF0000F, 0x0330000F, 0x0F00000F, 0x0080000F, 0x0000000F, 0x0140000F, 0x00000057, 0xFE000033]
    wrong = []
    for n, (word, own, other) in enumerate(zip(words, ours(build_dir, words), llvm(words, tmp_path), strict=True)):
        same = own.startswith(".word") if other.startswith(".word") else normal(own, 0) == normal(other, 4 * n)
        if not same:
            wrong.append(f"{word:08x}: {own}, LLVM: {other}")
    assert not wrong, "\n".join(wrong[:20])
