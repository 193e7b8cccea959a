"""handler reset(x): what a module derived from a parameter follows it, when it is set anew in a restored run."""

import subprocess
from pathlib import Path

import pytest

TIMER = """
module timer {
  runtime parameter first = 30 : int;    /** cycles to the first ring */
  runtime parameter every = 7 : int;     /** from one to the next */
  inport in : 'a;
  outport out : 'a;
  state { int64 left; bool reset_was_run; }
  stat uint64 rings "rings";
  init;
  handler reset(first);
  handler pass : in.data -> out.data;
  handler take : out.ack -> in.ack;
  handler enabling : in.enable -> out.enable;
  phase_end;
  next_event;
}
"""
# A helper may be called reset, too.
CODE = """
static void reset(self_t *self) { self->left = param(first); }
init() { reset(self); }
handler(reset, first) {
  if (param(first) < 0) sim_input_error("a timer cannot ring %lld cycles ago", (long long)-param(first));
  reset(self);
  self->reset_was_run = true;
}
handler(pass) { send_if(out, some(in), data(in)); }
handler(take) { accept(in, acked(out)); }
handler(enabling) { enable(out, enabled(in)); }
phase_end() {
  if (--self->left > 0) return;
  self->left = param(every);
  count(rings);
}
next_event() { return cycle() + (uint64_t)(self->left > 1 ? self->left - 1 : 0); }
"""
MACHINE = """
runtime parameter begin = 40 : int;    /** of one timer of each type */
instance s[2] : source;
instance t[3] : timer;
instance k[2] : sink;
t[0].first = begin;
t[1].first = begin;
s[0].out -> t[0].in : uint32;
t[0].out -> t[2].in;
t[2].out -> k[0].in;
s[1].out -> t[1].in : bool;
t[1].out -> k[1].in;
"""


@pytest.fixture(scope="module")
def simulators(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("reset")
    (folder / "timer.lss").write_text(TIMER)
    (folder / "timer.c").write_text(CODE)
    (folder / "m.lss").write_text(MACHINE)
    for name, option in (("release", "-O1"), ("debug", "--debug")):
        subprocess.run([build_dir / "bin" / "lss", "build", "-O0", option, "m.lss", "-o", name], cwd=folder, check=True)
    return [folder / "release", folder / "debug"]


@pytest.mark.parametrize("setting", [["--begin", "9"], ["--set", "t[2].first=100"], ["--set", "t[2].first=5", "--begin", "5"]])
def test_all_instances_follow_and_no_other(simulators, run_sim, setting) -> None:
    release, debug = simulators
    seen = []
    for simulator in simulators:
        straight = run_sim(simulator, *setting, "--cycles", 300)
        run_sim(simulator, "--cycles", 0, "--checkpoint", "point")
        done = run_sim(debug, *setting, "--cycles", 300, "--restore", "point", "--print", "t[*].reset_was_run")
        assert [done.stats[key] for key in ("run", "statistics")] == [straight.stats[key] for key in ("run", "statistics")]
        seen.append(done.out.replace("\n", " "))
    assert seen[0] == seen[1]
    for k, text in enumerate(seen[0].split("t[")[1:4]):
        follows = "--begin" in setting if k < 2 else "t[2]" in " ".join(setting)
        assert text.startswith(f"{k}].reset_was_run = {str(follows).lower()}"), text


def test_a_value_that_stays_changes_nothing(simulators, run_sim) -> None:
    """Whatever it was written as."""
    run_sim(simulators[0], "--begin", "9", "--cycles", 100, "--checkpoint", "point")
    straight = run_sim(simulators[0], "--begin", "9", "--cycles", 300)
    done = run_sim(simulators[0], "--begin", "0x9", "--cycles", 300, "--restore", "point", "--print", "t[0].reset_was_run")
    assert done.stats["statistics"] == straight.stats["statistics"] and "t[0].reset_was_run = false" in done.out


def test_a_value_may_be_refused(simulators, run_sim, tmp_path) -> None:
    run_sim(simulators[0], "--cycles", 100, "--checkpoint", "point")
    done = run_sim(simulators[0], "--begin", "-3", "--cycles", 300, "--restore", "point", ok=False)
    assert (done.status, done.err) == (1, "release: error: t[0]: a timer cannot ring 3 cycles ago\n") and done.stats is None


def test_a_server_sets_anew_too(simulators, run_sim, tmp_path) -> None:
    run_sim(simulators[0], "--cycles", 0, "--checkpoint", "point")
    lines = "".join(f"{n} --begin {n} --cycles 300 --stats stats.json\n" for n in (9, 100))
    subprocess.run([simulators[0], "--quiet", "--restore", "point", "--serve", "2"], cwd=tmp_path, input=lines, text=True, check=True, capture_output=True)
    for n in (9, 100):
        run_sim(simulators[0], "--begin", n, "--cycles", 300)
        straight = sorted(tmp_path.glob("stats*.json"), key=lambda path: int(path.stem[5:]))[-1]
        theirs, ours = (path.read_text().split('"statistics"')[1] for path in (tmp_path / f"{n}" / "stats.json", straight))
        assert theirs == ours


def test_the_reference_shows_it(simulators, lss) -> None:
    assert "  handler reset(first)" in lss("doc", simulators[0].parent / "timer.lss").out
