"""The count of what firmware costs: how it reads netlists, symbols and counts; tests/firmware/test_cost.py uses it on a machine."""

from pathlib import Path

import pytest

from harness.run.store import RunError
from harness.study.uses import cost

MAP = [
    {"name": "sram", "base": 0, "size": 0x800000},
    {"name": "scratchpad_a", "base": 0xC00000, "size": 0x4000},
    {"name": "registers", "base": 0xC0000000, "size": 0x400},
]


def instance(path: str, event: str, *arguments: str, memory_map: list | None = None) -> dict:
    parameters = [{"name": "memory_map", "value": memory_map}] if memory_map else []
    events = [{"name": event, "arguments": [{"name": name} for name in arguments]}]
    return {"path": path, "parameters": parameters, "events": events}


def test_collectors_are_for_processors_and_know_the_regions() -> None:
    netlist = {
        "instances": [
            instance("cpu.writeback", "retire", "pc", "word"),
            instance("cpu.access", "access", "pc", "op", "address", "size", memory_map=MAP),
            instance("dram", "access", "bank", "row"),
        ]
    }
    text = cost.collectors(netlist)
    assert '"cpu.writeback" event retire' in text and '"cpu.access" event access' in text and "dram" not in text
    assert f"address - {0xC00000}u < {0x4000}u ? 1" in text and f"address - {0xC0000000}u < {0x400}u ? 3" in text


def test_functions_of_a_program(build_dir: Path) -> None:
    table = cost.functions(build_dir / "firmware/tigon2/tigon2.elf")
    assert table == sorted(table)
    assert {"receive", "send", "dispatch_loop", "_start"} <= {name for _, name in table}


def test_no_program(tmp_path: Path) -> None:
    with pytest.raises(RunError) as error:
        cost.functions(tmp_path / "nothing.elf")
    assert "nothing.elf" in str(error.value) and "\n" not in str(error.value)


def test_sums_and_tables() -> None:
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
