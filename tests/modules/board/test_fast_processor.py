"""fast_processor: a program begins on the functional processor and goes on in detail."""

from pathlib import Path

from tests.modules.board.boards import board, runs
from tests.modules.harness import Bench

BODY = "sampling = true; checked = true;"


def test_a_program_goes_on_in_detail(bench: Bench, tmp_path: Path) -> None:
    """In lockstep from its first instruction there."""
    ran = runs(bench, tmp_path, "plain_system", "fast_processor", BODY, switch_at="instructions(20)", **{"cpu.sampler.shortest": 10**9})
    assert ran.stat("dut.cpu.switch", "switches") == 1 and ran.stat("dut.cpu.fast", "instructions") >= 20
    assert ran.stat("dut.cpu.processor.core", "compared") > 10


def test_both_processors_are_the_same_to_software(bench: Bench, tmp_path: Path) -> None:
    """In lockstep, with a large TLB, large ways of caches and UserLocal: the state that passes has all of it."""
    sizes = "tlb_entries = 128; user_local = true; icache_size = 32 KiB; dcache_size = 32 KiB; ways = 1;"
    ran = runs(bench, tmp_path, "plain_system", "fast_processor", "checked = true;" + sizes, switch_at="instructions(20)")
    assert ran.stat("dut.cpu.switch", "switches") == 1 and ran.stat("dut.cpu.processor.core", "compared") > 10


def test_windows_are_measured(bench: Bench, tmp_path: Path) -> None:
    given = {f"cpu.sampler.{name}": value for name, value in {"period": 26, "warm": 5, "measure": 10, "shortest": 1}.items()}
    ran = runs(bench, tmp_path, "plain_system", "fast_processor", BODY, switch_at="instructions(20)", **given)
    assert ran.stat("dut.cpu.sampler", "sampled_instructions") == 10 * ran.stat("dut.cpu.sampler", "sampled") > 0


def test_windows_in_forked_processes(bench: Bench, tmp_path: Path) -> None:
    """In lockstep from the first instruction there, while the program ends on the functional processor."""
    given = {f"cpu.sampler.{name}": value for name, value in {"period": 26, "warm": 5, "measure": 10, "forked": True}.items()}
    ran = runs(bench, tmp_path, "plain_system", "fast_processor", BODY, switch_at="instructions(20)", **given, **{"cpu.quantum": 4})
    assert ran.stat("dut.cpu.sampler", "sampled_instructions") == 10 * ran.stat("dut.cpu.sampler", "sampled") > 0
    assert ran.stat("dut.cpu.switch", "switches") == 2 and not ran.stat("dut.cpu.sampler", "failed")


def test_one_that_cannot_be_given_a_state(bench: Bench) -> None:
    said = "a processor without the ports `load` and `devices` cannot take over from the functional one"
    assert said in bench.refuse(board("coherent_system", "fast_processor(detailed = vpe_processor)"))
