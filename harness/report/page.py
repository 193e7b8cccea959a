"""Parts that every page of the harness is put together from: pictures within the page, tables, the common style.

Names of files are bytes, and may hold what no page can: write() shows it, link() leads to the file all the same.
"""

import html
import os
import re
import urllib.parse
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.run import files

STYLE = Path(__file__).with_name("style.css")
SMALLEST = 0.7  # a diagram is drawn no smaller than this, to stay legible; what is wider then is scrolled

UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def shown(text: str) -> str:
    """A text without what neither HTML nor XML can hold: bytes that are of no character, and control characters, are
    \\xff and the like."""
    return UNSHOWN.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", text)


def write(path: Path, text: str) -> None:
    """Writes a page, or a picture in SVG."""
    files.write(path, shown(text))


def link(name: str) -> str:
    """What leads from a page to a file beside it, for an attribute."""
    return urllib.parse.quote(os.fsencode(name))


def identifier(name: str) -> str:
    """A name as an id within a page; of different names they differ."""
    return re.sub(r"[^A-Za-z0-9_.-]", lambda found: f":{ord(found[0]):x}", name)


def inline(svg: Path, label: str, prefix: str) -> str:
    """An SVG file as an element of the page: no XML prologue, a spoken label, ids that cannot clash with others."""
    text = svg.read_text()
    text = text[text.index("<svg") :]
    names = set(re.findall(r'\bid="([^"]+)"', text))
    for name in sorted(names, key=len, reverse=True):
        used = rf'(\bid="|href="#|url\(#)(?={re.escape(name)}["\)])'
        text = re.sub(used, rf"\g<1>{identifier(prefix)}", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(label)}"', 1)


def diagram(svg: Path, what: str, caption: str, prefix: str) -> str:
    """A block diagram as a figure: as large as it is drawn, or as small as fits the page."""
    picture = inline(svg, what, prefix)
    if found := re.search(r'<svg[^>]*? width="([\d.]+)pt"', picture):
        width = float(found[1]) * 4 / 3  # CSS pixels
        fitted = f'style="max-width:{width:.0f}px;min-width:{SMALLEST * width:.0f}px" '
        picture = picture.replace("<svg ", f"<svg {fitted}", 1)
    framed = f'<div class="drawing" tabindex="0" role="group" aria-label="{html.escape(what)}">{picture}</div>'
    return f'<figure class="diagram">{framed}<figcaption>{caption}</figcaption></figure>'


def scrolled(body: str, label: str) -> str:
    """A table that is scrolled where it is wider than the page, also from the keyboard."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{html.escape(label)}">{body}</div>'


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, text_columns: int | frozenset[int] = 1
) -> str:  # fmt: skip
    """An HTML table; cells are HTML already, those of `text_columns`, or that many at the left, are text rather than
    numbers."""
    texts = frozenset(range(text_columns)) if isinstance(text_columns, int) else text_columns

    def cells(tag: str, row: Sequence[str]) -> str:
        kinds = [' class="word"' if index in texts else "" for index in range(len(row))]
        scope = ' scope="col"' if tag == "th" else ""
        return "".join(f"<{tag}{scope}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, row, strict=True))

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f"<table><caption><span>{html.escape(caption)}</span></caption>\n"
        f"<thead><tr>{cells('th', head)}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    )
