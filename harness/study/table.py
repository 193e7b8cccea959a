"""The main job's table for people at a terminal; the report has the same rows."""

from rich.table import Table

from harness.run.progress import Progress
from harness.study.mainjob import Outcome

COLUMNS = ["payload, B", "Mb/s", "of maximum", "frames", "drops", "cycles/s"]


def show(outcome: Outcome, progress: Progress) -> None:
    """Prints one table for each series and direction, and a line for each capture that was played."""
    for series in outcome.study.series:
        for direction in outcome.study.sweep.direction:
            points = [p for p in outcome.points if (p.series, p.direction) == (series.name, direction.name)]
            if not points:
                continue
            grid = Table(title=f"{series.name}, {direction.name}", title_justify="left")
            for column in COLUMNS:
                grid.add_column(column, justify="right")
            for p in points:
                grid.add_row(
                    f"{p.payload}", f"{p.rate / 1e6:,.1f}", f"{p.percent:.1f} %", f"{p.frames:,}",
                    f"{p.drops:,}", f"{p.cycles_per_second / 1e6:.2f} M",
                )  # fmt: skip
            progress.console.print(grid)
    for replay in outcome.replays:
        progress.say(
            f"capture through {replay.series}: {replay.frames_out} of {replay.frames_in} frames out, byte for byte; "
            f"{replay.drops} dropped"
        )
    for talk in outcome.conversations:
        trips = talk.result.total("round_trips_host") + talk.result.total("round_trips_wire")
        progress.say(
            f"conversations through {talk.series}: {talk.frames_out} of {talk.frames_in} frames out, byte for byte; "
            f"{trips:.0f} answers, each after what it answers"
        )
