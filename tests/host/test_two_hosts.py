"""A machine as a part of another: two hosts in one netlist of a few lines are each what one is alone."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TWO = "import host;\ninstance node[2] : host { big_endian = true; };\n"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.lss"
    path.write_text(TWO)
    return path


def exported(lss: Path, machine: Path, *options: str | Path) -> dict:
    done = subprocess.run([lss, "export", machine, *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def parts(machine: dict, prefix: str) -> tuple[dict, set, set]:
    """The leaves of a machine with their parameters, its connections and its clocks, by their paths in it."""

    def within(path: str) -> str:
        return path.removeprefix(prefix)

    leaves = {
        within(one["path"]): (one["module"], within(one["clock"]), [(p["name"], str(p["value"])) for p in one["parameters"]])
        for one in machine["instances"]
        if one.get("leaf") and one["path"].startswith(prefix)
    }
    connections = {
        (within(one["from"]), one["from_lane"], within(one["to"]), one["to_lane"])
        for one in machine["connections"]
        if one["from"].startswith(prefix)
    }
    clocks = {(within(one["name"]), one["hertz_numerator"]) for one in machine["clocks"] if one["name"].startswith(prefix)}
    return leaves, connections, clocks


def test_each_has_the_parts_of_one(build_dir: Path, root: Path, two: Path) -> None:
    lss = build_dir / "bin/lss"
    both = exported(lss, two)
    alone = parts(exported(lss, root / "examples/host/host.lss", "-D", "big_endian=true"), "")
    assert len(alone[0]) > 30 and len(alone[1]) > 100
    assert parts(both, "node[0].") == parts(both, "node[1].") == alone
    assert len(both["clocks"]) == 4


@pytest.mark.soak
def test_each_runs_as_one(build_sim: Callable, run_sim: Callable, build_dir: Path, root: Path, two: Path) -> None:
    elf = build_dir / "firmware/memory_speed/memory_speed.elf"
    one = run_sim(build_sim(root / "examples/host/host.lss", "-D", "big_endian=true"), "--kernel", elf, "--time", "2ms")
    kernels = [word for n in range(2) for word in ("--set", f"node[{n}].kernel={elf}")]
    both = run_sim(build_sim(two), *kernels, "--time", "2ms")
    found = {(each["path"], each["name"]): each["value"] for each in both.stats["statistics"]}
    alone = [(each["path"], each["name"], each["value"]) for each in one.stats["statistics"]]
    for n in range(2):
        assert len(alone) > 80 and [found[f"node[{n}].{path}", name] for path, name, _ in alone] == [value for *_, value in alone]


def test_what_waits_in_each_sleeps(build_dir: Path, root: Path, tmp_path: Path) -> None:
    """A machine on several clocks is not compiled as a whole, which could not sleep: the groups are what is in it."""
    (tmp_path / "two.lss").write_text("import host;\ninstance node[2] : host { cards = [tigon2_slot]; };\n")
    command = [build_dir / "bin/lss", "schedule", tmp_path / "two.lss", "-I", root / "examples/tigon2"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for node in ("node[0]", "node[1]"):
        assert f"{node}.system sleeps while it waits\n" in said
        for cpu in range(2):
            assert f"{node}.slots.card[0].card.nic.cpu[{cpu}] is replayed where it repeats itself\n" in said
    assert "several clocks" not in said and "whole loops are left out\n" in said


def test_a_module_of_an_example_is_named_with_its_folder(build_dir: Path, root: Path, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text("import tigon2_nic;\n")
    done = subprocess.run([build_dir / "bin/lss", "check", tmp_path / "m.lss"], capture_output=True, text=True)
    assert done.returncode == 1 and "there is no tigon2_nic.lss on the search path\n" in done.stderr
    assert f"note: there is one in {root / 'examples/tigon2'}, which -I would name" in done.stderr
