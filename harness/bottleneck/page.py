"""The bottleneck report as HTML: a fragment for other pages, and a page of its own."""

import html
import json
import tempfile
from pathlib import Path

from harness.bottleneck import diagram
from harness.bottleneck.analysis import Analysis, percent
from harness.bottleneck.back_pressure import NEGLIGIBLE
from harness.bottleneck.text import cause_text, memory_title, path_lines, rates
from harness.report.page import STYLE, scrolled, table
from harness.report.page import diagram as block_diagram
from harness.report.page import write as write_page
from harness.run import files

WAITS, MODULES, STALLS = 12, 20, 8
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header><div><h1>{title}</h1><p>{about}</p></div></header>
<main>
{fragment}
</main>
<footer>Written by <code>python -m harness bottleneck</code>.
Data: <a href="bottleneck.json">bottleneck.json</a>.</footer>
</body>
</html>
"""


def _share(share: float) -> str:
    bar = f'<span class="bar" aria-hidden="true"><i style="width:{min(100 * share, 100):.0f}%"></i></span>'
    return f'{bar}<span class="figure">{percent(share)}</span>'


def _key() -> str:
    steps = ["under 5 %", "5 to 25 %", "25 to 50 %", "50 to 75 %", "75 % and more"]
    cells = "".join(
        f'<span style="display:inline-block;margin-right:1rem"><span style="display:inline-block;width:1.1rem;'
        f'height:.8rem;background:{fill};border:1px solid #888;vertical-align:middle"></span> '
        f'<span style="display:inline-block;width:1.6rem;border-top:4px solid {line};vertical-align:middle"></span> '
        f"{step}</span>"
        for fill, line, step in zip(diagram.FILLS, diagram.LINES, steps, strict=True)
    )
    return (
        f"<p>{cells}<br>A box is coloured by the share of the time in which it is busy, a line by the share in "
        "which an item waits on it; a dotted line carries a signal in every cycle, or nothing at all. A thick dark "
        "border marks the limiter. Point at a line for its connections.</p>"
    )


def _pictures(analysis: Analysis, prefix: str) -> str:
    figures, limiting = [], analysis.limiter.cause.path if analysis.limiter else ""
    for number, level in enumerate(diagram.levels(analysis)):
        try:
            picture = diagram.render(level)
        except OSError as error:
            return f"<p>The pictures could not be drawn: {html.escape(str(error))}</p>"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "level.svg"
            file.write_text(picture)
            figure = block_diagram(file, level.title, html.escape(level.title), f"{prefix}{number}-")
        if number:  # the levels down to the limiter are open, all others closed
            opened = " open" if limiting.startswith(level.path + ".") else ""
            figure = f"<details{opened}><summary>{html.escape(level.title)}</summary>{figure}</details>"
        figures.append(figure)
    return _key() + "\n".join(figures)


def _limiters(analysis: Analysis) -> str:
    rows = [
        [
            html.escape(one.name),
            "<br>".join(f"{html.escape(str(link))} ({percent(link.waiting)})" for link in one.waiters[:5]),
            _share(one.busy) if one.busy is not None else "–", percent(one.waited),
        ]
        for one in analysis.limiters
    ]  # fmt: skip
    head = ["Limiter", "others wait at", "busy", "others wait"]
    caption = "Waits of several connections are added up, so their sum may exceed 100 %."
    return scrolled(table(head, rows, caption, 2), caption)


def _waits(analysis: Analysis) -> str:
    rows = []
    for wait_path in analysis.waiting[:WAITS]:
        steps = "<br>".join(map(html.escape, path_lines(wait_path)))
        because = f'<details style="margin:0"><summary>{html.escape(cause_text(wait_path))}</summary>{steps}</details>'
        link = wait_path.link
        rows.append([html.escape(str(link)), because, _share(link.waiting), percent(link.moved)])
    head = ["Connection", "waits because", "waits", "moves"]
    caption = "The connections on which items wait longest, and the path to the cause of each."
    return scrolled(table(head, rows, caption, 2), caption)


def _modules(analysis: Analysis) -> str:
    rows = [
        [
            html.escape(m.path), html.escape(m.module), _share(m.busy),
            "its own statistic" if m.declared else "its connections", percent(m.stalls), percent(m.stalled),
        ]
        for m in analysis.modules[:MODULES]
    ]  # fmt: skip
    head = ["Instance", "module", "busy", "counted by", "stalls its input", "is stalled"]
    caption = f"The {len(rows)} busiest of {len(analysis.modules)}."
    return scrolled(table(head, rows, caption, 2), caption)


def _stalls(analysis: Analysis) -> str:
    rows = []
    for one in analysis.stalls[:STALLS]:
        shares = [("no stall", one.rest), *one.reasons]
        cells = [[html.escape(reason), _share(share)] for reason, share in shares if share >= NEGLIGIBLE]
        rows += [[html.escape(one.path) if not k else "", *cell] for k, cell in enumerate(cells)]
    caption = "Where the cycles go in the instances that count them by reason."
    return scrolled(table(["Instance", "stalls for", "share of the cycles"], rows, caption, 2), caption)


def _memories(analysis: Analysis) -> str:
    parts = []
    for memory in analysis.memories:
        rows = [
            [
                html.escape(r.name), f"{r.read:,}", f"{r.written:,}", rates(8 * r.bytes / memory.seconds),
                _share(memory.share(r)),
            ]
            for r in memory.requesters
        ]  # fmt: skip
        head = ["Requester", "read, B", "written, B", "rate", "of capacity"]
        parts.append(scrolled(table(head, rows, memory_title(memory)), memory_title(memory)))
    others = "".join(parts[1:])
    return "".join(parts[:1]) + (f"<details><summary>The other memories</summary>{others}</details>" if others else "")


def fragment(analysis: Analysis, title: str = "", prefix: str = "b-", heading: str = "h3") -> str:
    """The report as a piece of HTML in the style of the reports; `prefix` keeps its ids apart from others."""
    parts = [f"<{heading}>{html.escape(title)}</{heading}>"] if title else []
    parts += [f"<p><b>{html.escape(analysis.verdict)}</b></p>", _pictures(analysis, prefix)]
    if analysis.limiters:
        parts += [_limiters(analysis), _waits(analysis)]
    if analysis.stalls:
        parts.append(_stalls(analysis))
    parts += [_modules(analysis), _memories(analysis)]
    return "\n".join(parts)


def results(analysis: Analysis) -> dict:
    """The same for programs."""
    return {
        "machine": analysis.machine.file,
        "seconds": analysis.machine.seconds,
        "verdict": analysis.verdict,
        "limiter": analysis.limiter.name if analysis.limiter else None,
        "limiters": [
            {
                "name": one.name, "kind": one.cause.kind, "busy": one.busy, "waited": one.waited,
                "waiters": [{"connection": str(link), "waits": link.waiting} for link in one.waiters],
            }
            for one in analysis.limiters
        ],
        "waiting": [
            {
                "connection": str(c.link), "waits": c.link.waiting, "moves": c.link.moved, "cause": c.cause.path,
                "path": [str(step.link) for step in c.steps],
            }
            for c in analysis.waiting
        ],
        "starved": [
            {"connection": str(c.link), "idle": c.link.idle, "kind": c.cause.kind, "cause": c.cause.path}
            for c in analysis.starved
        ],
        "stalls": [{"path": one.path, "reasons": dict(one.reasons)} for one in analysis.stalls],
        "modules": [
            {"path": m.path, "module": m.module, "busy": m.busy, "declared": m.declared} for m in analysis.modules
        ],
        "memories": [
            {
                "path": m.path, "capacity_bytes": m.capacity,
                "requesters": [
                    {"name": r.name, "read_bytes": r.read, "written_bytes": r.written} for r in m.requesters
                ],
            }
            for m in analysis.memories
        ],
    }  # fmt: skip


def write(analysis: Analysis, out: Path, title: str) -> Path:
    """Writes index.html and bottleneck.json, and returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    files.write(out / "bottleneck.json", json.dumps(results(analysis), indent=1) + "\n")
    page = out / "index.html"
    write_page(page, PAGE.format(
        title=html.escape(title), style=STYLE.read_text(),
        about=html.escape(f"{1e3 * analysis.machine.seconds:,.3f} ms of simulated time of {analysis.machine.file}"),
        fragment=fragment(analysis),
    ))  # fmt: skip
    return page
