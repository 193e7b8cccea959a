"""Rings and the board, without the engine: toy machines in several processes, against the same in one (parts.c)."""

import os
import subprocess
from pathlib import Path

import pytest

from harness.firmware import tool

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [Path(__file__).with_name("parts.c"), Path(__file__).with_name("hosts.c")]
SOURCES += [ROOT / "lss/runtime" / f"{name}.c" for name in ("link/ring", "link/board", "link/ending", "link/exchange", "carrier/carrier", "carrier/agreement", "carrier/changes", "carrier/parcel")]


def compiled(folder: Path, *flags: str) -> Path:
    program = folder / "parts"
    words = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-gline-tables-only", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", *flags]
    subprocess.run([tool("clang"), *words, *SOURCES, "-lpthread", "-o", program], check=True)
    return program


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("plain"), "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def run(program: Path, *words: object) -> list[str]:
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}  # which stops and traces processes itself
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0 and not done.stderr, f"parts {' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout.splitlines()


@pytest.mark.parametrize("count, end, runs", [(2, 20000, 10), (3, 10000, 10), (9, 2000, 10), (80, 300, 2)])
@pytest.mark.parametrize("spin", [0, 50])
def test_parts_end_like_the_whole(parts: Path, count: int, end: int, runs: int, spin: int) -> None:
    assert len(run(parts, 1, count, end, f"spin={spin}", f"runs={runs}")) == runs


def test_parts_that_are_stopped_at_any_time(parts: Path) -> None:
    run(parts, 100, 3, 8000, "runs=4", "stops=30", "spin=0")
    run(parts, 200, 5, 8000, "runs=4", "stops=30", "spin=50")


@pytest.mark.soak
@pytest.mark.parametrize("spin", [0, 50, 2000])
def test_parts_that_are_stopped_often(parts: Path, spin: int) -> None:
    run(parts, spin, 2, 20000, "runs=300", "stops=30", f"spin={spin}")
    run(parts, spin, 7, 5000, "runs=100", "stops=60", f"spin={spin}")


def test_a_part_ends_the_run_of_all(parts: Path) -> None:
    """All end at the same instant, which follows from that at which one part wanted to."""
    run(parts, 1, 2, 5000, "ends", "runs=15")
    run(parts, 50, 6, 3000, "ends", "runs=15", "stops=10", "spin=0")


def test_a_part_that_is_killed_ends_the_others(parts: Path) -> None:
    lines = run(parts, 1, 4, 5_000_000, "kill", "runs=10")
    assert len(lines) == 10 and all(line.endswith(("is gone", ")")) for line in lines)


@pytest.mark.parametrize("kind", ["promise", "tail", "head", "entries", "board"])
def test_a_hostile_part_breaks_nobody(parts: Path, kind: str) -> None:
    """Nonsense on the board may happen to let all run to the end; what is wrong in a ring is always found."""
    lines = run(parts, 1, 4, 5_000_000, f"hostile={kind}", "runs=6")
    assert (lines or kind == "board") and len(lines) == len({line.split(":")[0] for line in lines}), lines  # one each


def test_a_part_that_leaves_before_it_has_promised_anything(parts: Path) -> None:
    lines = run(parts, 1, 4, 5_000_000, "hostile=leaves", "runs=6")
    assert len(lines) == 6 and any("it has left too early (part" in line for line in lines), lines


def test_no_word_has_two_owners(tmp_path: Path) -> None:
    """The same in threads, for the thread sanitizer."""
    program = compiled(tmp_path, "-fsanitize=thread")
    run(program, 1, 2, 5000, "threads", "runs=3")
    run(program, 7, 5, 3000, "threads", "runs=3", "spin=0")


@pytest.mark.parametrize("count, end, hosts, runs", [(2, 20000, 2, 10), (3, 10000, 2, 10), (9, 2000, 4, 10), (80, 300, 8, 2)])
@pytest.mark.parametrize("spin", [0, 50])
def test_parts_on_several_hosts_end_like_the_whole(parts: Path, count: int, end: int, hosts: int, runs: int, spin: int) -> None:
    """Carriers, without MPI: messages and rounds need any time."""
    assert len(run(parts, 1, count, end, f"spin={spin}", f"hosts={hosts}", f"runs={runs}")) == runs


def test_parts_and_carriers_that_are_stopped_at_any_time(parts: Path) -> None:
    run(parts, 100, 3, 8000, "runs=4", "stops=30", "spin=0", "hosts=2")
    run(parts, 200, 5, 8000, "runs=4", "stops=30", "spin=50", "hosts=3")


@pytest.mark.parametrize("hosts", [1, 2, 3])
@pytest.mark.parametrize("count, end, meet", [(3, 8000, 50), (7, 4000, 7), (40, 600, 20)])
def test_parts_at_meetings(parts: Path, count: int, end: int, meet: int, hosts: int) -> None:
    """Each hears what all say, wherever they are; the run may end between two meetings."""
    run(parts, 1, count, end, f"hosts={hosts}", f"meet={meet}", "runs=6", "spin=0")
    run(parts, 50, count, end, f"hosts={hosts}", f"meet={meet}", "runs=4", "ends", "stops=10")


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_parts_at_meetings_and_are_stopped_often(parts: Path) -> None:
    for seed, count, hosts in ((500, 3, 2), (600, 9, 4)):
        run(parts, seed, count, 6000, f"hosts={hosts}", "meet=40", "runs=100", "stops=40", "spin=0")
        run(parts, seed, count, 6000, f"hosts={hosts}", "meet=40", "runs=100", "stops=40", "ends")


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_parts_and_carriers_that_are_stopped_often(parts: Path) -> None:
    run(parts, 300, 2, 20000, "runs=300", "stops=30", "spin=0", "hosts=2")
    run(parts, 400, 7, 5000, "runs=100", "stops=60", "hosts=3")


def test_a_part_ends_the_run_of_all_hosts(parts: Path) -> None:
    run(parts, 1, 2, 5000, "ends", "runs=15", "hosts=2")
    run(parts, 50, 6, 3000, "ends", "runs=15", "stops=10", "spin=0", "hosts=3")


def test_a_part_that_is_killed_ends_those_of_other_hosts(parts: Path) -> None:
    lines = run(parts, 900, 4, 5_000_000, "kill", "runs=10", "hosts=2")
    assert len(lines) == 10 and all(line.endswith(("is gone", ")")) for line in lines)


@pytest.mark.parametrize("kind", ["promise", "tail", "head", "entries"])
def test_a_hostile_part_breaks_no_carrier(parts: Path, kind: str) -> None:
    """What a part writes into its rings is not passed on if no sender or receiver writes it."""
    lines = run(parts, 1, 4, 5_000_000, f"hostile={kind}", "runs=6", "hosts=2")
    seeds = [line.split(":")[0] for line in lines if line.startswith("seed")]
    assert seeds and len(seeds) == len(set(seeds)), lines  # a line each


def test_messages_that_make_no_sense_end_the_run(parts: Path) -> None:
    """A carrier trusts no length and no number of another one."""
    for seed in (1, 100, 200):
        lines = run(parts, seed, 4, 5_000_000, "hostile=messages", "runs=10", "hosts=3")
        assert any("a message makes no sense" in line for line in lines), lines
