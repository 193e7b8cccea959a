"""A page for each module of the library, and for each file of types, from what `lss doc` says of its declaration.

The pages stand below reference/, a folder a family, as if they were files of the repository: their links lead to
sources and tests from there, so stage checks them as it checks all others.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path("reference")
UNSEARCHED = ("---", "search:", "  exclude: true", "---")  # a list of names, each of which has its page


class ReferenceError(Exception):
    """The reference cannot be made; the text is one line for the user."""


@dataclass(frozen=True)
class Entry:
    """A module, or a file of types, of the library: its declaration, what it is, and its first sentence."""

    declaration: Path  # from the root
    kind: str
    summary: str

    @property
    def name(self) -> str:
        return self.declaration.stem

    @property
    def family(self) -> Path:
        return self.declaration.parent.relative_to("modules")

    @property
    def page(self) -> Path:
        return FOLDER / self.family / f"{self.name}.md"


class Reference:
    """The pages of the library of the tree at `root`, as the compiler `lss` reads it."""

    def __init__(self, root: Path, lss: Path) -> None:
        self.root, self.lss = root, lss.absolute()
        declarations = {path.stem: path.relative_to(root) for path in sorted((root / "modules").rglob("*.lss"))}
        listed = [line.split(None, 2) for line in self._lss("list").splitlines() if line.startswith(" ")]
        known = {name: (kind, *rest) for name, kind, *rest in listed}
        self.entries = {
            name: Entry(path, *known.get(name, ("types", ""))) for name, path in declarations.items()
        }
        self.families = sorted({entry.family for entry in self.entries.values()})

    def _lss(self, *words: str) -> str:
        environment = {**os.environ, "LSS_PATH": ""}
        try:
            done = subprocess.run([self.lss, *words], cwd=self.root, env=environment, capture_output=True, text=True)
        except OSError as error:
            raise ReferenceError(f"cannot run {self.lss}: {error.strerror} (run `make all`)") from error
        if done.returncode:
            raise ReferenceError(f"lss {' '.join(words)}: {(done.stderr.strip() or 'no message').splitlines()[0]}")
        return done.stdout

    @cache  # noqa: B019 (one reference is made in a process)
    def _document(self, name: str) -> str:
        return self._lss("doc", "--markdown", name)

    def pages(self) -> Iterator[tuple[Path, str]]:
        """Every page with its text: the families, a page for each, and the entries."""
        yield FOLDER / "index.md", self._index()
        for family in self.families:
            yield FOLDER / family / "index.md", self._family(family)
        for entry in self.entries.values():
            yield entry.page, self._entry(entry)

    def _index(self) -> str:
        rows = [f"| [{family}]({family}/index.md) | {self._names(family, FOLDER)} |" for family in self.families]
        return "\n".join([
            *UNSEARCHED, "# Module reference", "", "Every module and type of the library, from its declaration. "
            "[The module library](../docs/modules.md) says how to read an entry.", "",
            "| family | modules and files of types |", "|---|---|", *rows, "",
        ])  # fmt: skip

    def _names(self, family: Path, page: Path) -> str:
        return ", ".join(f"[{each.name}]({os.path.relpath(each.page, page)})" for each in self._of(family))

    def _of(self, family: Path) -> list[Entry]:
        return [entry for entry in self.entries.values() if entry.family == family]

    def _family(self, family: Path) -> str:
        head = [*UNSEARCHED, f"# {family}", "", "| module | kind | function |", "|---|---|---|"]
        entries = self._of(family)
        rows = [f"| [{each.name}]({each.page.name}) | {each.kind} | {self._summary(each)} |" for each in entries]
        return "\n".join([*head, *rows, ""])

    def _summary(self, entry: Entry) -> str:
        """The first sentence of a module, or the names that a file of types declares."""
        names = re.findall(r"^## (\w+)", self._document(entry.name), re.MULTILINE) if entry.kind == "types" else []
        return ", ".join(f"`{name}`" for name in names) or entry.summary

    def _entry(self, entry: Entry) -> str:
        body = self._document(entry.name)
        if entry.kind == "types":
            body = f"# {entry.name}\n\n{self._files(entry)}\n\n{body}"
        else:
            body = re.sub(r"^#(#+ )", r"\1", body, flags=re.MULTILINE)
            # After the first paragraph, which search results show.
            head = re.compile(r"^\*.*\*\n\n(?:\S.*\n)+", re.MULTILINE)
            body = head.sub(lambda found: f"{found[0]}\n{self._files(entry)}\n", body, count=1)
        return re.sub(r"^(\| `[^`]+` \| )`(\w+)`( \|)", self._instance(entry), body, flags=re.MULTILINE)

    def _instance(self, entry: Entry) -> "re.Callable":
        """Links the modules that a hierarchical module is made of."""

        def link(row: re.Match) -> str:
            inner = self.entries.get(row[2])
            if not inner or inner.kind == "types":
                return row[0]
            return f"{row[1]}[`{row[2]}`]({os.path.relpath(inner.page, entry.page.parent)}){row[3]}"

        return link

    def _files(self, entry: Entry) -> str:
        """Links to the family, the source and the test."""
        up = entry.page.parent

        def links(files: list[Path]) -> str:
            return ", ".join(f"[{file.name}]({os.path.relpath(file, up)})" for file in files)

        every = [entry.declaration.with_suffix(suffix) for suffix in (".lss", ".h", ".c")]
        sources = [path for path in every if (self.root / path).exists()]
        test = Path("tests") / entry.declaration.parent / f"test_{entry.name}.py"
        parts = [f"Family: [{entry.family}](index.md)", f"Source: {links(sources)}"]
        if (self.root / test).exists():
            parts.append(f"Test: {links([test])}")
        return ". ".join(parts) + "."
