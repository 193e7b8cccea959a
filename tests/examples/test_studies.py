"""The studies of the tree: every name in them is one of their machines', and the four cores multiply rightly."""

from pathlib import Path

import pytest

from harness.run.progress import Progress
from harness.study import runner
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
STUDIES = found(ROOT / "examples", "study.toml", "studies/*.toml")


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_name_is_known(build_dir: Path, path: Path) -> None:
    """What each study sets, measures and draws exists in the netlists of all its machines."""
    study = runner.prepare(path, build_dir, Progress())
    assert study.broken == {} and len(study.points) > 0
    assert all(study.structure(point) in study.machines for point in study.points)


def test_four_cores_multiply(lss, run_sim, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The product is right with caches that hold next to nothing, so lines go and come and others' writes are seen."""
    lss("build", root / "examples/quad_core/quad_core.lss", "-o", "quad", "-D", "dcache_kb=1", "-D", "icache_kb=1", "-D", "ways=1")
    done = run_sim(tmp_path / "quad", "--program", build_dir / "firmware/matrix/matrix.elf", "--latency", "20")
    assert done.status == 0 and "1248000" in done.out
    assert all(done.value(f"cpu[{n}].pipeline.writeback", "instructions") > 10000 for n in range(4))
