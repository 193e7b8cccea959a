"""What studies, processes and workers do when something goes wrong, and small things that pages and tables are made of."""

import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.bottleneck import diagram, memories
from harness.bottleneck import page as bottleneck_page
from harness.report import reference
from harness.run import compiler, execute, lease, process
from harness.run.compiler import CompilerError
from harness.run.store import RunError
from harness.study import machine, model, outputs, page, runner, tables
from harness.study.model import FAILED, NOT_RUN, OK, Row
from harness.study.points import Point
from harness.study.study_file import Axis, Figure, Measure
from harness.study.uses import Examined
from tests.harness.chain import make


def row(number: int, status: str, **coordinates: object) -> Row:
    return Row(Point(number, coordinates, {}, Path("m.lss")), status, {"rate": number} if status == OK else {})


def test_the_best_of_an_axis() -> None:
    """The largest of those that ran; when one failed, the best of the others would mislead."""
    rows = [row(5, OK, a=1, b=1), row(7, OK, a=1, b=2), row(6, NOT_RUN, a=1, b=3), row(9, OK, a=2, b=1), row(1, FAILED, a=2, b=2),
            row(2, NOT_RUN, a=3, b=1), row(3, NOT_RUN, a=3, b=2)]  # fmt: skip
    assert [one.point.number for one in model._best(rows, "b", "rate")] == [7, 1, 2]


class Lost(Exception):
    """What Dask says when the worker of a task was killed."""


Lost.__module__ = "distributed.scheduler"


@pytest.mark.parametrize(("error", "why"), [(RunError("it broke"), "it broke"), (Lost("w1"), "its worker was lost: w1")])
def test_a_run_that_fails(error: Exception, why: str) -> None:
    future = SimpleNamespace(result=lambda: (_ for _ in ()).throw(error))
    found = runner._finished(None, row(1, OK).point, future)
    assert (found.status, found.why) == (FAILED, why)
    with pytest.raises(ZeroDivisionError):  # a mistake of ours is none of the run
        runner._finished(None, row(1, OK).point, SimpleNamespace(result=lambda: 1 / 0))


FAKE = 'title = "t"\nmachine = "machine.lss"\nbase = { "option.x" = 1 }\nmeasure = { n = "nic.cpu.steps" }\n'


def test_points_that_are_the_same_simulation_share_it(fake_build: Path) -> None:
    values = ", ".join(f"{{ label = {n}, settings = {{ 'option.x' = {n // 2} }} }}" for n in range(4))
    outcome = make(fake_build.parent, f"{FAKE}axis = {{ name = 'a', values = [{values}] }}\n")
    assert [one.measures["n"] for one in outcome.rows] == [300] * 4
    assert len({one.result.directory for one in outcome.rows}) == 2


def test_a_measure_without_a_value_fails_its_point(fake_build: Path) -> None:
    (only,) = make(fake_build.parent, FAKE.replace("nic.cpu.steps", "1 / (nic.cpu.steps - 300)")).rows
    assert only.status == FAILED and "division by zero" in only.why and only.result and not only.measures


