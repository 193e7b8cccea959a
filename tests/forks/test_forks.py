"""Forks of a run: their results are the same however many execute at once, they leave no trace, and one's failure is its own."""

import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.debug.remote import Waiting

MACHINE = """
instance f : forker;
instance k : sink;
f.out -> k.in;
collector sums on "f" event drew {
  declare <<< uint64_t all; >>>
  record <<< self->all += number; printf("%llu\\n", (unsigned long long)number % 100); >>>
  report <<< report_value("all", self->all, "1", "Sum of all numbers."); >>>
}
"""
CYCLES = 200


@pytest.fixture(scope="module")
def simulator(build_dir: Path, tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    folder = tmp_path_factory.mktemp("forks")
    (folder / "m.lss").write_text(MACHINE)
    subprocess.run([build_dir / "bin" / "lss", "build", "m.lss", "-I", root / "tests/forks", "-o", "m"], cwd=folder, check=True)
    return folder / "m"


def setting(**values: object) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"f.{name}={value}")]


def counts(done) -> dict[str, int]:
    return {name: done.value("f", name) for name in ("ended", "failed", "over", "digest")}


def test_results_do_not_depend_on_how_many_execute_at_once(simulator, run_sim) -> None:
    """Nor on whether the run waits for each of them."""
    runs = [run_sim(simulator, "--quiet", "--cycles", CYCLES, "--forks", n, *setting(steps=3000)) for n in (0, 1, 2, 9)]
    assert counts(runs[0])["ended"] == -(-CYCLES // 7) and counts(runs[0])["digest"]
    for other in runs[1:]:
        assert (other.out, other.err, other.stats["statistics"]) == (runs[0].out, runs[0].err, runs[0].stats["statistics"])


def test_they_leave_no_trace(simulator, run_sim, tmp_path: Path) -> None:
    """What is printed, written, read and recorded is that of a run without any, and so are the counts of collectors; nothing is left in the folder."""
    (tmp_path / "lines").write_text("".join(f"line {'x' * (n % 17)}\n" for n in range(CYCLES + 90)))
    left = []
    for name, most in (("with", CYCLES), ("without", 0)):
        folder = tmp_path / name
        folder.mkdir()
        files = setting(input=tmp_path / "lines", output=folder / "written")
        more = ["--set", f"k.record={folder / 'taken'}", "--record", folder / "recorded", "--record-events", "f.drew", "--wave", folder / "wave.vcd"]
        done = run_sim(simulator, "--quiet", "--cycles", CYCLES, *setting(most=most), *files, *more)
        assert (done.value("f", "ended") > 0) == (most > 0)
        hashed = {path.name: path.read_bytes() for path in folder.iterdir()}
        hashed["wave.vcd"] = re.sub(rb"\$(date|comment)[^$]*\$end", b"", hashed["wave.vcd"])
        left.append((done.out, done.err, sorted(hashed), hashed["written"], hashed["taken"], len(hashed["recorded"]), done.value("f", "all")))
    assert left[0] == left[1]


FAILURES = {
    "error": r"f: no memory answers at 0xdead \(at \d+ ns\)",
    "input": r"f: the line is malformed \(at \d+ ns\)",
    "crash": r"the C of a module failed \(Segmentation fault\) at \d+ ns; .*",
    "kill": r"a signal ended its process: Killed",
    "again": r"f: a forked process cannot fork again: trial of a trial 1 \(at \d+ ns\)",
    "leave": r"its process ended without a result",
}


@pytest.mark.parametrize("way", FAILURES)
@pytest.mark.parametrize("forks", [0, 3])
def test_a_failure_is_one_line(simulator, run_sim, way: str, forks: int) -> None:
    """The others are as without it, and the run goes on."""
    done = run_sim(simulator, "--quiet", "--cycles", CYCLES, "--forks", forks, *setting(odd=4, way=way))
    line = rf"m: warning: f: trial 4, which was forked at 21 ns, failed: {FAILURES[way]}\n"
    assert re.fullmatch(line, done.err), done.err
    assert counts(done)["ended"] == 28 and counts(done)["failed"] == 1 and not counts(done)["over"]


@pytest.mark.parametrize("way", ["exit", "wait"])
def test_a_machine_that_ends_is_no_failure(simulator, run_sim, way: str) -> None:
    done = run_sim(simulator, "--quiet", "--cycles", CYCLES, *setting(odd=4, way=way))
    assert done.err == "" and counts(done)["ended"] == 28 and counts(done)["over"] == 1


def test_one_without_progress_fails(simulator, run_sim) -> None:
    done = run_sim(simulator, "--quiet", "--cycles", CYCLES, "--watchdog", "200 us", *setting(odd=4, way="stick"))
    assert re.fullmatch(r"m: warning: f: trial 4, which was forked at 21 ns, failed: no progress for 0\.2 ms .*\n", done.err), done.err


def test_the_end_of_the_run_does_not_bound_them(simulator, run_sim) -> None:
    """A result does not depend on when the run ends."""
    short, long = (run_sim(simulator, "--quiet", "--cycles", n, *setting(most=1, steps=900)) for n in (1, 5000))
    assert counts(short) == counts(long) and counts(short)["ended"] == 1


def test_wherever_statistics_are_read_they_include_all_that_began(simulator, run_sim) -> None:
    """In samples, at the ends of a window, and where a run waits for commands or for a state."""
    runs = {n: counts(run_sim(simulator, "--quiet", "--cycles", n, *setting(steps=400))) for n in (50, 100, CYCLES)}
    sampled = run_sim(simulator, "--quiet", "--cycles", CYCLES, "--sample", "cycles(clk) >= 50", "--measure-from", "cycles(clk) >= 50", "--measure-to", "cycles(clk) >= 100", *setting(steps=400))
    assert counts(sampled) == runs[CYCLES]
    for end, n in (("from", 50), ("to", 100)):
        names = [(one["path"], one["name"]) for one in sampled.stats["statistics"]]
        assert sampled.stats["measured"][end]["values"][names.index(("f", "digest"))] == runs[n]["digest"]
    until = run_sim(simulator, "--quiet", "--cycles", CYCLES, "--until", "f.ended >= 8", *setting(steps=400))
    assert counts(until) == runs[50] and until.stats["run"]["cycles"]["clk"] == 50
    text = "cycle 50\nstatistics f.digest\ncycle 50\nstatistics f.digest\nquit\n"
    done = subprocess.run([simulator, "--quiet", "--interactive", *setting(steps=400)], input=text, capture_output=True, text=True, timeout=60)
    assert re.findall(r"f\.digest = (\d+)", done.stdout) == [str(runs[n]["digest"]) for n in (50, 100)], done.stdout + done.stderr


def test_a_checkpoint_has_all_results(simulator, run_sim, tmp_path: Path) -> None:
    straight = run_sim(simulator, "--quiet", "--cycles", CYCLES, *setting(steps=2000))
    run_sim(simulator, "--quiet", "--cycles", 90, "--checkpoint", tmp_path / "point", *setting(steps=2000))
    again = run_sim(simulator, "--quiet", "--cycles", CYCLES, "--restore", tmp_path / "point")
    assert counts(again) == counts(straight)


@pytest.mark.parametrize("checks", ["--check-idle", "--check-replay"])
def test_checked_runs_have_the_same_results(simulator, run_sim, checks: str) -> None:
    straight, checked = (run_sim(simulator, "--quiet", "--cycles", CYCLES, *more) for more in ([], [checks]))
    assert counts(checked) == counts(straight)


CORE = """
clock clk = 100 MHz;
instance start : program_start { entry = 0; };
instance core : mips_pipeline { big_endian = false; start_halted = true; };
instance ram : memory_state { width = 32; size = 64 KiB; alias = true; };
start.control -> core.control;
core.fetch -> ram.port;
core.data -> ram.port;
debug memory { 0 .. 0xffffffff = ram.bytes; }
instance f : forker;
instance k : sink;
f.out -> k.in;
"""


def test_a_debugger_that_goes_back_and_on(root: Path, build_sim, run_sim, tmp_path: Path) -> None:
    """It finds the results that there were."""
    simulator = build_sim(CORE, "-I", root / "tests/forks")
    wanted = {n: counts(run_sim(simulator, "--quiet", "--cycles", n, *setting(steps=400)))["digest"] for n in (50, 100)}
    run = Waiting(tmp_path, simulator, "--cycles", 1000, *setting(steps=400))
    gdb, seen = run.remote(), []
    for condition, direction in (("f.ended >= 15", "c"), ("f.ended >= 8", "bc"), ("f.ended >= 15", "c")):
        assert gdb.monitor("break") == gdb.monitor(f"break {condition}") == "" and gdb.ask(direction)
        seen.append((gdb.monitor("where").split(";")[0], gdb.monitor("print f.ended"), gdb.monitor("print f.digest")))
    gdb.close()
    run.process.kill()
    run.end()
    assert seen[0] == seen[2] and seen[0][1:] == ("15\n", f"{wanted[100]}\n"), (seen, wanted)
    assert seen[1][1] == "7\n", seen


def few_descriptors(count: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def test_without_processes_to_be_had_the_run_waits(simulator, run_sim, tmp_path: Path) -> None:
    """For others to end; where none execute, it ends with one line."""
    straight = counts(run_sim(simulator, "--quiet", "--cycles", CYCLES, *setting(steps=3000)))
    ended: dict[bool, int] = {True: 0, False: 0}
    for most in range(4, 14):
        command = [simulator, "--quiet", "--cycles", str(CYCLES), "--forks", "64", "--print", "f.digest", *setting(steps=3000)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=lambda most=most: few_descriptors(most))
        if done.returncode == 0:
            assert f"f.digest = {straight['digest']}" in done.stdout and not done.stderr
        else:
            assert re.search(r"error: f: no process can be forked for trial \d+: Too many open files \(allow this user more processes, or free memory\)", done.stderr), done.stderr
        ended[done.returncode == 0] += 1
    assert ended[True] > 2 and ended[False] > 0


def children(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_they_end_with_the_run(simulator, number: int) -> None:
    """Which a signal ends while they hang, and which is the only one that the signal reaches."""
    running = subprocess.Popen([simulator, "--quiet", *setting(most=3, odd=2, way="hang", every=1), "--forks", "3"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while len(hanging := [pid for pid in children(running.pid) if is_there(pid)]) < 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert hanging
    os.kill(running.pid, number)
    _, err = running.communicate(timeout=30)
    assert running.returncode == (-number if number == signal.SIGKILL else 128 + number), err
    while any(is_there(pid) for pid in hanging) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(is_there(pid) for pid in hanging) and not err
