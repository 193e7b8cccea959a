"""The points of a study: which there are, in which order, with which settings, and what is refused."""

import re
from pathlib import Path

import pytest

from harness.study import conditions, machine, points, study_file, windows
from harness.study.points import Point
from harness.study.study_file import StudyError

STUDY = """
title = "t"
machine = "m.lss"
base = { seed = 1, "option.x" = 0 }
skip = ["colour == 'red' and size > 1", "depth > 2"]
axis = [
  { name = "size", setting = "D.size", values = [1, 2] },
  { name = "colour", values = [{ label = "red", settings = { "option.x" = 5 } }, { label = "blue", settings = {} }] },
  { name = "depth", setting = "D.depth", values = [2, 3], only = ["deep"] },
]
variant = [{ name = "flat", settings = { "option.y" = 7 } }, { name = "deep", label = "The deep", machine = "d.lss", use = "u" }]
point = { name = "alone", settings = { "D.size" = 9 } }
"""


def read(place: Path, text: str = STUDY) -> tuple[study_file.StudyFile, Path]:
    file = place / "study.toml"
    file.write_text(text)
    return study_file.read(file), file


def test_all_of_them(tmp_path: Path) -> None:
    """A point is skipped where one of the conditions is true; one that speaks of an axis that is not there is not."""
    found = list(points.points(*read(tmp_path)))
    assert [one.number for one in found] == list(range(7)), "in the order of the study"
    assert [one.name for one in found] == [
        "flat, size 1, colour red", "flat, size 1, colour blue", "flat, size 2, colour blue",
        "deep, size 1, colour red, depth 2", "deep, size 1, colour blue, depth 2", "deep, size 2, colour blue, depth 2", "alone",
    ]  # fmt: skip
    assert found[0].settings == {"seed": 1, "option.x": 5, "option.y": 7, "D.size": 1}
    assert found[5].settings == {"seed": 1, "option.x": 0, "D.size": 2, "D.depth": 2}
    assert found[6].settings == {"seed": 1, "option.x": 0, "D.size": 9}
    assert [(one.machine.name, one.use, one.label) for one in found[2:4] + found[6:]] == [
        ("m.lss", None, "flat"), ("d.lss", "u", "The deep"), ("m.lss", None, "alone"),
    ]  # fmt: skip


def test_a_study_of_one_point(tmp_path: Path) -> None:
    [point] = points.points(*read(tmp_path, 'title = "t"\nmachine = "m.lss"\n'))
    assert point.name == "the only point" and point.coordinates == {}
    assert point.matches({}) and point.matches({"variant": ""}) and not point.matches({"variant": "x"})


def test_where_a_point_is() -> None:
    point = Point(0, {"variant": "v", "size": 2}, {}, Path("m.lss"))
    assert point.matches({"size": 2}) and point.matches({"size": [1, 2], "variant": "v"})
    for other in {"size": 1}, {"size": [1, 3]}, {"depth": 2}, {"size": 2, "variant": "w"}:
        assert not point.matches(other)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('only = ["deep"]', 'only = ["high"]', "axis 'depth': only: there is no variant 'high'"),
        ('{ label = "blue", settings = {} }', '{ label = "blue" }', "axis 'colour': a value that is a table has a label and settings: "),
        ("depth > 2", "cycles(clk) > 2", "skip 'cycles(clk) > 2': 'clk' is no axis; known are variant, size, colour, depth"),
        ("depth > 2", "size >", "skip: 'size >' is no expression"),
        ("depth > 2", "time > 2", "skip: 'time > 2': this is an expression over axes only"),
        ("depth > 2", "size + colour", "skip: "),
        ('name = "depth"', 'name = "median"', "axis 'median': expressions use its name, so it must be an identifier"),
        ('name = "depth"', 'name = "variant"', "axis 'variant': expressions use its name, so it must be an identifier"),
        ("point = {", 'point = [{ name = "alone" }, {', "two points are called 'alone'"),
    ],
)
def test_what_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    text = STUDY.replace(old, new, 1)
    with pytest.raises(StudyError, match=f"^{re.escape(f'{tmp_path}/study.toml: {says}')}"):
        list(points.points(*read(tmp_path, text if "point = [" not in new else text.rstrip() + "]\n")))