def test_a_simulator_that_cannot_be_built(fake_build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each study tries again; what follows is listed, and the rest goes on."""
    tried = []

    def fail(one: machine.Machine, path: Path, build: Path, extra: tuple) -> None:
        tried.append(path)
        raise CompilerError("no such flag")

    monkeypatch.setattr(machine, "_build", fail)
    for _ in range(2):
        (only,) = make(fake_build.parent, FAKE).rows
        assert (only.status, only.why) == (FAILED, "no such flag")
    assert len(tried) == 2 and tried[0] not in machine._built


@pytest.mark.parametrize(
    ("value", "people", "file"),
    [(True, "True", "true"), ("x", "x", "x"), (12.0, "12", "12"), (1234.5, "1,234", "1234.5"), (999.96, "1000", "999.96"), (0.12345, "0.1235", "0.12345"),
     (-2345.6, "-2,346", "-2345.6"), (None, "None", ""), (2.0**53, "9,007,199,254,740,992", "9007199254740992.0"), (7, "7", "7")],
)  # fmt: skip
def test_numbers(value: object, people: str, file: str) -> None:
    assert (runner.number(value), outputs.spelt(value)) == (people, file)


def test_figures_without_a_request() -> None:
    """Each measure over the first axis whose values are numbers, if there is one."""
    file = SimpleNamespace(figure=[], axis=[Axis("kind", ["a", 2]), Axis("size", [1, 2.5]), Axis("depth", [3])])
    outcome = SimpleNamespace(study=SimpleNamespace(file=file, measures={"rate": Measure("1"), "n": Measure("2")}))
    assert page._requested(outcome) == [Figure(y="rate", x="size"), Figure(y="n", x="size")]
    del file.axis[1:]
    assert page._requested(outcome) == []
    file.figure = [Figure(y="n", x="kind")]
    assert page._requested(outcome) == [Figure(y="n", x="kind")]


def test_cells_and_second_looks() -> None:
    outcome = SimpleNamespace(study=SimpleNamespace(measures={name: Measure("1") for name in ("rate", "n")}))
    one = Row(row(1, OK).point, OK, {"rate": 957.07, "n": 3}, {"rate": 0.07626, "n": 0.0})
    assert [tables._cell(outcome, one, name) for name in ("rate", "n", "x")] == ["957.07 ± 0.08", "3", "–"]
    assert page._body(Examined("v", "<b>x</b>")) == "<b>x</b>"
    assert page._body("<it> broke\nbadly") == "<p>It could not be examined: &lt;it&gt; broke</p>"
    said = "a.lss:4:2: warning[c-warning]: unused variable 'x'\nsimulator: error: it broke\nbadly"
    assert page._body(said) == "<p>It could not be examined: simulator: error: it broke</p>"


def test_pictures_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="^dot: Error: .*syntax error"):
        diagram.render(diagram.Level("", "", "digraph { a -> }"))
    monkeypatch.setattr(diagram, "levels", lambda analysis: [diagram.Level("", "", "digraph { a -> }")])
    shown = bottleneck_page._pictures(SimpleNamespace(limiter=None), "")
    assert shown.startswith("<p>The pictures could not be drawn: dot: Error: ") and shown.endswith("</p>")

    def refuse(*words: object) -> None:
        raise CompilerError("a < b\nand more")

    monkeypatch.setattr(compiler, "lss", refuse)
    study = SimpleNamespace(machine=lambda point: SimpleNamespace(options=[], path=Path("m.lss")), build=tmp_path)
    drawn = page._diagrams(SimpleNamespace(study=study), row(1, OK), 0, tmp_path)
    assert drawn == "<p>The picture could not be drawn: a &lt; b</p>"


def test_the_port_of_a_memory() -> None:
    """The first inport of a bundle that comes before its reply, and is connected."""
    assert memories._port({"in.request": ("in", "a", 2), "in.response": ("out", "b", 2)}) == ("in.request", 2)
    assert memories._port({"out.reply": ("out", "a", 1), "out.back": ("in", "b", 1)}) is None
    ports = {"alone": ("in", "a", 1), "a.request": ("in", "b", 0), "a.response": ("out", "b", 0), "b.in": ("in", "c", 1), "b.out": ("out", "c", 1)}
    assert memories._port(ports) == ("b.in", 1)


def test_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the build folder, else the one on the PATH; a status without a word is told as such."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    with pytest.raises(CompilerError, match=f"^there is no compiler {tmp_path}/build/bin/lss, and no lss on the PATH: run make"):
        compiler.find(tmp_path / "build")
    for place in "path", "build/bin":
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "lss").write_text("#!/bin/sh\n[ $1 = fine ] && echo well || exit 3\n")
        (tmp_path / place / "lss").chmod(0o755)
        assert compiler.find(tmp_path / "build") == tmp_path / place / "lss"
    assert compiler.lss(tmp_path / "build", "fine") == "well\n"
    with pytest.raises(CompilerError, match="^lss bad luck: status 3$"):
        compiler.lss(tmp_path / "build", "bad", "luck")


def test_a_stale_page_of_the_reference_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"list": "core\n  alu  core  adds\n", "alu": "## alu\n\nAdds.\n", "ring": "## ring_a\n\n## ring_b\n"}
    monkeypatch.setattr(reference.compiler, "lss", lambda build, *words: told[str(words[-1])])
    (tmp_path / "docs/modules").mkdir(parents=True)
    (tmp_path / "docs/modules/old.md").write_text("")
    index = reference.write(tmp_path, ["ring"])
    assert sorted(path.name for path in index.parent.iterdir()) == ["alu.md", "index.html", "ring.md"]
    text = index.read_text()
    assert '<td><a href="#alu">alu</a></td>\n<td>core</td>\n<td>adds</td>' in text and "<strong>core</strong>" in text
    assert '<td>ring</td>\n<td>types</td>\n<td><a href="#ring_a">ring_a</a>, <a href="#ring_b">ring_b</a></td>' in text
    assert re.findall('<h2 id="(.*?)"', text) == ["alu", "ring_a", "ring_b"]


def test_processes_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At their time, when the harness is interrupted, and when it is stopped; then none is started any more."""
    assert process.run(["sh", "-c", "echo o; echo e >&2; exit 3"], tmp_path) == process.Finished(3, "o\n", "e\n")
    script = ["sh", "-c", "echo here; sleep 60 & wait"]
    assert process.run(script, timeout=0.3) == process.Finished(None, "here\n", "")
    ended = []

    def interrupted(child: process.subprocess.Popen, timeout: float | None = None) -> None:
        ended.append(child)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(process.subprocess.Popen, "communicate", interrupted)
        process.run(script)
    assert ended[0].returncode == -signal.SIGTERM and not process._children
    monkeypatch.setattr(process, "_ending", False)
    found: list[process.Finished] = []
    thread = threading.Thread(target=lambda: found.append(process.run(script)))
    thread.start()
    while not process._children:
        time.sleep(0.01)
    process.end_children()
    thread.join(10)
    assert [one.status for one in found] == [-signal.SIGTERM]
    with pytest.raises(process.Ended):
        process.run(["true"])


def test_a_lease_is_renewed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lease, "RENEW", 0.02)
    with lease.working_directory(tmp_path) as working:
        old = time.time() - 100
        os.utime(working / lease.NAME, (old, old))
        limit = time.monotonic() + 10
        while (working / lease.NAME).stat().st_mtime < old + 50:
            assert time.monotonic() < limit
            time.sleep(0.02)
    assert lease.clear_abandoned(tmp_path / "none") == 0 == lease.clear_abandoned(tmp_path)


