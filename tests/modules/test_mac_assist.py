"""mac_assist: the transmitting and the receiving half, each alone or both."""

import struct

from harness import packets
from tests.modules.assists import Rig, noise, pcap, read, store, write
from tests.modules.harness import Bench

NETLIST = """
instance dut : mac_assist {
  transmit_ring_bytes = 256; receive_ring_bytes = 256; transmit_consumer_offset = 4;
  receive_producer_offset = 12; receive_buffer_producer_offset = 20; receive_buffer_end = 0x8000; };
for (i = 0; i < 2; i = i + 1) { dut.memory -> arbiter.in; dut.registers -> bank.in; }
dut.wire_out -> ethernet.from_device;
ethernet.to_device -> dut.wire_in;
dut.ready -> ethernet.ready;
bank.shown -> dut.transmit_producer;
bank.shown -> dut.transmit_consumer;
bank.shown -> dut.transmit_state;
bank.shown -> dut.receive_state;
bank.shown -> dut.receive_producer;
bank.shown -> dut.receive_reference;
bank.shown -> dut.buffer_producer;
bank.shown -> dut.buffer_reference;
bank.shown -> dut.receive_base;
"""


def test_both_halves_at_once(bench: Bench) -> None:
    dut = Rig(bench, NETLIST, [0, 1, 2, 2, 3, 4, 5, 6, 7], wire=True)
    there, back = [noise(100 + i, i) for i in range(4)], [noise(200 + i, 50 + i) for i in range(5)]
    script = [write(0, 0x1000), write(1, 0x1000), write(3, 0x1800), write(4, 0x18F8), write(5, 0x4000), write(6, 0x4000), write(7, 0x4000), write(2, 2)]
    for i, one in enumerate(there):
        script += store(0x1000 + 8 * i, struct.pack(">II", 0x9000 + 128 * i, len(one))) + store(0x9000 + 128 * i, one)
    script += [write(0, 0x1020), read(1, 5000), read(3)]
    answers = dut.run(script, 6000, {"ethernet.input": "in", "ethernet.output": "out"}, files={"in": pcap(back)})
    assert [a.data for a in answers[-2:]] == [0x1020, 0x1800 + 8 * 5]
    assert [p.data for p in packets.read(dut.last.directory / "out")] == there
