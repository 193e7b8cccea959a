"""The interpreter that follows an RV32I processor: what it believes, what it remembers, and each difference that it tells."""

import subprocess
from pathlib import Path

from tests.isa.programs import tool


def test_what_is_reported_right_and_wrong(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Run with sanitizers."""
    program = tmp_path / "rv32i_lockstep"
    sources = [Path(__file__).with_name("rv32i_lockstep.c"), *(root / f"emulib/rv32i/{name}.c" for name in ("lockstep", "interpreter", "disassemble"))]
    subprocess.run([tool("clang"), "-O0", "-gline-tables-only", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                    f"-I{root}/emulib", f"-I{build_dir}/gen/emulib", *sources, "-o", program], check=True)  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
