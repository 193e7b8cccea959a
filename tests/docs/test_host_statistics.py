"""The statistics that docs/host.md names exist on the machines of which it says so."""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

from tests.tree import found

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs/host.md").read_text().partition("### Statistics of the host")[2].partition("\n### ")[0]
MACHINES = {
    "host": ["host.lss"],
    "wide": ["wide.lss"],
    "smp": ["smp.lss"],
    "smp with a level 2 cache": ["smp.lss", "-D", "l2_size=64 KiB"],
    "fast": ["fast.lss"],
    "sampled": ["sampled.lss"],
}


def statistics(lss, tmp_path: Path, machine: str) -> set[str]:
    """All of a machine, each with its path."""
    file, *options = MACHINES[machine]
    lss("export", ROOT / "examples/host" / file, "-D", "disks=[disk_image]", *options, "-o", "machine.json")
    netlist = json.loads((tmp_path / "machine.json").read_text())
    sources = {path.stem: path.read_text() for path in found(ROOT / "modules", "*.lss")}
    known = {f"{one['path']}.{one['name']}" for one in netlist["derived"]}
    for instance in netlist["instances"]:
        names = re.findall(r"^  stat \w+ (\w+)", sources.get(instance["module"], ""), re.MULTILINE)
        known |= {f"{instance['path']}.{name}" for name in names}
    return known


def rows(columns: int) -> list[list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
    return [row for row in cells if len(row) == columns and row[0] not in ("question", "machine")]


def names(text: str) -> list[str]:
    """`a.b.c`, `d` means a.b.c and a.b.d."""
    full: list[str] = []
    for name in (one.removesuffix("[*]") for one in re.findall(r"`([^`]+)`", text)):
        full.append(name if "." in name else full[-1].rpartition(".")[0] + f".{name}" if full else name)
    return full


def test_of_the_host(lss, tmp_path: Path) -> None:
    known, wanted = statistics(lss, tmp_path, "host"), [name for row in rows(2) for name in names(row[1].partition("; for")[0])]
    assert len(wanted) > 15
    for name in wanted:
        assert any(fnmatchcase(one, re.sub(r"\[(\d)\]", r"[[]\1]", name)) for one in known), name


def test_of_other_machines(lss, tmp_path: Path) -> None:
    """Each path is one of an instance, and has the statistics that are named."""
    assert len(rows(3)) >= 6
    for machine, paths, _ in rows(3):
        for name in re.findall(r"`(\w+)`", machine):
            known = statistics(lss, tmp_path, machine.replace("`", "") if "with" in machine else name)
            for part in paths.split("; "):
                path, *own = re.findall(r"`([^`]+)`", part)
                for one in (path, *own) if "for `" not in part else own:
                    full = (one if "." in one else f"{path}.{one}").replace("[N]", "[0]").removesuffix("[*]")
                    assert any(name == full or name.startswith(full + ".") for name in known), f"{machine}: {full}"
