"""Studies of any machine, from file to page: what is checked, run, kept, measured, shown, and what failures do."""

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.run import lease, store
from harness.run.progress import Progress
from harness.run.store import Job
from harness.study import machine, outputs, page, points, runner
from harness.study.study_file import StudyError, read

ROOT = Path(__file__).resolve().parents[2]
MACHINE = """
parameter stages = 2 : int;                     /** pipes in the chain */
runtime parameter script = "" : string;         /** what the source sends */
runtime parameter ready = 1.0 : float;          /** of the sink */
clock clk = 100 MHz;
instance producer : source { script = script; };
instance stage[stages] : pipe;
instance consumer : sink { ready = ready; };
producer.out -> stage[0].in : uint32;
for (i = 0; i + 1 < stages; i = i + 1) stage[i].out -> stage[i + 1].in;
stage[stages - 1].out -> consumer.in;
"""
STUDY = """
title = "A <chain> of [pipes]"
about = "Items & stages."
machine = "chain.lss"
base = { "option.cycles" = 1000 }
axis = [
  { name = "stages", setting = "D.stages", values = [2, 10] },
  { name = "ready", setting = "option.ready", values = [0.5, 1.0] },
]
figure = { x = "stages", y = "rate" }
published = { where = { stages = 2, ready = 1.0 }, rate = 0.9, label = "theirs" }
[measure]
rate = "consumer.items / cycles(clk)"
missing = { value = "1 - rate", better = "less" }
"""


