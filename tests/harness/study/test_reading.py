"""What a run counted, as expressions ask for it: windows, series, parameters, and what there is not."""

import pytest

from harness.study import reading
from harness.study.expression import ExpressionError, NoValue
from harness.study.parameters import Parameter
from harness.study.reading import Counted, PointReading

STATS = {
    "statistics": [
        {"path": "a", "name": "moved", "value": 9, "difference": True},
        {"path": "a", "name": "deepest", "value": 7, "difference": False},
        {"path": "b", "name": "moved", "value": 4},
    ],
    "run": {"cycles": {"clk": 100}, "simulated_ns": 500},
}
SNAPSHOTS = [
    {"time_fs": 1000, "cycles": {"clk": 10}, "events": {"a.out": 1}, "values": [2, 3, 1]},
    {"time_fs": 3000, "cycles": {"clk": 30}, "events": {"a.out": 5, "b.out": 2}, "values": [8, 7, 4]},
    {"time_fs": 3000, "cycles": {"clk": 30}, "events": {}, "values": [8, 7, 4]},
    {"time_fs": 7000, "cycles": {"clk": 70}, "events": {}, "values": [9, 7, 4]},
]
IN_WINDOW = Counted({"a.moved": 6, "a.deepest": 7, "b.moved": 3}, {"clk": 20}, {"a.out": 4, "b.out": 2}, 2e-12)


def test_a_whole_run() -> None:
    assert reading.counted(STATS) == Counted({"a.moved": 9, "a.deepest": 7, "b.moved": 4}, {"clk": 100}, {}, pytest.approx(5e-7))
    assert reading.counted({}) == Counted({}, {}, {}, 0)


def test_a_window_is_the_difference_of_its_ends() -> None:
    """But for statistics that are no differences, which are as they are at its end."""
    window = {"from": SNAPSHOTS[0], "to": SNAPSHOTS[1]}
    assert reading.counted({**STATS, "measured": window}) == IN_WINDOW
    for missing, says in ("to", "was over"), ("from", "began"):
        with pytest.raises(ExpressionError, match=f"^the run ended before the window {says}$"):
            reading.counted({**STATS, "measured": {**window, missing: None}})


def test_samples_at_one_instant_are_no_stretch() -> None:
    stretches = reading.series({**STATS, "samples": SNAPSHOTS})
    assert [at for at, _ in stretches] == pytest.approx([3e-12, 7e-12]) and stretches[0][1] == IN_WINDOW
    assert stretches[1][1].values == {"a.moved": 1, "a.deepest": 7, "b.moved": 0}
    assert reading.series(STATS) == [] == reading.series({**STATS, "samples": SNAPSHOTS[:1]})


def test_samples_of_the_window() -> None:
    """Only stretches that are within it, by the time since it began."""
    samples = {**STATS, "samples": SNAPSHOTS}
    assert reading.series({**samples, "measured": {"from": SNAPSHOTS[1], "to": SNAPSHOTS[-1]}}, in_window=True) == [
        (pytest.approx(4e-12), reading.series(samples)[1][1])
    ]
    assert reading.series({**samples, "measured": {"from": SNAPSHOTS[0], "to": None}}, in_window=True) == []
    assert reading.series(samples, in_window=True) == reading.series(samples), "the whole run is the window"


@pytest.fixture
def point() -> PointReading:
    """What expressions read of one point."""
    manifest = {
        "parameters": {"cpus": "4", "share": "30 percent", "clock": "2.5 ns"},
    }
    types = {"cpus": ("int", True, 2), "share": ("fraction", True, 0.1), "clock": ("time", True, 1), "kind": ("string", False, "fast"), "lit": ("bool", False, True)}
    known = {name: Parameter(kind, runtime, name, value) for name, (kind, runtime, value) in types.items()}
    measures = {"rate": "a.moved / cycles(clk)", "round": "other", "other": "round", "twice": "2 * rate"}
    return PointReading(
        Counted({"a.moved": 6, "b.moved": 3}, {"clk": 20, "slow": 5}, {"a.out": 4}, 2e-12), manifest, {"payload": 18},
        measures, {"a.half": "a.moved / 2", "b.half": "b.moved / 2", "c.none": "a.moved / none.such"}, {"theory": 7.0},
        {"rate": 0.5}, {"rate": [(1.0, 0.25)]}, known,
    )  # fmt: skip


def test_names(point: PointReading) -> None:
    """A coordinate, what a plug-in measured, another measure; one that needs itself is refused each time."""
    assert [point.name(name) for name in ("payload", "theory", "rate", "twice")] == [18, 7.0, 0.3, 0.6]
    for _ in range(2):
        with pytest.raises(ExpressionError, match="round is measured by itself"):
            point.name("round")
    with pytest.raises(NoValue, match="there is no speed at this point"):
        point.name("speed")


def test_statistics_and_those_worked_out_of_them(point: PointReading) -> None:
    assert point.statistic("a.moved") == 6 and point.statistic("b.half") == 1.5
    assert sorted(point.statistic("*.half").values) == [1.5, 3]
    assert sorted(point.statistic("*.moved").values) == [3, 6]
    with pytest.raises(NoValue, match="c.none has no value here: 'a.moved / none.such': there is no none.such"):
        point.statistic("c.none")


def test_events_cycles_and_time(point: PointReading) -> None:
    assert (point.events("a.out"), point.cycles("slow"), point.cycles("fastest"), point.time()) == (4, 5, 20, 2e-12)
    with pytest.raises(NoValue, match="b.out was not counted"):
        point.events("b.out")
    with pytest.raises(NoValue, match="there is no clock clock"):
        point.cycles("clock")
    point.counted = Counted({}, {}, {}, 0)
    with pytest.raises(NoValue, match="there is no clock fastest"):
        point.cycles("fastest")


def test_parameters(point: PointReading) -> None:
    """What the run was given comes before the default of the netlist; units count."""
    found = [point.parameter(name) for name in ("cpus", "share", "clock", "kind", "lit")]
    assert found == [4, pytest.approx(0.3), pytest.approx(2.5e-9), "fast", True]
    with pytest.raises(NoValue, match="there is no parameter speed"):
        point.parameter("speed")


def test_what_was_published_and_what_converged(point: PointReading) -> None:
    assert point.published("rate") == 0.5 and point.settled("rate", 0.05) == 1.0
    with pytest.raises(NoValue, match="no twice was published for this point"):
        point.published("twice")
    with pytest.raises(NoValue, match="twice was not sampled"):
        point.settled("twice", 0.05)
    with pytest.raises(NoValue, match="there are too few samples"):
        reading.settled([], 0.05)


@pytest.mark.parametrize(
    ("values", "at"),
    [
        ([9, 1, 10, 10, 10], 2),  # what is left of the first is further away than allowed
        ([10, 10, 10, 10, 20], 5),  # one of five is too many
        ([5] + [10] * 6 + [20] + [10] * 9, 1),  # one of sixteen is not
        ([10.5, 10, 10], 0),  # just within
        ([10.6, 10, 10], 1),
        ([-10.5, -10, -10], 0),
        ([1, 2, 3, 4], 3),
        ([20, 10], 1),
    ],
)
def test_where_values_converge(values: list[float], at: int) -> None:
    assert reading.settled(list(enumerate(values)), 0.05) == min(at, len(values) - 1)
