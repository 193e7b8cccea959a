"""The Makefile: what one run of make builds is all there."""

import os
import subprocess
from pathlib import Path


def test_generated_headers_stay(root: Path, tmp_path: Path) -> None:
    """Modules include the instruction sets' headers, so make must not delete them as links of a chain of rules."""
    environment = {name: text for name, text in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    command = ["make", "-s", "-j2", f"BUILD={tmp_path}", f"{tmp_path}/lib/libemulib.a"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sets = {path.parent.name for path in (root / "emulib").glob("*/instructions.def")}
    assert len(sets) >= 2
    made = {path.name for path in (tmp_path / "gen" / "emulib").iterdir()}
    assert {f"{name}_instructions.h" for name in sets} <= made
