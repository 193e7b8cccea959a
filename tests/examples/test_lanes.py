"""What the network interfaces are does not depend on the order in which they are connected."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sample import sampled

Rewrite = Callable[[str], str]


@dataclass(frozen=True)
class Nic:
    """A machine in a folder of examples/, of which `chip` is the file with the connections."""

    name: str
    chip: str
    define: str
    firmware: str
    time: str
    least: int  # bytes of frames that are sent in this time


TIGON2 = Nic("tigon2", "tigon2_nic.lss", "processors=2", "tigon2_parallel", "1450us", 15_000)
NIC10G = Nic("nic10g", "nic10g_chip.lss", "processors=1", "nic10g", "200us", 15_000)


def turned_round(text: str) -> str:
    """Every connection of keyed lanes comes at the end, the last one first, so that lanes have other numbers: all but the
    requesters of an arbiter and of the registers, which are served in the order of the lanes."""
    pattern = re.compile(r"^(?: {2})?\w[^ ]*(?:\[\"[^/\n]* -> | -> [^/\n]*\[\")[^/\n]*;\n", re.MULTILINE)
    lines = [line for line in pattern.findall(text) if not re.search(r"-> (arbiter|registers)\.in\[", line)]
    for line in lines:
        text = text.replace(line, "")
    end = text.rstrip().rfind("}") if text.rstrip().endswith("}") else len(text)
    return text[:end] + "".join(reversed(lines)) + text[end:]


def mac_first(nic: str) -> str:
    """The MAC is the first requester of memory and registers, before the processors."""
    if "module tigon2_nic" not in nic:
        return nic
    joins = re.findall(r"^  mac_[rt]x\.(?:memory|registers) -> .*;\n", nic, re.MULTILINE)
    instances = re.findall(r"^  instance mac_[rt]x : .*?};\n", nic, re.MULTILINE | re.DOTALL)
    assert len(joins) == 4 and len(instances) == 2
    for text in joins + instances:
        nic = nic.replace(text, "")
    place = nic.index("  // ---- Processors, or what tests put")
    return nic[:place] + "".join(instances + joins) + nic[place:]


class Built:
    """A machine whose netlist was written otherwise; built quickly, since it runs for a moment only."""

    def __init__(self, lss: Path, examples: Path, folder: Path, nic: Nic, rewrite: Rewrite) -> None:
        shutil.copytree(examples / nic.name, folder)
        for name in (nic.chip, f"{nic.name}.lss"):
            (folder / name).write_text(rewrite((folder / name).read_text()))
        self.nic, self.simulator = nic, folder / "sim"
        machine = [folder / f"{nic.name}.lss", "-D", nic.define]
        subprocess.run([lss, "build", *machine, "-O0", "-o", self.simulator], check=True)
        self.netlist = json.loads(subprocess.run([lss, "export", *machine], check=True, capture_output=True, text=True).stdout)

    def connections(self) -> list:
        """By instances, ports and keys, or numbers where lanes have no keys."""
        ends = [[(c[end], c.get(f"{end}_key") or c[f"{end}_lane"]) for end in ("from", "to")] for c in self.netlist["connections"]]
        return sorted(map(str, ends))

    def lanes(self) -> list:
        return [(c["from"], c["from_lane"], c["to"], c["to_lane"]) for c in self.netlist["connections"]]


@pytest.fixture(scope="module")
def built(root: Path, build_dir: Path, tmp_path_factory) -> Callable[[Nic, Rewrite], Built]:
    folder, made = tmp_path_factory.mktemp("lanes"), {}

    def build(nic: Nic, rewrite: Rewrite) -> Built:
        key = f"{nic.name}_{rewrite.__name__}"
        if key not in made:
            made[key] = Built(build_dir / "bin" / "lss", root / "examples", folder / key, nic, rewrite)
        return made[key]

    return build


@pytest.fixture
def run(run_sim, build_dir: Path, tmp_path: Path) -> Callable:
    def start(machine: Built, *options):
        firmware = build_dir / f"firmware/{machine.nic.firmware}/{machine.nic.firmware}.elf"
        arguments = ["--quiet", "--firmware", firmware, "--payload", 1472, *options]
        return run_sim(machine.simulator, *arguments, "--sent", tmp_path / "sent", "--received", tmp_path / "received"), [
            (tmp_path / name).read_bytes() for name in ("sent", "received")
        ]

    return start


@pytest.mark.parametrize("nic", sampled([TIGON2, NIC10G], first=1), ids=lambda nic: nic.name)
def test_exchanging_connections_changes_lane_numbers_only(built, run, nic: Nic) -> None:
    straight, turned = built(nic, str), built(nic, turned_round)
    assert straight.connections() == turned.connections()
    moved = {tuple(re.split(r"[.\[]", lane[end])[:1]) for lane in set(straight.lanes()) ^ set(turned.lanes()) for end in (0, 2)}
    assert {("nic",), ("host",)} <= moved, moved
    runs = [run(machine, "--time", nic.time) for machine in (straight, turned)]
    assert runs[0][0].stats["statistics"] == runs[1][0].stats["statistics"]
    assert runs[0][1] == runs[1][1] and len(runs[0][1][0]) > nic.least


KEYS = [
    (TIGON2, 'nic.bus["dma_write"] -> host.bus["dma_write"];', "", "error[key-missing]: `bus` of `nic` has no lane for the master of the bus `dma_write`"),
    (TIGON2, 'nic.bus["dma_write"] ->', 'nic.bus["dma_wirte"] ->', "error[unknown-key]: `nic` has no master of the bus `dma_wirte`; did you mean `dma_write`?"),
    (NIC10G, 'nic.bus["dma_write"] ->', 'nic.bus["dma_read"] ->', 'error[duplicate-key]: a lane of `bus` has the key "dma_read" already'),
    (NIC10G, 'nic.bus["dma_write"] ->', "nic.bus ->", "error[mixed-lanes]: lanes of `nic.bus` are both"),
]


@pytest.mark.parametrize(("nic", "right", "wrong", "words"), KEYS, ids=["missing", "misspelt", "doubled", "mixed"])
def test_masters_of_the_bus_have_names(lss, root: Path, tmp_path: Path, nic: Nic, right: str, wrong: str, words: str) -> None:
    text = (root / "examples" / nic.name / f"{nic.name}.lss").read_text()
    assert right in text
    (tmp_path / "top.lss").write_text(text.replace(right, wrong))
    assert words in lss("check", "--netlist-only", "top.lss", "-I", root / "examples" / nic.name, ok=False).err


@pytest.mark.soak
def test_the_mac_may_be_connected_first(built, run) -> None:
    """The arbiter goes by lanes, so single requests come at other instants.  Nothing else does: the host is interrupted by
    processors, each processor hears of the others' writes and not of its own, and every frame comes."""
    straight, other = built(TIGON2, str), built(TIGON2, mac_first)
    names = [c for c in other.netlist["connections"] if c["to"] == "nic.arbiter.in.request"]
    assert [c["to_key"] for c in sorted(names, key=lambda c: c["to_lane"])][:2] == ["mac_tx", "mac_rx"]
    assert straight.connections() == other.connections()
    results = []
    for machine in (straight, other):
        done, _ = run(machine, "--count", 30, "--mode", "fast", "--time", "1700us")
        results.append(done)
    for path, name in [("driver", "frames_sent"), ("driver", "frames_received"), ("ethernet", "frames_in"), ("ethernet", "frames_out")]:
        assert results[0].value(path, name) == results[1].value(path, name) == 30, (path, name)
    own = [[re.findall(r"== (\d+)", u["code"])[0] for i in m.netlist["instances"] for u in i["userpoints"] if u["name"] == "is_own_write" and u["replaced"]] for m in (straight, other)]
    assert own == [["0", "1"], ["2", "3"]]
