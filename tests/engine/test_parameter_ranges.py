"""What a parameter may be, as its declaration says, holds for a simulator's command line too."""

import pytest

MACHINE = """
runtime parameter chance = 0.5 : float in 0.25..;   /** of taking an item */
runtime parameter pause = 2 us : time in ..1 ms;    /** of a timer */
runtime parameter program = "" : string;            /** nothing's */
runtime parameter watchdog = 20 us : time;          /** the engine's */
instance t : timer { pause = pause; };
instance s : source { count = 5; };
instance k : sink { ready = chance; };
s.out -> k.in : uint32;
"""
TIMER = "module timer { runtime parameter pause = 1 us : time; runtime parameter bytes = 0 B : size; state { int64 seen; } phase_end; }\n"


@pytest.fixture(scope="module")
def simulator(build_dir, tmp_path_factory):
    import subprocess

    folder = tmp_path_factory.mktemp("ranges")
    (folder / "m.lss").write_text(MACHINE)
    (folder / "timer.lss").write_text(TIMER)
    (folder / "timer.c").write_text("phase_end() { self->seen = param(pause) + (param(bytes) != 0); }\n")
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "m.lss", "-o", "sim"], cwd=folder, check=True)
    return folder / "sim"


@pytest.mark.parametrize(
    "option, error",
    [
        ("chance=2", "chance: 2 is outside its range, 0.25 to 1.0"),
        ("chance=0.1", "chance: 0.1 is outside its range, 0.25 to 1.0"),  # the machine allows less than its sink
        ("k.ready=1.5", "chance: 1.5 is outside its range, 0.25 to 1.0"),
        ("s.interval=0", "s.interval: 0 is outside its range, at least 1"),
        ("pause=1.5 ms", "pause: 1.5 ms is outside its range, at most 1 ms"),
    ],
)
def test_a_value_outside_is_refused(simulator, run_sim, option, error) -> None:
    done = run_sim(simulator, "--cycles", 10, "--set", option, ok=False)
    assert done.status == 2 and done.err.splitlines() == [f"sim: {error}"]


def test_the_largest_quantity(simulator, run_sim) -> None:
    """Below 2^63 of the base unit."""
    run_sim(simulator, "--cycles", 10, "--set", "t.bytes=9007199254740991 KiB")
    error = run_sim(simulator, "--cycles", 10, "--set", "t.bytes=9007199254740992 KiB", ok=False).err
    assert error.startswith('sim: t.bytes: "9007199254740992 KiB" is too large; ') and error.count("\n") == 1


@pytest.mark.parametrize("option", [("--program", "x"), ("--program=",), ("--set", "program=x")])
def test_what_no_module_reads_is_refused(simulator, run_sim, option) -> None:
    done = run_sim(simulator, "--cycles", 10, *option, ok=False)
    assert (done.status, done.err) == (2, 'sim: "program" cannot be set: no module of this machine reads it\n')


@pytest.mark.parametrize("option", [("--watchdog", "300 ns"), ("--set", "watchdog=300 ns")])
def test_the_machine_s_timeout_is_set_like_a_parameter(simulator, run_sim, option) -> None:
    """A run of nothing more after five items; the manifest says what held."""
    done = run_sim(simulator, "--cycles", 100_000, *option, ok=False)
    assert done.status == 1 and "no progress for 0.0003 ms" in done.err
    assert done.stats["manifest"]["parameters"]["watchdog"] == "300 ns"


def test_a_timeout_of_zero_is_none(simulator, run_sim) -> None:
    assert "no progress for 0.02 ms" in run_sim(simulator, "--cycles", 100_000, ok=False).err
    run_sim(simulator, "--cycles", 100_000, "--watchdog", "0 ns")


def test_bounds_belong_to_the_range(simulator, run_sim) -> None:
    for value in ("0.25", "1"):
        run_sim(simulator, "--cycles", 10, "--set", f"chance={value}", "--set", "pause=1 ms")


def test_help_shows_ranges(simulator, run_sim) -> None:
    text = run_sim(simulator, "--help").out
    assert "= 0.5, 0.25 to 1.0\n" in text and "= 2 us, at most 1 ms\n" in text and "= 1, at least 1\n" in text
