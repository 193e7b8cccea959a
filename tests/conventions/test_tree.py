"""The conventions of the tree, as tests: where things are, what every file begins with, what must not be named where."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {"lss", "modules", "emulib", "harness", "firmware", "examples", "tests", "docs", "Makefile", "README.md", "LICENSE", "pyproject.toml"}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [Path(name) for name in listed.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def sources(*suffixes: str) -> list[Path]:
    return [p for p in tracked() if p.suffix in suffixes]


def test_top_level():
    assert {p.parts[0] for p in tracked() if not p.parts[0].startswith(".")} <= TOP_LEVEL


def test_no_machine_in_general_parts():
    """lss/, modules/ and emulib/ serve every machine, so they name none."""
    machines = [p.name for p in (ROOT / "examples").iterdir() if p.is_dir() and (ROOT / "firmware" / p.name).is_dir()]
    assert "tigon2" in machines
    pattern = re.compile("|".join(machines) + "|tigon", re.IGNORECASE)
    bad = [p for p in tracked() if p.parts[0] in ("lss", "modules", "emulib") and pattern.search((ROOT / p).read_text(errors="replace"))]
    assert not bad


def test_every_module_is_complete():
    """One stem each: a leaf module has its C, every module its test and its words."""
    for lss in sorted((ROOT / "modules").glob("*.lss")):
        assert (ROOT / "tests/modules" / f"test_{lss.stem}.py").exists(), f"{lss.stem} has no test"
    for c in sorted((ROOT / "modules").glob("*.c")):
        assert c.with_suffix(".lss").exists(), f"{c.name} has no declaration"


@pytest.mark.parametrize("suffix", [".c", ".h", ".py"])
def test_files_say_what_they_are(suffix):
    """Every source file begins with a plain paragraph (after a shebang or an empty package marker)."""
    silent = []
    for path in sources(suffix):
        text = re.sub(r"\A#!.*\n", "", (ROOT / path).read_text())
        begins = ('"""', "r\"\"\"", "#") if suffix == ".py" else ("//", "/*")
        if text.strip() and not text.startswith(begins):
            silent.append(path)
    assert not silent


def test_files_stay_small():
    """One purpose per file: 450 lines is the limit, 300 the aim."""
    long = {}
    for path in sources(".c", ".h", ".py", ".l", ".y", ".lss"):
        lines = (ROOT / path).read_bytes().count(b"\n")
        if lines > 450:
            long[str(path)] = lines
    assert not long


def test_nothing_marked_unfinished():
    words = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    here = Path(__file__).resolve()
    bad = [p for p in sources(".c", ".h", ".py", ".l", ".y", ".lss", ".mk") if (ROOT / p).resolve() != here and words.search((ROOT / p).read_text(errors="replace"))]
    assert not bad
