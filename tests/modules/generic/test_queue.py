"""queue: first in first out; accepts from state, so never by the reader's acknowledgment of the same cycle."""

import pytest

from tests.modules.harness import Bench, Device, moved


def queue(bench: Bench, depth: int) -> Device:
    return Device(
        bench,
        "queue",
        {"in": ("in", 1, "uint32"), "out": ("out", 1, "uint32"), "filling": ("out", 1, "uint32")},
        f"depth = {depth};",
    )


def test_room_is_seen_a_cycle_later(bench: Bench) -> None:
    ran = queue(bench, 2).check_table(
        """
        in | in.ack | out | out.ack | filling
        1  | 1      | .   | 0       | 0
        2  | 1      | 1   | 0       | 1
        3  | 0      | 1   | 1       | 2
        3  | 1      | 2   | 0       | 1
        .  | 0      | 2   | 1       | 2
        .  | 1      | 3   | 1       | 1
        .  | 1      | .   | 1       | 0
        """
    )
    assert (ran.stat("dut", "full_cycles"), ran.stat("dut", "peak")) == (1, 2)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_throughput_is_one_a_cycle_from_two_entries_on(bench: Bench, depth: int) -> None:
    out = moved(queue(bench, depth).stream(100, 1)["out", 0])
    assert len(out) == (50 if depth == 1 else 99)


@pytest.mark.parametrize("seed", range(3))
def test_order_is_kept(bench: Bench, seed: int) -> None:
    device = queue(bench, 3)
    seen = device.stream(400, seed, offer=0.8, cancel=0.2, ready=0.5)
    out = [item for _, item in moved(seen["out", 0])]
    assert len(out) > 100 and out == list(range(len(out)))
    assert device.last.stat("dut", "peak") == 3
