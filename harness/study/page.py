"""The page of a study: build/studies/NAME/index.html, one file with figures, tables, diagrams and bottlenecks.

Its frame is study.html, a Jinja2 template that escapes whatever is put into it.
"""

import html
import json
import re
import shutil
from pathlib import Path

import jinja2
from markupsafe import Markup

from harness.bottleneck import NetlistError
from harness.bottleneck import measure as bottleneck
from harness.bottleneck import page as bottleneck_page
from harness.report.page import STYLE, diagram, inline, table
from harness.run import compiler, files
from harness.run.progress import Progress
from harness.study import figures, outputs
from harness.study.points import VARIANT
from harness.study.runner import OK, Outcome, Row, number, unit
from harness.study.study_file import Figure, ShownTable

AGREES = 9.0  # percent: a larger difference from a published figure needs an explanation


def _figures(outcome: Outcome, out: Path) -> list[Markup]:
    shown = []
    for index, figure in enumerate(_asked(outcome), 1):
        file = out / f"figure-{index}"
        if not figures.draw(outcome, figure, file):
            shown.append(Markup("<p><em>A figure has no points yet.</em></p>"))
            continue
        label = f"{figure.title or outcome.study.file.title}: {figure.y}; the table has the same values"
        picture = inline(file.with_suffix(".svg"), label, f"f{index}-")
        links = f'<figcaption><a href="{file.name}.svg">SVG</a>, <a href="{file.name}.png">PNG</a></figcaption>'
        shown.append(Markup(f"<figure>{picture}{links}</figure>"))
    return shown


def _asked(outcome: Outcome) -> list[Figure]:
    """The figures of the study; without any, each measure over the first axis whose values are numbers."""
    if outcome.study.file.figure:
        return outcome.study.file.figure
    for axis in outcome.study.file.axis:
        if all(isinstance(value, int | float) for value in axis.values):
            return [Figure(y=name, x=axis.name) for name in outcome.study.measures]
    return []


def _cell(outcome: Outcome, row: Row, name: str) -> str:
    if name not in row.measures:
        return "–"
    error = f" ± {number(row.errors[name])}" if row.errors.get(name) else ""
    return html.escape(number(row.measures[name]) + error)


def points_table(outcome: Outcome) -> Markup:
    """Every point that is shown, with the command that repeats it."""
    study, axes = outcome.study, outputs.axes(outcome.study)
    head = [*axes, *(name + (f", {m.unit}" if m.unit else "") for name, m in study.measures.items()), ""]
    rows = []
    for row in outcome.rows:
        place = [html.escape(str(row.point.coordinates.get(axis, ""))) for axis in axes]
        again = f"<details><summary>{row.status}</summary><code>{html.escape(outputs.command(study, row.point))}"
        rows.append([*place, *(_cell(outcome, row, name) for name in study.measures), again + "</code></details>"])
    return Markup(table([html.escape(one) for one in head], rows, "Each point, and the command that makes it again.",
                        max(1, len(axes))))  # fmt: skip


def cross_table(outcome: Outcome, asked: ShownTable) -> Markup:
    """One measure, an axis down and another one across."""
    rows = [row for row in outcome.rows if row.status == OK and row.lies(asked.where)]

    def values(axis: str) -> list:
        return list(dict.fromkeys(row.point.coordinates.get(axis) for row in rows))

    across, body = values(asked.columns), []
    for down in values(asked.rows):
        cells = [html.escape(str(down))]
        for one in across:
            found = [row for row in rows if row.lies({asked.rows: down, asked.columns: one})]
            cells.append(_cell(outcome, found[0], asked.value) if len(found) == 1 else "–")
        body.append(cells)
    head = [html.escape(f"{asked.rows} / {asked.columns}"), *(html.escape(str(one)) for one in across)]
    return Markup(table(head, body, asked.title or asked.value))


