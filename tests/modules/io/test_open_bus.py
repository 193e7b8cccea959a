"""open_bus: every byte reads the same, and nothing keeps what is written."""

import pytest

from tests.modules.harness import MOST_CHECKED, Bench
from tests.modules.io.registers import Registers
from tests.sample import sampled


@pytest.mark.parametrize(("value", "word"), sampled([(0xFF, 0xFFFFFFFF), (0, 0), (0x5A, 0x5A5A5A5A)], 3, 2))
def test_what_reads_give(value: int, word: int, bench: Bench) -> None:
    device = Registers(bench, "open_bus", f"value = {value};", interrupt=False)
    script = ["0 read 4 0", "1 write 4 0x10 7", "2 read 4 0x10", "3 read -1 0x7ff", "4 barrier 1 0", "5 fetch_add 4 0 1"]
    [replies] = device.memory.play([script], 100 * MOST_CHECKED, outstanding=4)
    signed = word | 0xFFFFFF00 if value & 0x80 else value
    assert [(a.cycle, a.error, a.data) for a in replies[:5]] == [(1, False, word), (2, False, 0), (3, False, word), (4, False, signed), (5, False, 0)]
    assert replies[5].error and device.last.counted("dut") == {"accesses": 4}
    assert device.last.stats["run"]["skipped_cycles"] > 99 * MOST_CHECKED


@pytest.mark.parametrize("seed", range(2))
def test_requests_that_are_offered_and_cancelled_at_random(seed: int, bench: Bench) -> None:
    device = Registers(bench, "open_bus", "value = 0x5a;", interrupt=False)
    script = [f"0 {'read' if k % 3 else 'write'} 2 {2 * k} 1 {k}" for k in range(300)]
    settings = {"requester[0].offer": 0.5, "requester[0].cancel": 0.3}
    [replies] = device.memory.play([script], 2000, settings, outstanding=4, seed=seed)
    assert [(a.tag, a.data) for a in replies] == [(k, 0x5A5A if k % 3 else 0) for k in range(300)], f"seed {seed}"
