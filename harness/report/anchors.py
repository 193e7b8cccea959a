"""Anchors of headings in Markdown, by the rule of GitHub, where the pages of this tree are read most.

A heading is called what it shows, in lower case: letters, digits, underscores and hyphens stay, a space becomes a
hyphen, all else goes.  The second heading of the same name on a page ends in -1, the third in -2.
"""

import re
from collections.abc import Iterable, Iterator

FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*(?:[ \t]#+)?[ \t]*$", re.MULTILINE)
MARKUP = (
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),  # a link or a picture shows its words
    (re.compile(r"<[^<>]+>"), ""),
    (re.compile(r"(?<![\w\\])[*_]+(?=\S)|(?<=\S)[*_]+(?!\w)"), ""),  # emphasis, but not the _ within a name
)


def without_fences(text: str) -> str:
    """The text with its fenced blocks blanked, so that places in it stay as they are."""
    return FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)


def shown(heading: str) -> str:
    """What a heading shows, without its markup."""
    parts = heading.split("`")  # every second one is code, which is shown as it is
    for number in range(0, len(parts), 2):
        for pattern, kept in MARKUP:
            parts[number] = pattern.sub(kept, parts[number])
    return "".join(parts)


def slug(heading: str) -> str:
    """What the first heading with these words is called."""
    return re.sub(r"[^\w\- ]", "", shown(heading).lower()).replace(" ", "-")


def unique(names: Iterable[str]) -> Iterator[str]:
    """The names, of which a repeated one gets the number of its repetition."""
    count: dict[str, int] = {}
    for name in names:
        anchor = name
        while anchor in count:
            count[name] += 1
            anchor = f"{name}-{count[name]}"
        count[anchor] = 0
        yield anchor


def headings(text: str) -> list[tuple[int, str]]:
    """Where the line of each heading of a page begins, and the heading's anchor."""
    found = list(HEADING.finditer(without_fences(text)))
    names = unique(slug(text[slice(*heading.span(1))]) for heading in found)
    return [(heading.start(), anchor) for heading, anchor in zip(found, names, strict=True)]


def anchors(text: str) -> set[str]:
    """All anchors of a page."""
    return {anchor for _, anchor in headings(text)}
