"""Intervals between two events: what the collector counts, whose events belong together, what is measured, what is refused."""

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.firmware import tool
from harness.run.progress import Progress
from harness.study import expression, intervals, machine, outputs, reading, runner
from harness.study.reading import Counted, PointReading, between
from harness.study.statistics import errors
from harness.study.study_file import Interval, StudyError
from tests.harness.chain import ROOT, STUDY, make
from tests.isa import system
from tests.isa.system_core import KSEG0_CACHED, boot

CONTROLLED = "\ninstance nobody : source { count = 0; };\nnobody.out -> core.control : core_control;\n"
HERE = Path(__file__).parent
TWO = """
title = "two"
machine = "chain.lss"
base = { "D.stages" = 3 }
text = { "option.script" = "10 1\\n20 2\\n40 3\\n" }
sample = { every = "150 ns", measures = ["latest"] }
[[interval]]
name = "way"
from = "event(producer.produced)"
to = "event(consumer.taken)"
[[interval]]
name = "pair"
from = "event(consumer.in.transferred)"
to = "event(consumer.in.transferred, 2)"
[measure]
latest = "way.most"
middle = "median(way.series)"
none = "second.count or 7"
"""


def test_a_chain(place: Path) -> None:
    """Three pipes take three cycles more than none; samples on the way are no loss."""
    outcome = make(place, TWO.replace("event(producer.produced)", "event(producer.out.transferred)").replace('none = "second.count or 7"', ""))
    [row] = outcome.rows
    assert row.status == "ok", row.why
    assert [row.measures[f"way.{what}"] for what in ("count", "mean", "least", "most", "p99", "jitter")] == [3, 3, 3, 3, 3, 1]
    assert row.intervals == {"way": (3.0, 3.0, 3.0), "pair": (30.0,)} and row.measures["middle"] == 3
    outputs.write(outcome, place / "out")
    assert (place / "out/intervals-0.csv").read_text() == "interval,number,cycles\nway,1,3\nway,2,3\nway,3,3\npair,1,30\n"
    assert "--collect" in outputs.command(outcome.study, row.point)


PROGRAM = r"""
#include <stdio.h>
#define SPINACH_REPORT(gauge, name, value, unit, ...) (void)spinach_id, printf("%s %llu\n", name, (unsigned long long)(value))
#define report_gauge(name, value, unit, ...) SPINACH_REPORT(true, name, value, unit, __VA_ARGS__)
#include "generic/interval_times.h"

int main(void) {
  static interval_times times;
  interval_source of[2] = {0};
  const bool moded[] = {true, false};
  interval_begin(&of[0], 100, 1);
  interval_mode(&of[0], 140, false); // so it was in user mode before
  interval_mode(&of[0], 150, true);
  interval_end(&times, &of[0], 160, 1, true);
  interval_end(&times, &of[0], 170, 1, true); // none is open
  interval_begin(&of[0], 200, 2);
  interval_begin(&of[1], 205, 1);
  interval_begin(&of[0], 210, 2);
  interval_begin(&of[0], 220, 1); // again: what was open is dropped
  interval_end_oldest(&times, of, moded, 2, 225, 1);
  interval_end_oldest(&times, of, moded, 2, 230, 1);
  interval_end_oldest(&times, of, moded, 2, 240, 1);
  interval_report(&times, 0, "a", 1.0);
  interval_report(&times, 0, "b", 1.0);
  for (unsigned i = 0; i < 1500; i++) {
    interval_begin(&of[1], 1000 * i, 1);
    interval_end(&times, &of[1], 1000 * i + i % 100, 1, false);
  }
  interval_report(&times, 0, "c", 1.0);
}
"""


def test_what_the_collector_counts(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM)
    subprocess.run([tool("clang"), "-I", ROOT / "modules", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "main", tmp_path / "main.c"], check=True)
    lines = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {name.removeprefix("interval."): int(value) for name, value in map(str.split, lines)}
    for name in "a", "b":  # read twice, the same
        assert [found[f"{name}.{what}"] for what in ("count", "total", "user_count", "user_total", "stretch", "least", "most")] == [3, 90, 2, 60, 3, 10, 60]
        assert [found[f"{name}.series[{n}]"] for n in range(3)] == [60, 20, 10] and f"{name}.series[3]" not in found
    assert [found[f"c.{what}"] for what in ("count", "stretch", "least", "most", "p99")] == [1503, 1500, 0, 99, 99]
    assert found["c.series[999]"] == 99 and "c.series[1000]" not in found


