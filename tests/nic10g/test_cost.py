"""What a frame each way costs one core, by function: instructions and cycles, start-up taken out (pytest -s prints them).
The smallest frames keep the core busy, so that nothing of it is waiting for work."""

import re
from bisect import bisect_right
from pathlib import Path

import pytest

from tests.isa.programs import run, tool

FRAMES = (2000, 5000)


def functions(firmware: Path) -> list[tuple[int, str]]:
    listing = run([tool("llvm-nm"), "-n", firmware]).stdout.decode()
    return sorted(
        (int(address, 16), name) for address, name in re.findall(r"^([0-9a-f]+) [tT] (\w+)$", listing, re.MULTILINE)
    )


def per_pair(machine, *options) -> dict[str, tuple[float, float]]:
    """(instructions, cycles) per frame each way and function."""
    table = functions(machine.firmware)
    totals: list[dict[str, list[int]]] = []
    pairs = []
    for count in FRAMES:
        ran = machine.run("--payload", 18, "--frames", count, *options)
        pairs.append((ran.sent + ran.received) / 2)
        total: dict[str, list[int]] = {}
        for address, executed, cycles in re.findall(r"^executed (0x[0-9a-f]+) (\d+) (\d+)$", ran.err, re.MULTILINE):
            name = table[bisect_right(table, (int(address, 16), "~")) - 1][1]
            entry = total.setdefault(name, [0, 0])
            entry[0] += int(executed)
            entry[1] += int(cycles)
        totals.append(total)
    first, last = totals
    cost = {
        name: tuple((n - first.get(name, [0, 0])[k]) / (pairs[1] - pairs[0]) for k, n in enumerate(entry))
        for name, entry in last.items()
    }
    cost["all"] = tuple(sum(entry[k] for entry in cost.values()) for k in range(2))
    print(f"\ninstructions and cycles per frame each way {' '.join(map(str, options))}")
    for name, (instructions, cycles) in sorted(cost.items(), key=lambda item: -item[1][1]):
        if cycles >= 0.5:
            print(f"  {name:16} {instructions:7.1f} {cycles:7.1f}")
    return cost


def test_bundles(nic10g) -> None:
    """At most what one core needs at the rate of the largest frames, 246 cycles, with a margin."""
    cost = per_pair(nic10g(cores=1))
    assert cost["all"][0] < 150
    assert cost["all"][1] < 200


@pytest.mark.slow
def test_the_worth_of_atomic_operations(nic10g) -> None:
    """With a task for every frame: a lock around the flags costs more than an operation that does without."""
    locked, linked, windows = (per_pair(nic10g(cores=1), "--task_frames", 1, "--ordering", way) for way in (1, 2, 3))
    assert linked["order_finish"][1] < 0.75 * locked["order_finish"][1]
    assert windows["order_finish"][1] < 0.75 * locked["order_finish"][1]
    assert windows["all"][1] < locked["all"][1]
