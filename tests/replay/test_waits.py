"""Cycles in which everything waits are left out, and nobody can tell.

A gate keeps an item of a pipe waiting for `delay` cycles, so that the machine is not at rest, and says in different ways when
it acts next.  Where waits are left out, a thousand million cycles of them take no time; where an author was careless in
a way that does no harm while everything is stepped, they are stepped, and `lss schedule` says why.
"""

import pytest

from tests.sample import sampled

GATE = """module gate {
  parameter delay = 10 : int;
  inport in : uint64;
  outport out : uint64;
  state { uint64 spent; instant opens; bool waits; }
  stat uint64 waited "cycles";
  phase_start -> in.ack;
  handler pass : in.data -> out.data;
  handler commit : in.enable -> out.enable;
  phase_end;
  next_event;
}
"""
PASSES = "handler(pass) { send_if(out, OPEN && some(in), data(in)); }\nhandler(commit) { enable(out, enabled(in)); }\n"
# The gate opens `delay` cycles after it closed.
BY_INSTANT = """phase_start() { accept(in, within(opens, 0)); }
phase_end() { if (transferred(in)) set_until(opens, param(delay)); }
""" + PASSES.replace("OPEN", "within(opens, 0)")
# It counts the cycles in its state.
BY_COUNT = """phase_start() { accept(in, self->spent >= param(delay)); }
phase_end() { self->spent = transferred(in) ? 0 : self->spent + some(in); }
""" + PASSES.replace("OPEN", "self->spent >= param(delay)")
# What waits is a statistic.
COUNTED = BY_INSTANT.replace("if (transferred(in))", "count(waited, some(in) && !transferred(in));\n  if (transferred(in))")
UNTIL = "next_event() { return OPENS; }\n"
TRUE = UNTIL.replace("OPENS", "until(opens) ? unchanged(after(until(opens))) : cycle()")
GATES = {
    "true": BY_INSTANT + TRUE,
    "never and timed": BY_INSTANT + UNTIL.replace("OPENS", "never()"),
    "never and counts": BY_COUNT + UNTIL.replace("OPENS", "never()"),
    "silent": BY_INSTANT,
}
MACHINE = """clock main = 1 MHz;
instance s : source { count = 5; generate = <<< return index; >>>; };
instance p : pipe;
instance g : gate { delay = DELAY; };
instance k : sink { record = "items.txt"; };
s.out -> p.in;
p.out -> g.in;
g.out -> k.in;
"""
SLOW = "clock slow = 1 Hz;\ninstance idle : source { count = 1; };\ninstance end : sink;\nidle.out -> end.in : uint32;\n"
LEFT_OUT = "cycles in which everything waits are left out"
WHY = {
    "never and timed": "  g : gate asks for the time, and its next_event does not say `unchanged`",
    "silent": "  g : gate has no next_event",
}


@pytest.fixture
def machine(tmp_path):
    def write(code: str, delay: int, more: str = "") -> str:
        (tmp_path / "gate.c").write_text(code)
        declared = GATE if "next_event" in code else GATE.replace("  next_event;\n", "")
        (tmp_path / "gate.lss").write_text(declared)
        return MACHINE.replace("DELAY", str(delay)) + more

    return write


@pytest.mark.parametrize("name", sampled(GATES, 4, 1))
def test_nothing_changes(machine, build_sim, run_sim, tmp_path, name: str) -> None:
    seen = []
    for options in ([], ["--debug"]):
        sim = build_sim(machine(GATES[name], 50), "-I", tmp_path, *options)
        done = run_sim(sim, "--cycles", 1000)
        seen.append((done.stats, (tmp_path / "items.txt").read_text()))
    assert seen[0][0]["run"] == seen[1][0]["run"] and seen[0][0]["statistics"] == seen[1][0]["statistics"]
    assert seen[0][1] == seen[1][1] and seen[0][1].splitlines()[-1].startswith("2")


@pytest.mark.parametrize("more", sampled(["", SLOW], 2), ids=["one clock", "a clock of 1 Hz"])
def test_waits_take_no_time(machine, build_sim, run_sim, tmp_path, more: str) -> None:
    text = machine(GATES["true"], 1_000_000_000, more).replace("count = 5", "count = 2")  # then nothing is refused at the source
    done = run_sim(build_sim(text, "-I", tmp_path), "--time", "1100 s", timeout=60)
    assert (tmp_path / "items.txt").read_text() == "1 0\n1000000001 1\n"
    assert done.stats["run"]["cycles"]["main"] == 1_100_000_000


@pytest.mark.parametrize("name", GATES)
def test_the_schedule_says_why(machine, lss, tmp_path, name: str) -> None:
    (tmp_path / "m.lss").write_text(machine(GATES[name], 10))
    said = lss("schedule", tmp_path / "m.lss", "-I", tmp_path).out.splitlines()
    start = next(i for i, line in enumerate(said) if line.startswith("cycles in which everything waits"))
    assert said[start] == (LEFT_OUT if name not in WHY else "cycles in which everything waits are stepped")
    assert name not in WHY or said[start + 1] == WHY[name]


def test_who_says_it_wrongly_is_named(machine, build_sim, run_sim, tmp_path) -> None:
    sim = build_sim(machine(COUNTED + TRUE, 10), "-I", tmp_path, "--debug")
    done = run_sim(sim, "--cycles", 100, "--check-idle", ok=None)
    assert "error: g: next_event said cycle" in done.err and "and waited changed in cycle" in done.err
