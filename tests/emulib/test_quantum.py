"""Quanta of several processors in one process: none notices the others."""

import subprocess
from pathlib import Path

from tests.kits import Kit


def test_processors_in_turn_do_what_each_does_alone(kit: Kit, tmp_path: Path) -> None:
    """In the soak with sanitizers."""
    program = kit.program(Path(__file__).with_name("quantum.c"), ["mips/quantum.c", "mips/system*.c"], tmp_path / "quantum")
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
