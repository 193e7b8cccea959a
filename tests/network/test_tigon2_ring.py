"""Two Tigon-2 with their drivers on two cables, idle and busy: in parts they do what they do in one process."""

import json
import os
import random
import secrets
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.network.hosts import NIC

ROOT = Path(__file__).resolve().parents[2]
TRAFFIC = {
    "idle": [],
    "a frame now and then": ["payload=1472", "mode=rate", "offered=15 Mb/s"],
    "full load": ["payload=1472"],
}
Result = tuple[dict, list[str]]


@pytest.fixture(scope="module")
def built(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the network in parts and as a whole."""
    place = tmp_path_factory.mktemp("ring")
    command = [build_dir / "bin/lss", "build", ROOT / "tests/bench/tigon2_ring.lss", *NIC]
    subprocess.run([*command, "--parts", "-o", place / "ring.net"], check=True)
    subprocess.run([*command, "-o", place / "ring"], check=True)
    return place


def settings(build: Path, node: int, traffic: str) -> list[str]:
    values = [f"firmware={build / 'firmware/tigon2/tigon2.elf'}", *TRAFFIC[traffic]]
    return [word for value in values for word in ("--set", f"node[{node}].driver.{value}")]


def result(outputs: list[str], folders: list[Path]) -> Result:
    """The statistics, and all state of every instance."""
    documents = [json.loads((folder / "statistics.json").read_text()) for folder in folders]
    counted = {(one["path"], one["name"]): one["value"] for document in documents for one in document["statistics"]}
    return counted, sorted({line for output in outputs for line in output.splitlines() if line.startswith(("node", "cable"))})


def run_whole(build: Path, built: Path, traffic: str, until: str) -> Result:
    words = [word for node in (0, 1) for word in settings(build, node, traffic)]
    command = [built / "ring", "--quiet", "--time", until, "--print", "**", "--run-dir", built / "whole", *words]
    return result([subprocess.run(command, check=True, capture_output=True, text=True).stdout], [built / "whole"])


def run_parts(build: Path, built: Path, traffic: str, until: str, spin: str, chance: random.Random | None = None) -> Result:
    """`chance`: processes are stopped for 1 to 50 ms at random, and perhaps share a core."""
    network = json.loads((built / "ring.net/network.json").read_text())
    board, children, folders = f"ring-{secrets.token_hex(8)}", [], [built / "node[0]", built / "node[1]"]
    prefix = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if chance and chance.random() < 0.5 else []
    for node, folder in enumerate(folders):
        names = ["--part", folder.name, "--network", built / "ring.net/network.json", "--board", board, "--run-dir", folder]
        words = ["--quiet", "--time", until, "--print", "**", *settings(build, node, traffic)]
        command = [*prefix, built / "ring.net" / network["kinds"][0]["simulator"], *names, *words]
        with (built / f"{node}.txt").open("w") as out:
            children.append(subprocess.Popen(command, stdout=out, env=os.environ | {"SPINACH_LINK_SPIN": spin}))
    while chance and None in [child.poll() for child in children]:
        child = chance.choice([child for child in children if child.returncode is None] or children)
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.001 + 0.049 * chance.random() ** 2)
        child.send_signal(signal.SIGCONT)
        time.sleep(0.01 * chance.random())
    assert [child.wait(timeout=1000) for child in children] == [0, 0]
    return result([(built / f"{node}.txt").read_text() for node in (0, 1)], folders)


@pytest.mark.parametrize("traffic", TRAFFIC)
@pytest.mark.parametrize("spin", ["0", "2000"])
def test_parts_do_what_the_whole_does(build_dir: Path, built: Path, traffic: str, spin: str) -> None:
    whole, parts = run_whole(build_dir, built, traffic, "2 ms"), run_parts(build_dir, built, traffic, "2 ms", spin)
    assert parts[0] == whole[0] and len(whole[0]) > 200
    assert parts[1] == whole[1] and len(whole[1]) > 1000


@pytest.mark.soak
@pytest.mark.timeout(14400)
@pytest.mark.parametrize("traffic", TRAFFIC)
def test_processes_that_are_stopped_at_any_time_change_nothing(build_dir: Path, built: Path, traffic: str) -> None:
    chance, whole = random.Random(traffic), run_whole(build_dir, built, traffic, "3 ms")
    for _ in range(100):
        assert run_parts(build_dir, built, traffic, "3 ms", chance.choice(("0", "50", "2000")), chance) == whole
