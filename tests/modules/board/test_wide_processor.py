"""wide_processor: a program on each kind of system, one context or several; what its parameters exclude."""

from pathlib import Path

import pytest

from tests.modules.board.boards import board, runs
from tests.modules.harness import Bench
from tests.sample import sampled

MACHINES = {
    "a cache that writes through": ("plain_system", "width = 4; checked = true;"),
    "several misses, VPEs": ("coherent_system", "width = 4; checked = true; vpes = 2; mshrs = 4;"),
}


@pytest.mark.parametrize("machine", sampled(MACHINES, 2, 1))
def test_a_program_in_lockstep(bench: Bench, machine: str, tmp_path: Path) -> None:
    system, body = MACHINES[machine]
    ran = runs(bench, tmp_path, system, "wide_processor", body)
    assert ran.stat("dut.cpu.core", "compared") == ran.stat("dut.cpu.core.core.core.list", "instructions") > 40


REFUSED = [
    ("plain_system", "mshrs = 4;", "a data cache with several outstanding misses needs a coherent bus"),
    ("plain_system", "miss_causes = 1 MiB;", "causes of misses are counted only for a data cache on a coherent bus"),
    ("coherent_system", "vpes = 2; contexts = 3;", "each VPE of a processor is a context: contexts must be 2, not 3"),
    ("coherent_system", "vpes = 2; started = 2;", "the first VPE of a processor starts the others: started must be 1, not 2"),
    ("plain_system", "width = 8; icache_line = 16;", "width = 8 fetches 32 bytes at a time: icache_line = 16 must be at least 32"),
    ("coherent_system", "width = 8; line = 16; icache_line = 32;", "icache_line = 32 and line = 16 must be at least 32"),
    ("coherent_system", "contexts = 2; started = 3;", "started = 3 exceeds the 2 contexts"),
]


@pytest.mark.parametrize(("system", "body", "why"), REFUSED, ids=[one[1] for one in REFUSED])
def test_what_does_not_go_together(bench: Bench, system: str, body: str, why: str) -> None:
    assert why in bench.refuse(board(system, "wide_processor", body))
