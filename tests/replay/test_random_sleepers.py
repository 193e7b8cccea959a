"""Random machines of modules that mostly wait: what a run leaves out is what the same run with every cycle does.

Half of the modules are of the library.  The others send what is there for some cycles and always accepted, or show a
level, which is where leaving cycles out could lose an item or repeat one.
"""

import random
import re

import pytest

PARTS = {
    # The same item in each of `length` cycles, every `every` cycles.
    "pulse": """module pulse { parameter every = 100 : int;  parameter length = 1 : int;  parameter value = 0 : int;
  outport out : uint32;  state { instant due; uint32 sent; bool lost; }  init;  always out.enable;  phase_start -> out.data;  phase_end;  next_event; }
""",
    # A number, shown in every cycle, which counts up every `every` cycles.
    "level": """module level { parameter every = 100 : int;  outport out : uint32;  state { instant due; uint32 value; }
  init;  always out.enable;  handler show : -> out.data;  phase_end;  next_event; }
""",
    # Passes on in the same cycle, what it always accepts.
    "pass": """module pass { inport in : uint32;  outport out : uint32;  always in.ack;  handler go : in.data -> out.data;
  handler commit : in.enable -> out.enable; }
""",
    # Passes on what may be refused, apart from odd numbers, which it drops.
    "filter": """module filter { inport in : uint32;  outport out : uint32;  handler go : in.data -> out.data;
  handler accept : in.data, out.ack -> in.ack;  handler commit : in.data, in.enable -> out.enable; }
""",
    # Counts what it always accepts, and adds it up.
    "taker": """module taker { inport in : uint32;  state { bool took; }  stat uint64 taken "items";  stat uint64 sum "items";
  always in.ack;  phase_end;  next_event; }
""",
    # The same for what it accepts in one of `every` cycles after an item.
    "napper": """module napper { parameter every = 3 : int;  inport in : uint32;  state { uint32 large[600]; instant ready; bool took; }
  stat uint64 taken "items";  phase_start -> in.ack;  phase_end;  next_event; }
""",
}  # fmt: skip
CODE = {
    "pulse": """init() { set_until(due, param(every)); }
phase_start() { send_if(out, within(due, param(length) - 1), (uint32_t)param(value) ? (uint32_t)param(value) : self->sent); }
phase_end() {
  self->lost = until(due) == 0 && !transferred(out);
  if (until(due) == 0) set_until(due, param(every)), self->sent++;
}
next_event() {
  if (self->lost) return cycle();
  const uint64_t first = (uint64_t)param(length) - 1;
  return unchanged(after(until(due) >= first ? until(due) - first : until(due)));
}
""",
    "level": """init() { set_until(due, param(every)); }
handler(show) { send(out, self->value); }
phase_end() {
  if (until(due) == 0) set_until(due, param(every)), self->value++;
}
next_event() { return until(due) + 1 >= param(every) ? cycle() : after(until(due)); }
""",
    "pass": "handler(go) { send_if(out, some(in), data(in)); }\nhandler(commit) { enable(out, enabled(in)); }\n",
    "filter": """handler(go) { send_if(out, some(in) && !(data(in) & 1), data(in)); }
handler(accept) { accept(in, (data(in) & 1) || acked(out)); }
handler(commit) { enable(out, enabled(in)); }
""",
    "taker": """phase_end() {
  self->took = transferred(in);
  if (transferred(in)) count(taken), count(sum, data(in));
}
next_event() { return self->took ? cycle() : never(); }
""",
    "napper": """phase_start() { accept(in, !(self->took && !within(ready, 0))); }
phase_end() {
  if (self->took && within(ready, 0)) self->took = false;
  if (!transferred(in)) return;
  count(taken);
  self->large[data(in) % 600]++;
  self->took = true;
  set_until(ready, param(every));
}
next_event() { return unchanged(self->took ? after(until(ready)) : never()); }
""",
}
EVERY = (7, 40, 150, 151, 500)


def begun(r: random.Random) -> str:
    every = r.choice(EVERY)
    return r.choice(
        [f"pulse {{ every = {every}; length = {r.choice((1, 1, 2, 5))}; value = {r.choice((0, 0, 7))}; }}", f"level {{ every = {every}; }}",
         f"source {{ interval = {every}; }}"]
    )  # fmt: skip


PASSED = ("pass", "pass", "pipe", "pipe", "filter", "queue { depth = 2; }", "queue { depth = 1; }", "change_detector",
          "function_unit { apply = <<< return in.v[0] & ~1u; >>>; }")  # fmt: skip
ENDED = ("taker", "taker", "napper { every = 3; }", "napper { every = 90; }", "sink")


