"""scalar_processor: on a coherent bus its caches are agents, of the sizes that it is given; test_plain_system.py has it on the other system."""

from pathlib import Path

import pytest

from tests.modules.board.boards import runs
from tests.modules.harness import Bench


def test_a_program_in_lockstep(bench: Bench, tmp_path: Path) -> None:
    ran = runs(bench, tmp_path, "coherent_system", "scalar_processor", "checked = true; icache_size = 8 KiB; dcache_size = 4 KiB; ways = 2;")
    executed = ran.stat("dut.cpu.core.pipeline.writeback", "instructions")
    assert executed > 40 and ran.stat("dut.cpu.core", "compared") == executed


@pytest.mark.parametrize("system", ["coherent_system", "plain_system"])
def test_lines_of_instructions(bench: Bench, tmp_path: Path, system: str) -> None:
    """Twice as large, they are half as many misses of a program that goes straight on."""
    lines = (16, 32, 64)
    misses = [runs(bench, tmp_path, system, "scalar_processor", f"checked = true; icache_line = {line};").stat("dut.cpu.icache.controller", "misses") for line in lines]
    assert misses == sorted(set(misses), reverse=True)