def _published(outcome: Outcome) -> Markup | str:
    rows = []
    for entry in outcome.study.file.published:
        for row in outcome.rows:
            for name in outcome.study.measures:
                if name in entry and row.lies(entry.get("where", {})) and name in row.measures:
                    off = 100 * (row.measures[name] / entry[name] - 1) if entry[name] else 0.0
                    why = ", ".join(entry.get("explained", []))
                    verdict = "agrees" if abs(off) <= AGREES else why or "not explained"
                    cells = [
                        entry.get("label", "published"), row.point.name, f"{name}{unit(outcome.study.measures[name])}",
                        number(entry[name]), number(row.measures[name]), f"{round(off, 1) + 0:+.1f} %", verdict,
                        entry.get("source", ""),
                    ]  # fmt: skip
                    rows.append([html.escape(str(cell)) for cell in cells])
    head = ["Published", "Point", "Measure", "Published", "Ours", "Error", f"Within {AGREES:g} %", "Source"]
    return Markup(table(head, rows, "Figures of others beside ours.", 3)) if rows else ""


def extremes(outcome: Outcome) -> list[tuple[str, Row]]:
    """The best and the worst point, by the first measure."""
    rows, measures = [row for row in outcome.rows if row.status == OK], outcome.study.measures
    if not rows or not measures:
        return []
    name, measure = next(iter(measures.items()))
    rows = sorted((row for row in rows if name in row.measures), key=lambda row: row.measures[name])
    if not rows:
        return []
    worst, best = (rows[0], rows[-1]) if measure.better == "more" else (rows[-1], rows[0])
    words = f"{name} {number(best.measures[name])}", f"{name} {number(worst.measures[name])}"
    pair = [(f"The best: {words[0]}", best), (f"The worst: {words[1]}", worst)]
    return pair if best is not worst else pair[:1]


def _diagrams(outcome: Outcome, row: Row, index: int, out: Path) -> str:
    """The block diagram of a point's machine; its levels lie in a folder beside the page."""
    folder, machine = out / f"diagram-{index}", outcome.study.machine(row.point)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    options = [word for name, value in machine.defines for word in ("-D", f"{name}={value}")]
    try:
        compiler.lss(outcome.study.build, "graph", machine.path, "-o", folder / "machine.svg", *options)
    except compiler.CompilerError as error:
        return f"<p>The picture could not be drawn: {html.escape(str(error).splitlines()[0])}</p>"
    caption = f'The machine (<a href="{folder.name}/machine.svg">picture alone</a>, with what is inside)'
    picture = diagram(folder / "machine.svg", "Block diagram", caption, f"d{index}-")
    return re.sub(r'(href=")(?![#/]|[a-z]+:|diagram-)', rf"\1{folder.name}/", picture)


def look(outcome: Outcome, row: Row, index: int, out: Path) -> str:
    """Where the cycles of a point go; the machine is built and run once more, with counters on its connections."""
    study, job = outcome.study, outcome.study.jobs[row.point.number]
    machine = study.machine(row.point)
    words = [*job.words, *(w for option, path in job.inputs for w in outputs._file(option, str(path.resolve())))]
    try:
        folder = study.build / "examined" / job.name()
        defines = [f"{name}={value}" for name, value in machine.defines]
        analysis = bottleneck.examine(machine.path, study.build, folder, defines, words)
        return bottleneck_page.fragment(analysis, "Where the cycles go", f"b{index}-")
    except (bottleneck.MeasureError, NetlistError, OSError) as error:
        return f"<p>Where the cycles go could not be examined: {html.escape(str(error).splitlines()[0])}</p>"


def _looks(outcome: Outcome, out: Path, progress: Progress, examine: bool) -> list[dict]:
    looks = []
    for index, (words, row) in enumerate(extremes(outcome)):
        with progress.step(f"examining {row.point.name}"):
            body = _diagrams(outcome, row, index, out) + (look(outcome, row, index, out) if examine else "")
        looks.append({"title": f"{words} ({row.point.name})", "body": Markup(body)})
    return looks


def write(outcome: Outcome, out: Path, progress: Progress, examine: bool = True) -> Path:
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
        points=points_table(outcome), published=_published(outcome), looks=_looks(outcome, out, progress, examine),
        failed=[(row.point.name, row.why, outputs.command(study, row.point)) for row in outcome.failed],
        count=sum(row.status == OK for row in outcome.every), manifest=json.dumps(manifest, indent=1),
        command=outputs.command(study, first.point) if first else "", variant=VARIANT,
    )  # fmt: skip
    page = out / "index.html"
    files.write(page, text)
    return page
