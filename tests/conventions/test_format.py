"""Every C file is laid out as clang-format lays it out, which `make format` does; comments are those of lines."""

import re
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


TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)


def blocks(text: str) -> list[str]:
    """Comments between slash-stars with no code after them on their line: `//` would do.  The first line of a guest's program may
    be one, with options of the compiler (docs/workload.md)."""
    return [
        found.group()
        for found in TOKEN.finditer(text)
        if found.group().startswith("/*") and not text[found.end() :].split("\n", 1)[0].strip()
        if found.start() or not found.group().startswith("/* build: ")
    ]


def test_comments_begin_with_slashes() -> None:
    assert blocks('a; /* one */\n/* two\n * lines */\nb = "/* text */"; // c /* d */\ne(/* in a line */ f);') == [
        "/* one */",
        "/* two\n * lines */",
    ]
    assert blocks("/* build: -O3 */\n/* build: -O2 */\n") == ["/* build: -O2 */"]
    assert {path: found for path in sources(".c", ".h") if (found := blocks((ROOT / path).read_text()))} == {}
