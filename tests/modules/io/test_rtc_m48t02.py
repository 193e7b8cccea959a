"""rtc_m48t02: memory, clock in BCD that is held, set and stopped, and interval timers."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.modules.harness import Bench, collect
from tests.modules.io.registers import Accesses, Registers
from tests.sample import seldom

CLOCK, TIMERS = 0x7F8, 0x800
R, W = 0x40, 0x80
SECOND = 100_000_000  # cycles


def rtc(bench: Bench, body: str = "", **options) -> Registers:
    return Registers(bench, "rtc_m48t02", body, after=collect("dut", "expired(timer)"), **options)


def shown(when: datetime, control: int | None = None, battery: int = 0x80) -> list[int]:
    bcd = [int(f"{value}", 16) for value in (when.second, when.minute, when.hour, when.isoweekday(), when.day, when.month, when.year % 100)]
    bcd[3] |= battery
    return [int(f"{when.year // 100}", 16) if control is None else control, *bcd]


def read_clock(accesses: Accesses, cycle: int) -> Accesses:
    for k in range(8):
        accesses.read(cycle + k, CLOCK + k)
    return accesses


DATES = [datetime(2026, 1, 1, tzinfo=UTC), datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)]


@pytest.mark.parametrize("when", DATES)
@pytest.mark.parametrize("century", [True, False])
def test_the_date(when: datetime, century: bool, bench: Bench) -> None:
    device = rtc(bench, f"century = {str(century).lower()};")
    values = device.play(read_clock(Accesses(), 0), 20, {"dut.start": int(when.timestamp())})
    assert values == (shown(when) if century else shown(when, 0, 0))


def test_time_passes_with_the_simulation(bench: Bench) -> None:
    """Midnight of a year's end, after a second less one cycle and after one; nothing is stepped in between."""
    device = rtc(bench, interrupt=False)
    accesses = Accesses().read(SECOND - 1, CLOCK + 1).read(SECOND, CLOCK + 1).read(SECOND + 1, CLOCK + 7).read(SECOND + 2, CLOCK)
    start = int(datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())
    assert device.play(accesses, SECOND + 100, {"dut.start": start}) == [0x59, 0, 0, 0x21]
    assert device.last.stats["run"]["skipped_cycles"] > SECOND - 1000


@seldom
def test_the_memory(bench: Bench, tmp_path: Path) -> None:
    """Words in both byte orders, the first contents from a file, no date without W; addresses repeat."""
    for big in (False, True):
        device = rtc(bench, f"big_endian = {str(big).lower()};", width=64)
        accesses = Accesses().write(0, 0x10, 0x1122334455667788, 8).read(1, 0x10).read(2, 0x14, 4).read(3, 0x1010, 2)
        accesses.read(4, 0, 2).read(5, 0x7F0, 8).write(6, CLOCK + 4, 0x77).read(7, CLOCK + 5)
        image = b"\x01\x02" + bytes(0x7EE) + b"abcdefgh"
        (tmp_path / "image").write_bytes(image)
        values = device.play(accesses, 20, {"dut.image": tmp_path / "image"})
        order = "big" if big else "little"
        stored = 0x1122334455667788.to_bytes(8, order)
        assert values[1:6] == [stored[0], int.from_bytes(stored[4:], order), int.from_bytes(stored[:2], order), int.from_bytes(image[:2], order),
                               int.from_bytes(b"abcdefgh", order)] and values[7] == 1  # fmt: skip
    (tmp_path / "image").write_bytes(bytes(0x7F9))
    device.play(Accesses(), 10, {"dut.image": tmp_path / "image"}, ok=False)
    assert "image: 2041 bytes do not fit: the memory before the clock has 2040" in device.last.err


def test_held_registers_stand(bench: Bench) -> None:
    """While the clock goes on behind them; without W they are not written."""
    device = rtc(bench, interrupt=False)
    accesses = Accesses().write(10, CLOCK, R).read(SECOND + 10, CLOCK + 1).write(SECOND + 11, CLOCK + 1, 0x30).read(SECOND + 12, CLOCK + 1)
    accesses.read(SECOND + 13, CLOCK).write(SECOND + 14, CLOCK, 0).read(SECOND + 15, CLOCK + 1)
    values = device.play(accesses, SECOND + 50)
    assert values == [0, 0, 0, 0, 0x20 | R, 0, 1]


def write_clock(when: list[int], cycle: int) -> Accesses:
    accesses = Accesses().write(cycle, CLOCK, W)
    for k in range(1, 8):
        accesses.write(cycle + k, CLOCK + k, when[k])
    return accesses.write(cycle + 8, CLOCK, when[0])


