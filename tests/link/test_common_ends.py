"""How a network in parts ends by itself: as the whole does, though no part alone can tell."""

import json
import signal
import time
from pathlib import Path

import pytest

from tests.link.networks import HERE, STUCK, Built, build, build_waiting, every, wait_for_parts

SILENT = "module silent { inport in : uint32; outport out : uint32; state { uint32 kept; bool full; } always in.ack; phase_start -> out.data, out.enable; phase_end; }\n"
SILENT_C = """
phase_start() { send_if(out, self->full, self->kept); }
phase_end() {
  if (transferred(out)) self->full = false;
  if (transferred(in)) { self->kept = data(in); self->full = true; }
}
"""


@pytest.fixture(scope="module")
def sources(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("sources"), HERE / "sources.lss")


@pytest.mark.parametrize("spin", ["0", "50", "2000"])
@pytest.mark.parametrize("words", [[], ["--sample", "300 ns"], ["--sample", "cycles(other.own) >= 7"], ["--measure-from", "1 us"]])
def test_nothing_left_to_do_ends_at_the_same_instant(sources: Built, words: list[str], spin: str) -> None:
    """Whatever the processes do: samples of the time after the last item show the instant."""
    sources.run_whole(*words)
    status, errors = sources.run(*words, SPINACH_LINK_SPIN=spin)
    assert status == 0 and errors.startswith("nothing left to do after "), errors
    assert sources.results() == sources.results("whole.json")


def test_nothing_left_to_do_with_settings(sources: Built) -> None:
    """One node sends more than the others, or none does anything at all."""
    for words in ([], ["--set", "node[1].source.count=700"], ["--set", "other.source.count=300", "--set", "node[0].source.count=0"], every("source.count", 0)):
        sources.run_whole(*words)
        assert sources.run(*words)[0] == 0 and sources.results() == sources.results("whole.json"), words


def test_a_bound_is_reached_though_nothing_is_left(sources: Built) -> None:
    for words in (["--time", "1 ms"], ["--cycles", "other.own:70000"], ["--cycles", "70000"], ["--until", "cycles(node[1].own) >= 7000"], ["--until", "30 us"]):
        sources.run_whole(*words)
        status, errors = sources.run(*words)
        assert status == 0 and sources.results() == sources.results("whole.json"), errors


def test_a_condition_that_cannot_come_true_is_an_error(sources: Built) -> None:
    words = ["--until", "node[1].sink.items >= 21"]
    whole = sources.run_whole(*words, ok=False)
    status, errors = sources.run(*words)
    expected = 'nothing is left to do, so the condition of --until, "node[1].sink.items >= 21", cannot come true (--cycles N or --time TIME bound a run)'
    assert whole.returncode == status == 1 and f"error: {expected}\n" in whole.stderr
    assert errors == f"harness: node[1]: {expected}\n"


def test_an_interrupt_where_some_parts_rest(sources: Built) -> None:
    """Two parts have long had nothing to do, while the third goes on."""
    words = [*every("source.count", 0), "--set", "other.source.count=1000000000"]
    for _ in range(3):
        launcher = sources.begin(*words, "--checkpoint", "rests.ckpt")
        wait_for_parts(launcher, 3)
        time.sleep(0.5)
        launcher.send_signal(signal.SIGINT)
        _, errors = launcher.communicate(timeout=60)
        assert launcher.returncode == 130 and errors.startswith("interrupted after "), errors
        assert len({json.loads(path.read_text())["run"]["until"] for path in sources.place.glob("out/*/statistics.json")}) == 1
        end = f"{json.loads((sources.place / 'out/statistics.json').read_text())['run']['simulated_ns'] + 5000} ns"
        assert sources.run("--time", end, "--restore", "rests.ckpt")[0] == 0
        sources.run_whole("--time", end, *words)
        assert sources.results() == sources.results("whole.json")


# ---- The watchdog


@pytest.mark.parametrize("bound", [[], ["--time", "2 ms"]])
def test_the_watchdog_finds_that_all_are_stuck(sources: Built, bound: list[str]) -> None:
    whole = sources.run_whole(*STUCK, *bound, ok=False)
    status, errors = sources.run(*STUCK, *bound)
    expected = "no progress for 0.1 ms of simulated time, since 0 ms\n"
    assert whole.returncode == status == 1 and f"error: {expected}" in whole.stderr and errors == f"harness: {expected}"
    ends = [json.loads(path.read_text())["run"]["simulated_ns"] for path in sources.place.glob("out/*/statistics.json")]
    assert len(ends) == 3 and max(ends) - min(ends) < 100 and max(ends) >= 100_000


