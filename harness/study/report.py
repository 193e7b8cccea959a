"""The report of the main job: build/report/index.html, one file that shows everything and links to the packet files.

The page's frame is report.html; this file fills it.  Pictures are put into the page itself, so it can be sent around.
"""

import html
import json
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from string import Template

from harness.report import plot
from harness.report.page import STYLE, bar, diagram, inline, table
from harness.run import files
from harness.run.sweep import RunError
from harness.study.mainjob import LATENCIES, Outcome, Point
from harness.study.runs import lss

TEMPLATE = Path(__file__).with_name("report.html")


def _plots(outcome: Outcome, out: Path) -> str:
    figures = []
    for direction in outcome.study.sweep.direction:
        points = [point for point in outcome.points if point.direction == direction.name]
        if not points:
            continue
        lines = []
        for name in dict.fromkeys(point.series for point in points):
            own = sorted((p for p in points if p.series == name), key=lambda p: p.payload)
            lines.append(plot.Line(f"modelled, {name}", [p.payload for p in own], [p.rate for p in own]))
        published = [p for p in outcome.study.published if p.direction == direction.name]
        maximum = {p.payload: p.maximum for p in points}
        marks = [
            plot.Mark(p.label, p.payload, p.percent / 100 * maximum[p.payload])
            for p in published
            if p.payload in maximum
        ]
        file = out / f"throughput-{direction.name.replace(' ', '-')}"
        title = direction.name.capitalize()
        plot.throughput(title, lines, marks, direction.ways, outcome.study.link_rate, file)
        label = f"Throughput over payload size, {direction.name}; the table below has the same figures"
        picture = inline(file.with_suffix(".svg"), label, f"p{len(figures)}-")
        figures.append(f"<figure>{picture}</figure>")
    return "\n".join(figures)


def _row(point: Point) -> list[str]:
    return [
        html.escape(point.series), html.escape(point.direction), f"{point.payload}", point.ratio,
        f"{point.rate / 1e6:,.1f}", bar(point.percent), f"{point.frames:,}", f"{point.drops:,}",
        f"{point.cycles_per_second / 1e6:.2f} M",
    ]  # fmt: skip


HEAD = [
    "Machine", "Traffic", "Payload, B", "Send : receive", "Mb/s", "of the maximum", "Frames", "Drops",
    "Cycles/s",
]  # fmt: skip


def _latency(outcome: Outcome) -> str:
    def microseconds(values: Sequence[float | None]) -> list[str]:
        return ["–" if value is None else f"{value / 1000:,.1f}" for value in values]

    rows = []
    for point in outcome.points:
        sent, received = point.latencies[:3], point.latencies[3:]
        if any(value for value in point.latencies):
            if point.ratio.startswith("0:"):
                sent = [None] * 3
            name = html.escape(f"{point.series}, {point.direction}")
            rows.append([name, f"{point.payload}", *microseconds([*sent, *received])])
    if not rows:
        return ""
    head = ["Machine, traffic", "Payload, B"]
    head += [f"{way}, {what}" for way in ("sent", "received") for what in ("min.", "median", "99 %")]
    caption = (
        "Microseconds of simulated time from host to wire (sent) and from wire to host (received), while the machine "
        "is offered all it can take."
    )
    return f'<h2 id="latency">Latency</h2>\n<div class="wide">{table(head, rows, caption)}</div>'


def _offered(outcome: Outcome, out: Path) -> str:
    if not outcome.offered:
        return ""
    loop = outcome.study.open_loop
    names = dict.fromkeys(point.series for point in outcome.offered)
    lines = []
    for name in names:
        own = [point for point in outcome.offered if point.series == name]
        lines.append(plot.Line(f"modelled, {name}", [p.offered for p in own], [p.carried for p in own]))
    title = f"{loop.direction.capitalize()}, {loop.payload}-byte payload"
    plot.offered(title, lines, max(p.offered for p in outcome.offered), out / "offered")
    label = "Payload carried over payload offered; the table beside it has the same figures"
    picture = inline(out / "offered.svg", label, "o-")
    rows = [
        [
            html.escape(p.series), f"{p.offered / 1e6:,.0f}", f"{p.carried / 1e6:,.0f}", f"{p.frames:,}",
            f"{p.drops:,}", f"{100 * p.drops / (p.frames + p.drops):.1f} %",
        ]
        for p in outcome.offered
    ]  # fmt: skip
    head = ["Machine", "Offered, Mb/s", "Carried, Mb/s", "Frames", "Drops", "dropped"]
    caption = "Frames arrive at a fixed rate, whether the machine can take them or not; every drop was counted by it."
    return (
        f'<h2 id="offered">Offered and carried</h2>\n<div class="plots"><figure>{picture}</figure>'
        f'<div class="wide">{table(head, rows, caption)}</div></div>'
    )


