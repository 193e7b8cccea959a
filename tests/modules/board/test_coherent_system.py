"""coherent_system: agents of the bus, with a level 2 between; what a device writes takes lines from caches."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.emulib.test_system import bare
from tests.modules.board.boards import DEVICE, LONGEST, PROGRAM, board, runs
from tests.modules.harness import Bench
from tests.sample import sampled


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


# A bus and a memory on another clock than that of the processor, 1 GHz, in lockstep.
SLOW = {
    "half, narrow": ("scalar_processor", "bus_frequency = 500 MHz; bus_width = 4 B;"),
    "blocks of a level 2": ("wide_processor(mshrs = 4)", "bus_frequency = 437.5 MHz; bus_width = 16 B; l2_size = 8 KiB; l2_ways = 2; l2_line = 128;"),
    "flat memory": ("wide_processor(vpes = 2, mshrs = 4)", "bus_frequency = 166 MHz; bus_width = 32 B; memory_kind = flat_memory;"),
    "sampled": ("fast_processor(detailed = wide_processor, sampling = true)", "bus_frequency = 500 MHz; l2_size = 8 KiB; l2_ways = 2;"),
}


@pytest.mark.parametrize("name", sampled(SLOW, 2, 1))
def test_a_bus_of_another_clock(bench: Bench, name: str, tmp_path: Path) -> None:
    processor, body = SLOW[name]
    sampling = {"switch_at": "instructions(20)", "cpu.sampler.period": 26, "cpu.sampler.warm": 5, "cpu.sampler.measure": 10} if name == "sampled" else {}
    ran = runs(bench, tmp_path, "coherent_system", processor, "checked = true;" + body, **sampling)
    assert ran.stat("dut.dma_port[0]", "writes") == 1
    assert ran.stat("dut.system_bus.bus", "transactions") > 5


def test_a_bus_that_is_too_slow(bench: Bench) -> None:
    assert "bus_frequency = 1 MHz must be more, or 0 Hz for the processor's clock" in bench.refuse(board("coherent_system", "scalar_processor", "bus_frequency = 1 MHz;"))


@pytest.mark.parametrize("width", [4, 16])
def test_cycles_of_a_bus(bench: Bench, tmp_path: Path, width: int) -> None:
    """A line takes as many of them as it has words of the bus."""
    ran = runs(bench, tmp_path, "coherent_system", "scalar_processor", f"bus_frequency = 500 MHz; bus_width = {width} B;")
    bus = ran.counted("dut.system_bus.bus")
    reads, writes = (bus[name] * 32 // width for name in ("memory_reads", "memory_writes"))
    assert reads < bus["data_cycles"] <= reads + writes  # a write may be of a part of a line


@pytest.mark.parametrize("cycle", sampled([700, 1000, 1203], 3, 1))
def test_a_restored_run_goes_on(bench: Bench, tmp_path: Path, cycle: int) -> None:
    """From a checkpoint with requests and lines in the crossings; the statistics are those of a run without one."""
    text = board("coherent_system", "wide_processor(mshrs = 4)", SLOW["blocks of a level 2"][1])
    simulator = bench.build(text)
    (tmp_path / "device").write_text(DEVICE)
    start = ["--set", f"dut.kernel={bare(PROGRAM, tmp_path / 'kernel.elf')}", "--set", "device.script=device"]

    def run(name: str, *words: str) -> tuple[str, list]:
        done = subprocess.run([simulator, "--quiet", "--stats", name, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, json.loads((tmp_path / name).read_text())["statistics"]

    out, whole = run("whole", *start, "--cycles", str(LONGEST))
    before, _ = run("first", *start, "--cycles", str(cycle), "--checkpoint", "point")
    after, rest = run("rest", "--restore", "point", "--cycles", str(LONGEST))
    assert "ABC" in out and before + after == out
    assert rest == whole
