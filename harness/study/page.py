"""The page of a study: build/studies/NAME/index.html, one file with figures, tables, diagrams and bottlenecks.

Its frame is study.html, a Jinja2 template that escapes whatever is put into it.
"""

import html
import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from harness.report import provenance
from harness.report.page import STYLE, diagram, inline, link, table
from harness.report.page import write as write_page
from harness.run import compiler
from harness.run.progress import Progress
from harness.study import figures, look, outputs
from harness.study.axis_values import scale_of
from harness.study.model import OK, Outcome, Row
from harness.study.points import VARIANT
from harness.study.runner import number, unit
from harness.study.study_file import Figure, ShownTable
from harness.study.uses import Examined

AGREES = 9.0  # percent: a larger difference from a published figure needs an explanation


def _figures(outcome: Outcome, out: Path) -> list[Markup]:
    return [draw(outcome, one, out / f"figure-{index}") for index, one in enumerate(_requested(outcome), 1)]


def draw(outcome: Outcome, figure: Figure, file: Path) -> Markup:
    """A figure as a part of a page; its ids begin with the file's name."""
    if not figures.draw(outcome, figure, file):
        return Markup("<p><em>{}: not run yet.</em></p>").format(figure.title or outcome.study.file.title)
    label = f"{figure.title or outcome.study.file.title}: {', '.join(figure.measures)}; the table has the same values"
    picture = inline(file.with_suffix(".svg"), label, f"{file.name}-")
    svg, png = (link(f"{file.name}.{kind}") for kind in ("svg", "png"))
    links = f'<figcaption><a href="{svg}">SVG</a>, <a href="{png}">PNG</a></figcaption>'
    return Markup(f"<figure>{picture}{links}</figure>")


def _requested(outcome: Outcome) -> list[Figure]:
    """The figures of the study; without any, each measure over the first axis whose values are numbers or have a
    unit."""
    if outcome.study.file.figure:
        return outcome.study.file.figure
    for axis in outcome.study.file.axis:
        if scale_of(axis.values).unit or all(isinstance(value, int | float) for value in axis.values):
            return [Figure(y=name, x=axis.name) for name, one in outcome.study.measures.items() if not one.hidden]
    return []


def _cell(outcome: Outcome, row: Row, name: str) -> str:
    if name not in row.measures:
        return "–"
    if row.errors.get(name):
        return html.escape(with_error(row.measures[name], row.errors[name]))
    return html.escape(number(row.measures[name]))


def with_error(value: float, error: float) -> str:
    """A value and its error, with two digits of the error, or as many as make five of the value."""
    places = 1 - math.floor(math.log10(error))
    most = 4 - math.floor(math.log10(abs(value))) if value else places
    places = max(0, min(places, most))
    return f"{value:,.{places}f} ± {error:,.{places}f}"


def _keep(outcome: Outcome, row: Row, out: Path) -> list[str]:
    """Puts files that a plug-in wants to show beside the page."""
    use = outcome.study.uses[row.point.number]
    kept = use.shown_files(row.point, row.result) if use and row.result else {}
    for name, file in kept.items():
        shutil.copyfile(file, out / name)
    return list(kept)


def points_table(outcome: Outcome, out: Path) -> Markup:
    """Every point that is shown, with the command that repeats it: a table for variants that have the same columns."""
    variants: dict[str, list[Row]] = {}
    for row in outcome.rows:
        variants.setdefault(row.point.coordinates.get(VARIANT, ""), []).append(row)
    tables: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Row]] = {}
    for rows in variants.values():
        axes = tuple(axis for axis in outputs.axes(outcome.study) if any(axis in row.point.coordinates for row in rows))
        listed = [name for name, measure in outcome.study.measures.items() if not measure.hidden]
        known = tuple(name for name in listed if any(name in row.measures for row in rows))
        tables.setdefault((axes, known), []).extend(rows)
    return Markup("\n").join(_points(outcome, out, axes, known, rows) for (axes, known), rows in tables.items())


def _points(
    outcome: Outcome, out: Path, axes: Sequence[str], known: Sequence[str], points: Sequence[Row]
) -> Markup:  # fmt: skip
    study = outcome.study
    caption = "; ".join(dict.fromkeys(row.point.label for row in points if row.point.label))
    head = [*axes, *(name + unit(study.measures[name]).replace(" ", ", ", 1) for name in known), ""]
    rows = []
    for row in points:
        place = [html.escape(str(row.point.coordinates.get(axis, ""))) for axis in axes]
        files = "".join(f'<br><a href="{link(name)}">{html.escape(name)}</a>' for name in _keep(outcome, row, out))
        again = f"<details><summary>{row.status}</summary><code>{html.escape(outputs.command(study, row.point))}"
        values = [_cell(outcome, row, name) for name in known]
        rows.append([*place, *values, again + f"</code>{files}</details>"])
    return Markup(table([html.escape(one) for one in head], rows, caption, max(1, len(axes))))


