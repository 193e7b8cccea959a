"""Waves: what they show, against closed forms and independent readers, and that looking changes nothing."""

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from tests.sample import sampled
from tests.wave.readers import at, number, read_fst, read_vcd

CHAIN = "instance s : source; instance p : pipe { depth = 4; }; instance k : sink; s.out -> p.in : uint32; p.out -> k.in;"
READERS = {".vcd": read_vcd, ".fst": read_fst}


def wave_of(path: Path):
    return READERS[path.suffix](path)


def test_readers_leave_this_process_as_it_was() -> None:
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN


@pytest.fixture
def has_fst(build_dir) -> bool:
    """Whether the writer of FST was there when Spinach was built."""
    return (build_dir / "obj" / ".fst-yes").exists()


@pytest.fixture(autouse=True)
def needs_fst(request, has_fst) -> None:
    if not has_fst and "fst" in request.node.name:
        pytest.skip("Spinach was built without a writer of FST")


@pytest.fixture
def shown(run_sim, tmp_path):
    """Runs a simulator with a wave of these signals and reads it."""

    def run(simulator, signals: str, *options, name="wave.vcd"):
        run_sim(simulator, "--wave", tmp_path / name, "--wave-signals", signals, *options)
        return wave_of(tmp_path / name)

    return run


@pytest.mark.parametrize("name", ["wave.vcd", "wave.fst"])
def test_signals_and_states_have_the_values_of_their_cycle(build_sim, shown, name):
    wave = shown(build_sim(CHAIN, "--wave", "**"), "**", "--cycles", 20, name=name)
    top = "machine1."
    assert {top + "clk", top + "s.out.data", top + "s.out.valid", top + "k.in.ack", top + "p.slot[3]"} <= set(wave)
    for cycle in range(20):
        time = 1000 * cycle  # 1 GHz, in ps
        assert (at(wave, top + "clk", time), at(wave, top + "clk", time + 500)) == ("1", "0")
        assert number(wave, top + "s.out.data", time) == cycle == number(wave, top + "s.items", time)
        assert wave[top + "s.out.data"] == wave[top + "p.in.data"]
        assert at(wave, top + "k.in.valid", time) == ("1" if cycle >= 4 else "0")
        # A state is shown with which the cycle begins: what was counted in the cycles before.
        assert number(wave, top + "k.items", time) == max(0, cycle - 4)
        assert at(wave, top + "k.in.data", time) == "z" if cycle < 4 else number(wave, top + "k.in.data", time) == cycle - 4


def test_vcd_and_fst_show_the_same(build_sim, shown):
    simulator = build_sim(CHAIN, "--wave", "**")
    options = ("--cycles", 60, "--set", "k.ready=0.4", "--set", "s.cancel=0.3", "--set", "s.offer=0.5")
    vcd, fst = (shown(simulator, "**", *options, name=name) for name in ("a.vcd", "a.fst"))
    assert set(vcd) == set(fst)
    for name, changes in vcd.items():
        assert changes == [c for i, c in enumerate(fst[name]) if i == 0 or c[1] != fst[name][i - 1][1]], name


def test_ports_of_instances_that_consist_of_others(build_sim, shown, run_sim):
    """They show what passes them, in every level, and so do events of connections."""
    simulator = build_sim(
        "module one { outport out : uint32; instance s : source; s.out -> out; };"
        "module both { keyed outport out : 't; instance i[2] : one; i[0].out -> out[\"a\"]; i[1].out -> out[\"b\"]; };"
        "instance o : both; instance k : sink; instance l : sink { ready = 0.5; }; o.out[\"a\"] -> k.in; o.out[\"b\"] -> l.in;"
    )
    wave = shown(simulator, "port o.out,o.i[1].out.data,l.in", "--cycles", 30)
    top = "machine1."
    assert {name.removeprefix(top).rsplit(".", 1)[0] for name in wave} == {"clk", "o.out[a]", "o.out[b]", "o.i[1].out", "l.in"}
    assert wave[top + "o.out[b].data"] == wave[top + "o.i[1].out.data"] == wave[top + "l.in.data"] != wave[top + "o.out[a].data"]
    assert wave[top + "o.out[b].ack"] == wave[top + "l.in.ack"]
    done = run_sim(simulator, "--until", "event(o.out[b].transferred, 5)")
    assert done.value("l", "items") == 5 < done.value("k", "items")


STRUCTS = """
enum kind { none, read = 4, write = 5 };
struct inner { bits(12) small; int16 below; };
packed flags : uint16 { kind seen : 0..3; bool lit : 15; bits(5) level : 6; };
struct packet { kind what; inner part[2]; bool last; bits(100) wide; float64 real; flags mode; };
instance s : source; instance k : sink; s.out -> k.in : packet;
"""


