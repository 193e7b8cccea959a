"""Every instruction against hand-worked results, on the interpreter and, as a check of the tables, on qemu."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.isa import cases
from tests.isa.programs import assemble
from tests.sample import sampled

TABLE = Path(__file__).resolve().parents[2] / "emulib" / "mips" / "instructions.def"


def table_names() -> list[str]:
    """Those of programs; what systems need is tried where there is one."""
    lines = (line.split("#")[0].split() for line in TABLE.read_text().splitlines())
    return [words[words[0] == "alias"] for words in lines if words and words[0] not in ("isa", "set") and words[1] not in ("mips32r2_system", "mips32r2_mt")]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("isa")


def test_every_instruction_of_the_table_has_cases():
    assert set(table_names()) == set(cases.NAMES) | {"syscall", "break", "nop"}


@pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
@pytest.mark.parametrize("name", cases.NAMES)
def test_interpreter(name: str, big: bool, build_dir: Path, programs: Path):
    instruction_set = cases.set_of(name)
    elf = cases.program(programs, name, 0, big, "linux", instruction_set)
    command = [build_dir / "bin" / "mips-oracle", "--set", instruction_set, "--limit", "100000", elf]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"case {done.returncode} of {name}: {done.stderr}"


@pytest.mark.skipif(shutil.which("qemu-mips") is None, reason="qemu-user is not installed")
@pytest.mark.parametrize("big", sampled([True, False], 2), ids=["big", "little"])
@pytest.mark.parametrize("instruction_set", ["mips2", "mips32r2"])
def test_tables_agree_with_qemu(instruction_set: str, big: bool, programs: Path):
    failed = {}
    for name in cases.names_of(instruction_set):
        elf = cases.program(programs, name, 1, big, "linux", instruction_set)
        status = subprocess.run(["qemu-mips" if big else "qemu-mipsel", "-cpu", "24Kc", elf], capture_output=True).returncode
        if status != 0:
            failed[name] = status
    assert not failed


EXCEPTIONS = {
    "add": (["lui $t0, 0x7fff", "lui $t1, 0x7fff", "X: add $v1, $t0, $t1"], "arithmetic overflow"),
    "addi": (["lui $t0, 0x7fff", "ori $t0, $t0, 0xffff", "X: addi $v1, $t0, 1"], "arithmetic overflow"),
    "sub": (["lui $t0, 0x8000", "addiu $t1, $zero, 1", "X: sub $v1, $t0, $t1"], "arithmetic overflow"),
    "break": (["nop", "X: break 5"], "break"),
    "syscall": (["addiu $v0, $zero, 1", "lui $t0, 0x7fff", "ori $t0, $t0, 0xffff", "syscall", "X: break"], "break"),
    "reserved": (["X: .word 0x7c000000"], "reserved instruction 0x7c000000"),
    "lw": (["addiu $t0, $zero, 2", "X: lw $v1, 0($t0)"], "misaligned address 0x00000002"),
    "sh": (["addiu $t0, $zero, 1", "X: sh $v1, 0($t0)"], "misaligned address 0x00000001"),
    "ll": (["addiu $t0, $zero, 1", "X: ll $v1, 0($t0)"], "misaligned address 0x00000001"),
    "unmapped": (["lui $t0, 0x1234", "X: lw $v1, 8($t0)"], "nothing at that address 0x12340008"),
    "jump": (["addiu $t0, $zero, 6", "jr $t0", "nop"], "misaligned address 0x00000006"),
    "slot": (["addiu $t0, $zero, 1", "bnez $t0, 1f", "X: teq $zero, $zero", "1: nop"], "in a delay slot"),
}
EXCEPTIONS |= {
    name: ([*cases.li("t0", a), *cases.li("t1", b), "X: " + cases.trap_code(name, b)], "trap")
    for name, (a, b) in cases.TRAPPING.items()
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_change_nothing_and_say_where(name: str, build_dir: Path, tmp_path: Path):
    lines, text = EXCEPTIONS[name]
    elf = assemble("addiu $v1, $zero, 99\n" + "\n".join(lines) + "\nEXIT 1\n", tmp_path / "x.elf", True)
    done = subprocess.run([build_dir / "bin" / "mips-oracle", "--registers", elf], capture_output=True, text=True)
    assert done.returncode == 125 and text in done.stderr, done.stderr
    assert "$v1   0x00000063" in done.stdout
    if any(line.startswith("X:") for line in lines):
        assert "<X+0x0>" in done.stderr


def test_instruction_sets_differ(build_dir: Path, tmp_path: Path):
    """PRI is reserved in MIPS II, and MOVN in MIPS32; the traps are reserved in MIPS I, and SEB before MIPS32r2; DI is no business of programs."""
    all_sets = ["mips1", "mips2", "prijoff", "mips32", "mips32r2", "mips32r2_system", "mips32r2_mt"]
    for name, word, sets in (("pri", "0x0109180b", all_sets[2:]), ("tne", "0x00000036", all_sets[1:]), ("clz", "0x71091820", all_sets[3:]),
                             ("seb", "0x7c090420", all_sets[4:]), ("di", "0x41606000", [])):  # fmt: skip
        elf = assemble(f".word {word}\nEXIT 0\n", tmp_path / f"{name}.elf", True, instruction_set="mips1")
        for which in all_sets:
            command = [build_dir / "bin" / "mips-oracle", "--set", which, elf]
            assert (subprocess.run(command, capture_output=True).returncode == 0) == (which in sets)


def test_counts_and_trace(build_dir: Path, tmp_path: Path):
    elf = assemble("addiu $t0, $zero, 3\n1: addiu $t0, $t0, -1\nbnez $t0, 1b\nnop\nEXIT 0\n", tmp_path / "x.elf", True)
    trace = tmp_path / "trace"
    command = [build_dir / "bin" / "mips-oracle", "--counts", "--registers", "--trace", trace, elf]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert "bne      3\n" in done.stdout and "sll      3\n" in done.stdout
    assert trace.read_text().splitlines()[:3] == [
        "0x00400000 24080003 addiu $t0, $zero, 3",
        "0x00400004 2508ffff addiu $t0, $t0, -1",
        "0x00400008 1500fffe bne $t0, $zero, 0x400004",
    ]


def test_a_store_ends_a_link_to_its_word(build_dir: Path, tmp_path: Path):
    """SC succeeds (1) behind a store beside the linked word, and fails (0) behind a store into it."""
    stores = {"s0": "sw $zero, -8($sp)", "s1": "sw $zero, -12($sp)", "s2": "sw $zero, -4($sp)", "s3": "sb $zero, -5($sp)"}
    lines = [line for name, store in stores.items() for line in ("ll $t0, -8($sp)", store, f"addiu ${name}, $zero, 9", f"sc ${name}, -8($sp)")]
    elf = assemble("\n".join(lines) + "\nEXIT 0\n", tmp_path / "x.elf", True)
    done = subprocess.run([build_dir / "bin" / "mips-oracle", "--registers", elf], capture_output=True, text=True)
    assert re.findall(r"\$s[0-3] +0x(\w+)", done.stdout) == ["00000000", "00000001", "00000001", "00000000"], done.stderr
