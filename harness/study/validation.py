"""A report on several studies: a text in Markdown whose {{directives}} are filled with what the studies measured.

A directive within a line is a value, one alone on a line a figure or a table; docs/studies.md lists them.  So no number
in the report was typed in, and a text that asks for a study that does not exist is one clear line.
"""

import html
import json
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from harness.report import provenance
from harness.report.anchors import slug, unique
from harness.report.page import STYLE, identifier, scrolled, table
from harness.run import files
from harness.study import figures, headline, outputs, page
from harness.study.collection import Collection
from harness.study.model import OK, Outcome, Row
from harness.study.points import VARIANT
from harness.study.statistics import curves
from harness.study.study_file import StudyError, is_comparable
from harness.study.tables import AGREES, cross_table, points_table
from harness.study.words import place as point_place
from harness.study.words import signed, spelt

DIRECTIVE = re.compile(r"\{\{([^{}]+)\}\}")
NOT_RUN = "(not run)"
KINDS = {"figure": "lines", "changes": "bars", "scaling": "scaling", "convergence": "series",
         "layers": "stack"}  # fmt: skip


class TextError(Exception):
    """A text that cannot be filled; the text is one line for the user."""


def axes(outcome: Outcome) -> list[str]:
    """What places a row of a study: the variant, and all axes of which it is not the best."""
    file = outcome.study.file
    return [*([VARIANT] if file.variant else []), *(axis.name for axis in file.axis if not axis.best)]


def compared(collection: Collection) -> Iterable[tuple[str, dict, str, Row | None]]:
    """Every published figure: the study, its entry, the measure, and the row beside it, if it was run."""
    for name, outcome in collection.outcomes.items():
        for entry in outcome.study.file.published:
            rows = [row for row in outcome.rows if row.status == OK and row.matches(entry.get("where", {}))]
            for measure in outcome.study.measures:
                if measure in entry:
                    yield name, entry, measure, rows[0] if rows else None


