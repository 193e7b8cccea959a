"""Conditions and measuring windows: at which instant a snapshot is taken, and what it holds, against closed forms."""

from pathlib import Path

import pytest

MODULES = Path(__file__).parent / "modules"
GOLDEN = Path(__file__).parent / "window_errors.golden"

# Clocks whose periods share no instant for long: 88 MHz, 100 MHz, 33 MHz.
CLOCKS = """
clock a = 88 MHz;  clock b = 100 MHz;  clock c = 33 MHz;
instance x : ticker on a;  instance kx : sink on a;  x.out -> kx.in;
instance y : ticker on b;  instance ky : sink on b;  y.out -> ky.in;
instance z : ticker on c;  instance kz : sink on c;  z.out -> kz.in;
"""
HERTZ = {"a": 88_000_000, "b": 100_000_000, "c": 33_000_000}
IDLE = "instance s : source; instance p : pipe; instance k : sink; s.out -> p.in : uint32; p.out -> k.in;"


@pytest.fixture
def clocks(build_sim):
    return build_sim(CLOCKS, "-I", MODULES)


def index_of(done, path: str, name: str) -> int:
    """Where the statistic stands in the values of a snapshot."""
    return next(i for i, e in enumerate(done.stats["statistics"]) if (e["path"], e["name"]) == (path, name))


