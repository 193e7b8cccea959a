"""The module reference: what `lss doc` says of every module and type of the library, as Markdown files and one page.

It is generated from the declarations, so it cannot fall behind them; nothing of it is kept in the source tree.
"""

import re
from pathlib import Path

from markdown_it import MarkdownIt

from harness.report import page
from harness.run import compiler
from harness.run.used_files import UsedFiles

STYLE = Path(__file__).with_name("style.css")
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Spinach: module reference</title>
<style>
{style}
main td, main th {{ white-space: normal; text-align: left; vertical-align: top; }}
main td:first-child code {{ white-space: nowrap; }}
main td code {{ overflow-wrap: break-word; }}
main > table:first-child {{ margin-top: 1.5rem; }}
main > table:first-child td:first-child {{ white-space: nowrap; width: 1%; }}
main h2 {{ border-top: 2px solid var(--leaf); padding-top: 1.2rem; }}
main h3 {{ font-size: 1rem; margin: 1.3rem 0 .4rem; }}
</style></head>
<body>
<header><div><h1>Module reference</h1><p>Every module and type of the library, from its declaration.</p></div></header>
<main>
{body}
</main>
<footer>Written by <code>make reference</code>.</footer>
</body></html>
"""


def _page(markdown: str, names: list[str]) -> str:
    """Renders the whole reference; headings of modules and types become targets of links."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = renderer.parse(markdown)
    for opening, content in zip(tokens, tokens[1:], strict=False):
        if opening.type == "heading_open" and opening.tag == "h2" and content.content in names:
            opening.attrSet("id", content.content)
    return PAGE.format(style=STYLE.read_text(), body=renderer.renderer.render(tokens, renderer.options, {}))


def _file(out: Path, name: str) -> Path:
    """Where the text of a module, or of a file of types, goes."""
    return out / f"{Path(name).stem if name.endswith('.lss') else name}.md"


def write(build: Path, types: list[str]) -> Path:
    """Writes build/docs/modules/*.md and index.html; `types` are the files of types to document after the modules."""
    out = build / "docs" / "modules"
    out.mkdir(parents=True, exist_ok=True)
    for stale in out.glob("*.md"):
        stale.unlink()
    rows, texts, names, used = [], [], [], UsedFiles()
    for name in types:
        used.writes(_file(out, name), name)

    def document(name: str, kind: str, summary: str) -> None:
        text = compiler.lss(build, "doc", "--markdown", Path(name))
        page.write(_file(out, name), text)
        declared = [line[3:] for line in text.splitlines() if line.startswith("## ")]
        names.extend(declared)
        texts.append(text)
        links = [f"[{each}](#{each})" for each in declared]
        shown = re.sub(r"([\\`*_\[\]<>&|])", r"\\\1", " ".join(name.split()))  # as Markdown
        first, last = (shown, ", ".join(links)) if kind == "types" else (links[0], summary)
        rows.append(f"| {first} | {kind} | {last} |")

    for line in compiler.lss(build, "list").splitlines():
        if line.startswith(" "):
            document(*line.split(None, 2))
        else:  # a family
            rows.append(f"| **{line}** | | |")
    rows.append("| **types** | | |")
    for name in types:
        document(name, "types", "")
    index = "| module | kind | what it does |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    page.write(out / "index.html", _page(index + "\n" + "\n".join(texts), names))
    return out / "index.html"
