"""vpe_processor: the first VPE begins with the program, beside others that are halted; each has a data cache of its own."""

from pathlib import Path

from tests.modules.board.boards import runs
from tests.modules.harness import Bench


def test_a_program_on_the_first(bench: Bench, tmp_path: Path) -> None:
    """The others go when it says so, as Linux does."""
    ran = runs(bench, tmp_path, "coherent_system", "vpe_processor", "checked = true;")
    executed = [ran.stat(f"dut.cpu.cores.cpu[{i}].core.pipeline.writeback", "instructions") for i in range(2)]
    assert executed[0] > 40 and executed[1] == 0
    assert ran.stat("dut.cpu.cores.cpu[0].core", "compared") == executed[0] and ran.stat("dut.cpu.cores.cpu[0].dcache.controller", "misses") > 0
