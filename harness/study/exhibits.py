"""What a validation report shows of its studies: plots over payload size, tables, comparisons, the published figures.

Each function gives a piece of HTML; a study that was not run says so in its place.
"""

import html
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.report import plot
from harness.report.page import bar, inline, table
from harness.study import measure
from harness.study.campaign import Outcome, Point
from harness.study.plan import Published, Study

AGREES = 9.0  # percent: a larger difference from a published figure needs an experiment that explains it
SETTLED = 0.05


def _missing(study: Study) -> str:
    return f"<p><em>{html.escape(study.title)}: not run yet.</em></p>"


def _figure(file: Path, label: str, prefix: str) -> str:
    picture = inline(file.with_suffix(".svg"), label, prefix)
    return f'<figure>{picture}<figcaption><a href="{file.name}.png">picture alone</a></figcaption></figure>'


def _signed(percent: float) -> str:
    return f"{round(percent, 1) + 0:+.1f} %"  # never -0.0


def figure(outcome: Outcome, study: Study, out: Path) -> str:
    """Throughput over payload size, every series, with what was published."""
    points = outcome.of(study.name)
    if not points:
        return _missing(study)
    lines = [
        plot.Line(series.label, [p.payload for p in own], [p.rate for p in own])
        for series in study.series if (own := [p for p in points if p.series is series])
    ]  # fmt: skip
    maximum = {point.payload: point.maximum for point in points}
    # A figure that stands beside several series is one mark, with the words that it has first.
    places = {(f.payload, f.percent): f.label for f in reversed(study.published)}
    marks = [plot.Mark(label, at, part / 100 * maximum[at]) for (at, part), label in places.items() if at in maximum]
    plan = next(plan for plan in outcome.plans if study in plan.study)
    plot.throughput(study.title, lines, marks, study.ways, plan.link_rate, out / study.name)
    return _figure(out / study.name, f"{study.title}; the table of this study has the same figures", f"{study.name}-")


def rows(outcome: Outcome, study: Study) -> str:
    """Every point of a study."""
    head = ["Series", "Payload, B", "Send : receive", "Mb/s", "± (95 %)", "Theory, Mb/s", "of the maximum",
            "Frames", "Drops"]  # fmt: skip
    cells = [
        [
            html.escape(p.series.label), f"{p.payload}", p.ratio, f"{p.rate / 1e6:,.1f}", f"{p.uncertainty / 1e6:,.1f}",
            f"{p.maximum / 1e6:,.1f}", bar(p.percent), f"{p.frames:,}", f"{p.drops:,}",
        ]
        for p in outcome.of(study.name)
    ]  # fmt: skip
    if not cells:
        return _missing(study)
    body = table(head, cells, "Frames were compared byte for byte; a damaged one would have failed the run.")
    return (
        f'<details><summary>{html.escape(study.title)}: every point</summary><div class="wide">{body}</div></details>'
    )


def comparison(outcome: Outcome, study: Study) -> str:
    """Variants beside the first one: percent of the maximum, and the change, for each payload size."""
    points = {(p.series.name, p.payload): p for p in outcome.of(study.name)}
    if not points:
        return _missing(study)
    head, cells = ["Variant"], []
    for payload in study.payloads:
        head += [f"{payload} B", "change"]
    for series in study.series:
        row = [html.escape(series.label)]
        for payload in study.payloads:
            base, point = (points.get((name, payload)) for name in (study.series[0].name, series.name))
            if not point:
                row += ["–"] * 2
                continue
            change = _signed(100 * (point.rate / base.rate - 1)) if base and point is not base else ""
            row += [f"{point.percent:.1f} %", change]
        cells.append(row)
    return f'<div class="wide">{table(head, cells, f"{study.about} Percent of the theoretical maximum.")}</div>'


def changes(outcome: Outcome, study: Study, out: Path) -> str:
    """How much each variant carries more or less than the first one, as bars."""
    points = {(p.series.name, p.payload): p for p in outcome.of(study.name)}
    base, *others = study.series
    if any((series.name, payload) not in points for series in study.series for payload in study.payloads):
        return _missing(study)
    columns = []
    for payload in study.payloads:
        first = points[base.name, payload]
        ours = [points[series.name, payload] for series in others]
        columns.append((f"{payload} B", [100 * (point.rate / first.rate - 1) for point in ours]))
    file = out / f"{study.name}-changes"
    plot.changes(study.title, [series.label for series in others], columns, file)
    return _figure(file, f"{study.title}; the table of this study has the same figures", f"{study.name}-d-")


