"""What every simulator does: the same result from every build, statistics, errors, ends, reports."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.sample import sampled, seldom

MODULES = Path(__file__).parent / "modules"

BUSY = """
instance p[3] : source;
instance m : mux;
instance c[4] : pipe;
instance k : sink;
for (i = 0; i < 3; i = i + 1) { p[i].out -> m.in : uint32; }
m.out -> c[0].in;
for (i = 0; i < 3; i = i + 1) { c[i].out -> c[i + 1].in; }
c[3].out -> k.in;
"""
BUSY_OPTIONS = ["--cycles", "3000", "--seed", "7", "--set", "k.ready=0.6"]
for lane in range(3):
    BUSY_OPTIONS += ["--set", f"p[{lane}].offer=0.5", "--set", f"p[{lane}].cancel=0.1"]

TICKER = """
runtime parameter ready = 1.0 : float;
instance t : ticker;
instance k : sink;
k.ready = ready;
t.out -> k.in;
"""


@pytest.fixture
def build(build_sim):
    """build_sim with the modules of these tests."""
    return lambda machine, *options: build_sim(machine, "-I", MODULES, *options)


@pytest.fixture
def ticker(build, tmp_path):
    return build(TICKER)


def without_build(stats: dict) -> dict:
    """The results: everything but the description of the build and of the options."""
    return {key: value for key, value in stats.items() if key != "manifest"}


@pytest.mark.parametrize("options", sampled([["-O0"], ["-O3"], ["--debug"], ["--sanitize"], ["--collect", "connections"]]))
def test_every_build_gives_the_same_results(build, run_sim, tmp_path, options):
    results = []
    for arguments in ([], options):
        simulator = build(BUSY, *arguments)
        record = tmp_path / f"items{len(results)}.txt"
        done = run_sim(simulator, *BUSY_OPTIONS, "--set", f"k.record={record}")
        results.append((done.stats["statistics"], record.read_text()))
    assert results[0] == results[1]
    assert len(results[0][1].splitlines()) > 500


def test_two_runs_write_the_same_bytes(build, run_sim, tmp_path):
    simulator = build(BUSY)
    texts = []
    for run in range(2):
        run_sim(simulator, *BUSY_OPTIONS)
        texts.append((tmp_path / f"stats{run + 1}.json").read_bytes())
    assert texts[0] == texts[1]


def test_the_seed_matters(build, run_sim):
    simulator = build(BUSY)
    options = [word if word != "7" else "8" for word in BUSY_OPTIONS]
    assert run_sim(simulator, *BUSY_OPTIONS).stats["statistics"] != run_sim(simulator, *options).stats["statistics"]


def test_statistics_say_what_they_are(ticker, run_sim):
    done = run_sim(ticker, "--cycles", "100")
    entry = next(e for e in done.stats["statistics"] if (e["path"], e["name"]) == ("t", "items"))
    assert entry["value"] == 100
    assert entry["unit"] == "items"
    assert entry["description"].startswith("Items taken")


def test_connections_are_counted_on_request(build, run_sim):
    simulator = build(TICKER, "--collect", "connections")
    done = run_sim(simulator, "--cycles", "1000", "--ready", "0.5")
    (connection,) = done.stats["connections"]
    assert connection["transferred"] == done.value("t", "items")
    assert connection["transferred"] + connection["stalled"] == 1000
    assert connection["cancelled"] == connection["idle"] == 0


def test_state_is_printed_by_name(ticker, run_sim):
    done = run_sim(ticker, "--cycles", "10", "--print", "t.pc", "--print", "t.registers")
    assert "t.pc = 0x28\n" in done.out
    assert "t.registers = 7 7 7 7\n" in done.out


def test_until_a_condition_holds(ticker, run_sim):
    done = run_sim(ticker, "--until", "t.items>=37", "--cycles", "1000")
    assert done.value("t", "cycles") == 37


def test_a_module_ends_the_run(ticker, run_sim):
    done = run_sim(ticker, "--set", "t.stop_at=12", "--cycles", "1000")
    assert done.value("t", "cycles") == 13
    assert "reached cycle 12" in done.err


def test_an_error_names_the_instance_and_shows_its_core(ticker, run_sim):
    done = run_sim(ticker, "--set", "t.fail_at=5", "--cycles", "1000", ok=False)
    assert done.status == 1
    assert "error: t: no memory answers at 0xdead (at 5 ns, cycle 5)" in done.err
    assert "pc = 0x00000018" in done.err
    assert "00000007 00000007 00000007 00000007" in done.err
    assert done.stats["manifest"]["error"] == "t: no memory answers at 0xdead"


def test_a_stuck_run_says_who_waits(ticker, run_sim):
    done = run_sim(ticker, "--ready", "0", "--watchdog", "200 ns", "--cycles", "100000", ok=False)
    assert done.status == 1
    assert "no progress for 0.0002 ms" in done.err
    assert "t.out offers" in done.err and "waits for k.in to accept" in done.err
    assert "pc = 0x" in done.err
    assert "cycles again with checks, to see what waits on what" in done.err
    assert done.stats["run"]["ended"].startswith("error: no progress") and not done.stats["manifest"]["debug"]
    assert sum(line.startswith("t ") for line in done.out.splitlines()) == 1


def test_a_run_that_its_bound_ends_says_that_it_stood_still(ticker, run_sim):
    """More than half of the time without progress, which the watchdog did not see since it waits longer."""
    still = ["--set", "k.pattern=" + "1" * 20 + "0" * 4000, "--cycles", "3000"]
    done = run_sim(ticker, "--watchdog", "1 ms", *still)
    assert re.search(r"note: no progress since [0-9.e-]+ ms, for 9\d % of the time \(--watchdog \"[0-9.e-]+ ms\" shows what waits\)\n", done.err), done.err
    for more in (["--quiet"], ["--watchdog", "off"]):
        assert "note" not in run_sim(ticker, "--watchdog", "1 ms", *still, *more).err
    assert "note" not in run_sim(ticker, "--watchdog", "1 ms", "--cycles", "10000").err


@seldom
def test_a_long_stuck_run_is_not_repeated_unasked(ticker, run_sim):
    done = run_sim(ticker, "--ready", "0", "--watchdog", "11 ms", "--cycles", "100000000", ok=False)
    assert done.status == 1 and "no progress for 11 ms" in done.err
    assert "only a build with --debug reports who waits for whom; this run is not repeated" in done.err and "pc = 0x" in done.err
    assert "waits for k.in" not in done.err and done.stats["manifest"]["error"].startswith("no progress for 11 ms")


def test_the_line_trace_shows_what_ports_carry(ticker, run_sim):
    done = run_sim(ticker, "--cycles", "3", "--trace", "t")
    lines = [line.split("|") for line in done.err.splitlines() if "|" in line]
    assert [line[0].strip() for line in lines] == ["cycle", "0", "1", "2"]
    assert [[column.strip() for column in line[1:]] for line in lines] == [["t"], ["out>0"], ["out>1"], ["out>2"]]


def test_full_disk_is_one_line(ticker, run_sim, tmp_path):
    done = run_sim(ticker, "--cycles", "10", "--stats", "/dev/full", ok=False)
    assert done.status != 0
    assert "/dev/full" in done.err and "No space left" in done.err
    done = run_sim(ticker, "--cycles", "10", "--set", "k.record=/dev/full", ok=False)
    assert "/dev/full" in done.err and done.status != 0


def test_a_failed_run_leaves_whole_files(ticker, run_sim, tmp_path):
    run_sim(ticker, "--set", f"k.record={tmp_path}/r.txt", "--set", "t.fail_at=5", "--cycles", "100", ok=False)
    assert [path.name for path in tmp_path.glob("*r.txt*")] == ["r.txt"]
    assert [line.split()[0] for line in (tmp_path / "r.txt").read_text().splitlines()] == ["0", "1", "2", "3", "4"]


def test_the_run_directory_holds_a_manifest(build, run_sim, tmp_path):
    """Its inputs are what the run reads: files of streams and those that only a parameter names, but none that it writes."""
    (tmp_path / "loader.lss").write_text('module loader { runtime init parameter program = "" : string; inport in : uint32; always in.ack; init; }')
    (tmp_path / "loader.c").write_text("init() { if (!*param(program)) sim_error(\"no program\"); }\n")
    machine = "instance p : source;  instance l : loader;  instance both : tee;  instance r : sink;\np.out -> both.in : uint32;  both.out -> r.in;  both.out -> l.in;\n"
    simulator = build(TICKER + machine)
    texts = {"script": "0 5\n3 6\n", "program": "text\n", "record": "old\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = ["--set", "p.script=script", "--set", "l.program=program", "--set", "r.record=record"]
    run_sim(simulator, "--cycles", "10", "--run-dir", tmp_path / "run", "--seed", "3", "--ready", "0.25", *files)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert (manifest["seed"], manifest["debug"]) == (3, False) and Path(manifest["machine"]).name == "machine1.lss"
    assert float(manifest["parameters"]["ready"]) == 0.25 and manifest["parameters"]["p.script"] == "script"
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    assert manifest["inputs"] == [{"file": name, "sha256": sums[name]} for name in ("script", "program")]
    sources = {Path(one["file"]): one["sha256"] for one in manifest["sources"]}
    assert {"ticker.lss", "ticker.c", "source.c", "sink.lss"} <= {path.name for path in sources}
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == sum for path, sum in sources.items())


def test_help_lists_the_parameters_of_the_machine(ticker, run_sim):
    done = run_sim(ticker, "--help", ok=None)
    assert "ready : float" in done.out and "t.fail_at : int" in done.out


def test_an_unknown_parameter_is_named(ticker, run_sim):
    done = run_sim(ticker, "--set", "t.fail_ta=5", ok=False)
    assert "fail_ta" in done.err and "t.fail_at" in done.err


@seldom
def test_clocks_are_exact(build, run_sim):
    simulator = build(
        """
        clock a = 88 MHz;
        clock b = 100 MHz;
        clock c = 33 MHz;
        instance x : ticker on a;  instance kx : sink on a;  x.out -> kx.in;
        instance y : ticker on b;  instance ky : sink on b;  y.out -> ky.in;
        instance z : ticker on c;  instance kz : sink on c;  z.out -> kz.in;
        """
    )
    done = run_sim(simulator, "--time", "10 us")
    assert [done.value(path, "cycles") for path in "xyz"] == [880, 1000, 330]
    done = run_sim(simulator, "--cycles", "1000001")
    assert [done.value(path, "cycles") for path in "xyz"] == [880001, 1000001, 330001]
    done = run_sim(simulator, "--cycles", "c:33")
    assert done.value("z", "cycles") == 33


def test_collectors_see_events_and_connections(build, run_sim):
    simulator = build(
        TICKER
        + """
        instance t2 : ticker;  instance k2 : sink;  t2.out -> k2.in;
        collector sum on "t*" event taken {
          declare <<< uint64_t n, total; >>>
          init    <<< self->n = 0; self->total = 1000; >>>
          record  <<< self->n++; self->total += value; >>>
          report  <<< report_value("total", self->total, "items", "values taken by ", path); >>>
        }
        collector most on "t" event taken {
          declare <<< uint64_t n; >>>
          init    <<< self->n = 500; >>>
          record  <<< self->n++; >>>
          report  <<< report_value("counted", self->n, "items", "and 500"); >>>
        }
        shared collector all on "t*" event taken {
          declare <<< uint64_t n; >>>
          record  <<< self->n++; >>>
          report  <<< report_value("all", self->n, "items", "taken by anybody"); >>>
        }
        collector stalls on "k.in" event stalled {
          declare <<< uint64_t n; >>>
          record  <<< self->n++; >>>
          report  <<< report_value("stalls", self->n, "cycles", "of ", path); >>>
        }
        """
    )
    done = run_sim(simulator, "--cycles", "100", "--ready", "0.5")
    items = done.value("t", "items")
    assert done.value("t2", "total") == 1000 + sum(range(100))
    assert done.value("t", "counted") == 500 + items
    assert done.value("k.in", "stalls") == 100 - items
    assert done.value("", "all") == items + 100


def test_partial_handlers_reach_their_fixed_point(build, run_sim):
    ring = """
    instance s[2] : source;
    instance x[2] : selector;
    instance k[2] : sink;
    for (i = 0; i < 2; i = i + 1) {
      s[i].out -> x[i].a;
      x[i].out -> x[1 - i].b;
      x[i].out -> k[i].in;
    }
    """
    for options in ([], ["--debug"]):
        simulator = build(ring, *options)
        done = run_sim(simulator, "--cycles", "20", "--set", "x[1].first=false")
        assert done.value("k[0]", "items") == done.value("k[1]", "items") == 20
        done = run_sim(simulator, "--cycles", "20", "--set", "x[0].first=false", "--set", "x[1].first=false", ok=False)
        assert "x[0]: out[0].data is still unknown at the end of the cycle" in done.err


def test_a_loop_of_partial_handlers_that_oscillates_is_named(build, run_sim, tmp_path):
    declared = """module {name} {{ inport in : uint32; outport out : uint32; always in.ack, out.enable;
      conserves in, out, altered; partial handler pass : in.data -> out.data; }}"""
    drives = {"copies": "is_known(data, in) ? data(in) : 0", "inverts": "is_known(data, in) ? !data(in) : 1"}
    for name, value in drives.items():
        (tmp_path / f"{name}.lss").write_text(declared.format(name=name))
        (tmp_path / f"{name}.c").write_text(f"handler(pass) {{ send(out, {value}); }}")
    ring = "import copies; import inverts; instance a : copies; instance b : inverts; a.out -> b.in; b.out -> a.in;"
    for options in ([], ["--debug"]):
        done = run_sim(build(ring, *options), "--cycles", "20", ok=False)
        assert re.search(r"error: [ab]: out(\.data)? \(lane 0\) oscillates: it changed after it was known", done.err), done.err


@pytest.mark.optimised
def test_identical_clusters_share_their_code(lss, tmp_path):
    (tmp_path / "m.lss").write_text(
        """
        module four {
          instance s : source;  instance p[3] : pipe;  instance k : sink;
          s.out -> p[0].in : uint32;  p[0].out -> p[1].in;  p[1].out -> p[2].in;  p[2].out -> k.in;
        }
        instance f[8] : four;
        """
    )
    lss("build", "m.lss", "-o", "m", "--keep", "kept")
    kept = tmp_path / "kept"
    assert sorted(path.name for path in kept.glob("four_*.c")) == ["four_0.c", "four_0_once.c"]
    # The unit of tables says where the code comes from, and which instances the short names of the shared unit are.
    tables = (kept / "tables.c").read_text()
    assert re.match(r"// Generated by lss [\d.]+ from \"m\.lss\" with \"\S*lss build \S*m\.lss\"", tables)
    names = dict(re.findall(r"^//     (i\d S\d)((?: f\[\d\]\.\w+(?:\[\d\])?)+)$", tables, re.MULTILINE))
    where = {tuple(copies.split()) for copies in names.values()}
    assert where == {tuple(f"f[{i}].{leaf}" for i in range(8)) for leaf in ("s", "p[0]", "p[1]", "p[2]", "k")}
    unit = (kept / "four_0.c").read_text()
    for short in names:
        instance, code = short.split()
        assert re.search(rf"^// {code} is the code of(?: i\d)* {instance}\b", unit, re.MULTILINE)
    assert "f[" not in unit


@pytest.mark.parametrize(("options", "files"), [([], ["root_0.c", "tables.c"]), (["-O0"], ["root_0.c"])])
@pytest.mark.optimised
def test_a_small_machine_is_few_units(options: list[str], files: list[str], lss, run_sim, tmp_path: Path) -> None:
    """Whatever its modules call what is theirs."""
    (tmp_path / "m.lss").write_text('module m { stat uint64 n "cycles"; init; phase_end; }\ninstance a : m;\n')
    (tmp_path / "m.c").write_text("""#include "m.h"