class Directives:
    """What a text may ask for."""

    def __init__(self, collection: Collection, out: Path) -> None:
        self.collection, self.out = collection, out
        self.blocks: dict[str, Callable[..., str]] = {
            "published": self._published, "table": self._points, "comparison": self._comparison,
            "examined": self._examined, **{name: self._figure_of(name) for name in KINDS},
        }  # fmt: skip
        self.inline: dict[str, Callable[..., str]] = {
            "gain": self._gain, "setting": self._setting, "verdict": self._verdict, "worst": self._worst,
            "mean": self._mean, "uncertainty": self._uncertainty, "range": self._range, "fit": self._fit,
            "result": self._result,
            "points": lambda study, *places: str(len(self._among(study, [], places))),
        }  # fmt: skip

    def _outcome(self, study: str) -> Outcome:
        return self.collection.outcomes[study]

    def _row(self, study: str, *place: str) -> Row | None:
        """The row at a place: values of the axes, in their order."""
        outcome = self._outcome(study)
        names = axes(outcome)
        if len(place) != len(names):
            raise KeyError(f"a place in {study} is {' '.join(names)}")
        where = dict(zip(names, place, strict=True))
        rows = [r for r in outcome.rows if all(str(r.point.coordinates.get(k)) == v for k, v in where.items())]
        if not rows:
            raise KeyError(" ".join(place))
        return rows[0] if rows[0].status == OK and (rows[0].result or not outcome.study.runs) else None

    def value(self, name: str, study: str, *place: str) -> str:
        """A measure of a row, or of an axis with `best` the value that was best."""
        outcome, row = self._outcome(study), self._row(study, *place)
        if any(axis.name == name and axis.best for axis in outcome.study.file.axis):
            return self._chosen(outcome, row, name) if row else NOT_RUN
        measure = outcome.study.measures[name]
        return spelt(row.measures[name], measure.unit) if row else NOT_RUN

    @staticmethod
    def _chosen(outcome: Outcome, row: Row, axis: str) -> str:
        measure = next(one.best for one in outcome.study.file.axis if one.name == axis)

        def error(one: Row) -> float:
            return one.errors.get(measure, 0.0)

        others = [one for one in outcome.alternatives(row) if one is not row]
        least = row.measures[measure] - error(row)
        alike = [one for one in others if one.measures[measure] + error(one) >= least]
        alike.sort(key=lambda one: -one.measures[measure])
        names = ", ".join(str(one.point.coordinates[axis]) for one in alike)
        own = str(row.point.coordinates[axis])
        return f"{own} (as good within the error: {names})" if names else own

    def total(self, name: str) -> str:
        """The sum of a measure over all points of all studies."""
        rows = [row for outcome in self.collection.outcomes.values() for row in outcome.every]
        if not any(name in outcome.study.measures for outcome in self.collection.outcomes.values()):
            raise KeyError(name)
        return f"{sum(row.measures.get(name, 0) for row in rows):,.0f}"

    def _gain(self, *at: str) -> str:
        parts = len(axes(self._outcome(at[0]))) + 1
        row, base = self._row(*at[:parts]), self._row(*at[parts:])
        name = next(iter(self._outcome(at[0]).study.measures))
        if not (row and base):
            return NOT_RUN
        return f"{round(100 * (row.measures[name] / base.measures[name] - 1)) + 0:+d} %"

    def _setting(self, study: str, *at: str) -> str:
        row = self._row(study, *at[:-1])
        if not row:
            return NOT_RUN
        manifest = row.result.stats.get("manifest", {})
        value, *unit = str((manifest.get("parameters", {}) | manifest.get("constants", {}))[at[-1]]).split()
        return " ".join([f"{float(value):g}" if re.match(r"[\d.]", value) else value, *unit]).replace("percent", "%")

    def _verdict(self, study: str, *place: str) -> str:
        outcome = self._outcome(study)
        known = [str(value) for row in outcome.rows for value in row.point.coordinates.values()]
        if any(one not in known for one in place):
            raise KeyError(" ".join(place))
        for look, found in self.collection.examined.get(study, []):
            if all(one in map(str, look.row.point.coordinates.values()) for one in place):
                return found.verdict
        return NOT_RUN

    def _errors(self, places: tuple[str, ...]) -> list[float]:
        """How far published figures are off, in percent: all, or those at places with one of these values."""
        entries = list(compared(self.collection))
        known = {str(value) for _, entry, _, _ in entries for value in entry.get("where", {}).values()}
        if unknown := set(places) - known:
            raise KeyError(*unknown)
        return [
            abs(100 * (row.measures[measure] / entry[measure] - 1))
            for _, entry, measure, row in entries
            if row and is_comparable(entry)
            and (not places or set(places) & {str(value) for value in entry.get("where", {}).values()})
        ]  # fmt: skip

    def _worst(self, *places: str) -> str:
        return f"{max(errors):.1f} %" if (errors := self._errors(places)) else NOT_RUN

    def _mean(self, *places: str) -> str:
        return f"{sum(errors) / len(errors):.1f} %" if (errors := self._errors(places)) else NOT_RUN

    def _uncertainty(self) -> str:
        parts = [
            100 * error / abs(row.measures[name])
            for outcome in self.collection.outcomes.values() for row in outcome.rows
            for name, error in list(row.errors.items())[:1] if error and row.measures.get(name)
        ]  # fmt: skip
        return f"{max(parts):.1f} %" if parts else NOT_RUN

    def _among(self, study: str, names: Sequence[str], places: Sequence[str]) -> list[Row]:
        """The rows that have measures of these names, at places with all of these values."""
        outcome = self._outcome(study)
        if unknown := set(names) - set(outcome.study.measures):
            raise KeyError(*unknown)
        if unknown := set(places) - {str(value) for row in outcome.rows for value in row.point.coordinates.values()}:
            raise KeyError(*unknown)
        rows = [row for row in outcome.rows if set(places) <= {str(one) for one in row.point.coordinates.values()}]
        return [row for row in rows if row.status == OK and set(names) <= set(row.measures)]

    def _range(self, study: str, measure: str, *places: str) -> str:
        values = [row.measures[measure] for row in self._among(study, [measure], places)]
        unit = self._outcome(study).study.measures[measure].unit
        return f"{spelt(min(values), unit)} to {spelt(max(values), unit)}" if values else NOT_RUN

    def _fit(self, study: str, measure: str, other: str, *places: str) -> str:
        fitted = curves.fit(self._among(study, [measure, other], places), measure, other)
        return NOT_RUN if fitted is None else f"{fitted:.4f}"

    def _result(self, study: str, text: str) -> str:
        """What a headline could say of a study: MEASURE where CONDITION, crossing MEASURE where … from …"""
        outcome = self._outcome(study)
        try:
            headline.check_text(outcome.study, f"{{{text}}}", study)
        except StudyError as error:
            raise ValueError(str(error)) from None
        return headline.fill(outcome, f"{{{text}}}")

    def _missing(self, study: str) -> str:
        return Markup("<p><em>{}: not run yet.</em></p>").format(self._outcome(study).study.file.title)

    def _ran(self, study: str) -> bool:
        return any(row.status == OK and row.measures for row in self._outcome(study).rows)

    def _figure_of(self, directive: str) -> Callable[[str], str]:
        def show(study: str, number: str = "1") -> str:
            outcome = self._outcome(study)
            known = [one for one in outcome.study.file.figure if one.kind == KINDS[directive]]
            if not 0 < int(number) <= len(known):
                raise KeyError(f"{study} has no figure {number} of kind {KINDS[directive]}")
            name = f"{study}-{directive}" + (f"-{number}" if number != "1" else "")
            drawn = page.draw(outcome, known[int(number) - 1], self.out / name)
            if directive != "convergence" or not self._ran(study):
                return drawn
            return f'<div class="plots">{drawn}{scrolled(self._settled(outcome), outcome.study.file.title)}</div>'

        return show

    @staticmethod
    def _settled(outcome: Outcome) -> str:
        """The measures of a time series, a line for each point."""
        known = outcome.study.measures
        measures = {name: m for name, m in known.items() if m.value} | dict(list(known.items())[:1])
        rows = []
        for row in outcome.rows:
            if row.status == OK:
                values = [spelt(row.measures[k], m.unit) for k, m in measures.items()]
                rows.append([html.escape(one) for one in (point_place(outcome.study, row.point), *values)])
        heads = [html.escape(figures.measure_label(name, measure)) for name, measure in measures.items()]
        return table(["Run", *heads], rows, " ".join(outcome.study.file.about.split()))

    def _points(self, study: str) -> str:
        if not self._ran(study):
            return self._missing(study)
        outcome = self._outcome(study)
        title = html.escape(outcome.study.file.title)
        body = points_table(outcome, self.out)
        return f'<details><summary>{title}: every point</summary>{body}</details>'

    def _comparison(self, study: str, number: str = "1") -> str:
        outcome = self._outcome(study)
        if not 0 < int(number) <= len(outcome.study.file.table):
            raise KeyError(f"{study} has no table {number}")
        if not self._ran(study):
            return self._missing(study)
        return cross_table(outcome, outcome.study.file.table[int(number) - 1])

    def _examined(self, study: str) -> str:
        bodies = [found.body for _, found in self.collection.examined[study]]
        return "\n".join(bodies) if bodies else self._missing(study)

    @staticmethod
    def _link(study: str) -> str:
        """To the first figure or table of a study."""
        return f'<a href="#{identifier(study)}">{html.escape(study)}</a>'

    def _published(self) -> str:
        cells = []
        for study, entry, measure, row in sorted(compared(self.collection), key=lambda one: not is_comparable(one[1])):
            why = ", ".join(map(self._link, entry.get("explained", [])))
            unit = self._outcome(study).study.measures[measure].unit
            measured, difference, verdict = "not run", "", ""
            if row:
                off = 100 * (row.measures[measure] / entry[measure] - 1)
                measured, difference = spelt(row.measures[measure], unit), signed(off)
                verdict = "agrees" if abs(off) <= AGREES else why or "<strong>not explained</strong>"
            if not is_comparable(entry):
                difference, verdict = "not comparable", html.escape(entry["reason"])
            label = html.escape(str(entry.get("label", "published")))
            published = f"{entry[measure]:g} {unit}".strip()
            cells.append([label, self._link(study), published, measured, difference, verdict])
        head = ["Published figure", "Study", "Published", "Model", "Difference", f"Within {AGREES:g} %, or shown by"]
        return scrolled(table(head, cells, "Published figures and the model's.", 2), "Published figures")

    def fill(self, text: str, block: bool) -> str:
        """The value of one directive; errors are KeyError, TypeError or ValueError."""
        name, *rest = shlex.split(text)
        if block:
            return self.blocks[name](*rest)
        if name in self.inline:
            return self.inline[name](*rest)
        return self.value(name, *rest) if rest else self.total(name)


