"""Jobs of studies: what is wrong with one is said before anything runs; what they do is in tests/host/test_jobs.py."""

import re
from pathlib import Path

import pytest

from harness.run.progress import Progress
from harness.study import runner
from harness.study.study_file import StudyError
from tests.harness.chain import MACHINE, STUDY

START = 'start = { make = { until = "cycles(clk) >= 10" } }\n'


@pytest.fixture
def guest(place: Path) -> Path:
    """The chain as a machine with a disk of jobs, and a folder for it."""
    (place / "chain.lss").write_text(MACHINE.replace("runtime parameter script", "runtime parameter job").replace("= script;", "= job;"))
    (place / "mine").mkdir()
    (place / "mine/run").write_text("#!/bin/sh\n")
    (place / "mine/run").chmod(0o755)
    return place


def prepared(place: Path, head: str, text: str = STUDY) -> runner.Study:
    (place / "study.toml").write_text(head + text)
    return runner.prepare(place / "study.toml", place / "build", Progress())


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ('job = "mine"\n', "study.toml: stages 2, ready 0.5: job: it needs a `start` at the prompt of a guest"),
        ("job = 3\n", "study.toml: job: expected a string"),
        (START + 'job = "absent"\n', "job: there is no folder .*/absent"),
        (START + 'job = "build"\n', r"job: .*/build has no file run, which the guest executes \(a program of the guest, or a script\)"),
        (START + 'job = "mine"\ntext = { "option.job" = "x" }\n', r"job: it sets 'option.job' itself \(leave this setting out\)"),
        (START + 'variant = { name = "a", job = "absent" }\n', "job: there is no folder .*/absent"),
        (START + 'point = { name = "a", job = "absent" }\n', "job: there is no folder .*/absent"),
        (START + 'variant = { name = "a", settings = { job = 3 } }\n', "job: a folder is expected, not 3"),
    ],
)
def test_what_is_wrong(guest: Path, head: str, why: str) -> None:
    with pytest.raises(StudyError) as raised:
        prepared(guest, head)
    assert re.search(why, str(raised.value)) and "\n" not in str(raised.value), str(raised.value)


def test_a_machine_without_a_disk_of_jobs(guest: Path) -> None:
    (guest / "chain.lss").write_text(MACHINE)
    with pytest.raises(StudyError, match=r'job: chain.lss has no disk of jobs \(set "D.jobs" = true\)'):
        prepared(guest, START + 'job = "mine"\n')


def test_where_a_job_is_named(guest: Path) -> None:
    """A variant's own comes before that of the study, and an axis's before both."""
    (guest / "other").symlink_to("mine")
    axis = '{ name = "ready", setting = "option.ready", values = [0.5, 1.0] }'
    study = prepared(guest, START + 'job = "mine"\nvariant = [{ name = "a" }, { name = "b", job = "other" }]\n')
    assert [study.settings(point)["job"] for point in study.points] == ["mine"] * 4 + ["other"] * 4
    varied = STUDY.replace(axis, '{ name = "ready", setting = "job", values = ["other"] }').replace("ready = 1.0 }, rate = 0.9", 'ready = "other" }, rate = 0.9')
    study = prepared(guest, START + 'job = "mine"\n', varied)
    assert {study.settings(point)["job"] for point in study.points} == {"other"}