@pytest.fixture
def place(tmp_path: Path, build_dir: Path) -> Path:
    """A study beside its machine, and a build folder of its own with the real compiler."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "bin").symlink_to(build_dir / "bin")
    (tmp_path / "chain.lss").write_text(MACHINE)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def make(place: Path, text: str | None = None) -> runner.Outcome:
    """The study, run here."""
    from harness.run.execute import executor

    if text is not None:
        (place / "study.toml").write_text(text)
    study = runner.prepare(place / "study.toml", place / "build", Progress())
    runner.build(study, Progress())
    with executor() as pool:
        return runner.run(study, pool, Progress())


def command(place: Path, *words: str, file: str = "study.toml") -> list[str]:
    return [sys.executable, "-m", "harness", "study", str(place / file), "--build", str(place / "build"), "--plain", *words]


def run(place: Path, *words: str, status: int = 0) -> str:
    """The command, in a process of its own."""
    done = subprocess.run(command(place, *words), cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def rates(outcome: runner.Outcome) -> dict[str, float]:
    return {row.point.name: row.measures.get("rate") for row in outcome.rows}


def test_a_grid_from_file_to_page(place: Path) -> None:
    outcome = make(place)
    found = rates(outcome)
    assert list(found) == ["stages 2, ready 0.5", "stages 2, ready 1.0", "stages 10, ready 0.5", "stages 10, ready 1.0"]
    assert found["stages 2, ready 1.0"] == pytest.approx(0.998) and found["stages 10, ready 1.0"] == pytest.approx(0.99)
    assert found["stages 2, ready 0.5"] == pytest.approx(0.5, abs=0.1)
    written = page.write(outcome, place / "out", Progress())
    rows = list(csv.DictReader((place / "out/results.csv").open()))
    assert [row["rate"] for row in rows] == [repr(rate) for rate in found.values()]
    assert rows[1]["missing"] == repr(1 - found["stages 2, ready 1.0"]) and rows[1]["status"] == "ok"
    results = json.loads((place / "out/results.json").read_text())
    assert results["points"][1]["published"] == {"rate": 0.9} and len(results["points"]) == 4
    text = written.read_text()
    assert "A &lt;chain&gt; of [pipes]" in text and "Items &amp; stages." in text
    assert "The best: rate 0.998 (stages 2, ready 1.0)" in text and "Where the cycles go" in text
    assert "+10.9 %" in next(line for line in text.splitlines() if "<td" in line and "theirs" in line)
    for name in re.findall(r'(?:href|src)="([^"#:]+)"', text):
        assert (written.parent / name).exists(), name
    again = make(place)
    assert all(row.result.reused for row in again.every) and outputs.as_csv(again) == outputs.as_csv(outcome)


def test_the_command_that_repeats_a_point(place: Path, build_dir: Path) -> None:
    outcome = make(place)
    row = outcome.rows[2]
    words = outputs.command(outcome.study, row.point)
    environment = {**os.environ, "PATH": f"{build_dir / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(f"{words} --stats {place}/again.json --quiet", shell=True, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((place / "again.json").read_text())["statistics"] == row.result.stats["statistics"]


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("title =", "titel =", "unknown key 'titel'; did you mean 'title'"),
        ('machine = "chain.lss"', "", "the key 'machine' is missing"),
        ('machine = "chain.lss"', 'machine = "chan.lss"', "machine: there is no .*chan.lss"),
        ('values = [2, 10]', "values = 2", "axis 'stages': values: expected a list"),
        ('values = [2, 10]', "values = []", "axis 'stages': it has no values"),
        ('values = [2, 10]', "values = [2, 2]", "axis 'stages': two values are called 2"),
        ('name = "ready"', 'name = "stages"', "two axes are called 'stages'"),
        ('name = "ready"', 'name = "re ady"', "axis 're ady': expressions use its name"),
        ('"option.ready"', '"option.raedy"', "setting 'option.raedy': chain.lss has no option .* did you mean 'ready'"),
        ('"option.ready"', '"set.producer.cuont"', "has no run-time parameter 'producer.cuont'; did you mean 'producer.count'"),
        ('"option.ready"', '"ready"', "setting 'ready': it begins with D., set. or option."),
        ('"D.stages"', '"D.stagse"', "stagse"),
        (', setting = "option.ready"', "", "axis 'ready': it needs a setting"),
        ("consumer.items", "consumer.itmes", "chain.lss has no statistic 'consumer.itmes'; did you mean 'consumer.items'"),
        ("consumer.items", "sum(consumer[*].items)", r"has no statistic 'consumer\[\*\].items'"),
        ("cycles(clk)", "cycles(clock)", "has no clock 'clock'; did you mean 'clk'"),
        ("1 - rate", "1 - raet", "has no measure or axis 'raet'; did you mean 'rate'"),
        ("1 - rate", "1 - ", "measure 'missing': is no expression"),
        ('y = "rate"', 'y = "raet"', "figure 1: y: 'raet' is none of rate, missing"),
        ("rate = 0.9,", "raet = 0.9,", "published 1: 'raet' is no measure"),
        ("{ stages = 2, ready", "{ stages = 3, ready", "published 1: there is no point where"),
        ('title =', 'use = "nothing"\ntitle =', "there is no plug-in 'nothing'; known are"),
        ('title =', 'skip = "stages > 1"\ntitle =', "no point is left"),
        ('title =', 'skip = "colour > 1"\ntitle =', "skip 'colour > 1': 'colour' is no axis"),
        ('title =', 'start = { checkpoint = "x" }\ntitle =', "start: runs cannot begin at a checkpoint yet"),
        ('title =', 'run = { checkpoint_every = "1 s" }\ntitle =', "checkpoint_every: simulators write no checkpoints yet"),
        ('title =', 'variant = [{ name = "a" }, { name = "a" }]\ntitle =', "two variants are called 'a'"),
        ('title =', 'title ', "study.toml: "),
    ],
)  # fmt: skip
def test_what_is_refused_before_anything_runs(place: Path, old: str, new: str, complaint: str) -> None:
    assert old in STUDY
    (place / "study.toml").write_text(STUDY.replace(old, new, 1))
    with pytest.raises((StudyError, machine.compiler.CompilerError), match=complaint) as caught:
        runner.prepare(place / "study.toml", place / "build", Progress())
    assert not (place / "build/run").exists() and not (place / "build/sim").exists()
    if isinstance(caught.value, StudyError):
        assert "\n" not in str(caught.value) and str(caught.value).startswith(str(place / "study.toml"))


def test_variants_skips_single_points_and_the_best(place: Path) -> None:
    text = STUDY.replace("figure =", 'skip = "stages == 10 and ready < 1"\nfigure =').replace(
        "values = [0.5, 1.0] }", 'values = [0.5, 1.0], best = "rate" }'
    )
    text = text.replace("published =", """variant = [
      { name = "plain", label = "as it is" },
      { name = "slow", settings = { "set.producer.interval" = 2 } },
    ]
    point = { name = "alone", settings = { "D.stages" = 5 } }
    published =""")  # fmt: skip
    outcome = make(place, text)
    assert len(outcome.every) == 7 and [row.point.name for row in outcome.rows] == [
        "plain, stages 2, ready 1.0", "plain, stages 10, ready 1.0", "slow, stages 2, ready 1.0",
        "slow, stages 10, ready 1.0", "alone",
    ]  # fmt: skip
    assert list(rates(outcome).values()) == pytest.approx([1.0, 0.99, 0.5, 0.49, 0.99], abs=0.01)
    assert len(outcome.alternatives(outcome.rows[0])) == 2


def test_a_window_its_parts_and_samples(place: Path) -> None:
    text = STUDY.replace('"option.cycles" = 1000', '"option.time" = "20 us"') + """
