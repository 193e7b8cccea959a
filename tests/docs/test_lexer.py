"""The Pygments lexer for LSS: it keeps every text, gives C to the lexer of C, and marks what the editors' grammar marks."""

import re
from pathlib import Path

import pygments
import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, String, Token

from harness import lexer
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]


def tokens(text: str) -> list[tuple]:
    return [(kind, value) for _, kind, value in lexer.LssLexer().get_tokens_unprocessed(text)]


@pytest.mark.parametrize("folder", ["modules", "examples", "tests"])
def test_every_file_keeps_its_text(folder: str) -> None:
    files = found(ROOT / folder, "*.lss")
    assert len(files) > 10
    for file in files:
        text = file.read_bytes().decode(errors="replace")
        assert "".join(value for _, value in tokens(text)) == text, file


def test_the_library_has_no_errors_and_every_kind_of_mark() -> None:
    marks = set()
    for file in found(ROOT / "modules", "*.lss"):
        kinds = {kind for kind, _ in tokens(file.read_text())}
        assert Error not in kinds, file
        marks |= kinds
    assert {Keyword, Keyword.Declaration, Keyword.Reserved, Keyword.Type, Comment.Single, Name.Class, Name.Variable, Number, String.Doc} <= marks


def test_marks_of_a_declaration() -> None:
    text = 'instance  a : pipe { n = 4 KiB; s = "x\\n"; f = <<< return ${n}; /* c */ >>>; }; // end'
    marked = tokens(text)
    for mark in [
        (Keyword.Declaration, "instance"), (Name.Variable, "a"), (Number, "4 KiB"), (String.Escape, "\\n"),
        (Keyword, "return"), (Name.Variable.Magic, "${n}"), (Comment.Multiline, "/* c */"), (Comment.Single, "// end"),
    ]:  # fmt: skip
        assert mark in marked
    assert (Keyword.Declaration, "inport") not in tokens("a.inport inports")


def test_pygments_finds_it_by_name() -> None:
    lexer.register()
    assert get_lexer_by_name("lss").name == "LSS"
    assert not [kind for kind, _ in pygments.lex("parameter n = 1 : int;", get_lexer_by_name("lss")) if kind is Token.Error]


def test_a_scope_without_a_token_is_an_error() -> None:
    with pytest.raises(ValueError, match=re.escape("scope markup.bold has no token")):
        lexer.token("markup.bold")