@pytest.fixture
def chip(tmp_path: Path) -> machine.Machine:
    """A machine that was exported: what conditions and settings may speak of."""
    state = [dict(name="level", kind="behaviour", dimensions=[2, 2]), dict(name="moved", dimensions=[], kind="statistic")]
    parameters = [dict(name=f"p{n:02}", type="int", runtime=n % 2 == 0, value=0) for n in range(30)]
    instances = [dict(path="", parameters=parameters, state=[], events=[]),
                 dict(path="a", parameters=[], state=state, events=[dict(name="marker"), dict(name="taken")])]  # fmt: skip
    return machine.Machine(tmp_path / "m.lss", (), dict(instances=instances, clocks=[dict(name="clk")]))


@pytest.mark.parametrize(
    "text",
    ["end", " 1.5e-3 us ", "5 fs", "cycles(clk) >= 0x10", "cycles( fastest )>=1e6", "a.level[1][0] == -3", "a.moved>=5", "event(a.taken)",
     "event( a.taken , 1 )", "event(*.taken, 3)", "event(a.out.transferred, 2)", "event(a.out.idle)", "marker(1)", "marker(4294967295)", "marker(0xFF)"],
)  # fmt: skip
def test_conditions(chip: machine.Machine, text: str) -> None:
    conditions.check(text, chip, "here")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("marker(4294967296)", "markers have numbers from 1 to 4294967295"), ("event(a.out.idle, 0)", "events are counted from 1"),
        ("event(a.out.moved)", "m.lss has no event 'a.out.moved'"), ("a.level[2][0] == 1", "m.lss has no state 'a.level[2][0]'"),
        ("a.level > b", "this is no condition"), ("5", '"5" lacks its unit'),
    ],
)  # fmt: skip
def test_wrong_conditions(chip: machine.Machine, text: str, says: str) -> None:
    with pytest.raises(StudyError, match=re.escape(f"here: {text!r}: {says}")):
        conditions.check(text, chip, "here")


def test_settings(chip: machine.Machine) -> None:
    for setting in "seed", "D.p01", "set.p02", "option.p02", "option.cycles":
        machine.check_setting(setting, chip, "here")
    odd = ", ".join(f"p{n:02}" for n in range(1, 25, 2))
    for setting, says in {
        "D.p02": "m.lss has no parameter 'p02'; did you mean 'set.p02'?",
        "set.p01": "m.lss has no run-time parameter 'p01'; did you mean 'D.p01'?",
        "D.unlike": f"m.lss has no parameter 'unlike'; known are {odd}, …",
        "set.": "it begins with D., set. or option., or is seed, job or guest", "sed": "it begins with D., set. or option., or is seed, job or guest",
    }.items():  # fmt: skip
        with pytest.raises(StudyError, match=f"^{re.escape(f'here: setting {setting!r}: {says}')}$"):
            machine.check_setting(setting, chip, "here")
    assert machine.suggest("x", []) == "there are none" and machine.suggest("x", ["b", "a"]) == "known are a, b"
    paths = ["a.cache.controller.misses", "a.cache.hits", "b.misses", "misses_of.b"]
    assert machine.suggest("cache.misses", paths) == "did you mean 'a.cache.controller.misses'?"
    assert machine.suggest("misses", paths) == "did you mean one of b.misses, a.cache.controller.misses?"
    assert machine.suggest("cache.mises", ["a.cache.misses"]) == "did you mean 'a.cache.misses'?"


def test_expressions_of_a_machine(chip: machine.Machine) -> None:
    for text in "a.moved", "sum(*.moved)", "events(a.taken)", "events(*.taken)", "events(a.out.stalled)", "none.such or 0", "events(none.such) or 0":
        machine.check_expression(text, chip, [], "here")
    for text, says in {
        "a.level": "has no statistic 'a.level'", "sum(*.level)": "has no statistic '*.level'", "events(a.out)": "has no event 'a.out'",
        "events(*.out)": "has no event '*.out'", "cycles(clock) or 0": "has no clock 'clock'", "param(p30)": "has no parameter 'p30'",
    }.items():  # fmt: skip
        with pytest.raises(StudyError, match=re.escape(says)):
            machine.check_expression(text, chip, [], "here")


def window(tmp_path: Path, text: str) -> study_file.StudyFile:
    return read(tmp_path, f'title = "t"\nmachine = "m.lss"\n{text}')[0]


