"""Clusters that repeat themselves are looked up: nothing but the time that a run takes depends on it."""

import re

import pytest

from tests.sample import sampled

from .conftest import LANES
from .test_check import replayed


@pytest.mark.parametrize("ready", [1, 0.3])
@pytest.mark.parametrize("every", sampled([1000, 7], 2, 1))
def test_nothing_changes(lanes, alike, ready, every):
    """With random back-pressure there are always inputs that are not known yet."""
    alike(lanes, "--cycles", 30000, "--set", f"k[1].ready={ready}", "--print", "lane[*].**", hash_every=every)


def test_a_state_that_never_comes_again_is_stepped(build_sim, library, alike):
    machine = (library / "looper.lss").read_text()
    (library / "looper.lss").write_text(machine.replace("mask = 3", "mask = 0x7fffffff"))
    alike(build_sim(LANES, "-I", library), "--cycles", 30000)


def test_a_run_goes_on_from_a_checkpoint(lanes, run_sim, tmp_path):
    whole = run_sim(lanes, "--cycles", 20000)
    run_sim(lanes, "--cycles", 12345, "--checkpoint", tmp_path / "kept")
    for more in ([], ["--no-replay"]):
        rest = run_sim(lanes, "--restore", tmp_path / "kept", "--cycles", 20000, *more)
        assert rest.stats["statistics"] == whole.stats["statistics"]


def test_conditions_and_samples_see_every_instant(lanes, run_sim):
    options = ("--cycles", 20000, "--until", "lane[1].l[2].steps >= 15001", "--sample", "cycles(clk) >= 999", "--measure-from", "lane[0].l[0].step == 3")
    runs = [run_sim(lanes, *options, *more).stats for more in ([], ["--no-replay"])]
    for part in ("statistics", "samples", "measured"):
        assert runs[0][part] == runs[1][part]
    assert runs[0]["samples"]


PULSE = """module pulse {
  outport out : uint32;
  state { uint32 step;  instant again; }
  stat uint64 beats "beats";
  phase_start -> out.data;
  phase_end;
  next_event;
}
"""
PULSE_C = """phase_start() { send_if(out, !until(again), self->step); }
phase_end() {
  if (until(again)) return;
  self->step = (self->step + 1) % 300;
  count(beats);
  if (!self->step) set_until(again, 40);
}
next_event() { return after(until(again)); }
"""


def test_time_is_skipped_as_without_replay(build_sim, run_sim, alike, tmp_path):
    """All of them rest together, so that what is replayed is left for each jump."""
    (tmp_path / "pulse.lss").write_text(PULSE)
    (tmp_path / "pulse.c").write_text(PULSE_C)
    machine = """
        module heart { outport out : uint32;  instance p[4] : pulse;  for (i = 0; i < 4; i = i + 1) { p[i].out -> out; } }
        instance heart[2] : heart;  instance k[8] : sink;
        for (i = 0; i < 8; i = i + 1) { heart[i / 4].out -> k[i].in; }
        """
    simulator = build_sim(machine, "-I", tmp_path)
    alike(simulator, "--cycles", 30000, hash_every=777)
    done = run_sim(simulator, "--cycles", 30000, "--check-replay")
    assert done.stats["run"]["skipped_cycles"] > 500
    assert all(cycles > 2000 for cycles in replayed(done).values())


@pytest.mark.parametrize(
    ("code", "why"),
    [("self->taken = (uint32_t)cycle();", "asks for the time"), ("self->taken = (uint32_t)after(3);", "asks for the time"),
     ("report(steps, 3);", "sets a statistic by report()")],
)  # fmt: skip
def test_what_prevents_replay_is_named(lss, library, tmp_path, code, why):
    text = (library / "looper.c").read_text()
    (library / "looper.c").write_text(text.replace("  count(steps);", f"  {code}"))
    (tmp_path / "m.lss").write_text(LANES)
    said = lss("schedule", "-I", library, "m.lss", "lane[1]").out
    assert said.splitlines()[-1] == f"lane[1] is not replayed: lane[1].l[0] {why}"


def test_the_schedule_says_what_is_replayed(lss, library, tmp_path):
    (tmp_path / "m.lss").write_text(LANES.replace("l[3].out -> out;", "l[3].out -> out;  instance s : source;  instance k : sink;  s.out -> k.in : uint32;"))
    said = lss("schedule", "-I", library, "m.lss").out
    assert re.findall(r"^(lane\[\d\] is not.*)$", said, re.MULTILINE) == [f"lane[{i}] is not replayed: lane[{i}].s asks for the time" for i in range(3)]
    (tmp_path / "m.lss").write_text(LANES)
    said = lss("schedule", "-I", library, "m.lss", "lane[1]").out
    assert said.splitlines()[-1] == "lane[1] is replayed where it repeats itself"
