"""Copies the documentation into a folder of plain Markdown from which a generator makes the site.

usage: stage.py [--lss LSS] ROOT OUT.  README.md becomes index.md, docs/x.md becomes x.md.  Each file of the repository
to which a page links becomes a page below source/: Markdown as it is, another text as a listing that the search leaves
out, a folder its README.  With a compiler, reference/ has a page for each module of the library.  The words of a fence
that only the tests read go.  A link to a file or heading that does not exist is an error with its page and line.
Nothing is written in the source tree: pages stay the Markdown that GitHub shows and that the tests execute.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

from harness.report.anchors import FENCE, anchors, headings
from harness.site.glossary import CODE, Marker, Term, terms
from harness.site.reference import Reference, ReferenceError

LINK = re.compile(
    rf"(?P<code>{CODE})"  # which stays as it is
    r"|\]\((?P<target>[^)#\s]*)(?:#(?P<heading>[^)\s]*))?\)"
)
ROW = re.compile(r"^\|.*$", re.MULTILINE)
CODE_IN_ROW = re.compile(r"`([^`\n]*\\\|[^`\n]*)`")
PICTURES = {".svg", ".png"}
ASSETS = Path(__file__).with_name("assets")
MARK = ".staged"  # in a folder that may be replaced
# By the name of the file or its suffix; all else is shown as plain text.
LANGUAGES = {
    ".yml": "yaml", ".js": "js", ".css": "css",
    ".py": "python", ".h": "c", ".c": "c", ".def": "c", ".lss": "lss", ".toml": "toml", ".dts": "dts", ".config": "ini",
    ".json": "json", ".S": "gas", ".sh": "sh", ".ld": "text", ".mk": "make", "Makefile": "make",
}  # fmt: skip


class StageError(Exception):
    """The site cannot be staged; the text is one line for the user."""


def fence(opening: str) -> str:
    """The first line of a fence for a generator: the language, and a title for a file or an output."""
    language, *words = opening.removeprefix("```").split()
    if language == "output":
        return '```text title="output"'
    file = next((word.removeprefix("file=") for word in words if word.startswith("file=")), None)
    return f'```{language} title="{file}"' if file else f"```{language}"


class Stage:
    """Pages of the tree at `root` on their way to the folder `out`, and what was wrong with them."""

    def __init__(self, root: Path, out: Path, reference: Reference | None) -> None:
        self.root, self.out = root.resolve(), out
        self.written: dict[Path, str] = {}  # of each page of the site the text
        self.pictures: dict[Path, Path] = {}
        self.errors: list[str] = []
        self.virtual = {self.root / page: text for page, text in reference.pages()} if reference else {}
        self.anchors: dict[Path, set[str]] = {}
        self.waiting: list[Path] = []
        glossary = self.root / "docs/glossary.md"
        self.terms: list[Term] = terms(glossary) if glossary.exists() else []
        self.marker = Marker(self.terms)

    def place(self, path: Path) -> Path:
        """Where a file of the repository goes on the site."""
        inside = path.relative_to(self.root)
        if inside == Path("README.md"):
            return Path("index.md")
        if inside.parts[0] == "docs":
            inside = inside.relative_to("docs")
            return inside if inside.suffix in {".md", *PICTURES} else Path("source") / "docs" / f"{inside}.md"
        if path in self.virtual:
            return inside
        return Path("source") / (inside if inside.suffix in {".md", *PICTURES} else f"{inside}.md")

    def all(self) -> None:
        """Stages the pages that are always there, and all to which they lead."""
        self.waiting = [self.root / "README.md", *sorted((self.root / "docs").glob("*.md")), *self.virtual]
        known = set(self.waiting)
        while self.waiting:
            path = self.waiting.pop(0)
            for goal in self._page(path):
                if goal not in known:
                    known.add(goal)
                    self.waiting.append(goal)

    def _text(self, path: Path) -> str:
        return self.virtual[path] if path in self.virtual else path.read_text()

    def _page(self, path: Path) -> list[Path]:
        """Stages one file; returns those to which it links."""
        place = self.place(path)
        if path.suffix in PICTURES:
            self.pictures[place] = path
            return []
        try:
            text = self._text(path)
        except UnicodeDecodeError:
            self.errors.append(f"{path.relative_to(self.root)}: a page links to it, and it is no text")
            return []
        if path.suffix != ".md":
            self.written[place] = self._listing(path, text)
            return []
        goals: list[Path] = []
        if path.name == "glossary.md" and path.parent == self.root / "docs":
            text = self._anchored(text)
        else:
            glossary = os.path.relpath(self.root / "docs/glossary.md", path.parent)
            text = self.marker.mark(text, glossary)
        self.written[place] = self._markdown(path, self._headings(text), goals)
        return goals

    def _listing(self, path: Path, text: str) -> str:
        language = LANGUAGES.get(path.suffix, LANGUAGES.get(path.name, "text"))
        ticks = "`" * max(4, 1 + max(map(len, re.findall(r"`+", text)), default=0))
        body = text if text.endswith("\n") else f"{text}\n"
        head = "---\nsearch:\n  exclude: true\n---\n"
        return f"{head}# {path.relative_to(self.root)}\n\n{ticks}{language}\n{body}{ticks}\n"

    def _anchored(self, text: str) -> str:
        """The glossary, with an anchor for each term."""
        for term in self.terms:
            text = text.replace(f"\n| {term.name} | ", f'\n| <span id="{term.anchor}">{term.name}</span> | ', 1)
        return text

    def _headings(self, text: str) -> str:
        """Repeated headings get the anchors that GitHub gives them: not all generators count as it does."""
        for start, anchor in reversed(headings(text)):
            end = text.index("\n", start) if "\n" in text[start:] else len(text)
            if re.search(r"-\d+$", anchor):
                text = f"{text[:end].rstrip()} {{ #{anchor} }}{text[end:]}"
        return text

    def _markdown(self, path: Path, text: str, goals: list[Path]) -> str:
        """A page with its links and fences for the site; adds the files to which it links to `goals`."""
        made, at = [], 0
        for block in [*FENCE.finditer(text), None]:
            line, end = 1 + text.count("\n", 0, at), block.start() if block else None
            words = ROW.sub(lambda row: CODE_IN_ROW.sub(code_in_row, row[0]), text[at:end])
            made.append(LINK.sub(lambda found, line=line: self._link(path, line, found, goals), words))
            if block:
                opening, body = block[0].split("\n", 1)
                made.append(f"{fence(opening) if re.match('```[^`]', opening) else opening}\n{body}")
                at = block.end()
        return "".join(made)

    def _link(self, path: Path, line: int, found: re.Match, goals: list[Path]) -> str:
        """One link, as it is on the site; `line` is that of the text in which it was found."""
        target, heading = found["target"], found["heading"]
        if found["code"] or re.match(r"[a-z]+:", target):
            return found[0]
        goal = Path(os.path.normpath(path.parent / target)) if target else path
        if goal.is_dir():
            goal /= "README.md"
        wrong = self._wrong(path, goal, target, heading)
        if wrong:
            line += found.string.count("\n", 0, found.start())
            self.errors.append(f"{path.relative_to(self.root)}:{line}: {wrong}")
            return found[0]
        if target:
            goals.append(goal)
        shown = os.path.relpath(self.place(goal), self.place(path).parent) if target else ""
        return f"]({shown}#{heading})" if heading else f"]({shown})"

    def _wrong(self, path: Path, goal: Path, target: str, heading: str | None) -> str | None:
        """What is wrong with a link, if anything is."""
        if not goal.is_relative_to(self.root):
            return f"{target} is outside of the tree"
        if goal not in self.virtual and not goal.is_file():
            return f"there is no {target}"
        if heading and goal.suffix != ".md":
            return f"{target} is no page, so it has no #{heading}"
        if heading and heading not in self._anchors(goal):
            return f"{target or path.name} has no heading #{heading}"
        return None

    def _anchors(self, goal: Path) -> set[str]:
        if goal not in self.anchors:
            own = {term.anchor for term in self.terms} if goal == self.root / "docs/glossary.md" else set()
            self.anchors[goal] = anchors(self._text(goal)) | own
        return self.anchors[goal]

    def write(self) -> None:
        """Writes the folder, in place of one that was staged before."""
        if self.out.exists() and any(self.out.iterdir()) and not (self.out / MARK).exists():
            raise StageError(f"{self.out} has files of others (name an empty folder)")
        shutil.rmtree(self.out, ignore_errors=True)
        for place, text in self.written.items():
            (self.out / place).parent.mkdir(parents=True, exist_ok=True)
            (self.out / place).write_text(text)
        for place, picture in self.pictures.items():
            (self.out / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, self.out / place)
        shutil.copytree(ASSETS, self.out / "assets")
        (self.out / MARK).write_text("")


def code_in_row(found: re.Match) -> str:
    r"""Code in a table writes `|` as `\|`: HTML says the same to every generator."""
    words = found[1].replace("\\|", "|")
    return f"<code>{re.sub(r'[&<>|*_]', lambda sign: f'&#{ord(sign[0])};', words)}</code>"


def stage(root: Path, out: Path, lss: Path | None) -> int:
    """Stages the site; returns the number of pages. StageError has a line for each thing that is wrong."""
    made = Stage(root, out, Reference(root.resolve(), lss) if lss else None)
    made.all()
    if made.errors:
        raise StageError("\n".join(made.errors))
    made.write()
    return len(made.written)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("root", type=Path, metavar="ROOT", help="the source tree")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write; only a staged one is replaced")
    parser.add_argument("--lss", type=Path, help="the compiler, for the pages of modules")
    options = parser.parse_args()
    try:
        print(f"{stage(options.root, options.out, options.lss)} pages")
    except (StageError, ReferenceError) as error:
        for line in str(error).splitlines():
            print(f"stage: {line}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
