"""Whole loops are left out, and nothing but the time that a run takes shows it."""

import json
import re
from pathlib import Path

import pytest

from tests.sample import seldom

from .conftest import LANE

# Groups of loopers that nothing disturbs but an alarm now and then; what they send is counted on another clock.
ALARM = """module alarm {
  runtime parameter interval = 20011 : int;
  parameter asks = false : bool;
  outport out : uint32;
  state { uint64 next; uint32 rings; stamp latest; }
  stat uint64 alarms "items";
  init;
  phase_start -> out.data;
  phase_end;
  next_event;
}
"""
ALARM_C = """init() { self->next = (uint64_t)param(interval) * clock_period(); }
phase_start() { send_if(out, stamped(latest) && passed(latest, 0) && !passed(latest, 1), self->rings); }
phase_end() {
  if (param(asks) ? now() < self->next : !due(self->next)) return;
  self->next += (uint64_t)param(interval) * clock_period();
  self->rings++;
  set_stamp(latest, 1);
  count(alarms);
}
next_event() { return cycle(); }
"""
ENDS = """module silence { outport out : uint32;  phase_start -> out.data;  next_event; }
module tally {
  inport in : uint32;
  state { uint32 latest; trace uint32 seen[5]; }
  stat uint64 taken "items";
  always in.ack;
  phase_end;
  next_event;
}
"""
SILENCE_C = "phase_start() { send_nothing(out); }\nnext_event() { return never(); }\n"
TALLY_C = """phase_end() {
  if (!transferred(in)) return;
  self->latest = data(in);
  note(seen, data(in));
  count(taken);
}
next_event() { return never(); }
"""
MACHINE = (
    LANE
    + """
clock fast = 100 MHz;
clock slow = 75 MHz;
instance lane[2] : lane on fast;  instance feeder[2] : looper on fast;  instance none[2] : silence on fast;
instance alarm[2] : alarm on fast;  instance bridge[2] : clock_crossing { stages = 2; };  instance tally[2] : tally on slow;
feeder[1].period = 44;
for (i = 0; i < 2; i = i + 1) {
  alarm[i].asks = ASKS;
  none[i].out -> feeder[i].in;  feeder[i].out -> lane[i].in;  lane[i].out -> bridge[i].in;  bridge[i].out -> tally[i].in;
  alarm[i].out -> lane[i].command;
}
"""
)
LOOPS = re.compile(r"^whole loops: (\d+); stretches checked: (\d+)$", re.MULTILINE)


@pytest.fixture
def polling(build_sim, library):
    for name, code in (("alarm", ALARM_C), ("silence", SILENCE_C), ("tally", TALLY_C)):
        (library / f"{name}.c").write_text(code)
    (library / "alarm.lss").write_text(ALARM)
    for module in ENDS.split("module ")[1:]:
        (library / f"{module.split()[0]}.lss").write_text("module " + module)
    return lambda asks="false", *options: build_sim(MACHINE.replace("ASKS", asks), "-I", library, *options)


def cycles_in_loops(simulator: Path, run_sim, *options) -> int:
    run_sim(simulator, "--quiet", "--run-dir", "run", *options)
    return json.loads((simulator.parent / "run/timing.json").read_text())["cycles_in_loops"]


def test_loops_are_left_out_and_nothing_else_changes(polling, run_sim, alike):
    """An alarm every 20,011 cycles ends a loop; conditions, samples and checkpoints cut them where they like."""
    simulator = polling()
    options = ("--cycles", 200_000, "--set", "alarm[1].interval=50000")
    alike(simulator, *options, "--print", "tally[0].seen", hash_every=30_011)
    alike(simulator, *options, "--sample", "7 us")
    assert cycles_in_loops(simulator, run_sim, *options) > 100_000
    assert cycles_in_loops(simulator, run_sim, *options, "--no-replay") == 0
    loops, stretches = map(int, LOOPS.search(run_sim(simulator, *options, "--check-replay").err).groups())
    assert loops > 100 and stretches >= 10


@seldom
def test_a_loop_that_nothing_ends_ends_a_run_without_bound(polling, build_sim, run_sim, library):
    """Where an alarm is due there is a timer; a bound is a bound."""
    polling()
    machine = MACHINE.replace("alarm[2] : alarm", "alarm[2] : silence").replace("  alarm[i].asks = ASKS;\n", "")
    simulator = build_sim(machine, "-I", library)
    done = run_sim(simulator, "--quiet", ok=False)
    assert re.search(r"error: the machine repeats the same \d+ cycles, and no timer or input is due that could end that", done.err)
    assert done.stats["run"]["cycles"]["fast"] < 1_000_000 and done.stats["run"]["ended"] in done.err
    assert run_sim(simulator, "--cycles", 10**12).stats["run"]["ended"] == "all cycles were simulated"
    assert run_sim(simulator, "--cycles", 10**12, "--watchdog", "off").stats["run"]["ended"] == "all cycles were simulated"


def test_items_that_fly_move_with_a_loop(polling, build_sim, run_sim, library, alike, root):
    """Their instants are stamps, and their ring begins anew when it is empty."""
    polling()
    machine = MACHINE.replace("ASKS", "false").replace("clock_crossing { stages = 2; }", "delivery { delay = 53 ns; slots = 9; }")
    simulator = build_sim(machine, "-I", library, "-I", root / "tests/engine/modules")
    options = ("--cycles", 200_000, "--set", "alarm[1].interval=50000")
    alike(simulator, *options, "--print", "bridge[0].*", hash_every=30_011)
    assert cycles_in_loops(simulator, run_sim, *options) > 100_000
    run_sim(simulator, *options, "--check-replay")


def test_a_module_that_reads_the_time_is_in_no_loop(polling, run_sim):
    assert cycles_in_loops(polling("true"), run_sim, "--cycles", 100_000) == 0


@pytest.mark.usefixtures("polling")
def test_the_schedule_says_whether_loops_are_left_out(lss, tmp_path, library):
    (tmp_path / "machine.lss").write_text(MACHINE.replace("ASKS", "false"))
    assert "whole loops are left out" in lss("schedule", "-I", library, "machine.lss").out
    (tmp_path / "one.lss").write_text("instance s : source;  instance k : sink;  s.out -> k.in : uint32;\n")
    assert "whole loops are not left out: nothing in it is replayed" in lss("schedule", "one.lss").out


QUIET = ("--set", "alarm[0].interval=700000", "--set", "alarm[1].interval=700000")


def test_a_loop_does_not_end_where_a_run_looks_at_the_clock_on_the_wall(polling, run_sim):
    """That is every 65,536 cycles: one stretch to the alarms, and one behind them."""
    found = LOOPS.search(run_sim(polling(), "--cycles", 400_000, *QUIET, "--check-replay").err)
    assert int(found[2]) <= 4


@seldom
def test_a_run_without_progress_ends_where_it_would_without_loops(polling, run_sim):
    simulator = polling()
    runs = [
        run_sim(simulator, "--cycles", 400_000, *QUIET, "--watchdog", "1 ms", *options, ok=False)
        for options in ((), ("--no-replay",))
    ]
    assert "no progress for 1 ms" in runs[0].err
    assert runs[0].stats["run"]["cycles"] == runs[1].stats["run"]["cycles"]
    assert runs[0].stats["statistics"] == runs[1].stats["statistics"]
