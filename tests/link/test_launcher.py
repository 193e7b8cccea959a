"""`spinach network`: its options, the whole beside the parts, and runs that are killed or interrupted at any moment."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.link.networks import HERE, Built, board_of, build, children, nothing_is_left

PARTS = 4


@pytest.fixture(scope="module")
def ring(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("ring"), HERE / "token_ring.lss")


WINDOWS = [
    ["--sample", "50 us", "--measure-from", "10 us"],
    ["--sample", "cycles(node[1].own) >= 7777", "--measure-to", "123457 ns"],
    ["--sample", "cycles(other.own) >= 1000", "--sample-window", "--measure-from", "cycles(node[2].own) >= 2000", "--measure-to", "100 us"],
    ["--sample", "end", "--measure-from", "0 s", "--measure-to", "end"],
]


@pytest.mark.parametrize("words", WINDOWS)
@pytest.mark.parametrize("bound", [["--time", "160001 ns"], ["--cycles", "16000"], ["--cycles", "other.own:12001"], ["--until", "node[1].leaves.transfers >= 900"]])
def test_samples_and_windows_are_those_of_the_whole(ring: Built, words: list[str], bound: list[str]) -> None:
    ring.run_whole(*words, *bound)
    status, errors = ring.run(*words, *bound)
    assert status == 0 and ring.results() == ring.results("whole.json"), errors
    assert len(json.loads((ring.place / "out/statistics.json").read_text())["samples"]) >= 1


def test_the_whole_with_the_same_options(ring: Built) -> None:
    """The simulator next to the folder, or one that is named; the results have the same shape."""
    words = ["--time", "100 us", "--seed", "3", "--set", "node[1].source.count=2", "--sample", "20 us"]
    assert ring.run(*words)[0] == 0
    for whole in (["--whole"], ["--whole", ring.whole]):
        child = ring.begin(*words, *whole, out="whole")
        said, errors = child.communicate(timeout=60)
        assert child.returncode == 0 and said.splitlines()[1].split()[0] == "token_ring", errors
        assert ring.results("whole/statistics.json") == ring.results() and (ring.place / "whole/log.txt").exists()
    status, errors = ring.run(*words, "--until", "event(**.transferred, 3)", "--whole")
    assert status == 0, errors
    status, errors = ring.run("--whole", "none")
    assert status == 1 and errors.startswith("harness: none: there is no such simulator (`lss build token_ring.lss -o none` builds it)")
    status, errors = ring.run("--whole", "--time", "1 us", "--set", "node[9].x=1")
    assert status == 1 and errors == 'harness: --set: there is no runtime parameter "node[9].x"; --help lists them\n'


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--sample", "node[1].source.items >= 3"], '--sample "node[1].source.items >= 3": in parts, samples and windows are on a time or cycles (with --whole on anything)'),
        (["--measure-from", "event(node[1].leaves.in.transferred)"], '--measure-from "event(node[1].leaves.in.transferred)": in parts, samples and windows are on a time or cycles (with --whole on anything)'),
        (["--until", "event(node[*].leaves.in.transferred, 3)"], '--until "event(node[*].leaves.in.transferred, 3)": events of several parts are not counted together (with --whole they are)'),
        (["--cycles", "other.oun:5"], '--cycles: there is no clock "other.oun"; did you mean "other.own"?'),
        (["--sample", "cycles(cpu) >= 5"], None),
        (["--checkpoint-every", "5 us"], "--checkpoint-every lacks the file: --checkpoint FILE"),
        (["--", "--sample", "5 us"], "--sample: it is not for the parts of a network (write it ahead of --)"),
    ],
)
def test_wrong_options(ring: Built, words: list[str], expected: str | None) -> None:
    status, errors = ring.run(*words)
    assert status == 1 and errors.count("\n") == 1 and (expected is None or errors == f"harness: {expected}\n"), errors


# ---- At any moment

@pytest.mark.parametrize("runs", [5, pytest.param(500, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])])
def test_a_part_that_is_killed_at_any_moment_is_one_line(ring: Built, runs: int) -> None:
    """From the start on; a checkpoint that was written before stays, and is whole."""
    chance = random.Random(runs)
    for number in range(runs):
        launcher = ring.begin("--time", "1000 s", "--checkpoint", "killed.ckpt", "--checkpoint-every", "500 us", SPINACH_LINK_SPIN=chance.choice(("0", "50")))
        deadline = time.monotonic() + chance.choice((0.0, 0.05, 0.3, 0.8)) * chance.random()
        while not (parts := children(launcher.pid)) or time.monotonic() < deadline:
            time.sleep(0.001)
        victim, board = chance.choice(parts), board_of(parts)
        os.kill(victim, signal.SIGKILL)
        _, errors = launcher.communicate(timeout=60)
        assert launcher.returncode == 1 and errors.count("\n") == 1, (number, errors)
        assert errors.endswith(f"(process {victim}) was killed by signal 9\n") or "cannot be started" in errors, (number, errors)
        nothing_is_left(ring, [*parts, victim], board)
        assert not (ring.place / "out/statistics.json").exists()
    if (ring.place / "killed.ckpt").exists():
        status, errors = ring.run("--time", "1 us", "--restore", "killed.ckpt")
        assert status == 1 and "the run goes on at " in errors, errors


@pytest.mark.parametrize("runs", [3, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])])
def test_an_interrupt_at_any_moment_loses_nothing(ring: Built, runs: int) -> None:
    """All end at one instant, and what continues from there counts what a run without an interrupt does."""
    chance, ended = random.Random(runs), 0
    for number in range(runs):
        launcher = ring.begin("--time", "1000 s", "--checkpoint", "stopped.ckpt", SPINACH_LINK_SPIN=chance.choice(("0", "50")))
        while not (parts := children(launcher.pid)):
            time.sleep(0.001)
        time.sleep(chance.choice((0.0, 0.05, 0.5)) * chance.random())
        board = board_of(parts)
        launcher.send_signal(signal.SIGINT)
        _, errors = launcher.communicate(timeout=60)
        assert launcher.returncode == 130 and errors.count("\n") == 1, (number, errors)
        nothing_is_left(ring, parts, board)
        if errors == "harness: ended by SIGINT before all parts had started\n":
            assert not (ring.place / "out/statistics.json").exists()
            continue
        assert errors.startswith("interrupted after "), (number, errors)
        ended += 1
        document = json.loads((ring.place / "out/statistics.json").read_text())
        ends = {json.loads(path.read_text())["run"]["until"] for path in ring.place.glob("out/*/statistics.json")}
        assert len(ends) == 1
        if number % 10 == 0:
            end = f"{document['run']['simulated_ns'] // 1000 + 20} us"
            assert ring.run("--time", end, "--restore", "stopped.ckpt")[0] == 0
            ring.run_whole("--time", end)
            assert ring.results() == ring.results("whole.json")
    assert ended
