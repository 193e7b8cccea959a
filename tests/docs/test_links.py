"""Links between the pages of the documentation lead somewhere: to files that exist, and to headings, by GitHub's rule."""

import re
from pathlib import Path

import pytest

from harness.report.anchors import anchors, shown, without_fences
from tests.docs.test_snippets import ALL_PAGES, name_of
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *found(ROOT / "docs", "*.md")]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def broken(page: Path) -> list[str]:
    """The links of a page to files of this tree that do not exist, and to headings that no page has."""
    wrong, text = [], without_fences(page.read_text())
    for link in LINK.finditer(text):
        target, heading = link.groups()
        if re.match(r"[a-z]+:", target):
            continue
        there, place = page.parent / target if target else page, f"{page.name}:{text.count(chr(10), 0, link.start()) + 1}"
        if not there.exists():
            wrong.append(f"{place}: there is no {target}")
        elif heading and heading not in anchors(there.read_text()):
            wrong.append(f"{place}: {target or 'the page'} has no heading #{heading}")
    return wrong


PAPERS = [ROOT / "CHANGELOG.md", *found(ROOT / ".github", "*.md")]  # which GitHub shows, and which have no blocks to run


@pytest.mark.parametrize("page", [*ALL_PAGES, *PAPERS], ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert not broken(page)


def test_broken_links_are_found_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# A `pipe()` of *4*: [why](x)?\n## Twice\n## Twice\n```sh\n# None\n```\n")
    page = tmp_path / "a.md"
    page.write_text(
        "# One\n[a](#one) [b](b.md) [c](b.md#a-pipe-of-4-why) [d](b.md#twice-1) [e](https://x.y/#z)\n```\n[f](none.md)\n```\n"
        "[g](none.md)\n![h](none.svg)\n\n[i](#two) [j](b.md#none) [k](b.md#twice-2)\n"
    )
    assert broken(page) == [
        "a.md:6: there is no none.md",
        "a.md:7: there is no none.svg",
        "a.md:9: the page has no heading #two",
        "a.md:9: b.md has no heading #none",
        "a.md:9: b.md has no heading #twice-2",
    ]


@pytest.mark.parametrize(
    ("heading", "words"),
    [("`a_b(c)` and **d** _e_ f_g", "a_b(c) and d e f_g"), ("A [link](x.md#y) &c", "A link &c"), ("4 * 5 <br> * 6", "4 * 5  * 6")],
)
def test_headings_are_called_what_they_show(heading: str, words: str) -> None:
    assert shown(heading) == words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_reachable(page: Path) -> None:
    others = "".join(p.read_text() for p in PAGES if p != page)
    assert page.name == "README.md" or f"{page.name})" in others, f"nothing links to {page.name}"


def test_pictures_say_what_they_show() -> None:
    for page in PAGES:
        for words in re.findall(r"!\[([^\]]*)\]\(", page.read_text()):
            assert words, f"{page.name}: a picture without words"
