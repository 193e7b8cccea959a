"""plain_system: caches see what a device writes beside them; a processor for another kind of system is refused."""

from pathlib import Path

import pytest

from tests.modules.board.boards import board, runs
from tests.modules.harness import Bench, happened
from tests.sample import sampled, seldom


def test_a_program_and_a_device(bench: Bench, tmp_path: Path) -> None:
    """The device's write makes a cached line invalid, in lockstep too; it takes as long as the memory."""
    ran = runs(bench, tmp_path, "plain_system", "scalar_processor", "checked = true;", latency=3)
    assert ran.stat("dut.cpu.dcache.controller", "invalidations") == 1 and ran.stat("device", "latency") == 3
    assert ran.stat("dut.cpu.core", "compared") == ran.stat("dut.cpu.core.pipeline.writeback", "instructions") > 40


def test_vpes_are_of_a_coherent_bus(bench: Bench) -> None:
    said = "a processor without the port `fetch_memory` needs a coherent bus: set system_kind = coherent_system"
    refused = bench.refuse(board("plain_system", "vpe_processor"))
    assert said in refused and refused.count("error[") == 1


@seldom
@pytest.mark.parametrize("system", sampled(["plain_system", "coherent_system"], 2))
@pytest.mark.parametrize("processor", sampled(["scalar_processor", "fast_processor"], 2))
def test_the_loader_on_the_bus(system: str, processor: str, bench: Bench, tmp_path: Path) -> None:
    """It writes the same bytes, eight in a cycle, where the RAM is loaded in four cycles."""
    seen = 'collector starts on "dut.loader" event started { record <<< printf("@started %llu\\n", (unsigned long long)cycle); >>> }'
    began, loaded = [], []
    for body in ("", "load_over_bus = true;"):
        ran = runs(bench, tmp_path, system, processor, body, seen)
        began += happened(ran, "started")
        loaded.append(ran.stat("dut.loader", "loaded"))
    assert loaded[0] == loaded[1] and began[0] == (4,) and began[1][0] > loaded[1] // 8
