"""Clusters of instances that sleep while they would only repeat themselves: release builds let them, debug builds do not."""

import re

import pytest

from tests.sample import sampled, seldom


def test_sleeping_clusters_change_nothing(build_sim, run_sim, tmp_path):
    machine = """
        module lane {
          runtime parameter script = "" : string;
          instance s : source { interval = 40; };  instance q : queue { depth = 3; };
          instance p[3] : pipe;  instance k : sink;
          s.script = script;
          s.out -> q.in : uint32;  q.out -> p[0].in;  p[0].out -> p[1].in;  p[1].out -> p[2].in;  p[2].out -> k.in;
        }
        module taker { instance p[3] : pipe;  instance k : sink;  inport in : uint32;
          in -> p[0].in;  p[0].out -> p[1].in;  p[1].out -> p[2].in;  p[2].out -> k.in; }
        instance busy : source;  instance last : sink;  instance mid : pipe;
        busy.out -> mid.in : uint32;  mid.out -> last.in;
        instance lanes[3] : lane;
        instance feed[2] : source { interval = 25; };
        instance takers[2] : taker;
        for (i = 0; i < 2; i = i + 1) { feed[i].out -> takers[i].in : uint32; }
        """
    script = tmp_path / "script.txt"
    script.write_text("".join(f"{cycle} {cycle}\n" for cycle in (3, 4, 90, 91, 92, 300, 777, 778)))
    results = []
    for options in ([], ["--debug"], ["--single-function"]):
        simulator = build_sim(machine, *options)
        done = run_sim(
            simulator,
            *("--cycles", "1000", "--set", f"lanes[1].script={script}", "--set", "lanes[2].k.ready=0.2"),
            *("--set", "takers[1].k.ready=0.5", "--set", "feed[1].offer=0.3", "--seed", "5"),
        )
        results.append(done.stats["statistics"])
    assert results[0] == results[1] == results[2]
    assert done.value("lanes[1].k", "items") == 8


PULSE = """struct pair { uint32 first; uint32 second; }
module pulse {
  outport out : 'a;
  state { instant due; }
  init;
  always out.enable;
  phase_start -> out.data;
  phase_end;
  next_event;
}
module pass { inport in : 'a;  outport out : 'a;  always in.ack, out.enable;  handler go : in.data -> out.data; }
module taker { inport in : 'a;  state { uint32 beats; }  stat uint64 taken "items";  always in.ack;  phase_end; }
"""
PULSE_C = """init() { set_until(due, 500); }
phase_start() { send_if(out, until(due) == 0, (typeof_port(out)){0}); }
phase_end() {
  if (until(due) == 0) set_until(due, 500);
}
next_event() { return unchanged(after(until(due))); }
"""
BEDS = """import pulse;
module waiter { inport in : uint32;  outport out : uint32;  instance p : pipe;  in -> p.in;  p.out -> out; }
module bed {
  outport out : TYPE;
  instance w[4] : waiter;  instance s : source { count = 1; };  instance k : sink;  instance b : pulse;  instance m : pass;
  s.out -> w[0].in;  w[0].out -> w[1].in;  w[1].out -> w[2].in;  w[2].out -> w[3].in;  w[3].out -> k.in;
  b.out -> m.in : TYPE;  m.out -> out;
}
instance bed[2] : bed;  instance t[2] : taker;
for (i = 0; i < 2; i = i + 1) { bed[i].out -> t[i].in; }
"""


@pytest.mark.parametrize("kind", ["uint32", "pair"])
@pytest.mark.parametrize("passed", [True, False])
def test_an_item_that_was_always_accepted_is_gone(build_sim, run_sim, tmp_path, kind: str, passed: bool) -> None:
    """It leaves a cluster that then has nothing to do, and is received once by who is stepped in every cycle."""
    (tmp_path / "pulse.lss").write_text(PULSE)
    (tmp_path / "pulse.c").write_text(PULSE_C)
    (tmp_path / "pass.c").write_text("handler(go) { send_if(out, some(in), data(in)); }\n")
    (tmp_path / "taker.c").write_text("phase_end() {\n  self->beats++;\n  count(taken, transferred(in));\n}\n")
    machine = BEDS.replace("TYPE", kind)
    if not passed:
        machine = machine.replace(f"b.out -> m.in : {kind};  m.out -> out;", "b.out -> out;").replace("instance m : pass;", "")
    for options in ([], ["--debug"], ["--single-function"]):
        done = run_sim(build_sim(machine, "-I", tmp_path, *options), "--cycles", 10_000)
        assert [done.value(f"t[{i}]", "taken") for i in range(2)] == [19, 19]
    done = run_sim(build_sim(machine, "-I", tmp_path), "--cycles", 10_000, "--check-replay")
    assert int(re.search(r"(\d+) cycles of clusters that slept", done.err).group(1)) > 15_000


