"""The Python is clean: what `make lint` would report is a failure here, too."""

import subprocess
import sys
from pathlib import Path


def test_ruff_finds_nothing(root: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", root], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
