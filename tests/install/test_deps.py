"""harness/deps on machines that lack tools: what it would install, as whom, and what it says when it may not."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PLAIN = ["sh", "dirname", "sed", "grep", "ls", "mktemp", "rm", "tail", "cat", "env"]


def machine(where: Path, uid: int, **tools: str) -> dict[str, str]:
    """An environment whose PATH holds the plain tools, an `id` that answers uid, and the given shell scripts."""
    bin = where / "bin"
    bin.mkdir()
    for name in PLAIN:
        (bin / name).symlink_to(shutil.which(name) or name)
    for name, body in {"id": f"echo {uid}", **tools}.items():
        (bin / name.replace("_", "-")).write_text(f"#!/bin/sh\n{body}\n")
        (bin / name.replace("_", "-")).chmod(0o755)
    return {"PATH": str(bin), "HOME": str(where)}


def deps(root: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([root / "harness" / "deps", *arguments], env=environment, capture_output=True, text=True)


KNOWS_22 = 'case "$2" in clang-22) echo "Package: clang-22";; clang-19) echo "Package: clang-19";; esac'
KNOWS_19 = 'case "$2" in clang-19) echo "Package: clang-19";; esac'


def test_without_the_right_to_install_it_prints_the_line(root: Path, tmp_path: Path) -> None:
    done = deps(root, machine(tmp_path, 1000, apt_get="exit 9", apt_cache=KNOWS_22), "base")
    assert done.returncode == 1
    line = done.stderr.strip()
    assert "\n" not in line and "apt-get install -y --no-install-recommends clang-22 lld-22" in line
    assert "bison flex" in line and "python3-venv" in line


@pytest.mark.parametrize("index, version", [(KNOWS_22, "clang-22"), (KNOWS_19, "clang-19"), ("exit 100", "clang ")])
def test_as_root_it_installs_the_newest_known(root: Path, tmp_path: Path, index: str, version: str) -> None:
    log = tmp_path / "log"
    done = deps(root, machine(tmp_path, 0, apt_get=f'echo "$*" >> {log}', apt_cache=index), "base")
    assert done.returncode == 0, done.stderr
    update, install = log.read_text().splitlines()
    assert update == "update" and f" {version}" in f"{install} "


def test_sudo_is_used_when_it_needs_no_password(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    tools = {"apt_get": "exit 9", "apt_cache": KNOWS_22, "sudo": f'[ "$1" = -n ] && exit 0; echo "$*" >> {log}'}
    assert deps(root, machine(tmp_path, 1000, **tools), "base").returncode == 0
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["apt-get", "env"]


def test_a_failing_package_manager_is_reported(root: Path, tmp_path: Path) -> None:
    tools = {"apt_get": 'echo "E: no such mirror" >&2; exit 100', "apt_cache": "exit 100"}
    done = deps(root, machine(tmp_path, 0, **tools), "base")
    assert done.returncode == 1 and "E: no such mirror" in done.stderr and "'apt-get update' failed" in done.stderr


def test_other_distributions_get_a_list(root: Path, tmp_path: Path) -> None:
    done = deps(root, machine(tmp_path, 0), "base")
    assert done.returncode == 1 and done.stderr.startswith("deps: please install:") and "clang lld llvm" in done.stderr


def test_a_complete_machine_is_left_alone(root: Path, tmp_path: Path) -> None:
    tools = dict.fromkeys(["qemu_mips", "tshark", "valgrind", "gdb_multiarch", "mpicc", "mpirun"], "exit 0")
    done = deps(root, machine(tmp_path, 1000, **tools), "test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_browser_for_the_tests_of_pages_is_installed_by_root_alone(root: Path, tmp_path: Path) -> None:
    done = deps(root, machine(tmp_path, 0, apt_get="exit 0", qemu_system_mipsel="exit 0"), "soak")
    assert (done.returncode, done.stdout) == (0, "installing, which takes some minutes: chromium\n")


def test_several_groups_are_installed_in_one_go(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    environment = machine(tmp_path, 0, apt_get=f'echo "$*" >> {log}', apt_cache=KNOWS_22)
    assert deps(root, environment, "base", "test", "bench").returncode == 0
    update, install = log.read_text().splitlines()
    assert update == "update" and all(install.split().count(one) == 1 for one in ("bison", "tshark", "valgrind", "libsystemc-dev"))
    done = deps(root, environment, "base", "tests")
    assert (done.returncode, done.stderr) == (2, "deps: there is no group 'tests'\n") and len(log.read_text().splitlines()) == 2


def test_the_environment_of_the_site_has_what_is_pinned_with_hashes(root: Path, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"; exit 1\n')
    python.chmod(0o755)
    done = deps(root, machine(tmp_path, 1000, python3="exit 0"), "docs", str(tmp_path / "venv"))
    assert done.returncode == 1 and "--require-hashes" in done.stdout and done.stdout.startswith("making the Python environment")
    assert done.stderr == "deps: pip could not install harness/site/pinned.txt; is the package index reachable?\n"
    names = re.findall(r"^([a-z0-9._-]+)==\S+(.*(?:\n    --hash=sha256:[0-9a-f]{64}.*)+)", (root / "harness/site/pinned.txt").read_text(), re.MULTILINE)
    assert {"mkdocs", "mkdocs-material", "pygments", "markdown"} <= {name for name, _ in names}


def test_what_linux_is_built_with_is_requested_by_its_goal_alone(root: Path, tmp_path: Path) -> None:
    tools = dict.fromkeys(["bc", "cpio", "xz", "zstd"], "exit 0")
    environment = machine(tmp_path, 1000, apt_get="exit 9", apt_cache=KNOWS_22, **tools)
    done = deps(root, environment, "linux")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert re.search(r"apt-get install -y --no-install-recommends device-tree-compiler( debian-archive-keyring)?$", done.stderr.strip())
    assert "qemu-system-mips" in deps(root, environment, "soak").stderr
