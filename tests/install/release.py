"""How tests run the scripts that make a release, in a small repository (conftest.py)."""

import os
import subprocess
from pathlib import Path


def git(tree: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *words], cwd=tree, check=True, capture_output=True)


def dist(tree: Path, script: str, *words: str | Path, path: str | None = None, **more: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PATH": path or os.environ["PATH"], **more}
    return subprocess.run([tree / "harness/dist" / script, *words], capture_output=True, text=True, env=environment)
