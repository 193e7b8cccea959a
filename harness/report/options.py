"""The comparison of the library with the tables of the Spinach paper: docs/options.md, made from docs/options.toml.

`python -m harness.report.options` writes the page; tests/docs/test_options.py checks that what it names exists.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE, PAGE = ROOT / "docs/options.toml", ROOT / "docs/options.md"

HEAD = """# Options of the modules in the Spinach paper

Read this page if you have the Spinach paper (Willmann, Brogioli, Pai, LCTES 2004) and look for one of its options in
this library. At its end you have the module, parameter or port that offers the option, and the tests that show it.

The paper describes its modules in Tables 1 to 3 and in the text around them. The tables below list every option of the
paper. `lss doc MODULE` explains a parameter exactly. `make test T=tests/…` runs a test, and `make soak T=tests/…` one
that `make test` leaves to the soak.

`make options` generates this page from [options.toml](options.toml). A test checks that every module, parameter, port
and test on it exists.
"""


@dataclass(frozen=True)
class Option:
    """One line of the comparison."""

    text: str
    has: tuple[str, ...]
    tests: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Module:
    """A module of the paper, and what it is here."""

    paper: str
    ours: tuple[str, ...]
    options: tuple[Option, ...]


def load(source: Path = SOURCE) -> dict[str, list[Module]]:
    """The tables by title."""
    tables = tomllib.loads(source.read_text())["table"]

    def option(entry: dict) -> Option:
        return Option(entry["text"], tuple(entry["has"]), tuple(entry["tests"]), entry.get("note", ""))

    def module(entry: dict) -> Module:
        return Module(entry["paper"], tuple(entry["ours"]), tuple(option(one) for one in entry["option"]))

    return {table["title"]: [module(entry) for entry in table["module"]] for table in tables}


def _file(test: str) -> str:
    """A test's name, with a link to its file."""
    path, name = test.split("::")
    return f"[{name}](../tests/{path})"


def page(tables: dict[str, list[Module]]) -> str:
    """The Markdown text."""
    lines = [HEAD]
    for title, modules in tables.items():
        lines += [f"## {title}", "", "| paper: module here | option | offered by | tests |", "|---|---|---|---|"]
        for module in modules:
            for number, option in enumerate(module.options):
                first = f"**{module.paper}**: {', '.join(f'`{name}`' for name in module.ours)}" if number == 0 else ""
                text = option.text + (f" ({option.note})" if option.note else "")
                here = ", ".join(f"`{name}`" for name in option.has)
                lines.append(f"| {first} | {text} | {here} | {', '.join(_file(test) for test in option.tests)} |")
        lines.append("")
    return "\n".join(lines)


def missing(tables: dict[str, list[Module]], root: Path = ROOT) -> Iterator[str]:
    """An error for everything that the tables name and that does not exist."""
    for modules in tables.values():
        for module in modules:
            if not module.ours or not module.options:
                yield f"{module.paper}: no module, or no option"
            for name in module.ours:
                if not _declaration(root, name):
                    yield f"{module.paper}: there is no module {name}"
            for option in module.options:
                if not option.has or not option.tests:
                    yield f"{module.paper}, {option.text}: nothing offers or shows it"
                yield from (error for name in option.has for error in _no_part(name, root))
                yield from (error for test in option.tests for error in _no_test(test, root))


def _declaration(root: Path, module: str) -> Path | None:
    """Where a module of the library is declared: in the folder of its family."""
    return next((root / "modules").rglob(f"{module}.lss"), None)


def _has(declaration: Path, part: str, root: Path) -> bool:
    """Whether a module declares this, or passes it on of a module that it wraps."""
    kinds = r"(optional )?(paced )?(keyed (repeated )?)?(runtime (init )?)?(parameter|inport|outport|userpoint)"
    text = declaration.read_text()
    if re.search(rf"^\s*{kinds} {part}\b", text, re.M):
        return True
    wrapped = [_declaration(root, name) for name in re.findall(r"^ *wraps \w+ : (\w+)", text, re.M)]
    return any(inner and _has(inner, part, root) for inner in wrapped)


def _no_part(name: str, root: Path) -> Iterator[str]:
    module, _, part = name.partition(".")
    declaration = _declaration(root, module)
    if not declaration:
        yield f"{name}: there is no module {module}"
    elif part and not _has(declaration, part, root):
        yield f"{name}: {module} has no parameter, port or userpoint {part}"


def _no_test(test: str, root: Path) -> Iterator[str]:
    path, _, name = test.partition("::")
    file = root / "tests" / path
    if not file.exists():
        yield f"{test}: there is no file tests/{path}"
    elif not re.search(rf"^def {name}\(", file.read_text(), re.M):
        yield f"{test}: tests/{path} has no test {name}"


if __name__ == "__main__":
    PAGE.write_text(page(load()))
    print(PAGE)
