"""plain_system: caches see what a device writes beside them; a processor for another kind of system is refused."""

from pathlib import Path

from tests.modules.board.boards import board, runs
from tests.modules.harness import Bench


def test_a_program_and_a_device(bench: Bench, tmp_path: Path) -> None:
    """The device's write makes a cached line invalid, in lockstep too; it takes as long as the memory."""
    ran = runs(bench, tmp_path, "plain_system", "scalar_processor", "checked = true;", latency=3)
    assert ran.stat("dut.cpu.dcache.controller", "invalidations") == 1 and ran.stat("device", "latency") == 3
    assert ran.stat("dut.cpu.core", "compared") == ran.stat("dut.cpu.core.pipeline.writeback", "instructions") > 40


def test_vpes_are_of_a_coherent_bus(bench: Bench) -> None:
    said = "a processor without `fetch_memory` is one of a coherent bus: system_kind = coherent_system"
    refused = bench.refuse(board("plain_system", "vpe_processor"))
    assert said in refused and refused.count("error[") == 1