def scaling(outcome: Outcome, study: Study, out: Path) -> str:
    """Percent of the link over the number of cores, a line for each payload size."""
    points = outcome.of(study.name)
    if not points:
        return _missing(study)
    lines = []
    step = 2 if len(study.payloads) > 5 else 1  # more lines than that are a tangle
    for payload in study.payloads[::step]:
        own = sorted((p for p in points if p.payload == payload), key=lambda p: p.series.cores)
        lines.append(plot.Line(f"{payload} B", [p.series.cores for p in own], [p.percent for p in own]))
    cores = {series.name: series.cores for series in study.series}
    marks = [(figure.label, cores[figure.series], figure.percent) for figure in study.published]
    file = out / f"{study.name}-cores"
    plot.scaling(study.title, lines, marks, file)
    return _figure(file, f"{study.title}, over the number of cores", f"{study.name}-c-")


def course(outcome: Outcome, study: Study, out: Path) -> str:
    """How throughput settles from the first frame on."""
    courses = {place: points for place, points in outcome.courses.items() if place[0] == study.name}
    if not courses:
        return _missing(study)
    labels = {series.name: series.label for series in study.series}
    lines = [
        plot.Line(f"{labels[series]}, {payload} B", *map(list, zip(*points, strict=True)))
        for (_, series, payload), points in courses.items()
    ]
    plot.course(study.title, lines, out / study.name)
    head = ["Run", "Within 5 % after", "Whole run, Mb/s"]
    cells = [
        [
            html.escape(line.name),
            f"{measure.settled(points, SETTLED)} frames",
            f"{outcome.points[place].rate / 1e6:,.1f}",
        ]
        for line, (place, points) in zip(lines, courses.items(), strict=True)
    ]
    picture = _figure(out / study.name, study.title, f"{study.name}-")
    return f'<div class="plots">{picture}<div class="wide">{table(head, cells, study.about)}</div></div>'


def examined(outcome: Outcome, study: Study) -> str:
    """Costs by function, or where the cycles go."""
    bodies = [found.body for found in outcome.examined.get(study.name, [])]
    return "\n".join(bodies) if bodies else _missing(study)


def compared(outcome: Outcome) -> Iterable[tuple[Study, Published, Point | None]]:
    """Every published figure with the point that stands beside it, if it was run."""
    for study in outcome.studies():
        for figure in study.published:
            yield study, figure, outcome.points.get((study.name, figure.series, figure.payload))


def error(figure: Published, point: Point) -> float:
    """Ours against a published figure, in percent of that figure."""
    return 100 * (point.percent / figure.percent - 1)


def published(outcome: Outcome) -> str:
    """Every published figure with ours and the error; a large error names the studies that explain it."""
    cells = []
    for study, figure, point in compared(outcome):
        why = ", ".join(f'<a href="#{name}">{name}</a>' for name in figure.explained)
        ours, difference, verdict = "not run", "", ""
        if point:
            off = error(figure, point)
            ours, difference = f"{point.percent:.1f} %", _signed(off)
            verdict = "agrees" if abs(off) <= AGREES else why or "<strong>not explained</strong>"
        name = f'<a href="#{study.name}">{study.name}</a>'
        cells.append([html.escape(figure.label), name, f"{figure.percent:g} %", ours, difference, verdict])
    head = ["Published figure", "Study", "Published", "Ours", "Error", f"Within {AGREES:g} %, or shown by"]
    return f'<div class="wide">{table(head, cells, "Percent of the theoretical UDP maximum.", 2)}</div>'


def per_study(show: Callable[..., str], outcome: Outcome, *where: Path) -> Callable[[str], str]:
    """A directive that takes the name of a study."""
    known = {study.name: study for study in outcome.studies()}
    return lambda name: show(outcome, known[name], *where)