@pytest.mark.parametrize("name", ["a.vcd", "a.fst"])
def test_members_of_structs_are_variables_of_their_own(build_sim, shown, tmp_path, name):
    (tmp_path / "items.txt").write_text(
        "1 {what=write part=[{small=5 below=-2} {small=4095 below=7}] last=true wide=0xf0000000000000001 real=2.5 mode={seen=write lit=true level=9}}\n"
    )
    simulator = build_sim(STRUCTS, "--wave", "s.out")
    options = ("--set", f"s.script={tmp_path}/items.txt", "--cycles", 4)
    wave = shown(simulator, "port **", *options, name=name)
    data = {n.removeprefix("machine1.s.out.data."): at(wave, n, 1000) for n in wave if n.startswith("machine1.s.out.data.")}
    assert float(data.pop("real")) == 2.5 if name == "a.vcd" else data.pop("real")
    assert data == {
        "what": "101",
        "part[0].small": "101",
        "part[0].below": "1" * 15 + "0",
        "part[1].small": "1" * 12,
        "part[1].below": "111",
        "last": "1",
        "wide": bin(0xF0000000000000001)[2:],
        "mode.seen": "101",
        "mode.lit": "1",
        "mode.level": "1001",
    }
    assert at(wave, "machine1.s.out.data.what", 0) == "z"


IDLE = """
clock a = 88 MHz;  clock b = 100 MHz;
instance s : source on a { interval = 50; };  instance p : pipe on a { depth = 3; };
instance q : clock_crossing;  instance k : sink on b;
s.out -> p.in : uint32;  p.out -> q.in;  q.out -> k.in;
"""
SLEEPING = """
module lane { instance s : source { interval = 40; };  instance p[3] : pipe;  instance k : sink;
  s.out -> p[0].in : uint32;  p[0].out -> p[1].in;  p[1].out -> p[2].in;  p[2].out -> k.in; }
instance lanes[2] : lane;  instance busy : source;  instance last : sink;  busy.out -> last.in : uint32;
"""


@pytest.mark.parametrize("machine", [IDLE, SLEEPING], ids=["skips", "sleeps"])
def test_time_that_is_skipped_shows_what_stepping_would(build_sim, run_sim, tmp_path, machine):
    """Byte for byte, between a build that skips and sleeps, one with checks and one that steps every cycle."""
    waves, skipped = [], []
    for options in ([], ["--debug"], ["--collect", "connections"]):
        simulator = build_sim(machine, "--wave", "**", *options)
        named = simulator.with_name("machine")
        simulator.rename(named)
        for window in ([], ["--wave-from", "1 us", "--wave-to", "2003 ns"]):
            done = run_sim(named, "--time", "4 us", "--wave", tmp_path / "w.vcd", *window)
            plain = run_sim(named, "--time", "4 us")
            assert done.stats == plain.stats
            waves.append((tmp_path / "w.vcd").read_text().split("$enddefinitions")[1])
        skipped.append(done.stats["run"]["skipped_cycles"])
    assert waves[0] == waves[2] == waves[4] and waves[1] == waves[3] == waves[5] and len(waves[1]) < len(waves[0])
    assert (skipped[0] > 200) == (machine == IDLE) and skipped[2] == 0


