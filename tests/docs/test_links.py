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


def anchors(page: Path) -> set[str]:
    """What a heading is called in a link."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "validation.md"], ids=lambda page: page.name)
def test_links_lead_to_headings(page: Path) -> None:
    """The headings of validation.md are made with its figures."""
    for target, heading in re.findall(r"\]\(([^)#\s:]*)#([^)]+)\)", page.read_text()):
        there = page.parent / target if target else page
        if there.suffix == ".md" and there.name != "validation.md":
            assert heading in anchors(there), f"{page.name} links to {target}#{heading}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_reachable(page: Path) -> None:
    others = "".join(p.read_text() for p in PAGES if p != page)
    assert page.name == "README.md" or f"{page.name})" in others, f"nothing links to {page.name}"


def test_pictures_say_what_they_show() -> None:
    for page in PAGES:
        for words in re.findall(r"!\[([^\]]*)\]\(", page.read_text()):
            assert words, f"{page.name}: a picture without words"
