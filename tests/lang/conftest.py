"""The compiler with sanitizers, built once for all workers."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def sanitized_lss(root: Path, build_dir: Path) -> Path:
    sanitized = build_dir / "sanitize"
    sanitized.mkdir(parents=True, exist_ok=True)
    compiler = sanitized / "bin" / "lss"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    with open(sanitized / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            ["make", "-s", "-j2", f"BUILD={sanitized}", "SANITIZE=1", compiler],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return compiler