@pytest.mark.parametrize(
    ("text", "options", "built"),
    [
        ("", [], []),
        ("window = { from = '1 us' }", ["--measure-from", "1 us", "--measure-to", "end"], []),
        ("window = { to = '1 us' }", ["--measure-from", "0 s", "--measure-to", "1 us", "--until", "1 us"], []),
        ("window = { to = 'end' }", ["--measure-from", "0 s", "--measure-to", "end"], []),
        ("window = { from = 'marker(07)', to = 'marker(07)' }", ["--measure-from", "marker(07)", "--measure-to", "marker(07)"], ["marker(7)"]),
        ("window = { from = 'event( a.b, 2 )', to = 'event(c.d)' }",
         ["--measure-from", "event( a.b, 2 )", "--measure-to", "event(c.d)", "--until", "event(c.d)"], ["a.b", "c.d"]),
        ("window = { from = '2 us', to = '8 us', parts = 2 }",
         ["--measure-from", "2 us", "--measure-to", "8 us", "--until", "8 us", "--sample", "1000000000 fs"], []),
        ("window = { to = '1.5 us', parts = 3 }", ["--measure-from", "0 s", "--measure-to", "1.5 us", "--until", "1.5 us", "--sample", "500000000 fs"], []),
        ("window = { from = '1 us', to = '3 us', parts = 1 }", ["--measure-from", "1 us", "--measure-to", "3 us", "--until", "3 us"], []),
        ("sample = { every = 'event(x.y)', measures = [] }", ["--sample", "event(x.y)"], ["x.y"]),
        ("window = { from = '1 us' }\nsample = { every = '5 ns', measures = [], window = true }",
         ["--measure-from", "1 us", "--measure-to", "end", "--sample", "5 ns", "--sample-window"], []),
        ("check = 'events(a.b) > 0'\nmeasure = { m = 'events(c.d) + 1' }", ["--measure-from", "0 s", "--measure-to", "end"], ["a.b", "c.d"]),
    ],
)  # fmt: skip
def test_windows(tmp_path: Path, text: str, options: list[str], built: list[str]) -> None:
    file = window(tmp_path, text)
    assert windows.options(file) == options
    assert windows.build_options(file) == tuple(word for one in built for word in ("--watch", one))


def test_wrong_windows(tmp_path: Path) -> None:
    cut = "window: parts: a window in parts"
    for text, says in {
        "window = { from = '1 us', to = '1 us', parts = 2 }": f"{cut} is between two times",
        "window = { from = 'marker(1)', to = '1 us', parts = 2 }": f"{cut} is between two times",
        "window = { to = '4 us', parts = 2 }\nsample = { every = '1 us', measures = [] }": f"{cut} excludes `sample`",
        "sample = { every = '1 us', measures = [], window = true }": "sample: window: this study has no window",
        "window = { from = '1 fs', to = '10001 fs', parts = 2 }": "window: parts: `from` should be a multiple",
    }.items():
        with pytest.raises(StudyError, match=re.escape(says)):
            windows.options(window(tmp_path, text))
    assert windows.options(window(tmp_path, "window = { from = '1 fs', to = '10000 fs', parts = 2 }"))[-1] == "1 fs", "10,000 samples"
    with pytest.raises(StudyError, match="many windows in one run"):
        window(tmp_path, "window = { from = '1 us', every = '1 us' }")


def test_parts_of_a_window(tmp_path: Path) -> None:
    """Each part is the difference of two samples; those after the end of the run are missing."""
    file = window(tmp_path, "window = { to = '3 us', parts = 3 }")
    stats = {"statistics": [dict(path="a", name="n")],
             "samples": [dict(time_fs=n * 10**9, cycles={}, events={}, values=[n * n]) for n in (1, 2)]}  # fmt: skip
    assert [one.values for one in windows.parts(file, stats)] == [{"a.n": 1}, {"a.n": 3}]
    assert windows.parts(window(tmp_path, ""), stats) == []


@pytest.mark.parametrize(("text", "time"), [("1.5 us", 1_500_000_000), (" 2e-3ns ", 2000), ("3 s", 3 * 10**15), ("7 fs", 7), ("2 h", None), (None, None)])
def test_times(text: str | None, time: int | None) -> None:
    assert windows.femtoseconds(text) == time
