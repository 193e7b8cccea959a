"""--check-idle: a module that does something before its next_event said it would is named, and where it did."""

import re

import pytest

# Counts down from `delay`, shows in `out` that it is there, and says in `named` ways when that is.
TIMER = """module timer {
  parameter delay = 10 : int;
  outport out : bool;
  state { uint64 ready; uint32 left; bool level; }
  stat uint64 waited "cycles";
  init;
  phase_start -> out.data;
  phase_end;
  next_event;
}
"""
TIMER_C = """init() { self->ready = param(delay); self->left = 3; }
phase_start() { send_if(out, cycle() >= self->ready && self->left, true); }
phase_end() {
  COUNT
  if (!transferred(out)) return;
  self->ready = cycle() + param(delay);
  self->left--;
}
SKIP
next_event() { return NAMED; }
"""
RIGHT = "!self->left ? never() : self->ready > cycle() ? self->ready : cycle()"
COUNTS = {"": "", "every cycle": "count(waited);"}


@pytest.fixture
def timer(build_sim, tmp_path):
    def build(named: str = RIGHT, count: str = "", skip: str = "", *options: str):
        (tmp_path / "timer.lss").write_text(TIMER)
        text = TIMER_C.replace("NAMED", named).replace("COUNT", count).replace("SKIP", skip)
        (tmp_path / "timer.c").write_text(text)
        machine = "instance t : timer;  instance k : sink;  t.out -> k.in;\n"
        return build_sim(machine, "-I", tmp_path, *options)

    return build


def told(done) -> dict[str, tuple[int, int]]:
    """Per instance, the cycles in which it was idle, and those of them that it had named."""
    lines = re.findall(r"^(\S+) : \w+ on \w+: idle in (\d+) cycles, in (\d+) of them needlessly stepped$", done.err, re.MULTILINE)
    return {path: (int(idle), int(needless)) for path, idle, needless in lines}


def test_what_is_kept_is_counted(timer, run_sim):
    done = run_sim(timer(), "--cycles", 100, "--check-idle")  # a release build runs its variant with checks
    assert told(done) == {"t": (96, 0), "k": (93, 0)}
    assert done.stats["run"]["skipped_cycles"] == 0


def test_cycles_named_for_nothing_are_counted(timer, run_sim):
    done = run_sim(timer("self->left ? cycle() : never()", "", "", "--debug"), "--cycles", 100, "--check-idle")
    assert told(done)["t"] == (96, 27)


