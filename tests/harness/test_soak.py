"""Ten million cycles of every machine that has a soak among its studies, at every payload size.

The machine makes its own frames, compares each with what went in and stops at the first that is wrong, so a soak that ends
in good order lost, repeated and damaged none.  Results are kept where `make studies` finds them for its report.
"""

from pathlib import Path

import pytest

from harness.run.execute import executor
from harness.run.progress import Progress
from harness.study import collection, study_file
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
STUDIES = found(ROOT / "examples", "*/studies/*.toml")
SOAKS = [path for path in STUDIES if study_file.read(path).run.named_only]


def test_there_are_soaks() -> None:
    assert SOAKS


@pytest.mark.soak
@pytest.mark.parametrize("path", SOAKS, ids=lambda path: path.stem)
def test_soak(build_dir: Path, path: Path) -> None:
    with executor() as pool:
        outcome = collection.run([path], [path.stem], build_dir, pool, Progress()).outcomes[path.stem]
    assert outcome.failed == [] and len(outcome.rows) == len(outcome.study.points) > 8
    for row in outcome.rows:
        assert row.measures["frames"] > 1000 and row.measures["drops"] == 0, row.point.name
        assert max(row.result.stats["run"]["cycles"].values()) >= row.point.settings["option.cycles"]
