"""Networks of many parts: kinds, the results of the whole, and the memory that they need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.network import memory
from harness.network.network_file import Network, Part

HERE = Path(__file__).resolve().parent
ENDS = HERE / "ends.lss"
ROOT = HERE.parents[1]


def network_of(folder: Path) -> dict:
    return json.loads((folder / "network.json").read_text())


def run_parts(folder: Path, out: Path, *options: str) -> dict:
    done = subprocess.run([sys.executable, "-m", "harness", "network", folder, "--run-dir", out, *options], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads((out / "statistics.json").read_text())


@pytest.mark.parametrize(("links", "ports"), [("fat_tree(4)", [4]), ("ring(5)", [3]), ("dragonfly(2, 1)", [3]), ("chain(4)", [2]), ("star(40)", [40])])
def test_switches_with_as_many_ports_are_one_kind(lss, tmp_path: Path, links: str, ports: list[int]) -> None:
    """Their places in the network are run-time parameters."""
    lss("build", "--parts", ENDS, "-D", f"links={links}", "-o", "net")
    found = network_of(tmp_path / "net")
    assert [kind["module"] for kind in found["kinds"]] == ["ethernet_switch"] * len(ports) + ["end"]
    hosts = [part for part in found["parts"] if part["path"].startswith("node")]
    nodes = {part["path"]: dict(part["settings"]).get(f"{part['path']}.node") for part in found["parts"] if part["path"].startswith("net.switch")}
    assert nodes == {f"net.switch[{n}]": str(len(hosts) + n) if n else None for n in range(len(nodes))}


@pytest.mark.parametrize("links", ["fat_tree(4)", "star(64)"])
def test_the_statistics_are_those_of_the_whole(lss, run_sim, tmp_path: Path, links: str) -> None:
    lss("build", ENDS, "-D", f"links={links}", "-o", "whole")
    lss("build", "--parts", ENDS, "-D", f"links={links}", "-o", "net")
    whole = run_sim(tmp_path / "whole", "--time", "300 us")
    merged = run_parts(tmp_path / "net", tmp_path / "out", "--time", "300 us")
    assert merged["statistics"] == whole.stats["statistics"]
    moved = {one["path"]: one["value"] for one in whole.stats["statistics"] if one["name"] == "udp_received"}
    assert sum(moved.values()) > 10000


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_thousand_parts(lss, tmp_path: Path) -> None:
    lss("build", "--parts", ENDS, "-D", "hosts=1000", "-o", "net")
    found = network_of(tmp_path / "net")
    assert len(found["kinds"]) == 2 and len(found["parts"]) == 1001
    merged = run_parts(tmp_path / "net", tmp_path / "out", "--time", "100 us", "--start-timeout", "300")
    values = {(one["path"], one["name"]): one["value"] for one in merged["statistics"]}
    assert sum(value for (_, name), value in values.items() if name == "udp_received") > 100000
    assert sum(value for (path, name), value in values.items() if path == "net.switch[0]" and name.startswith("dropped")) == 0


def test_the_size_of_a_simulator_does_not_grow_with_the_network(lss, tmp_path: Path) -> None:
    """But for tables: the text that steps a switch is as long with twice the ports."""
    lengths = []
    for hosts in (40, 80):
        lss("build", "--parts", ENDS, "-D", f"hosts={hosts}", "-o", f"net{hosts}", "--keep", tmp_path / f"kept{hosts}")
        text = (tmp_path / f"kept{hosts}/ethernet_switch-0/root_0.c").read_text()
        lengths.append(len(text[text.index("SPINACH_STEP void root_0_seg0") :]))
    assert abs(lengths[0] - lengths[1]) < 200


def network(*sizes: int) -> Network:
    return Network(Path("net"), "0", "net.lss", 1, [], [Part(f"p{n}", Path("p"), {}, size) for n, size in enumerate(sizes)], [], [])


def test_more_parts_than_memory() -> None:
    free = int(4.1 * 2**30)
    assert memory.shortage(network(*[81 << 20] * 64), free) == "64 parts of 84 MiB may need 5.2 GiB of memory, and this computer has 4.1 GiB free"
    assert memory.shortage(network(*[81 << 20] * 40), free) is None and memory.shortage(network(1 << 50), None) is None
    assert memory.shortage(network(1 << 20, 5 << 20), 10 << 20) == "2 parts of up to 8.0 MiB may need 12 MiB of memory, and this computer has 10 MiB free"


def test_what_the_system_says_of_memory(tmp_path: Path) -> None:
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:       2000 kB\nMemAvailable:   1000 kB\n")
    assert memory.available(file) == 1000 << 10
    file.write_text("MemTotal:       2000 kB\n")
    assert memory.available(file) is None and memory.available(tmp_path / "none") is None
