"""Axes whose values have units: numbers in expressions and along figures, texts elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from harness.report import plot
from harness.run.progress import Progress
from harness.study import expression, figures, page
from harness.study.axis_values import in_expressions, scale_of
from harness.study.reading import Counted, PointReading
from tests.harness.chain import MACHINE, make
from tests.sample import seldom

SIZED = MACHINE.replace("parameter stages = 2 : int;", "parameter room = 256 B : size;").replace("[stages]", "[int(room) / 128]").replace("stages", "int(room) / 128")
STUDY = """
title = "room"
machine = "sized.lss"
base = { "option.cycles" = 500 }
axis = [
  { name = "room", setting = "D.room", values = ["512 B", "1 KiB", "0.002 MiB"], label = "bytes of pipes" },
  { name = "ready", setting = "option.ready", values = [0.5, 1.0] },
]
skip = ["room > 2 KiB or room == 512 B and ready < 1"]
check = ["room == param('room')"]
published = { where = { room = "1 KiB", ready = 1.0 }, rate = 0.25, label = "theirs" }
figure = { x = "room", y = "rate", beside = "other", mark = [{ x = "1 KiB", y = 0.5, label = "other machines" }] }
[measure]
rate = "consumer.items / cycles(clk)"
other = { value = "room / 4 KiB", hidden = true }
"""
SPEEDS = """
title = "speed"
machine = "fast.lss"
base = { "option.cycles" = 500 }
axis = { name = "speed", setting = "D.speed", values = ["1 GHz", "62.5 MHz", "125 MHz"] }
measure = { rate = "consumer.items / time" }
"""


@pytest.mark.parametrize(("value", "number"), [("4 KiB", 4096.0), ("2.5ns", 2.5e-9), ("88 MHz", 88e6), ("1 Gb/s", 1e9), ("5 %", 0.05), ("1:2", "1:2"), ("4 kib", "4 kib"), (4, 4), (True, True)])
def test_what_expressions_have(value: Any, number: Any) -> None:
    assert in_expressions(value) == number


@pytest.mark.parametrize(
    ("values", "log", "unit", "places"),
    [
        (["1 KiB", "512 B", "1 MiB"], False, "B", [1024, 512, 1 << 20]),
        (["16 KiB", "0.5 MiB"], False, "KiB", [16, 512]),
        (["16 KiB", "32 KiB"], True, "B", [16 << 10, 32 << 10]),
        (["1 us", "1.5 us"], True, "us", [1, 1.5]),
        (["100 MHz", "1 us"], False, "", ["100 MHz", "1 us"]),
        (["16 KiB", 32], False, "", ["16 KiB", 32]),
        ([1, 2.5], True, "", [1, 2.5]),
    ],
)
def test_along_a_figure(values: list, log: bool, unit: str, places: list) -> None:
    scale = scale_of(values, log)
    assert (scale.unit, [scale.at(value) for value in values]) == (unit, places)
    assert scale.at("elsewhere") == "elsewhere" and scale.label("size") == ("size" + (f", {unit}" if unit else ""))


def test_a_study(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "sized.lss").write_text(SIZED)
    outcome = make(place, STUDY)
    assert [row.point.name for row in outcome.rows] == ["room 512 B, ready 1.0", "room 1 KiB, ready 0.5", "room 1 KiB, ready 1.0"]
    assert [row.status for row in outcome.rows] == ["ok"] * 3, [row.why for row in outcome.rows]
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(plot, "lines", lambda title, across, up, lines, marks, out, beside=(), **more: drawn.update(across=across, lines=lines, marks=marks, beside=beside))
    assert figures.draw(outcome, outcome.study.file.figure[0], place / "figure")
    assert drawn["across"] == "bytes of pipes, B" and [line.across for line in drawn["lines"]] == [[512, 1024], [1024]]
    assert [(mark.across, mark.value) for mark in drawn["marks"]] == [(1024, 0.5), (1024, 0.25)]
    assert [line.across for line in drawn["beside"]] == [[512, 1024], [1024]]


def test_a_figure_of_all_speeds_is_in_their_order(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a figure in the study there is one of the first axis with numbers, as those with a unit are."""
    (place / "fast.lss").write_text(MACHINE.replace("clock clk = 100 MHz;", "parameter speed : frequency; clock clk = speed;"))
    outcome = make(place, SPEEDS)
    drawn: list = []
    lines = plot.lines
    monkeypatch.setattr(plot, "lines", lambda *given, **named: (drawn.append(given), lines(*given, **named)))
    page.write(outcome, place / "out", Progress(), plain=True)
    ((_, across, _, (line,), *_),) = drawn
    assert across == "speed, MHz" and line.across == [62.5, 125, 1000]
    assert line.values == sorted(row.measures["rate"] for row in outcome.rows)


@pytest.mark.parametrize("text", ['room == "4 KiB"', '"4 KiB" != room', "'4 KiB' < room"])
def test_a_quantity_in_quotation_marks_is_a_text(text: str) -> None:
    """It would be unlike every number, and a check of it would say so of each point."""
    reading = PointReading(Counted({}, {}, {}, 1.0), {}, {"room": "4 KiB", "mode": "fast"}, {})
    with pytest.raises(expression.ExpressionError, match="'4 KiB' is a text, and what it is compared with is a number: write 4 KiB$"):
        expression.evaluate(text, reading)
    assert expression.evaluate('room == 4 KiB and mode == "fast"', reading) is True


@seldom
def test_powers_of_two_of_a_size(place: Path) -> None:
    (place / "sized.lss").write_text(SIZED)
    text = STUDY.replace('"0.002 MiB"]', '"2 KiB"]').replace('y = "rate", ', 'y = "rate", log = true, ')
    assert figures.draw(make(place, text), make(place, text).study.file.figure[0], place / "figure")
    picture = (place / "figure.svg").read_text()
    assert all(f"<!-- {label} -->" in picture for label in ("bytes of pipes, B", "512", "1 Ki", "2 Ki"))
