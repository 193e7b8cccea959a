"""Runs of a study that begin at a checkpoint: one that exists, or one that a run makes for points that share it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.run import serve
from harness.run.progress import Progress
from harness.study import outputs, runner, starts
from harness.study.model import FAILED, NOT_RUN, OK
from harness.study.study_file import StudyError
from tests.harness.chain import MACHINE, make, rates

STUDY = """
title = "starts"
machine = "chain.lss"
base = { "option.cycles" = 2000, "set.consumer.limit" = 100000 }
start = { make = { until = "cycles(clk) >= 500" } }
axis = [
  { name = "stages", setting = "D.stages", values = [2, 10] },
  { name = "ready", setting = "option.ready", values = [0.25, 0.5] },
]
window = { from = "5 us", to = "20 us" }
[measure]
rate = "consumer.items / cycles(clk)"
"""
SHARED = 'start = { make = { until = "cycles(clk) >= 500" } }'


@pytest.fixture(autouse=True)
def end_servers() -> object:
    yield
    serve.end_all()


def test_points_share_a_start(place: Path) -> None:
    """What differs is set where they begin; what was run before is kept."""
    first, again = make(place, STUDY), make(place)
    assert [row.status for row in first.rows] == [OK] * 4 and rates(first) == rates(again)
    assert all(row.result.reused for row in again.rows)
    assert len({start.job for start in first.study.begun.values()}) == 2  # one for each structure
    for row in first.rows:
        start = first.study.begun[row.point.number].job
        assert ("--ready", "0.25") not in zip(start.plain, start.plain[1:], strict=False)
        assert "consumer.limit=100000" in start.plain and "consumer.limit=100000" not in row.result.job.plain
        (place / "alone").mkdir(exist_ok=True)
        subprocess.run([*start.command()], cwd=place / "alone", check=True)
        job = row.result.job
        plain = [*job.plain, "--restore", "start.checkpoint", "--quiet", "--stats", "stats.json"]
        subprocess.run([job.simulator, *plain], cwd=place / "alone", check=True)
        assert (place / "alone/stats.json").read_bytes() == (row.result.directory / "stats.json").read_bytes()


def test_a_start_changes_nothing_that_is_measured(place: Path) -> None:
    alike = STUDY.replace("[0.25, 0.5]", "[0.25]").replace("[2, 10]", "[2]")
    assert rates(make(place, alike)) == rates(make(place, alike.replace(SHARED, "")))


def test_a_start_for_each_value(place: Path) -> None:
    once = SHARED.replace("} }", '}, once_per = ["option.*"] }')
    made = make(place, STUDY.replace(SHARED, once))
    assert len({start.job for start in made.study.begun.values()}) == 4
    shared = make(place, STUDY).study
    assert {starts.served(shared, start.job) for start in shared.begun.values()} == {"for stages 2, ready 0.25 and 1 more", "for stages 10, ready 0.25 and 1 more"}
    assert rates(made) == rates(make(place, STUDY.replace(SHARED, "")))


def test_a_checkpoint_that_exists(place: Path) -> None:
    one = STUDY.replace("[2, 10]", "[2]")
    simulator = make(place, one).rows[0].result.job.simulator
    subprocess.run([simulator, "--quiet", "--cycles", "400", "--checkpoint", "point"], cwd=place, check=True)
    made = make(place, one.replace(SHARED, 'start = { checkpoint = "point" }'))
    assert [row.status for row in made.rows] == [OK, OK]
    (place / "point").write_bytes((place / "point").read_bytes()[:-1])
    made = make(place, one.replace(SHARED, 'start = { checkpoint = "point" }'))
    assert [row.status for row in made.rows] == [FAILED, FAILED]
    assert all('point": it is cut off' in row.why for row in made.rows), made.rows[0].why


def test_what_is_not_made_yet_is_not_run(place: Path) -> None:
    (place / "study.toml").write_text(STUDY)
    study = runner.prepare(place / "study.toml", place / "build", Progress())
    runner.find_built(study)
    outcome = runner.run(study, None, Progress(), before_only=True)
    assert {row.status for row in outcome.rows} == {NOT_RUN}


def test_a_start_that_fails_fails_its_points(place: Path) -> None:
    made = make(place, STUDY.replace("cycles(clk) >= 500", "consumer.items >= 100001"))
    assert {row.status for row in made.rows} == {FAILED}
    why, _, log = made.rows[0].why.partition("; see ")
    assert why == "its start ended before consumer.items >= 100001: consumer: 100000 items taken" and Path(log).is_file()
    assert all(row.why.startswith(f"{why}; see ") for row in made.rows)
    again = outputs.failing_command(made.study, made.rows[0])
    assert "--until 'consumer.items >= 100001'" in again and "--checkpoint start.checkpoint" in again and "--restore" not in again
    made = make(place, STUDY.replace('limit" = 100000', 'ready" = 7'))
    assert {row.status for row in made.rows} == {FAILED}
    assert all(row.why.startswith("its start failed: ") for row in made.rows), made.rows[0].why


def test_a_run_that_takes_too_long_is_ended(place: Path) -> None:
    text = STUDY.replace('window = { from = "5 us", to = "20 us" }', "run = { timeout = 1 }").replace("2000", "100000000000").replace(', "set.consumer.limit" = 100000', "")
    made = make(place, text)
    assert all(row.status == FAILED and "no end after 1 s" in row.why for row in made.rows)


def test_a_server_that_is_lost_fails_its_runs(place: Path) -> None:
    made = make(place, STUDY.replace("[2, 10]", "[2]"))
    job = made.rows[0].result.job
    begins = next(path for option, path in job.inputs if option == "--restore")
    server = serve._server(job.simulator, begins)
    server._child.kill()
    done = server.run(place / "lost", ["--cycles", "900"], 60)
    assert done.status != 0
    done = serve.run(job.simulator, begins, place / "next", ["--cycles", "900"], 60)  # by a new one
    assert done.status == 0, done
    (place / "a\nb").mkdir()
    done = serve.run(job.simulator, begins, place / "a\nb", ["--cycles", "900"], 60)
    assert done.status == 0, done


TIMER = "module timer { runtime init parameter start = 3 : int; state { int64 left; } init; phase_end; }\n"


@pytest.mark.parametrize(
    ("start", "why"),
    [
        ("start = {}", "start: write either checkpoint = FILE or make = { until = CONDITION }"),
        ('start = { checkpoint = "none" }', "start: there is no none"),
        ('start = { make = { until = "cycle >= 3" } }', "start: make: until: 'cycle >= 3': chain.lss has no state 'cycle'"),
        ('start = { make = { until = "1 us" } }\naxis = [{ name = "left", setting = "set.timer.start", values = [1, 2] }]',
         "start: 'set.timer.start' acts only at the start of a run, and these points share one: add it to once_per"),
    ],
)  # fmt: skip
def test_a_start_that_cannot_be(place: Path, start: str, why: str) -> None:
    (place / "timer.lss").write_text(TIMER)
    (place / "timer.c").write_text("init() { self->left = param(start); }\nphase_end() { self->left--; }\n")
    (place / "chain.lss").write_text(MACHINE + "instance timer : timer;\n")
    (place / "study.toml").write_text('title = "t"\nmachine = "chain.lss"\n' + start + '\n[measure]\nrate = "consumer.items"\n')
    with pytest.raises(StudyError) as error:
        runner.prepare(place / "study.toml", place / "build", Progress())
    assert why in str(error.value)


RESET = "module timer { runtime parameter every = 7 : int; state { int64 left; } stat uint64 rings; init; handler reset(every); phase_end; }\n"


def test_an_axis_over_what_init_derives_state_from(place: Path) -> None:
    """A point is as if its timer were started where it begins."""
    (place / "timer.lss").write_text(RESET)
    (place / "timer.c").write_text(
        "init() { self->left = param(every); }\nhandler(reset, every) { self->left = param(every); }\n"
        "phase_end() { if (--self->left == 0) { count(rings); self->left = param(every); } }\n"
    )
    (place / "chain.lss").write_text(MACHINE + "instance timer : timer;\n")
    text = STUDY.replace("[2, 10]", "[2]").replace("option.ready", "set.timer.every").replace("[0.25, 0.5]", "[100, 10]")
    made = make(place, text.replace("consumer.items / cycles(clk)", "timer.rings").replace('to = "20 us"', 'to = "end"'))
    assert [row.status for row in made.rows] == [OK, OK] and sorted(rates(made).values()) == [15, 150]


LONG = STUDY.replace(SHARED, 'run = { checkpoint_every = "20 ms", timeout = TIMEOUT }').replace('"option.cycles" = 2000', '"option.cycles" = CYCLES, "seed" = 3').replace(
    ', "set.consumer.limit" = 100000', ""
).replace("[2, 10]", "[2]").replace("[0.25, 0.5]", "[0.25]").replace('to = "20 us"', 'to = "CYCLES0 ns"')


@pytest.mark.soak
def test_a_run_that_was_ended_goes_on(place: Path) -> None:
    """From its latest checkpoint, in the middle of its window; and the result is that of a run without a break."""
    text = LONG.replace("CYCLES", "100000000")
    ended = make(place, text.replace("TIMEOUT", "0.5")).rows[0]
    assert ended.status == FAILED and "no end after" in ended.why
    left = list(place.glob("build/run/*/unfinished.checkpoint"))
    assert len(left) == 1
    before = left[0].read_bytes()
    whole = make(place, text.replace("TIMEOUT", "600")).rows[0]
    assert whole.status == OK and not left[0].exists()
    log = json.loads((whole.result.directory / "run.json").read_text())
    assert log["status"] == 0 and before
    stats = json.loads((whole.result.directory / "stats.json").read_text())
    assert len(stats["manifest"].pop("restored")) == 1  # all else is what a run without a break has
    shutil.rmtree(place / "build/run")
    straight = make(place, text.replace("TIMEOUT", "600").replace('checkpoint_every = "20 ms", ', "")).rows[0]
    assert json.loads((straight.result.directory / "stats.json").read_text()) == stats
    # What cannot be gone on with is begun again.
    shutil.rmtree(place / "build/run")
    left[0].parent.mkdir(parents=True)
    left[0].write_bytes(before[:-1])
    again = make(place, text.replace("TIMEOUT", "600")).rows[0]
    assert again.status == OK and json.loads((again.result.directory / "stats.json").read_text()) == stats