def _published(outcome: Outcome) -> str:
    rows = []
    for figure in outcome.study.published:
        for point in outcome.points:
            if (point.payload, point.direction) == (figure.payload, figure.direction):
                rows.append([
                    html.escape(figure.label), html.escape(point.series), f"{figure.payload}",
                    f"{figure.percent:.0f} %", f"{point.percent:.1f} %",
                    f"{point.percent - figure.percent:+.1f}",
                ])  # fmt: skip
    if not rows:
        return ""
    head = ["Published figure", "Modelled", "Payload, B", "Published", "Measured here", "Difference, points"]
    caption = (
        "No parameter of the model was fitted to these figures. The firmware is our own; how much work it does for "
        "a frame stands below."
    )
    return f'<h2 id="published">Beside the literature</h2>\n<div class="wide">{table(head, rows, caption, 2)}</div>'


def _efforts(outcome: Outcome) -> str:
    if not outcome.efforts:
        return ""
    rows = [
        [html.escape(w.effort.label), html.escape(w.series), f"{w.per_frame:,.0f}", f"{w.effort.published:,.0f}"]
        for w in outcome.efforts
    ]
    caption = "Everything that the run counted, start-up and waiting included, divided by its frames."
    head = ["Work per frame", "Modelled", "Measured here", "Published"]
    return f'<h2 id="effort">Work per frame</h2>\n<div class="wide">{table(head, rows, caption, 2)}</div>'


def _conversations(outcome: Outcome) -> str:
    if not outcome.conversations:
        return ""
    rows = [
        [
            html.escape(talk.series), f"{talk.frames_in}", f"{talk.frames_out}", end,
            f"{talk.result.total(f'round_trips_{end}'):.0f}",
            *(f"{talk.result.total(f'round_trip_{end}_{what}') / 1000:,.1f}" for what in ("min", "median", "p99")),
        ]
        for talk in outcome.conversations
        for end in ("host", "wire")
    ]  # fmt: skip
    head = ["Machine", "Frames in", "Frames out", "seen by", "answers", "min.", "median", "99 %"]
    caption = "Microseconds from the beginning of a frame to the arrival of its answer, as both ends see them."
    about = html.escape(outcome.study.conversations.about)
    return (
        f'<h2 id="conversations">Real conversations</h2>\n<p>{about}. A frame is sent only after its end has received '
        "what the frame answers, so an acknowledgment follows its data through the machine.</p>\n"
        f'<div class="wide">{table(head, rows, caption)}</div>'
    )


def _cards(outcome: Outcome) -> str:
    cards = []
    for direction in outcome.study.sweep.direction:
        points = [point for point in outcome.points if point.direction == direction.name]
        if points:
            top = max(points, key=lambda point: point.payload)
            words = f"of the theoretical maximum, {direction.name}, {top.payload}-byte payload"
            cards.append((f"{top.percent:.0f} %", words))
    runs = [*outcome.points, *outcome.offered]
    frames = sum(p.frames for p in runs) + sum(r.frames_out for r in outcome.replays)
    cards.append((f"{frames:,}", "frames came out, every one compared byte for byte"))
    drops = sum(p.drops for p in outcome.points) + sum(r.drops for r in outcome.replays)
    cards.append((f"{drops:,}", "frames dropped while traffic was offered as fast as the machine takes it"))
    speeds = sorted(p.cycles_per_second for p in outcome.points if p.cycles_per_second)
    if speeds:
        cards.append((f"{speeds[len(speeds) // 2] / 1e6:.1f} M", "simulated clock cycles per second, median"))
    return "\n".join(f"<li><b>{big}</b><span>{html.escape(small)}</span></li>" for big, small in cards)


def _diagram(outcome: Outcome, build: Path, out: Path) -> str:
    """The block diagram of the first series: the top level, the levels right below it, and links to all others."""
    folder = out / "diagram"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    top = folder / "machine.svg"
    defines = [word for define in outcome.study.series[0].words() for word in ("-D", define)]
    lss(build, "graph", outcome.study.machine, "-o", top, *defines)
    linked = sorted(set(re.findall(r'href="([^"#]+\.svg)"', top.read_text())))
    figures = []
    for number, name in enumerate([top.name, *linked]):
        what = "The machine" if name == top.name else f"Inside {name.removeprefix('machine.').removesuffix('.svg')}"
        caption = f'{html.escape(what)} (<a href="{name}">picture alone</a>)'
        picture = diagram(folder / name, f"Block diagram. {what}", caption, f"d{number}-")
        # Links lead to neighbours of the picture, which lie one folder down from the page.
        figures.append(re.sub(r'(href=")(?![#/]|[a-z]+:)', r"\1diagram/", picture))
    deeper = [path for path in sorted(folder.glob("*.svg")) if path.name not in (top.name, *linked)]
    links = ", ".join(f'<a href="diagram/{path.name}">{html.escape(path.stem)}</a>' for path in deeper)
    return "\n".join(figures) + (f"<p>Further inside: {links}.</p>" if links else "")


