"""`spinach network`: a network in parts counts what the whole counts, whatever the host does, and ends with one line."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.firmware import tool

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "tests/engine/modules"
TIME = "400 us"


@pytest.fixture(scope="module")
def built(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the network in parts and as a whole, and what the whole counts."""
    place = tmp_path_factory.mktemp("built")
    command = [build_dir / "bin/lss", "build", Path(__file__).with_name("token_ring.lss"), "-I", MODULES]
    subprocess.run([*command, "--parts", "-o", place / "ring.net"], check=True)
    subprocess.run([*command, "-o", place / "ring"], check=True)
    subprocess.run([place / "ring", "--quiet", "--time", TIME, "--stats", place / "whole.json", "--print", "**"], check=True, stdout=(place / "states").open("w"))
    return place


def begin(built: Path, out: Path, *words: object, **environment: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "harness", "network", built / "ring.net", "--run-dir", out, *words]
    return subprocess.Popen(list(map(str, command)), cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(built: Path, out: Path, *words: object, **environment: str) -> tuple[int, str, str]:
    child = begin(built, out, *words, **environment)
    said, errors = child.communicate(timeout=100)
    return child.returncode, said, errors


def counted(file: Path) -> str:
    """The statistics as they are written."""
    text = file.read_text()
    return text[text.index('"statistics": [') :]


def children(launcher: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(launcher)], capture_output=True, text=True).stdout
    return [int(word) for word in found.split()]


def wait_for_parts(launcher: subprocess.Popen) -> list[int]:
    for _ in range(400):
        if len(parts := children(launcher.pid)) == 4:
            return parts
        time.sleep(0.01)
    raise AssertionError("the parts did not start")


@pytest.mark.parametrize("spin", ["0", "50"])
def test_parts_count_what_the_whole_counts(built: Path, tmp_path: Path, spin: str) -> None:
    status, said, _ = run(built, tmp_path / "out", "--time", TIME, SPINACH_LINK_SPIN=spin)
    assert status == 0 and said.splitlines()[0].split() == ["part", "seconds", "waited"] and len(said.splitlines()) == 5
    assert counted(tmp_path / "out/statistics.json") == counted(built / "whole.json")
    merged, whole = (json.loads(path.read_text()) for path in (tmp_path / "out/statistics.json", built / "whole.json"))
    assert merged["run"]["simulated_ns"] == whole["run"]["simulated_ns"]
    assert {clock: count for clock, count in whole["run"]["cycles"].items() if clock in merged["run"]["cycles"]} == merged["run"]["cycles"]
    assert merged["manifest"]["parameters"] == whole["manifest"]["parameters"]


def states(out: Path) -> list[str]:
    """All that instances hold, also what is on its way; of a crossing each end has its half."""
    logs = [(out / part / "log.txt").read_text().splitlines() for part in ("node[0]", "node[1]", "node[2]", "other")]
    return sorted({line for log in logs for line in log if line.startswith(("node", "other", "way"))})


def test_parts_have_the_states_of_the_whole(built: Path, tmp_path: Path) -> None:
    assert run(built, tmp_path / "out", "--time", TIME, "--", "--print", "**")[0] == 0
    whole = (built / "states").read_text().splitlines()
    assert len(whole) > 40 and states(tmp_path / "out") == sorted(whole)
    assert any(line.startswith("way[0].way ") and "held=0" not in line for line in whole)


def disturb(launcher: subprocess.Popen, chance: random.Random) -> None:
    """Stops processes for 1 to 50 ms at random, until all have ended."""
    while launcher.poll() is None:
        for part in children(launcher.pid):
            if chance.random() < 0.3:
                try:
                    os.kill(part, signal.SIGSTOP)
                    time.sleep(0.001 + 0.049 * chance.random() ** 2)
                    os.kill(part, signal.SIGCONT)
                except ProcessLookupError:
                    pass
        time.sleep(chance.random() * 0.003)


@pytest.mark.parametrize("runs", [3, pytest.param(1000, marks=[pytest.mark.soak, pytest.mark.timeout(14400)])])
def test_processes_that_are_stopped_at_any_time_change_nothing(built: Path, tmp_path: Path, runs: int) -> None:
    """On all cores, or on one, whatever waits do: the same statistics and the same states."""
    chance = random.Random(runs)
    whole = sorted((built / "states").read_text().splitlines())
    for _ in range(runs):
        cores = chance.choice(((), ("--cores", 1)))
        launcher = begin(built, tmp_path / "out", "--time", TIME, *cores, "--", "--print", "**", SPINACH_LINK_SPIN=chance.choice(("0", "50", "2000")))
        disturb(launcher, chance)
        assert launcher.wait() == 0, launcher.stderr.read()
        assert counted(tmp_path / "out/statistics.json") == counted(built / "whole.json")
        assert states(tmp_path / "out") == whole


