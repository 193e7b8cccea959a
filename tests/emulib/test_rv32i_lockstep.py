"""The interpreter that follows an RV32I processor: what it believes, what it remembers, and each difference that it tells."""

import subprocess
from pathlib import Path

from tests.kits import Kit


def test_what_is_reported_right_and_wrong(kit: Kit, tmp_path: Path) -> None:
    """In the soak with sanitizers."""
    program = kit.program(Path(__file__).with_name("rv32i_lockstep.c"), ["rv32i/lockstep.c", "rv32i/interpreter.c", "rv32i/disassemble.c"], tmp_path / "rv32i_lockstep")
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
