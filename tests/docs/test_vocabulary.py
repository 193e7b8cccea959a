"""The words of modules: vocabulary.h defines them, docs/module_reference.md explains each, docs/module.md 14 of them."""

import re
from pathlib import Path

from tests.docs.test_snippets import blocks

ROOT = Path(__file__).resolve().parents[2]
FIRST, REFERENCE = ROOT / "docs/module.md", ROOT / "docs/module_reference.md"
FIRST_WORDS = set(["some", "data", "send", "send_nothing", "accept", "enable", "transferred", "param", "width", "get", "set", "self", "count", "event"])
FUNCTIONS = {"phase_start", "handler", "phase_end"}
MOST_WORDS = 79
ONE_SCREEN = 68  # lines of text and code, tables included


def vocabulary() -> list[str]:
    return re.findall(r"^#define ([a-z]\w*)\(", (ROOT / "lss/runtime/engine/vocabulary.h").read_text(), re.MULTILINE)


def explained(page: Path) -> set[str]:
    """The words in the first column of the page's tables."""
    cells = re.findall(r"^\| (`[^|]*`) \|", page.read_text(), re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([a-z]\w*)(?:\(|->)", cell)}


def test_the_vocabulary_stays_small() -> None:
    words = vocabulary()
    assert len(words) == len(set(words)) <= MOST_WORDS


def test_each_word_is_in_the_reference_and_nothing_else_is() -> None:
    assert explained(REFERENCE) == {*vocabulary(), "self"}


def test_the_compiler_suggests_each_word() -> None:
    text = (ROOT / "lss/build/clang_errors.c").read_text()
    listed = re.search(r"vocabulary\[\] =\n((?: +\".*\"\n?)+)", text)[1]
    assert re.findall(r"\w+", listed) == [*vocabulary(), "ticks_per_second"]


def test_a_first_module_needs_14_words() -> None:
    assert explained(FIRST) == FIRST_WORDS
    code = "".join(block.body for block in blocks(FIRST) if block.file and block.file.endswith(".c"))
    used = set(re.findall(r"\b[a-z]\w*(?=\(|->)", code)) & {*vocabulary(), "self"}
    assert used == FIRST_WORDS | FUNCTIONS


def test_a_first_module_fits_on_one_screen() -> None:
    lines = [line for line in FIRST.read_text().splitlines() if line.strip() and not line.startswith("```")]
    assert len(lines) <= ONE_SCREEN
