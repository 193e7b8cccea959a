"""The compiler that Python uses, its version, what is said without pandas, and the types of the package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spinach
from spinach import tools


def fake(place: Path, version: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\necho 'lss {version}'\n")
    place.chmod(0o755)
    return place


def test_the_compiler_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, set_, found = (fake(tmp_path / name / "lss", tools.VERSION) for name in ("argument", "variable", "path"))
    monkeypatch.setenv("SPINACH_LSS", str(set_))
    monkeypatch.setenv("PATH", f"{found.parent}:{os.environ['PATH']}")
    assert tools.find(named) == named
    assert tools.find() == set_
    monkeypatch.delenv("SPINACH_LSS")
    assert tools.find() == found


def test_without_a_compiler_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPINACH_LSS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tools, "TREE", tmp_path)
    with pytest.raises(
        spinach.BuildError, match=r"^the compiler is missing: no lss on the PATH \(install Spinach .*\)$"
    ):
        spinach.Machine("chain.lss")
    with pytest.raises(
        spinach.BuildError, match=r"^lss=: there is no program .*/none \(name the compiler, such as build/bin/lss\)$"
    ):
        spinach.Machine("chain.lss", lss=tmp_path / "none")


def test_a_compiler_of_another_version_is_refused(tmp_path: Path) -> None:
    other = fake(tmp_path / "lss", "9.3 (abc)")
    with pytest.raises(spinach.VersionError, match=rf"lss: version 9\.3, but this package needs {tools.VERSION} \("):
        spinach.Machine("chain.lss", lss=other)


def test_the_version_is_that_of_the_compiler(here: Path, build_dir: Path) -> None:
    assert tools.find() == build_dir / "bin" / "lss"


def test_pandas_is_imported_at_first_use(here: Path, root: Path) -> None:
    script = (
        "import sys\nsys.modules['pandas'] = None\nimport spinach\n"
        "run = spinach.Machine('chain.lss').run(cycles=100)\nprint(run['consumer.items'])\nrun.stats\n"
    )
    path = f"{root}:{root}/harness/python"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.stdout == "96\n" and done.returncode == 1
    assert done.stderr.endswith(
        "tables need pandas, which this Python does not have: pip install 'spinach-sim[notebook]'\n"
    )


@pytest.mark.soak
def test_types(root: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
