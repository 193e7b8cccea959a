"""tee: all receivers get the item in the same cycle, or none does."""

import pytest

from tests.modules.harness import Bench, Device, moved


def tee(bench: Bench, lanes: int) -> Device:
    return Device(bench, "tee", {"in": ("in", 1, "uint32"), "out": ("out", lanes, "uint32")})


def test_one_refusal_holds_all(bench: Bench) -> None:
    tee(bench, 2).check_table(
        """
        in | in.ack | out[0] | out[1] | out[0].ack | out[1].ack | out[0].enable | out[1].enable
        1  | 1      | 1      | 1      | 1          | 1          | 1             | 1
        2  | 0      | 2      | 2      | 1          | 0          | 0             | 0
        2  | 0      | 2      | 2      | 0          | 1          | 0             | 0
        2  | 1      | 2      | 2      | 1          | 1          | 1             | 1
        3! | 1      | 3      | 3      | 1          | 1          | 0             | 0
        .  | -      | .      | .      | 1          | 1          | -             | -
        """
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_receiver_sees_the_same_items_in_the_same_cycles(bench: Bench, seed: int) -> None:
    seen = tee(bench, 3).stream(400, seed, offer=0.8, cancel=0.3, ready=0.7)
    entered = moved(seen["in", 0])
    assert len(entered) > 30
    assert [item for _, item in entered] == list(range(len(entered)))
    for lane in range(3):
        assert moved(seen["out", lane]) == entered
