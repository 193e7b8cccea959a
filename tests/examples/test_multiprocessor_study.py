"""The study of examples/multiprocessor: its levels have the latencies and bandwidths of their closed forms, and end where the caches do."""

import re
import shutil
from pathlib import Path

import pytest

from harness.run.execute import executor
from harness.run.progress import Progress
from harness.study import runner

pytestmark = pytest.mark.optimised

L1, L2 = 16 << 10, 128 << 10
AT_ONCE = 2  # cycles of a load that the next one waits for
FEW = {
    "size": [L1, L1 + 4096, L2, L2 + (16 << 10), 2 * L2],
    "stride": [4, 32, 2048],
}


MACHINES = {"sdram": False, "sdram_l2": True, "rambus": False, "rambus_l2": True}  # and whether they have a level 2


def reduced(text: str, machine: str) -> str:
    """The study with few values of its axes, and one of its machines."""
    for name, values in FEW.items():
        text, found = re.subn(rf'(name = "{name}"\nlabel = .*\nvalues = ).*', rf"\g<1>{values}", text)
        assert found == 1, name
    others = "|".join(name for name in MACHINES if name != machine)
    kept = [line for line in text.splitlines() if not re.match(rf'  \{{ name = "({others})"', line)]
    return re.sub(r"\n\[\[(figure|table)\]\]\n.*?(?=\n\[\[|\Z)", "", "\n".join(kept), flags=re.DOTALL) + "\n"


def measured(root: Path, build_dir: Path, tmp_path: Path, machine: str | None = None, more: str = "") -> dict[tuple, dict[str, float]]:
    """What each point came to, by its place; every point is within the study's own checks."""
    folder, build = root / "examples/multiprocessor", tmp_path / "build"
    place = tmp_path / "study.toml"
    text = (folder / "studies/memory.toml").read_text().replace("../", "")
    text = text.replace('base = { "D.processors" = 1', f'base = {{ "D.processors" = 1{more}')
    place.write_text(reduced(text, machine) if machine else text)
    shutil.copy(folder / "multiprocessor.lss", tmp_path)
    build.mkdir()
    for name in "bin", "firmware":
        (build / name).symlink_to(build_dir / name)
    study = runner.prepare(place, build, Progress())
    runner.build(study, Progress())
    with executor() as pool:
        rows = runner.run(study, pool, Progress()).rows
    assert [(row.point.name, row.why) for row in rows if row.status != "ok"] == []
    return {tuple(row.point.coordinates[name] for name in ("variant", "mode", "size", "stride")): row.measures for row in rows}


def has_levels(found: dict[tuple, dict[str, float]], *machines: str) -> None:
    """The latency of loads by stride 32 has one level below each edge and the next above it, with the difference that the caches make."""
    for variant, has_l2 in ((name, MACHINES[name]) for name in machines):
        at = {size: found[variant, "latency", size, 32]["cycles"] for size in FEW["size"]}
        assert at[L1] < 1.05 * AT_ONCE < 5 * AT_ONCE < at[L1 + 4096]
        assert at[L2] == pytest.approx(at[L1 + 4096], rel=0.01)
        assert (at[L2 + (16 << 10)] > 2.5 * at[L2]) == has_l2
        assert at[2 * L2] == pytest.approx(at[L2 + (16 << 10)], rel=0.01)


@pytest.mark.soak
@pytest.mark.parametrize("machine", ["sdram_l2", "rambus"])
def test_levels(root: Path, build_dir: Path, tmp_path: Path, machine: str) -> None:
    """At the edges, with level 2 over SDRAM and without over RAMBUS."""
    found = measured(root, build_dir, tmp_path, machine)
    assert len(found) == 5 * 2 + 3 * 3
    has_levels(found, machine)
    rates = [found[machine, mode, 2 * L2, 4]["bandwidth"] for mode in ("read", "write", "copy")]
    assert 2 * rates[2] < 1.2 * min(rates[:2])


@pytest.mark.soak
def test_levels_of_another_machine(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The closed form follows the parameters."""
    found = measured(root, build_dir, tmp_path, "sdram_l2", ', "D.line" = 64, "D.l2_latency" = 8, "D.l2_snoop_cycles" = 2')
    at = [found["sdram_l2", "latency", size, 2048]["closed_form"] for size in (L1, L2, 2 * L2)]
    assert at[1] == 2 + 6 + 2 + 8 and at[2] > 50


@pytest.mark.soak
def test_all_levels(root: Path, build_dir: Path, tmp_path: Path) -> None:
    found = measured(root, build_dir, tmp_path)
    assert len(found) > 500
    has_levels(found, *MACHINES)
