"""write_monitor: an event for each write of others to a memory."""

from tests.modules.harness import Bench, Memory, collect, happened

NETLIST = """
instance bus : memory_arbiter;
requester[0].memory -> bus.in;
requester[1].memory -> bus.in;
instance memory : memory_state { size = 256 B; };
bus.out -> memory.port;
instance dut : write_monitor { is_own_write = <<< return tag % 2 == 0; >>>; };
memory.snoop -> dut.snoop;
"""


def test_writes_of_others_are_events(bench: Bench) -> None:
    """With address and size; neither their reads nor what the first lane writes."""
    machine = Memory(bench, NETLIST + collect("dut", "written(address, size)"), 2)
    machine.play([["0 write 4 0x10 1", "4 write 8 0x20 2"], ["2 write 4 0x14 3", "6 read 4 0x10", "8 write 1 0x33 4"]], 20)
    assert happened(machine.last, "written") == [(2, 0x14, 4), (8, 0x33, 1)]
