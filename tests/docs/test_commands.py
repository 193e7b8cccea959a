"""The commands of lss in docs/language.md: the table of the page, --help and the parser say the same."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "language.md"
HEADING = "## 6. Commands\n"


def helps(lss) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Of each command its usage without options, what it does, and its options with their texts."""
    found = {}
    for name in re.findall(r"^  lss (\w+)", lss("help").out, re.MULTILINE):
        usage, text, *rest = lss(name, "--help").out.split("\n\n")
        options = dict(re.split(r" {2,}", line.strip(), maxsplit=1) for line in "".join(rest).splitlines())
        found[name] = usage.removeprefix("usage: ").replace(" [OPTIONS]", "").strip(), text.strip(), options
    return found


def cell(text: str) -> str:
    return text.replace("|", r"\|")


def tables(commands: dict) -> str:
    """The two tables of the page."""
    lines = ["| command | what it does |", "|---|---|"]
    lines += [f"| `{cell(usage)}` | {cell(text)} |" for usage, text, _ in commands.values()]
    takers: dict[tuple[str, str], list[str]] = {}
    for name, (_, _, options) in commands.items():
        for option in options.items():
            takers.setdefault(option, []).append(f"`{name}`")
    lines += ["", "| option | of | what it is for |", "|---|---|---|"]
    lines += [f"| `{cell(option)}` | {', '.join(names)} | {cell(text)} |" for (option, text), names in takers.items()]
    return "\n".join(lines) + "\n"


def test_the_page_lists_every_command_with_its_options(lss, golden) -> None:
    commands = helps(lss)
    assert len(commands) >= 13 and len(commands["build"][2]) >= 12
    before, after = PAGE.read_text().split(HEADING)
    rest = after[after.index("\n\nDiagnostics go to") + 1 :]
    golden(PAGE, f"{before}{HEADING}\n{tables(commands)}{rest}")


def test_no_option_is_listed_twice(lss) -> None:
    for name, (_, _, options) in helps(lss).items():
        listed = re.findall(r"^  (-\S+)", lss(name, "--help").out, re.MULTILINE)
        assert sorted(set(listed)) == sorted(listed) and len(listed) == len(options), name


@pytest.mark.parametrize("arguments", [("build", "--help"), ("run", "m.lss", "-O0", "--help", "--", "--cycles", "1")])
def test_help_is_given_wherever_it_is_requested(lss, arguments) -> None:
    assert lss(*arguments).out.startswith(f"usage: lss {arguments[0]} [OPTIONS] M.lss")


def test_what_the_table_lists_is_what_the_parser_takes(lss) -> None:
    """With one option a command asks for what is missing, and does not call the option unknown."""
    known = {"-D": "a=1", "-O": "0", "--collect": "connections", "--max-instances": "5", "--max-steps": "5", "--address": "1", "--cycles": "1"}
    known |= {"--limit": "wrong", "-I": ".", "--width": "80"}
    for name, (_, _, options) in helps(lss).items():
        for option in options:
            word, *value = option.split()
            given = [word, known.get(word, "x.lss")] if value else [word]
            last = ["-I"] if "-I DIR" in options else ["--nothing"]
            done = lss(name, *given, *last, ok=False)
            assert done.status == 2 and done.err.startswith(f"lss {name}: ") and done.err.count("\n") == 1
            assert "-I needs a value" in done.err or "unknown option --nothing" in done.err, (name, option)
            if value:
                done = lss(name, word, ok=False)
                assert (done.status, f"{word} needs a value" in done.err) == (2, True)


def test_completion_offers_what_the_table_lists(lss) -> None:
    script = lss("completion", "bash").out
    for name, (_, _, options) in helps(lss).items():
        offered = re.search(rf"^    {name}\) options=\"(.*)\"", script, re.MULTILINE)[1].split()
        assert offered == ["--help", *(option.split()[0] for option in options)]
