"""The accelerator alone: registers, lines of cells, times, the interrupt, and runs that are restored in a computation."""

import random
import subprocess
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest

from tests.modules.harness import Bench
from tests.rule30.accelerator import (
    CHAIN,
    COMPLETE,
    COMPUTING,
    INTERRUPT,
    NOTIFY,
    OFFSETS,
    Accelerator,
    Script,
    next_line,
    words,
)
from tests.sample import sampled

VALUES = {"version": 0x10000, "control": 0, "status": 0, "reset": 0, "irq_num": 7, "rule_set": 0x1E, "line_length": 1, "start_compute": 0}


# ---- Registers -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("width", [32, 64])
def test_registers_at_the_start(width: int, bench: Bench) -> None:
    """Also those of the lines, and offsets without one; the span repeats."""
    device = Accelerator(bench, "irq_number = 7;", width)
    offsets = [*range(0, 0x200, 4), 0x200, 0x3FC, 0xFFFFFE14]
    seen = device.play(Script().read(*offsets))
    assert seen == [*VALUES.values(), *[0] * 120, 0x10000, 0, 0x1E]
    assert device.last.counted("dut") == {"reads": 131}


def test_writes_and_reset(bench: Bench) -> None:
    """Which bits of each there are; reset takes all back, whatever is written, and is not a state itself."""
    device = Accelerator(bench, "irq_number = 7;")
    script = Script()
    for name in VALUES:
        if name not in ("reset", "start_compute"):
            script.write(name, 0xFFFFFFFF).read(name)
    script.write(OFFSETS["input"], 5).write(OFFSETS["output"], 5).write(0x1FC, 5).read("input", "output", 0x1FC)
    script.write("reset", 0).read(*VALUES)
    seen = device.play(script)
    assert seen == [0x10000, 3, 0, 7, 0xFF, 1024, 0, 0, 0, *VALUES.values()]
    assert device.last.counted("dut") == {"reads": 17, "writes": 10}


@pytest.mark.parametrize(("written", "read"), [(0, 1), (1, 1), (33, 33), (1024, 1024), (1025, 1024), (0x80000000, 1024)])
def test_lengths_of_lines(written: int, read: int, bench: Bench) -> None:
    device = Accelerator(bench)
    assert device.play(Script().write("line_length", written).read("line_length")) == [read]


def test_reset_clears_both_lines(bench: Bench) -> None:
    """What was input gives nothing afterwards, not even by a rule that keeps cells."""
    device = Accelerator(bench)
    script = Script().set_line([1] * 40).write("rule_set", 204)
    script.start()
    script.read("output").write("reset", 1).read("output").write("rule_set", 204).write("line_length", 40)
    script.start()
    assert device.play(script.read("status", "output"), time_to_result="0 s") == [0xFFFFFFFF, 0, COMPLETE, 0]


ACCESSES = ["read 1 0", "read 2 4", "read 8 0", "read 3 4", "read 4 2", "read 4 1", "write 1 0x14 1", "write 8 0x20 1", "write 4 0x22 1", "swap 4 0x14 1",
            "fetch_add 4 0x14 1", "load_linked 4 0x14", "take_run 4 0x14 1"]  # fmt: skip


def test_other_accesses_are_errors(bench: Bench) -> None:
    """And change nothing. A barrier and cache maintenance get a reply, and are no accesses."""
    device = Accelerator(bench)
    replies = device.replies([f"{2 * k} {access}" for k, access in enumerate([*ACCESSES, "barrier 1 0", "maintain 1 0x14 0", "read 4 0x14", "read 4 0x20"])], 60)
    assert [reply.error for reply in replies] == [True] * len(ACCESSES) + [False] * 4
    assert [reply.cycle for reply in replies] == [2 * k + 1 for k in range(len(replies))], "each reply comes one cycle later"
    assert [reply.data for reply in replies[-4:]] == [0, 0, 0x1E, 0]
    assert device.last.counted("dut") == {"errors": len(ACCESSES), "reads": 2}


def test_a_signed_read(bench: Bench) -> None:
    """Fills a wide bus."""
    device = Accelerator(bench)
    script = Script().set_line([1] * 32).write("rule_set", 204)
    script.start()
    lines = [*script.lines, f"{script.cycle} read 4 0xa0", f"{script.cycle + 2} read -4 0xa0"]
    assert [reply.data for reply in device.replies(lines, 60, time_to_result="0 s")][-2:] == [0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF]


# ---- Lines -----------------------------------------------------------------------------------------------------------
LENGTHS = [1, 2, 3, 31, 32, 33, 64, 88, 255, 256, 1000, 1023, 1024]


@pytest.mark.parametrize("length", sampled(LENGTHS, 2))
def test_every_cell(length: int, bench: Bench) -> None:
    """Of patterns by chance and of single cells at both ends, by several rules; bits after the line are 0."""
    rng = random.Random(length)
    device = Accelerator(bench)
    script, expected = Script(), []
    for rule in (30, 110, 90, 0, 255, 1, rng.randrange(256)):
        for pattern in ("chance", "first", "last"):
            cells = [rng.getrandbits(1) if pattern == "chance" else int(k == (0 if pattern == "first" else length - 1)) for k in range(length)]
            script.write("rule_set", rule).set_line(cells)
            script.start()
            script.read_line()
            expected += words(next_line(cells, rule))
    assert device.play(script, time_to_result="0 s") == expected


