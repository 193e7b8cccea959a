"""Networks on two hosts end by themselves, meet and continue as on one.

Both hosts are names of this computer, with shared memory of their own.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.link.networks import HERE, SHARED, STUCK, Built, build, build_waiting, every
from tests.link.test_common_ends import silent

NAMES = ("localhost", "127.0.0.1")


@pytest.fixture(scope="module", autouse=True)
def carrier(build_dir: Path) -> None:
    if not (build_dir / "lib/carrier").exists() or not shutil.which("mpirun"):
        pytest.skip("there is no MPI (apt-get install openmpi-bin libopenmpi-dev)")


@pytest.fixture(scope="module")
def sources(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("sources"), HERE / "sources.lss")


@pytest.fixture(scope="module")
def ring(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("ring"), HERE / "token_ring.lss")


def hosts(built: Built) -> list[object]:
    file = built.place / "hosts.txt"
    file.write_text("".join(f"{name} 1\n" for name in NAMES))
    return ["--hosts", file]


def ends(built: Built) -> dict[str, object]:
    """How each part has ended, and when."""
    return {path.parent.name: json.loads(path.read_text())["run"] for path in built.place.glob("out/*/statistics.json")}


# ---- Ends that all find together


@pytest.mark.parametrize("words", [[], ["--sample", "300 ns"], ["--measure-from", "1 us"], every("source.count", 0)])
def test_nothing_left_to_do_ends_at_the_same_instant(sources: Built, words: list[str]) -> None:
    sources.run_whole(*words)
    for _ in range(3):
        status, errors = sources.run(*hosts(sources), *words)
        assert status == 0 and errors.startswith("nothing left to do after "), errors
        assert sources.results() == sources.results("whole.json")


@pytest.mark.parametrize("words", [STUCK, pytest.param([*STUCK, "--time", "2 ms"], marks=pytest.mark.soak)])
def test_the_watchdog_finds_that_all_are_stuck(sources: Built, words: list[str]) -> None:
    """At a meeting: each part ends where it ends on one host."""
    expected = (1, "harness: no progress for 0.1 ms of simulated time, since 0 ms\n")
    assert sources.run_whole(*words, ok=False).stderr.startswith("sources: error: no progress for 0.1 ms of simulated time, since 0 ms\n")
    assert sources.run(*words) == expected
    together = ends(sources)
    for _ in range(3):
        assert sources.run(*hosts(sources), *words) == expected
        assert ends(sources) == together and len(together) == 3


def test_the_watchdog_counts_progress_of_any_host(sources: Built) -> None:
    words = ["--time", "2 ms", "--watchdog", "100 us", "--set", "node[0].source.count=40", "--set", "node[1].sink.ready=0", "--set", "other.source.count=100000"]
    sources.run_whole(*words)
    status, errors = sources.run(*hosts(sources), *words)
    assert status == 0 and sources.results() == sources.results("whole.json"), errors


@pytest.mark.soak  # tests/link/test_common_ends.py has it on one host
def test_the_idle_timeout_is_of_all_hosts(build_dir: Path, tmp_path: Path) -> None:
    built = build_waiting(build_dir, tmp_path)
    words = ["--idle-timeout", "20 ms", "--time", "60 ms"]
    said = built.run_whole(*words, ok=False).stderr.splitlines()[0].removeprefix("waits: error: ")
    expected = (1, f"harness: {said}\n")
    assert said.startswith("nothing new has happened for 0.02 s of simulated time") and built.run(*words) == expected
    together = ends(built)
    assert built.run(*hosts(built), *words) == expected and ends(built) == together
    status, errors = built.run(*hosts(built), *words[:3], "30 ms", "--set", "other.core.works=512")
    assert status == 0 and errors.startswith("all time was simulated"), errors


@pytest.mark.soak
def test_modules_that_do_not_say_when_they_act(build_dir: Path, tmp_path: Path) -> None:
    built = silent(build_dir, tmp_path)
    assert built.run()[0] == 0
    together = built.results()
    status, errors = built.run(*hosts(built))
    assert status == 0 and errors.startswith("nothing left to do after ") and built.results() == together, errors


# ---- Checkpoints


def test_checkpoints_are_those_of_one_host(ring: Built) -> None:
    """Written on two hosts, continued on two, on one, and by the whole; and written by these, continued on two."""
    chance = random.Random(7)
    ring.run_whole("--time", "150 us")
    expected, two = ring.results("whole.json"), hosts(ring)
    for _ in range(2):
        at = f"{chance.randrange(1, 150_000_000_000)} fs"
        assert ring.run(*two, "--time", at, "--checkpoint", "two.ckpt")[0] == 0
        assert ring.run("--time", at, "--checkpoint", "one.ckpt")[0] == 0
        (ring.place / "whole.ckpt").unlink(missing_ok=True)
        ring.run_whole("--time", at, "--checkpoint", "whole.ckpt")
        assert sorted(path.name for path in (ring.place / "two.ckpt").iterdir()) == sorted(path.name for path in (ring.place / "one.ckpt").iterdir())
        for words in (["two.ckpt"], ["two.ckpt", *two], ["one.ckpt", *two], ["whole.ckpt", *two]):
            status, errors = ring.run("--time", "150 us", "--restore", *words)
            assert status == 0 and ring.results() == expected, errors
        ring.run_whole("--time", "150 us", "--restore", "two.ckpt")
        assert ring.results("whole.json") == expected


def test_samples_and_windows_go_on(ring: Built) -> None:
    words = ["--sample", "7 us", "--measure-from", "20 us", "--measure-to", "cycles(other.own) >= 7000"]
    ring.run_whole("--time", "120 us", *words)
    ring.run(*hosts(ring), "--time", "50 us", *words, "--checkpoint", "sampled.ckpt")  # the window has no end yet
    status, errors = ring.run(*hosts(ring), "--time", "120 us", *words, "--restore", "sampled.ckpt")
    assert status == 0 and ring.results() == ring.results("whole.json"), errors


def processes(built: Built, kind: str) -> list[int]:
    """Those of which the carriers have said so: `carrier`, `part`."""
    texts = [file.read_text() for name in NAMES if (file := built.place / f"out/hosts/{name}.txt").exists()]
    return [int(pid) for text in texts for pid in re.findall(rf"^{kind}(?: \d+)? (\d+)$", text, re.MULTILINE)]


def wait_for(built: Built, count: int) -> list[int]:
    for _ in range(2000):
        if len(parts := processes(built, "part")) == count:
            return parts
        time.sleep(0.005)
    raise AssertionError("the parts did not start")


def begin(built: Built, *words: object) -> subprocess.Popen:
    shutil.rmtree(built.place / "out", ignore_errors=True)
    return built.begin(*hosts(built), *words)


def test_checkpoints_on_the_way(ring: Built) -> None:
    """The latest of which all files are there stays when a part is killed."""
    launcher = begin(ring, "--time", "1000 s", "--checkpoint", "way.ckpt", "--checkpoint-every", "33 us")
    parts = wait_for(ring, 4)
    while not (ring.place / "way.ckpt").exists() and launcher.poll() is None:
        time.sleep(0.01)
    os.kill(parts[1], signal.SIGKILL)
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode == 1 and errors.endswith("was killed by signal 9\n") and errors.count("\n") == 1, errors
    assert not list(ring.place.glob("way.ckpt.*"))
    _, errors = ring.run("--time", "1 us", "--restore", "way.ckpt")
    reached = float(errors.partition("goes on at ")[2].partition(" ns")[0]) / 1000
    assert ring.run(*hosts(ring), "--time", f"{reached + 50} us", "--restore", "way.ckpt")[0] == 0
    ring.run_whole("--time", f"{reached + 50} us")
    assert ring.results() == ring.results("whole.json")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_continues(ring: Built, number: int) -> None:
    launcher = begin(ring, "--time", "1000 s", "--checkpoint", "stopped.ckpt")
    wait_for(ring, 4)
    time.sleep(0.5)
    launcher.send_signal(number)
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + number and errors.startswith("interrupted after ") and errors.count("\n") == 1, errors
    assert len({run["until"] for run in ends(ring).values()}) == 1
    reached = json.loads((ring.place / "out/statistics.json").read_text())["run"]["simulated_ns"] // 1000 + 30
    assert ring.run("--time", f"{reached} us", "--restore", "stopped.ckpt")[0] == 0
    ring.run_whole("--time", f"{reached} us")
    assert ring.results() == ring.results("whole.json")


def test_an_interrupt_where_some_parts_rest(sources: Built) -> None:
    launcher = begin(sources, *every("source.count", 0), "--set", "other.source.count=1000000000")
    wait_for(sources, 3)
    time.sleep(0.5)
    launcher.send_signal(signal.SIGINT)
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode == 130 and errors.startswith("interrupted after "), errors
    assert len({run["until"] for run in ends(sources).values()}) == 1


def test_hosts_that_begin_at_different_instants(ring: Built) -> None:
    """All files of one host are of another run."""
    for at in 40, 50:
        assert ring.run(*hosts(ring), "--time", f"{at} us", "--checkpoint", f"{at}.ckpt")[0] == 0
    for part in json.loads((ring.place / "out/hosts.json").read_text())["parts"]:
        if part["host"] == 1:
            shutil.copy(ring.place / f"40.ckpt/{part['path']}.checkpoint", ring.place / f"50.ckpt/{part['path']}.checkpoint")
    launcher = begin(ring, "--time", "80 us", "--restore", "50.ckpt")
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode == 1 and re.fullmatch(r"harness: \S+: the parts of another host begin at another instant \(from \S+\)\n", errors), errors
    assert_nothing_is_left(ring)


# ---- Options


def test_a_picture_is_that_of_one_host(ring: Built) -> None:
    words = ["--time", "100 us", "--sample", "20 us", "--picture"]
    assert ring.run(*words, "one.html")[0] == 0 and ring.run(*hosts(ring), *words, "two.html")[0] == 0
    assert (ring.place / "one.html").read_bytes() == (ring.place / "two.html").read_bytes()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--whole"], "--hosts: it is for parts; the simulator of the whole runs on this computer (leave it out)"),
        (["--cores", "1"], "--cores: the file of hosts has the number of cores of each host"),
        (["--cycles", "other.oun:5"], '--cycles: there is no clock "other.oun"; did you mean "other.own"?'),
        (["--checkpoint-every", "5 us"], "--checkpoint-every lacks the file: --checkpoint FILE"),
        (["--checkpoint", "none/ckpt"], 'cannot write the checkpoint "none/ckpt": No such file or directory'),
        (["--picture", "none/x.html"], None),
    ],
)
def test_wrong_options(ring: Built, words: list[str], expected: str | None) -> None:
    status, errors = ring.run(*hosts(ring), *words)
    assert status == 1 and errors.count("\n") == 1 and (expected is None or errors == f"harness: {expected}\n"), errors


# ---- At any moment


def assert_nothing_is_left(built: Built) -> None:
    """No process and no shared memory, a moment after the end."""
    board = json.loads((built.place / "out/hosts.json").read_text())["board"]
    found = [*processes(built, "carrier"), *processes(built, "part")]
    for _ in range(100):
        left = [pid for pid in found if Path(f"/proc/{pid}/status").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()]
        if not left and not list(SHARED.glob(f"spinach-{board}*")):
            return
        time.sleep(0.1)
    raise AssertionError(f"still there: {left}, {list(SHARED.glob(f'spinach-{board}*'))}")


@pytest.mark.parametrize("runs", [6, pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])])
def test_whoever_is_killed_at_any_moment_is_one_line(ring: Built, runs: int) -> None:
    """A carrier or a part, from the start on."""
    chance = random.Random(runs)
    for number in range(runs):
        kind = ("carrier", "part")[number % 2]
        launcher = begin(ring, "--time", "1000 s")
        deadline = time.monotonic() + chance.choice((0.0, 0.3, 1.0)) * chance.random()
        while not (found := processes(ring, kind)) or time.monotonic() < deadline:
            assert launcher.poll() is None
            time.sleep(0.001)
        victim = chance.choice(found)
        os.kill(victim, signal.SIGKILL)
        _, errors = launcher.communicate(timeout=60)
        assert launcher.returncode == 1 and errors.count("\n") == 1, (number, errors)
        assert f"(process {victim}) " in errors, (number, kind, errors)
        assert_nothing_is_left(ring)


@pytest.mark.parametrize("runs", [4, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])])
def test_an_interrupt_at_any_moment_is_one_line(ring: Built, runs: int) -> None:
    chance = random.Random(runs)
    for number in range(runs):
        launcher = begin(ring, "--time", "1000 s")
        while not (ring.place / "out/hosts.json").exists():
            assert launcher.poll() is None
            time.sleep(0.001)
        time.sleep(chance.choice((0.05, 0.5, 1.5)) * chance.random())
        launcher.send_signal(signal.SIGINT)
        _, errors = launcher.communicate(timeout=60)
        assert launcher.returncode == 130 and errors.count("\n") == 1, (number, errors)
        assert errors.startswith("interrupted after ") or errors == "harness: ended by SIGINT before all parts had started\n", errors
        assert_nothing_is_left(ring)