def render(text: str, source: Path, first: int, directives: Directives) -> str:
    """The HTML of a text that begins at line `first` of its source, without page around it."""
    blocks: list[str] = []
    values: list[str] = []  # which are no Markdown
    anchored: set[str] = set()

    def fill(line: str, number: int) -> str:
        alone = DIRECTIVE.fullmatch(line.strip())

        def replace(found: re.Match) -> str:
            try:
                value = directives.fill(found[1], bool(alone))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise TextError(f"{source}:{number}: {found[0]}: there is no such thing ({error})") from error
            if not alone:
                values.append(html.escape(value))
                return f"VALUE-{len(values) - 1}-"
            # The first figure or table of a study is what links to the study lead to.
            study = "".join(shlex.split(found[1])[1:2])
            own = identifier(study)
            anchor = f' id="{own}"' if study and own not in anchored else ""
            anchored.add(own)
            blocks.append(f"<div{anchor}>{value}</div>")
            return f"\n\nBLOCK-{len(blocks) - 1}-\n\n"

        return DIRECTIVE.sub(replace, line)

    filled = "\n".join(fill(line, number) for number, line in enumerate(text.splitlines(), first))
    renderer = MarkdownIt("commonmark").enable("table")
    tokens = renderer.parse(filled)
    titles = [(opening, inline.content) for opening, inline in pairwise(tokens) if opening.type == "heading_open"]
    for (opening, _), name in zip(titles, unique(slug(title) for _, title in titles), strict=True):
        if name not in anchored:  # by a study, whose figure is what links to it lead to
            opening.attrSet("id", name)
    body = renderer.renderer.render(tokens, renderer.options, {})
    body = re.sub(r"VALUE-(\d+)-", lambda found: values[int(found[1])], body)
    return re.sub(r"<p>BLOCK-(\d+)-</p>", lambda found: blocks[int(found[1])], body)