def test_the_watchdog_counts_progress_of_any_part(sources: Built) -> None:
    """One node is stuck, and the others have nothing to do for long, but some part goes on."""
    words = ["--time", "2 ms", "--watchdog", "100 us", "--set", "node[0].source.count=40", "--set", "node[1].sink.ready=0", "--set", "other.source.count=100000"]
    sources.run_whole(*words)
    status, errors = sources.run(*words)
    assert status == 0 and sources.results() == sources.results("whole.json"), errors
    late = ["--time", "2 ms", "--watchdog", "100 us", *every("source.count", 40), *every("sink.ready", 0), "--set", "node[1].sink.ready=1", "--set", "node[0].source.count=1000"]
    status, errors = sources.run(*late)
    whole = sources.run_whole(*late, ok=False)
    assert whole.returncode == status == 1
    assert errors.removeprefix("harness: ") == whole.stderr.splitlines()[0].removeprefix("sources: error: ") + "\n"


def test_where_nothing_can_happen_the_watchdog_is_silent(sources: Built) -> None:
    words = ["--time", "2 ms", "--watchdog", "100 us"]
    assert sources.run_whole(*words, ok=False).returncode == 0
    status, errors = sources.run(*words)
    assert status == 0 and errors.startswith("all time was simulated"), errors


def test_the_watchdog_of_a_restored_run(sources: Built) -> None:
    for at in "40 us", "130 us":
        sources.run(*STUCK[2:], "--time", at, "--checkpoint", "stuck.ckpt")
        status, errors = sources.run("--watchdog", "100 us", "--restore", "stuck.ckpt")
        assert status == 1 and errors == "harness: no progress for 0.1 ms of simulated time, since 0 ms\n", errors


# ---- Modules that do not say when they act

def silent(build_dir: Path, place: Path) -> Built:
    (place / "silent.lss").write_text(SILENT)
    (place / "silent.c").write_text(SILENT_C)
    text = (HERE / "sources.lss").read_text()
    text = text.replace("instance sink : sink on own;", "instance sink : sink on own;\n  instance keeps : silent on own;").replace("in -> sink.in;", "in -> keeps.in;\n  keeps.out -> sink.in;")
    (place / "quiet.lss").write_text(text)
    return build(build_dir, place, place / "quiet.lss", "-I", place)


def test_nothing_left_to_do_though_some_do_not_say_so(build_dir: Path, tmp_path: Path) -> None:
    built = silent(build_dir, tmp_path)
    built.run_whole()
    status, errors = built.run()
    assert status == 0 and errors.startswith("nothing left to do after "), errors
    parts, whole = (json.loads((tmp_path / name).read_text()) for name in ("out/statistics.json", "whole.json"))
    assert parts["statistics"] == whole["statistics"] and parts["run"]["ended"] == whole["run"]["ended"]
    assert abs(parts["run"]["simulated_ns"] - whole["run"]["simulated_ns"]) < 3  # a cycle of the fastest clock, or two
    status, errors = built.run("--until", "node[1].sink.items >= 21")
    assert status == 1 and "nothing is left to do, so the condition of --until" in errors


# ---- The idle timeout

def test_the_idle_timeout_is_of_all_parts(build_dir: Path, tmp_path: Path) -> None:
    """Processors of all parts only wait; if one of them works, or one node sends, it is no time to end."""
    built = build_waiting(build_dir, tmp_path)
    words = ["--idle-timeout", "20 ms", "--time", "60 ms"]
    whole = built.run_whole(*words, ok=False)
    status, errors = built.run(*words)
    said = whole.stderr.splitlines()[0].removeprefix("waits: error: ")
    assert whole.returncode == 1 and said.startswith("nothing new has happened for 0.02 s of simulated time"), whole.stderr
    assert status == 1 and errors == f"harness: {said}\n"
    ends = [json.loads(path.read_text())["run"]["simulated_ns"] for path in tmp_path.glob("out/*/statistics.json")]
    assert max(ends) - min(ends) < 100 and abs(max(ends) - json.loads((tmp_path / "whole.json").read_text())["run"]["simulated_ns"]) < 100
    status, errors = built.run(*words[:3], "30 ms", "--set", "other.core.works=512")
    assert status == 0 and errors.startswith("all time was simulated"), errors
