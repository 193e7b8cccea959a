"""The monolithic core computes what a reference emulator computes, and decoding anew changes nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest

CYCLES = 1_000_000


def registers(build: Path, program: Path, *options: str) -> dict[str, int]:
    command = [build / "bench" / "monolith", "--cycles", str(CYCLES), "--state", *options, program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: int(value, 16) for name, value in map(str.split, done.stdout.splitlines())}


def test_checksum_is_that_of_qemu(build_dir: Path) -> None:
    if not shutil.which("qemu-mips"):
        pytest.skip("qemu-mips is not installed")
    reference = subprocess.run(
        ["qemu-mips", build_dir / "bench" / "integer_5_passes_linux.elf"], capture_output=True, check=True
    )
    found = registers(build_dir, build_dir / "bench" / "integer_5_passes.elf")
    assert found["r2"] == int.from_bytes(reference.stdout, "big")


def test_decoding_anew_changes_nothing(build_dir: Path) -> None:
    program = build_dir / "bench" / "integer_5_passes.elf"
    assert registers(build_dir, program) == registers(build_dir, program, "--decode-anew")


def test_bad_program_is_refused_in_one_line(build_dir: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.elf"
    bad.write_bytes(b"not an ELF file")
    done = subprocess.run([build_dir / "bench" / "monolith", bad], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"monolith: {bad}: not an ELF32 big-endian MIPS file\n"
