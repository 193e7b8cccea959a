"""A Pygments lexer for LSS, made from the TextMate grammar of the editors, so that LSS looks the same everywhere.

A pattern with `match` becomes a rule; one with `begin` and `end` becomes a state, in which C goes to the lexer of C.
Text that no pattern takes is a name, white space or punctuation, as in an editor.  An installed package names it to
Pygments by an entry point, so that Jupyter, Sphinx and MkDocs find it.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pygments.lexer import Lexer, RegexLexer, using
from pygments.lexers.c_cpp import CLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

__all__ = ["LssLexer"]  # where Pygments looks for lexers

GRAMMAR = Path(__file__).parent / "editors/vscode/syntaxes/lss.tmLanguage.json"
# The beginning of a scope's name -> the token; the longest beginning counts.
TOKENS = {
    "comment.block": Comment.Multiline,
    "comment.block.documentation": String.Doc,
    "comment.line": Comment.Single,
    "constant.character.escape": String.Escape,
    "constant.language": Keyword.Constant,
    "constant.numeric": Number,
    "entity.name.type": Name.Class,
    "entity.name.variable": Name.Variable,
    "keyword.control": Keyword,
    "keyword.declaration": Keyword.Declaration,
    "keyword.operator": Operator,
    "keyword.other": Keyword,
    "meta.embedded": Name,
    "punctuation": Punctuation,
    "storage.modifier": Keyword.Reserved,
    "string.quoted": String.Double,
    "support.type": Keyword.Type,
    "variable.other.type": Name.Class,
    "variable.parameter": Name.Variable.Magic,
}
Pattern = dict[str, Any]
EMBEDDED = {"source.c": CLexer}


def token(scope: str) -> _TokenType:
    """The token for a scope of the grammar."""
    fitting = [known for known in TOKENS if f"{scope}.".startswith(f"{known}.")]
    if not fitting:
        raise ValueError(f"{GRAMMAR}: scope {scope} has no token in {__name__}.TOKENS")
    return TOKENS[max(fitting, key=len)]


def captured(captures: dict[str, Pattern], other: _TokenType) -> Callable[[Lexer, re.Match], Iterator[tuple]]:
    """Tokens of a match whose groups have scopes of their own, and of what is between the groups."""
    tokens = {int(number): token(capture["name"]) for number, capture in captures.items()}

    def emit(lexer: Lexer, match: re.Match) -> Iterator[tuple]:
        at = match.start()
        for number, kind in sorted(tokens.items()):
            start, end = match.span(number)
            if start > at:
                yield at, Whitespace if match.string[at:start].isspace() else other, match.string[at:start]
            if end > start:
                yield start, kind, match.string[start:end]
                at = end
        if at < match.end():
            yield at, other, match.string[at : match.end()]

    return emit


def edge(pattern: Pattern, name: str, kind: _TokenType) -> Any:
    """The action for the beginning or the end of a state."""
    captures = pattern.get(f"{name}Captures")
    return captured(captures, kind) if captures else kind


def states(grammar: Pattern) -> dict[str, list[tuple]]:
    """The states of a RegexLexer that reads what the grammar describes."""
    made: dict[str, list[tuple]] = {"root": []}
    for number, pattern in enumerate(grammar["patterns"]):
        if "begin" not in pattern:
            action = captured(pattern["captures"], Name) if "captures" in pattern else token(pattern["name"])
            made["root"].append((pattern["match"], action))
            continue
        kind, state, inner = token(pattern["name"]), f"state{number}", pattern.get("patterns", [])
        made["root"].append((pattern["begin"], edge(pattern, "begin", kind), state))
        own = [(each["match"], token(each["name"])) for each in inner if "match" in each]
        other = [EMBEDDED[each["include"]] for each in inner if "include" in each]
        stops = "|".join([pattern["end"], *(match for match, _ in own)])
        rest = (rf"(?:(?!{stops})[\s\S])+", using(other[0]) if other else kind)
        made[state] = [(pattern["end"], edge(pattern, "end", kind), "#pop"), *own, rest]
    made["root"] += [(r"\s+", Whitespace), (r"\w+", Name), (r"[^\w\s]", Punctuation)]
    return made


class LssLexer(RegexLexer):
    """LSS, the language of Spinach's netlists and module declarations."""

    name = "LSS"
    aliases = ["lss"]
    filenames = ["*.lss"]
    flags = re.MULTILINE
    tokens = states(json.loads(GRAMMAR.read_text()))


def register() -> None:
    """Lets Pygments find the lexer by its name, as an installed package would."""
    from pygments.lexers import LEXERS

    LEXERS["LssLexer"] = (__name__, LssLexer.name, tuple(LssLexer.aliases), tuple(LssLexer.filenames), ())
