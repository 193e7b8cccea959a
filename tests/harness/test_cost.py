"""The count of what firmware costs: how it reads profiles; tests/firmware/test_cost.py uses it on a machine."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.run.store import RunError
from harness.study.uses import cost
from harness.trace.profile import Call, Core, Place, Profile, Region, Requests

REGIONS = ["nic.cpu[0].scratchpad", "nic.sram", "nic.registers"]


def profile(**functions: tuple[int, list[Requests]]) -> Profile:
    """One of a processor whose functions executed so many instructions, with these requests."""
    places = [Place(4 * i, 0, "nop", n, [n], requests, function=name) for i, (name, (n, requests)) in enumerate(functions.items())]
    regions = [Region(name, 0, 3) for name in REGIONS]
    core = Core("cpu", "clk", 1, 1, 0, 0, regions, places, [Call(-1, 0, 0, 0)])
    return Profile("m.lss", 1, 0, 1, {}, ["issued"], [core])


def test_what_a_frame_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference of two runs, by the kind of memory; what hardly ever runs is left out."""
    runs = {
        1000: profile(send=(500, [Requests(0, 4, 6)]), start=(4000, [])),
        3000: profile(
            send=(5500, [Requests(0, 2004, 6), Requests(1, 0, 200), Requests(2, 300), Requests(3, 0, 100)]),
            start=(4009, []), idle=(2000, []),
        ),
    }  # fmt: skip
    monkeypatch.setattr(cost, "profiled", lambda simulator, elf, frames, arguments: runs[frames])
    found = cost.per_frame(Path("sim"), Path("f.elf"), [])
    assert [(one.core, one.function, *one.counts.values()) for one in found] == [
        ("cpu", "send", 2.5, 1.0, 0.15, 0.15), ("cpu", "idle", 1.0, 0, 0, 0),
    ]  # fmt: skip


def test_a_run_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost.process, "run", lambda command: SimpleNamespace(status=3, out="", err="it broke\n"))
    with pytest.raises(RunError, match="^sim --quiet --firmware f.elf --frames 30 --payload 18: status 3\nit broke$"):
        cost.profiled(Path("sim"), Path("f.elf"), 30, ["--payload", "18"])


def test_totals_and_tables() -> None:
    costs = [cost.Cost("cpu[0]", "receive", {"instructions": 96.25, "scratchpad": 15, "memory": 12.5, "registers": 1})]
    costs.append(cost.Cost("cpu[0]", "timer", {"instructions": 0.75, "scratchpad": 0.5, "memory": 0, "registers": 0}))
    assert cost.totals(costs)["cpu[0]"] == {"instructions": 97, "scratchpad": 15.5, "memory": 12.5, "registers": 1}
    assert cost.as_records(costs)[0] == {
        "core": "cpu[0]", "function": "receive", "instructions": 96.25, "scratchpad": 15, "memory": 12.5, "registers": 1,
    }  # fmt: skip
    assert [line.split()[0] for line in cost.as_text(costs).splitlines()] == [
        "per",
        "cpu[0]",
        "all",
        "receive",
        "timer",
    ]
