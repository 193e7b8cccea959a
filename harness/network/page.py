"""The page of a network: its picture, and the load of its cables over time, for a run that goes on or has ended."""

import html
import json
from collections.abc import Sequence
from pathlib import Path

from harness.bottleneck.diagram import LINES, STEPS
from harness.network import picture
from harness.network.topology import Counts, Topology
from harness.report.page import STYLE
from harness.run import files

HERE = Path(__file__).resolve().parent
ROWS = 24  # of a table
REFRESH = '<meta http-equiv="refresh" content="2">'


def _key() -> str:
    names = ["under 5 %", "5 to 25 %", "25 to 50 %", "50 to 75 %", "75 % and more"]
    lines = "".join(
        f'<span style="display:inline-block;margin-right:1rem"><span style="display:inline-block;width:1.6rem;'
        f'border-top:4px solid {colour};vertical-align:middle"></span> {name}</span>'
        for colour, name in zip(LINES, names, strict=True)
    )
    return f"{lines}<br>A cable has the colour of the share of time in which its busier direction carries frames."


def _number(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value


def _interval(topology: Topology, now: Counts, before: Counts | None) -> dict:
    loads = [[now.load(way, before) for way in cable.ways] for cable in topology.cables]
    return {
        "from": round((before.seconds if before else 0.0) * 1e3, 6),
        "to": round(now.seconds * 1e3, 6),
        "loads": [
            [[_number(one.frames), _number(one.bytes), _number(one.damaged), one.share and round(one.share, 4)]
             for one in ones] for ones in loads
        ],
        "dropped": [
            _number(now.dropped[node] - (before.dropped[node] if before else 0.0)) for node in topology.nodes
        ],
    }  # fmt: skip


def text(topology: Topology, title: str, counts: Sequence[Counts], running: bool) -> str:
    """The page; the counts are those at the ends of intervals, the last one that of the whole run so far."""
    pairs = list(zip(counts, [None, *counts[:-1]], strict=True)) if len(counts) > 1 else []
    intervals = [_interval(topology, now, before) for now, before in pairs]
    intervals.append(_interval(topology, counts[-1], None))
    data = {
        "cables": [{"path": one.path, "ways": [(w.sender, w.receiver) for w in one.ways]} for one in topology.cables],
        "nodes": list(topology.nodes), "intervals": intervals, "colours": LINES, "steps": STEPS, "rows": ROWS,
    }  # fmt: skip
    try:
        drawn = picture.draw(topology, counts[-1], labelled=True)
        drawn = drawn[drawn.index("<svg") :]
    except OSError as error:
        drawn = f"<p>The picture could not be drawn: {html.escape(str(error))}</p>"
    switches = len(topology.switches)
    about = f"{len(topology.nodes) - switches} hosts, {switches} switches and {len(topology.cables)} cables"
    return (HERE / "network.html").read_text().format(
        title=html.escape(title), refresh=REFRESH if running else "", style=STYLE.read_text(), key=_key(),
        about=f"{about}; {'running, ' if running else ''}{counts[-1].seconds * 1e3:g} ms of simulated time.",
        last=len(intervals) - 1, picture=drawn, rows=ROWS, data=json.dumps(data).replace("</", "<\\/"),
        script=(HERE / "network.js").read_text(),
    )  # fmt: skip


def write(file: Path, topology: Topology, title: str, counts: Sequence[Counts], running: bool = False) -> None:
    """Writes the page as a whole."""
    files.write(file, text(topology, title, counts, running))
