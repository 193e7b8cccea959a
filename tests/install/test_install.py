"""`make install`: what lands under the prefix is enough for a netlist anywhere, and a failure changes nothing."""

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.sample import seldom
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
    work = tmp_path / "elsewhere"
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
    editors = {path.relative_to(root / "harness") for path in found(root / "harness" / "editors", "*.json", "*.vim", "*.md")}
    assert all((share / path).is_file() for path in editors) and not (share / "harness" / "editors").exists()
    assert not list(share.rglob("*.pyc")) and not list(tmp_path.rglob(".spinach.*"))


def test_all_may_read_what_root_installs(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Whatever the umask is, and to whomever the source tree belongs."""
    command = ["sh", "-c", 'umask 077; exec "$@"', "sh", root / "harness" / "install", build_dir, tmp_path]
    assert subprocess.run(command, capture_output=True).returncode == 0
    for path in (tmp_path / "share", tmp_path / "bin"):
        for one in (path, *path.rglob("*")):
            status = one.stat()
            mode = status.st_mode & 0o7777
            assert mode in ((0o755,) if one.is_dir() else (0o644, 0o755)) and status.st_uid == os.getuid(), (one, oct(mode))
    assert (tmp_path / "bin/lss").stat().st_mode & 0o111 == 0o111


def test_installing_again_removes_what_is_gone(root: Path, build_dir: Path, tmp_path: Path) -> None:
    assert install(root, build_dir, tmp_path).returncode == 0
    stale = tmp_path / "share" / "spinach" / "modules" / "gone.lss"
    stale.write_text("")
    assert install(root, build_dir, tmp_path).returncode == 0
    assert not stale.exists()


def spinach(prefix: Path, cwd: Path, *words: str, **more: str) -> subprocess.CompletedProcess:
    environment = {"PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "HOME": str(cwd), **more}
    return subprocess.run(["spinach", *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def test_a_study_elsewhere_uses_the_environment_of_the_prefix(root: Path, build_dir: Path, tmp_path: Path) -> None:
    prefix, work = tmp_path / "prefix", tmp_path / "elsewhere"
    assert install(root, build_dir, prefix).returncode == 0
    (prefix / "lib/spinach").mkdir(parents=True)
    (prefix / "lib/spinach/venv").symlink_to(build_dir / "venv")  # as if its packages had been fetched
    work.mkdir()
    (work / "chain.lss").write_text(CHAIN)
    (work / "study.toml").write_text(
        'title = "t"\nmachine = "chain.lss"\nbase = { "option.cycles" = 50 }\n'
        'axis = { name = "depth", setting = "set.producer.interval", values = [1, 2] }\n[measure]\nmoved = "consumer.items"\n'
    )
    done = spinach(prefix, work, "study", "study.toml", "--plain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (work / "build/studies/elsewhere/results.csv").read_text() == "depth,moved,status\n1,47,ok\n2,24,ok\n"
    assert "<svg" in (work / "build/studies/elsewhere/index.html").read_text()


def test_without_packages_there_is_one_line(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A Python without them says how to get them."""
    assert install(root, build_dir, tmp_path).returncode == 0
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    study = str(root / "examples/quad_core/study.toml")
    done = spinach(tmp_path, tmp_path, "study", study, SPINACH_PYTHON=str(tmp_path / "bare/bin/python"))
    assert done.returncode == 1 and done.stderr.startswith("spinach: this Python has no ")
    assert done.stderr.endswith(": run `spinach packages`, which fetches what is missing\n") and done.stderr.count("\n") == 1


@seldom
def test_a_network_that_gives_none_does_not_spoil_the_installation(root: Path, build_dir: Path, tmp_path: Path) -> None:
    assert install(root, build_dir, tmp_path).returncode == 0
    fetched = subprocess.run(
        [root / "harness" / "deps", "installed", tmp_path], capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull},
    )  # fmt: skip
    assert fetched.returncode == 0 and fetched.stderr.endswith(f"later: {tmp_path}/bin/spinach packages\n") and fetched.stderr.count("\n") == 1
    assert not (tmp_path / "lib/spinach/venv").exists()


PYTHON = """
case "$*" in
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo venv "$3" >>"$LOG" ;;
"-m pip "*) [ ! -e "$LOG.cut" ] || { echo no index >&2; exit 1; }; echo pip "$*" >>"$LOG" ;;
*) exec PYTHON "$@" ;;
esac
"""


def test_packages_are_fetched_once(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Into the folder of the kit; into one of the user where that cannot be written; and what is half there is removed."""
    prefix = tmp_path / "prefix"
    assert install(root, build_dir, prefix).returncode == 0
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text("#!/bin/sh" + PYTHON.replace("PYTHON", sys.executable))
    (tmp_path / "bin/python3").chmod(0o755)
    log = tmp_path / "log"

    def fetch(**more: str) -> subprocess.CompletedProcess:
        environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path / "home"), "LOG": str(log), **more}
        return subprocess.run([prefix / "bin/spinach", "packages"], env=environment, capture_output=True, text=True)

    own = prefix / "lib/spinach/venv"
    (tmp_path / "log.cut").touch()
    done = fetch()
    assert done.returncode == 1 and done.stderr.endswith("harness/pinned.txt; is the package index reachable?\n") and not own.exists()
    (tmp_path / "log.cut").unlink()
    done = fetch()
    assert (done.returncode, done.stdout, done.stderr) == (0, f"fetching the Python packages of spinach into {own}\n", "")
    assert "--require-hashes" in log.read_text()
    before = log.read_text()
    assert fetch().stdout == f"the packages are in {own}\n" and log.read_text() == before
    (own / ".ready").write_text("of another version")
    assert fetch().stdout == f"fetching the Python packages of spinach into {own}\n"
    source = subprocess.run([root / "harness/spinach", "packages"], capture_output=True, text=True)
    assert (source.returncode, source.stderr) == (1, "spinach: in a source tree, run `make deps`\n")


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_packages_of_a_user(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Who may not write in the kit's folder gets them in a folder of that version below HOME."""
    assert install(root, build_dir, tmp_path / "prefix").returncode == 0
    (tmp_path / "python3").write_text('#!/bin/sh\necho "$*"; exit 1\n')
    (tmp_path / "python3").chmod(0o755)
    for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    command = ["setpriv", "--reuid", "65534", "--clear-groups", "env", f"PATH={tmp_path}:{os.environ['PATH']}", "HOME=/home/ann", tmp_path / "prefix/bin/spinach", "packages"]
    version = (root / "lss/VERSION").read_text().strip()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == f"fetching the Python packages of spinach into /home/ann/.local/share/spinach/{version}/venv\n"


def test_packages_are_pinned(root: Path) -> None:
    """What `make install` fetches are the versions that these tests run with."""
    text = (root / "harness/pinned.txt").read_text()
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)(?: \\\n +--hash=sha256:[0-9a-f]{64})+$", text, re.MULTILINE))
    assert len(pinned) == text.count("==") > 10, "each has the hashes of its files"
    for name in "dpkt", "jinja2", "markdown-it-py", "matplotlib", "msgspec", "rich", "distributed":
        assert metadata.version(name) == pinned[name]


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