def test_workers_that_this_python_cannot_have(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "slurm.toml").write_text('queue = "short"\n')

    def refused(**options: object) -> None:
        raise TypeError(f"unexpected {options}")

    for name, options, says in (
        ("distributed", {"workers": "tcp://x"}, "workers need Dask, and there is no distributed: pip install distributed"),
        ("dask_jobqueue", {"slurm": tmp_path / "slurm.toml"}, "--slurm needs dask-jobqueue, and this Python has no dask_jobqueue"),
    ):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(execute.ExecuteError, match=f"^{re.escape(says)}$"), execute.executor(**options):
            pass
    monkeypatch.setitem(sys.modules, "dask_jobqueue", SimpleNamespace(SLURMCluster=refused))
    said = re.escape(f"{tmp_path}/slurm.toml: unexpected {{'queue': 'short', ")
    with pytest.raises(execute.ExecuteError, match=f"^{said}"), execute.executor(slurm=tmp_path / "slurm.toml"):
        pass


def test_an_interrupt_ends_the_simulators_of_this_host(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    monkeypatch.setattr(process, "end_children", lambda: ended.append(True))
    with pytest.raises(KeyboardInterrupt), execute.executor(jobs=1) as pool:
        assert pool._max_workers == 1
        raise KeyboardInterrupt
    assert ended == [True]
