"""What a simulator does with each form of its command line: the golden file holds every command, its status and what it said."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

MACHINE = """
clock slow = 1 MHz;
clock fast = 8 MHz;
runtime parameter whole = -3 : int in -5..5;                 /** A whole number. */
runtime parameter real = 0.1 : float in -1.5..1.5;
runtime parameter share = 12.5 percent : fraction;           /** A part. */
runtime parameter lit = false : bool;
runtime parameter text = "as it is" : string;
runtime parameter wait = 1.5 us : time;
runtime parameter size = 3 KiB : size;
runtime parameter rate = 10 Mb/s : rate;
runtime parameter speed = 88 MHz : frequency;
runtime parameter unused = 1 : int;                          /** nothing's */
instance h : held on fast { whole = whole; real = real; share = share; lit = lit; text = text; wait = wait; size = size; rate = rate; speed = speed; };
instance g : held on slow;
"""
HELD = """
module held {                                                /** Keeps what it is given, and counts its cycles. */
  parameter lines = 4 : int;
  runtime parameter whole = 0 : int;
  runtime parameter real = 0.5 : float;
  runtime parameter share = 1 percent : fraction;
  runtime parameter lit = true : bool;
  runtime parameter text = "" : string;
  runtime parameter wait = 0 ns : time;
  runtime parameter size = 0 B : size;
  runtime parameter rate = 0 b/s : rate;
  runtime parameter speed = 0 Hz : frequency;
  state { int64 number; int64 down; uint8 small; bool even; float32 part; uint32 rows[2][3]; int64 seen; }
  stat uint64 cycles "cycles";                               /** Cycles so far. */
  stat int64 below "";                                       /** Less than nothing. */
  stat float64 given "";                                     /** The real number. */
  stat float32 half "";
  stat uint64 grid[2][2] "items";
  stat uint64 single[1] "items";
  phase_end;
}
"""
CODE = """
phase_end() {
  const int64_t now = ++self->number;
  count(cycles);
  report(below, -now);
  self->down = 3 - now;
  report(given, param(real));
  report(half, (float)param(share));
  self->small = (uint8_t)now;
  self->even = now % 2 == 0;
  self->part = 0.5f * (float)now;
  self->rows[1][2] = (uint32_t)now;
  report(grid[1][0], (uint64_t)now);
  report(single[0], 7);
  self->seen = param(wait) + param(size) + param(rate) + param(speed) + param(lit) + param(text)[0];
}
"""
PRINTS = [word for name in ("down", "small", "even", "part", "rows", "rows[1][2]", "seen", "given", "half", "grid", "grid[1][0]") for word in ("--print", f"h.{name}")]
COMMANDS: list[list[str]] = [
    ["--help"],
    ["--list"],
    ["--cycles", "3", *PRINTS],
    ["--cycles=3", "--print=h.small"],
    *[["--cycles", n, "--print", "h.cycles", "--print", "g.cycles"] for n in ("0", "1", "8", "9", "fast:2", "slow:2", "0x10")],
    *[["--time", t, "--print", "h.cycles"] for t in ("0 s", "1 fs", "125 ns", "125.000001 ns", "1us", "1.5 us")],
    ["--time", "1 us", "--cycles", "3", "--print", "h.cycles"],
    *[["--until", f"h.{c}", "--cycles", "20", "--print", "h.cycles"] for c in (
        "cycles == 3", "cycles != 0", "cycles >= 4", "cycles > 4", "down < 0", "down <= 0", "small>=5", "even == 1", "rows[1][2] == 6", "rows[5] == 6", "cycles >= 1e1", "below <= -0x2")],
    *[["--cycles", "2", "--set", s, "--print", "h.seen", "--print", "h.given", "--print", "h.half"] for s in (
        "whole=5", "whole=-5", "real=-1.5", "real=1.5", "share=50 percent", "share=50%", "share=0.25", "lit=true", "lit=1", "lit=false", "lit=0",
        "text=", "text=a=b", "wait=2 us", "size=1 KiB", "rate=1 kb/s", "speed=1 kHz", "h.real=1", "g.real=1", f"text={'y' * 511}", "*.real=1.5", "h.r*=1", "*=1", "[*].real=1")],
    ["--whole", "4", "--real=1", "--cycles", "1", "--print", "h.given"],
    # What is refused.
    *[["--cycles", n] for n in ("", "3x", "-1", "x", "slwo:3", "other:3", "slow:", "18446744073709551616")],
    *[["--time", t] for t in ("", "3", "3 kg", "-1 us", "1 us x")],
    *[["--set", s] for s in ("whole", "=3", "whol=3", "nothing=3", "whole=6", "whole=-6", "whole=", "whole=3x", "whole=9223372036854775808", "real=1.5000001", "real=x", "real=",
        "real=1e999", "real=1 percent", "share=x", "share=1 x", "lit=yes", "lit=", "lit=2", "wait=3", "wait=3 B", "size=1.5 B", "unused=1", f"text={'x' * 4096}", "unus*=1", "*.reel=1", "g.*=1", "h.lines=8", "h.line=8")],
    *[["--print", p] for p in ("h", "h.", "h.smal", "i.small", "h.rows[2][0]", "h.rows[0][3]", "h.rows[6]", "h.small[0]", "h.rows[0][0][0]", "h.rows[x]", "")],
    *[["--until", c] for c in ("h.part == 1", "h.rows == 1", "h.small == 1.5", "h.small 3", "h.small >= 9007199254740994e0", "cycles(slo) >= 1", "cycles(slow) >= 1 x", "ende", "marker(0)",
        "marker(4294967296)", "marker(1)", "event(h.x)", "evnt(h.x)", "event(h)")],
    *[["--seed", n] for n in ("", "-1", "x")],
    ["--quiet=1"], ["--help=1"], ["--list=xml"], ["--interactive=xml"], ["--cycles"], ["--set"], ["--whole"], ["--whole=9"], ["--cycels", "3"], ["--wole", "3"], ["--nothing"], ["--h.whole", "3"], ["--"], ["x"], ["-q"],
]


@pytest.fixture(scope="module")
def simulator(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command_line")
    for name, text in {"m.lss": MACHINE, "held.lss": HELD, "held.c": CODE}.items():
        (folder / name).write_text(text)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "m.lss", "-o", "sim"], cwd=folder, check=True)
    return folder / "sim"


def shortened(word: str) -> str:
    return word if len(word) < 80 else f"{word[:20]}... ({len(word)} characters)"


def test_every_form(simulator: Path, golden: Callable, root: Path) -> None:
    said = []
    for command in COMMANDS:
        limit = [] if {"--cycles", "--time"} & set(command) or any("=" in word[:9] for word in command) else ["--cycles", "2"]
        done = subprocess.run([simulator, "--quiet", *limit, *command], capture_output=True, text=True, cwd=simulator.parent)
        shown = " ".join(f"'{shortened(word)}'" if " " in word or not word else shortened(word) for word in command)
        said.append(f"$ sim {shown} -> {done.returncode}\n{done.stdout}{done.stderr}")
    golden(root / "tests/engine/command_line.golden", "".join(said))


def test_the_table_of_statistics(simulator: Path, golden: Callable, root: Path) -> None:
    """Numbers below nothing, real numbers and elements of arrays: printed for readers, and in the file."""
    done = subprocess.run([simulator, "--cycles", "3", "--stats", "s.csv"], capture_output=True, text=True, cwd=simulator.parent)
    assert done.returncode == 0
    text = (simulator.parent / "s.csv").read_text()
    golden(root / "tests/engine/command_line_statistics.golden", f"{done.stdout}\n{text}")


@pytest.mark.parametrize("given", ["30 percent", "0 percent", "100 percent", "12.5 percent", "1e-07 percent"])
def test_the_manifest_says_values_as_they_are_written(given: str, simulator: Path, run_sim) -> None:
    done = run_sim(simulator, "--quiet", "--cycles", "1", "--share", given)
    assert done.stats["manifest"]["parameters"]["share"] == given


# ---- Parameters: --help begins with the machine's own and those passed on to it, by the instance they come from, files first -----

WRAPPING = """
runtime parameter seconds = 3 : int;               /** The machine's own. */
wraps shell : shell except limit { default pause = 7; };
wraps bank[2] : unit except pause, rest, input, output { default limit = 9; };
instance outer : shell { depth = 4; limit = 2; };
"""
WRAPPED = {
    "shell": """
