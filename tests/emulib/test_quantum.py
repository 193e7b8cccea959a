"""Quanta of several processors in one process: none notices the others."""

import subprocess
from pathlib import Path

from tests.isa.programs import tool
from tests.tree import found


def test_processors_in_turn_do_what_each_does_alone(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Run with sanitizers."""
    program = tmp_path / "quantum"
    sources = [Path(__file__).with_name("quantum.c"), root / "emulib/mips/quantum.c", *found(root / "emulib/mips", "system*.c")]
    subprocess.run([tool("clang"), "-O0", "-gline-tables-only", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                    f"-I{root}/emulib", f"-I{build_dir}/gen/emulib", *sources, "-o", program], check=True)  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
