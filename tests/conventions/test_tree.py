"""The conventions of the tree, as tests: where things are, what every file begins with, what must not be named where."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.tree import found, library_modules

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {"lss", "modules", "emulib", "harness", "firmware", "examples", "tests", "docs", "Makefile", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [Path(name) for name in listed.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def sources(*suffixes: str) -> list[Path]:
    files = [p for p in tracked() if p.suffix in suffixes]
    assert set(suffixes) == {p.suffix for p in files}, "no file is tracked of one of these kinds"
    return files


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
    tests = {path.name for path in found(ROOT / "tests" / "modules", "test_*.py")}
    for lss in library_modules(ROOT):
        assert f"test_{lss.stem}.py" in tests, f"{lss.stem} has no test"
    for c in found(ROOT / "modules", "*.c"):
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


def test_nothing_marked_unfinished():
    words = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    here = Path(__file__).resolve()
    bad = [p for p in sources(".c", ".h", ".py", ".l", ".y", ".lss", ".mk") if (ROOT / p).resolve() != here and words.search((ROOT / p).read_text(errors="replace"))]
    assert not bad


def test_patterns_over_the_tree_find_something():
    """Tests look for files of the tree through tests/tree.py, which refuses a pattern that finds nothing."""
    own = re.compile(r"\b(?:root|ROOT|HERE|BAD|EMULIB|HARNESS|__file__)\b[^\n]*\.r?glob\(")
    bad = [f"{p}: {line[0]}" for p in found(ROOT / "tests", "*.py") if p.name != "tree.py" for line in own.finditer(p.read_text())]
    assert not bad


def test_a_pattern_that_finds_nothing_is_reported(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.lss").write_text("")
    assert found(tmp_path, "*.lss") == [tmp_path / "deep" / "a.lss"]
    with pytest.raises(AssertionError, match=r"there is no \*\.c below"):
        found(tmp_path, "*.lss", "*.c")


def test_registers_are_named_not_numbered(root: Path) -> None:
    """In a machine's LSS the offset of a register comes from its table; masks and bounds of windows stay numbers."""
    numbered = re.compile(r"\b(?:set_)?reg\(\s*(?:0x|\d)|\bcase\s+(?:0x[0-9a-f]+|\d+)\s*:|\boffset\s*[!=]=\s*(?:0x|\d)|_offsets?\s*=\s*\[?\s*(?:0x|\d)")
    sources = [path for path in found(root / "examples", "*.lss") if "register_bank" in path.read_text() or "dma_assist" in path.read_text()]
    assert len(sources) >= 2
    wrong = [f"{path.name}: {match[0]}" for path in sources for match in numbered.finditer(path.read_text())]
    assert not wrong, "registers by number:\n  " + "\n  ".join(wrong)