def instance(path: str, *events: str, clock: str = "cpu") -> dict:
    arguments = {"marker": ["number"], "mode": ["user"], "done": ["lane", "size"]}
    return dict(path=path, leaf=True, clock=clock, parameters=[], state=[], events=[
        dict(name=name, arguments=[dict(name=one, type="int") for one in arguments.get(name, [])]) for name in events])  # fmt: skip


def chip(*instances: dict, cores: tuple[str, ...] = ("c[0].pipe", "c[1].pipe")) -> machine.Machine:
    clocks = [dict(name=name, hertz_numerator=hertz, hertz_denominator=1) for name, hertz in (("cpu", 200), ("io", 50))]
    views = [dict(name="cpu", instance=core, roles={}) for core in cores]
    return machine.Machine(Path("m.lss"), (), dict(instances=list(instances), clocks=clocks, debug_views=views))


TWICE = [instance(f"c[{n}].{name}", event) for n in (0, 1) for name, event in (("pipe.a", "marker"), ("pipe.b", "marker"), ("system", "mode"))]


def test_events_of_a_processor_belong_together() -> None:
    """Both slots of a core are one processor; a device ends the oldest interval, and has another clock."""
    text = intervals.collectors([Interval("x", "marker(4)", "marker(5)", ["user"])], chip(*TWICE))
    assert "of[2];" in text and text.count("interval_begin(&self->of[0], cycle, 1)") == 2
    assert 'record on "c[1].system" event mode <<< interval_mode(&self->of[1], cycle, user); >>>' in text
    assert 'record on "c[1].pipe.b" event marker <<< if ((int64_t)number == 5LL) interval_end(&self->times, &self->of[1], cycle, 1, true); >>>' in text
    text = intervals.collectors([Interval("x", "marker(4)", "event(nic.done(lane >= -1), 3)")], chip(*TWICE, instance("nic", "done", clock="io")))
    assert "if ((int64_t)lane >= -1LL) interval_end_oldest(&self->times, self->of, (const bool[]){false, false}, 2, now, 3);" in text
    assert '"x", 200.0 / 1.0 / (double)ticks_per_second());' in text and "&self->of[1], now, 1);" in text
    text = intervals.collectors([Interval("x", "marker(4)", "event(**.marker(number == 4), 3)")], chip(*TWICE))
    assert "{ if (!self->of[1].open) interval_begin(&self->of[1], cycle, 1); }" in text
    fast = chip(*TWICE, instance("fast", "marker"), cores=("c[0].pipe", "c[1].pipe"))
    assert "&self->of[2], cycle, 1, false)" in intervals.collectors([Interval("x", "marker(4)", "marker(5)", ["user"])], fast)


def counted(lengths: list[float], read: int = 0, user: float = 0.0) -> dict[str, float]:
    """What a collector reports."""
    made = dict(count=len(lengths), total=sum(lengths), user_count=len(lengths), user_total=user, stretch=len(lengths) - read, scale=2.0,
                least=min(lengths, default=0), most=max(lengths, default=0), p99=1) | {f"series[{n}]": v for n, v in enumerate(lengths)}  # fmt: skip
    return {f".interval.x.{name}": value for name, value in made.items()}


def of(path: str, values: dict[str, float]) -> float | expression.Values:
    return PointReading(Counted(values, {}, {}, 1), {}, {}, {}, intervals=intervals.value, interval_names=frozenset({"x"})).statistic(path)


