"""Every C file is laid out as clang-format lays it out; `make format` does that."""

import shutil
import subprocess

import pytest

from tests.conventions.test_tree import ROOT, sources

VERSION = 22  # another one lays some files out otherwise


def test_c_is_formatted() -> None:
    tool = shutil.which(f"clang-format-{VERSION}")
    if not tool:
        pytest.skip(f"there is no clang-format-{VERSION}")
    files = [path for path in sources(".c", ".h")]
    assert len(files) > 300
    done = subprocess.run([tool, "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True)
    loose = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "clang-format-violations" in line})
    assert done.returncode == 0, "run `make format`: " + ", ".join(loose)
