"""`spinach network`: runs a network in parts, and merges what they have counted."""

import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.network import checkpoints, document, hosts, launch, memory, merge, recorded, settings
from harness.network.debugger import Debugger
from harness.network.live import Live
from harness.network.network_file import Network, NetworkError, read
from harness.run import files

MOST_SHOWN = 16  # parts in the table of waits
PASSED = ("time", "cycles", "seed", "start-timeout", "outputs", "sample", "measure-from", "measure-to", "watchdog",
          "idle-timeout", "checkpoint-every")  # fmt: skip
OWN = (
    "checkpoint", "restore", "until", "set", "may-differ", "sample-window", "record-links", "replay-links",
    "gdb", "timeline", "gateway", "open", *PASSED,
)  # fmt: skip # options of this command
NAMING = ("part", "network", "board", "run-dir", "stats")
REFUSED = (*NAMING, "interactive", "serve", "record", "record-events")
TIMED = re.compile(r"\s*(-?\d|cycles\s*\(|end\s*$)")  # conditions that all parts can tell
COUNTED = re.compile(r"event\s*\(.*\*.*,\s*(\d+)\s*\)")


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    folder: Path
    out: Path
    values: dict[str, str | None]  # of the options of PASSED
    until: str | None
    settings: Sequence[str]
    may_differ: Sequence[str]
    sample_window: bool
    checkpoint: Path | None
    restore: Path | None
    whole: bool  # by the simulator of the whole network
    simulator: Path | None  # which that is, if it is not the one next to the folder
    cores: int | None
    picture: Path | None  # page with the load of the cables
    options: Sequence[str]  # for all parts
    record_links: Path | None = None  # folder for what parts send
    replay_links: Path | None = None  # such a folder, from which `part` runs alone
    part: str | None = None
    timeline: Path | None = None  # of the events that parts record
    record_events: Sequence[str] = ()
    gateways: Sequence[str] = ()  # PATH=PLACE
    open: bool = False  # gateways may lead to other computers
    gdb: str | None = None  # PATH=PLACE: the part that gdb debugs, and where it connects
    hosts: Path | None = None  # the file that names them; None: this one only


def _check(options: Sequence[str], refused: Sequence[str]) -> None:
    for word in options:
        name = word.removeprefix("--").partition("=")[0]
        if word.startswith("--") and name in refused:
            hint = "write it ahead of --" if name in OWN else "leave it out"
            raise NetworkError(f"--{name}: it is not for the parts of a network ({hint})")


def _check_hosts(request: Request) -> None:
    if request.hosts and request.cores is not None:
        raise NetworkError("--cores: the file of hosts has the number of cores of each host")
    if request.hosts and request.whole:
        raise NetworkError("--hosts: it is for parts; the simulator of the whole runs on this computer (leave it out)")
    if request.hosts and request.gdb is not None:
        raise NetworkError("--gdb: not with --hosts; a part of a recorded run can be debugged with --replay-links")
    if request.hosts and request.replay_links is not None:
        raise NetworkError("--hosts: a part of a recorded run runs alone on this computer (leave it out)")


def _check_conditions(request: Request) -> None:
    """A part knows of its own state only; so what all parts do at one instant depends on the time."""
    for name in "sample", "measure-from", "measure-to":
        text = request.values[name]
        if text is not None and not TIMED.match(text):
            raise NetworkError(
                f'--{name} "{text}": in parts, samples and windows are on a time or cycles (with --whole on anything)'
            )
    if request.until is not None and (counted := COUNTED.search(request.until)) and counted[1] != "1":
        raise NetworkError(
            f'--until "{request.until}": events of several parts are not counted together (with --whole they are)'
        )


def _common(request: Request) -> list[str]:
    """The options that are the same for all parts."""
    common = [*request.options]
    for name, value in request.values.items():
        common += [] if value is None else [f"--{name}", value]
    if request.sample_window:
        common.append("--sample-window")
    if request.restore is not None:
        common += ["--restore", os.fspath(request.restore)]
    if request.record_links is not None:
        common += ["--record-links", os.fspath(request.record_links)]
    return common


