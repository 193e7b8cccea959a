"""What is told of work under way: on a terminal with a bar, elsewhere as plain lines; never with colours inside the text."""

import io
import re
import time

import pytest
from rich.console import Console

from harness.run.progress import Progress


def told(terminal: str | None) -> str:
    """What comes out on a terminal of this kind (TERM), if it is one."""
    environment = {"TERM": terminal or "xterm"}
    console = Console(
        file=io.StringIO(), force_terminal=terminal is not None, highlight=False, width=100, legacy_windows=False,
        _environ=environment,
    )  # fmt: skip
    with Progress(console).task("points", 2) as task:
        task.step("[plain] stages 2: 0.99")
        task.step("stages 10: 1.0")
    return console.file.getvalue()


@pytest.mark.parametrize("terminal", [None, "dumb"])
def test_plain_lines(terminal: str | None) -> None:
    text = told(terminal)
    assert text.startswith("  [1/2] [plain] stages 2: 0.99\n  [2/2] stages 10: 1.0\npoints: 2 in 0.")
    assert "\x1b" not in text


def test_a_bar_on_a_terminal() -> None:
    """What is told stays above the bar, which is gone in the end."""
    text = told("xterm")
    assert "  [plain] stages 2: 0.99\n" in text and "  stages 10: 1.0\n" in text
    assert re.search(r"points: 2 in 0\.\d s\n$", text) and "━" in text


@pytest.mark.parametrize("terminal", [True, False])
def test_work_of_unknown_length(terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, highlight=False, width=100, legacy_windows=False, _environ={"TERM": "xterm"})
    with Progress(console).step("reading 2 netlists"):
        pass
    text = console.file.getvalue()
    assert re.search(r"reading 2 netlists: 0\.\d s\n$", text) and text.count("reading 2 netlists") == (2 if terminal else 1)


def test_long_lines_stay_as_they_are(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """However narrow the terminal is, and whatever a console would find in them to colour."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    text = "stages 10: 0.5 of 'what' at http://there/is, True " * 5
    Progress().say(text)
    assert capsys.readouterr().out == text + "\n"


def test_silent_work_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """After two seconds, where there is no bar; what is over by then says only that."""
    monkeypatch.setattr("harness.run.progress.SILENT", 0.05)
    console = Console(file=io.StringIO(), force_terminal=False, highlight=False, width=100)
    progress = Progress(console)
    with progress.task("building simulators", 2) as task:
        time.sleep(0.2)
        task.step("one")
    with progress.step("examining"):
        time.sleep(0.2)
    monkeypatch.setattr("harness.run.progress.SILENT", 60)
    with progress.step("reading"):
        pass
    lines = [re.sub(r"\d+\.\d s", "T", line) for line in console.file.getvalue().splitlines()]
    assert lines == ["building simulators …", "  [1/2] one", "building simulators: 1 in T", "examining …", "examining: T", "reading: T"]


def test_silent_work_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error, where there is no bar, with what is seen of it; not while other lines come, and nothing afterwards."""
    monkeypatch.setattr("harness.run.heartbeat.EVERY", 0.2)
    monkeypatch.delenv("LSS_PROGRESS", raising=False)
    progress = Progress(Console(file=io.StringIO(), force_terminal=False, highlight=False, width=100))
    with progress.task("simulating", 3) as task, progress.showing(task, lambda: "0.1 ms"):
        task.step("one")
        time.sleep(0.5)
        for _ in range(8):
            time.sleep(0.05)
            progress.say("a line")
    with progress.step("examining"):
        time.sleep(0.3)
    time.sleep(0.3)
    said = re.sub(r"\d+ s", "T", capsys.readouterr().err).splitlines()
    assert said == ["harness: simulating: 1 of 3 (0.1 ms), after T"] * 2 + ["harness: examining, after T"]
