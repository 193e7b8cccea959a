"""A port, a parameter, a local, an argument or an instance called like a type, a bundle or a module."""

import pytest

from tests.sample import sampled, seldom

TYPES = """
struct status { uint32 value; bool good; };
enum mode { slow, fast };
bundle link { forward status : status; backward mode : mode; };
"""
GAUGE = """
import names;
module gauge {
  parameter mode = mode.fast : mode;
  parameter other = mode.slow : mode;
  userpoint pick(status status, status second, mode mode) -> status = <<<
    status.value += second.value + (mode == mode_fast ? 100 : 0);
    return status;
  >>>;
  inport in : uint32;
  outport status : status;
  outport link : link;
  event status(status status, status before);
  local status chosen;
  always in.ack, link.mode.ack;
  state { status last; status status; mode seen[3]; }
  handler look : -> chosen;
  handler show : chosen -> status.data, link.status.data;
  phase_end;
}
"""
GAUGE_C = """
static bool is_good(const status *it, mode m) { return it->good && m == mode_fast; }
handler(look) { set(chosen, call(pick, self->last, self->status, param(mode))); }
handler(show) {
  status found = get(chosen);
  send(status, found);
  send(link_status, found);
}
phase_end() {
  if (transferred(link_mode)) self->seen[0] = data(link_mode);
  event(status, self->last, self->status);
  self->status = self->last;
  self->last = (status){data(in), is_good(&self->last, self->seen[0]) || param(other) == mode_slow};
}
"""
ANSWERER = """
import names;
module answerer {
  inport link : link;
  always link.status.ack;
  phase_start -> link.mode.data;
}
"""
MACHINE = """
import names;
instance source : source;
instance gauge : gauge;
instance pipe : pipe;
instance more : pipe { depth = 2; };
instance sink : sink;
instance answerer : answerer;
source.out -> gauge.in;
gauge.status -> pipe.in : status;
pipe.out -> more.in;
more.out -> sink.in;
gauge.link -> answerer.link;
collector sum on "gauge" event status {
  declare <<< uint64_t total; >>>
  record <<< self->total += status.value + before.value; >>>
  report <<< report_value("total", self->total, "units", "all of ", path); >>>
}
"""


def test_what_is_called_like_its_type_works(build_sim, run_sim, tmp_path):
    (tmp_path / "names.lss").write_text(TYPES)
    (tmp_path / "gauge.lss").write_text(GAUGE)
    (tmp_path / "gauge.c").write_text(GAUGE_C)
    (tmp_path / "answerer.lss").write_text(ANSWERER)
    (tmp_path / "answerer.c").write_text("phase_start() { send(link_mode, mode_fast); }")
    for options in ([], ["--debug"]):
        record = tmp_path / "items.txt"
        run_sim(build_sim(MACHINE, *options), "--cycles", "9", "--set", f"sink.record={record}")
        # Cycle n shows what came in cycles n - 1 and n - 2, and 100.
        numbers = [int(line.split()[1].strip("{},").split("=")[-1], 0) for line in record.read_text().splitlines()]
        assert numbers[:4] == [100, 100, 101, 103], record.read_text()


TAKEN = ("index", "remove", "div", "select", "exit", "random", "printf")
FREE = [
    "c",
    "ctx",
    "data",
    "flags",
    "i",
    "id",
    "item",
    "k",
    "lane",
    "lock",
    "m",
    "n",
    "next",
    "node",
    "o",
    "out",
    "p",
    "present",
    "queue",
    "r",
    "read",
    "s",
    "self_t",
    "signal",
    "t",
    "time",
    "value",
    "w",
    "write",
    "x",
]


@seldom
@pytest.mark.parametrize("options", sampled([[], ["--debug", "--collect", "connections"]], 2, 1), ids=["release", "debug"])
def test_names_of_types_mean_nothing_else_in_c(options: list[str], build_sim, run_sim, lss, tmp_path):
    """Those that do are refused in one line; all others build, short and common ones too."""
    for name in TAKEN:
        (tmp_path / "m.lss").write_text(
            f"struct {name} {{ uint64 a; }}\ninstance a : source;\ninstance c : sink;\na.out -> c.in : {name};\n"
        )
        done = lss("check", "--netlist-only", "m.lss", ok=False)
        assert f"error[reserved-name]: a type cannot be called `{name}`: that word has a meaning in C" in done.err
    machine = "".join(f"struct {n} {{ uint64 a; uint64 b; uint64 last; }}\ninstance a{k} : source;\ninstance b{k} : pipe;\ninstance c{k} : sink;\n"
                      f"a{k}.out -> b{k}.in : {n};\nb{k}.out -> c{k}.in;\n" for k, n in enumerate(FREE))  # fmt: skip
    run_sim(build_sim(machine, *options), "--quiet", "--cycles", "9")
