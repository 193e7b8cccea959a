"""`spinach network`: runs a network in parts, and merges what they have counted."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.network import launch, memory, merge, settings
from harness.network.live import Live
from harness.network.network_file import Network, NetworkError, read
from harness.run import files

MOST_SHOWN = 16  # parts in the table of waits
RESERVED = ("part", "network", "board", "run-dir", "stats", "cycles", "interactive", "gdb", "serve")


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    folder: Path
    out: Path
    time: str | None
    until: str | None
    settings: Sequence[str]
    seed: int | None
    start_timeout: int | None
    cores: int | None
    picture: Path | None  # page with the load of the cables
    options: Sequence[str]  # for all parts


def _check(options: Sequence[str]) -> None:
    for word in options:
        name = word.removeprefix("--").partition("=")[0]
        if word.startswith("--") and name in RESERVED:
            hint = "write --time" if name == "cycles" else "leave it out"
            raise NetworkError(f"--{name}: it is not for the parts of a network ({hint})")


def options_of_parts(network: Network, request: Request) -> list[list[str]]:
    """The options of each part: those for all, and what names it."""
    _check(request.options)
    common = [*request.options]
    for name in "time", "seed", "start-timeout":
        value = getattr(request, name.replace("-", "_"))
        common += [] if value is None else [f"--{name}", str(value)]
    options = [list(common) for _ in network.parts]
    for setting in request.settings:
        name, equals, _ = setting.partition("=")
        if not equals:
            raise NetworkError(f'--set: "{setting}" lacks its value (write --set PATH.NAME=VALUE)')
        for number in settings.parts_of(network, name):
            options[number] += ["--set", setting]
    if request.until is not None:
        named = {number for path in settings.PATH.findall(request.until) for number in network.owners(path)}
        for number in named or range(len(options)):
            options[number] += ["--until", request.until]
    return options


def _show(loads: Sequence[tuple[str, float, float]]) -> None:
    """Who waited how much; the busiest first."""
    width = max(len("part"), *(len(path) for path, _, _ in loads))
    print(f"{'part':{width}}  {'seconds':>8}  {'waited':>8}")
    ordered = sorted(loads, key=lambda load: (load[2] / load[1] if load[1] else 0, load[0]))
    for path, seconds, waited in ordered[:MOST_SHOWN]:
        print(f"{path:{width}}  {seconds:8.2f}  {100 * waited / seconds if seconds else 0:6.1f} %")
    if len(ordered) > MOST_SHOWN:
        print(f"({len(ordered) - MOST_SHOWN} more waited longer)")


def run(request: Request) -> int:
    """Runs all parts to their end; returns the status."""
    network = read(request.folder)
    options = options_of_parts(network, request)
    launch.check_cores(request.cores)
    if (short := memory.shortage(network, memory.available())) is not None:
        print(f"spinach: warning: {short}", file=sys.stderr)
    try:
        request.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NetworkError(f"{request.out}: {error.strerror}") from None
    live = Live(network, request.out, request.picture) if request.picture else None
    merged = request.out / "statistics.json"
    merged.unlink(missing_ok=True)
    started = launch.start(network, request.out, options)
    interrupted = launch.wait(started, live.look if live else lambda: None)
    if (failed := launch.failure(started)) is not None:
        raise NetworkError(failed)
    documents = merge.read(started)
    document = merge.merge(network, documents)
    files.write(merged, merge.text(document))
    if live:
        live.finish(documents, document)
    _show(merge.loads(started))
    ended, milliseconds = document["run"]["ended"], document["run"]["simulated_ns"] / 1e6
    print(f"{ended} after {milliseconds:g} ms of simulated time", file=sys.stderr)
    return 130 if interrupted else max(part.child.returncode for part in started)
