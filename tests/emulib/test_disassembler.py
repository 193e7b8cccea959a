"""The disassembler against LLVM's, on random words."""

import random
import re
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import run, target, tool
from tests.isa.streams import table

NAMES = ["zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra"]


def words(seed: int, instruction_set: str) -> list[int]:
    """Encodings of every instruction, the same with one bit flipped, and arbitrary words."""
    r = random.Random(seed)
    found = []
    for i in table(instruction_set):
        for _ in range(30):
            word = i.match | r.getrandbits(32) & ~i.mask
            found += [word, word ^ 1 << r.randrange(32)]
    return [word for word in found + [r.getrandbits(32) for _ in range(3000)] if not undefined(word)]


def undefined(word: int) -> bool:
    """clz and clo name their destination twice, and LLVM prints both names in one when they differ; a field to insert must not
    end before it begins."""
    operation, first, last = (word >> 26, word & 0x3F), word >> 6 & 31, word >> 11 & 31
    return (operation in ((0x1C, 0x20), (0x1C, 0x21)) and word >> 16 & 31 != last) or (operation == (0x1F, 4) and last < first)


def ours(build_dir: Path, values: list[int], instruction_set: str) -> list[str]:
    text = "".join(f"{w:08x}\n" for w in values)
    command = [build_dir / "bin" / "mips-disasm", "--words", "--pc", "0", "--set", instruction_set]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def llvm(values: list[int], directory: Path, instruction_set: str) -> list[str]:
    """One line per word; what is no instruction becomes .word."""
    source, elf = directory / "words.s", directory / "words.o"
    source.write_text(".text\n" + "".join(f".word {w:#010x}\n" for w in values))
    run([tool("clang"), *target(True), "-c", source, "-o", elf])
    listing = run([tool("llvm-objdump"), "-d", "--no-show-raw-insn", "--no-print-imm-hex", f"--mcpu={instruction_set.split('_')[0]}", *["--mattr=+mt"] * instruction_set.endswith("_mt"), elf]).stdout.decode()
    listing = re.sub(r"\.set\tpush\n\t\.set\tmips32r2\n\t", "", listing)  # around rdhwr
    lines = [m[1].strip() for m in re.finditer(r"^ +[0-9a-f]+:\s+(.*)$", listing, re.MULTILINE)]
    return [".word" if "<unknown>" in line else re.sub(r"\s*<.*>", "", line) for line in lines]


def normal(text: str) -> tuple:
    """Mnemonic and operands as numbers; LLVM's spellings of the same thing become ours."""
    name, _, rest = text.replace("\t", " ").partition(" ")
    operands = []
    for item in filter(None, re.split(r"[,\s()]+", rest)):
        if item.startswith("$"):
            item = item.removeprefix("$").removeprefix("f") if item != "$fp" else "fp"
            operands.append("r" + (item if item.isdigit() else str(NAMES.index(item))))
        else:
            operands.append(int(item, 0) & 0xFFFFFFFF)
    if name in ("div", "divu") and len(operands) == 3:
        operands = operands[1:]
    return name, operands


ALIASES = {"move": ("addu", "or"), "neg": ("sub",), "negu": ("subu",), "b": ("beq",), "bal": ("bgezal",), "jr": ("jr", "jalr"),
           "bnez": ("bne",), "beqz": ("beq",), "bnezl": ("bnel",), "beqzl": ("beql",), "not": ("nor",)}  # fmt: skip


def same(word: int, own: str, other: str, address: int) -> bool:
    # LLVM knows neither the first two nor a number in wait, and one register only of rdhwr's.
    if own.startswith(("rdpgpr", "wrpgpr", "wait ", "rdhwr")) and other == ".word":
        return True
    if own.startswith(".word") or other.startswith(".word"):
        return own.startswith(".word") and other.startswith(".word")
    a, b = normal("sll $zero, $zero, 0" if own == "nop" else own), normal(other)
    if a[0][0] == "b" and a[0] != "break":
        a[1][-1] = (a[1][-1] + address) & 0xFFFFFFFF  # ours was disassembled at 0
    if a[0] in ("jalr", "jalr.hb") and a[1][0] == "r31" and len(b[1]) == 1:
        a[1].pop(0)
    # LLVM prints some forms under other names, without $zero; numbers that hardware ignores go when they are zero.
    return a[0] in ALIASES.get(b[0], (b[0],)) and essence(a[1]) == essence(b[1])


def essence(operands: list) -> list:
    return [v for v in operands if v not in (0, "r0")]


# What LLVM 22 for MIPS II takes for an instruction though MIPS II has none there: coprocessors, which this table leaves
# out (MOVF and MOVT read theirs), encodings of MIPS16 and of later instruction sets that its tables admit, and sync with non-zero reserved bits.
LATER = re.compile(r"sync|jalx|mov[ft]|.*c[0-3]z?$|.*\.[sdwlu]|bc[0-3]|[lsdm][wdtf]c[0-3]|cache|pref|ssnop|ehb|eret|sdbbp|tlb|wait|[cd][ft]c[0-3]")


def outside(other: str) -> bool:
    return LATER.match(other.split()[0]) is not None


@pytest.mark.parametrize("instruction_set", ["mips2", "mips32", "mips32r2", "mips32r2_system", "mips32r2_mt"])
def test_disassembler_agrees_with_llvm(instruction_set: str, build_dir: Path, tmp_path: Path):
    seed = 7
    values = words(seed, instruction_set)
    wrong = []
    for n, (word, own, other) in enumerate(zip(values, ours(build_dir, values, instruction_set), llvm(values, tmp_path, instruction_set), strict=True)):
        if not (own.startswith((".word", "cop", "movci")) and outside(other)) and not same(word, own, other, 4 * n):
            wrong.append(f"{word:08x}: {own!r}, llvm {other!r}")
    assert not wrong, f"seed {seed}: {len(wrong)} words differ\n" + "\n".join(wrong[:40])


def test_prijoff_text(build_dir: Path):
    command = [build_dir / "bin" / "mips-disasm", "--words", "--set", "prijoff"]
    done = subprocess.run(command, input="0109180b\n0109000a\n", capture_output=True, text=True)
    assert done.stdout == "pri $v1, $t0, $t1\njoff $t0, $t1\n"


def test_bad_words_are_named(build_dir: Path):
    done = subprocess.run([build_dir / "bin" / "mips-disasm", "--words"], input="0\nxyz\n", capture_output=True, text=True)
    assert done.returncode == 1 and "standard input:2: 'xyz' is not a 32-bit hexadecimal word" in done.stderr
