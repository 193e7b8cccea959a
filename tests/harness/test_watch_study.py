"""`spinach watch --study`: a line for each point, the results and the end of the study as without the page."""

import asyncio
import gc
import io
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.run import lease, store
from harness.study.model import FAILED, OK, WAITING
from harness.watch.points import Points
from tests.harness.chain import STUDY
from tests.harness.study.test_workers import LONG, alive, simulators
from tests.harness.watched import Watched, browser, check_memory, check_security, shown

CHECKED = f'check = "rate > 0.6"\n{STUDY}'
MEASURED = {
    "stages 2, ready 0.5": ("failed", "check 'rate > 0.6' is not true"), "stages 2, ready 1.0": ("ok", "rate 0.998, missing 0.002"),
    "stages 10, ready 0.5": ("failed", "check 'rate > 0.6' is not true"), "stages 10, ready 1.0": ("ok", "rate 0.99, missing 0.01"),
}  # fmt: skip


@pytest.fixture
def watch(root: Path, place: Path) -> Iterator[Callable[..., Watched]]:
    """watch(text, options): a study that is watched, which ends with the test."""
    begun: list[Watched] = []

    def begin(text: str, *options: str) -> Watched:
        (place / "study.toml").write_text(text)
        begun.append(Watched(root, place, "--study", "study.toml", "--", "--plain", *options))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.terminate()  # ends its simulators first
        one.process.wait()


async def seen(live, wanted: Callable[[dict, dict], bool]) -> tuple[dict, dict]:
    """The next message of which this is true, given also all points by name as the page has them then."""
    points: dict[str, dict] = {}

    def take(message: dict) -> bool:
        points.update({one["name"]: one for one in message["points"]})
        return wanted(message, points)

    return await shown(live, take), points


def states(points: dict[str, dict]) -> set[str]:
    return {one["state"] for one in points.values()}


def test_only_its_user_is_let_in(watch: Callable[..., Watched]) -> None:
    watched = watch(LONG)
    check_security(watched)
    assert watched.status("/study.js", Cookie=f"spinach={watched.token}") == 200

    async def use() -> str:
        live = await watched.connect()
        live.write_message('{"do": "pause"}')
        return (await shown(live, lambda m: "refused" in m))["refused"]

    assert asyncio.run(use()) == 'the page of a study has no command "pause"'


def files(folder: Path) -> dict[str, bytes]:
    """All that a study writes, but for when and where it was made."""
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file() and one.name != "provenance.json"}


def test_results_are_those_of_a_plain_study(watch: Callable[..., Watched], root: Path, place: Path) -> None:
    watched = watch(CHECKED, "--out", "watched")

    async def use() -> tuple[dict, dict]:
        return await seen(await watched.connect(), lambda m, points: m["status"] is not None)

    last, points = asyncio.run(use())
    assert watched.process.wait(60) == last["status"] == 1
    assert {name: (one["state"], one["text"]) for name, one in points.items()} == MEASURED
    assert last["console"][-1] == "report: watched/index.html" and last["phase"] == ""
    shutil.rmtree(place / "build/run")
    words = [sys.executable, "-m", "harness", "study", "study.toml", "--plain", "--out", "plain"]
    done = subprocess.run(words, cwd=place, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True)
    assert done.returncode == 1
    plain, own = (files(place / name) for name in ("plain", "watched"))
    assert plain.keys() == own.keys() and len(plain) > 3
    assert {name for name in plain if plain[name] != own[name]} == set()


@pytest.mark.parametrize(
    ("number", "status", "text"),
    [
        (signal.SIGTERM, 128 + signal.SIGTERM, "harness: ended by SIGTERM; what was finished is kept\n"),
        (signal.SIGINT, 130, "harness: interrupted; what was finished is kept\n"),
    ],
)
def test_a_signal_ends_the_study(watch: Callable[..., Watched], number: int, status: int, text: str) -> None:
    """As without the page.  A page that is opened meanwhile shows all points, and how far those are that run."""
    watched = watch(LONG)

    async def use() -> None:
        live = await watched.connect()
        _, points = await seen(live, lambda m, points: any(one["share"] for one in points.values()))
        assert states(points) <= {"running", "waiting"} and len(points) == 4
        running = next(one for one in points.values() if one["share"])
        assert running["state"] == "running" and running["rest"] > 60 and running["elapsed"] < 60 and running["text"].endswith(" ms")
        live.close()
        again = await shown(await watched.connect(), lambda m: True)
        assert len(again["points"]) == 4 and again["phase"].endswith("simulating (0 of 4)")

    asyncio.run(use())
    running = simulators(watched.process.pid)
    assert running
    watched.process.send_signal(number)
    _, said = watched.process.communicate(timeout=60)
    assert (watched.process.returncode, said) == (status, text) and not any(map(alive, running))


