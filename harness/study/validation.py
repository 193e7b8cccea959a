"""The validation report: a text in Markdown whose {{directives}} are filled with what the studies measured.

A directive within a line is a figure, one alone on a line a plot or a table; docs/studies.md lists them.  So no number
in the report was typed in, and a text that asks for a study that does not exist is one clear line.
"""

import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from markdown_it import MarkdownIt

from harness.report.page import STYLE
from harness.run import files
from harness.study import exhibits, measure
from harness.study.campaign import Outcome, Point

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
main > table td, main > table th {{ white-space: normal; text-align: left; vertical-align: top; }}
main > table {{ margin: .8rem 0; }}
main > div > figure:not(.diagram) {{ max-width: 46rem; margin: 1.2rem 0; }}
</style></head>
<body>
<header><div><h1>{title}</h1><p>{about}</p></div></header>
<main>
{body}
</main>
<footer>Written by <code>make studies</code>. Beside this page: <a href="studies.json">studies.json</a>.</footer>
</body></html>
"""
DIRECTIVE = re.compile(r"\{\{([^{}]+)\}\}")
NOT_RUN = "(not run)"


class TextError(Exception):
    """A text that cannot be filled; the text is one line for the user."""


class Directives:
    """What a text may ask for."""

    def __init__(self, outcome: Outcome, out: Path) -> None:
        self.outcome = outcome
        one = exhibits.per_study
        self.blocks: dict[str, Callable[..., str]] = {
            "published": lambda: exhibits.published(outcome),
            "figure": one(exhibits.figure, outcome, out),
            "table": one(exhibits.rows, outcome),
            "comparison": one(exhibits.comparison, outcome),
            "changes": one(exhibits.changes, outcome, out),
            "scaling": one(exhibits.scaling, outcome, out),
            "course": one(exhibits.course, outcome, out),
            "examined": one(exhibits.examined, outcome),
        }
        self.words: dict[str, Callable[..., str]] = {
            "percent": lambda *at: self._of(at, lambda point: f"{point.percent:.1f} %"),
            "mbps": lambda *at: self._of(at, lambda point: f"{point.rate / 1e6:,.0f} Mb/s"),
            "ratio": lambda *at: self._of(at, self._ratio),
            "setting": lambda study, series, payload, name: self._of(
                (study, series, payload), lambda point: self._setting(point, name)
            ),
            "gain": self._gain,
            "settled": self._settled,
            "verdict": self._verdict,
            "worst": lambda *series: self._errors(series, max),
            "mean": lambda *series: self._errors(series, lambda errors: sum(errors) / len(errors)),
            "uncertainty": self._uncertainty,
            "frames": lambda: f"{sum(point.frames for point in outcome.every):,}",
            "drops": lambda: f"{sum(point.drops for point in outcome.every):,}",
        }

    def _point(self, study: str, series: str, payload: str) -> Point | None:
        known = next((s for s in self.outcome.studies() if s.name == study), None)
        if not known or not known.find(series) or int(payload) not in known.payloads:
            raise KeyError(f"{study} {series} {payload}")
        return self.outcome.points.get((study, series, int(payload)))

    def _of(self, at: tuple[str, ...], show: Callable[[Point], str]) -> str:
        point = self._point(*at)
        return show(point) if point else NOT_RUN

    def _ratio(self, point: Point) -> str:
        alike = self.outcome.alike(point)
        return f"{point.ratio} (as good within the error: {', '.join(alike)})" if alike else point.ratio

    @staticmethod
    def _setting(point: Point, name: str) -> str:
        manifest = point.result.stats.get("manifest", {})
        value, *unit = str((manifest.get("parameters", {}) | manifest.get("constants", {}))[name]).split()
        return " ".join([f"{float(value):g}" if re.match(r"[\d.]", value) else value, *unit]).replace("percent", "%")

    def _gain(self, *at: str) -> str:
        ours, base = self._point(*at[:3]), self._point(*at[3:])
        return f"{round(100 * (ours.rate / base.rate - 1)) + 0:+d} %" if ours and base else NOT_RUN

    def _settled(self, *at: str) -> str:
        self._point(*at)
        course = self.outcome.courses.get((at[0], at[1], int(at[2])))
        return f"{measure.settled(course, exhibits.SETTLED)}" if course else NOT_RUN

    def _verdict(self, study: str, series: str) -> str:
        known = next(s for s in self.outcome.studies() if s.name == study)
        found = self.outcome.examined.get(study)
        return found[[one.name for one in known.series].index(series)].verdict if found else NOT_RUN

    def _errors(self, series: tuple[str, ...], over: Callable[[list[float]], float]) -> str:
        compared = list(exhibits.compared(self.outcome))
        if unknown := set(series) - {figure.series for _, figure, _ in compared}:
            raise KeyError(*unknown)
        errors = [abs(exhibits.error(f, p)) for _, f, p in compared if p and (not series or f.series in series)]
        return f"{over(errors):.1f} %" if errors else NOT_RUN

    def _uncertainty(self) -> str:
        parts = [100 * p.uncertainty / p.rate for p in self.outcome.points.values() if p.uncertainty]
        return f"{max(parts):.1f} %" if parts else NOT_RUN

    def fill(self, text: str, block: bool) -> str:
        """The value of one directive; complaints are KeyError, TypeError or ValueError."""
        name, *rest = shlex.split(text)
        return (self.blocks if block else self.words)[name](*rest)


def render(text: str, source: Path, first: int, directives: Directives) -> str:
    """The HTML of a text that begins at line `first` of its source, without page around it."""
    blocks: list[str] = []
    anchored: set[str] = set()

    def fill(line: str, number: int) -> str:
        alone = DIRECTIVE.fullmatch(line.strip())

        def replace(found: re.Match) -> str:
            try:
                value = directives.fill(found[1], bool(alone))
            except (KeyError, TypeError, ValueError) as error:
                raise TextError(f"{source}:{number}: {found[0]}: there is no such thing ({error})") from error
            if not alone:
                return value
            # The first plot or table of a study is what links to the study lead to.
            study = found[1].split()[-1]
            anchor = f' id="{study}"' if study not in anchored and study != found[1] else ""
            anchored.add(study)
            blocks.append(f"<div{anchor}>{value}</div>")
            return f"\n\nBLOCK-{len(blocks) - 1}-\n\n"

        return DIRECTIVE.sub(replace, line)

    filled = "\n".join(fill(line, number) for number, line in enumerate(text.splitlines(), first))
    body = MarkdownIt("commonmark").enable("table").render(filled)
    return re.sub(r"<p>BLOCK-(\d+)-</p>", lambda found: blocks[int(found[1])], body)


def records(outcome: Outcome) -> list[dict]:
    """All points for programs."""
    published = {(s.name, f.series, f.payload): f.percent for s in outcome.studies() for f in s.published}
    return [
        {
            "study": p.study.name,
            "machine": Path(p.result.stats["manifest"]["machine"]).stem,
            "cores": p.series.cores,
            "sram_mhz": p.series.sram_mhz,
            "payload_bytes": p.payload,
            "direction": p.study.direction,
            "mbps": round(p.rate / 1e6, 2),
            "theory_mbps": round(p.maximum / 1e6, 2),
            "percent": round(p.percent, 2),
            "published_percent": published.get(place),
            "frames": p.frames,
            "drops": p.drops,
            "damaged": p.damaged,
        }
        for place, p in outcome.points.items()
    ]


def write(outcome: Outcome, text: Path, build: Path) -> Path:
    """Writes studies.json and the page; returns the page."""
    out = build / "studies"
    out.mkdir(parents=True, exist_ok=True)
    files.write(out / "studies.json", json.dumps(records(outcome), indent=1) + "\n")
    try:
        whole = text.read_text()
    except OSError as error:
        raise TextError(f"{text}: {error.strerror}") from error
    head, about, body = [*whole.split("\n\n", 2), "", ""][:3]
    first = whole.count("\n") - body.count("\n") + 1
    page = PAGE.format(
        title=html.escape(head.removeprefix("# ")),
        about=html.escape(about),
        style=STYLE.read_text(),
        body=render(body, text, first, Directives(outcome, out)),
    )
    index = out / "index.html"
    files.write(index, page)
    return index
