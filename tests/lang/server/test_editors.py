"""The files for editors know the words of the language, its types and its units."""

import json
import re
from pathlib import Path

import pytest

VSCODE = Path("harness/editors/vscode")


def words_of(root: Path) -> set[str]:
    """Reserved and contextual words, from the lexer's tables."""
    lexer = (root / "lss/front/lexer.l").read_text()
    reserved = set(re.findall(r'WORD\("(\w+)",', lexer))
    (table,) = re.findall(r"contextual\[\] = \{(.*?)\};", lexer, re.DOTALL)
    contextual = set(re.findall(r'"(\w+)"', table))
    assert len(reserved) > 40 and len(contextual) > 6
    return reserved | contextual


def test_contextual_words_are_those_of_the_grammar(root: Path) -> None:
    parser = (root / "lss/front/parser.y").read_text()
    used = set(re.findall(r'parse_word\(scan, @\d, \$\d, "(\w+)"', parser))
    used |= set(re.findall(r'strcmp\(\$\d, "(\w+)"\)', parser)) | set(
        re.findall(r'\b(?:KEYED|REPEATED) "(\w+)"', parser)
    )
    assert len(used) > 5 and used <= words_of(root)


def textmate(root: Path) -> list[tuple[str, re.Pattern]]:
    grammar = json.loads((root / VSCODE / "syntaxes/lss.tmLanguage.json").read_text())
    return [(p.get("name", ""), re.compile(p["match"])) for p in grammar["patterns"] if "match" in p]


def vim_words(root: Path) -> set[str]:
    text = (root / "harness/editors/vim/syntax/lss.vim").read_text()
    return {word for line in re.findall(r"^syntax keyword \w+ (.*)$", text, re.MULTILINE) for word in line.split()}


def names_in(path: Path, table: str) -> set[str]:
    """The first strings of the entries of a table in C."""
    (text,) = re.findall(table + r"\[\] = \{(.*?)\n\};", path.read_text(), re.DOTALL)
    return set(re.findall(r'\{"([^"]+)",', text))


@pytest.mark.parametrize("editor", ["textmate", "vim"])
def test_every_word_is_known(editor: str, root: Path) -> None:
    words = words_of(root) | names_in(root / "lss/elab/types.c", "builtins")
    if editor == "vim":
        assert not words - vim_words(root)
    else:
        rules = [
            rule for name, rule in textmate(root) if name.startswith(("keyword", "storage", "support", "constant.l"))
        ]
        assert not [word for word in sorted(words) if not any(rule.fullmatch(word) for rule in rules)]


def test_every_unit_is_known(root: Path) -> None:
    units = set(re.findall(r'^UNIT\("([^"]+)"', (root / "lss/runtime/text/units.def").read_text(), re.M)) - {"%"}  # an operator in LSS
    assert {"MHz", "KiB", "percent"} <= units
    (number,) = [rule for name, rule in textmate(root) if name == "constant.numeric.lss"]
    assert not [unit for unit in sorted(units) if not number.fullmatch(f"1.5 {unit}")]
    vim = (root / "harness/editors/vim/syntax/lss.vim").read_text()
    (line,) = [line for line in vim.splitlines() if line.startswith("syntax match lssUnit")]
    pattern = line.split("@<=")[1].removesuffix('\\>"')
    rule = re.compile(re.sub(r"\\([(|)?/])", r"\1", pattern))
    assert not [unit for unit in sorted(units) if not rule.fullmatch(unit)]


def test_the_extension_names_files_that_exist(root: Path) -> None:
    package = json.loads((root / VSCODE / "package.json").read_text())
    (language,), (grammar,) = package["contributes"]["languages"], package["contributes"]["grammars"]
    for name in (package["main"], language["configuration"], grammar["path"]):
        assert (root / VSCODE / name).is_file()
    assert grammar["scopeName"] == json.loads((root / VSCODE / grammar["path"]).read_text())["scopeName"]
    assert '"server"' in (root / VSCODE / package["main"]).read_text()
