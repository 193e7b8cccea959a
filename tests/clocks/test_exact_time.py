"""Times with thousandths of a tick, at their extremes: what arithmetic without an end has, or past the end of time."""

import itertools
import random
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import tool

ROOT = Path(__file__).resolve().parents[2]
OVER = 3 << 62
FEW = (0, 1, 999, 1000, 1001)
TICKS = (0, 1, 10**6, 2**62, 2**63 - 1, 2**63, OVER - 1, OVER)
PARTS = (*FEW, 12345, 2**62, 2**63 - 1)
COUNTS = (0, 1, 8, 1518, 2**32, 2**63 - 1, 2**64 - 1)
EACH = (*FEW, 8 * 10**9 + 7, 2**52, 2**63 - 1, 2**64 - 1)
Numbers = tuple[int, ...]


def value(ticks: int, parts: int) -> int:
    return ticks * 1000 + parts


def in_time(thousandths: int) -> int:
    """A time past the end is the end."""
    return min(thousandths, OVER * 1000)


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("exact") / "check"
    source = Path(__file__).with_name("exact_time_check.c")
    command = [tool("clang"), "-std=gnu11", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "modules", source, "-o", program]
    subprocess.run(command, check=True)
    return program


def replies(check: Path, name: str, cases: list[Numbers]) -> list[Numbers]:
    text = "".join(f"{name} {' '.join(map(str, (*case, 0, 0, 0, 0)[:4]))}\n" for case in cases)
    lines = subprocess.run([check], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == len(cases)
    return [tuple(map(int, line.split())) for line in lines]


def times() -> list[Numbers]:
    rng = random.Random(1)
    drawn = [(rng.randrange(2**63), rng.randrange(1000)) for _ in range(20)]
    return [*itertools.product(TICKS, PARTS), *drawn]


def test_adding_units(check) -> None:
    cases = [(*time, count, each) for time in times() for count in COUNTS for each in EACH]
    for case, reply in zip(cases, replies(check, "add", cases), strict=True):
        right = value(case[0], case[1]) + case[2] * case[3]
        # What is not put in order stays below what can be added again.
        assert in_time(value(*reply)) == in_time(right) and reply[1] < 2**63, case
        assert reply[0] <= OVER


def test_steps(check) -> None:
    cases = [(*time, step) for time in times() for step in (0, 1, 999, 8 * 2**52, 2**62 - 1)]
    for case, reply in zip(cases, replies(check, "step", cases), strict=True):
        assert in_time(value(*reply)) == in_time(value(case[0], case[1]) + case[2]) and reply[1] < 2**63, case


def test_two_times(check) -> None:
    pairs = [(*a, *b) for a in times() for b in times()]
    values = [(in_time(value(*pair[:2])), in_time(value(*pair[2:]))) for pair in pairs]
    expected = {
        "sum": [in_time(a + b) for a, b in values],
        "later": [max(a, b) for a, b in values],
    }
    for name, right in expected.items():
        assert [value(*reply) for reply in replies(check, name, pairs)] == right
    assert [reply[0] for reply in replies(check, "before", pairs)] == [int(a < b) for a, b in values]
    forward = [pair for pair, (a, b) in zip(pairs, values, strict=True) if a <= b]
    right = [b - a for a, b in values if a <= b]
    assert [value(*reply) for reply in replies(check, "since", forward)] == right


def test_parts_of_a_second(check) -> None:
    cases = [(parts, second, ticks) for parts in (0, 1, 999_999_999, 10**18, 2**63 - 1, 2**64 - 1) for second in (10**6, 10**9, 10**15) for ticks in (1, 3, 10**8, 88 * 10**8, 2**38)]
    right = [in_time(parts * ticks * 1000 // second) for parts, second, ticks in cases]
    assert [value(*reply) for reply in replies(check, "of", cases)] == right


def test_instants_and_nanoseconds(check) -> None:
    cases = times()
    assert [reply[0] for reply in replies(check, "instant", cases)] == [-(-value(*case) // 1000) for case in cases]
    assert [reply[0] for reply in replies(check, "after", cases)] == [value(*case) // 1000 + 1 for case in cases]
    paced = [(*case, pace) for case in cases for pace in (1, 10**8, 2**38)]
    right = [min(value(*case[:2]) * 10**6 // case[2], 2**64 - 1) for case in paced]
    assert [reply[0] for reply in replies(check, "nanoseconds", paced)] == right