def records(collection: Collection) -> list[dict[str, Any]]:
    """All points that were run, for programs."""
    found = []
    for name, outcome in collection.outcomes.items():
        for row in outcome.rows:
            if row.status != OK or not row.result:
                continue
            manifest, use = row.result.stats.get("manifest", {}), outcome.study.uses[row.point.number]
            own = use.record(row.point, row.measures, manifest) if use else {}
            place = {key: value for key, value in row.point.coordinates.items() if key not in own}
            published = {f"published_{key}": value for key, value in outcome.published(row).items()
                         if key in outcome.study.measures}  # fmt: skip
            measures = own or dict(row.measures)
            none = {"published_percent": None} if "percent" in measures else {}
            found.append({"study": name, "machine": row.point.machine.stem, **place, **measures, **none, **published})
    return found


def write(collection: Collection, text: Path, build: Path) -> Path:
    """Writes studies.json and the page; returns the page."""
    out = build / "studies"
    out.mkdir(parents=True, exist_ok=True)
    files.write(out / "studies.json", json.dumps(records(collection), indent=1) + "\n")
    for outcome in collection.outcomes.values():
        if outcome.study.runs:
            outputs.write(outcome, out / outcome.study.name)
    try:
        whole = text.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise TextError(f"{text}: {getattr(error, 'strerror', None) or error}") from error
    head, about, body = [*whole.split("\n\n", 2), "", ""][:3]
    first = whole.count("\n") - body.count("\n") + 1
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    content = environment.get_template("validation.html").render(
        title=head.removeprefix("# "), about=about, style=Markup(STYLE.read_text()),
        body=Markup(render(body, text, first, Directives(collection, out))), failed=collection.failed,
    )  # fmt: skip
    index = out / "index.html"
    page.write_page(index, content)
    provenance.write(out, build)
    return index