def test_a_study_with_a_mistake(watch: Callable[..., Watched]) -> None:
    watched = watch(STUDY.replace("consumer.items", "consumer.itms"))
    said = watched.process.communicate(timeout=60)[1]
    assert watched.process.returncode == 1 and said.startswith("harness: study.toml: measure 'rate': ") and said.count("\n") == 1


def test_options_are_those_of_a_study(root: Path, place: Path) -> None:
    words = [sys.executable, "-m", "harness", "watch", "--study", "study.toml", "--", "--cycles", "5"]
    done = subprocess.run(words, cwd=place, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.endswith("error: unrecognized arguments: --cycles 5\n")


def test_only_what_has_changed_is_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = Points(tmp_path)
    for number, name in enumerate(("a", "b", "c")):
        points.part(number, name, WAITING)
    assert [one["name"] for one in points.changes()["points"]] == ["a", "b", "c"]
    assert points.changes() is None
    points.part(1, "b", WAITING, job="work")
    with lease.working_directory(tmp_path / store.BUSY, "work") as working:
        (one,) = points.changes()["points"]
        assert (one["name"], one["state"], one["share"], one["text"]) == ("b", "running", None, "")
        (working / store.LOG).write_text('up\n{"time_fs": 2000000000000, "cycles": {"clk": 50}, "per_second": 25.0, "share": 0.25}\n')
        (one,) = points.changes()["points"]
        assert (one["share"], one["rest"], one["text"]) == (0.25, 6, "2.000 ms, up")
    points.part(1, "b", FAILED, "it broke")
    points.part(2, "c", OK, "rate 5")
    points.fail("no more")
    message = points.changes()
    assert [(one["state"], one["share"], one["rest"], one["text"]) for one in message["points"]] == [("failed", None, None, "it broke"), ("ok", None, None, "rate 5")]
    assert message["error"] == "no more" and capsys.readouterr().err == "harness: no more\n"
    assert len(points.latest()["points"]) == 3 and points.changes() is None


def test_updates_leave_nothing(tmp_path: Path) -> None:
    """What is kept for a page depends on the number of points, not on that of updates."""
    points = Points(tmp_path)
    points.console.file = io.StringIO()

    def update(count: int) -> int:
        for number in range(count):
            text = f'{{"time_fs": {number}, "cycles": {{"clk": 5}}, "per_second": 5.0, "share": {number / count}}}\n'
            (working / store.LOG).write_text(text)
            points.say(f"line {number:06}")
            points.console.file.truncate(0)
            assert points.changes() and points.latest()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    with lease.working_directory(tmp_path / store.BUSY, "work") as working:
        points.part(0, "a", WAITING, job="work")
        tracemalloc.start()
        try:
            before = update(300)
            assert update(1000) - before < 100_000
        finally:
            tracemalloc.stop()


@pytest.mark.soak
def test_memory_does_not_grow(watch: Callable[..., Watched]) -> None:
    check_memory(watch(LONG))


@pytest.mark.soak
def test_the_page(watch: Callable[..., Watched]) -> None:
    """In a browser: lines of points, a filter, progress that moves, and the end."""
    with browser(watch(LONG)) as (page, expect):
        expect(page.locator("#table tr")).to_have_count(4)
        expect(page.locator("tr[data-state=running] progress").first).to_be_visible()
        page.get_by_label("Filter").fill("stages 10")
        expect(page.locator("#table tr:visible")).to_have_count(2)
        before = page.locator("tr[data-state=running] td:nth-child(5)").first.text_content()
        expect(page.locator("tr[data-state=running] td:nth-child(5)").first).not_to_have_text(before)
        page.reload()
        expect(page.locator("#table tr")).to_have_count(4)