def options_of_whole(request: Request) -> list[str]:
    """The options of a simulator of the whole network."""
    options = _common(request)
    for name, values in (("set", request.settings), ("may-differ", request.may_differ)):
        options += [word for value in values for word in (f"--{name}", value)]
    if request.until is not None:
        options += ["--until", request.until]
    options += [word for gateway in request.gateways for word in ("--gateway", gateway)]
    if request.open:
        options.append("--open")
    return options + (["--checkpoint", os.fspath(request.checkpoint)] if request.checkpoint else [])


@dataclass(frozen=True)
class Debugged:
    """The part that gdb debugs."""

    number: int
    place: str


def _debugged(network: Network, text: str) -> Debugged:
    path, equals, place = text.rpartition("=")
    number = next((number for number, part in enumerate(network.parts) if part.path == path), None)
    if not equals or not place:
        raise NetworkError(f'--gdb: "{text}" lacks the part or where gdb connects (write --gdb PATH=PORT)')
    if number is None:
        raise NetworkError(f'--gdb: there is no part "{path}" in {network.machine}')
    return Debugged(number, place.removeprefix(":") if place[1:].isdecimal() else place)


def options_of_parts(network: Network, request: Request, stage: Path | None) -> list[list[str]]:
    """The options of each part: those for all, and what names it."""
    common = _common(request) + ([] if stage is None else ["--checkpoint", os.fspath(stage)])
    options = [list(common) for _ in network.parts]
    for setting in request.settings:
        name, equals, _ = setting.partition("=")
        if not equals:
            raise NetworkError(f'--set: "{setting}" lacks its value (write --set PATH.NAME=VALUE)')
        for number in settings.parts_of(network, name):
            options[number] += ["--set", setting]
    for pattern in request.may_differ:
        for number in settings.owners(network, pattern) or range(len(options)):
            options[number] += ["--may-differ", pattern]
    for gateway in request.gateways if request.replay_links is None else ():
        for number in settings.part_with(network, gateway.partition("=")[0]):
            options[number] += ["--gateway", gateway, *(["--open"] if request.open else [])]
    if request.gdb is not None:
        debugged = _debugged(network, request.gdb)
        options[debugged.number] += ["--gdb", debugged.place]
    if request.until is not None:
        named = [] if TIMED.match(request.until) else settings.owners(network, request.until)
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


def _end(started: Sequence[launch.Started], run: dict, interrupts: launch.Interrupts) -> int:
    """Shows how it ended; returns the status."""
    _show(merge.loads(started))
    print(f"{run['ended']} after {run['simulated_ns'] / 1e6:g} ms of simulated time", file=sys.stderr)
    return 128 + interrupts.number if interrupts.number else max(part.child.returncode for part in started)


def _finish(started: Sequence[launch.Started], interrupts: launch.Interrupts) -> None:
    """An error, unless all have ended in good order and have written what they counted."""
    if interrupts.number and any(part.child.returncode in (-signal.SIGINT, -signal.SIGTERM) for part in started):
        raise launch.Interrupted(interrupts.number)  # before these could take note of it
    if (failed := launch.failure(started)) is not None:
        raise NetworkError(failed)
    if missing := [part.path for part in started if not (part.folder / "statistics.json").exists()]:
        if interrupts.number:
            raise launch.Interrupted(interrupts.number)
        raise NetworkError(f"{missing[0]} has ended without results; {missing[0]}/log.txt has what it said")


def _recording(request: Request) -> recorded.Recording | None:
    if request.timeline is None:
        if request.record_events:
            raise NetworkError("--record-events lacks the file: --timeline FILE")
        return None
    if not request.record_events and request.record_links is None:
        raise NetworkError("--timeline shows nothing: add --record-events WHAT or --record-links DIR")
    return recorded.Recording(request.timeline, request.record_events, request.record_links)


