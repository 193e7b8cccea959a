"""clock_crossing: items keep their order between any two clocks, and are seen only when they are older than the edge."""

import pytest

from tests.modules.harness import Bench, moved, read_monitor
from tests.sample import sampled, seldom

NETLIST = """
{clocks}
instance s : source on writer_clock;
instance enters : monitor on writer_clock;
instance bridge : clock_crossing {{ depth = {depth}; stages = {stages}; }};
instance leaves : monitor on reader_clock;
instance k : sink on reader_clock;
s.out -> enters.in : uint32;
enters.out -> bridge.in;
bridge.out -> leaves.in;
leaves.out -> k.in;
"""


def declared(writer: int, reader: int, reader_first: bool = False) -> str:
    """The clocks; at an instant in which both have an edge, the one that is declared first acts first."""
    lines = [f"clock writer_clock = {writer} MHz;", f"clock reader_clock = {reader} MHz;"]
    return "\n".join(lines[::-1] if reader_first else lines)


def cross(
    bench: Bench,
    writer: int,
    reader: int,
    cycles: int,
    *,
    depth: int = 4,
    stages: int = 1,
    seed: int = 1,
    reader_first: bool = False,
    **settings: object,
):
    simulator = bench.build(NETLIST.format(clocks=declared(writer, reader, reader_first), depth=depth, stages=stages))
    values = {"enters.record": "in.txt", "leaves.record": "out.txt"} | {
        key.replace("_", "."): v for key, v in settings.items()
    }
    ran = bench.run(simulator, cycles, values, seed=seed)
    return moved(read_monitor(ran.directory / "in.txt")), moved(read_monitor(ran.directory / "out.txt"))


@pytest.mark.parametrize(
    ("writer", "reader", "stages"),
    sampled([(*clocks, stages) for clocks in [(100, 100), (88, 100), (100, 88), (100, 25), (25, 100), (66, 125)] for stages in (1, 2)], every=6, first=3),
)
def test_an_item_is_seen_at_the_next_edge_that_is_later(bench: Bench, writer: int, reader: int, stages: int) -> None:
    """Instants in units of 1 / (writer * reader): the writer's edge w is at w * reader, the reader's edge r at r * writer."""
    entered, left = cross(bench, writer, reader, 200, depth=4, stages=stages, s_interval=20)
    assert len(left) >= 2
    for (w, item), (r, same) in zip(entered, left, strict=False):
        assert item == same
        earliest = w * reader // writer + stages
        assert r == earliest


@pytest.mark.parametrize(("writer", "reader"), sampled([(100, 100), (88, 100), (100, 88), (100, 33)], 4, 1))
def test_throughput_is_that_of_the_slower_clock(bench: Bench, writer: int, reader: int) -> None:
    cycles = 2000
    _, left = cross(bench, writer, reader, cycles, depth=6)
    slower = cycles * min(writer, reader) / max(writer, reader)
    assert slower - 8 <= len(left) <= slower + 1


@seldom
def test_two_slots_on_equal_clocks_give_what_the_round_trip_allows(bench: Bench) -> None:
    assert len(cross(bench, 100, 100, 1000, depth=1)[1]) == pytest.approx(500, abs=2)
    assert len(cross(bench, 100, 100, 1000, depth=2)[1]) == pytest.approx(1000, abs=3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("writer", "reader"), [(88, 100), (250, 88), (100, 100)])
def test_order_is_kept_under_back_pressure(bench: Bench, writer: int, reader: int, seed: int) -> None:
    entered, left = cross(bench, writer, reader, 600, seed=seed, s_offer=0.7, s_cancel=0.2, k_ready=0.6)
    assert len(left) > 100
    assert [item for _, item in left] == list(range(len(left)))
    assert 0 <= len(entered) - len(left) <= 4


def test_the_same_clock_on_both_sides_needs_no_domain(bench: Bench) -> None:
    text = "instance s : source; instance c : clock_crossing; instance k : sink; s.out -> c.in : uint8; c.out -> k.in;"
    assert bench.run(bench.build(text), 100).stat("k", "items") == 99


@seldom
@pytest.mark.parametrize(("writer", "reader"), sampled([(100, 100), (100, 50), (50, 100)], 3, 1))
@pytest.mark.parametrize("stages", [1, 2])
def test_what_acts_first_in_an_instant_is_not_seen(bench: Bench, writer: int, reader: int, stages: int) -> None:
    """A full buffer: what leaves and what enters at one edge of both clocks, each is seen by the other side at a later one."""
    both = [cross(bench, writer, reader, 200, depth=2, stages=stages, k_ready=0.5, reader_first=first) for first in (False, True)]
    assert both[0] == both[1] and len(both[0][1]) > 20