def bed(name: str, r: random.Random) -> str:
    """A module with an input and an output: chains of parts, which branch and join; one goes on to the output."""
    lines = [f"module {name} {{ inport in : uint32;  outport out : uint32;"]
    ends = ["in"]
    for number in range(r.randint(2, 3)):
        lines.append(f"  instance b{number} : {begun(r)};")
        ends.append(f"b{number}.out")
    for number in range(r.randint(2, 7)):
        part, end = r.choice((*PASSED, "tee", "mux")), ends.pop(r.randrange(len(ends)))
        lines.append(f"  instance p{number} : {part};  {end} -> p{number}.in : uint32;")
        if part == "mux":
            lines.append(f"  {ends.pop(r.randrange(len(ends)))} -> p{number}.in;")
        ends.append(f"p{number}.out")
        ends += ends[-1:] * (part == "tee")
        while len(ends) < 2:
            lines.append(f"  instance b{number + 10} : {begun(r)};")
            ends.append(f"b{number + 10}.out")
    r.shuffle(ends)
    lines.append(f"  {ends[0]} -> out : uint32;")
    lines += [f"  instance e{number} : {r.choice(ENDED)};  {end} -> e{number}.in : uint32;" for number, end in enumerate(ends[1:])]
    # So that it has code of its own.
    lines.append("  instance s : source { count = 1; };  instance w[6] : pipe;  instance k : sink;  s.out -> w[0].in : uint32;")
    lines.append("  for (i = 1; i < 6; i = i + 1) { w[i - 1].out -> w[i].in; }  w[5].out -> k.in;\n}")
    return "\n".join(lines)


def placed(name: str, part: str, clock: str) -> str:
    module, _, settings = part.partition(" ")
    return f"instance {name} : {module}{clock} {settings};\n"


def machine(seed: int) -> str:
    """Two beds twice, in two rows; one machine in three has a clock for each of the beds."""
    r = random.Random(seed)
    text = "".join(f"import {name};\n" for name in PARTS) + bed("first", r) + "\n" + bed("second", r) + "\n"
    two_clocks = r.random() < 0.3
    if two_clocks:
        text += f"clock one = 100 MHz;  clock two = {r.choice((30, 70, 170))} MHz;\n"
    on = {"a": " on one", "b": " on two"} if two_clocks else {"a": "", "b": ""}
    text += placed("a[2]", "first", on["a"]) + placed("b[2]", "second", on["b"])
    for row, (before, after) in enumerate((("a", "b"), ("b", "a"))):
        text += placed(f"from{row}", begun(r), on[before]) + placed(f"to{row}", r.choice(ENDED), on[after])
        text += f"from{row}.out -> {before}[{row}].in : uint32;  {after}[{row}].out -> to{row}.in : uint32;\n"
        if two_clocks:
            text += placed(f"x{row}", r.choice(("clock_crossing", "level_synchronizer")), "")
            text += f"{before}[{row}].out -> x{row}.in : uint32;  x{row}.out -> {after}[{row}].in;\n"
        else:
            text += f"{before}[{row}].out -> {after}[{row}].in;\n"
    return text


def check(seed: int, build_sim, run_sim, tmp_path) -> int:
    """Returns the cycles in which clusters slept."""
    for name, text in PARTS.items():
        (tmp_path / f"{name}.lss").write_text(text)
        (tmp_path / f"{name}.c").write_text(CODE[name])
    text, seen = machine(seed), []
    hashed = ["--cycles", 5000, "--state-hashes", tmp_path / "hashes"]
    release, debug, single = (build_sim(text, "-I", tmp_path, "-O1", *how) for how in ([], ["--debug"], ["--single-function"]))
    for simulator, options in ((debug, ["--check-idle"]), (debug, []), (release, []), (single, []), (release, ["--check-replay"])):
        done = run_sim(simulator, *hashed, *options)
        seen.append((done.stats["statistics"], (tmp_path / "hashes").read_text().splitlines()[-1]))
        assert seen[-1] == seen[0], f"with {options}, seed {seed}:\n{text}"
    return int(re.search(r"(\d+) cycles of clusters that slept", done.err).group(1))


def test_what_is_left_out_is_what_would_have_been_done(build_sim, run_sim, tmp_path) -> None:
    assert sum(check(seed, build_sim, run_sim, tmp_path) for seed in (3039, 3088)) > 0


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_what_is_left_out_of_many(build_sim, run_sim, tmp_path, part: int) -> None:
    assert sum(check(seed, build_sim, run_sim, tmp_path) for seed in range(100 + 30 * part, 130 + 30 * part)) > 10_000
