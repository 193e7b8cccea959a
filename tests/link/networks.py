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


# A processor that waits for a timer again and again, and counts the cycles in which it does; it works a cycle of each period.
WAITER = 'module waiter { runtime parameter works = 1 : int; inport in : uint32; stat uint64 idle "cycles"; always in.ack; debug core { isa : "mips"; pc = pc; idle = idle; }; state { uint32 pc; } phase_end; next_event; }\n'
WAITER_C = """
phase_end() { if ((cycle() & 1023) >= (uint64_t)param(works)) count(idle); self->pc += 4; }
next_event() { return cycle() + 1; }
"""


def build_waiting(build_dir: Path, place: Path) -> Built:
    """A network whose processors only wait."""
    (place / "waiter.lss").write_text(WAITER)
    (place / "waiter.c").write_text(WAITER_C)
    more = "instance core : waiter on own;\n  instance never : source on own { count = 0; };\n  never.out -> core.in;"
    text = (HERE / "sources.lss").read_text()
    (place / "waits.lss").write_text(text.replace("instance sink : sink on own;", f"instance sink : sink on own;\n  {more}"))
    return build(build_dir, place, place / "waits.lss", "-I", place)


def every(name: str, value: object) -> list[str]:
    """A setting of all nodes of sources.lss."""
    return [word for node in ("node[0]", "node[1]", "other") for word in ("--set", f"{node}.{name}={value}")]


STUCK = ["--watchdog", "100 us", *every("source.count", 40), *every("sink.ready", 0)]


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
