"""Names of lines in figures: of lines that coincide one for all, and none that might be of another line or lies on another name."""

from itertools import combinations
from pathlib import Path

import pytest
from matplotlib import pyplot

from harness.report import places, plot
from harness.report.plot import Line

ACROSS = [1, 4, 8, 16]
RISING = [1.0, 2.0, 2.4, 2.5]


def line(name: str, *values: float) -> Line:
    return Line(name, ACROSS, values)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Draws lines; returns the names in the picture with their boxes, and the lines with their colours."""

    def draw(*lines: Line, legend_title: str = "", log_up: bool = False):
        kept = []
        monkeypatch.setattr(pyplot, "close", kept.append)
        plot.lines("A figure", "across", "up", lines, [], tmp_path / "figure", legend_title=legend_title, log_up=log_up)
        [figure] = kept
        axes, renderer = figure.axes[0], figure.canvas.get_renderer()
        figure.draw_without_rendering()
        return {text.get_text(): text.get_window_extent(renderer) for text in axes.texts}, axes.get_lines(), figure

    yield draw
    monkeypatch.undo()
    pyplot.close("all")


def test_lines_that_coincide_share_a_name_and_their_dashes(drawn) -> None:
    names, lines, _ = drawn(line("1", *RISING), line("2", *RISING), line("8", 0.5, 1.0, 1.2, 1.3), legend_title="cores")
    assert list(names) == ["cores 1, 2", "cores 8"]
    assert lines[0].get_linestyle() == lines[1].get_linestyle() == "--"
    (first, pattern), (second, same) = (one._unscaled_dash_pattern for one in lines[:2])
    assert pattern == same == (plot.DASH, plot.DASH) and abs(first - second) == plot.DASH
    assert [one.get_markevery() for one in lines[:3]] == [(0, 2), (1, 2), (0, 1)]


def test_names_of_close_lines_lie_apart_and_in_their_order(drawn) -> None:
    bundle = [line(f"memory {n} cycles away", *(value - n / 300 for value in RISING)) for n in (10, 20, 40, 60, 80)]
    names, _, figure = drawn(*bundle)
    assert not [pair for pair in combinations(names.values(), 2) if pair[0].overlaps(pair[1])]
    assert list(names) == sorted(names, key=lambda name: -names[name].y0)
    assert all(figure.axes[0].get_window_extent().x1 - 20 < box.x0 and box.x1 <= figure.bbox.width for box in names.values())


def test_lines_apart_have_their_names_next_to_them(drawn) -> None:
    names, _, figure = drawn(line("fast", *RISING), line("slow", 0.2, 0.4, 0.6, 0.7))
    assert all(box.x1 < figure.axes[0].get_window_extent().x1 + 1 for box in names.values())


def test_more_names_than_fit_are_in_a_legend(drawn) -> None:
    names, lines, figure = drawn(*(line(f"s{n}", *(value + n for value in RISING)) for n in range(6)), line("t", *RISING))
    assert not names and [text.get_text() for text in figure.legends[0].get_texts()] == [*(f"s{n}" for n in range(6)), "t"]
    assert lines[0]._unscaled_dash_pattern[1] == (plot.DASH, plot.DASH)


@pytest.mark.parametrize("count", [12, 40])
def test_a_picture_grows_with_its_legend(drawn, count: int) -> None:
    _, _, figure = drawn(*(line(f"software {n}, with caches of 16 KiB, 100 cycles", *(value + n for value in RISING)) for n in range(count)))
    dots = figure.axes[0].get_window_extent().height / figure.dpi
    assert 2.0 < dots < 4.0 and figure.get_figheight() == pytest.approx(4.6 + 0.22 * (count - 6))


@pytest.mark.parametrize(
    ("names", "joined"),
    [
        (["1", "2"], "1, 2"),
        (["latency 10", "latency 20", "latency 40"], "latency 10, 20, 40"),
        (["memory 10 cycles away", "memory 20 cycles away"], "memory 10, 20 cycles away"),
        (["fast", "slow memory"], "fast, slow memory"),
        (["a", "a"], "a, a"),
    ],
)
def test_one_name_for_several(names: list[str], joined: str) -> None:
    assert plot.joined(names) == joined


def test_heights_are_spread_between_bounds() -> None:
    assert places._spread([1.0, 10.0], [2.0], 0, 20) == [1.0, 10.0]
    assert places._spread([5.0, 5.0, 5.0], [2.0, 2.0], 0, 20) == [3.0, 5.0, 7.0]
    assert places._spread([19.0, 19.5], [2.0], 0, 20) == [18.0, 20.0]


@pytest.mark.parametrize(("factor", "top"), [(1e6, "2,500,000"), (1.0, "2.5"), (1e11, "2.5")])
def test_large_numbers_are_written_out(drawn, factor: float, top: str) -> None:
    """Up to ten digits; small ones and larger ones are as they were."""
    _, _, figure = drawn(line("a", *(factor * value for value in RISING)))
    axis = figure.axes[0].yaxis
    assert top in [text.get_text() for text in axis.get_ticklabels()]
    assert axis.get_offset_text().get_text() == ("1e11" if factor > 1e10 else "")


@pytest.mark.parametrize(("most", "labels"), [(1024, ["1", "2", "4"]), (2**12, ["1", "4", "16"]), (2**23, ["1", "8", "64"])])
def test_of_many_powers_of_two_some(most: int, labels: list[str]) -> None:
    _, names = plot._powers([1, most])
    assert names[:3] == labels and len(names) <= plot.MOST_POWERS


@pytest.mark.parametrize(
    ("values", "labels", "ends"),
    [
        ([3.0, 40.0, 500.0, 60000.0], ["1", "10", "100", "1,000", "10,000", "100,000"], (1, 1e5)),
        ([0.021, 0.03, 0.06, 0.09], ["0.02", "0.05", "0.1"], (0.02, 0.1)),
        ([7.0, 7.0, 7.0, 7.0], ["5", "10"], (5, 10)),
    ],
)
def test_a_vertical_axis_of_powers_of_ten(drawn, values: list[float], labels: list[str], ends: tuple[float, float]) -> None:
    """Written out, from a power to a power; over few of them also between."""
    names, _, figure = drawn(line("fast", *values), line("slow", *(0.99 * value for value in reversed(values))), log_up=True)
    axes = figure.axes[0]
    assert axes.get_yscale() == "log" and axes.get_ylim() == pytest.approx(ends if values[0] != 7.0 else (5, 10))
    shown = [text.get_text() for at, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True) if ends[0] <= at * 1.0001 and at <= ends[1] * 1.0001]
    assert shown == labels and len(names) == 2


def test_lines_that_coincide_on_an_axis_of_powers() -> None:
    """The same distance near 0 and near the top is not the same there."""
    low, high, top = line("low", 1, 1, 1, 1), line("high", 2, 2, 2, 2), line("top", 1000, 1000, 1000, 1000)
    assert len(plot.coinciding([low, high, top])) == 2 and len(plot.coinciding([low, high, top], log=True)) == 3
    assert len(plot.coinciding([top, line("near", 1001, 1001, 1001, 1001), low], log=True)) == 2


def test_numbers_below_the_axis_do_not_touch(drawn) -> None:
    """Where the names of the lines take much of the width, fewer numbers fit; every place keeps its tick."""
    places = [18, 100, 200, 400, 800, 1472]
    lines = [Line(f"a name that takes half of the width, and more of it, of line {n}", places, [n * at for at in places]) for n in (1, 2, 3)]
    _, _, figure = drawn(*lines)
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.get_xticklabels()]
    assert all(one.x1 + 4 < other.x0 for one, other in zip(boxes, boxes[1:], strict=False))
    assert [text.get_text() for text in axes.get_xticklabels()][0] == "18" and 100 not in axes.get_xticks()
    assert sorted([*axes.get_xticks(), *axes.get_xticks(minor=True)]) == places
