"""--check-replay: what a run leaves out is done all the same, so that a module that breaks its contract is named."""

import re

import pytest

from tests.sample import sampled

from .conftest import LANES

# A cluster that waits, with a leaf that is quiet only most of the time.
NAPPER = """module napper {
  inport in : uint32;
  state { uint32 large[600];  uint32 naps; }
  stat uint64 taken "items";
  phase_start -> in.ack;
  phase_end;
  next_event;
}
"""
NAPPER_C = """phase_start() { accept(in, true); }
phase_end() {
  if (transferred(in)) { count(taken); self->naps = 200; self->large[data(in) % 600]++; }
  WHILE
}
next_event() { return unchanged(never()); }
"""
NAPPERS = """module bed { inport in : uint32;  instance p[4] : waiter;  instance n : napper;
  in -> p[0].in;  p[0].out -> p[1].in;  p[1].out -> p[2].in;  p[2].out -> p[3].in;  p[3].out -> n.in; }
module waiter { inport in : uint32;  outport out : uint32;  instance p : pipe;  in -> p.in;  p.out -> out; }
instance bed[2] : bed;  instance s[2] : source { interval = 500; };
for (i = 0; i < 2; i = i + 1) { s[i].out -> bed[i].in : uint32; }
"""


def replayed(done) -> dict[str, int]:
    """Per cluster, the cycles that were replayed and checked."""
    return {path: int(n) for path, n in re.findall(r"^(\S+): (\d+) cycles were replayed and checked$", done.err, re.MULTILINE)}


def test_what_is_replayed_is_checked_and_counted(lanes, run_sim):
    options = ("--cycles", 20000, "--set", "k[1].ready=0.3")
    done = run_sim(lanes, *options, "--check-replay")
    assert done.stats["statistics"] == run_sim(lanes, *options).stats["statistics"]
    cycles = replayed(done)
    assert cycles["lane[0]"] > 15000 and cycles["lane[2]"] > 15000 and 0 < cycles["lane[1]"] < cycles["lane[0]"]


HIDDEN = {
    "state": ("if (++hidden % 5003 == 0) self->taken ^= 1;", r"lane\[\d\].l\[\d\]: state taken is not what followed"),
    "statistic": ("if (++hidden % 5003 == 0) count(steps);", r"lane\[\d\].l\[\d\]: statistic steps is not what followed"),
    "trace": ("if (++hidden % 5003 == 0) note(pc, 77);", r"lane\[\d\].l\[\d\]: trace \w+ is not what followed"),
    "progress": ("if (++hidden % 5003 == 0) sim_progress();", r"lane\[\d\]: its effects apart from counts is not what followed"),
}  # fmt: skip


@pytest.mark.parametrize("what", sampled(HIDDEN, 3))
def test_what_is_hidden_from_the_state_is_found(build_sim, run_sim, library, what):
    code, expected = HIDDEN[what]
    text = (library / "looper.c").read_text().replace("  count(steps);", f"  count(steps);  {code}")
    (library / "hidden.h").write_text("static uint32_t hidden;\n")  # the compiler refuses it in looper.c
    (library / "looper.c").write_text(f'#include "hidden.h"\n{text}')
    done = run_sim(build_sim(LANES, "-I", library), "--cycles", 100000, "--check-replay", ok=False)
    assert re.search(rf"error: {expected} from the same state and inputs before \(at ", done.err) is not None, done.err
    assert done.status == 1 and done.stats["run"]["ended"].startswith("error: lane")


@pytest.mark.parametrize(("code", "error"), [("", ""), ("if (self->naps) self->naps--;", "naps changed while bed[0] slept, since cycle")])
def test_unchanged_is_checked(build_sim, run_sim, tmp_path, code, error):
    (tmp_path / "napper.lss").write_text(NAPPER)
    (tmp_path / "napper.c").write_text(NAPPER_C.replace("WHILE", code))
    done = run_sim(build_sim(NAPPERS, "-I", tmp_path), "--cycles", 5000, "--check-replay", ok=not error)
    if error:
        assert f"error: bed[0].n: {error}" in done.err
    else:
        assert int(re.search(r"(\d+) cycles of clusters that slept", done.err).group(1)) > 5000


TIMER = """module timer {
  outport out : bool;
  state { uint32 left;  instant ready; }
  init;
  phase_start -> out.data;
  phase_end;
  next_event;
}
"""
TIMER_C = """init() { set_until(ready, 1000); self->left = 9; }
phase_start() { send_if(out, !until(ready) && self->left > 0, true); }
phase_end() { if (transferred(out)) { self->left--; set_until(ready, 1000); } }
next_event() { return !self->left ? never() : after(until(ready)LATE); }
"""


@pytest.mark.parametrize("late", ["", " + 3"])
def test_next_event_is_checked_where_time_is_skipped(build_sim, run_sim, tmp_path, late):
    (tmp_path / "timer.lss").write_text(TIMER)
    (tmp_path / "timer.c").write_text(TIMER_C.replace("LATE", late))
    simulator = build_sim("instance t : timer;  instance k : sink;  t.out -> k.in;\n", "-I", tmp_path)
    options = ("--cycles", 8000)
    done = run_sim(simulator, *options, "--check-replay", ok=not late)
    if late:
        assert "error: k: items changed in a cycle in which nothing was to happen, as next_event says (at 999 ns, cycle 1000)" in done.err or (
            "error: t: left changed in a cycle in which nothing was to happen" in done.err
        )
        return
    plain = run_sim(simulator, *options)
    assert done.stats["statistics"] == plain.stats["statistics"]
    assert done.stats["run"]["skipped_cycles"] == plain.stats["run"]["skipped_cycles"] > 5000
    assert int(re.search(r"(\d+) instants that were skipped", done.err).group(1)) > 5000
