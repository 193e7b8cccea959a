"""Collectors from the command line: a file of them is woven into a machine that knows nothing of it."""

from pathlib import Path

import pytest

ARBITER = Path(__file__).resolve().parents[2] / "examples" / "arbiter" / "arbiter.lss"
STALLS = """
collector stalls on "arbiter.in" event stalled {
  declare <<< uint64_t n; >>>
  record <<< self->n++; >>>
  report <<< report_value("stalls", self->n, "cycles", "waited at ", path); >>>
}
"""


def test_collectors_of_a_file(lss, run_sim, tmp_path):
    (tmp_path / "stalls.lss").write_text(STALLS)
    lss("build", ARBITER, "-o", "collecting", "--collect", "stalls.lss")
    lss("build", ARBITER, "-o", "plain")
    collecting = run_sim(tmp_path / "collecting", "--cycles", "1000", "--quiet")
    plain = run_sim(tmp_path / "plain", "--cycles", "1000", "--quiet")
    stalled = [e for e in collecting.stats["statistics"] if e["name"] == "stalls"]
    assert [(e["path"], e["unit"], e["description"]) for e in stalled] == [
        (f"arbiter.in[{i}]", "cycles", f"waited at arbiter.in[{i}]") for i in range(4)
    ]
    # Four requesters offer in every cycle, one of them goes on.
    assert sum(e["value"] for e in stalled) == 3000
    others = [e for e in collecting.stats["statistics"] if e["name"] != "stalls"]
    assert others == plain.stats["statistics"], "collecting must not change what happens"


SEVERAL = """
module pair {
  outport out : uint32;  instance s : source { count = 5; };  instance p : pipe;  s.out -> p.in;  p.out -> out;
  shared collector all on "**" event transferred { declare <<< uint64_t n; >>> record <<< self->n++; >>> report <<< report_value("all", self->n, "items", "in ", path); >>> }
  collector first on "p.in" event transferred { declare <<< uint64_t n; >>> record <<< self->n++; >>> report <<< report_value("first", self->n, "items", "in ", path); >>> }
}
instance a[2] : pair;  instance k[2] : sink;
for (i = 0; i < 2; i = i + 1) { a[i].out -> k[i].in; }
shared collector together on "a[0].p.in" event transferred {
  include <<< #include <math.h> >>>
  declare <<< uint64_t in, out, waits; double root; >>>
  record <<< self->in++; self->root = sqrt((double)self->in); >>>
  record on "k[0]" event taken <<< self->out += 10; if (self->in < self->out / 10) report_error("more out than in, at %s", path); >>>
  record on "a[0].p.in" event idle <<< self->waits++; >>>
  report <<<
    report_value("in", self->in, "items", "");  report_value("out", self->out, "items", "");
    report_value("waits", self->waits, "cycles", "");  report_value("root", self->root, "", "");
  >>>
}
"""


@pytest.mark.parametrize("options", [(), ("--debug",)])
def test_one_collector_records_events_of_several_kinds(build_sim, run_sim, options):
    """Also within modules, each of which has its own."""
    simulator = build_sim(SEVERAL, *options)
    done = run_sim(simulator, "--cycles", "12", "--quiet")
    values = {name: done.value("", name) for name in ("in", "out", "waits")}
    assert values == {"in": 5, "out": 50, "waits": 7} and abs(done.value("", "root") - 5**0.5) < 1e-9
    assert [done.value(f"a[{i}]", "all") for i in range(2)] == [10, 10]
    assert [done.value(f"a[{i}].p.in", "first") for i in range(2)] == [5, 5]


# Parts that are compiled alone, whose modules know no type of memories.
APART = """
import memory_types;
module numbers { instance p[4] : pipe; instance s[4] : source; instance k[4] : sink; for (i = 0; i < 4; i = i + 1) { s[i].out -> p[i].in : uint32; p[i].out -> k[i].in; } }
instance a[2] : numbers;
instance m : memory_source { width = 32; };
instance r : memory_state { width = 32; size = 4 KiB; alias = true; };
m.memory -> r.port;
shared collector reads on "m.memory.request" event transferred {
  include <<< static inline bool is_read(mem_op op) { return op == mem_op_read; } >>>
  declare <<< uint64_t reads; mem_op of; >>>
  record <<< self->reads += is_read(self->of); >>>
  report <<< report_value("reads", self->reads, "requests", ""); >>>
}
"""


def test_what_a_collector_includes_needs_types_only_where_it_records(build_sim, run_sim):
    assert run_sim(build_sim(APART), "--cycles", "100", "--quiet").value("", "reads") > 0


def test_a_collector_ends_the_run(build_sim, run_sim):
    simulator = build_sim(SEVERAL.replace("self->out += 10", "self->out += 20"))
    done = run_sim(simulator, "--cycles", "12", "--quiet", ok=False)
    assert done.status == 1 and "k[0]: more out than in, at k[0]" in done.err


def test_wrong_collectors(lss, tmp_path):
    (tmp_path / "more.lss").write_text("instance x : pipe;\n")
    refused = lss("build", ARBITER, "-o", "sim", "--collect", "more.lss", ok=False)
    assert refused.status == 1 and "more.lss:1:10: error[misplaced]: a file of --collect holds collectors and imports only" in refused.err
    missing = lss("build", ARBITER, "-o", "sim", "--collect", "nothing.lss", ok=False)
    assert missing.status == 1 and "cannot read nothing.lss: there is no such file" in missing.err
    unknown = lss("build", ARBITER, "-o", "sim", "--collect", "conections", ok=False)
    assert unknown.status == 2 and unknown.err.count("\n") == 1 and '"connections" or a file' in unknown.err
    assert not (tmp_path / "sim").exists()


PROBE = "module probe { event seen(uint32 n);  event other(uint32 n);  stat uint64 looks[2] \"cycles\";  phase_end;  next_event; }\n"
PROBE_C = """
phase_end() {
  event(seen, 1);
  event(other, 1);
  if (observed(seen)) count(looks[0]);
  if (observed(other)) count(looks[1]);
}
next_event() { return observed(seen) || observed(other) ? cycle() : never(); }
_Static_assert(observed(seen) == 0 || observed(seen) == 1, "a constant");
"""


@pytest.mark.parametrize("options", [(), ("--debug",)])
def test_a_module_knows_what_is_collected(options: tuple[str, ...], lss, run_sim, tmp_path: Path) -> None:
    """By event, and without a collector the cycles that only the event needs are left out."""
    (tmp_path / "probe.lss").write_text(PROBE)
    (tmp_path / "probe.c").write_text(PROBE_C)
    (tmp_path / "m.lss").write_text("instance p : probe;\n")
    (tmp_path / "c.lss").write_text('collector seen on "p" event seen { declare <<< uint64_t n; >>> record <<< self->n += n; >>> report <<< report_value("n", self->n, "", ""); >>> }\n')
    lss("build", "m.lss", "-o", "plain", *options)
    lss("build", "m.lss", "-o", "collecting", "--collect", "c.lss", *options)
    plain, collecting = (run_sim(tmp_path / name, "--cycles", "500", "--quiet") for name in ("plain", "collecting"))
    assert [run.value("p", "looks[0]") for run in (plain, collecting)] == [0, 500]
    assert [run.value("p", "looks[1]") for run in (plain, collecting)] == [0, 0]
    assert collecting.value("p", "n") == 500
    assert plain.stats["run"]["skipped_cycles"] > 400 and collecting.stats["run"]["skipped_cycles"] == 0
