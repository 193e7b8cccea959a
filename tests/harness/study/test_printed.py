"""What consoles printed as measures and checks: the last match in a window, of the right console; and what is refused."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.run.progress import Progress
from harness.study import expression, machine, printed, reading, runner
from harness.study.study_file import StudyError
from tests.harness.chain import STUDY, make

HERE = Path(__file__).parent


def console(path: str, parameter: str = "") -> tuple[dict, dict]:
    """An instance that prints, and its view."""
    output = dict(name="output", type="string", runtime=True, init=True, value="-", alias_of=parameter or None)
    instance = dict(path=path, parameters=[output], state=[dict(name="sent", kind="statistic", dimensions=[])], events=[])
    return instance, dict(name="console", instance=path, roles={"printed": f"{path}.sent"})


def machine_of(*made: tuple[dict, dict]) -> machine.Machine:
    top = dict(path="", parameters=[dict(name="log", type="string", runtime=True, value="-")], state=[], events=[])
    memory = dict(name="memory", instance="mem", roles={})
    return machine.Machine(Path("m.lss"), (), dict(instances=[top, *(one for one, _ in made)], clocks=[],
                                                   debug_views=[memory, *(view for _, view in made)]))  # fmt: skip


ONE, SEVERAL = machine_of(console("board.uart", "log")), machine_of(console("a"), console("b"))
SHARED = machine_of(console("a", "log"), console("b", "log"))


@pytest.mark.parametrize(
    ("text", "value"),
    [("17", 17), ("-3", -3), (" 2.50 ", 2.5), ("0x1f", 31), ("1e3", 1000), ("12 ms", 0.012), ("-4KiB", -4096), ("+5", 5), ("50 %", 0.5),
     ("ok", "ok"), ("", ""), ("1.2.3", "1.2.3"), ("9" * 5000, "9" * 5000)],
)  # fmt: skip
def test_numbers_with_and_without_units(text: str, value: object) -> None:
    assert printed.number(text) == value


@pytest.mark.parametrize("text", [r'printed("n (\d+)")', r"printed('n (\d+)')", r'printed("n (\\d+)", a)', r'printed("n (\d+)", "b")'])
def test_patterns_are_written_with_one_backslash_or_two(text: str) -> None:
    (pattern, path), *_ = expression.printed_calls(text)
    assert pattern == r"n (\d+)" and path in ("", "a", "b")
    assert list(expression.mentions(text)) == [("printed", pattern)]


def point(tmp_path: Path, text: bytes, count: int, window: tuple[int, int] | None, known: machine.Machine = ONE) -> reading.PointReading:
    """A run that printed `text` last of `count` bytes; the window is between two counts."""
    at = printed.choose("", known) if known is ONE else printed.choose("b", known)
    (tmp_path / at.file).write_bytes(text)
    entries = [dict(path="x", name="y", value=1), dict(path=at.path, name="sent", value=count)]
    snapshots = [dict(time_fs=n, values=[0, n]) for n in window or ()]
    stats = dict(statistics=entries, measured=dict(zip(("from", "to"), snapshots, strict=True)) if window else None)
    result = SimpleNamespace(stats=stats, output=lambda option: tmp_path / at.file if option == at.option else None)
    return reading.PointReading(reading.counted(stats), {}, {}, {}, consoles=printed.Printed(result, known))


def test_the_last_match_in_the_window(tmp_path: Path) -> None:
    text = b"n 1\r\nn 2\r\nn 3\r\n"
    for window, value in ((None, 3), ((0, 15), 3), ((0, 10), 2), ((5, 9), 2), ((1, 5), None)):
        here = point(tmp_path, text, 15, window)
        assert expression.evaluate(r"printed('^n (\d)$') or 0", here) == (value or 0)
        assert expression.evaluate(r"not printed('^n (\d)$')", here) == (value is None)
    whole = point(tmp_path, text, 15, None)
    assert expression.evaluate("printed('n 3')", whole) == "n 3" and expression.evaluate(r"printed('n (\d)|m') + 1", whole) == 4
    assert expression.evaluate(r"printed('(m)|(n)') == 'n'", whole) is True


def test_a_run_from_a_checkpoint_wrote_only_its_own_text(tmp_path: Path) -> None:
    assert expression.evaluate(r"printed('n (\d)')", point(tmp_path, b"n 8\nn 9\n", 108, (100, 104))) == 8


def test_of_several_consoles_one_is_named(tmp_path: Path) -> None:
    assert expression.evaluate(r"printed('n (\d)', 'b')", point(tmp_path, b"n 8\n", 4, None, SEVERAL)) == 8
    assert [one.option for one in printed.used([r"printed('x', b) + printed('y', 'a')", "1"], SEVERAL)] == ["--set a.output", "--set b.output"]
    assert [(one.option, one.file) for one in printed.used(["printed('x')"], ONE)] == [("--log", "printed-board-uart.txt")]


def test_parts_of_a_window_have_no_text(tmp_path: Path) -> None:
    """An error of text is not known; and a second look has no console."""
    here = point(tmp_path, b"n 1\n", 4, None)
    here.counted = reading.Counted({}, {}, {}, 0)
    with pytest.raises(expression.NoValue, match="text has no error"):
        expression.evaluate("printed('n')", here)
    here.consoles = None
    with pytest.raises(expression.NoValue, match="this looks at a run without its consoles"):
        expression.evaluate("printed('n')", here)


def test_what_is_wrong(tmp_path: Path, place: Path, golden: Callable[[Path, str], None]) -> None:
    """A line for each."""
    lines = []
    for text, known, settings in (
        ("printed('(')", ONE, {}), ("printed(n)", ONE, {}), ("printed()", ONE, {}), ("printed('n', 1)", SEVERAL, {}), ("printed('n')", SEVERAL, {}),
        ("printed('n', 'c')", SEVERAL, {}), ("printed('n')", machine_of(), {}), ("printed('n')", ONE, {"option.log": "x"}),
        ("printed('n')", ONE, {"set.board.uart.output": "x"}), ("printed('n', a)", SHARED, {}),
    ):  # fmt: skip
        with pytest.raises(expression.ExpressionError) as caught:
            printed.check(text, known, settings)
        lines.append(str(caught.value))
    for text, window in ((b"n 1\n", (0, 4)), (b"n 1\n", (4, 4))):
        with pytest.raises(expression.NoValue) as caught:
            expression.evaluate("printed('m', 'board.uart')", point(tmp_path, text, 4, window))
        lines.append(str(caught.value))
    for more, old, new in (
        ("", 'value = "1 - rate"', "value = 'printed(\"n\")'"), ("check = \"printed('(')\"\n", "", ""),
        ("examine = { with = 'course', every = '1 us', rate = { r = \"printed('n')\" } }\n", "", ""),
    ):  # fmt: skip
        (place / "study.toml").write_text(more + STUDY.replace(old, new))
        with pytest.raises(StudyError) as caught:
            runner.prepare(place / "study.toml", place / "build", Progress())
        lines.append(str(caught.value))
    assert all("\n" not in line for line in lines)
    golden(HERE / "printed_errors.golden", "".join(f"{line}\n" for line in lines).replace(str(tmp_path), "…"))


def test_a_text_is_no_measure(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is what is printed where nothing prints."""
    monkeypatch.setattr(reading.PointReading, "printed", lambda self, pattern, console: "many")
    monkeypatch.setattr(printed, "check", lambda *_: None)
    monkeypatch.setattr(printed, "used", lambda *_: [])
    outcome = make(place, STUDY.replace('value = "1 - rate"', "value = \"printed('n')\"").replace("values = [2, 10]", "values = [2]").replace("[0.5, 1.0]", "[1.0]"))
    assert [row.why for row in outcome.rows] == ["measure 'missing': 'many' is no number"]
