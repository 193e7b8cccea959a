"""The page of a study: build/studies/NAME/index.html, one file with figures, tables, diagrams and bottlenecks.

Its frame is study.html, a Jinja2 template that escapes whatever is put into it.
"""

import html
import json
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from harness.report import provenance
from harness.report.page import STYLE, diagram, inline, link
from harness.report.page import write as write_page
from harness.run import compiler, process
from harness.run.progress import Progress
from harness.study import differences, figures, headline, look, outputs, tables
from harness.study.axis_values import scale_of
from harness.study.machine import KIT
from harness.study.model import OK, Outcome, Row, Study
from harness.study.study_file import Figure
from harness.study.uses import Examined
from harness.study.words import measure_label, row_name, spelt


def _figures(outcome: Outcome, out: Path) -> list[Markup]:
    return [draw(outcome, one, out / f"figure-{index}") for index, one in enumerate(_requested(outcome), 1)]


def draw(outcome: Outcome, figure: Figure, file: Path) -> Markup:
    """A figure as a part of a page; its ids begin with the file's name."""
    if not figures.draw(outcome, figure, file):
        return Markup("<p><em>{}: not run yet.</em></p>").format(figure.title or outcome.study.file.title)
    measures = ", ".join(measure_label(name, outcome.study.measures[name]) for name in figure.measures)
    label = f"{figure.title or outcome.study.file.title}: {measures}; the table has the same values"
    picture = inline(file.with_suffix(".svg"), label, f"{file.name}-")
    svg, png = (link(f"{file.name}.{kind}") for kind in ("svg", "png"))
    words = html.escape(figures.caption(outcome, figure))
    caption = f'<figcaption>{words} <a href="{svg}">SVG</a>, <a href="{png}">PNG</a></figcaption>'
    return Markup(f"<figure>{picture}{caption}</figure>")


def _requested(outcome: Outcome) -> list[Figure]:
    """The figures of the study; without any, each measure over the first axis whose values are numbers or have a
    unit."""
    if outcome.study.file.figure:
        return outcome.study.file.figure
    for axis in outcome.study.file.axis:
        if scale_of(axis.values).unit or all(isinstance(value, int | float) for value in axis.values):
            return [Figure(y=name, x=axis.name) for name, one in outcome.study.measures.items() if not one.hidden]
    return []


def _diagrams(outcome: Outcome, row: Row, index: int, out: Path) -> str:
    """The block diagram of a point's machine; its levels lie in a folder beside the page."""
    folder, machine = out / f"diagram-{index}", outcome.study.machine(row.point)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        compiler.lss(outcome.study.build, "graph", machine.path, "-o", folder / "machine.svg", *machine.options)
    except compiler.CompilerError as error:
        return f"<p>The picture could not be drawn: {html.escape(str(error).splitlines()[0])}</p>"
    top, shown = folder / "machine.svg", []
    linked = sorted(set(re.findall(r'href="([^"#]+\.svg)"', top.read_text())))
    for level, name in enumerate([top.name, *linked]):
        what = "The machine" if name == top.name else f"Inside a {name.removeprefix('machine.').removesuffix('.svg')}"
        caption = f'{html.escape(what)} (<a href="{name}">picture alone</a>)'
        picture = diagram(folder / name, f"Block diagram. {what}", caption, f"d{index}-{level}-")
        # Links lead to neighbours of the picture, which lie one folder down from the page.
        shown.append(re.sub(r'(href=")(?![#/]|[a-z]+:)', rf"\1{folder.name}/", picture))
    deeper = [path for path in sorted(folder.glob("*.svg")) if path.name not in (top.name, *linked)]
    links = ", ".join(f'<a href="{link(f"{folder.name}/{path.name}")}">{html.escape(path.stem)}</a>' for path in deeper)
    return "\n".join(shown) + (f"<p>Further inside: {links}.</p>" if links else "")


def _looks(outcome: Outcome, out: Path, progress: Progress, plain: bool) -> list[dict]:
    """What second looks came to: those that the study asks for, or the bottlenecks of the best and the worst point,
    and the machines of these two."""
    ask = outcome.study.file.examine
    found = look.make_all(outcome, look.requested(outcome), progress)
    looks = [{"title": one.title, "name": one.title, "body": _body(came)} for one, came in found]
    found = [] if plain or ask is not None else look.make_all(outcome, look.bottlenecks(outcome), progress)
    bodies, extremes = {id(one.row): _body(came) for one, came in found}, look.extremes(outcome)
    for index, (text, row) in enumerate(extremes):
        (name, measure), *_ = outcome.study.measures.items()
        value = spelt(row.measures[name], measure.unit)
        title = f"{text}: {measure.label or name} {value} ({row_name(outcome.study, row)})"
        body = _machine(outcome, [one for _, one in extremes], index, out) + bodies.get(id(row), "")
        if not plain and ask is None and look.cycles(row) > look.MOST_CYCLES:
            body += _too_long(row)
        looks.append({"title": title, "name": f"{text} point", "body": body})
    return looks