def cross_table(outcome: Outcome, shape: ShownTable) -> Markup:
    """One measure, an axis down and another one across; beside it the change, where it is relative to something."""
    rows = [row for row in outcome.rows if row.status == OK and row.matches(shape.where)]
    measure = outcome.study.measures[shape.value]

    def values(axis: str) -> list:
        return list(dict.fromkeys(row.point.coordinates.get(axis) for row in rows))

    def one(down: object, column: object) -> Row | None:
        found = [row for row in rows if row.matches({shape.rows: down, shape.columns: column})]
        return found[0] if len(found) == 1 else None

    across, body = values(shape.columns), []
    for down in values(shape.rows):
        labels = {row.point.coordinates.get(shape.rows): row.point.label for row in rows}
        cells = [html.escape(labels[down] if shape.rows == VARIANT else str(down))]
        for column in across:
            row, base = one(down, column), one(shape.relative_to, column)
            cells.append(html.escape(spelt(row.measures[shape.value], measure.unit)) if row else "–")
            if shape.relative_to is not None:
                cells.append(change(row, base, shape.value))
        body.append(cells)
    named = {axis.name: axis.label or axis.name for axis in outcome.study.file.axis}
    ways = (shape.rows, "↓"), (shape.columns, "→")
    corner = " ".join(f"{named[axis]} {way}" for axis, way in ways if axis in named)
    heads = [html.escape(str(column)) for column in across]
    if shape.relative_to is not None:
        heads = [cell for head in heads for cell in (head, "change")]
    caption = shape.title or f"{figures.measure_label(shape.value, measure)}. {outcome.study.file.about}"
    return Markup(table([html.escape(corner), *heads], body, caption))


def change(row: Row | None, base: Row | None, name: str) -> str:
    """How much a row differs from another one, in percent."""
    if row is None or base is None or row is base or not base.measures[name]:
        return ""
    return signed(100 * (row.measures[name] / base.measures[name] - 1))


def signed(percent: float) -> str:
    """A difference, never -0.0."""
    return f"{round(percent, 1) + 0:+.1f} %"


def spelt(value: float, kind: str) -> str:
    """A value with its unit, as a text has it."""
    if kind == "%":
        return f"{value:.1f} %"
    return f"{number(value)} {kind}".strip()


def _published(outcome: Outcome) -> Markup | str:
    rows = []
    for entry in outcome.study.file.published:
        for row in outcome.rows:
            for name in outcome.study.measures:
                if name in entry and row.matches(entry.get("where", {})) and name in row.measures:
                    off = 100 * (row.measures[name] / entry[name] - 1) if entry[name] else 0.0
                    why = ", ".join(entry.get("explained", []))
                    verdict = "agrees" if abs(off) <= AGREES else why or "not explained"
                    cells = [
                        entry.get("label", "published"), row.point.name, f"{name}{unit(outcome.study.measures[name])}",
                        verdict, entry.get("source", ""), number(entry[name]), number(row.measures[name]), signed(off),
                    ]  # fmt: skip
                    rows.append([html.escape(str(cell)) for cell in cells])
    if not rows:
        return ""
    head = ["Figure", "Point", "Measure", f"Within {AGREES:g} %, or why not", "Source", "Published", "Ours", "Off"]
    if not any(row[4] for row in rows):  # no entry names a source
        head, *rows = [row[:4] + row[5:] for row in [head, *rows]]
    return Markup(table(head, rows, "Published figures next to ours.", len(head) - 3))


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
    looks = [{"title": f"{one.name}: {one.title}", "body": _body(came)} for one, came in found]
    found = [] if plain or ask is not None else look.make_all(outcome, look.bottlenecks(outcome), progress)
    bodies, drawn = {id(one.row): _body(came) for one, came in found}, []
    for index, (text, row) in enumerate(look.extremes(outcome)):
        name, structure = next(iter(outcome.study.measures)), outcome.study.structure(row.point)
        title = f"{text}: {name} {number(row.measures[name])} ({row.point.name})"
        picture = Markup("") if structure in drawn else Markup(_diagrams(outcome, row, index, out))
        drawn.append(structure)
        if body := picture + bodies.get(id(row), ""):
            looks.append({"title": title, "body": body})
    return looks


def _body(came: Examined | str) -> Markup:
    if isinstance(came, Examined):
        return Markup(came.body)
    return Markup("<p>It could not be examined: {}</p>").format(came.splitlines()[0])


def write(outcome: Outcome, out: Path, progress: Progress, plain: bool = False) -> Path:
    """Writes the page, and returns it."""
    outputs.write(outcome, out)
    study = outcome.study
    for stale in out.glob("figure-*"):
        stale.unlink()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    first = next((row for row in outcome.rows if row.result), None)
    manifest = {k: v for k, v in (first.result.stats.get("manifest", {}) if first else {}).items() if k != "sources"}
    text = environment.get_template("study.html").render(
        title=study.file.title, about=" ".join(study.file.about.split()), style=Markup(STYLE.read_text()),
        figures=_figures(outcome, out), tables=[cross_table(outcome, one) for one in study.file.table],
        points=points_table(outcome, out), published=_published(outcome), looks=_looks(outcome, out, progress, plain),
        failed=[(row.point.name, row.why, outputs.command(study, row.point)) for row in outcome.failed],
        count=sum(row.status == OK for row in outcome.every), manifest=json.dumps(manifest, indent=1),
        command=outputs.command(study, first.point) if first else "", variant=VARIANT,
    )  # fmt: skip
    page = out / "index.html"
    write_page(page, text)
    results = [row.result for row in outcome.every if row.result]
    kept = sum(result.reused for result in results)
    provenance.write(out, study.build, simulated=len(results) - kept, kept=kept)
    return page