def test_the_clock_is_set(bench: Bench) -> None:
    """It goes on from there when W is cleared; what is no date changes nothing."""
    device = rtc(bench, interrupt=False)
    when = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    accesses = write_clock(shown(when), SECOND // 2)
    values = device.play(read_clock(accesses, SECOND + SECOND // 2), 2 * SECOND)
    assert values[9:] == shown(when.replace(second=10))
    wrong = shown(when)
    wrong[6] = 0x13
    values = device.play(read_clock(write_clock(wrong, 100), 200), 300)
    assert values[9:] == shown(datetime(2026, 1, 1, tzinfo=UTC))


@seldom
def test_without_a_century(bench: Bench) -> None:
    """The control bits are what was written, and the century stays."""
    device = rtc(bench, "century = false;", interrupt=False)
    when = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    values = device.play(read_clock(write_clock(shown(when, 0x2A, 0), 0), 100), 200)
    assert values[9:] == shown(when, 0x2A, 0)


def test_a_stopped_clock(bench: Bench) -> None:
    device = rtc(bench, interrupt=False)
    when = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    stopped = shown(when)
    stopped[1] |= 0x80
    accesses = read_clock(write_clock(stopped, 0), SECOND + 100)
    going = write_clock(shown(when), SECOND + 200)
    accesses.lines += going.lines
    values = device.play(accesses.read(2 * SECOND + 300, CLOCK + 1), 3 * SECOND)
    assert values[9:17] == stopped and values[-1] == 0x10


@pytest.mark.parametrize("timer", [0, 1])
def test_a_timer(timer: int, bench: Bench) -> None:
    """Its period is in microseconds, 100 cycles each; it comes again until the period is 0; writing 1 ends the interrupt."""
    at = TIMERS + 8 * timer
    device = rtc(bench)
    accesses = Accesses().write(3, at, 2, 4).read(100, at + 4, 4).read(204, at + 4).write(210, at + 4, 1, 4).read(220, at, 4)
    accesses.write(500, at + 4, 2).write(510, at + 4, 1).write(590, at, 0).read(1000, at + 4)
    values = device.play(accesses, 2000)
    assert values == [0, 0, 1, 0, 2, 0, 0, 0, 0]
    assert device.happened("expired") == [(203, timer), (403, timer)]
    assert device.edges() == [(204, True), (211, False), (404, True), (511, False)]
    assert device.last.counted("dut") == {"expirations": 2}


@seldom
def test_how_many_timers_there_are(bench: Bench) -> None:
    for timers in (0, 3):
        device = rtc(bench, f"timers = {timers};", interrupt=timers > 0)
        accesses = Accesses()
        for k in range(4):
            accesses.write(k, TIMERS + 8 * k, 1, 4)
        accesses.read(300, TIMERS + 24, 4).read(301, TIMERS + 16, 4)
        values = device.play(accesses, 400)
        assert values[4:] == [0, 1 if timers else 0]
        assert device.last.counted("dut").get("expirations", 0) == (9 if timers else 0)


def test_a_timer_wakes_what_sleeps(bench: Bench) -> None:
    device = rtc(bench, interrupt=False)
    device.play(Accesses().write(0, TIMERS, 1000, 4), 500001)
    assert device.happened("expired") == [(100000 * k, 0) for k in range(1, 6)]
    assert device.last.stats["run"]["skipped_cycles"] > 499000


@pytest.mark.parametrize("seed", range(3))
def test_requests_that_are_offered_and_cancelled_at_random(seed: int, bench: Bench) -> None:
    device = rtc(bench)
    accesses = Accesses()
    for k in range(200):
        accesses.write(0, 8 * k, k, 2).read(0, 8 * k, 2)
    settings = {"requester[0].offer": 0.4, "requester[0].cancel": 0.3}
    [replies] = device.memory.play([accesses.lines], 4000, settings, outstanding=4, seed=seed)
    assert [reply.data for reply in replies][1::2] == list(range(200)), f"seed {seed}"
    [replies] = device.memory.play([["0 fetch_or 1 0 1", "1 barrier 1 0"]], 20, outstanding=2)
    assert [(a.cycle, a.error) for a in replies] == [(1, True), (2, False)]


@pytest.mark.parametrize("cycle", [2, 150, 460])
def test_a_checkpoint_in_the_midst(cycle: int, bench: Bench, tmp_path: Path) -> None:
    device = rtc(bench)
    accesses = Accesses().write(0, TIMERS, 3, 4).write(1, 5, 77).write(2, CLOCK, W).write(3, CLOCK + 7, 0x30).write(400, CLOCK, 0x20)
    (tmp_path / "script.txt").write_text("\n".join(accesses.read(500, 5).read(501, CLOCK + 7).lines) + "\n")

    def run(name: str, *words: str) -> list[str]:
        files = ["--set", f"line.record={name}.line", "--set", f"requester[0].record={name}.replies"]
        done = subprocess.run([device.memory.simulator, "--quiet", *files, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / f"{name}.line").read_text().splitlines() + (tmp_path / f"{name}.replies").read_text().splitlines()

    settings = ["--set", "requester[0].script=script.txt"]
    whole = run("whole", *settings, "--cycles", "1000")
    first = run("first", *settings, "--cycles", str(cycle), "--checkpoint", "point")
    rest = run("rest", "--restore", "point", "--cycles", "1000")
    assert sorted(whole) == sorted(first + rest)
    assert [int(line.split()[-1], 0) for line in whole[-2:]] == [77, 0x30]