def test_measures() -> None:
    values = counted([4, 2, 6], user=3.0)
    assert {what: of(f"x.{what}", values) for what in ("count", "mean", "least", "most", "p99", "jitter", "user")} == {
        "count": 3, "mean": 8, "least": 4, "most": 12, "p99": 12, "jitter": 1.5, "user": 2}  # fmt: skip
    assert of("x.series", values).values == (8, 4, 12)
    assert intervals.all_values([Interval("x", "marker(4)", "marker(5)")], Counted(counted([]), {}, {}, 1)) == {"x.count": 0}
    many = counted([1.0] * 1000) | {".interval.x.count": 2000, ".interval.x.stretch": 2000}
    assert of("x.p99", many) == 2 and len(of("x.series", many).values) == 1000
    for path, values, why in (
        ("x.mean", counted([]), "no interval 'x' ended in the window"), ("x.least", counted([1, 2], read=1), "x.least is not known: statistics were read"),
        ("x.user", counted([1]) | {".interval.x.user_count": 0}, "the mode is not known where the intervals 'x' ended"),
        ("x.p99", many | {".interval.x.p99": math.nan}, "x.p99 is not known: there are samples between more than 1000 intervals"),
    ):  # fmt: skip
        with pytest.raises(expression.NoValue, match=why):
            of(path, values)


def test_the_error_of_a_mean() -> None:
    """That of independent lengths, where all of them are known; carried through measures of nothing else."""
    interval, lengths = Interval("x", "marker(4)", "marker(5)"), [4.0, 6.0, 5.0, 7.0, 3.0, 5.0, 4.0, 6.0]
    whole = Counted(counted(lengths), {}, {}, 1)
    moved = errors.shifts(whole, intervals.single(interval, whole), frozenset())
    assert errors.half(lambda one: intervals.value("x.mean", one), moved) == pytest.approx(2 * errors.half_of_mean(lengths))
    assert errors.half(lambda one: intervals.value("x.mean", one) / 4, moved) == pytest.approx(errors.half_of_mean(lengths) / 2)
    for values in (counted(lengths, read=1), counted([1.0] * 1000) | {".interval.x.count": 2000, ".interval.x.stretch": 2000}, counted([])):
        assert intervals.single(interval, Counted(values, {}, {}, 1)) == []
    texts = {"line": "x.mean / 99", "twice": "2 * line + cells", "share": "line / cycles(clk)", "user": "x.user / x.mean", "rate": "line / time",
             "other": "y.mean", "round": "round", "fixed": "3", "scaled": 'line * param("a.b")'}  # fmt: skip
    assert [name for name in ("x.mean", *texts) if intervals.is_of_mean(interval, name, texts)] == ["x.mean", "line", "twice", "scaled"]


def test_samples_within_a_window() -> None:
    """Each read of the statistics ends a stretch; a window has all of those within it."""
    names = list(counted([1, 2]))
    entries = [dict(path="", name=name[1:], difference=name.rpartition(".")[2] in ("count", "total", "user_count", "user_total")) for name in names]

    def snapshot(time: int, count: int, total: int, *lengths: int) -> dict:
        known = counted(list(lengths)) | {".interval.x.count": count, ".interval.x.total": total, ".interval.x.user_count": count}
        return dict(time_fs=time, cycles={}, events={}, values=[known.get(name) for name in names])

    first, last = snapshot(10, 1, 5, 5), snapshot(50, 5, 25, 9, 1)
    stats = dict(statistics=entries, samples=[snapshot(5, 0, 0), snapshot(10, 1, 5, 5), snapshot(20, 3, 15, 3, 7), snapshot(30, 3, 15, 3, 7), snapshot(50, 5, 25, 9, 1)])
    values = intervals.whole(between(stats, first, last), stats, [Interval("x", "marker(4)", "marker(5)")]).values
    assert of("x.series", values).values == (6, 14, 18, 2) and (of("x.least", values), of("x.most", values), of("x.mean", values)) == (2, 18, 10)
    assert of("x.p99", values) == 18


