"""Ten million cycles of every machine that has a soak among its studies, at every payload size.

The machine makes its own frames, compares each with what went in and stops at the first that is wrong, so a soak that ends
in good order lost, repeated and damaged none.  Results are kept where `make studies` finds them for its report.
"""

from pathlib import Path

import pytest

from harness.run.progress import Progress
from harness.study import campaign, plan
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
PLANS = plan.load(found(ROOT / "examples", "studies.toml"))
SOAKS = [study.name for p in PLANS for study in p.study if study.form == "soak"]


def test_there_are_soaks() -> None:
    assert SOAKS


@pytest.mark.soak
@pytest.mark.parametrize("name", SOAKS)
def test_soak(build_dir: Path, name: str) -> None:
    points = campaign.run(PLANS, [name], build_dir, Progress()).of(name)
    study = points[0].study
    assert len(points) == len(study.series) * len(study.payloads)
    for point in points:
        assert point.frames > 1000 and point.drops == 0, (point.series.name, point.payload)
        assert max(point.result.stats["run"]["cycles"].values()) >= study.cycles
