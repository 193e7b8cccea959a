"""Checkpoints of networks: parts and whole machines continue from those of parts and whole machines, to the byte."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.link.networks import HERE, ROOT, Built, build, wait_for_parts

NIC = ["-I", ROOT / "examples/tigon2"]
FIRMWARE = "build/firmware/tigon2/tigon2.elf"


@pytest.fixture(scope="module")
def ring(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("ring"), HERE / "token_ring.lss")


@pytest.fixture(scope="module")
def stations(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("stations"), HERE / "stations.lss")


def captures(name: str) -> list[str]:
    """Packet files of one cable and one station, whose names begin so."""
    return ["--set", f"cable.to_b.capture={name}cable.pcap", "--set", f"b.station.capture={name}b.pcap"]


class Runs:
    """Runs of a network that are interrupted by a checkpoint, against a run that is not."""

    def __init__(self, built: Built, end: str, *words: object, outputs: Callable[[str], list[str]] = lambda _: []) -> None:
        self.built, self.end, self.words, self.outputs = built, end, words, outputs
        said = built.run_whole("--time", end, *words, *outputs("whole."), "--print", "**").stdout
        self.states = sorted(line for line in said.splitlines() if not line.startswith("  "))
        self.results = built.results("whole.json")

    def write(self, kind: str, at: str) -> None:
        if kind == "parts":
            status, errors = self.built.run("--time", at, *self.words, *self.outputs("again."), "--checkpoint", "at.ckpt")
            assert status == 0, errors
        else:
            (self.built.place / "at.ckpt").unlink(missing_ok=True)
            self.built.run_whole("--time", at, *self.words, *self.outputs("again."), "--checkpoint", "at.ckpt")

    def go_on(self, kind: str) -> None:
        """Continues from there, to the same end."""
        words = ["--time", self.end, "--restore", "at.ckpt", "--outputs", "continue", *self.outputs("again.")]
        if kind == "parts":
            status, errors = self.built.run(*words, "--", "--print", "**")
            assert status == 0, errors
            logs = sorted(self.built.place.glob("out/*/log.txt"))
            said, results = "".join(path.read_text() for path in logs), self.built.results()
        else:
            said = self.built.run_whole(*words, "--print", "**").stdout
            results = self.built.results("whole.json")
        assert sorted(line for line in said.splitlines() if not line.startswith("  ")) == self.states
        assert results == self.results
        for path in self.built.place.glob("whole.*.pcap"):
            assert (self.built.place / path.name.replace("whole.", "again.")).read_bytes() == path.read_bytes(), path.name

    def everywhere(self, at: str) -> None:
        for writer in "parts", "whole":
            for reader in "parts", "whole":
                self.write(writer, at)  # again: what is continued are the outputs of this run
                self.go_on(reader)
            path = self.built.place / "at.ckpt"
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("instants", [2, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])])
@pytest.mark.parametrize("machine", ["ring", "stations"])
def test_runs_continue_as_if_there_had_been_no_break(request: pytest.FixtureRequest, machine: str, instants: int) -> None:
    """Written and read in parts and whole, at instants at which no clock has an edge, and items are on their way."""
    built = request.getfixturevalue(machine)
    runs = Runs(built, "150 us", outputs=captures if machine == "stations" else lambda _: [])
    chance = random.Random(instants)
    for _ in range(instants):
        runs.everywhere(f"{chance.randrange(1, 150_000_000_000)} fs")


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.timeout(7200)
def test_two_tigon2_continue(build_dir: Path, tmp_path: Path) -> None:
    built = build(build_dir, tmp_path, HERE / "tigon2_pair.lss", *NIC)
    firmware = build_dir / "firmware/tigon2/tigon2.elf"
    given = [word for part in "ab" for word in ("--set", f"{part}.driver.firmware={firmware}", "--set", f"{part}.driver.mode=fast", "--set", f"{part}.driver.payload=1472")]
    runs = Runs(built, "1 ms", *given, outputs=lambda name: ["--set", f"cable.to_b.capture={name}cable.pcap"])
    assert len((tmp_path / "whole.cable.pcap").read_bytes()) > 10_000
    chance = random.Random(2)
    for _ in range(10):
        runs.everywhere(f"{chance.randrange(1, 1_000_000)} ns")


def test_checkpoints_of_a_restored_run_and_its_origins(ring: Built) -> None:
    """From one checkpoint to the next, with parts and the whole in turns; the manifest lists where the run comes from."""
    ring.run("--time", "40 us", "--checkpoint", "first.ckpt")
    ring.run_whole("--time", "70 us", "--restore", "first.ckpt", "--checkpoint", "second.ckpt")
    status, errors = ring.run("--time", "100 us", "--restore", "second.ckpt", "--checkpoint", "first.ckpt")  # which it replaces
    assert status == 0, errors
    ring.run("--time", "120 us", "--restore", "first.ckpt")
    ring.run_whole("--time", "120 us")
    assert ring.results() == ring.results("whole.json")
    names = [entry["file"] for entry in json.loads((ring.place / "out/statistics.json").read_text())["manifest"]["restored"]]
    parts = [f"{part}.checkpoint" for part in ("node[0]", "node[1]", "node[2]", "other")]
    assert names == [*parts, "second.ckpt", *parts] or set(names) == {*parts, "second.ckpt"}
    assert sorted(path.name for path in (ring.place / "first.ckpt").iterdir()) == sorted(["network.json", *parts])


def test_checkpoints_on_the_way(ring: Built) -> None:
    """After each so many cycles of one clock, also in parts that lack it; the latest of which all files are there stays."""
    for every, at in (("33 us", 198), ("other.own:2500", 166)):
        words = ["--cycles", "other.own:1000000"] if ":" in every else []
        launcher = ring.begin("--checkpoint", "way.ckpt", "--checkpoint-every", every.rpartition(":")[2], *(words or ["--time", "1000 s"]))
        parts = wait_for_parts(launcher, 4)
        while not (ring.place / "way.ckpt").exists() and launcher.poll() is None:
            time.sleep(0.01)
        os.kill(parts[1], signal.SIGKILL)
        _, errors = launcher.communicate(timeout=30)
        assert launcher.returncode == 1 and "was killed by signal 9" in errors, errors
        assert at and not list(ring.place.glob("way.ckpt.*"))
        status, errors = ring.run("--time", "1 us", "--restore", "way.ckpt")
        instant = int(errors.partition("goes on at ")[2].partition(" ns")[0].replace(".", "")[:9] or 0)
        assert status == 1 and "the run goes on at " in errors and instant, errors
        reached = float(errors.partition("goes on at ")[2].partition(" ns")[0]) / 1000
        ring.run("--time", f"{reached + 50:.3f} us", "--restore", "way.ckpt")
        ring.run_whole("--time", f"{reached + 50:.3f} us")
        assert ring.results() == ring.results("whole.json")
        shutil.rmtree(ring.place / "way.ckpt")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_continues(ring: Built, number: int) -> None:
    launcher = ring.begin("--time", "1000 s", "--checkpoint", "stopped.ckpt")
    wait_for_parts(launcher, 4)
    time.sleep(0.3)
    launcher.send_signal(number)
    _, errors = launcher.communicate(timeout=30)
    assert launcher.returncode == 128 + number and errors.startswith("interrupted after "), errors
    reached = json.loads((ring.place / "out/statistics.json").read_text())["run"]["simulated_ns"] // 1000 + 30
    status, errors = ring.run("--time", f"{reached} us", "--restore", "stopped.ckpt")
    assert status == 0, errors
    ring.run_whole("--time", f"{reached} us")
    assert ring.results() == ring.results("whole.json")


def test_a_condition_of_one_part_ends_the_checkpoint_of_all(ring: Built) -> None:
    words = ["--until", "node[1].leaves.transfers >= 300"]
    assert ring.run(*words, "--checkpoint", "until.ckpt")[0] == 0
    ring.run_whole(*words, "--checkpoint", "whole.ckpt")
    assert ring.results() == ring.results("whole.json")
    ring.run("--time", "200 us", "--restore", "until.ckpt")
    ring.run_whole("--time", "200 us", "--restore", "whole.ckpt")
    assert ring.results() == ring.results("whole.json")


def test_samples_and_windows_go_on_in_the_same_parts(ring: Built) -> None:
    words = ["--sample", "7 us", "--measure-from", "20 us", "--measure-to", "cycles(other.own) >= 7000"]
    ring.run_whole("--time", "120 us", *words)
    ring.run("--time", "50 us", *words[:4], *words[4:], "--checkpoint", "sampled.ckpt")
    status, errors = ring.run("--time", "120 us", *words, "--restore", "sampled.ckpt")
    assert status == 0 and ring.results() == ring.results("whole.json"), errors


# ---- Wrong input

def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def truncated(folder: Path) -> None:
    file = folder / "other.checkpoint"
    file.write_bytes(file.read_bytes()[:-100])


def exchanged(folder: Path) -> None:
    (folder / "node[0].checkpoint").rename(folder / "x")
    (folder / "node[1].checkpoint").rename(folder / "node[0].checkpoint")
    (folder / "x").rename(folder / "node[1].checkpoint")


WRONG = {
    "lacks a part": (without("node[1].checkpoint"), 'cannot restore "wrong.ckpt": it lacks the checkpoint of node[1], node[1].checkpoint', None),
    "lacks the network": (without("network.json"), 'cannot restore "wrong.ckpt": it is a folder without network.json, so it is no checkpoint of a network', None),
    "another file": (lambda folder: (folder / "network.json").write_text("{}"), 'cannot restore "wrong.ckpt": its network.json is none that `lss build --parts` has written', None),
    "truncated": (truncated, 'other: cannot restore "wrong.ckpt": it is cut off', 'cannot restore "wrong.ckpt": it is cut off'),
    "no checkpoint": (lambda folder: (folder / "other.checkpoint").write_text("x"), 'other: cannot restore "wrong.ckpt": other.checkpoint: it is no checkpoint', 'cannot restore "wrong.ckpt": other.checkpoint: it is no checkpoint'),
    "exchanged": (exchanged, None, ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_damaged_folder_is_one_line(ring: Built, name: str) -> None:
    change, of_parts, of_whole = WRONG[name]
    shutil.rmtree(ring.place / "wrong.ckpt", ignore_errors=True)
    ring.run("--time", "40 us", "--checkpoint", "wrong.ckpt")
    change(ring.place / "wrong.ckpt")
    status, errors = ring.run("--time", "80 us", "--restore", "wrong.ckpt")
    if of_parts is None:  # what is found by path is found
        assert status == 0, errors
    else:
        assert status == 1 and errors == f"harness: {of_parts}\n"
    done = ring.run_whole("--time", "80 us", "--restore", "wrong.ckpt", ok=False)
    expected = of_parts if of_whole is None else of_whole
    assert done.returncode == (2 if expected else 0)
    assert done.stderr == (f"token_ring: {expected}\n" if expected else "")


def test_another_network_is_one_line(ring: Built, stations: Built) -> None:
    stations.run("--time", "10 us", "--checkpoint", ring.place / "other.ckpt")
    status, errors = ring.run("--time", "80 us", "--restore", "other.ckpt")
    assert status == 1 and errors.count("\n") == 1 and 'cannot restore "other.ckpt": it is of another machine: ' in errors
    done = ring.run_whole("--time", "80 us", "--restore", "other.ckpt", ok=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and 'cannot restore "other.ckpt": it is of another machine: ' in done.stderr


def test_files_of_two_instants_are_one_line(ring: Built) -> None:
    for at in 40, 50:
        ring.run("--time", f"{at} us", "--checkpoint", f"{at}.ckpt")
    shutil.copy(ring.place / "40.ckpt/other.checkpoint", ring.place / "50.ckpt/other.checkpoint")
    words = ["--time", "80 us", "--restore", "50.ckpt"]
    status, errors = ring.run(*words)
    assert status == 1 and errors.count("\n") == 1 and "another instant" in errors, errors
    done = ring.run_whole(*words, ok=False)
    assert done.returncode == 2
    assert done.stderr == 'token_ring: cannot restore "50.ckpt": its files are not of one run: the instant of other.checkpoint is not that of node[0].checkpoint\n'


def test_what_is_no_checkpoint_is_not_replaced(ring: Built) -> None:
    (ring.place / "file").write_text("mine")
    (ring.place / "folder").mkdir(exist_ok=True)
    (ring.place / "folder/mine").write_text("mine")
    for name in "file", "folder", "token_ring.net":
        status, errors = ring.run("--time", "80 us", "--checkpoint", name)
        assert status == 1 and errors == f'harness: cannot write the checkpoint "{name}": it exists, and is none of a network\n'
    status, errors = ring.run("--time", "80 us", "--checkpoint", "none/ckpt")
    assert status == 1 and errors == 'harness: cannot write the checkpoint "none/ckpt": No such file or directory\n'
    for words, expected in ((["none.ckpt"], "there is no such file or folder"), (["folder"], "it is a folder without network.json, so it is no checkpoint of a network")):
        status, errors = ring.run("--time", "80 us", "--restore", *words)
        assert status == 1 and errors == f'harness: cannot restore "{words[0]}": {expected}\n'
    assert (ring.place / "file").read_text() == (ring.place / "folder/mine").read_text() == "mine"


def test_a_full_disk_is_one_line_and_leaves_the_earlier_checkpoint(ring: Built) -> None:
    ring.run("--time", "40 us", "--checkpoint", "full.ckpt")
    before = {path.name: path.read_bytes() for path in (ring.place / "full.ckpt").iterdir()}
    command = [sys.executable, "-m", "harness", "network", ring.folder, "--run-dir", "out", "--time", "80 us", "--checkpoint", "full.ckpt"]
    done = subprocess.run(
        list(map(str, command)), cwd=ring.place, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)),
    )  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert ": cannot write the checkpoint " in done.stderr or "shared memory" in done.stderr
    assert {path.name: path.read_bytes() for path in (ring.place / "full.ckpt").iterdir()} == before
    assert not list(ring.place.glob("full.ckpt.*"))