def _results(outcome: Outcome) -> dict:
    points = [
        {
            "series": p.series,
            "direction": p.direction,
            "payload_bytes": p.payload,
            "ratio": p.ratio,
            "payload_bits_per_second": round(p.rate),
            "fraction_of_maximum": round(p.percent / 100, 4),
            "frames": p.frames,
            "drops": p.drops,
            "latency_ns": dict(zip(LATENCIES, p.latencies, strict=True)),
            "simulated_cycles_per_second": round(p.cycles_per_second),
        }
        for p in outcome.points
    ]
    replays = [
        {"series": r.series, "frames_in": r.frames_in, "frames_out": r.frames_out, "drops": r.drops}
        for r in outcome.replays
    ]
    conversations = [
        {
            "series": r.series,
            "frames_in": r.frames_in,
            "frames_out": r.frames_out,
            "round_trip_ns": {
                end: {what: r.result.total(f"round_trip_{end}_{what}") for what in ("min", "median", "p99")}
                for end in ("host", "wire")
            },
        }
        for r in outcome.conversations
    ]
    offered = [
        {
            "series": p.series,
            "offered_bits_per_second": round(p.offered),
            "carried_bits_per_second": round(p.carried),
            "frames": p.frames,
            "drops": p.drops,
        }
        for p in outcome.offered
    ]
    efforts = [
        {
            "series": w.series,
            "what": w.effort.label,
            "per_frame": round(w.per_frame, 1),
            "published": w.effort.published,
        }
        for w in outcome.efforts
    ]
    return {
        "title": outcome.study.title,
        "points": points,
        "replays": replays,
        "conversations": conversations,
        "offered": offered,
        "efforts": efforts,
    }


def write(outcome: Outcome, build: Path) -> Path:
    """Writes the report and returns its page."""
    out = build / "report"
    out.mkdir(parents=True, exist_ok=True)
    links = []
    for replayed in outcome.replays:
        for option, side in ("--sent", "sent"), ("--received", "received"):
            if file := replayed.result.output(option):
                name = f"capture-{replayed.series.replace(' ', '-')}-{side}.pcap"
                shutil.copyfile(file, out / name)
                links.append((name, f"what the NIC {side}, {replayed.series}"))
    files.write(out / "results.json", json.dumps(_results(outcome), indent=1) + "\n")
    first = outcome.points[0].result if outcome.points else outcome.replays[0].result
    manifest = json.dumps(first.stats.get("manifest", {}), indent=1)
    (out / "manifest.json").write_text(manifest + "\n")
    links.append(("manifest.json", "manifest"))
    try:
        drawn = _diagram(outcome, build, out)
    except RunError as error:
        drawn = f"<p>The picture could not be drawn: {html.escape(str(error).splitlines()[0])}</p>"
    replays = [
        [
            html.escape(r.series), f"{r.frames_in}", f"{r.frames_out}", f"{r.drops}",
            " ".join(f'<a href="{name}">{html.escape(words.split(",")[0])}</a>' for name, words in links
                     if f"-{r.series.replace(' ', '-')}-" in name),
        ]
        for r in outcome.replays
    ]  # fmt: skip
    page = Template(TEMPLATE.read_text()).substitute(
        style=STYLE.read_text(),
        title=html.escape(outcome.study.title),
        about=html.escape(" ".join(outcome.study.about.split())),
        cards=_cards(outcome),
        plots=_plots(outcome, out),
        table=table(HEAD, map(_row, outcome.points), "Best ratio of each payload size, where several were run.", 2),
        published=_published(outcome),
        efforts=_efforts(outcome),
        latency=_latency(outcome),
        offered=_offered(outcome, out),
        capture_about=html.escape(outcome.study.replay.about),
        replays=table(["Machine", "Frames in", "Frames out", "Drops", "Files"], replays, "Frames of both directions."),
        conversations=_conversations(outcome),
        diagram=drawn,
        command=html.escape(shlex.join(first.job.command())),
        manifest=html.escape(manifest),
        links="".join(f', <a href="{name}">{html.escape(words)}</a>' for name, words in links),
    )
    index = out / "index.html"
    files.write(index, page)
    return index