DRUM = """module drum { outport out : uint32;  state { uint32 beats; }  always out.enable;  phase_start -> out.data;  phase_end; }
module napper {
  inport in : uint32;
  state { uint32 large[600]; }
  stat uint64 taken "items";
  phase_start -> in.ack;
  phase_end;
  next_event;
}
"""
NAPPER_C = """phase_start() { accept(in, true); }
phase_end() {
  if (transferred(in)) count(taken), self->large[data(in) % 600]++;
}
next_event() { return unchanged(never()); }
"""
NAPPERS = """import drum;
module waiter { inport in : uint32;  outport out : uint32;  instance p : pipe;  in -> p.in;  p.out -> out; }
module bed {
  inport in : uint32;
  instance w[4] : waiter;  instance s : source { count = 1; };  instance k : sink;  instance n : napper;
  s.out -> w[0].in;  w[0].out -> w[1].in;  w[1].out -> w[2].in;  w[2].out -> w[3].in;  w[3].out -> k.in;
  in -> n.in;
}
instance bed[2] : bed;  instance d[2] : drum;
for (i = 0; i < 2; i = i + 1) { d[i].out -> bed[i].in; }
"""


def test_the_same_item_wakes_again(build_sim, run_sim, tmp_path) -> None:
    """Four equal numbers in a row come to a cluster that has nothing else to do: none is taken for the one before."""
    (tmp_path / "drum.lss").write_text(DRUM)
    (tmp_path / "drum.c").write_text("phase_start() { send_if(out, self->beats % 500 > 495, 7); }\nphase_end() { self->beats++; }\n")
    (tmp_path / "napper.c").write_text(NAPPER_C)
    for options in ([], ["--debug"], ["--single-function"]):
        done = run_sim(build_sim(NAPPERS, "-I", tmp_path, *options), "--cycles", 10_000)
        assert [done.value(f"bed[{i}].n", "taken") for i in range(2)] == [80, 80]


# Takes an item, and the next one AFTER cycles later at the earliest.
TASTER = """module NAME { inport in : uint32;  state { instant ready; uint32 large[600]; }  stat uint64 taken "items";
  phase_start -> in.ack;  phase_end;  next_event; }
"""
TASTER_C = """phase_start() { accept(in, until(ready) == 0); }
phase_end() {
  if (!transferred(in)) return;
  count(taken);
  self->large[data(in) % 600]++;
  set_until(ready, AFTER);
}
next_event() { return unchanged(after(until(ready))); }
"""


def test_a_level_need_not_be_accepted_again(build_sim, run_sim, tmp_path) -> None:
    """Who shows it goes on as before, and who took it refuses it in the cycle after."""
    drum = "module drum { outport out : uint32;  state { uint32 beats; }  always out.enable;  handler show : -> out.data;  phase_end; }\n"
    (tmp_path / "drum.lss").write_text(drum + TASTER.replace("NAME", "napper"))
    (tmp_path / "drum.c").write_text("handler(show) { send(out, self->beats / 700); }\nphase_end() { self->beats++; }\n")
    (tmp_path / "napper.c").write_text(TASTER_C.replace("AFTER", "90"))
    for options in ([], ["--debug"], ["--single-function"]):
        done = run_sim(build_sim(NAPPERS, "-I", tmp_path, *options), "--cycles", 10_000)
        assert [done.value(f"bed[{i}].n", "taken") for i in range(2)] == [112, 112]  # one of 90, from the first cycle on
    run_sim(build_sim(NAPPERS, "-I", tmp_path), "--cycles", 10_000, "--check-replay")


