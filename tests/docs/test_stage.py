"""Staging the site: where pages go, what becomes of links, fences and terms, and what is wrong by page and line."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.site import glossary, stage
from harness.site.reference import Reference, ReferenceError
from tests.tree import found, library_modules, library_types

ROOT = Path(__file__).resolve().parents[2]
GROUPS = ["Start", "Build machines", "Run and measure", "Debug", "Processors and hosts", "Reference"]


def tree(root: Path, **files: str) -> Path:
    """A small source tree; the names of files have __ for / and _x for .x."""
    for name, text in {"README.md": "# Kit\n", "docs__glossary_md": "# Glossary\n", **files}.items():
        path = root / re.sub(r"_(md|c|py|lss|svg)$", r".\1", name).replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def staged(root: Path, out: Path) -> dict[str, str]:
    stage.stage(root, out, None)
    return {str(path.relative_to(out)): path.read_text() for path in sorted(out.rglob("*.md"))}


def test_pages_links_and_listings(tmp_path: Path) -> None:
    root = tree(
        tmp_path / "in",
        docs__a_md="# A\n[b](b.md#b-1) [top](../README.md) [c](../x/y.c) [dir](../x) ![p](p.svg) `[no](none.md)` [w](https://x.y/z)\n",
        docs__b_md="# B\n## B\n[a](a.md), [here](#b)\n",
        docs__p_svg="<svg/>",
        x__README_md="# X\n[y](y.c), [b](../docs/b.md)\n",
        x__y_c="int a; // ````\n",
        x__unlinked_c="int b;\n",
    )
    pages = staged(root, tmp_path / "out")
    assert set(pages) == {"index.md", "a.md", "b.md", "glossary.md", "source/x/README.md", "source/x/y.c.md"}
    assert "[b](b.md#b-1) [top](index.md) [c](source/x/y.c.md) [dir](source/x/README.md) ![p](p.svg) `[no](none.md)` [w](https://x.y/z)" in pages["a.md"]
    assert "## B { #b-1 }\n[a](a.md), [here](#b)" in pages["b.md"]
    assert pages["source/x/README.md"].endswith("[y](y.c.md), [b](../../b.md)\n")
    assert pages["source/x/y.c.md"] == "---\nsearch:\n  exclude: true\n---\n# x/y.c\n\n`````c\nint a; // ````\n`````\n"
    assert (tmp_path / "out/p.svg").exists() and (tmp_path / "out/assets/extra.css").exists()


def test_fences_and_code_in_tables(tmp_path: Path) -> None:
    text = "# A\n```sh run fails\nx\n```\n```lss file=m.lss\n[a](none.md)\n```\n```output\ny\n```\n```c shown=fragment\n```\n| `a \\| *b* <c>` | `d` |\n"
    page = staged(tree(tmp_path / "in", docs__a_md=text), tmp_path / "out")["a.md"]
    assert page == (
        '# A\n```sh\nx\n```\n```lss title="m.lss"\n[a](none.md)\n```\n```text title="output"\ny\n```\n```c\n```\n'
        "| <code>a &#124; &#42;b&#42; &#60;c&#62;</code> | `d` |\n"
    )


def test_everything_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    root = tree(
        tmp_path / "in",
        docs__a_md="# A\n[x](none.md)\n```sh\n[y](none.md)\n```\n[z](b.md#gone)\n[o](../../out.md) [c](../c.c#L1)\n[d](../empty) [m](#mine)\n",
        docs__b_md="# B\n",
        c_c="int c;\n",
        empty__x_c="",
    )
    program = [sys.executable, "-m", "harness.site.stage", str(root), str(tmp_path / "out")]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and not (tmp_path / "out").exists() and not done.stdout
    assert done.stderr.splitlines() == [
        "stage: docs/a.md:2: there is no none.md",
        "stage: docs/a.md:6: b.md has no heading #gone",
        "stage: docs/a.md:7: ../../out.md is outside of the tree",
        "stage: docs/a.md:7: ../c.c is no page, so it has no #L1",
        "stage: docs/a.md:8: there is no ../empty",
        "stage: docs/a.md:8: a.md has no heading #mine",
    ]


def test_files_of_others_are_kept(tmp_path: Path) -> None:
    root, out = tree(tmp_path / "in"), tmp_path / "out"
    out.mkdir()
    staged(root, out)
    (root / "docs/new.md").write_text("# New\n")
    assert "new.md" in staged(root, out)
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("")
    with pytest.raises(stage.StageError, match=re.escape(f"{other} has files of others (name an empty folder)")):
        stage.stage(root, other, None)
    assert (other / "mine.txt").exists()


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    root = tree(tmp_path / "in", docs__a_md="# A\n[b](../b.bin)\n")
    (root / "b.bin").write_bytes(b"\xff\xfe")
    with pytest.raises(stage.StageError, match="^b.bin: a page links to it, and it is no text$"):
        stage.stage(root, tmp_path / "out", None)


TERMS = "# Glossary\n\n| term | meaning |\n|---|---|\n| lane | One connection of a [port](b.md): `p[i]`, \"one\". |\n| point (of a study) | A row. |\n| host port | x |\n| port | y |\n"


def test_the_first_occurrence_of_a_term_is_marked(tmp_path: Path) -> None:
    text = "# A lane\n`lane` [lane](a.md) <b lane> `a\nlane`\n\n| lane | b |\n|---|---|\n| Lanes, lanes, airlane, lane-wise | point |\n\n```c\nport\n```\nA host port and a port.\n"
    pages = staged(tree(tmp_path / "in", docs__a_md=text, docs__b_md="# B\n", docs__glossary_md=TERMS), tmp_path / "out")
    mark = '[<abbr title="One connection of a port: p&#91;i&#93;, &quot;one&quot;.">Lanes</abbr>](glossary.md#lane)'
    assert f"| {mark}, lanes, airlane, lane-wise | point |" in pages["a.md"]
    assert pages["a.md"].startswith("# A lane\n`lane` [lane](a.md) <b lane> `a\nlane`\n\n| lane | b |\n")
    assert 'A [<abbr title="x">host port</abbr>](glossary.md#host-port) and a [<abbr title="y">port</abbr>](glossary.md#port).' in pages["a.md"]
    assert '| <span id="lane">lane</span> | ' in pages["glossary.md"] and "abbr" not in pages["glossary.md"]


def test_the_glossary_has_forty_short_entries() -> None:
    terms = glossary.terms(ROOT / "docs/glossary.md")
    assert len(terms) >= 40
    assert len({term.anchor for term in terms}) == len(terms)
    assert [term.name for term in terms] == sorted((term.name for term in terms), key=str.lower)
    long = {term.name: len(term.meaning.split()) for term in terms if len(term.meaning.split()) > 30}
    assert not long, "entries of more than 30 words"
    wanted = {"lane", "userpoint", "punt", "port", "instant", "cluster", "crossing", "keyed", "stamp", "collector", "event", "marker", "variant", "point", "measure", "window", "start", "replay", "station", "oracle", "assist", "paced firmware"}
    assert wanted <= {term.name.split(" (")[0].removesuffix(" port") for term in terms}


def test_the_reference_has_every_module_and_every_file_of_types(build_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in (path.name for path in ROOT.iterdir() if path.name not in ("docs", "build", ".git")):
        (tmp_path / name).symlink_to(ROOT / name)
    out = tmp_path / "out"
    assert stage.stage(tmp_path, out, build_dir / "bin/lss") > 500
    made = {path.stem for path in (out / "reference").rglob("*.md")} - {"index"}
    assert made == {path.stem for path in [*library_modules(ROOT), *library_types(ROOT)]}
    page = (out / "reference/cache/cache_controller.md").read_text()
    for link in ("[cache](index.md)", "[cache_controller.lss](../../source/modules/cache/cache_controller.lss.md)", "[test_cache_controller.py](../../source/tests/modules/cache/test_cache_controller.py.md)"):
        assert link in page
    assert "[`cache_controller`](cache_controller.md)" in (out / "reference/cache/cache.md").read_text()
    # A heading goes that a page links to, and both are named.
    modules = tmp_path / "docs/module_reference.md"
    modules.write_text(modules.read_text().replace("## Idle time\n", "## Time\n"))
    with pytest.raises(stage.StageError, match=r"docs/module\.md:\d+: module_reference\.md has no heading #idle-time"):
        stage.stage(tmp_path, out, None)


def test_a_compiler_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    with pytest.raises(ReferenceError, match=r"cannot run /nowhere/lss: No such file or directory \(run `make all`\)"):
        Reference(tmp_path, Path("/nowhere/lss"))


def test_the_navigation_has_each_page_once_in_six_groups() -> None:
    nav = (ROOT / "harness/site/mkdocs.yml").read_text().split("\nnav:\n")[1]
    assert re.findall(r"^  - ([^:\n]+):$", nav, re.MULTILINE) == GROUPS
    pages = re.findall(r"(\S+\.md)$", nav, re.MULTILINE)
    families = {path.parent.relative_to(ROOT / "modules") for path in found(ROOT / "modules", "*.lss")}
    assert sorted(pages) == sorted(
        ["index.md", *(page.name for page in found(ROOT / "docs", "*.md")), "reference/index.md", *(f"reference/{family}/index.md" for family in families)]
    )
