"""The store of results: found by content, whole or not there, shared by several processes, with leases."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.run import lease, store
from harness.run.store import Job
from tests.harness.chain import ROOT

OPENS_A_FILE = """#!/bin/sh
sum=$(sha256sum {file} | cut -d' ' -f1)
echo '{{"manifest": {{"inputs": [{{"file": "{file}", "sha256": "'$sum'"}}]}}, "run": {{}}, "statistics": []}}' > stats.json
sleep {seconds}
{more}
"""


def fake(folder: Path, seconds: float = 0.0, more: str = "") -> Job:
    """A simulator that opens a file of which its command line says nothing."""
    path, opened = folder / "simulator", folder / "opened.txt"
    opened.write_text("one")
    path.write_text(OPENS_A_FILE.format(file=opened, seconds=seconds, more=more))
    path.chmod(0o755)
    return Job(path)


def test_a_file_that_only_the_manifest_names_counts(tmp_path: Path) -> None:
    job = fake(tmp_path)
    assert not store.run(job, tmp_path / "store").reused and store.run(job, tmp_path / "store").reused
    (tmp_path / "opened.txt").write_text("two")
    assert store.find(job, tmp_path / "store") is None
    assert not store.run(job, tmp_path / "store").reused and store.run(job, tmp_path / "store").reused


def test_a_damaged_result_is_made_again(tmp_path: Path) -> None:
    job = fake(tmp_path)
    first = store.run(job, tmp_path / "store")
    for name in "stats.json", "run.json":
        file = first.directory / name
        for damage in file.read_bytes()[:-3], b"[]":
            file.write_bytes(damage)
            assert not store.run(job, tmp_path / "store").reused and store.run(job, tmp_path / "store").reused
        file.unlink()
        assert not store.run(job, tmp_path / "store").reused


def test_what_failed_is_kept_to_be_looked_at(tmp_path: Path) -> None:
    job = fake(tmp_path, more="echo it broke >&2; exit 3")
    for _ in range(2):
        with pytest.raises(store.RunError, match=r"^it broke \(ended with status 3; see .*/failed/log.txt\)$"):
            store.run(job, tmp_path / "store")
    assert (tmp_path / "store" / job.name() / "failed/log.txt").read_text() == "it broke\n"
    job = fake(tmp_path, more="printf 'sh: x: not found\\r\\n' >printed-uart.txt; echo it broke >&2; exit 1")
    with pytest.raises(store.RunError, match=r"^it broke \(ended with status 1; see .*\n  sh: x: not found\n  it broke$"):
        store.run(job, tmp_path / "store")  # what a console printed, too
    job = fake(tmp_path, more=f"echo '{job.simulator.name}: error: it broke' >&2; seq 20 >&2; exit 1")
    with pytest.raises(store.RunError, match=r"^it broke \(ended with status 1; see .*\n  13\n(  \d+\n?){7}$"):
        store.run(job, tmp_path / "store")
    job = fake(tmp_path, more=f"printf '/ # {job.simulator.name}: error: no answer\\nconsole c:\\n  printed = 5\\n' >&2; exit 1")
    with pytest.raises(store.RunError, match=r"^no answer \(ended with status 1; see "):
        store.run(job, tmp_path / "store")


def test_a_run_without_an_end_says_how_far_it_was(tmp_path: Path) -> None:
    """The limit, where it is set, the simulated time, and what a console printed last, not what the simulator said as it was ended."""
    far = '{"time_fs": 1939000000000000, "cycles": {"clk": 5}, "per_second": 3e+06, "share": null}'
    job = fake(tmp_path, more=f"seq 20; printf '\\033[6n/ # ' >&2; echo '{far}' >&2; trap 'echo simulator: error: it ended >&2; exit 1' TERM; sleep 30 & wait")
    with pytest.raises(store.RunError) as caught:
        store.run(Job(job.simulator, timeout=1), tmp_path / "store")
    first, *shown = str(caught.value).split("\n  ")
    assert first.startswith("no end after 1 s of real time, at 1.939 s of simulated time (`timeout` of `[run]` in the study allows more); see ")
    assert shown == ["14", "15", "16", "17", "18", "19", "20", "/ #"]


def test_a_failed_run_shows_its_console_before_views_of_the_machine(tmp_path: Path) -> None:
    job = fake(tmp_path)
    error = f"printf 'up\\n/ # {job.simulator.name}: error: it waits\\n' >&2; seq 20 >&2; exit 1"
    with pytest.raises(store.RunError, match=r"^it waits \(ended with status 1; see .*/log.txt\)\n  up\n  / #$"):
        store.run(fake(tmp_path, more=error), tmp_path / "store")


def test_a_result_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    """What the simulator said is kept then as well; of what was to be written, the first that is missing is named."""
    job = fake(tmp_path, more="echo nearly; echo '{' > stats.json")
    with pytest.raises(store.RunError, match=r"^nearly \(wrote a stats.json that is no JSON; see .*/failed/log.txt\)$"):
        store.run(job, tmp_path / "store")
    assert (tmp_path / "store" / job.name() / "failed/log.txt").read_text() == "nearly\n"
    job = Job(fake(tmp_path, more="kill -9 $$").simulator)
    with pytest.raises(store.RunError, match=r"^ended by signal 9; see "):
        store.run(job, tmp_path / "store")
    job = Job(fake(tmp_path, more="touch one").simulator, outputs=(("--a", "one"), ("--b", "two")))
    with pytest.raises(store.RunError, match=r"^wrote no two; see "):
        store.run(job, tmp_path / "store")


def test_a_run_is_tried_again_as_often_as_requested(tmp_path: Path) -> None:
    job = fake(tmp_path, more=f"echo >> {tmp_path}/tries; exit $(($(wc -l < {tmp_path}/tries) < 3))")
    with pytest.raises(store.RunError, match="^ended with status 1"):
        store.run(Job(job.simulator, retries=1), tmp_path / "store")
    assert not store.run(Job(job.simulator, retries=1), tmp_path / "store").reused, "the third run does not fail"
    assert (tmp_path / "tries").read_text() == "\n" * 3


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(store.RunError, match=f"^its result cannot be kept: {tmp_path}/store.*: Not a directory$"):
        store.run(fake(tmp_path), tmp_path / "store")


def test_the_command_of_a_job(tmp_path: Path) -> None:
    job = Job(fake(tmp_path).simulator, ("--x", "3"), (("--set a.b", tmp_path / "in"),), (("--out", "o.txt"), ("--set c.d", "p.txt")))
    assert job.command() == [
        str(tmp_path / "simulator"), "--x", "3", "--set", f"a.b={tmp_path}/in", "--out", "o.txt", "--set", "c.d=p.txt",
        "--quiet", "--stats", "stats.json",
    ]  # fmt: skip


def test_the_first_result_counts(tmp_path: Path) -> None:
    """Many processes make the same result at once: all get one, and it is the same."""
    fake(tmp_path, seconds=0.3)
    code = (
        "import sys; from pathlib import Path; from harness.run import store; here = Path(sys.argv[1]);"
        "print(store.run(store.Job(here / 'simulator'), here / 'store').directory)"
    )
    those = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(5)
    ]
    said = {one.communicate(timeout=60)[0] for one in those}
    assert [one.returncode for one in those] == [0] * 5 and len(said) == 1
    assert list((tmp_path / "store/busy").iterdir()) == []


def test_a_result_that_came_first_stays(tmp_path: Path) -> None:
    job = fake(tmp_path)
    first = store.run(job, tmp_path / "store")
    (tmp_path / "working").mkdir()
    store._move_into_place(job, tmp_path / "working", first.directory)
    assert store.find(job, tmp_path / "store").directory == first.directory and (tmp_path / "working").is_dir()
    (first.directory / "stats.json").write_text("{}")
    store._move_into_place(job, tmp_path / "working", first.directory)
    assert not (tmp_path / "working").exists() and list(first.directory.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        store._move_into_place(job, tmp_path / "working", tmp_path / "place")


def test_abandoned_work_is_recognised_by_its_lease(tmp_path: Path) -> None:
    with lease.working_directory(tmp_path) as working:
        left = tmp_path / "another-host-1-abc"
        left.mkdir()
        (left / lease.NAME).touch()
        assert lease.clear_abandoned(tmp_path) == 0
        old = time.time() - 2 * lease.EXPIRE
        os.utime(left / lease.NAME, (old, old))
        os.utime(left, (old, old))
        assert lease.clear_abandoned(tmp_path) == 1 and working.exists() and not left.exists()
    assert not working.exists()
