"""sink: refuses by pattern or by chance, records, counts, and can end the run."""

from tests.modules.harness import Bench, collect, happened, read_items

NETLIST = "instance s : source; instance k : sink; s.out -> k.in : uint32;" + collect("k", "taken()")


def test_a_pattern_repeats(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 9, {"k.pattern": "0110", "k.record": "items.txt"})
    assert [cycle for cycle, _ in read_items(ran.directory / "items.txt")] == [1, 2, 5, 6]
    assert (ran.stat("k", "items"), ran.stat("k", "last")) == (4, 6)
    assert happened(ran, "taken") == [(1,), (2,), (5,), (6,)]


def test_chance_takes_about_its_share(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 4000, {"k.ready": 0.25})
    assert 850 < ran.stat("k", "items") < 1150


def test_a_limit_ends_the_run_in_good_order(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 1000, {"k.limit": 5, "k.record": "items.txt"})
    assert len(read_items(ran.directory / "items.txt")) == 5


def test_a_wrong_pattern_is_one_clear_line(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 10, {"k.pattern": "01x"}, ok=False)
    assert "a pattern is made of 0 and 1" in ran.err
