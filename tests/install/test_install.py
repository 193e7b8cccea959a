"""`make install`: what lands under the prefix is enough for a netlist anywhere, and a failure changes nothing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tree import found

CHAIN = """
instance producer : source { count = 100; };
instance delay    : pipe   { depth = 3; };
instance consumer : sink;
producer.out -> delay.in : uint32;
delay.out -> consumer.in;
"""


def install(root: Path, build: Path, prefix: Path) -> subprocess.CompletedProcess:
    return subprocess.run([root / "harness" / "install", build, prefix], capture_output=True, text=True)


def test_a_netlist_elsewhere_uses_the_installed_copy(root: Path, build_dir: Path, tmp_path: Path) -> None:
    assert install(root, build_dir, tmp_path / "moved").returncode == 0
    # Moved after installation, and the source tree out of sight of the search path: nothing may point back.
    shutil.move(tmp_path / "moved", tmp_path / "prefix")
    work = tmp_path / "work"
    work.mkdir()
    (work / "chain.lss").write_text(CHAIN)
    environment = {
        "PATH": f"{tmp_path / 'prefix' / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LSS_PATH": "",
    }
    for command in (
        ["lss", "check", "chain.lss"],
        ["lss", "build", "chain.lss", "-o", "sim"],
        ["./sim", "--cycles", "200", "--stats", "stats.json"],
    ):
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    traced = subprocess.run(["lss", "list"], cwd=work, env=environment, capture_output=True, text=True, check=True)
    assert "pipe" in traced.stdout
    assert (work / "stats.json").exists()


def test_the_library_is_complete(root: Path, build_dir: Path, tmp_path: Path) -> None:
    assert install(root, build_dir, tmp_path).returncode == 0
    share = tmp_path / "share" / "spinach"
    for part, kinds in {"modules": ["*.lss", "*.c", "*.h"], "lss/runtime": ["*.c", "*.h"], "examples": ["*.lss", "*.c", "*.h"]}.items():
        expected = {path.relative_to(root) for path in found(root / part, *kinds)}
        assert all((share / path).is_file() for path in expected)
    assert not list(share.rglob("*.pyc")) and not list(tmp_path.rglob(".spinach.*"))


def test_installing_again_removes_what_is_gone(root: Path, build_dir: Path, tmp_path: Path) -> None:
    assert install(root, build_dir, tmp_path).returncode == 0
    stale = tmp_path / "share" / "spinach" / "modules" / "gone.lss"
    stale.write_text("")
    assert install(root, build_dir, tmp_path).returncode == 0
    assert not stale.exists()


@pytest.mark.parametrize("missing", ["bin/lss"])
def test_a_failed_installation_changes_nothing(root: Path, build_dir: Path, tmp_path: Path, missing: str) -> None:
    (tmp_path / "share" / "spinach").mkdir(parents=True)
    (tmp_path / "share" / "spinach" / "old").write_text("kept")
    done = install(root, tmp_path / "nobuild", tmp_path)
    assert done.returncode != 0 and missing in done.stderr
    assert (tmp_path / "share" / "spinach" / "old").read_text() == "kept"
    assert [p.name for p in (tmp_path / "share").iterdir()] == ["spinach"]


def test_an_unwritable_prefix_is_one_clear_line(root: Path, build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = install(root, build_dir, tmp_path / "file")
    assert done.returncode != 0 and done.stderr == f"install: cannot write below {tmp_path / 'file'}\n"
