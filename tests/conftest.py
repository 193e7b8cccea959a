"""Fixtures shared by all tests, and the line that reruns a failing test alone.

A test never writes into the source tree: it works in tmp_path and takes what was built from build_dir.
Run-time products come from `make BUILD=...`, so the tests of one tree can run on several builds at once; what only some
tests need, they have made themselves (`made`).
"""

import fcntl
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.kits import Kit

ROOT = Path(__file__).resolve().parent.parent
os.environ["LSS_PROGRESS"] = "off"  # however long a build takes, what is printed is the same
CFLAGS = os.environ.get("LSS_CFLAGS", "")  # of whoever runs the tests
# Who tests what (Files): tests that share nothing, files that share machines, and what goes first because it takes longest.
ALONE = ("examples/test_builds_agree.py", "docs/test_snippets.py")
TOGETHER = (("isa/test_system_",), ("nic10g/",), ("tigon2/", "firmware/test_"))
LONGEST = (*ALONE, "nic10g", "tigon2", "firmware", "isa", "replay", "debug", "trace", "bench", "examples", "install", "engine")


@dataclass
class Finished:
    """What a command left behind: exit status, both texts, and the statistics if it wrote any."""

    status: int
    out: str
    err: str
    stats: dict | None = None

    def value(self, path: str, name: str) -> float:
        """The value of one statistic of a simulator run."""
        assert self.stats is not None, "the simulator wrote no statistics"
        for entry in self.stats["statistics"]:
            if entry["path"] == path and entry["name"] == name:
                return entry["value"]
        known = sorted({f"{e['path']} {e['name']}" for e in self.stats["statistics"]})
        raise AssertionError(f"no statistic {name!r} of {path!r}; there are:\n  " + "\n  ".join(known))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--goldens", action="store_true", help="rewrite golden files instead of comparing")
    parser.addoption("--optimized", action="store_true", help="build every machine as users build it")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest goes first, so that the workers end together."""

    @cache
    def place(path: Path) -> int:
        within = [number for number, folder in enumerate(LONGEST) if path.is_relative_to(ROOT / "tests" / folder)]
        return min(within, default=len(LONGEST))

    items.sort(key=lambda item: place(item.path))


class Files(LoadScopeScheduling):
    """Gives a worker file after file, in their order, so that a machine that a file shares is built by one worker only; files
    that share machines go together, and files with nothing to share test by test."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0].removeprefix("tests/")
        return nodeid if file in ALONE else next((group[0] for group in TOGETHER if file.startswith(group)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Files | None:
    """With --dist loadfile, as `make test` has it."""
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # by the number of tests
    return Files(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Most machines of tests run for a moment only: clang takes a quarter of the time when it need not optimise them.  The C
    that it gets is the same, in fewer units, so what our compiler does is tried all the same."""
    optimised = item.get_closest_marker("optimised") or item.config.getoption("--optimized")
    os.environ["LSS_CFLAGS"] = CFLAGS if optimised else f"{CFLAGS} -O0"


def rerun(nodeid: str, soak: bool) -> str:
    """The command that runs one test alone, for a shell, which gives T to make, which gives it to a shell again."""
    return f"make {'soak' if soak else 'test'} T={shlex.quote(shlex.quote(nodeid).replace('$', '$$'))}"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        report.sections.append(("rerun", f"rerun: {rerun(report.nodeid, 'soak' in report.keywords)}"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """Where `make` put its products."""
    return (ROOT / os.environ.get("BUILD", "build")).resolve()


@pytest.fixture(scope="session")
def made(root: Path) -> Callable[..., Path]:
    """made(build, file, "SANITIZE=1", ...): brings a file below a build folder up to date with make, one worker at a time."""
    environment = {name: text for name, text in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}

    def make(build: Path, file: str, *variables: str) -> Path:
        build.mkdir(parents=True, exist_ok=True)
        with open(build / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            command = ["make", "-s", "-j2", f"BUILD={build}", *variables, str(build / file)]
            done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        return build / file

    return make


@pytest.fixture(scope="session")
def optimising() -> Callable[[], AbstractContextManager]:
    """with optimising(): what is built meanwhile is optimised, whichever test is the first to want a machine that several share."""

    @contextmanager
    def build() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LSS_CFLAGS", CFLAGS)
            yield

    return build


@pytest.fixture(scope="session", params=["plain", pytest.param("sanitized", marks=pytest.mark.soak)])
def kit(request: pytest.FixtureRequest, build_dir: Path, made: Callable[..., Path]) -> Kit:
    """The kit as it is built for users, and in the soak with sanitizers."""
    return Kit(build_dir, request.param == "sanitized", made)


def _run(command: list, cwd: Path | None, timeout: float, env: dict | None = None) -> Finished:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        timeout=timeout,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )
    return Finished(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def lss(build_dir: Path, tmp_path: Path) -> Callable[..., Finished]:
    """Runs the compiler in tmp_path: lss("check", file); ok=False to look at a failure, ok=None for either."""

    def run(*arguments, ok: bool | None = True, cwd: Path | None = None, timeout: float = 300, env=None) -> Finished:
        done = _run([build_dir / "bin" / "lss", *arguments], cwd or tmp_path, timeout, env)
        if ok is not None:
            assert (done.status == 0) == ok, f"lss {arguments}: status {done.status}\n{done.out}{done.err}"
        return done

    return run


@pytest.fixture
def build_sim(lss, tmp_path: Path) -> Callable[..., Path]:
    """Compiles a netlist, given as a file or as LSS text, into a simulator and returns its path."""
    count = 0

    def build(machine: Path | str, *options, timeout: float = 600) -> Path:
        nonlocal count
        count += 1
        if isinstance(machine, str):
            text, machine = machine, tmp_path / f"machine{count}.lss"
            machine.write_text(text)
        simulator = tmp_path / f"sim{count}"
        lss("build", machine, "-o", simulator, *options, timeout=timeout)
        return simulator

    return build


@pytest.fixture
def run_sim(tmp_path: Path) -> Callable[..., Finished]:
    """Runs a simulator with --stats and returns what it wrote; ok as for lss."""
    count = 0

    def run(simulator: Path, *options, ok: bool | None = True, timeout: float = 600) -> Finished:
        nonlocal count
        count += 1
        stats = tmp_path / f"stats{count}.json"
        done = _run([simulator, "--stats", stats, *options], tmp_path, timeout)
        if stats.exists():
            done.stats = json.loads(stats.read_text())
        if ok is not None:
            assert (done.status == 0) == ok, f"simulator {options}: status {done.status}\n{done.out}{done.err}"
        return done

    return run


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """golden(file, text): compares text with a golden file; `make goldens` rewrites the file instead."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--goldens"):
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return
        assert path.exists(), f"no golden file {path}; make goldens T='{request.node.nodeid}' writes it"
        assert text == path.read_text()

    return compare
