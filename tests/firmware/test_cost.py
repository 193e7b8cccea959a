"""What the firmware spends on a frame, by function and memory. The instructions of the shipped one-processor firmware, 420 to
receive and 528 to send, are an upper bound with a wide margin; the figures themselves are printed (pytest -s)."""

from pathlib import Path

import pytest

from harness.study.uses import cost

RECEIVE, SEND, BOTH = ["--ratio_send", "0"], ["--ratio_receive", "0"], []
SPENT = ("instructions", "scratchpad", "memory", "registers")


@pytest.fixture
def spend(machine, build_dir: Path):
    """spend(firmware, processors, traffic): what functions cost per frame of 18 B payload."""

    def measure(name: str, cpus: int, traffic: list[str]) -> list[cost.Cost]:
        firmware = build_dir / f"firmware/{name}/{name}.elf"
        costs = cost.per_frame(machine(processors=cpus).simulator, firmware, ["--payload", "18", *traffic])
        print(f"\n{name} {' '.join(traffic)}\n{cost.as_text(costs)}")
        return costs

    return measure


def total(costs: list[cost.Cost], kind: str = "instructions", core: int | None = None) -> float:
    return sum(c.counts[kind] for c in costs if core is None or f"cpu[{core}]" in c.core)


@pytest.mark.parametrize("traffic,most", [(RECEIVE, 160), (SEND, 210), (BOTH, 185)], ids=["receive", "send", "both"])
def test_one_processor(spend, traffic: list[str], most: float) -> None:
    assert total(spend("tigon2", 1, traffic)) < most


def test_traffic_runs_from_the_scratchpad(machine, build_dir: Path) -> None:
    """Well over 99 % of what is executed per frame; commands and errors may stay in SRAM."""
    for name, cpus in ("tigon2", 1), ("tigon2_parallel", 2):
        firmware = build_dir / f"firmware/{name}/{name}.elf"
        executed = {False: 0, True: 0}
        for sign, frames in zip((-1, 1), cost.FRAMES, strict=True):
            for core in cost.profiled(machine(processors=cpus).simulator, firmware, frames, ["--payload", "18"]).cores:
                for place in core.places:
                    executed[place.pc < 0xC00000] += sign * place.instructions
        assert executed[True] < 0.01 * executed[False]


def test_two_processors_share_the_work(spend) -> None:
    """One receives, the other sends and fetches for both; dividing the work makes it hardly more."""
    idle = {
        "dispatch",
        "dispatch_loop",
        "dispatch_table",
        "dispatch_second",
        "dispatch_second_loop",
        "dispatch_second_table",
    }
    costs = [c for c in spend("tigon2_parallel", 2, BOTH) if c.function not in idle]
    doing = {(c.core.split(".")[1], c.function): c.counts["instructions"] for c in costs}
    assert doing["cpu[0]", "receive"] > 40 and doing["cpu[1]", "send"] > 60
    assert not {("cpu[1]", "receive"), ("cpu[0]", "send")} & set(doing)
    assert total(costs) < 185


PUBLISHED = {"receive": (RECEIVE, (420, 121, 39, 24)), "send": (SEND, (528, 149, 47, 40))}


@pytest.mark.parametrize("traffic,published", PUBLISHED.values(), ids=PUBLISHED)
def test_extra_work_makes_frames_as_expensive_as_published(spend, traffic: list[str], published: tuple) -> None:
    costs = spend("tigon2_paced", 1, traffic)
    assert [total(costs, kind) for kind in SPENT] == pytest.approx(published, rel=0.04)