def test_an_item_that_was_refused_is_gone(build_sim, run_sim, tmp_path) -> None:
    """It is sent in one cycle, passed on to somebody outside, and not accepted there: nor in any later cycle."""
    (tmp_path / "pulse.lss").write_text(PULSE.partition("module taker")[0] + TASTER.replace("NAME", "taker"))
    (tmp_path / "pulse.c").write_text(PULSE_C)
    (tmp_path / "pass.c").write_text("handler(go) { send_if(out, some(in), data(in)); }\n")
    (tmp_path / "taker.c").write_text(TASTER_C.replace("AFTER", "700"))
    machine = BEDS.replace("TYPE", "uint32").replace("m.out -> out;", "instance f : tee;  m.out -> f.in;  f.out -> out;")
    for options in ([], ["--debug"], ["--single-function"]):
        done = run_sim(build_sim(machine, "-I", tmp_path, *options), "--cycles", 10_000)
        assert [done.value(f"t[{i}]", "taken") for i in range(2)] == [10, 10]  # at 500, 1500 and so on
    run_sim(build_sim(machine, "-I", tmp_path), "--cycles", 10_000, "--check-replay")


@pytest.mark.soak  # test_sleeping_clusters_change_nothing does it with less
def test_processors_that_wait_sleep_and_change_nothing(build_sim, run_sim):
    machine = """
        import memory_types;
        module waiter {                        // with state that is small, state that is large, and delays
          outport memory : mem(32);
          instance s : memory_source { width = 32; };  instance w : cache { fill_width = 32; line = 32; sets = 64; ways = 2; };
          s.memory -> w.in;  w.memory -> memory;
          s.interval = 30;
          instance t : memory_source;  instance d : memory_delay { latency = 9; };  instance l : memory_state { size = 4 KiB; };
          t.memory -> d.in;  d.out -> l.port;
          t.interval = 11;
          t.offer = 0.9;
          t.generate = <<<
            return (typeof_port(memory_request)){.op = random & 1 ? mem_op_write : mem_op_read, .size = 8, .address = (uint32_t)(random >> 8 & 0xff8), .data = random};
          >>>;
        }
        instance both : memory_arbiter { width = 32; };  instance slow : memory_delay { width = 32; latency = 37; };
        instance bytes : memory_state { width = 32; size = 64 KiB; };
        instance w[2] : waiter;
        for (i = 0; i < 2; i = i + 1) { w[i].memory -> both.in; }
        both.out -> slow.in;  slow.out -> bytes.port;
        """
    runs = [
        run_sim(build_sim(machine, *options), "--cycles", "20000", "--seed", "3").stats["statistics"]
        for options in ([], ["--debug"], ["--single-function"])
    ]
    assert runs[0] == runs[1] == runs[2]


@seldom
@pytest.mark.parametrize("latency", sampled([1, 6], 2, 1))
def test_a_reply_of_a_sleeping_register_bank_lasts_one_cycle(build_sim, run_sim, latency):
    machine = """
        import memory_types;  import register_types;
        module device {
          inport in : mem(32);
          instance bank : register_bank { width = 32; size = 64 B; latency = LATENCY; registers = [{ name = "a", offset = 0 }, { name = "b", offset = 4 }]; };
          in -> bank.in["requester"];
          instance none : source { count = 0; };  instance p[6] : pipe;  instance k : sink;   // enough for code of its own
          none.out -> p[0].in : uint32;
          for (i = 1; i < 6; i = i + 1) { p[i - 1].out -> p[i].in; }
          p[5].out -> k.in;
        }
        instance d[2] : device;
        instance s[2] : memory_source { width = 32; interval = 20; };
        s[*].generate = <<< return (typeof_port(memory_request)){.op = index & 1 ? mem_op_read : mem_op_write, .size = 4, .address = 4, .data = index / 4}; >>>;
        for (i = 0; i < 2; i = i + 1) { s[i].memory -> d[i].in; }
        """
    machine = machine.replace("LATENCY", str(latency))
    runs = [run_sim(build_sim(machine, *options), "--cycles", "2000").stats["statistics"] for options in ([], ["--debug"])]
    assert runs[0] == runs[1]
    assert sum(entry["value"] for entry in runs[0] if entry["name"] == "replies") > 100


