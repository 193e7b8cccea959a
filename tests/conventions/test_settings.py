"""Settings of instances: what has the same name inside is passed on by the name alone."""

import re
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
FILES = [*found(ROOT / "modules", "*.lss"), *found(ROOT / "examples", "*.lss"), *found(ROOT / "docs", "*.md")]
TEXTS = re.compile(r'<<<.*?>>>|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)  # C code, comments and strings
BLOCK = re.compile(r"\binstance\s+\w+[^;{}]*\{([^{}]*)\}")
SAME = re.compile(r"(?<![\w.])(\w+) = \1;")


def repeated(text: str) -> list[str]:
    """The settings of blocks that say the name of a parameter twice."""
    bare = TEXTS.sub(lambda match: "\0" * len(match[0]), text)
    return [match[0] for block in BLOCK.finditer(bare) for match in SAME.finditer(block[1])]


def test_the_search_finds_them() -> None:
    assert repeated('instance a : b { depth = depth; name = "x = x;"; code = <<< y = y; >>>; };') == ["depth = depth;"]
    assert not repeated("instance a : b { depth; size = width; };  debug cache { pending = pending; }")


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_setting_says_its_name_twice(file: Path) -> None:
    found_here = repeated(file.read_text())
    assert not found_here, f"{file}: {found_here}: write the name alone, `{found_here[0].split()[0]};`"