WRONG = {
    "never": ("never()", "", "", "next_event said never(), and t.out.data changed in cycle 10 whatever its inputs are"),
    "one late": (
        "!self->left ? never() : self->ready >= cycle() ? self->ready + 1 : cycle()", "", "",
        "next_event said cycle 11, and t.out.data changed in cycle 10 whatever its inputs are",
    ),
    "said once": (
        "cycle() == 3 ? 12 : cycle()", "", "", "next_event said cycle 12, and t.out.data changed in cycle 10 whatever its inputs are",
    ),
    "uncounted": (RIGHT, "count(waited);", "", "next_event said cycle 10, and waited changed in cycle 1 although no input did"),
    "counted twice": (RIGHT, "count(waited);", "skip(n) { count(waited, 2 * n); }", "and waited changed in cycle 1 although no input did"),
    "state": (
        "never()", "self->level = !self->level;", "", "next_event said never(), and level changed in cycle 1 although no input did",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", WRONG)
def test_what_is_not_kept_ends_the_run(timer, run_sim, how):
    named, count, skip, expected = WRONG[how]
    done = run_sim(timer(named, count, skip, "--debug"), "--cycles", 100, "--check-idle", ok=False)
    assert f"error: t: {expected}" in done.err if how != "counted twice" else expected in done.err


@pytest.mark.parametrize("how", ["never", "one late", "uncounted", "state"])
def test_some_instances_are_checked_where_time_is_skipped(timer, run_sim, how):
    """In a release build, which goes on skipping what concerns no other instance: a rough place is enough."""
    named, count, skip, _ = WRONG[how]
    simulator = timer(named, count, skip, "-D", "t.delay=1000")
    assert run_sim(simulator, "--cycles", 5000).value("k", "items") == (0 if named == "never()" else 3)  # without a message
    done = run_sim(simulator, "--cycles", 5000, "--check-idle=t", ok=False)
    assert re.search(r"error: t: \w+ changed in cycles from here on in which nothing was to happen, as next_event says", done.err)


def test_checked_instances_change_no_result(timer, run_sim):
    simulator = timer(RIGHT, "count(waited);", "skip(n) { count(waited, n); }")
    plain, done = run_sim(simulator, "--cycles", 10_000), run_sim(simulator, "--cycles", 10_000, "--check-idle=t,k")
    assert done.stats["statistics"] == plain.stats["statistics"] and done.stats["run"] == plain.stats["run"]
    skipped = re.search(r"^t,k: checked over (\d+) cycles that would be skipped, and in 0 cycles of clusters that slept$", done.err, re.MULTILINE)
    assert skipped and int(skipped[1]) > 9_900


@pytest.mark.parametrize(("options", "said"), [
    (["--check-idle=q"], '--check-idle: no instance matches "q"'),
    (["--check-idle=t,"], '--check-idle: no instance matches ""'),
    (["--check-idle="], "--check-idle= lacks its pattern of instances"),
    (["--check-idle=t", "--check-replay"], "--check-idle=t compares less than --check-replay, which goes alone"),
    (["--check-idle=t", "--check-idle"], "--check-idle=t compares less than --check-idle, which goes alone"),
])  # fmt: skip
def test_what_cannot_be_checked(timer, run_sim, options, said):
    done = run_sim(timer(), "--cycles", 100, *options, ok=False)
    assert done.status == 2 and said in done.err and not done.out


def test_inputs_excuse_no_output_that_they_do_not_decide(timer, run_sim):
    done = run_sim(timer("never()", "", "", "--debug"), "--cycles", 100, "--check-idle", "--set", "k.pattern=00000000001", ok=False)
    assert "error: t: next_event said never(), and t.out.data changed in cycle 10 whatever its inputs are" in done.err


def test_cycles_that_are_accounted_for_are_no_change(timer, run_sim):
    simulator = timer(RIGHT, "count(waited);", "skip(n) { count(waited, n); }", "--debug")
    assert told(run_sim(simulator, "--cycles", 100, "--check-idle"))["t"] == (96, 0)


# Sends the same number in three cycles in a row, to one that counts it.
BURST = """module burst { outport out : uint32;  state { instant due; }  init;  always out.enable;  phase_start -> out.data;  phase_end;  next_event; }
module taker { inport in : uint32;  state { bool took; }  stat uint64 taken "items";  always in.ack;  phase_end;  next_event; }
instance b : burst;  instance t : taker;  b.out -> t.in;
"""
BURST_C = """init() { set_until(due, 20); }
phase_start() { send_if(out, within(due, 2), 7); }
phase_end() {
  if (until(due) == 0) set_until(due, 20);
}
next_event() { return unchanged(after(until(due) >= 2 ? until(due) - 2 : until(due))); }
"""
TAKER_C = """phase_end() {
  self->took = transferred(in);
  count(taken, transferred(in));
}
next_event() { return NAMED; }
"""


@pytest.fixture
def burst(build_sim, tmp_path):
    def build(named: str, *options: str):
        machine = tmp_path / "burst.lss"
        machine.write_text(BURST)
        (tmp_path / "burst.c").write_text(BURST_C)
        (tmp_path / "taker.c").write_text(TAKER_C.replace("NAMED", named))
        return build_sim(machine, *options)

    return build


def test_the_same_item_again_is_counted(burst, run_sim):
    for options in ([], ["--debug"]):
        assert run_sim(burst("self->took ? cycle() : never()", *options), "--cycles", 1000).value("t", "taken") == 149  # 49 bursts, and two items of the last
    run_sim(burst("self->took ? cycle() : never()"), "--cycles", 1000, "--check-idle")


def test_the_same_item_again_is_no_excuse(burst, run_sim):
    """A port that always accepts does not keep the simulator from leaving out the next cycle: the module has to name it."""
    done = run_sim(burst("never()"), "--cycles", 1000, "--check-idle", ok=False)
    assert "error: t: next_event said never(), and taken changed in cycle 19 although no input did" in done.err


CROSSED = """clock fast = 300 MHz;  clock slow = 7 MHz;
instance s : memory_source on fast { interval = 400; };  instance x : memory_crossing;  instance m : memory_state on slow { size = 4 KiB; };
s.generate = <<< return (typeof_port(memory_request)){.op = mem_op_read, .size = 8, .address = (uint32_t)(8 * (index % 64))}; >>>;
s.memory -> x.in;  x.out -> m.port;
"""


def test_each_side_of_a_crossing_speaks_for_itself(build_sim, run_sim):
    done = run_sim(build_sim("import memory_types;\n" + CROSSED, "--debug"), "--time", "20 us", "--check-idle")
    sides = re.findall(r"^x : memory_crossing on (\w+): idle in (\d+) cycles", done.err, re.MULTILINE)
    assert {clock for clock, _ in sides} == {"fast", "slow"} and all(int(idle) > 10 for _, idle in sides)