def test_what_is_wrong(place: Path, golden: Callable[[Path, str], None]) -> None:
    """A line for each, before anything is built."""
    lines = []
    good = dict(name="way", begin="event(producer.out.transferred)", to="event(consumer.taken)", parts="[]")
    for change in (
        dict(name="a b"), dict(name="sum"), dict(name="stage"), dict(name="rate"), dict(name="ready"), dict(parts="['kernel']"), dict(parts="['user']"),
        dict(to="8 ms"), dict(to="cycles(clk) >= 5"), dict(to="end"), dict(begin="consumer.items >= 3"), dict(to="marker(5)"), dict(begin="event(producer.nothing)"),
        dict(to="event(consumer.taken(colour == 3))"), dict(to="event(consumer.taken, 0)"), dict(more="until = 'end'"),
    ):  # fmt: skip
        one = good | {"more": ""} | change
        text = "[[interval]]\nname = '{name}'\nfrom = '{begin}'\nto = '{to}'\nparts = {parts}\n{more}\n".format(**one)
        (place / "study.toml").write_text(STUDY.replace("[measure]", text + "[measure]"))
        with pytest.raises(StudyError) as caught:
            runner.prepare(place / "study.toml", place / "build", Progress())
        lines.append(str(caught.value).replace(str(place), "…"))
    twice = "[[interval]]\nname = 'way'\nfrom = 'event(consumer.taken)'\nto = 'event(consumer.taken)'\n" * 2
    for text in STUDY.replace("[measure]", twice + "[measure]"), STUDY.replace("consumer.items", "way.maen").replace("[measure]", twice[: len(twice) // 2] + "[measure]"):
        (place / "study.toml").write_text(text)
        with pytest.raises(StudyError) as caught:
            runner.prepare(place / "study.toml", place / "build", Progress())
        lines.append(str(caught.value).replace(str(place), "…"))
    several = chip(instance("c.pipe.a", "marker"), instance("c.system[0]", "mode"), instance("c.system[1]", "mode"), cores=("c.pipe",))
    clocks = chip(instance("a", "marker"), instance("b", "marker", clock="io"), cores=())
    for known in several, clocks:
        with pytest.raises(StudyError) as caught:
            intervals.collectors([Interval("x", "marker(4)", "marker(5)", ["user"] if known is several else [])], known)
        lines.append(str(caught.value))
    assert all("\n" not in line for line in lines)
    golden(HERE / "interval_errors.golden", "".join(f"{line}\n" for line in lines))


MODES = [
    system.Case("user", "lui $zero, 4\n" + "addiu $t0, $t0, 1\n" * 10 + "lui $zero, 6", user=True),
    system.Case("kernel", "lui $zero, 5\nlui $zero, 7\n" + "addiu $t0, $t0, 1\n" * 10 + "lui $zero, 8"),
] * 2  # fmt: skip


@pytest.mark.parametrize("fast", [False, True])
def test_user_mode(fast: bool, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A processor that enters and leaves it: an interval in it, one that ends in the kernel, and one of the kernel."""
    (tmp_path / "m.lss").write_text((root / "tests/isa/system_machine.lss").read_text() + CONTROLLED)
    given = [root / "examples/host/fast.lss"] if fast else [tmp_path / "m.lss", "-D", "wide=0"]
    lss = build_dir / "bin/lss"
    subprocess.run([lss, "export", *given, "-o", tmp_path / "m.json"], check=True)
    known = machine.Machine(given[0], (), json.loads((tmp_path / "m.json").read_text()))
    every = [Interval(name, f"marker({a})", f"marker({b})", ["user"]) for name, a, b in (("inner", 4, 6), ("outer", 4, 5), ("kernel", 7, 8))]
    (tmp_path / "c.lss").write_text(intervals.collectors(every, known))
    subprocess.run([lss, "build", *given, "-O0", "--collect", tmp_path / "c.lss", "-o", tmp_path / "m"], check=True)
    elf = system.build(MODES, tmp_path / "cases.elf", big=False)
    program = ["--kernel", elf, "--switch_at", "end"] if fast else [*boot(elf, tmp_path, False, KSEG0_CACHED), "--cycles", "400000"]
    subprocess.run([tmp_path / "m", *program, "--quiet", "--stats", tmp_path / "stats.json"], check=True, capture_output=True)
    found = reading.counted(json.loads((tmp_path / "stats.json").read_text()))
    values = {one.name: {what: intervals.value(f"{one.name}.{what}", found) for what in ("count", "mean", "user")} for one in every}
    assert [one["count"] for one in values.values()] == [2, 2, 2]
    assert values["inner"]["user"] == values["inner"]["mean"] >= 11 and values["kernel"]["user"] == 0 < values["kernel"]["mean"]
    assert values["inner"]["user"] <= values["outer"]["user"] < values["outer"]["mean"]
    assert not fast or values["inner"]["mean"] == values["kernel"]["mean"] == 11  # an instruction in a cycle
