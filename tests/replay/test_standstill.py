"""A run without a bound ends when nothing can happen any more, also where modules have no next_event; and nothing that waits is ended."""

import subprocess
from pathlib import Path

import pytest

from tests.sample import sampled, seldom

LOOK = 1 << 20  # cycles between two looks

# Modules without next_event, by name: state, functions declared, C.
SILENT = {
    "sum": ("uint32 total;  bool full;", "phase_start -> out.data;  handler take : out.ack -> in.ack;", """
phase_start() { send_if(out, self->full, self->total); }
handler(take) { accept(in, !self->full || acked(out)); }
phase_end() {
  if (transferred(out)) self->full = false;
  if (transferred(in)) { self->total += data(in);  self->full = true; }
}
"""),
    # An item every 2^21 cycles and 5, from a count of its own
    "counts": ("uint32 left = 2097157;  uint32 item;  bool full;", "phase_start -> out.data;  always in.ack;", """
phase_start() { send_if(out, self->full && self->left == 0, self->item); }
phase_end() {
  if (transferred(in)) { self->item = data(in);  self->full = true;  self->left = 2097157; }
  else if (self->left > 0) self->left--;
  else if (transferred(out)) self->full = false;
}
"""),
    # The same, by the time
    "asks": ("uint64 when;  uint32 item;  bool full;", "phase_start -> out.data;  always in.ack;", """
phase_start() { send_if(out, self->full && cycle() >= self->when, self->item); }
phase_end() {
  if (transferred(in)) { self->item = data(in);  self->full = true;  self->when = cycle() + 2097157; }
  else if (transferred(out)) self->full = false;
}
"""),
    # A state of period 2, which keeps the one after it counting
    "toggles": ("bool up;", "phase_start -> out.data;  always in.ack;", """
phase_start() { send_if(out, self->up, 1); }
phase_end() { self->up = !self->up; }
"""),
}  # fmt: skip


def library(folder: Path) -> Path:
    for name, (state, functions, code) in SILENT.items():
        (folder / f"{name}.lss").write_text(
            f"module {name} {{ inport in : uint32;  outport out : uint32;  state {{ {state} }}  {functions}  phase_end; }}\n"
        )
        (folder / f"{name}.c").write_text(code)
    return folder


def chain(module: str, source: str = "count = 10;") -> str:
    return f"instance p : source {{ {source} }};  instance m : {module};  instance k : sink;\np.out -> m.in : uint32;  m.out -> k.in;\n"


@pytest.fixture(scope="module")
def build(build_dir, tmp_path_factory):
    folder, made = library(tmp_path_factory.mktemp("standstill")), {}

    def build(text: str, *options: str) -> Path:
        if (text, *options) not in made:
            made[text, *options] = folder / f"sim{len(made)}"
            (folder / "m.lss").write_text(text)
            subprocess.run([build_dir / "bin/lss", "build", folder / "m.lss", "-I", folder, "-o", made[text, *options], *options], check=True)
        return made[text, *options]

    return build


@seldom
def test_a_dry_source_ends_a_run_and_the_line_names_who_did_not_say_so(build, run_sim):
    for options in ((), ("--debug", "-O0")):
        done = run_sim(build(chain("sum"), *options))
        assert done.value("k", "items") == 10 and done.stats["run"]["ended"] == "nothing left to do"
        assert done.stats["run"]["cycles"]["clk"] == LOOK + 1
        assert done.err.count("\n") == 2 and "note: m (module sum) has no next_event, so that idle time was stepped" in done.err
    assert run_sim(build(chain("sum")), "--quiet").err == ""


def test_a_bound_that_cannot_come_is_an_error(build, run_sim):
    for machine in (chain("sum"), chain("pipe")):
        done = run_sim(build(machine), "--quiet", "--until", "k.items >= 11", ok=False)
        assert done.status == 1 and done.err.count("\n") == 1
        assert 'error: nothing is left to do, so the condition of --until, "k.items >= 11", cannot come true' in done.err
        assert done.stats["run"]["ended"].startswith("error: nothing is left to do") and done.value("k", "items") == 10


def test_a_bounded_run_goes_on_to_its_bound(build, run_sim):
    done = run_sim(build(chain("sum")), "--cycles", 3 * LOOK)
    assert done.stats["run"]["ended"] == "all cycles were simulated" and "note" not in done.err


@pytest.mark.parametrize(
    ("machine", "items"),
    sampled([
        (chain("counts", "count = 1;"), 1),  # a long latency
        (chain("asks", "count = 1;"), 1),
        (chain("sum", "offer = 0.0000005;"), 2),  # a low rate
    ], 3, 1),
)
def test_waiting_is_no_standstill(machine, items, build, run_sim):
    done = run_sim(build(machine), "--until", f"k.items >= {items}")
    assert done.stats["run"]["ended"] == "the condition of --until holds" and done.stats["run"]["cycles"]["clk"] > LOOK + 1


@seldom
def test_a_state_that_comes_again_is_none_either(build, run_sim):
    done = run_sim(build(chain("toggles", "count = 1;")), "--until", f"k.items >= {LOOK}")
    assert done.stats["run"]["cycles"]["clk"] == 2 * LOOK


CLOCKS = """clock fast = 300 MHz;  clock slow = 70 MHz;
instance p : source on fast { count = 10; };  instance m : sum on fast;  instance x : clock_crossing;
instance n : sum on slow;  instance k : sink on slow;
p.out -> m.in;  m.out -> x.in;  x.out -> n.in;  n.out -> k.in;
"""


@seldom
def test_several_clocks(build, run_sim):
    """Each has done a cycle in which nothing changed."""
    runs = [run_sim(build(CLOCKS, *options)).stats for options in ((), ("--debug", "-O0"))]
    cycles = runs[0]["run"]["cycles"]
    assert runs[0]["run"]["ended"] == "nothing left to do" and LOOK < cycles["fast"] <= LOOK + 6
    assert runs[1]["run"]["cycles"] == cycles and runs[1]["statistics"] == runs[0]["statistics"]


def running(simulator: Path, *options: str, seconds: float) -> str:
    """What it has printed on standard error when it is ended then; it must not have ended before."""
    with subprocess.Popen([simulator, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            run.terminate()
            return run.communicate()[1]
    raise AssertionError(f"{options}: status {run.returncode}")


@seldom
def test_an_endless_run_says_once_what_could_bound_it(build):
    """After five seconds of the host; what has a bound or is to be quiet says nothing."""
    assert running(build(chain("sum")), "--quiet", "--watchdog", "off", seconds=0.5) == ""
    said = running(build(chain("asks", "")), seconds=6)
    assert said.count("note: this run has no bound") == 1 and "--cycles N, --time TIME or --until CONDITION" in said
    assert "m (module asks) has no next_event" in said
