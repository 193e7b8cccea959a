"""The glossary's marks: the first occurrence of each term on a page becomes a link that shows what the term means.

docs/glossary.md is the only place where terms are explained: a table of `term | meaning`. A term with words in
parentheses, as in "point (of a study)", is an everyday word elsewhere and is never marked. Code, headings, heads of
tables and links stay as they are.
"""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from harness.report.anchors import slug

ROW = re.compile(r"^\| ([^|]+?) \| (.+?) \|$", re.MULTILINE)
CODE = r"(?P<ticks>`+)(?:(?!(?P=ticks)|\n\n)[\s\S])+(?P=ticks)"  # within a paragraph
# Text that is skipped: code, links and pictures, HTML.
KEPT = re.compile(rf"{CODE}|!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\]\([^)]*\)|<[^<>]+>")


@dataclass(frozen=True)
class Term:
    """A row of the table: the term as it stands there, what it means, and whether pages mark it."""

    name: str
    meaning: str
    marked: bool

    @property
    def anchor(self) -> str:
        return slug(self.name)


def terms(page: Path) -> list[Term]:
    """The terms of a glossary, in their order."""
    rows = [row for row in ROW.findall(page.read_text()) if row != ("term", "meaning")]
    return [Term(name, meaning, "(" not in name) for name, meaning in rows]


def plain(meaning: str) -> str:
    """A meaning as the value of an attribute within Markdown: without markup, and with nothing that means any there."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", meaning).replace("`", "").replace("*", "")
    return re.sub(r"[\[\]|_\\`*]", lambda sign: f"&#{ord(sign[0])};", html.escape(words))


class Marker:
    """Marks terms on pages; `terms` are those of the glossary."""

    def __init__(self, terms: list[Term]) -> None:
        self.terms = {term.name.lower(): term for term in terms if term.marked}
        names = sorted(self.terms, key=len, reverse=True)
        self.pattern = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(s?)(?![\w-])", re.IGNORECASE)

    def mark(self, text: str, glossary: str) -> str:
        """The text of a page with its terms marked; `glossary` is where the page finds the glossary."""
        if not self.terms:
            return text
        left = dict(self.terms)

        def link(found: re.Match) -> str:
            term = left.pop(found[1].lower(), None)
            if not term:
                return found[0]
            return f'[<abbr title="{plain(term.meaning)}">{found[0]}</abbr>]({glossary}#{term.anchor})'

        stretches = groupby(lines(text), key=lambda line: line[1])
        return "".join(self._stretch("".join(line for line, _ in every), prose, link) for prose, every in stretches)

    def _stretch(self, text: str, prose: bool, link: Callable[[re.Match], str]) -> str:
        if not prose:
            return text
        made, at = "", 0
        for kept in [*KEPT.finditer(text), None]:
            end = kept.start() if kept else len(text)
            made += self.pattern.sub(link, text[at:end]) + (kept[0] if kept else "")
            at = kept.end() if kept else end
        return made


def lines(text: str) -> list[tuple[str, bool]]:
    """The lines of a page, each with whether it is prose or the body of a table."""
    made, fence = [], ""
    every = text.splitlines(keepends=True)
    for line, after in zip(every, [*every[1:], ""], strict=True):
        opening = re.match(r"(`{3,})", line)
        if fence:
            made.append((line, False))
            fence = "" if opening and line.startswith(fence) else fence
            continue
        fence = opening[1] if opening else ""
        head = line.startswith("#") or re.match(r"\|[-:| ]+\|$", after.rstrip())
        made.append((line, not (fence or head)))
    return made
