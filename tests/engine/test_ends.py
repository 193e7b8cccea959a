"""How a run ends that is stopped, or that cannot write what it was asked for."""

import csv
import json
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.sample import seldom

PIPE = 'instance p : source;  instance k : sink { record = "items.txt"; };  p.out -> k.in : uint32;\n'
# Its C never returns.
UNRESPONSIVE = "module unresponsive { runtime parameter abort = false : bool; inport in : uint32; always in.ack; phase_end; }\n"
UNRESPONSIVE_C = "#include <stdlib.h>\nphase_end() { if (param(abort)) abort(); for (volatile int i = 0; i >= 0;) { } }\n"
UNRESPONSIVE_MACHINE = (
    'instance p : source;  instance s : sink { record = "items.txt"; };  instance t : tee;  instance x : unresponsive;\n'
)
UNRESPONSIVE_MACHINE += "p.out -> t.in;  t.out -> s.in;  t.out -> x.in;\n"


@contextmanager
def started(simulator, tmp_path, *arguments) -> Iterator[subprocess.Popen]:
    """A run that has opened its output, and that hang-ups end even where the tests ignore them; it ends with the block."""
    run = subprocess.Popen(
        [simulator, "--quiet", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    try:
        for _ in range(500):
            if list(tmp_path.glob("items.txt*")):
                break
            time.sleep(0.01)
        else:
            run.kill()
            raise AssertionError(f"nothing was opened: {run.communicate()[1]}")
        yield run
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_whole_files(build_sim, tmp_path, number):
    with started(build_sim(PIPE), tmp_path, "--stats", "s.json") as run:
        run.send_signal(number)
        assert run.wait(timeout=30) == 128 + number
    assert sorted(path.name for path in tmp_path.glob("[is]*.*")) == ["items.txt", "s.json"]
    lines = (tmp_path / "items.txt").read_text().splitlines(keepends=True)  # none, if it was stopped that early
    assert lines == [f"{n} {n}\n" for n in range(len(lines))]


@pytest.fixture
def unresponsive(build_sim, tmp_path):
    (tmp_path / "unresponsive.lss").write_text(UNRESPONSIVE)
    (tmp_path / "unresponsive.c").write_text(UNRESPONSIVE_C)
    return build_sim(UNRESPONSIVE_MACHINE, "-I", tmp_path)


@seldom
def test_a_second_signal_ends_a_run_whose_c_does_not_return(unresponsive, tmp_path):
    with started(unresponsive, tmp_path) as run:
        while int(Path(f"/proc/{run.pid}/stat").read_text().split()[13]) < 20 and run.poll() is None:
            time.sleep(0.01)  # until its C has taken 0.2 s, and so is in the loop
        run.terminate()
        time.sleep(0.2)
        assert run.poll() is None
        run.terminate()
        assert run.wait(timeout=30) == 128 + signal.SIGTERM
    assert not list(tmp_path.glob("items.txt*"))


def test_an_abort_in_a_module_leaves_nothing_behind(unresponsive, run_sim, tmp_path):
    done = run_sim(unresponsive, "--set", "x.abort=true", ok=False)
    assert "error: the C of a module failed (Aborted)" in done.err
    assert not list(tmp_path.glob("items.txt*"))


def test_a_file_that_may_not_grow_is_one_line(build_sim, tmp_path):
    done = subprocess.run(
        [build_sim(PIPE), "--cycles", "100000", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14)),
    )
    assert done.returncode == 1
    assert 'cannot write "items.txt": File too large' in done.stderr
    assert not list(tmp_path.glob("items.txt*"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--stats", "none/s.json"], 'cannot write "none/s.json": No such file or directory'),
        (["--stats", "."], 'cannot write ".": Is a directory'),
        (["--run-dir", "file/run"], 'cannot write "file/run/statistics.json": Not a directory'),
    ],
)
def test_results_without_a_place_are_refused_before_the_first_cycle(build_sim, run_sim, tmp_path, arguments, expected):
    (tmp_path / "file").write_text("")
    done = run_sim(build_sim(PIPE), *arguments, ok=False)  # without an end
    assert done.status == 1
    assert expected in done.err
    assert not list(tmp_path.glob("items.txt*"))


def test_results_replace_what_was_there_as_a_whole(build_sim, run_sim, tmp_path):
    """Who has the old file open, or another name for it, keeps all of it; what is no file, such as a pipe, is written into."""
    simulator = build_sim(PIPE)
    names = ["s.json", "items.txt"]
    for name in names:
        (tmp_path / name).write_text("old\n")
        (tmp_path / f"{name}.kept").hardlink_to(tmp_path / name)
    done = run_sim(simulator, "--cycles", "3", "--stats", "s.json")
    assert done.status == 0 and json.loads((tmp_path / "s.json").read_text())["run"]["cycles"]["clk"] == 3
    assert (tmp_path / "items.txt").read_text().count("\n") == 3
    assert [(tmp_path / f"{name}.kept").read_text() for name in names] == ["old\n", "old\n"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(("s.json", "items"))) == sorted(names + [f"{name}.kept" for name in names])
    printed = subprocess.run([simulator, "--quiet", "--cycles", "3", "--stats", "/dev/stdout"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert '"clk": 3' in printed.stdout


def test_no_file_is_written_that_the_run_uses_already(build_sim, run_sim, tmp_path):
    (tmp_path / "in.txt").write_text("0 5\n")
    (tmp_path / "link.txt").symlink_to("in.txt")
    simulator = build_sim(PIPE)
    for name in ("in.txt", "link.txt"):
        done = run_sim(simulator, "--set", "p.script=in.txt", "--set", f"k.record={name}", ok=False)
        other = ', as "in.txt"' if name != "in.txt" else ""
        assert f'error: k: cannot write "{name}" for k.record: p.script reads it too{other} (name another file)\n' in done.err
        assert (tmp_path / "in.txt").read_text() == "0 5\n"
    two = 'instance p[2] : source;  instance k[2] : sink { record = "out.txt"; };\n'
    two += "for (i = 0; i < 2; i = i + 1) { p[i].out -> k[i].in : uint32; }\n"
    done = run_sim(build_sim(two), "--cycles", "9", ok=False)
    assert 'error: k[1]: cannot write "out.txt" for k[1].record: k[0].record writes it too (name another file)' in done.err
    assert not list(tmp_path.glob("out.txt*"))


@pytest.mark.parametrize("option", ["--help", "--list"])
def test_a_full_standard_output_is_an_error(build_sim, option):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build_sim(PIPE), option], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write to standard output: No space left on device" in done.stderr


@pytest.mark.parametrize("value", ["nan", "inf", "1e400"])
def test_a_parameter_is_a_finite_number(build_sim, run_sim, value):
    done = run_sim(build_sim(PIPE), "--set", f"k.ready={value}", "--cycles", "1", ok=False)
    assert done.status == 2
    why = "is too large for a floating-point number" if value == "1e400" else "is not a number"
    assert f'k.ready: "{value}" {why}' in done.err


# Two clocks, so that the slower one's ticks before the end count too.
FINITE = """clock fast = 300 MHz;  clock slow = 70 MHz;
instance p : source on fast { count = 10; };  instance x : clock_crossing;  instance k : sink on slow;
p.out -> x.in : uint32;  x.out -> k.in;
"""
RETIRED = 'collector taken on "k" event taken { declare <<< uint64_t n; >>> record <<< self->n++; >>> report <<< report_value("seen", self->n, "items"); >>> }\n'


def test_a_run_in_which_nothing_can_happen_ends(build_sim, run_sim, tmp_path):
    (tmp_path / "taken.lss").write_text(RETIRED)
    runs, arguments = [], ["--watchdog", "100 ns"]
    for options in ([], ["--debug"], ["--collect", "connections"], ["--collect", "taken.lss"]):
        simulator = build_sim(FINITE, *options)
        for more in ([], ["--until", "k.items>=11"], ["--sample", "37 ns"]):
            misses = "--until" in more  # what was to end the run cannot come
            done = run_sim(simulator, *arguments, *more, ok=not misses)
            assert done.value("k", "items") == 10
            assert misses or (done.stats["run"]["ended"] == "nothing left to do" and "nothing left to do after" in done.err)
            runs.append({**done.stats["run"], "skipped_cycles": None, "ended": None})
    assert all(run == runs[0] for run in runs) and runs[0]["cycles"] == {"fast": 64, "slow": 15}
    bounded = run_sim(simulator, *arguments, "--time", "1 ms")
    assert bounded.stats["run"]["ended"] == "all time was simulated" and bounded.stats["run"]["cycles"]["fast"] == 300_000


@seldom
def test_collectors_of_modules_events_let_idle_time_pass(build_sim, run_sim, tmp_path):
    (tmp_path / "taken.lss").write_text(RETIRED)
    (tmp_path / "moved.lss").write_text(RETIRED.replace('"k" event taken', '"k.in" event transferred'))
    skipped = {}
    for name in ("taken.lss", "moved.lss"):
        done = run_sim(build_sim(FINITE, "--collect", name), "--time", "1 ms")
        seen = [entry["value"] for entry in done.stats["statistics"] if entry["name"] == "seen"]
        assert seen == [10]
        skipped[name] = done.stats["run"]["skipped_cycles"]
    assert skipped["taken.lss"] > 299_000 and skipped["moved.lss"] == 0


FAILING = """module failing { runtime parameter at = 20 : int; inport in : uint32; stat uint64 seen "items"; state { uint64 n; } always in.ack; phase_end; finish; }
"""
FAILING_C = """phase_end() { count(seen, transferred(in)); self->n += transferred(in); if (self->n == (uint64_t)param(at)) sim_error("item %d is too many", (int)data(in)); }
finish() { if (counted(seen) < 25) sim_error("items are missing"); }
"""
FAILING_MACHINE = """clock fast = 300 MHz;  clock slow = 70 MHz;
instance p : source on fast { count = 24; };  instance t : tee on fast;  instance s : sink on fast { record = "items.txt"; };
instance x : failing on fast;  instance y : failing on slow { at = 1000; };  instance q : source on slow { count = 2; };
p.out -> t.in : uint32;  t.out -> s.in;  t.out -> x.in;  q.out -> y.in : uint32;
"""


@pytest.mark.parametrize(("arguments", "said", "ended", "cycles"), [
    ([], "error: x: item 19 is too many (at 63 ns, cycle 19 of fast)", "x: item 19 is too many", {"fast": 19, "slow": 5}),
    (["--set", "x.at=99", "--time", "50 ns"], "error: x: items are missing (at 50 ns, cycle 15 of fast)", "x: items are missing", {"fast": 15, "slow": 4}),
])  # fmt: skip
def test_what_a_run_came_to_before_its_error_is_delivered(build_sim, run_sim, tmp_path, arguments, said, ended, cycles):
    """Errors of other instances' finish functions are then not reported."""
    (tmp_path / "failing.lss").write_text(FAILING)
    (tmp_path / "failing.c").write_text(FAILING_C)
    (tmp_path / "taken.lss").write_text(RETIRED.replace('"k"', '"s"'))
    results = []
    for options in ([], ["--debug"]):
        simulator = build_sim(FAILING_MACHINE, "-I", tmp_path, "--collect", tmp_path / "taken.lss", *options)
        done = run_sim(simulator, *arguments, "--print", "x.seen", "--run-dir", "run", ok=False)
        assert done.status == 1 and said in done.err and done.err.count("error") == 1
        assert done.stats["run"]["ended"] == f"error: {ended}" and done.stats["run"]["cycles"] == cycles
        assert done.stats["manifest"]["error"] == ended
        taken = len((tmp_path / "items.txt").read_text().splitlines())
        assert f"x.seen = {int(done.value('x', 'seen'))}" in done.out and done.value("s", "seen") == taken >= 15
        assert (tmp_path / "run" / "statistics.json").exists()
        results.append(done.stats["statistics"])
    assert results[0] == results[1]


def test_a_run_without_an_error_says_nothing_of_one(build_sim, run_sim):
    assert "error" not in run_sim(build_sim(PIPE), "--cycles", "5").stats["manifest"]


WILD = "module wild { runtime parameter cycle_of_fault = 5 : int; inport in : uint32; outport out : uint32; state { uint64 n; } handler pass : in.data -> out.data; handler take : out.ack -> in.ack; handler commit : in.enable -> out.enable; phase_end; finish; }\n"
WILD_C = """static int wrong(uint64_t address) { return *(volatile int *)(uintptr_t)address; }
handler(pass) { send_if(out, some(in), data(in) + (self->n == (uint64_t)param(cycle_of_fault) ? (uint32_t)wrong(8) : 0)); }
handler(take) { accept(in, acked(out)); }
handler(commit) { enable(out, enabled(in)); }
phase_end() { self->n++; }
finish() { if (param(cycle_of_fault) == -1) wrong(8); }
"""
WILD_MACHINE = "instance p : source;  instance x[2] : wild;  instance k : sink;  p.out -> x[0].in : uint32;  x[0].out -> x[1].in;  x[1].out -> k.in;\n"


def test_a_fault_in_the_c_of_a_module_names_the_instance(build_sim, run_sim, tmp_path):
    (tmp_path / "wild.lss").write_text(WILD)
    (tmp_path / "wild.c").write_text(WILD_C)
    for options, expected in (["--debug"], "x[1]: the C of this module failed in handler_pass (Segmentation fault) at 5 ns"), ([], "lss build --debug names the instance"):
        simulator = build_sim(WILD_MACHINE, "-I", tmp_path, *options)
        done = run_sim(simulator, "--cycles", "9", "--set", "x[0].cycle_of_fault=7", ok=False)
        assert expected in done.err
        at_end = run_sim(simulator, "--cycles", "3", "--set", "x[1].cycle_of_fault=-1", ok=False)
        assert "error: x[1]: the C of this module failed in finish (Segmentation fault) at 3 ns" in at_end.err


BEYOND = """module beyond {
  runtime parameter last = 0 : int;  runtime parameter inner = 0 : int;  runtime parameter own = 0 : int;
  runtime parameter put = 0 : int;  runtime parameter take = 0 : int;
  inport in : uint32;  always in.ack;
  state { uint8 slot[4];  uint64 n;  uint16 grid[3][2];  memory uint8 bytes[1024];  uint32 tail[5]; }
  phase_end;
}
"""
BEYOND_C = """phase_end() {
  uint32_t mine[6] = {0};
  const int64_t at = self->n == 5 ? param(last) : 0;
  const int inner = self->n == 6 ? (int)param(inner) : 0;
  self->tail[at] += 1;
  self->grid[2][inner] += 1;
  self->slot[self->n == 7 ? param(own) : 0] = 1;
  mine[param(own) > 3 ? 0 : param(own) < 0 ? -param(own) : 1] += 1;
  memset(store_span(bytes, param(put), 8), 1, 8);
  self->n += mine[0] + mine[1] + load_span(bytes, param(take), 4)[0] + 1 > 0;
}
"""
BEYOND_MACHINE = "instance p[2] : source;  instance x[2] : beyond;  p[*].out -> x[*].in : uint32;\n"


def test_an_index_beyond_an_array_is_one_line_in_debug_builds(build_sim, run_sim, tmp_path):
    """The last array of the state, an inner dimension, a negative index, an array that is no state, the end of a span."""
    (tmp_path / "beyond.lss").write_text(BEYOND)
    (tmp_path / "beyond.c").write_text(BEYOND_C)
    simulator = build_sim(BEYOND_MACHINE, "-I", tmp_path, "--debug")
    run_sim(simulator, "--cycles", "9", "--set", "x[1].last=4", "--set", "x[1].inner=1", "--set", "x[1].own=3")
    run_sim(simulator, "--cycles", "9", "--set", "x[1].put=1016", "--set", "x[1].take=1023")  # 8 bytes may follow
    for setting, said in (
        ("last=5", "index 5 of tail, which has 5 elements, at {}:5:3 (at 5 ns"),
        ("last=-1", "index -1 of tail, which has 5 elements, at {}:5:3 (at 5 ns"),
        ("inner=2", "index 2 of grid, which has 2 elements, at {}:6:3 (at 6 ns"),
        ("own=4", "index 4 of slot, which has 4 elements, at {}:7:3 (at 7 ns"),
        ("put=1017", "index 1025 of bytes, which has 1024 elements, at {}:9:10 (at 0 ns"),
        ("take=1029", "index 1029 of bytes, which has 1024 elements, at {}:10:34 (at 0 ns"),
        ("own=-6", "index 6 of an array, which has 6 elements, at {}:8:3 (at 0 ns"),
    ):
        done = run_sim(simulator, "--cycles", "9", "--set", f"x[1].{setting}", ok=False)
        assert f"error: x[1]: {said.format(tmp_path / 'beyond.c')}" in done.err
        assert done.status == 1 and len(done.err.strip().splitlines()) <= 2, done.err


def test_statistics_as_lines_and_cycles_in_the_table(build_sim, run_sim, tmp_path):
    simulator = build_sim(FINITE)
    done = run_sim(simulator, "--stats", "s.csv")
    rows = list(csv.DictReader((tmp_path / "s.csv").open()))
    found = {(row["path"], row["name"]): (row["value"], row["unit"]) for row in rows}
    assert found["fast", "cycles"] == ("64", "cycles") and found["k", "items"] == ("10", "items")
    assert all(row["description"] for row in rows)
    lines = [line.split() for line in done.out.splitlines()]
    assert ["fast", "cycles", "64", "cycles"] in lines and ["slow", "cycles", "15", "cycles"] in lines
