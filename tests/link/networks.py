"""Networks that are built whole and in parts, and runs of both by `spinach network`."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
SHARED = Path("/dev/shm")


@dataclass(frozen=True)
class Built:
    """A network: NAME.net in parts, and NAME whole, in a folder where all of its runs work."""

    place: Path
    name: str

    @property
    def folder(self) -> Path:
        return self.place / f"{self.name}.net"

    @property
    def whole(self) -> Path:
        return self.place / self.name

    def begin(self, *words: object, out: str = "out", **environment: str) -> subprocess.Popen:
        """Starts `spinach network` in the folder."""
        command = [sys.executable, "-m", "harness", "network", self.folder, "--run-dir", out, *words]
        return subprocess.Popen(
            list(map(str, command)), cwd=self.place, env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *words: object, out: str = "out", **environment: str) -> tuple[int, str]:
        """Runs it; the status, and what it said of errors."""
        child = self.begin(*words, out=out, **environment)
        _, errors = child.communicate(timeout=300)
        return child.returncode, errors

    def run_whole(self, *words: object, ok: bool = True) -> subprocess.CompletedProcess:
        """Runs the simulator of the whole; its statistics are in whole.json."""
        command = [self.whole, "--quiet", "--stats", "whole.json", *words]
        return subprocess.run(list(map(str, command)), cwd=self.place, capture_output=True, text=True, check=ok)

    def results(self, file: str = "out/statistics.json") -> str:
        """What was counted and how the run ended, as it is written."""
        text = (self.place / file).read_text()
        return text[text.index('"run"') :]


def build(build_dir: Path, place: Path, file: Path, *options: object) -> Built:
    built = Built(place, file.stem)
    command = [build_dir / "bin/lss", "build", file, "-I", ROOT / "tests/engine/modules", *options]
    subprocess.run([*command, "--parts", "-o", built.folder], check=True)
    subprocess.run([*command, "-o", built.whole], check=True)
    return built


def children(launcher: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(launcher)], capture_output=True, text=True).stdout
    return [int(word) for word in found.split()]


def wait_for_parts(launcher: subprocess.Popen, count: int) -> list[int]:
    for _ in range(2000):
        if len(parts := children(launcher.pid)) == count:
            return parts
        time.sleep(0.005)
    raise AssertionError("the parts did not start")


def board_of(processes: Sequence[int]) -> Path | None:
    """What the parts of a run share; None: they are gone already."""
    for process in processes:
        try:
            words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
        except OSError:
            continue
        if "--board" in words:
            return SHARED / f"spinach-{words[words.index('--board') + 1]}"
    return None


def nothing_is_left(built: Built, processes: Sequence[int], board: Path | None) -> None:
    """No process, no shared memory, and no file that was not completed."""
    for process in processes:
        assert not Path(f"/proc/{process}").exists(), f"process {process} is left"
    assert board is None or not board.exists()
    left = [path for path in built.place.rglob("*") if path.suffix == ".part" or (path.is_dir() and ".checkpoint." in path.name)]
    assert not left, left


# ---- Parts alone

def alone(built: Built, part: str, links: str, *words: object, out: str = "alone") -> tuple[int, str, str]:
    child = built.begin("--part", part, "--replay-links", links, *words, out=out)
    said, errors = child.communicate(timeout=300)
    return child.returncode, said, errors


def same_statistics(built: Built, part: str) -> bool:
    return (built.place / "alone" / part / "statistics.json").read_bytes() == (built.place / "out" / part / "statistics.json").read_bytes()


def does_it_again(built: Built, part: str, links: str, *words: object) -> None:
    status, _, errors = alone(built, part, links, *words)
    assert status == 0 and errors.count("\n") == 1 and errors.endswith("items, all of them as in the recorded run\n"), errors
    assert same_statistics(built, part)
