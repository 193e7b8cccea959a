"""The compiler with sanitizers, built once for all workers."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def sanitized_lss(build_dir: Path, made: Callable[..., Path]) -> Path:
    return made(build_dir / "sanitize", "bin/lss", "SANITIZE=1")
