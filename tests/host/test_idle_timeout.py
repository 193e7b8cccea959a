"""A run in which processors only wait for interrupts, and nothing new happens, ends; one in which anything happens goes on."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulib.test_system import bare
from tests.hosts import fast, wide

# Prints '>', then waits for the timer again and again; in each period it does more.
PROGRAM = """
  LI $s0, 0xbf000900
  LI $s1, {period}
  addiu $t1, $zero, 62
  sb $t1, 0($s0)
  LI $t1, 0x10008000
  mtc0 $t1, $12
  mfc0 $s2, $9
1: addu $s2, $s2, $s1
  mtc0 $s2, $11
{more}
  wait
  b 1b
  nop
"""
COUNTS = 50_000  # of the timer in 0.5 ms
WORKS = """
  LI $t2, 10000
2: bnez $t2, 2b
  addiu $t2, $t2, -1
"""
PRINTS = "  sb $t1, 0($s0)\n"
MARKS = "  lui $zero, 5\n"


def program(where: Path, more: str = "", period: int = COUNTS) -> str:
    return bare(PROGRAM.format(period=period, more=more), where / "waits.elf").name


@pytest.fixture
def host(root: Path, build_sim) -> Callable[..., Path]:
    return lambda *options: build_sim(root / "examples/host/host.lss", *(word for one in options for word in ("-D", one)))


@pytest.mark.parametrize("machine", [(), (wide(),), tuple(fast([]))], ids=["scalar", "wide", "fast"])
def test_processors_that_only_wait_end_the_run(machine: tuple[str, ...], host, run_sim, tmp_path: Path) -> None:
    simulator = host(*machine)
    given = ["--kernel", program(tmp_path), *(["--switch_at", "end"] if machine and "fast" in machine[0] else [])]
    done = run_sim(simulator, *given, "--idle-timeout", "20 ms", ok=False)
    ended = done.stats["run"]["ended"]
    assert done.status == 1 and "error: nothing new has happened for 0.02 s of simulated time: processors only wait" in done.err
    assert re.search(r"the last output or transfer was at \d.*e-07 s", ended) and "console devices.uart:" in done.err
    assert 2e-2 < done.stats["run"]["cycles"]["cpu_clk"] / 2e8 < 2.4e-2
    # In the same cycle after a checkpoint, wherever that was
    for at in ("7 ms", "21 ms"):
        run_sim(simulator, *given, "--idle-timeout", "20 ms", "--time", at, "--checkpoint", "c")
        again = run_sim(simulator, "--restore", "c", "--idle-timeout", "20 ms", ok=False)
        assert again.stats["run"]["ended"] == ended and again.stats["statistics"] == done.stats["statistics"]


def test_a_debug_build_ends_in_the_same_cycle(root: Path, build_sim, run_sim, tmp_path: Path) -> None:
    runs = []
    for options in ((), ("--debug",)):
        simulator = build_sim(root / "examples/host/host.lss", *options)
        runs.append(run_sim(simulator, "--kernel", program(tmp_path), "--idle-timeout", "20 ms", ok=False).stats)
    assert runs[0]["run"]["cycles"] == runs[1]["run"]["cycles"] and runs[0]["statistics"] == runs[1]["statistics"]


@pytest.mark.parametrize(("more", "options"), [
    (WORKS, []),
    (PRINTS, []),
    (MARKS, ["--measure-from", "marker(5)"]),
    ("", ["--idle-timeout", "off"]),
    ("", ["--watchdog", "off"]),
], ids=["works", "prints", "marks", "off", "unwatched"])  # fmt: skip
def test_other_runs_go_on(more: str, options: list[str], host, run_sim, tmp_path: Path) -> None:
    given = ["--kernel", program(tmp_path, more), "--console_output", "printed"]
    done = run_sim(host(), *given, "--idle-timeout", "20 ms", *options, "--time", "80 ms")
    assert done.stats["run"]["ended"] == "all time was simulated"


def test_without_the_option_it_takes_an_hour(host, run_sim, tmp_path: Path) -> None:
    given = ["--kernel", program(tmp_path, period=0x7000_0000), "--quiet"]
    done = run_sim(host(), *given, ok=False)
    assert "nothing new has happened for 3600 s of simulated time" in done.err
    assert run_sim(host(), *given, "--time", "3900 s").stats["run"]["ended"] == "all time was simulated"


@pytest.mark.parametrize(("value", "said"), [
    ("0 s", '--idle-timeout: "0 s" is no time to wait (off: for ever)'),
    ("1", '--idle-timeout: "1" lacks its unit'),
    ("10000 s", '--idle-timeout: "10000 s" is too large (at most 9223 s; off: for ever)'),
])  # fmt: skip
def test_wrong_times(value: str, said: str, host, run_sim) -> None:
    done = run_sim(host(), "--idle-timeout", value, ok=False)
    assert done.status == 2 and said in done.err