[window]
from = "2 us"
to = "12 us"
parts = 5
"""
    outcome = make(place, text)
    row = outcome.rows[1]
    assert row.result.stats["run"]["simulated_ns"] == 12000, "nothing is simulated after the window"
    assert row.measures["rate"] == 1.0 and row.errors["rate"] == 0.0, "the chain is full in the window"
    assert 0 < outcome.rows[0].errors["rate"] < 0.1
    sampled = STUDY + '[sample]\nevery = "1 us"\nmeasures = ["rate"]\n'
    sampled = sampled.replace('figure = {', 'figure = { kind = "series", title = "Course", ').replace('x = "stages", ', "")
    sampled = sampled.replace("[measure]", '[measure]\nafter = "settled(rate, 5 %)"')
    outcome = make(place, sampled)
    course = outcome.rows[3].courses["rate"]
    assert [value for _, value in course][-3:] == [1.0, 1.0, 1.0] and course[0][0] == pytest.approx(2e-6)
    assert outcome.rows[3].measures["after"] == pytest.approx(2e-6)
    assert "<svg" in page.write(outcome, place / "out", Progress(), examine=False).read_text()


def test_names_are_text(place: Path) -> None:
    names = ["/../../../../ESCAPED", "$x^{$", "{foo}", "<b>&", "cpu 88", "cpu-88"]
    variants = ", ".join(f"{{ name = '{name}', settings = {{ 'D.stages' = {n + 1} }} }}" for n, name in enumerate(names))
    text = STUDY.split("axis =")[0] + f"variant = [{variants}]\n[measure]\nrate = 'consumer.items / cycles(clk)'\n"
    text = text.replace("[measure]", "[[figure]]\nx = 'variant'\ny = 'rate'\n[[figure]]\nkind = 'bars'\ny = 'rate'\n[measure]")
    before = set(place.parent.rglob("*ESCAPED*"))
    outcome = make(place, text)
    assert [row.measures["rate"] for row in outcome.rows] == pytest.approx([0.999 - n / 1000 for n in range(6)])
    shown = page.write(outcome, place / "out", Progress(), examine=False).read_text()
    assert "&lt;b&gt;&amp;" in shown and "<b>&" not in shown and "{foo}" in shown and "$x^{$" in shown
    assert set(place.parent.rglob("*ESCAPED*")) == before and not list(Path("/").glob("*ESCAPED*"))


def test_a_failed_point_is_listed_and_the_rest_goes_on(place: Path) -> None:
    (place / "good.txt").write_text("0 7\n")
    text = STUDY.replace('setting = "option.ready", values = [0.5, 1.0]', 'setting = "option.script", values = ["good.txt", "none.txt"]')
    text = text.replace("ready = 1.0 }", 'ready = "good.txt" }').replace("[measure]", 'check = "consumer.items == 1"\n[measure]')
    (place / "study.toml").write_text(text)
    said = run(place, status=1)
    assert "2 of 4 points failed" in said and "none.txt" in said and "again: lss run" in said
    rows = list(csv.DictReader((place / f"build/studies/{place.name}/results.csv").open()))
    assert [row["status"] for row in rows] == ["ok", "failed", "ok", "failed"]
    assert "2 of 4 points failed" in (place / f"build/studies/{place.name}/index.html").read_text()
    (place / "good.txt").write_text("0 7\n1 8\n")
    assert "check 'consumer.items == 1' is not true" in run(place, status=1)


def test_a_result_whose_inputs_changed_is_none(place: Path) -> None:
    (place / "items.txt").write_text("0 7\n")
    text = STUDY.replace("base = {", 'base = { "option.script" = "items.txt", ')
    first = make(place, text)
    assert first.rows[0].result.stats["manifest"]["inputs"], "the manifest tells what was opened"
    assert all(row.result.reused for row in make(place).every)
    (place / "items.txt").write_text("0 7\n1 8\n")
    second = make(place)
    assert not any(row.result.reused for row in second.every)
    assert second.rows[1].measures["rate"] == 2 * first.rows[1].measures["rate"]
    (place / "items.txt").write_text("0 7\n")
    assert all(row.result.reused for row in make(place).every), "what it was before is kept as well"


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
        with pytest.raises(store.RunError, match="ended with status 3; see .*/failed/log.txt\n  it broke"):
            store.run(job, tmp_path / "store")
    assert (tmp_path / "store" / job.name() / "failed/log.txt").read_text() == "it broke\n"
    slow = fake(tmp_path, seconds=30)
    with pytest.raises(store.RunError, match="no end after 1 s"):
        store.run(Job(slow.simulator, timeout=1), tmp_path / "store")


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


def test_two_studies_share_a_build_folder(place: Path) -> None:
    (place / "other.toml").write_text(STUDY)
    both = [
        subprocess.Popen(command(place, file=file), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for file in ("study.toml", "other.toml")
    ]
    said = [one.communicate(timeout=300)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    results = [(place / f"build/studies/{name}/results.csv").read_bytes() for name in (place.name, "other")]
    assert results[0] == results[1]


def test_abandoned_work_is_told_by_its_lease(tmp_path: Path) -> None:
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


def children(pid: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(status.parent.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


LONG = STUDY.replace('"option.cycles" = 1000', '"option.cycles" = 100_000_000_000')


def begin_long(place: Path) -> tuple[subprocess.Popen, list[int]]:
    """A study whose simulations take hours, and their processes."""
    (place / "study.toml").write_text(LONG)
    one = subprocess.Popen(command(place), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for _ in range(1200):
        running = [pid for pid in children(one.pid) if "/sim/" in Path(f"/proc/{pid}/cmdline").read_text()]
        if len(running) >= min(2, os.cpu_count() or 1):
            return one, running
        assert one.poll() is None, one.communicate()[0]
        time.sleep(0.1)
    raise AssertionError("no simulator was started")


def test_sigterm_ends_the_simulators(place: Path) -> None:
    one, running = begin_long(place)
    one.terminate()
    said = one.communicate(timeout=60)[0]
    assert one.returncode == 128 + signal.SIGTERM and "ended by SIGTERM" in said
    assert not any(map(alive, running))
    assert run_short_after(place)


def run_short_after(place: Path) -> bool:
    """The same study with short runs: what was ended is in nobody's way."""
    return all(row.status == "ok" for row in make(place, STUDY).every)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


