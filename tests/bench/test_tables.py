"""The table of the bench has a row for whatever is measured."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import host_speed  # noqa: E402
import parts_speed  # noqa: E402
import run  # noqa: E402
import waiting_speed  # noqa: E402


def test_every_state_of_the_host_machine_has_a_row() -> None:
    """With the limits of those that have any."""
    states = set(host_speed.CYCLES)
    assert set(run.HOST_LIMITS) <= states
    rows = run.host_rows({"host_ns_per_cycle": dict.fromkeys(states, 1.0), "host_fast_mips": 60.0, "host_fast_hot_mips": 500.0, "host_fast_hot_instructions": 20.0, "host_fast_prompt_seconds": 1.0})
    assert len(rows) == len(states) + 4 and all(any(f"host machine, {state} " in line for line in rows) for state in states)


def test_every_machine_that_waits_has_a_row() -> None:
    """With the limits of those that have any."""
    counts = {str(count): 1.0 for count in waiting_speed.PROCESSORS}
    assert set(run.STALLED_LIMITS) == set(counts)
    latencies = {str(latency): 1.0 for latency in waiting_speed.LATENCIES}
    rows = run.waiting_rows({"waiting_host_instructions_per_cycle": latencies, "stalled_cores_host_instructions_per_cycle": counts})
    assert len(rows) == len(latencies) + len(counts)
    assert all(any(line.startswith(f"  {count} coherent cores, all stalled") and run.STALLED_LIMITS[count] in line for line in rows) for count in counts)
    assert run.waiting_rows({}) == []


def test_every_network_in_parts_has_a_row() -> None:
    """With the limits of those that have any."""
    results = {"parts_cost": dict.fromkeys(parts_speed.LATENCIES, 1.0), "parts_loops": dict.fromkeys(parts_speed.RATES, 1.0)}
    results["parts_ring_seconds"] = {str(nodes): 1.0 for nodes in parts_speed.RINGS}
    rows = run.parts_rows(results)
    assert len(rows) == len(parts_speed.LATENCIES) + len(parts_speed.RATES) + len(parts_speed.RINGS)
    assert all(any(f" {latency} " in line for line in rows) for latency in parts_speed.LATENCIES) and rows[-1].endswith("at most 1.10")
    assert run.parts_rows({}) == []