def test_clocks_keep_their_own_time(build_sim, shown):
    wave = shown(build_sim(IDLE), "state p.count", "--time", "1 us")
    for name, hertz in (("a", 88e6), ("b", 100e6)):
        rises = [time for time, bits in wave[f"machine1.{name}"] if bits == "1"]
        assert rises == [int(n * 10**15 // hertz) for n in range(len(rises))] and len(rises) == hertz / 1e6
    fast = shown(build_sim("clock c = 250 MHz; instance s : source; instance k : sink; s.out -> k.in : bool;"), "s.items", "--cycles", 3)
    assert [time for time, bits in fast["machine2.c"] if bits == "1"] == [0, 4, 8]  # in ns


def test_a_simulator_becomes_one_that_shows_what_was_requested(build_sim, run_sim, shown, tmp_path):
    simulator = build_sim(CHAIN)
    wave = shown(simulator, "p.in.data,k.items", "--cycles", 5)
    assert set(wave) == {"machine1." + name for name in ("clk", "p.in.data", "p.in.valid", "k.items")}
    run_sim(simulator, "--cycles", 5, "--wave", tmp_path / "all.vcd")
    assert len(read_vcd(tmp_path / "all.vcd")) > 30


def test_lanes_are_shown_under_their_keys(build_sim, shown):
    machine = """
      instance a : source; instance b : source; instance m : mux; instance k : sink;
      a.out -> m.in["left"] : uint32; b.out -> m.in["right"]; m.out -> k.in;"""
    wave = shown(build_sim(machine, "--wave", "m.in[left]"), "m.in[left],port m.in[1].ack", "--cycles", 5)
    assert {"machine1.m.in[left].data", "machine1.m.in[right].ack"} <= set(wave) and "machine1.m.in[right].data" not in wave


def test_elements_and_ranges_of_arrays(build_sim, shown):
    simulator = build_sim(CHAIN.replace("depth = 4", "depth = 100"))
    wave = shown(simulator, "p.slot[97..98],p.slot[3],p.ready[*]", "--cycles", 3)
    names = {name.removeprefix("machine1.p.") for name in wave} - {"machine1.clk"}
    assert {"slot[3]", "slot[97]", "slot[98]", "ready[99]"} <= names and "slot[4]" not in names
    wave = shown(simulator, "state p.**", "--cycles", 3)  # long arrays are left out where they are not named
    assert not [name for name in wave if "slot" in name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    sampled([
        (["--wave-signals", "p.imn"], 'no port, state or statistic matches "p.imn"; did you mean "p.in"?'),
        (["--wave-signals", "q.**"], 'no port, state or statistic matches "q.**"'),
        (["--wave-signals", "port k.items"], 'matches "k.items"'),
        (["--wave-signals", "p.slot[9]"], 'matches "p.slot[9]"'),
        (["--wave", "x.wave"], 'the name "x.wave" ends neither with .vcd nor with .fst'),
        (["--wave", "no/where.vcd"], 'cannot write "no/where.vcd"'),
        (["--wave-from", "end"], "no wave begins at the end of the run"),
    ], 3),
)
def test_mistakes_are_one_line(build_sim, run_sim, arguments, words):
    done = run_sim(build_sim(CHAIN, "--wave", "**"), "--cycles", 5, "--wave", "w.vcd", *arguments, ok=False)
    assert words in done.err and done.err.count("\n") == 1 and done.status in (1, 2)


def test_options_without_a_file_and_ports_that_are_not_there(build_sim, run_sim, lss, tmp_path):
    done = run_sim(build_sim(CHAIN), "--wave-signals", "p.in", ok=False)
    assert done.status == 2 and "lack the file: --wave FILE" in done.err
    done = lss("build", tmp_path / "machine1.lss", "--wave", "p.im", "-o", "x", ok=False)
    assert 'error[no-match]: no port matches "p.im"; did you mean `p.in`?' in done.err


def test_a_window_that_never_begins_leaves_nothing(build_sim, run_sim, tmp_path):
    done = run_sim(build_sim(CHAIN), "--cycles", 9, "--wave", "w.vcd", "--wave-signals", "k.items", "--wave-from", "1 ms", ok=False)
    assert 'the run ended before the condition of --wave-from, "1 ms", came true' in done.err
    assert not list(tmp_path.glob("w.vcd*")) and done.stats["run"]["ended"] == "all cycles were simulated"


@pytest.mark.parametrize("name", sampled(["w.vcd", "w.fst"], 2, 1))
def test_a_full_disk_is_one_line_and_leaves_nothing(build_sim, tmp_path, name):
    simulator = build_sim(CHAIN, "--wave", "**")
    done = subprocess.run(
        [simulator, "--cycles", "200000", "--quiet", "--wave", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14)),
    )
    assert done.returncode == 1 and f'cannot write "{name}": File too large' in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("w.*"))


def test_the_cycle_of_an_error_is_shown(build_sim, run_sim, tmp_path):
    (tmp_path / "items.txt").write_text("0 1\n3 7\n3 8\n")
    machine = "instance c : check; instance s : source; s.out -> c.in : uint32;"
    modules = {"check.lss": "module check { inport in : uint32; always in.ack; phase_end; }",
               "check.c": 'phase_end() { if (transferred(in) && data(in) == 7) sim_error("seven"); }\n'}
    for file, text in modules.items():
        (tmp_path / file).write_text(text)
    simulator = build_sim(machine, "--wave", "**")
    done = run_sim(simulator, "--set", f"s.script={tmp_path}/items.txt", "--wave", "w.vcd", "--cycles", 9, ok=False)
    assert "seven" in done.err
    assert number(read_vcd(tmp_path / "w.vcd"), "machine1.c.in.data", 3000) == 7


def test_a_restored_run_shows_the_rest(build_sim, run_sim, shown, tmp_path):
    simulator = build_sim(CHAIN, "--wave", "**")
    run_sim(simulator, "--cycles", 10, "--checkpoint", tmp_path / "c")
    wave = shown(simulator, "**", "--cycles", 20, "--restore", tmp_path / "c")
    assert wave["machine1.clk"][0] == (10_000, "1") and number(wave, "machine1.k.in.data", 15_000) == 11
