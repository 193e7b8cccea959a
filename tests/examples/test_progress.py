"""Processors that contend by LL and SC make progress on every arrangement of buses and caches: examples/multiprocessor runs progress.c, and each
store_conditional that failed can be charged to a store that did not.

The bound.  A link ends only by a store to its line, so a store that is done makes one attempt of each other processor fail at most.  What is done next,
a store or the load before it, has the bus when those before it had it, each for a time that is bounded, too.
"""

import json
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from harness import firmware
from tests.sample import sampled

MACHINE = "examples/multiprocessor/multiprocessor.lss"
ROUNDS, LONG = 12, 10_000
KINDS = ["barrier", "ticket", "lock", "increments"]
CYCLES = 40  # for each store that is done and each processor, which then reads the line again: a transaction of two buses
START = 10_000  # cycles before all processors have begun, with empty caches
COUNT = 2  # cycles that a count of the processor takes


def stores(kind: str, cpus: int, rounds: int) -> int:
    """To the lines that are contended for: one by LL and SC of each processor in a round; two with which a round of a barrier ends; two of the owner of
    a ticket, to the count and to the next one in turn; two of the owner of a lock that shares its line with what it protects.  Then those of the
    barriers in which the program begins and ends."""
    return rounds * {"barrier": cpus + 2, "ticket": 3 * cpus, "lock": 3 * cpus, "increments": cpus}[kind] + 2 * (cpus + 2)


@pytest.fixture(scope="module")
def contend(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """progress.c with the start-up of bucket_sort."""
    folder = tmp_path_factory.mktemp("program") / "progress"
    folder.mkdir()
    (folder / "machine").write_text(str(root / MACHINE))
    for name in "tests/examples/progress.c", "firmware/bucket_sort/start.S", "firmware/bucket_sort/bucket_sort.ld":
        (folder / Path(name).name).write_text((root / name).read_text())
    return firmware.build(folder, folder.parent, build_dir)


@pytest.fixture(scope="module")
def machine(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory, optimising) -> Callable[..., Path]:
    """machine(4, 2): the simulator of so many processors above so many caches of level 2, optimised if it runs long."""
    built: dict[tuple[object, ...], Path] = {}

    def build(cpus: int, clusters: int, *more: str, often: bool = False) -> Path:
        key = (cpus, clusters, *more, often)
        if key not in built:
            built[key] = tmp_path_factory.mktemp("contended") / "machine"
            options = [word for setting in (f"processors={cpus}", f"clusters={clusters}", *more) for word in ("-D", setting)]
            with optimising() if often else nullcontext():
                subprocess.run([build_dir / "bin/lss", "build", root / MACHINE, *options, "-o", built[key]], check=True)
        return built[key]

    return build


def ends_in_time(simulator: Path, program: Path, directory: Path, kind: str, cpus: int, rounds: int, *options: str) -> tuple[int, int, int]:
    """Runs it; returns its cycles, the most that one round of one processor took, and how many store_conditionals failed."""
    (directory / "text").write_text(f"{kind} {rounds}")
    done = stores(kind, cpus, rounds)
    most = START + done * cpus * CYCLES
    command = [simulator, "--program", program, "--arguments", "text", "--cycles", str(most), "--quiet", "--stats", "stats.json", *options]
    ran = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "counts at most" in ran.stdout, ran.stdout + ran.stderr[-1500:]
    stats = json.loads((directory / "stats.json").read_text())
    failed = sum(entry["value"] for entry in stats["statistics"] if entry["name"] == "failed_conditionals")
    assert failed <= (cpus - 1) * done
    return stats["run"]["cycles"]["cpu_clk"], COUNT * int(ran.stdout.split()[0]), failed


@pytest.mark.parametrize("kind", sampled(KINDS, 4, 1))
def test_four_processors_on_four_caches(machine, contend: Path, tmp_path: Path, kind: str) -> None:
    ends_in_time(machine(4, 4), contend, tmp_path, kind, 4, ROUNDS)


ARRANGEMENTS = [(cpus, clusters) for cpus in (2, 3, 4, 6, 8, 16) for clusters in range(5) if cpus >= clusters]


@pytest.mark.soak
@pytest.mark.parametrize(("cpus", "clusters"), ARRANGEMENTS)
def test_ten_thousand_rounds(machine, contend: Path, tmp_path: Path, cpus: int, clusters: int) -> None:
    """In which all meet at a barrier, or that they take in turn; with and without replay, in the same cycles."""
    for kind in KINDS:
        rounds = LONG if kind == "barrier" else LONG // cpus
        seen = ends_in_time(machine(cpus, clusters, often=True), contend, tmp_path, kind, cpus, rounds)
        print(f"{cpus} processors, {clusters} of level 2, {kind}: {seen[0]} cycles, a round {seen[1]} at most, {seen[2]} failed")
        if cpus <= 4:
            assert ends_in_time(machine(cpus, clusters, often=True), contend, tmp_path, kind, cpus, rounds, "--no-replay") == seen


@pytest.mark.soak
@pytest.mark.parametrize(("cpus", "clusters"), ARRANGEMENTS)
def test_processors_sort_on_every_arrangement(machine, build_dir: Path, tmp_path: Path, cpus: int, clusters: int) -> None:
    for options in ([], ["--no-replay"]):
        command = [machine(cpus, clusters, often=True), "--program", build_dir / "firmware/bucket_sort/bucket_sort.elf", "--cycles", "4000000", "--quiet", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "4096 numbers are sorted" in done.stdout, done.stderr[-1500:]
