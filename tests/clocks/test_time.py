"""Simulated time: clocks of any frequencies keep them for a year and more, and a run that would go past the last instant
fails, whatever bounds it."""

import random
import re
import signal
import subprocess
import time
from fractions import Fraction
from pathlib import Path

import pytest

YEAR = 365 * 24 * 3600
LAST = 2**63 - 1  # instant
# How far from exactly in time a cycle may begin: the coarsest ticks of a machine with a rounded clock.
COARSEST = Fraction(1, 125_000_000_000)


def machine(clocks: list[str], count: int = 1, interval: int = 1) -> str:
    """A source and a sink on each clock, written as LSS has it."""
    text = ""
    for i, clock in enumerate(clocks):
        text += f"clock c{i} = {clock};\ninstance p{i} : source on c{i} {{ count = {count}; interval = {interval}; }};\n"
        text += f"instance k{i} : sink on c{i};\np{i}.out -> k{i}.in : uint32;\n"
    return text


def begun(frequency: Fraction, seconds: Fraction | int) -> int:
    """The cycles that begin before a time: the first one at 0."""
    return -int(-frequency * seconds // 1)


def check_cycles(done, clocks: list[Fraction], seconds: Fraction | int) -> None:
    """All clocks are as far as they are at this time; a rounded one may be ahead, if its next cycle all but begins."""
    for i, frequency in enumerate(clocks):
        cycles = done.stats["run"]["cycles"][f"c{i}"]
        assert cycles in (begun(frequency, seconds), begun(frequency, seconds + COARSEST)), (i, frequency)


def check_end(done, clocks: list[Fraction], seconds: Fraction | int) -> None:
    """The run goes on up to this time and not beyond: it would go on with the first cycle that begins then or later."""
    check_cycles(done, clocks, seconds)
    would_go_on = min(Fraction(begun(frequency, seconds)) / frequency for frequency in clocks)
    earliest, latest = ((would_go_on - early) * 10**9 // 1 for early in (2 * COARSEST, 0))
    assert earliest <= done.stats["run"]["simulated_ns"] <= latest


USUAL = {
    "one odd clock": (["88 MHz", "66.666667 MHz", "125 MHz"], [Fraction(88_000_000), Fraction(66_666_667), Fraction(125_000_000)]),
    "three primes": (["2097143 Hz", "2097133 Hz", "2097091 Hz"], [Fraction(2097143), Fraction(2097133), Fraction(2097091)]),
    "a host": (["1.333333333 GHz", "50 MHz", "100 MHz", "88 MHz"], [Fraction(1_333_333_333), Fraction(50_000_000), Fraction(100_000_000), Fraction(88_000_000)]),
    "far apart": (["10 GHz", "1 Hz"], [Fraction(10**10), Fraction(1)]),
    "fractions": (["400 MHz / 3", "1 Hz / 1000", "9999999967 Hz / 9"], [Fraction(400_000_000, 3), Fraction(1, 1000), Fraction(9999999967, 9)]),
}


@pytest.mark.parametrize("name", USUAL)
def test_clocks_keep_their_frequencies_for_a_year(name, build_sim, run_sim) -> None:
    clocks, frequencies = USUAL[name]
    simulator = build_sim(machine(clocks), "-O0")
    for text in ("26", f"{YEAR}", f"{YEAR}.0000003333"):
        start, seconds = time.monotonic(), Fraction(text)
        done = run_sim(simulator, "--quiet", "--time", f"{text} s")
        assert time.monotonic() - start < 1
        check_end(done, frequencies, seconds)
    cycles = 10_000_000 + 3
    done = run_sim(simulator, "--quiet", "--cycles", cycles)
    for i, frequency in enumerate(frequencies):  # between the last cycle of the fastest clock and its next one
        first, last = (begun(frequency, Fraction(n) / max(frequencies) + COARSEST) for n in (cycles - 1, cycles))
        assert first - 1 <= done.stats["run"]["cycles"][f"c{i}"] <= last


STEPS = "module steps { state { uint64 base; uint64 last; uint64 shortest; uint64 longest; } phase_end; }\n"
STEPS_C = """phase_end() {
  const uint64_t length = now() - self->last;
  self->base = ticks_per_second();
  if (cycle() == 1 || (cycle() > 1 && length < self->shortest)) self->shortest = length;
  if (cycle() > 0 && length > self->longest) self->longest = length;
  self->last = now();
}
"""


def test_cycles_begin_in_the_tick_into_which_they_fall(build_sim, run_sim, tmp_path) -> None:
    """Stepped cycle by cycle, in pieces of any length, clocks are where arithmetic has them."""
    (tmp_path / "steps.lss").write_text(STEPS)
    (tmp_path / "steps.c").write_text(STEPS_C)
    clocks = {"a": Fraction(1_333_333_333), "b": Fraction(66_666_667), "c": Fraction(999_999_937, 7), "d": Fraction(50_000_000)}
    text = "".join(f"clock {n} = {f.numerator} Hz / {f.denominator};\ninstance {n}_steps : steps on {n};\n" for n, f in clocks.items())
    simulator = build_sim(text, "-O0")
    for sample in ("1 s", "1 ns", "cycles(b) >= 7"):
        done = run_sim(simulator, "--quiet", "--time", "777 ns", "--sample", sample, "--print", "*_steps.*")
        for name, frequency in clocks.items():
            cycles = done.stats["run"]["cycles"][name]
            values = {field: int(re.search(rf"{name}_steps\.{field} = (\w+)", done.out)[1], 0) for field in ("base", "last", "shortest", "longest")}
            ticks = values["base"] / frequency
            assert LAST / values["base"] > YEAR
            assert values["last"] == (cycles - 1) * ticks // 1
            assert ticks // 1 <= values["shortest"] <= values["longest"] <= -(-ticks // 1)


def test_edges_that_coincide_still_do(build_sim, run_sim) -> None:
    """Of two rounded clocks, one twice as fast as the other: each cycle of the slow one is a step of both."""
    simulator = build_sim(machine(["999999937 Hz", "1999999874 Hz", "88 MHz", "1.1111111 GHz"], count=-1), "-O0")
    for cycles in (1, 10, 12345):
        done = run_sim(simulator, "--quiet", "--cycles", f"c0:{cycles}")
        assert done.stats["run"]["cycles"]["c1"] == 2 * cycles - 1


def ended(done) -> None:
    assert done.status == 1 and done.err.count("\n") == 1, done.err
    assert re.search(r": error: simulated time ends at [\d.e+]+ s: instants are 64 bits wide", done.err)


@pytest.fixture(scope="module")
def endless(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine that does something every few months only, for ever."""
    folder = tmp_path_factory.mktemp("time")
    (folder / "m.lss").write_text(machine(["200 GHz", "1 MHz"], count=-1, interval=10**18))
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "m.lss", "-o", "sim"], cwd=folder, check=True)
    return folder / "sim"


BOUNDS = {
    "nothing": [],
    "time": ["--time", "100000000 s"],
    "time that no 64 bits hold": ["--time", "300000000000 s"],
    "cycles": ["--cycles", "c1:10000000000000000000"],
    "condition on time": ["--until", "99999999999999 s"],
    "condition on cycles": ["--until", "cycles(c1) >= 4000000000000000000"],
    "condition on a state": ["--until", "k0.items >= 1000"],
    "condition on an event": ["--until", "event(k0.taken, 1000)"],
    "window": ["--measure-from", "99999999999 s"],
    "samples": ["--sample", "7000000 s"],
    "watchdog": ["--watchdog", "9000 s", "--time", "100000000 s"],
    "checkpoints": ["--checkpoint", "point", "--checkpoint-every", "4000000 s"],
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_run_past_the_last_instant_fails(name, endless, run_sim) -> None:
    done = run_sim(endless, "--quiet", *BOUNDS[name], ok=False, timeout=60)
    if name == "watchdog":
        assert "no progress" in done.err
        return
    ended(done)
    assert done.stats["run"]["cycles"]["c1"] == begun(Fraction(10**6), Fraction(LAST, 200 * 10**9))
    if name == "samples":
        last = done.stats["samples"][-1]
        assert len(done.stats["samples"]) == 6 and last["time_fs"] == 42_000_000 * 10**15 and last["cycles"]["c1"] == 42 * 10**12


COUNTED = """module ticker {
  stat uint64 skipped "cycles"; stat uint64 sent "items"; stat uint64 twice "items"; state { uint64 at; instant next; } phase_end; next_event;
}
"""
COUNTED_C = """phase_end() {
  if (until(next) > 0) {
    count(skipped);
    return;
  }
  self->at = cycle();
  count(sent);
  set_until(next, 1000000);
}
next_event() { return after(until(next)); }
skip(n) { count(skipped, n); }
statistics() { counted(twice) = 2 * counted(sent); }
"""


def test_a_condition_on_a_state_skips_what_cannot_change_it(build_sim, run_sim, tmp_path) -> None:
    """What idle time counts is looked at in every cycle of it all the same."""
    (tmp_path / "ticker.lss").write_text(COUNTED)
    (tmp_path / "ticker.c").write_text(COUNTED_C)
    simulator = build_sim("instance t : ticker;\n", "-O0")
    for condition, cycles in (("t.sent >= 3000", 2999 * 10**6 + 1), ("t.at >= 7000000", 7 * 10**6 + 1), ("t.twice >= 6000", 2999 * 10**6 + 1)):
        start = time.monotonic()
        done = run_sim(simulator, "--quiet", "--until", condition)
        assert done.stats["run"]["cycles"]["clk"] == cycles
        assert time.monotonic() - start < 1
        assert done.value("t", "skipped") + done.value("t", "sent") == cycles
    for condition, cycles in (("t.skipped >= 1234567", 1_234_569), ("t.skipped == 5", 6)):
        assert run_sim(simulator, "--quiet", "--until", condition).stats["run"]["cycles"]["clk"] == cycles
    start = time.monotonic()
    for options, command, said in (
        ([], "until t.sent >= 3000", "cycle 2999000001"), ([], "until t.twice >= 6000", "cycle 2999000001"), ([], "until t.skipped >= 1234567", "cycle 1234569"),
        (["--until", "t.sent >= 3000"], "run", "the condition of --until holds after 2999 ms"), ([], "cycle 5000000", "cycle 5000000"),
    ):  # fmt: skip
        told = subprocess.run([simulator, "--interactive", *options], input=f"{command}\nquit\n", capture_output=True, text=True, check=True)
        assert said in told.stdout + told.stderr, told
    assert time.monotonic() - start < 3
    bound = run_sim(simulator, "--quiet", "--until", "t.sent >= 3000", "--time", "5 ms", "--sample", "2 ms")
    assert bound.stats["run"]["cycles"]["clk"] == 5 * 10**6 and [s["cycles"]["clk"] for s in bound.stats["samples"]] == [2 * 10**6, 4 * 10**6]


COMPUTED = """module worked_out {
  stat uint64 sent "items"; stat uint64 twice "items"; stat uint64 since "cycles"; state { instant next; uint64 began; } phase_end; next_event;
}
"""
COMPUTED_C = """phase_end() {
  if (until(next) > 0) return;
  count(sent);
  self->began = cycle();
  set_until(next, 1000);
}
next_event() { return after(until(next)); }
statistics() { counted(twice) = 2 * counted(sent)%s; counted(since) = %s; }
"""


def test_what_is_worked_out_is_waited_for(build_sim, run_sim, tmp_path) -> None:
    """A statistic that statistics() sets: idle time is skipped unless that asks for the time, and each way, also with every cycle stepped and compared, ends in the same cycle."""
    (tmp_path / "worked_out.lss").write_text(COMPUTED)
    for asks, conditions in (("0", [("t.twice >= 4000", 1_999_001)]), ("cycle() - self->began", [("t.twice >= 40", 19_001), ("t.since >= 500", 500)])):
        (tmp_path / "worked_out.c").write_text(COMPUTED_C % ("", asks))
        fast, checked = (build_sim("instance t : worked_out;\n", "-O0", *more) for more in ([], ["--debug"]))
        for condition, cycles in conditions:
            done = run_sim(fast, "--quiet", "--until", condition)
            assert done.stats["run"]["cycles"]["clk"] == cycles
            assert (done.stats["run"]["skipped_cycles"] > 0.9 * cycles) == (asks == "0"), condition
            if cycles < 100_000:
                assert run_sim(checked, "--quiet", "--check-idle", "--until", condition).stats["run"]["cycles"]["clk"] == cycles
        commands = "".join(f"until {condition}\n" for condition, _ in conditions[-1:]) + "quit\n"
        told = subprocess.run([fast, "--quiet", "--interactive"], input=commands, capture_output=True, text=True, check=True)
        assert f"{conditions[-1][1]:,}".replace(",", "") in told.stdout.replace(",", ""), told.stdout


def test_a_value_that_changes_while_nothing_happens_is_found(build_sim, run_sim, tmp_path) -> None:
    """One that is worked out from what no cycle is stepped for, past the words that say so."""
    (tmp_path / "worked_out.lss").write_text(COMPUTED)
    (tmp_path / "worked_out.c").write_text(COMPUTED_C % (" + SP_TIME.cycle", "0"))
    done = run_sim(build_sim("instance t : worked_out;\n", "-O0", "--debug"), "--quiet", "--check-idle", "--cycles", "100", ok=False)
    assert "t: next_event said cycle 1000, and twice changed in cycle 1" in done.err, done.err


def test_a_wave_past_its_last_time_fails(build_sim, run_sim, tmp_path) -> None:
    simulator = build_sim(machine(["3 Hz"]), "-O0")
    run_sim(simulator, "--quiet", "--time", "9000 s", "--wave", "w.vcd")
    done = run_sim(simulator, "--quiet", "--time", "10000 s", "--wave", "w.vcd", ok=False)
    assert done.err == 'sim1: error: the wave "w.vcd" ends at 9223.37 s: its times are 64 bits wide, in units of 1e-15 s (end it before that, with --wave-to)\n'


def test_what_takes_long_ends_with_a_signal(build_sim, tmp_path) -> None:
    """Samples at one instant, idle time in a wave."""
    simulator = build_sim(machine(["1 Hz"]), "-O0", "--wave", "**")
    for options in (["--sample", "1 fs", "--stats", "s.json"], ["--wave", "w.vcd", "--time", "8000000000 s"], ["--check-replay", "--time", "8000000000 s"]):
        process = subprocess.Popen([simulator, "--quiet", *options], cwd=tmp_path)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 128 + signal.SIGTERM, options


# ---- Any clocks -------------------------------------------------------------------------------------------------------


def random_clock(rng: random.Random) -> tuple[str, Fraction]:
    hertz = int(10 ** rng.uniform(0, 10))
    match rng.randrange(4):
        case 0:
            return f"{hertz} Hz", Fraction(hertz)
        case 1:
            divisor = rng.randrange(1, 1000)
            return f"{hertz} Hz / {divisor}", Fraction(hertz, divisor)
        case 2:
            digits = f"{hertz / 10**6:.6f}"
            return (f"{digits} MHz", Fraction(digits) * 10**6) if float(digits) else ("1 Hz", Fraction(1))
        case _:
            size = 10 ** rng.randrange(0, 10)
            round_number = max(1, hertz // size) * size
            return f"{round_number} Hz", Fraction(round_number)


def check_a_set(lss, run_sim, tmp_path: Path, seed: int) -> bool:
    """Of 2 to 6 clocks: a year passes within a second of the host's processor; or two clocks are named.  Whether they
    are accepted."""
    rng = random.Random(seed)
    clocks = [random_clock(rng) for _ in range(rng.randrange(2, 7))]
    (tmp_path / "set.lss").write_text(machine([text for text, _ in clocks]))
    built = lss("build", "-O0", "set.lss", "-o", "set", ok=None)
    if built.status:
        assert re.search(r"error\[clock-range\]: `c\d` \(.*\) is too (fast|slow) with `c\d` \(", built.err), built.err
        return False
    for line in built.err.splitlines():
        assert "warning" not in line or re.search(r"warning\[time-base\]: `c\d` \(.*\)( with `c\d` \(.*\))? needs ticks so fine", line), line
    done = run_sim(tmp_path / "set", "--quiet", "--time", f"{YEAR} s", timeout=5)
    check_end(done, [frequency for _, frequency in clocks], YEAR)
    return True


def test_some_sets_of_clocks_last_a_year(lss, run_sim, tmp_path) -> None:
    assert sum(check_a_set(lss, run_sim, tmp_path, seed) for seed in range(6)) >= 3


@pytest.mark.soak
def test_two_thousand_sets_of_clocks_last_a_year(lss, run_sim, tmp_path) -> None:
    assert sum(check_a_set(lss, run_sim, tmp_path, seed) for seed in range(2000)) >= 1900
