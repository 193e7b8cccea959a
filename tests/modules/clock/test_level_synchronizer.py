"""level_synchronizer: the reader sees, in every cycle, what the writer showed last before the reader's edge."""

import pytest

from tests.modules.harness import Bench, moved, read_monitor
from tests.sample import sampled

NETLIST = """
clock writer_clock = {writer} MHz;
clock reader_clock = {reader} MHz;
instance s : source on writer_clock;
instance enters : monitor on writer_clock;
instance level : level_synchronizer;
instance leaves : monitor on reader_clock;
instance k : sink on reader_clock;
s.out -> enters.in : uint32;
enters.out -> level.in;
level.out -> leaves.in;
leaves.out -> k.in;
"""


@pytest.mark.parametrize("interval", [1, 3, 17])
@pytest.mark.parametrize(("writer", "reader"), sampled([(100, 100), (88, 100), (100, 88), (100, 25), (25, 100), (66, 125)], 3, 1))
def test_the_latest_older_value_is_seen(bench: Bench, writer: int, reader: int, interval: int) -> None:
    """Instants in units of 1 / (writer * reader): the writer's edge w is at w * reader, the reader's edge r at r * writer."""
    simulator = bench.build(NETLIST.format(writer=writer, reader=reader))
    ran = bench.run(simulator, 200, {"enters.record": "in.txt", "leaves.record": "out.txt", "s.interval": interval})
    entered, left = moved(read_monitor(ran.directory / "in.txt")), moved(read_monitor(ran.directory / "out.txt"))
    assert len({seen for _, seen in left}) > 2
    assert [r for r, _ in left] == list(range(len(left))), "what is sent in every cycle is seen in every cycle"
    for r, seen in left:
        assert seen == next((item for w, item in reversed(entered) if w * reader < r * writer), 0)