def ticks_before(numerator: int, denominator: int) -> dict[str, int]:
    """How often each clock has ticked before the time numerator / denominator, in seconds; all tick at 0."""
    return {clock: -(-numerator * hertz // denominator) for clock, hertz in HERTZ.items()}


def check_counts(done, snapshot: dict, cycles: dict[str, int]) -> None:
    assert snapshot["cycles"] == cycles
    assert {c: snapshot["values"][index_of(done, path, "cycles")] for c, path in zip("abc", "xyz", strict=True)} == cycles


def test_a_window_in_time_is_exact_for_every_clock(clocks, run_sim):
    done = run_sim(clocks, "--time", "20 us", "--measure-from", "1001 ns", "--measure-to", "10 us")
    measured = done.stats["measured"]
    assert [measured[end]["time_fs"] for end in ("from", "to")] == [1_001_000_000, 10_000_000_000]
    check_counts(done, measured["from"], ticks_before(1001, 10**9))
    check_counts(done, measured["to"], {"a": 880, "b": 1000, "c": 330})
    assert done.value("y", "cycles") == 2000


def test_samples_within_a_window(clocks, run_sim):
    """The multiples are those of the whole run, in a restored run, too; events count from the window on."""
    window = ["--measure-from", "cycles(c) >= 34", "--measure-to", "1500 ns"]
    every = run_sim(clocks, "--time", "2 us", "--sample", "12 ns").stats["samples"]
    done = run_sim(clocks, "--time", "2 us", "--sample", "12 ns", "--sample-window", *window)
    ends = [done.stats["measured"][end]["time_fs"] for end in ("from", "to")]
    assert done.stats["samples"] == [one for one in every if ends[0] <= one["time_fs"] <= ends[1]]
    for cut in "500 ns", "1200 ns":
        run_sim(clocks, "--time", cut, "--sample", "12 ns", "--sample-window", *window, "--checkpoint", "point", ok=None)
        rest = run_sim(clocks, "--restore", "point", "--time", "2 us", "--sample", "12 ns", "--sample-window", *window)
        assert rest.stats["samples"] == done.stats["samples"], cut
    states = run_sim(clocks, "--time", "2 us", "--sample", "x.items >= 11", "--sample-window", *window).stats["samples"]
    assert [one["cycles"]["a"] for one in states] == list(range(99, 133, 11))


def test_a_time_after_an_event(clocks, run_sim):
    """Counted from the instant at which the run goes on after the event, the first one of the run also where the window begins later."""
    event = "event(kz.taken, 33)"  # in the step of c at 32/33 MHz; the next instant is that of b
    begin = 970_000_000
    windows = {(event, f"{event} + 1 us"): (0, 1000), (f"{event} + 40.5 ns", f"{event}+2 us"): (40.5, 2000), (f"{event} + 0 s", "5 us"): (0, None), ("cycles(c) >= 40", f"{event} + 1 us"): (None, 1000)}
    for (first, last), after in windows.items():
        measured = run_sim(clocks, "--time", "9 us", "--measure-from", first, "--measure-to", last).stats["measured"]
        for end, ns in zip(("from", "to"), after, strict=True):
            assert ns is None or measured[end]["time_fs"] == begin + int(ns * 10**6), (first, last)
    done = run_sim(clocks, "--until", f"{event} + 1 us")
    assert done.stats["run"]["ended"] == "the condition of --until holds"
    check_counts(done, run_sim(clocks, "--time", "9 us", "--measure-to", f"{event} + 1 us").stats["measured"]["to"], done.stats["run"]["cycles"])
    # Samples: each time after the events of a multiple, those left out that come before
    samples = run_sim(clocks, "--time", "1 us", "--sample", "event(ky.taken, 10) + 45 ns", "--measure-to", "end").stats["samples"]
    following = [min((ns * hertz // 10**9 + 1) * 10**15 // hertz for hertz in HERTZ.values()) for ns in range(90, 990, 100)]
    assert [one["time_fs"] for one in samples] == [fs + 45 * 10**6 for fs in following]
    for cut in ("900 ns", "1200 ns"):  # before the event, and after it
        given = ["--measure-from", event, "--measure-to", f"{event} + 1 us", "--until", f"{event} + 1 us"]
        run_sim(clocks, "--time", cut, *given, "--checkpoint", "point", ok=None)
        whole, rest = run_sim(clocks, *given), run_sim(clocks, *given, "--restore", "point")
        assert rest.stats["measured"] == whole.stats["measured"] and rest.stats["run"]["cycles"] == whole.stats["run"]["cycles"]


def test_a_run_goes_on_to_a_time_after_an_event(build_sim, run_sim):
    """Also where nothing is left to do, and in the same way in every build."""
    runs = []
    for options in ((), ("--debug",)):
        simulator = build_sim("instance s : source { count = 3; }; instance p : pipe; instance k : sink; s.out -> p.in : uint32; p.out -> k.in;", *options)
        runs.append(run_sim(simulator, "--until", "event(k.taken, 3) + 1 ms").stats["run"])
    assert runs[0]["cycles"] == runs[1]["cycles"] == {"clk": 1_000_004}
    failed = run_sim(simulator, "--until", "event(k.taken, 4) + 1 ms", ok=False)
    assert "nothing is left to do, so the condition of --until" in failed.err


def test_what_was_not_requested_is_not_measured(clocks, run_sim):
    asked = {"--measure-from": "measured", "--measure-to": "measured", "--sample": "samples"}
    for option, key in asked.items():
        done = run_sim(clocks, "--time", "2 us", option, "1 us")
        assert {"measured", "samples"} & set(done.stats) == {key}
    assert not {"measured", "samples", "connections"} & set(run_sim(clocks, "--time", "2 us").stats)


def test_a_window_in_cycles_begins_after_the_step_that_makes_them_full(clocks, run_sim):
    done = run_sim(clocks, "--time", "5 us", "--measure-from", "cycles(c) >= 34", "--measure-to", "cycles(fastest) >= 3e2")
    measured = done.stats["measured"]
    # The 34th cycle of c steps at 33/33 MHz = 1 us; a and b step then for the 89th and 101st time.
    check_counts(done, measured["from"], {"a": 89, "b": 101, "c": 34})
    # The 300th of b steps at 2.99 us: a has done floor(2.99 us * 88 MHz) + 1 and c floor(2.99 us * 33 MHz) + 1.
    check_counts(done, measured["to"], {"a": 264, "b": 300, "c": 99})
    # Both bear the time of the next instant: of b at 1.01 us, and of a at 264/88 MHz = 3 us, which is also that of b.
    assert [measured[end]["time_fs"] for end in ("from", "to")] == [1_010_000_000, 3_000_000_000]


def test_a_state_is_looked_at_after_every_instant(clocks, run_sim):
    for condition, cycles in (("z.items >= 33", {"a": 86, "b": 97, "c": 33}), ("y.pc==400", {"a": 88, "b": 100, "c": 33})):
        done = run_sim(clocks, "--until", condition, "--measure-to", condition)
        check_counts(done, done.stats["measured"]["to"], cycles)
        assert done.stats["run"]["cycles"] == cycles
        assert done.stats["measured"]["from"]["values"] == [0] * len(done.stats["statistics"])


def test_series_have_a_sample_for_every_multiple(clocks, run_sim):
    done = run_sim(clocks, "--time", "1 us", "--sample", "12 ns")
    samples = done.stats["samples"]
    assert [sample["time_fs"] for sample in samples] == [k * 12_000_000 for k in range(1, 84)]
    for k, sample in enumerate(samples, 1):
        check_counts(done, sample, ticks_before(12 * k, 10**9))
    done = run_sim(clocks, "--time", "1 us", "--sample", "cycles(b) >= 7")
    assert [sample["cycles"]["b"] for sample in done.stats["samples"]] == list(range(7, 101, 7))
    done = run_sim(clocks, "--time", "1 us", "--sample", "x.items >= 11")  # a statistic that only grows
    assert [sample["cycles"]["a"] for sample in done.stats["samples"]] == list(range(11, 89, 11))
    done = run_sim(clocks, "--time", "1 us", "--sample", "x.pc >= 40")  # a state: when it comes true
    assert [sample["cycles"]["a"] for sample in done.stats["samples"]] == [10]
    done = run_sim(clocks, "--time", "1 us", "--sample", "x.pc != 40")
    assert [sample["cycles"]["a"] for sample in done.stats["samples"]] == [0, 11]


@pytest.mark.parametrize("option", ["--measure-to", "--until"])
def test_the_end_is_the_end(clocks, run_sim, option):
    done = run_sim(clocks, "--time", "1 us", "--measure-from", "0 s", option, "end", "--sample", "end")
    values = [entry["value"] for entry in done.stats["statistics"]]
    assert done.stats["measured"]["to"]["values"] == values
    assert [sample["values"] for sample in done.stats["samples"]] == [values]
    assert "1e+06 s" not in done.err and "all time was simulated" in done.err


def test_idle_time_is_skipped_between_the_instants_that_are_measured(build_sim, run_sim, tmp_path):
    (tmp_path / "script.txt").write_text("5 1\n2000000 2\n3000000000 3\n")
    simulator = build_sim(IDLE)
    done = run_sim(
        *(simulator, "--set", f"s.script={tmp_path}/script.txt", "--cycles", "4000000000"),
        *("--measure-from", "1 s", "--measure-to", "cycles(clk) >= 3000000002", "--sample", "500001 us"),
    )
    assert done.stats["run"]["skipped_cycles"] > 3_900_000_000
    measured = done.stats["measured"]
    items = index_of(done, "k", "items")
    # The item offered in cycle 3000000000 is taken in the next one, which is the 3000000002nd.
    assert [measured[end]["cycles"]["clk"] for end in ("from", "to")] == [1_000_000_000, 3_000_000_002]
    assert [measured[end]["values"][items] for end in ("from", "to")] == [2, 3]
    assert [sample["cycles"]["clk"] for sample in done.stats["samples"]] == [500_001_000 * k for k in range(1, 8)]
    assert [sample["values"][items] for sample in done.stats["samples"]] == [2, 2, 2, 2, 2, 3, 3]


def test_every_build_takes_the_same_snapshots(build_sim, run_sim):
    machine = """
        module lane { instance s : source { interval = 40; };  instance q : queue { depth = 3; };  instance k : sink;
          s.out -> q.in : uint32;  q.out -> k.in; }
        clock fast = 300 MHz;  clock slow = 70 MHz;
        instance lanes[2] : lane on fast;  instance other : lane on slow;
        """
    arguments = ["--time", "30 us", "--set", "lanes[1].k.ready=0.2", "--set", "other.s.offer=0.3", "--seed", "5"]
    arguments += ["--measure-from", "lanes[1].k.items >= 5", "--measure-to", "cycles(slow) >= 2000", "--sample", "777 ns"]
    runs = [run_sim(build_sim(machine, *options), *arguments) for options in ([], ["--debug"], ["--single-function"])]
    first, *others = [{key: done.stats[key] for key in ("statistics", "measured", "samples")} for done in runs]
    assert len(first["samples"]) == 38 and first["measured"]["to"]["cycles"]["slow"] == 2000
    assert all(first == other for other in others)


def test_a_snapshot_holds_the_connections_that_are_counted(build_sim, run_sim):
    simulator = build_sim("instance s : source; instance k : sink; s.out -> k.in : uint32;", "--collect", "connections")
    done = run_sim(simulator, "--cycles", "100", "--measure-from", "30 ns", "--set", "k.ready=0.5")
    first, last = (done.stats["measured"][end]["connections"] for end in ("from", "to"))
    assert sum(first[0]) == 30
    words = ("transferred", "stalled", "cancelled", "idle")
    assert last == [[done.stats["connections"][0][word] for word in words]]


def test_a_window_that_did_not_come_to_be_fails_the_run(clocks, run_sim):
    done = run_sim(clocks, "--time", "1 us", "--measure-from", "2 us", ok=False)
    assert done.status == 1 and done.stats["measured"] == {"from": None, "to": None}
    assert 'the run ended before the condition of --measure-from, "2 us", came true: all time was simulated' in done.err
    done = run_sim(clocks, "--time", "1 us", "--measure-to", "2 us", ok=False)
    assert done.status == 1 and done.stats["measured"]["from"]["time_fs"] == 0 and done.stats["measured"]["to"] is None
    done = run_sim(clocks, "--time", "1 us", "--measure-from", "y.items >= 50", "--measure-to", "20 ns", ok=False)
    assert done.status == 1 and done.stats["run"]["cycles"]["b"] == 50
    assert '"20 ns", held already when that of --measure-from, "y.items >= 50", came true' in done.err


def test_wrong_conditions_are_reported_before_the_run(clocks, run_sim, golden):
    texts = ["", "8", "8 ns x", "cycle(a) >= 3", "cycles(fastst) >= 3", "cycles(a) > 3", "cycles(a >= 3", "cycles(a) >= -3"]
    texts += ["x.itms >= 3", "xx.items >= 3", "x.items >= 3x", "x.items >= 1.5", "x.items", "x.items => 4"]
    texts += ["x.registers >= 3", "x.registers[4] >= 3", "end x", "x.items >= 99999999999999999999"]
    texts += ["event(x.taken) + 3", "event(x.taken) + -3 ns", "event(x.taken) - 3 ns", "event(x.taken) + 3 ns + 4 ns", "3 ns + event(x.taken)", "x.items >= 3 + 3 ns", "cycles(a) >= 3 + 3 ns"]
    lines = []
    for text in texts:
        done = run_sim(clocks, "--until", text, ok=False)
        assert done.status == 2 and done.err.count("\n") == 1
        lines.append(done.err.split(": ", 1)[1])
    for arguments in (("--measure-from", "2 us", "--measure-to", "1 us"), ("--measure-from", "end"), ("--sample", "0 ns"), ("--sample-window", "--sample", "1 ns"), ("--sample-window", "--measure-to", "1 ns"), ("--measure-from", "event(x.taken) + 2 us", "--measure-to", "event(x.taken) + 1 us")):
        lines.append(run_sim(clocks, *arguments, ok=False).err.split(": ", 1)[1])
    golden(GOLDEN, "".join(lines))


def test_statistics_are_worked_out_and_reported_at_every_snapshot(build_sim, run_sim, tmp_path):
    (tmp_path / "mean.lss").write_text(
        "module mean {\n  inport in : uint32;\n  state { uint64 sum; uint64 n; uint32 most; }\n"
        '  stat uint64 items "items";  gauge stat uint64 average "";  gauge stat uint32 largest "";\n'
        "  always in.ack;\n  phase_end;\n  finish;\n}\n"
    )
    (tmp_path / "mean.c").write_text(
        "phase_end() { if (!transferred(in)) return; self->n++; self->sum += data(in);\n"
        "  if (data(in) > self->most) self->most = data(in); report(largest, self->most); }\n"
        "statistics() { counted(items) = self->n; counted(average) = self->n ? self->sum / self->n : 0; }\n"
        "finish() { count(items, 1000); }\n"
    )
    simulator = build_sim(
        """
        instance t : ticker;  instance m : mean;  t.out -> m.in;
        collector c on "t" event taken {
          declare <<< uint64_t n, last; >>>
          record  <<< self->n++; self->last = value; >>>
          report  <<< if (self->n > 50) report_value("late", self->n - 50, "items", "after the first 50");
                      report_gauge("last", self->last, "", "the last"); >>>
        }
        """,
        *("-I", MODULES),
    )
    names = ["items", "average", "largest", "late", "last"]
    expected = {"101 ns": [101, 50, 100, 51, 100], "m.n >= 101": [101, 50, 100, 51, 100], "end": [1200, 99, 199, 150, 199]}
    for to, values in expected.items():
        done = run_sim(simulator, "--cycles", "200", "--measure-from", "41 ns", "--measure-to", to)
        first, last = (
            [done.stats["measured"][end]["values"][index_of(done, "m" if n in names[:3] else "t", n)] for n in names]
            for end in ("from", "to")
        )
        assert first == [41, 20, 40, None, 40]
        assert last == values
    assert done.value("m", "items") == 1200 and done.value("t", "late") == 150
    gauges = {(e["path"], e["name"]) for e in done.stats["statistics"] if e.get("difference", True) is False}
    assert gauges == {("m", "average"), ("m", "largest"), ("t", "last")}
