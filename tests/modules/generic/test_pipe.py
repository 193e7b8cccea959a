"""pipe: items leave `depth` cycles after entering; elastic stages close up, rigid ones move together."""

import pytest

from tests.modules.harness import Bench, Device, moved
from tests.sample import sampled, seldom


def pipe(bench: Bench, depth: int, elastic: bool = True, flush: bool = False) -> Device:
    ports = {"in": ("in", 1, "uint32"), "out": ("out", 1, "uint32")}
    if flush:
        ports["flush"] = ("in", 1, "bool")
    return Device(bench, "pipe", ports, f"depth = {depth}; elastic = {str(elastic).lower()};")


def test_a_register_takes_while_it_gives(bench: Bench) -> None:
    pipe(bench, 1).check_table(
        """
        in | in.ack | out | out.ack
        1  | 1      | .   | 1
        2  | 1      | 1   | 1
        3  | 0      | 2   | 0
        3  | 1      | 2   | 1
        .  | 1      | 3   | 1
        .  | 1      | .   | 1
        """
    )


@seldom
def test_an_elastic_pipe_closes_up(bench: Bench) -> None:
    pipe(bench, 3).check_table(
        """
        in | in.ack | out | out.ack
        1  | 1      | .   | 0
        .  | 1      | .   | 0
        2  | 1      | .   | 0
        .  | 1      | 1   | 0
        3  | 1      | 1   | 0
        4  | 0      | 1   | 0
        4  | 1      | 1   | 1
        .  | 0      | 2   | 0
        .  | 1      | 2   | 1
        .  | 1      | 3   | 1
        .  | 1      | 4   | 1
        """
    )


@seldom
def test_a_rigid_pipe_keeps_its_bubbles(bench: Bench) -> None:
    pipe(bench, 3, elastic=False).check_table(
        """
        in | in.ack | out | out.ack
        1  | 1      | .   | 0
        .  | 1      | .   | 0
        2  | 1      | .   | 0
        3  | 0      | 1   | 0
        3  | 1      | 1   | 1
        .  | 1      | .   | 1
        .  | 1      | 2   | 1
        .  | 1      | 3   | 1
        .  | 1      | .   | 1
        """
    )


def test_what_is_cancelled_does_not_enter(bench: Bench) -> None:
    pipe(bench, 1).check_table(
        """
        in | in.ack | out | out.ack
        1! | 1      | .   | 1
        2  | 1      | .   | 1
        .  | 1      | 2   | 1
        """
    )


@pytest.mark.parametrize("elastic", [True, False])
def test_flush_drops_what_is_held_and_keeps_what_enters(bench: Bench, elastic: bool) -> None:
    ran = pipe(bench, 3, elastic, flush=True).check_table(
        """
        in | flush | out | out.ack
        1  | .     | .   | 1
        2  | .     | .   | 1
        3  | true  | .   | 1
        .  | .     | .   | 1
        .  | false | .   | 1
        .  | .     | 3   | 1
        .  | .     | .   | 1
        """
    )
    assert ran.stat("dut", "flushed") == 2


@pytest.mark.parametrize("depth", sampled([1, 2, 5], 3, 1))
@pytest.mark.parametrize("elastic", [True, False])
def test_the_first_item_leaves_after_depth_cycles_and_then_one_a_cycle(bench: Bench, depth: int, elastic: bool) -> None:
    out = moved(pipe(bench, depth, elastic).stream(50, 1)["out", 0])
    assert out == [(depth + k, k) for k in range(50 - depth)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("depth", "elastic"), [(1, True), (4, True), (4, False)])
def test_order_is_kept_under_back_pressure(bench: Bench, depth: int, elastic: bool, seed: int) -> None:
    seen = pipe(bench, depth, elastic).stream(400, seed, offer=0.7, cancel=0.2, ready=0.5)
    entered, left = moved(seen["in", 0]), moved(seen["out", 0])
    assert len(left) > 50
    assert [item for _, item in left] == [item for _, item in entered][: len(left)]
    assert len(entered) - len(left) <= depth
    for (at, _), (out, _) in zip(entered, left, strict=False):
        assert out - at >= depth


def test_a_pipe_without_stages_is_refused(bench: Bench) -> None:
    text = "instance s : source; instance p : pipe { depth = 0; }; instance k : sink; s.out -> p.in : uint8; p.out -> k.in;"
    assert "`depth` is 0, outside its range, at least 1" in bench.refuse(text)
