"""The plug-in `course`: how a run goes, over time: shares of something that add up, rates, and what it printed.

    examine = { with = "course", of = "start", every = "2 ms", text = "log.txt",
                share = { kernel = "core.system.kernel_cycles", user = "core.system.user_cycles" },
                rate = { exceptions = "sum(core.system.exceptions[*])" } }

The run is made once more with samples: that of the point, or, `of = "start"`, the one at whose end the point begins.
What is drawn are expressions of what was counted between two samples.  Of the file `text` in the run's folder the first
and the last `lines` are shown.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.report import page, plot
from harness.run import store
from harness.run.store import Job, Result, RunError
from harness.study import expression, reading, uses
from harness.study.study_file import StudyError

KEYS = ("of", "every", "share", "rate", "text", "lines", "title", "where")
LINES = 15  # of a text at either end


class Plugin(uses.Use):
    """`examine = { with = "course", … }`."""

    needs_result = True

    def __post_init__(self) -> None:
        for key in self.keys:
            if key not in KEYS:
                raise StudyError(f"{self.place}: unknown key {key!r}; known are {', '.join(KEYS)}")
        if self.keys.get("of", "point") not in ("point", "start"):
            raise StudyError(f"{self.place}: of: \"point\" or \"start\", not {self.keys['of']!r}")
        if not isinstance(self.keys.get("every"), str):
            raise StudyError(f"{self.place}: it needs `every`, a condition of samples such as \"2 ms\"")

    def texts(self) -> Iterable[str]:
        return [*self.keys.get("share", {}).values(), *self.keys.get("rate", {}).values()]

    def examine(self, looked: uses.Looked) -> uses.Examined:
        begins = self.keys.get("of") == "start"
        if begins and not looked.start:
            raise RunError("this point has no start that a run makes")
        job = looked.start if begins and looked.start else looked.job
        job = replace(job, plain=(*_unsampled(job), "--sample", self.keys["every"]), outputs=())
        result = store.run(job, self.build.resolve() / "run")
        looked.folder.mkdir(parents=True, exist_ok=True)
        series = reading.series(result.stats)
        if not series:
            raise RunError(f"there are too few samples: {self.keys['every']} is longer than the run")
        ends = 1e3 * series[-1][0]
        title = self.keys.get("title", "The start of the run" if begins else looked.title)
        known = looked.machine
        manifest, place = result.stats.get("manifest", {}), looked.point.coordinates
        readings = [(end, reading.PointReading(one, manifest, place, {}, known.derived, parameters=known.parameters))
                    for end, one in series]  # fmt: skip
        figures = [*self._shares(title, readings, looked.folder), *self._rates(title, readings, looked.folder)]
        return uses.Examined(f"{ends:.0f} ms", "\n".join([*figures, self._text(result)]))

    def _over_time(
        self, chosen: Mapping[str, str], series: Sequence[tuple[float, reading.PointReading]]
    ) -> list[tuple[str, list[float]]]:  # fmt: skip
        def value(text: str, one: reading.PointReading) -> float:
            try:
                return float(expression.evaluate(text, one))
            except expression.ExpressionError as error:
                raise RunError(f"{text!r}: {error}") from error

        return [(name, [value(text, one) for _, one in series]) for name, text in chosen.items()]

    def _shares(self, title: str, series: Sequence[tuple[float, reading.PointReading]], folder: Path) -> list[str]:
        found = self._over_time(self.keys.get("share", {}), series)
        if not found:
            return []
        whole = [sum(values) or 1.0 for values in zip(*(values for _, values in found), strict=True)]
        at = [1e3 * end for end, _ in series]
        lines = [
            plot.Line(name, at, [100 * v / w for v, w in zip(values, whole, strict=True)]) for name, values in found
        ]  # fmt: skip
        plot.areas(f"{title}: shares of time", "simulated time, ms", "share, %", lines, folder / "shares")
        return [_figure(folder / "shares", f"{title}: shares over time")]

    def _rates(self, title: str, series: Sequence[tuple[float, reading.PointReading]], folder: Path) -> list[str]:
        found = self._over_time(self.keys.get("rate", {}), series)
        if not found:
            return []
        at = [1e3 * end for end, _ in series]
        lines = [
            plot.Line(name, at, [v / (1e3 * one.time()) for v, (_, one) in zip(values, series, strict=True)])
            for name, values in found
        ]  # fmt: skip
        plot.lines(f"{title}: events", "simulated time, ms", "in a ms", lines, [], folder / "rates", markers=False)
        return [_figure(folder / "rates", f"{title}: rates over time")]

    def _text(self, result: Result) -> str:
        name, most = self.keys.get("text"), int(self.keys.get("lines", LINES))
        if not name:
            return ""
        file = result.directory / name
        if not file.is_file():
            raise RunError(f"text: the run wrote no {name}")
        lines = file.read_text(errors="replace").replace("\r", "").splitlines()
        left = len(lines) - 2 * most
        shown = lines if left <= 0 else [*lines[:most], f"… {left} lines …", *lines[-most:]]
        return f"<pre>{html.escape(chr(10).join(shown))}</pre>"


def _unsampled(job: Job) -> tuple[str, ...]:
    """The options of a job without those of samples."""
    return tuple(word for at, word in enumerate(job.plain) if "--sample" not in job.plain[max(0, at - 1) : at + 1])


def _figure(file: Path, label: str) -> str:
    picture = page.inline(file.with_suffix(".svg"), label, f"{file.parent.name}-{file.name}-")
    return f"<figure>{picture}</figure>"
