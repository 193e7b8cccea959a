"""Finds the prose in a file: pages in Markdown, documentation comments of LSS, texts in C, LSS and Python.

Everything that is not prose becomes blank in place, so an offset in a unit of prose is an offset in the file.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

Units = Iterator[tuple[int, str]]  # pieces of prose, with their offsets
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)


def blank(text: str) -> str:
    """As many spaces, on as many lines."""
    return re.sub(r"[^\n]", " ", text)


def _one_letter(found: re.Match[str]) -> str:
    """What stands for a name in a sentence."""
    return "x" + blank(found[0][1:])


def _without_code(text: str) -> str:
    """A text without code and link targets."""
    text = re.sub(r"(`+)[^`]+?\1", _one_letter, text)
    return re.sub(r"\]\([^)\s]*\)", lambda found: "]" + blank(found[0][1:]), text)


def _spoken(text: str) -> str:
    """A unit without code, link targets and quoted words."""
    return re.sub(r"\"[^\"]*\"|“[^”]*”", _one_letter, _without_code(text))


ITEM = r"\s*(?:[-*+]|\d+\.)\s"
TEXT_LINE = rf"(?!{ITEM}|\s*\||#).+\n?"  # of a paragraph
PART = re.compile(rf"^\s*\|.*$|^#.*$|^{ITEM}.*\n?(?:{TEXT_LINE})*|(?:^{TEXT_LINE})+", re.MULTILINE)


def markdown(text: str) -> Units:
    """The headings, cells, items of lists and paragraphs of a page."""
    text = FENCE.sub(lambda found: blank(found[0]), text)
    text = re.sub(r"<!--.*?-->|</?\w[^>]*>", lambda found: blank(found[0]), text, flags=re.DOTALL)
    text = _without_code(text)
    for block in re.finditer(r"(?:^[^\S\n]*\S.*(?:\n|\Z))+", text, re.MULTILINE):
        for part in PART.finditer(block[0]):
            begin = block.start() + part.start()
            if part[0].lstrip().startswith("|"):
                cells = re.finditer(r"[^|]+", part[0])
                yield from ((begin + cell.start(), _spoken(cell[0])) for cell in cells if cell[0].strip(" -:"))
            else:
                lead = re.match(r"\s*(?:[-*+]|\d+\.|#+)?\s*", part[0])
                yield begin + lead.end(), _spoken(part[0][lead.end() :])


PLACEHOLDER = re.compile(r"%[-+ 0#*\d.]*(?:hh|ll|[hlzjtq])?[a-zA-Z](?![a-zA-Z])")


def _literal(text: str) -> str:
    """The words of a string literal: without escapes and what is filled in."""
    text = text.replace('\\"', ' "')
    text = re.sub(r"\\[ntr]", ". ", text)
    return PLACEHOLDER.sub(_one_letter, text)


STRING = r'"(?:[^"\\\n]|\\.)*"'
C_TOKEN = re.compile(
    r"(?P<doc>/\*\*(?!/).*?\*/)|/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)'"
    rf"|(?P<text>{STRING}(?:(?:\s|PRI\w+|G_\w+_FORMAT)*{STRING})*)",
    re.DOTALL,
)
STRING_OR_NOT = re.compile(rf'{STRING}|[^"]+')


def c_texts(text: str) -> Units:
    """Documentation comments (of LSS), and string literals, those that follow each other as one."""
    for found in C_TOKEN.finditer(text):
        if found["doc"]:
            yield found.start() + 3, _spoken(re.sub(r"^(\s*)\*", r"\1 ", found[0][3:-2], flags=re.MULTILINE))
        elif found["text"]:
            pieces = (one[0] for one in STRING_OR_NOT.finditer(found[0]))
            inner = "".join(f" {one[1:-1]} " if one[0] == '"' else blank(one) for one in pieces)
            yield found.start(), _spoken(_literal(inner))


BETWEEN = (tokenize.NL, tokenize.COMMENT)
BEGIN = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)  # of a statement


def python_texts(text: str) -> Units:
    """String literals but documentation strings, those that follow each other as one."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    group: list[tuple[int, int]] = []
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in BETWEEN:
            continue
        if token.type == tokenize.STRING and (group or before not in BEGIN):
            (line, column), (last_line, last) = token.start, token.end
            group.append((starts[line - 1] + column, starts[last_line - 1] + last))
        elif group:
            yield group[0][0], _python_literal(text, group)
            group = []
        before = token.type


def _python_literal(text: str, group: list[tuple[int, int]]) -> str:
    inner, at = "", group[0][0]
    for first, last in group:
        literal = text[first:last]
        quote = re.match(r"(\w*)(\"\"\"|'''|\"|')", literal)
        body = literal[len(quote[0]) : len(literal) - len(quote[2])]
        if "r" in quote[1].lower():  # a pattern
            body = blank(body)
        elif "f" in quote[1].lower():
            body = re.sub(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", _one_letter, body)
        inner += blank(text[at:first]) + " " * len(quote[0]) + body + " " * len(quote[2])
        at = last
    return _spoken(_literal(inner))


def units(path: Path, text: str) -> Units:
    """The prose of a file; of a source, texts of three words or more."""
    if path.suffix == ".md":
        return markdown(text)
    found = python_texts(text) if path.suffix == ".py" else c_texts(text)
    return (one for one in found if len(re.findall(r"[A-Za-z]{2,}", one[1])) > 2)
