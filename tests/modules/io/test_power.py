"""power: ends the run with the exit status that was written before."""

import pytest

from tests.modules.harness import MOST_CHECKED, Bench, collect, read_replies
from tests.modules.io.registers import Accesses, Registers
from tests.sample import sampled


def power(bench: Bench, body: str = "", **options) -> Registers:
    return Registers(bench, "power", body, interrupt=False, after=collect("dut", "ended(status)"), **options)


@pytest.mark.parametrize(("status", "told"), [(0, 0), (1, 1), (77, 77), (0x1FE, 254), (0x100, 1), (0xFFFFFFFF, 255)])
@pytest.mark.parametrize("big", sampled([False, True], 2))
def test_the_run_ends_with_the_status(status: int, told: int, big: bool, bench: Bench) -> None:
    """Both are bytes in the order of their addresses; a big-endian requester turns its words, as Linux does for such a device."""
    device = power(bench, f"big_endian = {str(big).lower()};")
    order = "big" if big else "little"
    word = int.from_bytes(status.to_bytes(4, "little"), order)
    accesses = Accesses().write(0, 4, word, 4).read(1, 4, 4).write(9, 0, int.from_bytes(b"\x42\0\0\0", order), 4)
    device.memory.play([accesses.lines], 1000, ok=told == 0)
    assert device.last.status == told
    assert f"the machine was switched off{f' with status {status}' if status else ''} after" in device.last.err
    assert device.last.stat("dut", "status") == status and device.happened("ended") == [(9, status)]
    assert device.last.stats["run"]["cycles"]["clk"] == 10


def test_other_values_do_nothing(bench: Bench) -> None:
    """Nor does the value in another byte; what reads show is the status, and addresses repeat."""
    device = power(bench, "value = 0x55;")
    accesses = Accesses().write(0, 0, 0x42, 1).write(1, 1, 0x55, 1).write(2, 0, 0x5542, 4).write(3, 6, 0x1234, 2)
    accesses.read(5, 4, 4).read(5, 12, 1).read(6, 0, 4).write(20, 8, 0x55, 1)
    accesses.lines.insert(4, "3 write 1 4 52")
    device.memory.play([accesses.lines], 1000, {"requester[0].record": "replies0.txt"}, outstanding=4, ok=False)
    replies = read_replies(device.last.directory / "replies0.txt")
    assert device.last.status == 52 and device.happened("ended") == [(20, 0x12340034)]
    assert [reply.data for reply in replies[5:8]] == [0x12340034, 0x34, 0]


def test_replies_come_a_cycle_later(bench: Bench) -> None:
    device = power(bench)
    script = ["0 read 4 0", "1 write 1 4 9", "2 barrier 1 0", "3 read -1 4", "4 swap 4 0 0x42"]
    [replies] = device.memory.play([script], 100 * MOST_CHECKED, outstanding=4)
    assert [(a.cycle, a.error, a.data) for a in replies] == [(1, False, 0), (2, False, 0), (3, False, 0), (4, False, 9), (5, True, 0)]
    assert device.last.stats["run"]["skipped_cycles"] > 99 * MOST_CHECKED


@pytest.mark.parametrize("seed", range(3))
def test_requests_that_are_offered_and_cancelled_at_random(seed: int, bench: Bench) -> None:
    device = power(bench)
    accesses = Accesses()
    for k in range(200):
        accesses.write(0, 4 + k % 4, k).read(0, 4 + k % 4)
    settings = {"requester[0].offer": 0.4, "requester[0].cancel": 0.3}
    [replies] = device.memory.play([accesses.lines], 4000, settings, outstanding=4, seed=seed)
    assert [reply.data for reply in replies][1::2] == list(range(200)), f"seed {seed}"
