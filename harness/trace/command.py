"""What `spinach profile`, `frames` and `timeline` do; their options are in options.py."""

import argparse
import json
import os
from pathlib import Path

from rich.console import Console

from harness.report import page
from harness.run import files
from harness.trace import annotate, callgrind, flame, frames, pprof
from harness.trace.events import Events
from harness.trace.profile import chosen, read
from harness.trace.profile_table import show


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


def show_frames(options: argparse.Namespace) -> int:
    """Prints a table, or writes JSON."""
    found = frames.lives(Events(options.file, options.build))
    if options.json:
        files.write(options.json, json.dumps(frames.as_records(found), indent=1) + "\n")
    else:
        print(frames.text(found, options.top))
    return 0


def make_timeline(options: argparse.Namespace) -> int:
    """Writes a file for Perfetto."""
    from harness.trace import timeline  # its packages take a while

    files.write_bytes(options.out, timeline.encode(Events(options.file, options.build)))
    return 0
