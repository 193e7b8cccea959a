"""The core made of modules retires the same instructions in the same cycles as the independent monolithic simulator."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa.programs import HEAD, run, tool

HERE = Path(__file__).resolve().parent

MACHINE = """
instance cpu : bench_core;
collector trace on "cpu.pipeline.writeback" event retire {
  record <<< printf("%llu %08x\\n", (unsigned long long)cycle, (unsigned)pc); >>>
}
"""

# Everything whose timing is special: what it tests, and the code, which starts with $s0 = 0x1000 in the data area.
CASES = {
    "alu": "addu $t0, $s0, $s0; addu $t1, $t0, $t0; addu $t2, $t0, $t1; sltu $t3, $t2, $t0; lui $t4, 5; ori $t4, $t4, 7",
    "load_use": "sw $s0, 0($s0); lw $t0, 0($s0); addu $t1, $t0, $t0; lw $t2, 0($s0); nop; addu $t3, $t2, $t2; sw $t3, 4($s0)",
    "load_store": "lw $t0, 0($s0); sw $t0, 4($s0); lw $t1, 4($s0); sb $t1, 8($s0); lbu $t2, 8($s0); sh $t2, 10($s0)",
    "alu_branch": "addiu $t0, $zero, 3; 1: addiu $t0, $t0, -1; bne $t0, $zero, 1b; addu $t1, $t1, $t0; bgtz $t1, 2f; nop; 2: nop",
    "load_branch": "sw $zero, 0($s0); lw $t0, 0($s0); beq $t0, $zero, 1f; addiu $t1, $t1, 1; addiu $t1, $t1, 64; 1: nop",
    "load_nop_branch": "sw $zero, 0($s0); lw $t0, 0($s0); nop; beq $t0, $zero, 1f; lw $t1, 0($s0); addiu $t1, $t1, 64; 1: nop",
    "likely": "addiu $t0, $zero, 2; 1: addiu $t0, $t0, -1; bnel $t0, $zero, 1b; lw $t1, 0($s0); beql $t0, $t0, 2f; "
    "sw $t1, 0($s0); addiu $t1, $t1, 1; 2: bnel $t0, $t0, 1b; mult $t0, $t0; nop",
    "jumps": "jal 3f; addiu $t0, $zero, 1; b 4f; nop; 3: jr $ra; addu $t0, $ra, $t0; 4: bal 5f; lw $t1, 0($s0); "
    "5: addiu $t2, $ra, 20; jalr $t3, $t2; nop; nop; nop; nop",
    "multiply": "addiu $t0, $zero, 77; mult $t0, $s0; mflo $t1; addu $t2, $t1, $t1; multu $t1, $t0; nop; nop; mfhi $t3; mtlo $t0; mflo $t4",
    "divide": "addiu $t0, $zero, 7; divu $zero, $s0, $t0; addiu $t1, $zero, 1; mflo $t2; mfhi $t3; div $zero, $t2, $t0; mult $t0, $t0; mflo $t4",
    "unaligned": "sw $s0, 0($s0); lwl $t0, 1($s0); lwr $t0, 4($s0); swl $t0, 6($s0); swr $t0, 9($s0); lw $t1, 4($s0); addu $t2, $t1, $t0",
    "linked": "ll $t0, 0($s0); addiu $t0, $t0, 1; sc $t0, 0($s0); beq $t0, $zero, 1f; nop; 1: sc $t0, 0($s0); addu $t1, $t0, $t0",
    "port": "sw $s0, 0($s0); sw $s0, 4($s0); lw $t0, 0($s0); lw $t1, 4($s0); b 1f; lw $t2, 0($s0); nop; 1: sw $t2, 8($s0); b 2f; "
    "sw $t1, 12($s0); nop; 2: lw $t3, 0($t2); lw $t4, 0($t3)",
    "self_modifying": "lui $t0, 0x2409; ori $t0, $t0, 7; addiu $t1, $zero, %lo(5f); addiu $t1, $t1, 0; sw $t0, 0($t1); nop; nop; nop; 5: nop; "
    "addu $t3, $t1, $t1",
}


@pytest.fixture(scope="module")
def machine(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core of modules, which prints what it retires."""
    folder = tmp_path_factory.mktemp("agreement")
    (folder / "machine.lss").write_text(MACHINE)
    command = [build_dir / "bin" / "lss", "build", folder / "machine.lss", "-I", HERE, "-o", folder / "machine"]
    subprocess.run(command, check=True)
    return folder / "machine"


@pytest.fixture
def compare(machine: Path, build_dir: Path, tmp_path: Path) -> Callable[[Path, int], int]:
    """Runs a program on both simulators and compares the traces; returns how many instructions retired."""

    def run_both(program: Path, cycles: int) -> int:
        own = subprocess.run(
            [machine, "--quiet", "--cycles", str(cycles), "--set", f"cpu.image={program}"],
            capture_output=True,
            text=True,
        )
        assert own.returncode == 0, own.stderr
        other = tmp_path / "trace"
        subprocess.run(
            [build_dir / "bench" / "monolith", "--cycles", str(cycles), "--trace", other, program],
            check=True,
            capture_output=True,
        )
        expected, found = other.read_text().splitlines(), own.stdout.splitlines()
        for line, (a, b) in enumerate(zip(expected, found, strict=False)):
            assert a == b, f"instruction {line}: the monolith retired (cycle, pc) {a}, the pipeline {b}"
        assert len(expected) == len(found)
        return len(found)

    return run_both


def test_benchmark_program(compare: Callable[[Path, int], int], build_dir: Path) -> None:
    assert compare(build_dir / "bench" / "integer_5_passes.elf", 200_000) > 100_000


@pytest.mark.parametrize("case", CASES)
def test_case(compare: Callable[[Path, int], int], tmp_path: Path, case: str) -> None:
    source, program = tmp_path / "case.s", tmp_path / "case.elf"
    code = CASES[case].replace(";", "\n")
    source.write_text(
        f"{HEAD}.text\n.globl __start\n__start:\naddiu $s0, $zero, 0x1000\n{code}\nnop\nnop\n9: b 9b\nnop\n"
    )
    run([tool("clang"), "--target=mips-linux-gnu", "-mips2", "-G0", "-mno-abicalls", "-fno-pic", "-nostdlib", "-static", "-fuse-ld=lld",
         "-Wl,-Ttext=0x400", "-Wl,--image-base=0", "-Wl,-e,__start", "-Wl,-z,max-page-size=4", "-o", program, source])  # fmt: skip
    assert compare(program, 500) > 100
