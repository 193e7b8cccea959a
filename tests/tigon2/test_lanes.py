"""What the Tigon-2 is does not depend on the order in which it is connected."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Rewrite = Callable[[str], str]


def turned_round(nic: str) -> str:
    """Every connection of a register's value comes at the end, the last one first: the lanes of registers.value, and of what they go to, are others."""
    pattern = re.compile(r"^  registers\.value\[.*;$", re.MULTILINE)
    lines = pattern.findall(nic)
    assert len(lines) > 35
    place = nic.index("  // ---- Rules that look at who asks")
    return pattern.sub("", nic[:place]) + "\n".join(reversed(lines)) + nic[place:]


def mac_first(nic: str) -> str:
    """The MAC is the first requester of memory and registers, before the processors."""
    joins = re.findall(r"^  mac_[rt]x\.(?:memory|registers) -> .*;\n", nic, re.MULTILINE)
    instances = re.findall(r"^  instance mac_[rt]x : .*?};\n", nic, re.MULTILINE | re.DOTALL)
    assert len(joins) == 4 and len(instances) == 2
    for text in joins + instances:
        nic = nic.replace(text, "")
    place = nic.index("  // ---- Processors, or what tests put")
    return nic[:place] + "".join(instances + joins) + nic[place:]


class Built:
    """The two-processor machine with a netlist that was written otherwise."""

    def __init__(self, lss: Path, examples: Path, folder: Path, rewrite: Rewrite) -> None:
        shutil.copytree(examples, folder)
        nic = folder / "tigon2_nic.lss"
        nic.write_text(rewrite(nic.read_text()))
        self.simulator = folder / "sim"
        machine = [folder / "tigon2.lss", "-D", "cpus=2"]
        subprocess.run([lss, "build", *machine, "-o", self.simulator], check=True)
        self.netlist = json.loads(subprocess.run([lss, "export", *machine], check=True, capture_output=True, text=True).stdout)

    def connections(self) -> list:
        """By instances, ports and keys, or numbers where lanes have no keys."""
        ends = [[(c[end], c.get(f"{end}_key") or c[f"{end}_lane"]) for end in ("from", "to")] for c in self.netlist["connections"]]
        return sorted(map(str, ends))

    def lanes(self) -> list:
        return [(c["from"], c["from_lane"], c["to"], c["to_lane"]) for c in self.netlist["connections"]]


@pytest.fixture(scope="module")
def built(root: Path, build_dir: Path, tmp_path_factory) -> Callable[[str, Rewrite], Built]:
    folder, made = tmp_path_factory.mktemp("lanes"), {}

    def build(name: str, rewrite: Rewrite) -> Built:
        if name not in made:
            made[name] = Built(build_dir / "bin" / "lss", root / "examples" / "tigon2", folder / name, rewrite)
        return made[name]

    return build


@pytest.fixture
def run(run_sim, build_dir: Path, tmp_path: Path) -> Callable:
    firmware = build_dir / "firmware/tigon2_parallel/tigon2_parallel.elf"

    def start(machine: Built, *options):
        arguments = ["--quiet", "--firmware", firmware, "--payload", 1472, *options]
        return run_sim(machine.simulator, *arguments, "--sent", tmp_path / "sent", "--received", tmp_path / "received"), [
            (tmp_path / name).read_bytes() for name in ("sent", "received")
        ]

    return start


def test_exchanging_connections_changes_lane_numbers_only(built, run) -> None:
    straight, turned = built("straight", str), built("turned", turned_round)
    assert straight.connections() == turned.connections() and straight.lanes() != turned.lanes()
    runs = [run(machine, "--time", "1500us") for machine in (straight, turned)]
    assert runs[0][0].stats["statistics"] == runs[1][0].stats["statistics"]
    assert runs[0][1] == runs[1][1] and len(runs[0][1][0]) > 20_000


def test_the_mac_may_be_connected_first(built, run) -> None:
    """The arbiter goes by lanes, so single references come at other instants.  Nothing else does: the host is interrupted by
    processors, each processor hears of the others' writes and not of its own, and every frame comes."""
    straight, other = built("straight", str), built("mac_first", mac_first)
    names = [c for c in other.netlist["connections"] if c["to"] == "nic.arbiter.in.request"]
    assert [c["to_key"] for c in sorted(names, key=lambda c: c["to_lane"])][:2] == ["mac_tx", "mac_rx"]
    assert straight.connections() == other.connections()
    results = []
    for machine in (straight, other):
        done, _ = run(machine, "--count", 100, "--mode", "fast", "--time", "3ms")
        results.append(done)
    for path, name in [("driver", "frames_sent"), ("driver", "frames_received"), ("ethernet", "frames_in"), ("ethernet", "frames_out")]:
        assert results[0].value(path, name) == results[1].value(path, name) == 100, (path, name)
    own = [[re.findall(r"== (\d+)", u["code"])[0] for i in m.netlist["instances"] for u in i["userpoints"] if u["name"] == "own" and u["replaced"]] for m in (straight, other)]
    assert own == [["0", "1"], ["2", "3"]]