import unit;
module shell {                                     /** Wraps a core, which wraps a pipeline. */
  runtime parameter depth = 5 : int in 1..8;       /** Of the shell itself. */
  wraps core : middle;
}
module middle { runtime parameter rest = 1 : int; wraps pipe : unit { rest; } }
""",
    "unit": """
module unit {
  runtime parameter pause = 1 : int;               /** Between two items. */
  runtime parameter limit = 1 : int;
  runtime parameter rest = 1 : int;
  runtime parameter output = "" : string;          /** A file. */
  runtime init parameter input = "" : string;
  state { int64 seen; }
  phase_end;
}
""",
}
UNIT_CODE = "phase_end() { self->seen = param(pause) + param(limit) + param(rest) + param(output)[0] + param(input)[0]; }\n"
OPTIONS = """\
  --seconds : int                      = 3
      The machine's own.

Of shell (shell):
  --input : string
  --output : string
      A file.
  --depth : int                        = 5, 1 to 8
      Of the shell itself.
  --rest : int                         = 1
  --pause : int                        = 7
      Between two items.

Of bank (unit):
  --limit : int                        = 9
"""
INSTANCES = """\
  bank[0].pause : int                  = 1
      Between two items.
  bank[0].rest : int                   = 1
  bank[0].output : string
      A file.
  bank[0].input : string
  bank[1].pause : int                  = 1
      Between two items.
  bank[1].rest : int                   = 1
  bank[1].output : string
      A file.
  bank[1].input : string
  outer.depth : int                    = 4, 1 to 8
      Of the shell itself.

Of shell.core (middle):
  shell.limit : int                    = 1

Of outer.core (middle):
  outer.rest : int                     = 1
  outer.pause : int                    = 1
      Between two items.
  outer.limit : int                    = 2
  outer.output : string
      A file.
  outer.input : string
"""


@pytest.fixture(scope="module")
def wrapping(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("help")
    (folder / "m.lss").write_text(WRAPPING)
    (folder / "unit.c").write_text(UNIT_CODE)
    for name, text in WRAPPED.items():
        (folder / f"{name}.lss").write_text(text)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "m.lss", "-o", "sim"], cwd=folder, check=True)
    return folder / "sim"


def test_help_begins_with_the_options_of_the_machine(wrapping: Path, run_sim) -> None:
    options, _, rest = run_sim(wrapping, "--help").out.partition("\nOptions of all simulators:\n")
    assert options.split("Options of this machine:\n")[1] == OPTIONS
    assert rest.split("Parameters of instances (--set PATH.NAME=VALUE):\n")[1] == INSTANCES
