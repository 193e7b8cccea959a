"""What `spinach profile`, `frames` and `timeline` do."""

import argparse
import json
import os
from pathlib import Path

from rich.console import Console

from harness.quantity import option as number
from harness.report import page
from harness.run import files
from harness.run.used_files import FOLDER, READ, WRITTEN
from harness.trace import annotate, callgrind, flame, frames, pprof
from harness.trace.events import Events
from harness.trace.profile import chosen, read
from harness.trace.profile_table import show


def add_profile(one: argparse.ArgumentParser) -> None:
    """The options of `profile`."""
    one.add_argument("file", type=READ, help="what a simulator wrote with --profile")
    one.add_argument("--core", metavar="PATTERN", help="only processors whose path, or what is around them, matches")
    one.add_argument("--top", type=number(0), default=20, metavar="N", help="functions in the table (default 20)")
    one.add_argument("--inlined", action="store_true", help="inlined functions by themselves, not in those around them")
    one.add_argument("--frames", metavar="EVENTS", help="what counts as a frame: *.sent,*.received, if left out")
    one.add_argument("--annotate", metavar="FUNCTION", help="print the source of a function with its costs instead")
    one.add_argument("--code", action="store_true", help="with --annotate: print instructions as well")
    one.add_argument("--source", type=FOLDER, action="append", default=[], metavar="DIR", help="where source files are")
    one.add_argument("--flame", type=WRITTEN, metavar="FILE", help="write a flame graph, FILE.svg")
    one.add_argument("--callgrind", type=WRITTEN, metavar="FILE", help="write callgrind's format, for kcachegrind")
    one.add_argument("--pprof", type=WRITTEN, metavar="FILE", help="write pprof's format")


def profile(options: argparse.Namespace) -> int:
    """Writes the files that are asked for; without any, prints a table or an annotated function."""
    found = read(options.file)
    cores = chosen(found, options.core)
    machine = Path(found.machine).stem
    if options.flame:
        page.write(options.flame, flame.svg(cores, f"Where the cycles of {machine} go"))
    if options.callgrind:
        files.write_bytes(options.callgrind, os.fsencode(callgrind.text(found, cores)))
    if options.pprof:
        files.write_bytes(options.pprof, pprof.encode(found, cores))
    if options.annotate:
        print(annotate.function(found, cores, options.annotate, options.source, options.code))
    elif not (options.flame or options.callgrind or options.pprof):
        console = Console()
        wide = console if console.is_terminal else Console(width=200)
        show(wide, found, cores, options.top, options.frames, options.inlined)
    return 0


def add_frames(one: argparse.ArgumentParser) -> None:
    """The options of `frames`."""
    one.add_argument("file", type=READ, help="what a simulator wrote with --record and --record-events frames")
    one.add_argument("--top", type=number(0), default=20, metavar="N", help="frames in the table (default 20)")
    one.add_argument("--json", type=WRITTEN, metavar="FILE", help="write all of them to FILE instead")
    one.add_argument("--build", type=FOLDER, default=Path("build"))


def show_frames(options: argparse.Namespace) -> int:
    """Prints a table, or writes JSON."""
    found = frames.lives(Events(options.file, options.build))
    if options.json:
        files.write(options.json, json.dumps(frames.as_records(found), indent=1) + "\n")
    else:
        print(frames.text(found, options.top))
    return 0


def add_timeline(one: argparse.ArgumentParser) -> None:
    """The options of `timeline`."""
    one.add_argument("file", type=READ, help="what a simulator wrote with --record")
    one.add_argument("-o", dest="out", type=WRITTEN, required=True, metavar="FILE", help="for ui.perfetto.dev")
    one.add_argument("--build", type=FOLDER, default=Path("build"))


def make_timeline(options: argparse.Namespace) -> int:
    """Writes a file for Perfetto."""
    from harness.trace import timeline  # its packages take a while

    files.write_bytes(options.out, timeline.encode(Events(options.file, options.build)))
    return 0