def _run_parts(network: Network, request: Request) -> int:
    named = hosts.read(request.hosts) if request.hosts else []
    if not named and (short := memory.shortage(network, memory.available())) is not None:
        print(f"spinach: warning: {short}", file=sys.stderr)
    if request.record_links is not None:
        _forget_records(network, request.record_links)
    live = Live(network, request.out, request.picture) if request.picture else None
    stage = checkpoints.Stage(network, request.checkpoint) if request.checkpoint else None

    debugger: Debugger | None = None
    recording = _recording(request)

    def look() -> None:
        if stage:
            stage.take()
        if live:
            live.look()
        if debugger:
            debugger.look()

    try:
        options = options_of_parts(network, request, stage.folder if stage else None)
        if recording:
            recorded.forget(network, request.out)
            options = [[*own, *more] for own, more in zip(options, recording.words(network, request.out), strict=True)]
        with launch.Interrupts() as interrupts:
            if named:
                started = hosts.run(network, request.out, options, named, interrupts, look)
            else:
                started = launch.start(network, request.out, options)
                if request.gdb is not None:
                    debugger = Debugger(started[_debugged(network, request.gdb).number], interrupts)
                launch.wait(started, interrupts, look)
        _finish(started, interrupts)
    finally:
        if stage:
            stage.remove()
    documents = merge.read(started)
    merged = merge.merge(network, documents)
    files.write(request.out / "statistics.json", document.text(merged))
    if live:
        live.finish(documents, merged)
    if recording:
        recording.write(network, request.out)
    return _end(started, merged["run"], interrupts)


def _run_whole(simulator: Path, request: Request) -> int:
    with launch.Interrupts() as interrupts:
        started = launch.start_whole(simulator, request.out, options_of_whole(request))
        launch.wait(started, interrupts, lambda: None)
    _finish(started, interrupts)
    return _end(started, document.read(request.out / "statistics.json")["run"], interrupts)


def _run_alone(network: Network, request: Request) -> int:
    """Becomes the simulator of one part, which runs from what the others have sent in an earlier run."""
    number = next((number for number, part in enumerate(network.parts) if part.path == request.part), None)
    if number is None:
        raise NetworkError(f'--part: there is no part "{request.part}" in {network.machine}')
    if request.gdb is not None and _debugged(network, request.gdb).number != number:
        raise NetworkError(f"--gdb {request.gdb}: only {request.part} runs")
    options = options_of_parts(network, request, request.checkpoint)[number]
    launch.become(network, number, request.out, [*options, "--replay-links", os.fspath(request.replay_links)])


def _check_links(request: Request) -> None:
    """Options of links and gateways that are not together what they need."""
    if request.open and not request.gateways:
        raise NetworkError("--open lacks a gateway: --gateway PATH=PLACE")
    if (request.part is None) != (request.replay_links is None):
        given, lacks = ("--part", "--replay-links DIR") if request.part else ("--replay-links", "--part PATH")
        raise NetworkError(f"{given} lacks {lacks}: one part runs without the others, from the records of a run")
    if request.timeline is not None and (request.whole or request.replay_links is not None):
        raise NetworkError("--timeline: it is for a run of all parts (record with options after --, then `timeline`)")
    if request.replay_links is None and request.record_links is None and request.gdb is None:
        return
    if request.record_links is not None and request.replay_links is not None:
        raise NetworkError("--record-links: it is for a run of all parts (leave it out with --replay-links)")
    if request.whole and request.gdb is not None:
        raise NetworkError("--gdb: it names a part (with --whole write `-- --gdb PORT`)")
    if request.whole and request.record_links is not None:
        raise NetworkError("--whole: the whole network has no links between parts (leave --record-links out)")
    if request.picture is not None and request.replay_links is not None:
        raise NetworkError("--picture: it is for a run of all parts (leave it out with --replay-links)")
    if request.replay_links is not None and not request.replay_links.is_dir():
        raise NetworkError(f"--replay-links {request.replay_links}: there is no such folder")


def _forget_records(network: Network, folder: Path) -> None:
    """A folder has the records of one run: a part that is killed leaves none, and not that of an earlier run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in [*(folder / f"{link.path}.link" for link in network.links), *folder.glob("*.frames")]:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise NetworkError(f"--record-links {folder}: {error.strerror}") from None


def run(request: Request) -> int:
    """Runs all parts to their end; returns the status."""
    network = read(request.folder)
    _check_links(request)
    alone = tuple(name for name in (*OWN, *NAMING) if name != "gdb")
    _check(request.options, (*OWN, *REFUSED) if request.replay_links is None else alone)
    _check_hosts(request)
    if request.restore is not None:
        checkpoints.check_restored(request.restore)
    launch.check_cores(request.cores)
    try:
        request.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NetworkError(f"{request.out}: {error.strerror}") from None
    (request.out / "statistics.json").unlink(missing_ok=True)
    if request.whole:
        return _run_whole(network.whole(request.simulator), request)
    _check_conditions(request)
    if request.replay_links is not None:
        return _run_alone(network, request)
    return _run_parts(network, request)