def _machine(outcome: Outcome, rows: Sequence[Row], index: int, out: Path) -> Markup:
    """The machine of the best or the worst point: its diagram, unless that of the best is the same, and, once, the
    settings in which both differ."""
    machines = [outcome.study.machine(row.point) for row in rows]
    if index and differences.same_blocks(*machines):
        shutil.rmtree(out / f"diagram-{index}", ignore_errors=True)
        return Markup("<p>The machine has the same blocks as that of the best point.</p>\n")
    picture = Markup(_diagrams(outcome, rows[index], index, out))
    if index or len(rows) < 2:
        return picture
    return picture + differences.table(differences.of_settings(outcome.study, *rows), ("the best", "the worst"))


def _too_long(row: Row) -> Markup:
    return Markup(
        "<p>Its bottleneck was not looked for: this run has {:,} cycles, and more than {:,} are examined only if the "
        "study says <code>examine = [{{ with = \"bottleneck\" }}]</code>.</p>"
    ).format(look.cycles(row), look.MOST_CYCLES)


def _body(came: Examined | str) -> Markup:
    if isinstance(came, Examined):
        return Markup(came.body)
    return Markup("<p>It could not be examined: {}</p>").format(process.reason(came))


def _repeat(study: Study) -> str:
    """The command that makes the page again: in the source tree with make, elsewhere with the installed harness."""
    path = study.path.resolve()
    if (KIT / "Makefile").exists() and path.is_relative_to(KIT):
        return shlex.join(["make", "run", f"STUDY={path.relative_to(KIT)}"])
    return shlex.join(["spinach", "study", outputs.near(study.path)])


def _facts(outcome: Outcome, version: str) -> list[str]:
    """The line below the title: version, clocks, how many points there are, what became of them."""
    study = outcome.study
    machines = {id(one): one for one in study.machines.values()}.values()
    clocks = list(dict.fromkeys(text for one in machines for text in one.clock_texts))
    failed, count = len(outcome.failed), sum(row.status == OK for row in outcome.every)
    points = f"{count} points" if count != 1 else "1 point"
    checked = f"{failed} of {failed + count} points failed" if failed else f"{points}, all checks passed"
    version = f"Spinach {version}" if version else "Spinach"
    return [version, *(["clocks: " + ", ".join(clocks)] if 0 < len(clocks) <= MOST_CLOCKS else []), checked]


MOST_CLOCKS = 6  # in the head of a page


def _sections(parts: dict[str, bool], looks: list[dict]) -> list[tuple[str, str]]:
    """The contents: anchors and names of the sections that the page has."""
    named = [(anchor, NAMES[anchor]) for anchor, there in parts.items() if there]
    looked = [(f"look{index}", look["name"]) for index, look in enumerate(looks, 1)]
    return [*named, *looked, ("again", NAMES["again"])]


NAMES = {
    "failed": "Failed points", "figures": "Figures", "tables": "Tables", "published": "Against the literature",
    "points": "All points", "again": "How it was made",
}  # fmt: skip


def _strong(value: str) -> Markup:
    return Markup("<strong>{}</strong>").format(value)


def _headline(outcome: Outcome) -> Markup:
    """The first sentence, with its results in bold."""
    parts = headline.RESULT.split(" ".join(outcome.study.file.headline.split()))
    return Markup("").join(
        _strong(headline.fill(outcome, f"{{{part}}}")) if index % 2 else part for index, part in enumerate(parts)
    )


def _interval(outcome: Outcome, lead: str, cards: Sequence[tuple[str, str]]) -> str:
    """What ± is, if the headline or a card has one."""
    return tables.interval(outcome, outcome.rows) if "±" in lead + "".join(map("".join, cards)) else ""


def write(outcome: Outcome, out: Path, progress: Progress, plain: bool = False) -> Path:
    """Writes the page, and returns it."""
    outputs.write(outcome, out)
    study, file = outcome.study, outcome.study.file
    for stale in out.glob("figure-*"):
        stale.unlink()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    first = next((row for row in outcome.rows if row.result), None)
    manifest = {k: v for k, v in (first.result.stats.get("manifest", {}) if first else {}).items() if k != "sources"}
    drawn, published = _figures(outcome, out), tables.published_table(outcome)
    shown = [tables.cross_table(outcome, one) for one in file.table]
    points, looks = tables.points_table(outcome, out), _looks(outcome, out, progress, plain)
    parts = {"failed": bool(outcome.failed), "figures": bool(drawn[1:]), "published": bool(published),
             "tables": bool(shown), "points": True}  # fmt: skip
    lead = _headline(outcome)
    cards = [(headline.fill(outcome, one.value), headline.fill(outcome, one.text)) for one in file.card]
    text = environment.get_template("study.html").render(
        title=file.title, about=" ".join(file.about.split()), style=Markup(STYLE.read_text()),
        facts=_facts(outcome, manifest.get("version", "")), repeat=_repeat(study), headline=lead,
        cards=cards, interval=_interval(outcome, lead, cards),
        sections=_sections(parts, looks), names=NAMES, figures=drawn, tables=shown, points=points,
        published=published, looks=looks, count=sum(row.status == OK for row in outcome.every),
        failed=[(row_name(study, row), row.why, outputs.failing_command(study, row)) for row in outcome.failed],
        manifest=json.dumps(manifest, indent=1), command=outputs.command(study, first.point) if first else "",
    )  # fmt: skip
    page = out / "index.html"
    write_page(page, text)
    results = [row.result for row in outcome.every if row.result]
    kept = sum(result.reused for result in results)
    provenance.write(out, study.build, simulated=len(results) - kept, kept=kept)
    return page
