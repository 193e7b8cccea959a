"""The options of `spinach profile`, `frames` and `timeline`; apart, since --help must not need any package."""

import argparse
from pathlib import Path

from harness.quantity import option as number
from harness.run.used_files import FOLDER, READ, WRITTEN


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


def add_frames(one: argparse.ArgumentParser) -> None:
    """The options of `frames`."""
    one.add_argument("file", type=READ, help="what a simulator wrote with --record and --record-events frames")
    one.add_argument("--top", type=number(0), default=20, metavar="N", help="frames in the table (default 20)")
    one.add_argument("--json", type=WRITTEN, metavar="FILE", help="write all of them to FILE instead")
    one.add_argument("--build", type=FOLDER, default=Path("build"))


def add_timeline(one: argparse.ArgumentParser) -> None:
    """The options of `timeline`."""
    one.add_argument("file", type=READ, help="what a simulator wrote with --record")
    one.add_argument("-o", dest="out", type=WRITTEN, required=True, metavar="FILE", help="for ui.perfetto.dev")
    one.add_argument("--build", type=FOLDER, default=Path("build"))