#define views 1
static const uint64_t clocks[] = {CLOCKS};
enum { instances = 2, parameters };
init() { report(n, instances + parameters); }
phase_end() { count(n, clocks[views]); }
""")
    (tmp_path / "m.h").write_text("#define CLOCKS 3, 7\n#define sources 5\n#define names(x) x\n")
    lss("build", *options, "m.lss", "-o", "m", "--keep", "kept")
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == files
    assert run_sim(tmp_path / "m", "--cycles", "10").value("a", "n") == 5 + 10 * 7


@seldom
def test_lines_of_c_are_there_for_a_debugger(lss, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text("instance s : source; instance k : sink; s.out -> k.in : uint32;")
    for flags in ("-O0", "-O0 -gdwarf-4"):
        monkeypatch.setenv("LSS_CFLAGS", flags)
        lss("build", "m.lss", "-o", "m")
        assert (b".debug_line\0" in (tmp_path / "m").read_bytes()) == ("-g" in flags)


def test_the_schedule_names_lanes_by_their_keys(lss, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text("""
instance a : source;
instance m : mux;
instance k : sink;
a.out -> m.in["left"] : uint32;
m.out -> k.in;
""")
    assert " after m.in[left].ack, by " in lss("schedule", "m.lss").out


def test_clusters_run_early_only_what_others_wait_for(lss, tmp_path):
    (tmp_path / "m.lss").write_text(
        """
        module half {
          outport out : uint32;
          instance s : source;  instance p : pipe;  instance t : source;  instance q : pipe;  instance k : sink;
          s.out -> p.in : uint32;  p.out -> out;  t.out -> q.in : uint32;  q.out -> k.in;
        }
        instance h[2] : half;  instance m : mux;  instance k : sink;
        for (i = 0; i < 2; i = i + 1) { h[i].out -> m.in; }
        m.out -> k.in;
        """
    )
    lines = lss("schedule", "m.lss").out.splitlines()
    starts = [number for number, line in enumerate(lines) if "segment" in line and "clock" not in line]
    owners = [lines[start].split(", ")[1] for start in starts]
    assert owners == ["the top", "h[0]", "h[1]", "the top", "h[0]", "h[1]"]
    first = lines[starts[1] + 1 : starts[2]]
    assert [line.split()[1:3] for line in first] == [["h[0].p", "phase_start"]]


def test_idle_time_is_skipped_without_changing_results(build, run_sim, tmp_path):
    (tmp_path / "script.txt").write_text("5 1\n2000000 2\n3000000000 3\n")
    simulator = build(
        "instance s : source; instance p : pipe; instance k : sink; s.out -> p.in : uint32; p.out -> k.in;"
    )
    done = run_sim(
        simulator, "--set", f"s.script={tmp_path}/script.txt", "--set", "k.record=r.txt", "--cycles", "4000000000"
    )
    assert done.value("k", "items") == 3
    assert [line.split()[0] for line in (tmp_path / "r.txt").read_text().splitlines()] == ["6", "2000001", "3000000001"]


def test_idle_time_is_skipped_across_clocks(build, run_sim, tmp_path):
    (tmp_path / "script.txt").write_text("5 1\n2000000 2\n1000000000 3\n")
    simulator = build(
        "clock fast = 3 MHz; clock slow = 2 MHz; instance s : source on fast; instance c : clock_crossing;"
        "instance k : sink on slow; s.out -> c.in : uint32; c.out -> k.in;"
    )
    done = run_sim(
        simulator, "--set", f"s.script={tmp_path}/script.txt", "--set", "k.record=r.txt", "--cycles", "fast:2000000000"
    )
    assert done.stats["run"]["skipped_cycles"] > 1_999_000_000
    assert done.value("k", "items") == 3
    # An item offered in cycle n of the fast clock is in the crossing at n/3 us; the next later edge of the slow clock sees it.
    assert [line.split()[0] for line in (tmp_path / "r.txt").read_text().splitlines()] == ["4", "1333334", "666666667"]


@seldom
def test_flags_for_clang_count_for_the_cache(lss, tmp_path):
    machine = tmp_path / "m.lss"
    machine.write_text(TICKER)
    sizes = []
    for flags in ("", "-gdwarf-4", ""):
        lss("build", machine, "-I", MODULES, "-o", "m", env={"LSS_CFLAGS": flags})
        sizes.append((tmp_path / "m").stat().st_size)
    assert sizes[0] == sizes[2] < sizes[1]
    done = lss("build", machine, "-I", MODULES, "-o", "n", env={"LSS_CFLAGS": "--nonsense"}, ok=False)
    assert done.status == 1 and 'does not compile, with LSS_CFLAGS="--nonsense":' in done.err and "--nonsense'" in done.err
    assert not (tmp_path / "n").exists()


def test_run_builds_once(lss, tmp_path):
    machine = tmp_path / "m.lss"
    machine.write_text(TICKER)
    environment = {"LSS_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        done = lss("run", machine, "-I", MODULES, "--", "--cycles", "10", env=environment)
        assert "items" in done.out
    shutil.rmtree(tmp_path / "cache")


@pytest.mark.parametrize(
    ("declared", "code", "expected"),
    [
        (
            "handler h : in.data -> in.ack;",
            "handler(h) { accept(in, enabled(in)); }",
            "m.c:1:25: error[undeclared-read]: handler h reads in.enable",
        ),
        (
            "handler h : in.data -> in.ack;",
            "handler(h) { accept(in, true); send(out, 1); }",
            "error[undeclared-write]: handler h drives out.data",
        ),
        (
            "handler h : in.data -> in.ack;",
            "handler(h) { self->n++; accept(in, true); }",
            "m.c:1:21: error[c-code]: state changes in phase_end only",
        ),
        (
            "handler h : in.data -> in.ack;",
            "handler(h) { accept(in, data(inn) == 1); }",
            "error[unknown-name]: this module has no port called inn",
        ),
        (
            "handler h : in.data -> in.ack;",
            "handler(h) { accept(in, param(depth) == 1); }",
            "error[unknown-name]: this module has no parameter called depth",
        ),
        (
            "handler h : in.data -> in.ack;",
            "handler(h) { accept(in, true); unchanged(); }",
            "m.c:1:32: error[c-code]: unchanged() is for next_event",
        ),
        ("handler h : in.data -> in.ack;", "handler(h) { accept(in, 1) }", "m.c:1:27: error[c-code]: expected ';'"),
        (
            "handler h : in.data -> in.ack;",
            "handler(g) { accept(in, 1); }",
            "error[missing-function]: m declares handler h",
        ),
        (
            "handler h : in.data -> in.ack; runtime parameter k = 1 : int; handler reset(k);",
            "handler(h) { accept(in, 1); }",
            "error[missing-function]: m declares handler reset(k), but",
        ),
        (
            "handler h : in.data -> in.ack; runtime parameter k = 1 : int; init;",
            "handler(h) { accept(in, 1); }\nstatic void begin(self_t *self) { self->n = param(k); }\ninit() { begin(self); }",
            "error[reset-parameter]: only init reads `k`, so that it would change nothing when it is set later",
        ),
        (
            "handler h : in.data -> in.ack; init;",
            "handler(h) { accept(in, 1); }\ninit() { self->n = some(in); }",
            "m.c:2:20: error[c-code]: signals exist in",
        ),
    ],
)
def test_errors_in_behaviour_are_reported_at_their_place(lss, tmp_path, declared, code, expected):
    (tmp_path / "m.lss").write_text(
        f"module m {{ inport in : uint32; outport out : uint32; state {{ uint32 n; }} phase_start -> out.data; {declared} phase_end; }}\n"
    )
    (tmp_path / "m.c").write_text(f"{code}\nphase_start() {{ send_nothing(out); }}\nphase_end() {{}}\n")
    (tmp_path / "top.lss").write_text(
        "instance x : m;  instance s : source;  instance k : sink;  s.out -> x.in;  x.out -> k.in;\n"
    )
    done = lss("build", "top.lss", "-o", "sim", ok=False)
    assert done.status == 1
    assert expected in done.err
    assert not (tmp_path / "sim").exists()


def test_init_and_finish_count_the_cycles_of_their_own_clock(build, run_sim, tmp_path):
    (tmp_path / "m.lss").write_text(
        "module m { inport in : uint32; state { uint64 before; uint64 after; uint64 period; } always in.ack; init; finish; phase_end; }\n"
    )
    (tmp_path / "m.c").write_text(
        "init() { self->before = cycle(); }\nphase_end() {}\n"
        "finish() { self->after = cycle(); self->period = clock_period() * 1000000000 / ticks_per_second(); }\n"
    )
    machine = "clock slow = 10 MHz;  clock fast = 50 MHz;\n"
    machine += "instance a : m on slow;  instance b : m on fast;  instance p : source on slow;  instance q : source on fast;\n"
    simulator = build(machine + "p.out -> a.in;  q.out -> b.in;")
    printed = [word for name in "ab" for field in ("before", "after", "period") for word in ("--print", f"{name}.{field}")]
    done = run_sim(simulator, "--cycles", "fast:500", *printed)
    assert done.out.startswith(
        "a.before = 0\na.after = 100\na.period = 100\nb.before = 0\nb.after = 500\nb.period = 20\n"
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("handler(h) { }", "in.ack (lane 0) was not driven"),
        ("handler(h) { accept(in, true); accept(in, false); }", "in.ack (lane 0) is driven a second time"),
        ("handler(h) { accept(in, 3, true); }", "in.ack has lanes 0 to 0, there is no lane 3"),
        ("handler(h) { accept(in, item(in) < 99); }", "item(in) is asked for where nothing is sent (lane 0): ask some(in)"),
    ],
)
def test_debug_builds_stop_on_broken_handlers(build, run_sim, tmp_path, code, expected):
    (tmp_path / "m.lss").write_text("module m { inport in : uint32; handler h : in.data -> in.ack; phase_end; }\n")
    (tmp_path / "m.c").write_text(f"{code}\nphase_end() {{}}\n")
    simulator = build("instance x : m;  instance s : source { interval = 3; };  s.out -> x.in;", "--debug")
    done = run_sim(simulator, "--cycles", "10", ok=False)
    assert f"error: x: {expected}" in done.err


def test_functions_that_nobody_declares_are_refused(lss, tmp_path):
    (tmp_path / "m.lss").write_text("module m { inport in : uint32; phase_start -> in.ack; }\n")
    (tmp_path / "m.c").write_text("phase_start() { accept(in, true); }\nhandler(late) { }\n")
    (tmp_path / "top.lss").write_text("instance x : m;  instance s : source;  s.out -> x.in;\n")
    done = lss("build", "top.lss", "-o", "sim", ok=False)
    assert "m.c:2:1: error[undeclared-function]: handler(late) is not declared by module m" in done.err
    (tmp_path / "m.c").write_text("phase_start() { accept(in, true); }\nhandler(reset, k) { }\n")
    done = lss("build", "top.lss", "-o", "sim", ok=False)
    assert "m.c:2:1: error[undeclared-function]: handler(reset, k) is not declared by module m" in done.err


def test_a_fault_in_a_module_is_reported(build, run_sim, tmp_path):
    (tmp_path / "m.lss").write_text(
        "module m { inport in : uint32; state { uint32 n; } phase_start -> in.ack; phase_end; }\n"
    )
    (tmp_path / "m.c").write_text(
        "phase_start() { accept(in, true); }\nphase_end() { self->n = 7 / (int)(data(in) - 5); }\n"
    )
    simulator = build("instance x : m;  instance s : source;  s.out -> x.in;")
    done = run_sim(simulator, "--cycles", "10", ok=False)
    assert "error: the C of a module failed (Floating point exception) at 5 ns" in done.err
