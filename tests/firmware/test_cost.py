"""What a frame costs in instructions, by function.  The published counts of the shipped one-processor firmware, 420 to
receive and 528 to send, are an upper bound with a wide margin; the figures themselves are printed (pytest -s)."""

import re
from bisect import bisect_right
from pathlib import Path

from tests.isa.programs import run, tool

FRAMES = (1000, 3000)


def functions(firmware: Path) -> list[tuple[int, str]]:
    """Processor A's functions by address; B's program lies at addresses of A's stack."""
    listing = run([tool("llvm-nm"), "-n", firmware]).stdout.decode()
    found = re.findall(r"^([0-9a-f]+) [tT] (\w+)$", listing, re.MULTILINE)
    return sorted((int(address, 16), name) for address, name in found if not name.startswith("second_"))


def per_frame(machine, firmware: Path, *options) -> dict[str, float]:
    """Instructions per frame and function, start-up taken out by the difference of two runs."""
    table = functions(firmware)
    totals: list[dict[str, float]] = []
    for count in FRAMES:
        ran = machine(cpus=1).run("--count", count, *options)
        total: dict[str, float] = {}
        for address, executed in re.findall(r"^executed (0x[0-9a-f]+) (\d+)$", ran.err, re.MULTILINE):
            name = table[bisect_right(table, (int(address, 16), "~")) - 1][1]
            total[name] = total.get(name, 0) + int(executed)
        totals.append(total)
    frames = FRAMES[1] - FRAMES[0]
    cost = {name: (n - totals[0].get(name, 0)) / frames for name, n in totals[1].items()}
    print(f"\ninstructions per frame {' '.join(map(str, options))}: {sum(cost.values()):.1f}")
    for name, n in sorted(cost.items(), key=lambda item: -item[1]):
        if n >= 0.05:
            print(f"  {name:24} {n:7.2f}")
    return cost


def test_receive(machine, firmware: Path) -> None:
    cost = per_frame(machine, firmware, "--payload", 18, "--ratio_send", 0)
    assert sum(cost.values()) < 160


def test_send_of_two_descriptors(machine, firmware: Path) -> None:
    cost = per_frame(machine, firmware, "--payload", 18, "--ratio_receive", 0)
    assert sum(cost.values()) < 210


def test_a_frame_each_way_costs_no_more_than_both_alone(machine, firmware: Path) -> None:
    cost = per_frame(machine, firmware, "--payload", 18)
    assert sum(cost.values()) < 370


def test_traffic_runs_from_the_scratchpad(machine, firmware: Path) -> None:
    """Well over 99 % of what is executed per frame; commands and errors may stay in SRAM."""
    where = dict((name, address) for address, name in functions(firmware))
    cost = per_frame(machine, firmware, "--payload", 18)
    outside = sum(n for name, n in cost.items() if where[name] < 0xC00000)
    assert outside < 0.01 * sum(cost.values())