@pytest.mark.parametrize("rule", sampled(range(256), 16, 14))
def test_every_rule(rule: int, bench: Bench) -> None:
    """All eight neighbourhoods are in this line."""
    cells = [0, 0, 0, 1, 0, 1, 1, 1, 0, 1]
    device = Accelerator(bench)
    script = Script().write("rule_set", rule).set_line(cells)
    script.start()
    assert device.play(script.read("output"), time_to_result="0 s") == [words(next_line(cells, rule))[0]]


@pytest.mark.parametrize("length", [8, 100])
def test_the_output_becomes_the_next_input(length: int, bench: Bench) -> None:
    """While the bit says so: then the same input is computed again."""
    rng = random.Random(length)
    cells = [rng.getrandbits(1) for _ in range(length)]
    device = Accelerator(bench)
    script, expected = Script().set_line(cells).write("control", CHAIN), []
    for _ in range(5):
        script.start()
        script.read_line()
        cells = next_line(cells, 30)
        expected += words(cells)
    script.write("control", 0)
    for _ in range(2):
        script.start()
        script.read_line()
        expected += words(next_line(cells, 30))
    assert device.play(script, time_to_result="0 s") == expected
    assert device.last.stat("dut", "computations") == 7


# ---- Time ------------------------------------------------------------------------------------------------------------
TIMES = [("100 MHz", time) for time in ("0 s", "1 ns", "10 ns", "11 ns", "29 ns", "30 ns", "1 us", "1234567 ps")]
TIMES += [("1350 MHz", time) for time in ("0 s", "1 ns", "10 ns", "100 ns", "1 us")] + [("50 MHz", "1 ns"), ("50 MHz", "10 us"), ("333 MHz", "7 ns")]
UNITS = {"s": 1, "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9), "ps": Fraction(1, 10**12)}


def cycles_of(clock: str, time: str) -> int:
    number, unit = time.split()
    return max(1, ceil(int(number) * UNITS[unit] * int(clock.split()[0]) * 10**6))


@pytest.mark.parametrize(("clock", "time"), TIMES)
def test_when_the_result_is_there(clock: str, time: str, bench: Bench) -> None:
    """The interrupt rises then, and an access in that cycle finds the result, of which one in the cycle before sees nothing."""
    device, cycles = Accelerator(bench, clock=clock), cycles_of(clock, time)
    script = Script().set_line([0, 1, 0, 0]).write("control", NOTIFY)
    started = script.start()
    there = started + cycles
    reads = {there - 1: (COMPUTING, 0), there: (COMPLETE | INTERRUPT, 0b111)}
    for cycle, (status, output) in reads.items():
        for register, value in (("status", status), ("output", output)):
            if cycle <= started:
                continue
            lines = [*script.lines, f"{cycle} read 4 {OFFSETS[register]:#x}"]
            assert device.replies(lines, there + 20, time_to_result=time)[-1].data == value, (register, cycle)
    device.replies(script.lines, there + 20, time_to_result=time)
    assert device.levels() == [(there, True)]
    assert device.last.stat("dut", "busy") == cycles and device.happened("started") == [(started, 4)] and device.happened("completed") == [(there - 1, 4)]


def test_a_millisecond_is_the_default(bench: Bench) -> None:
    """Nothing is stepped in between."""
    device = Accelerator(bench, interrupt=False)
    script = Script().set_line([1])
    started = script.start()
    device.replies(script, 200_000)
    assert device.happened("completed") == [(started + 99_999, 1)] and device.last.stat("dut", "busy") == 100_000
    assert device.last.stats["run"]["skipped_cycles"] > 199_000


# ---- Control ---------------------------------------------------------------------------------------------------------
def test_the_level_of_the_interrupt(bench: Bench) -> None:
    """It falls in the cycle after its bit is cleared, not when the computation's bit is; without `notify` it does not rise."""
    device = Accelerator(bench)
    script = Script().set_line([1] * 8).write("control", NOTIFY)
    rises = script.start() + 3
    script.at(20).write("status", COMPLETE).read("status").write("status", 0).write("control", 0).read("status")
    falls = script.cycle + 1
    script.write("status", INTERRUPT | COMPUTING).read("status")
    script.start()
    script.at(60).read("status").write("status", 0xFFFFFFFF).read("status")
    assert device.play(script, time_to_result="30 ns") == [INTERRUPT, INTERRUPT, 0, COMPLETE, 0]
    assert device.levels() == [(rises, True), (falls, False)]
    assert device.last.counted("dut") == {"reads": 5, "writes": 10, "computations": 2, "interrupts": 1, "busy": 6}


def test_a_start_while_computing_is_ignored(bench: Bench) -> None:
    """And a write without the bit is none."""
    device = Accelerator(bench)
    script = Script().set_line([1] * 8).write("start_compute", 2).read("status")
    there = script.start() + 10
    script.read("status").write("start_compute", 1).write("start_compute", 1).at(there).read("status").at(40).read("status")
    assert device.play(script, time_to_result="100 ns") == [0, COMPUTING, COMPLETE, COMPLETE]
    assert device.happened("started") == [(there - 10, 8)] and device.happened("completed") == [(there - 1, 8)]
    assert device.last.counted("dut") == {"reads": 4, "writes": 6, "computations": 1, "busy": 10}


@pytest.mark.parametrize("delay", [2, 8, 9])
def test_a_reset_drops_a_computation(delay: int, bench: Bench) -> None:
    """Up to the cycle before its result; the next one takes its whole time."""
    device = Accelerator(bench)
    script = Script().set_line([1] * 8).write("control", NOTIFY)
    script.at(script.start() + delay).write("reset", 1).read("status", "line_length").set_line([0, 1, 0])
    there = script.start() + 10
    seen = device.play(script.at(there + 2).read("status", "output"), time_to_result="100 ns")
    assert seen == [0, 1, COMPLETE, 0b111] and device.levels() == []
    assert device.last.counted("dut") == {"reads": 4, "writes": 8, "computations": 1, "dropped": 1, "busy": 10 + delay + 1}


# ---- Runs ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("cycle", [8, 15, 60, 108])
def test_a_restored_run_goes_on(cycle: int, bench: Bench, tmp_path: Path) -> None:
    """From checkpoints before, in and after a computation. Another time to the result holds for the next computation."""
    script = Script().set_line([0, 1, 0, 0] * 10).write("control", NOTIFY | CHAIN)
    started = script.start()
    script.at(150).read_line().read("status", "control", "line_length")
    script.write("status", 3)
    script.start()
    script.at(400).read_line().read("status")
    (tmp_path / "script").write_text("".join(f"{line}\n" for line in script.lines))
    simulator = Accelerator(bench).memory.simulator

    def run(name: str, *given: str) -> tuple[str, str]:
        recorded = ["--set", f"requester[0].record={name}", "--set", f"line.record={name}.line"]
        done = subprocess.run([simulator, "--quiet", *recorded, *given], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_text(), (tmp_path / f"{name}.line").read_text()

    start = ["--set", "requester[0].script=script", "--set", "dut.time_to_result=1 us"]
    whole = run("whole", *start, "--cycles", "500")
    first = run("first", *start, "--cycles", str(cycle), "--checkpoint", "point")
    rest = run("rest", "--restore", "point", "--cycles", "500")
    assert tuple(map("".join, zip(first, rest, strict=True))) == whole
    other = run("other", "--restore", "point", "--cycles", "500", "--set", "dut.time_to_result=500 ns")
    rises = [next(k for k, line in enumerate((one[1] + two[1]).splitlines()[from_cycle:], from_cycle) if " true " in line)
             for one, two, from_cycle in ((first, rest, 0), (first, other, 0))]  # fmt: skip
    assert rises == [108, 108 if cycle > started else 58]


@pytest.mark.parametrize("seed", range(3))
def test_accesses_that_are_offered_and_cancelled_by_chance(seed: int, bench: Bench) -> None:
    """Each is done once."""
    rng = random.Random(seed)
    cells = [rng.getrandbits(1) for _ in range(70)]
    script = Script().set_line(cells).write("control", CHAIN)
    expected = []
    for _ in range(20):
        script.start()
        script.read(OFFSETS["output"], OFFSETS["output"] + 8)
        cells = next_line(cells, 30)
        expected += words(cells)[:3:2]
    device = Accelerator(bench)
    settings = {"requester[0].offer": 0.4, "requester[0].cancel": 0.3, "dut.time_to_result": "0 s"}
    [replies] = device.memory.play([script.lines], 2000, settings, seed=seed)
    assert [reply.data for reply, line in zip(replies, script.lines, strict=True) if " read " in line] == expected, f"seed {seed}"


WRONG = [
    ("instance dut : rule30 { width = 16; };", "width"),
    ("instance dut : rule30 { irq_number = -1; };", "irq_number"),
    ("instance dut : rule30 { time_to_result = 5; };", "time_to_result"),
    ("instance r[2] : memory_source;\ninstance dut : rule30;\nr[0].memory -> dut.in;\nr[1].memory -> dut.in;", "rule30 has one requester"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_what_is_refused(text: str, words: str, lss, root: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.lss").write_text(f"import rule30;\n{text}\n")
    done = lss("check", "--netlist-only", tmp_path / "wrong.lss", "-I", root / "examples/rule30", ok=False)
    assert words in done.err.splitlines()[0]


def test_a_time_that_is_none(bench: Bench) -> None:
    device = Accelerator(bench)
    device.memory.play([[]], 10, {"dut.time_to_result": "-1 ns"}, ok=False)
    assert device.last.err.count("\n") == 1 and "time_to_result" in device.last.err
