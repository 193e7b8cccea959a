"""fast_core at its ports: what a program does to RAM and devices, when, and where it halts."""

import pytest

from tests.modules.core.mips.fast_program import PROGRAM, SETTINGS, STATE_PC, machine, scripts
from tests.modules.harness import Bench, collect, happened, read_items


@pytest.mark.parametrize("quantum", [1, 3, 1000])
def test_a_program(bench: Bench, quantum: int) -> None:
    """The RAM shows what was stored; markers, exceptions and requests to devices are counted; it halts behind the marker, with its state."""
    dut = machine(bench, "instance taken : sink;\ndut.save -> taken.in;\n" + collect("dut", "marker(number)", "executed(pc, instructions)"))
    played, files = scripts(["300 read 4 0x100", "300 read 4 0x104", "300 read -1 0xffff", "300 swap 4 0x100 1", "300 read 8 0xfffc", "300 barrier 1 0"])
    settings = SETTINGS | {"dut.quantum": quantum, "taken.record": "taken"}
    [replies, _] = dut.play(played, 400, settings, files=files, outstanding=8)
    assert [(reply.error, reply.data) for reply in replies[len(PROGRAM) :]] == [(False, 5), (False, 5), (False, 0), (True, 0), (True, 0), (False, 0)]
    counted = dut.last.counted("dut")
    assert counted["instructions"] == len(PROGRAM) and counted["device_requests"] == 3  # all but the load that fails, and the marker
    assert counted["unimplemented"] == 1 and counted["refills"] == 1 and {name: n for name, n in counted.items() if name.partition("[")[0] == "exceptions"} == {"exceptions[2]": 1}
    assert counted["steps"] == len(happened(dut.last, "executed")) and sum(done for _, _, done in happened(dut.last, "executed")) == len(PROGRAM)
    assert [number for _, number in happened(dut.last, "marker")] == [7]
    [*_, (_, state)] = read_items(dut.last.directory / "taken")
    assert f"pc={STATE_PC:#x}" in state or f"pc={STATE_PC}" in state


def test_wrong_parameters(bench: Bench) -> None:
    text = machine(bench, "instance taken : sink;\ndut.save -> taken.in;\n").text.replace("size = 64 KiB", "size = 6000 B")
    assert "the RAM is whole pages of 4 KiB" in bench.refuse(text)
