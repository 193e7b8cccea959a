"""coherent_system: agents of the bus, with a level 2 between; what a device writes takes lines from caches."""

from pathlib import Path

from tests.modules.board.boards import board, runs
from tests.modules.harness import Bench


def test_a_program_and_a_device(bench: Bench, tmp_path: Path) -> None:
    """Without a level 2 that is test_scalar_processor.py."""
    ran = runs(bench, tmp_path, "coherent_system", "scalar_processor", "l2_size = 8 KiB; l2_ways = 2;")
    assert ran.stat("dut.dma_port[0]", "writes") == 1 and ran.stat("dut.l2_cache", "misses") > 2


def test_a_level_2_with_larger_lines(bench: Bench, tmp_path: Path) -> None:
    """Its misses are fewer by those of lines that came with others."""
    size = "l2_size = 8 KiB; l2_ways = 2;"
    misses = [runs(bench, tmp_path, "coherent_system", "scalar_processor", f"{size} l2_line = {line};").stat("dut.l2_cache", "misses") for line in (32, 64, 128)]
    assert misses == sorted(set(misses), reverse=True)
    assert "l2_line = 96 must be 32, 64 or 128" in bench.refuse(board("coherent_system", "scalar_processor", f"{size} l2_line = 96;"))


def test_a_processor_without_data_caches(bench: Bench) -> None:
    none = """
module lone_processor {
  parameter memory : size; parameter boot : map_entry; parameter line = 32 : int; parameter big_endian = false : bool; parameter checked = false : bool;
  runtime parameter on_memory_error = "drop" : string;
  outport fetch_memory : mem(64);
}
"""
    assert "a processor on a coherent bus needs the port `data`: set system_kind = plain_system for this one" in bench.refuse(board("coherent_system", "lone_processor") + none)