def test_a_condition_on_one_part_ends_all_at_one_instant(built: Path, tmp_path: Path) -> None:
    """So many ticks after the condition held, in parts and in the whole."""
    words = ["--until", "node[1].leaves.transfers >= 300"]
    subprocess.run([built / "ring", "--quiet", *words, "--stats", tmp_path / "whole.json"], check=True)
    whole = json.loads((tmp_path / "whole.json").read_text())
    ends = {(whole["run"]["simulated_ns"], counted(tmp_path / "whole.json"))}
    for spin in ("0", "2000"):
        status, _, errors = run(built, tmp_path / "out", *words, SPINACH_LINK_SPIN=spin)
        assert status == 0 and errors.startswith("the condition of --until holds after "), errors
        documents = [json.loads((tmp_path / "out" / part / "statistics.json").read_text()) for part in ("node[0]", "node[1]", "other")]
        ends.add((min(one["run"]["simulated_ns"] for one in documents), counted(tmp_path / "out/statistics.json")))
    assert len(ends) == 1


def test_a_part_that_is_killed_ends_all(built: Path, tmp_path: Path) -> None:
    launcher = begin(built, tmp_path / "out", "--time", "1000 s")
    parts = wait_for_parts(launcher)
    time.sleep(0.3)
    os.kill(parts[2], signal.SIGKILL)
    _, errors = launcher.communicate(timeout=20)
    assert launcher.returncode == 1 and errors == f"harness: node[2] (process {parts[2]}) was killed by signal 9\n"
    assert not (tmp_path / "out/statistics.json").exists()


def test_control_c_ends_all_at_one_instant(built: Path, tmp_path: Path) -> None:
    launcher = begin(built, tmp_path / "out", "--time", "1000 s")
    wait_for_parts(launcher)
    time.sleep(0.5)
    launcher.send_signal(signal.SIGINT)
    _, errors = launcher.communicate(timeout=20)
    assert launcher.returncode == 130 and errors.startswith("interrupted after "), errors
    documents = [json.loads((tmp_path / "out" / part / "statistics.json").read_text()) for part in ("node[0]", "node[1]", "node[2]")]
    assert len({one["run"]["simulated_ns"] for one in documents}) == 1


def wrong_network(built: Path, place: Path, change) -> Path:
    """A folder like that of the network, but for what `change` does to the text of network.json."""
    (place / "ring.net").mkdir()
    for file in (built / "ring.net").iterdir():
        (place / "ring.net" / file.name).symlink_to(file)
    (place / "ring.net/network.json").unlink()
    (place / "ring.net/network.json").write_text(change((built / "ring.net/network.json").read_text()))
    return place


WRONG = {
    "no JSON": (lambda text: text[:-5], "it is no network that `lss build --parts` has written"),
    "another format": (lambda text: text.replace('"format": 1', '"format": 2'), "it has format 2, not 1 (build the network again)"),
}


@pytest.mark.parametrize("name", ["no JSON", "another format"])
def test_a_wrong_file_of_the_network(built: Path, tmp_path: Path, name: str) -> None:
    change, expected = WRONG[name]
    status, _, errors = run(wrong_network(built, tmp_path, change), tmp_path / "out", "--time", TIME)
    assert status == 1 and errors.count("\n") == 1 and errors.endswith(f"network.json: {expected}\n"), errors


def test_simulators_of_another_build(built: Path, tmp_path: Path) -> None:
    old = json.loads((built / "ring.net/network.json").read_text())["hash"]
    new = old[::-1]
    status, _, errors = run(wrong_network(built, tmp_path, lambda text: text.replace(old, new)), tmp_path / "out", "--time", TIME)
    assert status == 1
    assert errors == f"harness: network.json is of another build of token_ring.lss: its hash is {new}, this simulator's {old}\n"


@pytest.mark.parametrize(
    "words, expected",
    [
        (["--set", "node[7].source.count=3"], '--set: "node[7].source.count" names nothing in any part of token_ring.lss'),
        (["--set", "node[1].source.many=3"], 'node[1]: --set: there is no runtime parameter "node[1].source.many"; --help lists them'),
        (["--set", "node[*].source.many=3"], '--set: "node[*].source.many" names nothing in any part of token_ring.lss'),
        (["--set", "node[1].source.count"], '--set: "node[1].source.count" lacks its value (write --set PATH.NAME=VALUE)'),
        (["--", "--cycles", "5"], "--cycles: it is not for the parts of a network (write it ahead of --)"),
        (["--cores", "100000"], None),
    ],
)
def test_wrong_options(built: Path, tmp_path: Path, words: list[str], expected: str | None) -> None:
    status, _, errors = run(built, tmp_path / "out", "--time", TIME, *words)
    assert status == 1 and errors.count("\n") == 1 and (expected is None or errors == f"harness: {expected}\n"), errors