# Waits to be accepted, and does nothing of itself while it is refused.
BLOCKED_SENDER = """module blocked_sender {
  outport out : uint32;
  state { uint32 sent; bool refused; }
  phase_start -> out.data;
  phase_end;
  next_event;
}
"""
BLOCKED_SENDER_C = """phase_start() { send(out, self->sent); }
phase_end() { self->refused = !transferred(out); self->sent += transferred(out); }
next_event() { return self->refused ? never() : cycle(); }
"""
CROSSINGS = {
    "clock_crossing": "instance p : blocked_sender on A;  instance x : clock_crossing { depth = 1; stages = STAGES; };\n"
    "p.out -> x.in;  x.out -> k.in;\n",
    "level_synchronizer": "instance p : source on A { interval = 41; };  instance x : level_synchronizer;  instance c : change_detector on B;\n"
    "p.out -> x.in : uint32;  x.out -> c.in;  c.out -> k.in;\n",
}


@seldom
@pytest.mark.parametrize("crossing", sampled(CROSSINGS, 2))
def test_no_change_behind_a_crossing_is_jumped_over(build_sim, run_sim, tmp_path, crossing):
    """Connections that are counted keep every cycle."""
    (tmp_path / "blocked_sender.lss").write_text(BLOCKED_SENDER)
    (tmp_path / "blocked_sender.c").write_text(BLOCKED_SENDER_C)
    for stages, (a, b) in enumerate([("fast", "slow"), ("slow", "fast"), ("fast", "fast")], start=1):
        machine = "clock fast = 300 MHz;  clock slow = 7 MHz;  instance k : sink on B { record = \"items.txt\"; };\n"
        machine += CROSSINGS[crossing]
        for word, meaning in {" A": f" {a}", " B": f" {b}", "STAGES": str(stages)}.items():
            machine = machine.replace(word, meaning)
        taken = []
        for options in ([], ["--collect", "connections"]):
            run_sim(build_sim(machine, "-I", tmp_path, *options), "--time", "50 us")
            taken.append((tmp_path / "items.txt").read_text())
        assert taken[0] == taken[1] and taken[0].count("\n") > 5, (a, b)


BLINKER = """module blinker { outport out : bool;  state { bool lit; instant turn; }  phase_start -> out.data;  phase_end;  next_event; }
module watcher { inport in : bool;  always in.ack;  state { bool was; }  stat uint64 turns "turns";  phase_end;  next_event; }
"""
BLINKER_C = """phase_start() { send(out, self->lit); }
phase_end() {
  if (until(turn)) return;
  self->lit = !self->lit;
  set_until(turn, 50);
}
next_event() { return after(until(turn)); }
"""
WATCHER_C = """phase_end() {
  if (data(in) != self->was) count(turns);
  self->was = data(in);
}
next_event() { return never(); }
"""


@seldom
def test_a_number_that_is_always_shown_keeps_nobody_awake(build_sim, run_sim, tmp_path):
    """What is shown to a group in every cycle wakes it only when it is another number."""
    for module, code in zip(BLINKER.splitlines(), (BLINKER_C, WATCHER_C), strict=True):
        name = module.split()[1]
        (tmp_path / f"{name}.lss").write_text(module)
        (tmp_path / f"{name}.c").write_text(code)
    machine = """
        module lane {
          inport in : bool;
          instance w : watcher;  in -> w.in;
          instance none : source { count = 0; };  instance p[6] : pipe;  instance k : sink;   // enough for code of its own
          none.out -> p[0].in : uint32;
          for (i = 1; i < 6; i = i + 1) { p[i - 1].out -> p[i].in; }
          p[5].out -> k.in;
        }
        instance b : blinker;  instance lanes[2] : lane;  instance t : tee;
        b.out -> t.in;
        for (i = 0; i < 2; i = i + 1) { t.out -> lanes[i].in; }
        instance busy : source;  instance last : sink;
        busy.out -> last.in : uint32;
        """
    simulator = build_sim(machine, "-I", tmp_path)
    checked = run_sim(simulator, "--cycles", "10000", "--check-replay")
    slept = int(re.search(r"checked as well: (\d+) cycles of clusters that slept", checked.err)[1])
    assert slept > 15_000
    assert checked.value("lanes[1].w", "turns") == 200
    assert checked.stats["statistics"] == run_sim(simulator, "--cycles", "10000").stats["statistics"]
    debug = run_sim(build_sim(machine, "-I", tmp_path, "--debug"), "--cycles", "10000")
    assert checked.stats["statistics"] == debug.stats["statistics"]
