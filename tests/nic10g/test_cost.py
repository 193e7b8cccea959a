"""What a frame each way costs one core, by function: instructions and cycles, start-up taken out (pytest -s prints them).
The smallest frames keep the core busy, so that nothing of it is waiting for work."""

import pytest

from harness.trace.profile import functions, read

FRAMES = (1000, 2500)


def per_pair(machine, *options) -> dict[str, tuple[float, float]]:
    """(instructions, cycles) per frame each way and function."""
    totals: list[dict[str, list[int]]] = []
    pairs = []
    for count in FRAMES:
        file = machine.directory / "profile.json"
        ran = machine.run("--payload", 18, "--frames", count, "--profile", file, *options)
        pairs.append((ran.sent + ran.received) / 2)
        (core,) = read(file).cores
        totals.append({name: [cost.instructions, cost.total] for name, cost in functions(core)})
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


@pytest.mark.soak
def test_bundles(nic10g) -> None:
    """At most what one core needs at the rate of the largest frames, 246 cycles, with a margin."""
    cost = per_pair(nic10g(processors=1))
    assert cost["all"][0] < 150
    assert cost["all"][1] < 200


@pytest.mark.soak
def test_the_worth_of_atomic_operations(nic10g) -> None:
    """With a task for every frame: a lock around the flags costs more than an operation that does without."""
    locked, linked, windows = (per_pair(nic10g(processors=1), "--task_frames", 1, "--ordering", way) for way in (1, 2, 3))
    assert linked["order_finish"][1] < 0.75 * locked["order_finish"][1]
    assert windows["order_finish"][1] < 0.75 * locked["order_finish"][1]
    assert windows["all"][1] < locked["all"][1]