def test_settings_go_to_the_part_that_they_name(built: Path, tmp_path: Path) -> None:
    status, _, errors = run(built, tmp_path / "out", "--time", TIME, "--set", "node[2].source.count=1", "--set", "other.source.count=0")
    assert status == 0, errors
    entries = json.loads((tmp_path / "out/statistics.json").read_text())["statistics"]
    items = {entry["path"]: entry["value"] for entry in entries if entry["name"] == "items"}
    assert items == {"node[0].source": 3, "node[1].source": 3, "node[2].source": 1, "other.source": 0}


def test_a_setting_with_a_pattern_goes_to_all_parts_that_it_matches(built: Path, tmp_path: Path) -> None:
    words = ["--set", "**.source.count=2", "--set", "node[*].source.count=4", "--set", "node[1].source.count=1"]
    status, _, errors = run(built, tmp_path / "out", "--time", TIME, *words)
    assert status == 0, errors
    entries = json.loads((tmp_path / "out/statistics.json").read_text())["statistics"]
    items = {entry["path"]: entry["value"] for entry in entries if entry["name"] == "items"}
    assert items == {"node[0].source": 4, "node[1].source": 1, "node[2].source": 4, "other.source": 2}


def test_a_simulator_of_a_part_alone(built: Path, tmp_path: Path) -> None:
    simulator = next(path for path in (built / "ring.net").iterdir() if path.name != "network.json")
    network = ["--network", built / "ring.net/network.json"]
    cases = {
        (): "this is the simulator of a part of token_ring.lss: `spinach network` starts it with --part, --network and --board",
        ("--part", "node[9]", *network, "--board", "x"): '--part: there is no part "node[9]" in token_ring.lss',
        ("--part", "node[0]", *network, "--board", "a/b"): '--board: "a/b" is no name of letters and digits',
        ("--part", "node[0]", *network, "--board", f"t{os.getpid()}", "--start-timeout", "1"): "error: node[1] has not started within 1 s (--start-timeout)",
    }
    for words, expected in cases.items():
        done = subprocess.run([simulator, *words], capture_output=True, text=True, timeout=20)
        assert done.returncode == 2 and done.stderr == f"{simulator.name}: {expected}\n", done.stderr
    assert not list(Path("/dev/shm").glob(f"spinach-t{os.getpid()}*"))


LISTENER = """
import ethernet_types;
part module node {
  clock own = 100 MHz;
  outport wire_out : wire_beat;
  inport wire_in : wire_beat;
  instance port : ethernet on own;
  port.to_device -> wire_out;
  wire_in -> port.from_device;
}
instance node[2] : node;
instance cable[2] : cable;
node[0].wire_out -> cable[0].in;
cable[0].out -> node[1].wire_in;
node[1].wire_out -> cable[1].in;
cable[1].out -> node[0].wire_in;
"""
NONSENSE = {
    "item": "node[1] has sent what is no item: ",
    "early": "an item arrives sooner than the link takes (from node[1])",
    "tail": "the sender wrote more items than there is room for (from node[1])",
    "promise": "the sender took a promise back (from node[1])",
}


@pytest.fixture(scope="module")
def listener(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of two nodes, and a program that takes the place of one."""
    place = tmp_path_factory.mktemp("listener")
    (place / "two.lss").write_text(LISTENER)
    subprocess.run([build_dir / "bin/lss", "build", "--parts", "two.lss", "-o", "two.net"], cwd=place, check=True)
    sources = [Path(__file__).with_name("hostile.c"), *(ROOT / "lss/runtime/link" / f"{name}.c" for name in ("ring", "board", "ending"))]
    subprocess.run([tool("clang"), "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", *sources, "-o", place / "hostile"], check=True)
    return place


def ring_bytes(link: dict) -> int:
    """As ring.c has it."""
    capacity = 64
    while capacity / 2 < link["slots"]:
        capacity *= 2
    return 128 + -(-capacity * (16 + -(-link["bytes"] // 8) * 8) // 64) * 64


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_hostile_part_ends_the_run_with_a_line(listener: Path, tmp_path: Path, kind: str) -> None:
    network = json.loads((listener / "two.net/network.json").read_text())
    number = next(number for number, link in enumerate(network["links"]) if link["from"] == 1)
    link = network["links"][number]
    offset = sum(ring_bytes(one) for one in network["links"][:number])
    board = f"hostile-{os.getpid()}-{kind}"
    simulator = listener / "two.net" / network["kinds"][0]["simulator"]
    words = ["--part", "node[0]", "--network", listener / "two.net/network.json", "--board", board, "--quiet", "--time", "20 s"]
    hostile = subprocess.Popen([listener / "hostile", f"/dev/shm/spinach-{board}", network["hash"], "2", "1", str(offset), str(link["bytes"]), str(link["slots"]), str(link["cut"]), kind])
    try:
        done = subprocess.run([simulator, *words], capture_output=True, text=True, timeout=30)
    finally:
        hostile.kill()
        hostile.wait()
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and NONSENSE[kind] in done.stderr, done.stderr
