"""The formula of the theoretical maximum against the figures of the literature."""


import pytest

from harness.net import theory

# payload, frames/s and payload Mb/s on one direction of a gigabit link
TABLE = [
    (18, 1488095, 214.3),
    (100, 753012, 602.4),
    (200, 469925, 751.9),
    (400, 268240, 858.4),
    (600, 187688, 900.9),
    (800, 144342, 923.8),
    (1000, 117261, 938.1),
    (1200, 98736, 947.9),
    (1472, 81274, 957.1),
]


@pytest.mark.parametrize("payload, frames, megabits", TABLE)
def test_gigabit_table(payload: int, frames: int, megabits: float) -> None:
    assert int(theory.frames_per_second(payload)) in (frames, frames - 1)
    assert round(theory.payload_rate(payload) / 1e6, 1) == megabits


def test_minimum_frame_is_84_byte_times() -> None:
    assert theory.wire_bytes(1) == theory.wire_bytes(18) == 84
    assert theory.wire_bytes(19) == 85


def test_ten_gigabit_is_ten_times() -> None:
    assert theory.payload_rate(1472, 1e10) == pytest.approx(10 * theory.payload_rate(1472))