MANY = STUDY.replace("values = [2, 10]", "values = [2]").replace(
    "values = [0.5, 1.0]", f"values = {[round(0.04 * (n + 1), 2) for n in range(24)] + [1.0]}"
).replace('"option.cycles" = 1000', '"option.cycles" = 1_000_000')  # fmt: skip


@pytest.mark.slow
def test_workers_of_which_one_is_killed(place: Path) -> None:
    """25 points on two workers; one is killed in the middle and not started again.  Nothing is lost, and the results
    are byte for byte those of processes of this host."""
    pytest.importorskip("distributed")
    (place / "study.toml").write_text(MANY)
    run(place, "--out", str(place / "local"))
    address, environment = f"tcp://127.0.0.1:{free_port()}", {**os.environ, "PYTHONPATH": str(ROOT)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": place}
    started = [subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2],
         "--no-dashboard"], **quiet)]  # fmt: skip
    try:
        for _ in range(2):
            started.append(subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard"],
                **quiet))  # fmt: skip
        results = place / "build/run"
        results.rename(place / "before")  # nothing is kept
        one = subprocess.Popen(
            command(place, "--workers", address, "--out", str(place / "remote")), cwd=ROOT, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        for _ in range(1200):
            finished = [path for path in results.glob("*/*/run.json") if path.parts[-3] != "busy"]
            if len(finished) >= 4:
                break
            assert one.poll() is None, one.communicate()[0]
            time.sleep(0.05)
        assert len(finished) < 24, "the worker is killed in the middle"
        started[1].kill()
        said = one.communicate(timeout=300)[0]
        assert one.returncode == 0, said
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
    for name in "results.csv", "results.json":
        assert (place / "remote" / name).read_bytes() == (place / "local" / name).read_bytes()


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["--workers", "tcp://127.0.0.1:1"], "--workers tcp://127.0.0.1:1: "),
        (["--slurm", "none.toml"], "none.toml: No such file"),
        (["--slurm", "none.toml", "--workers", "x"], "--workers and --slurm exclude each other"),
    ],
)  # fmt: skip
def test_workers_that_are_not_there(place: Path, words: list[str], complaint: str) -> None:
    pytest.importorskip("distributed")
    (place / "study.toml").write_text(STUDY.replace("[2, 10]", "[2]"))
    assert f"harness: {complaint}" in run(place, *words, status=1)


def test_slurm_gets_what_its_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from harness.run import execute

    asked: dict = {}

    class Cluster:
        def __init__(self, **options) -> None:
            asked.update(options)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            asked["closed"] = True

        def scale(self, jobs: int) -> None:
            asked["jobs"] = jobs

    monkeypatch.setitem(sys.modules, "dask_jobqueue", SimpleNamespace(SLURMCluster=Cluster))
    (tmp_path / "slurm.toml").write_text('jobs = 7\nqueue = "short"\ncores = 4\nmemory = "8 GB"\n')
    with execute._slurm_cluster(tmp_path / "slurm.toml") as cluster:
        assert isinstance(cluster, Cluster)
    assert asked == {"queue": "short", "cores": 4, "memory": "8 GB", "jobs": 7, "closed": True}


def test_all_points_are_known_without_building(place: Path) -> None:
    assert len(list(points.points(read(place / "study.toml"), place / "study.toml"))) == 4
