"""Links between the pages of the documentation lead somewhere, and files that they name exist."""

import re
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *found(ROOT / "docs", "*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_reachable(page: Path) -> None:
    others = "".join(p.read_text() for p in PAGES if p != page)
    assert page.name == "README.md" or f"{page.name})" in others, f"nothing links to {page.name}"


def test_pictures_say_what_they_show() -> None:
    for page in PAGES:
        for words in re.findall(r"!\[([^\]]*)\]\(", page.read_text()):
            assert words, f"{page.name}: a picture without words"
