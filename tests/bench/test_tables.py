"""The table of the bench has a row for whatever is measured."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import host_speed  # noqa: E402
import run  # noqa: E402


def test_every_state_of_the_host_machine_has_a_row() -> None:
    """With the limits of those that have any."""
    states = set(host_speed.CYCLES)
    assert set(run.HOST_LIMITS) <= states
    rows = run.host_rows({"host_ns_per_cycle": dict.fromkeys(states, 1.0), "host_fast_mips": 60.0, "host_fast_hot_mips": 500.0, "host_fast_hot_instructions": 20.0, "host_fast_prompt_seconds": 1.0})
    assert len(rows) == len(states) + 4 and all(any(f"host machine, {state} " in line for line in rows) for state in states)
