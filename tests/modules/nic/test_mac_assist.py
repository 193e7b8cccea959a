"""mac_assist: the transmitting and the receiving half, each alone or both."""

import struct

import pytest

from harness.net import packets
from tests.modules.assists import Rig, joined, load, noise, pcap, read, store, write
from tests.modules.harness import Bench, read_replies
from tests.sample import sampled, seldom

NETLIST = """
instance dut : mac_assist {
  transmit_ring_size = 256 B; receive_ring_size = 256 B; transmit_consumer_offset = 4;
  receive_producer_offset = 12; receive_buffer_producer_offset = 20; receive_buffer_end = 0x8000; };
for (i = 0; i < 2; i = i + 1) { dut.memory -> arbiter.in; dut.registers -> bank.in["half_" + string(i)]; }
dut.wire_out -> ethernet.from_device;
ethernet.to_device -> dut.wire_in;
dut.ready -> ethernet.ready;
bank.value["r0"] -> dut.transmit_producer;
bank.value["r1"] -> dut.transmit_consumer;
bank.value["r2"] -> dut.transmit_state;
bank.value["r2"] -> dut.receive_state;
bank.value["r3"] -> dut.receive_producer;
bank.value["r4"] -> dut.receive_reference;
bank.value["r5"] -> dut.buffer_producer;
bank.value["r6"] -> dut.buffer_reference;
bank.value["r7"] -> dut.receive_base;
"""


APART = """
instance rings : memory_state { size = 8 KiB; big_endian = true; };
instance ring_users : memory_arbiter;
instance requester_rings : memory_source;
requester_rings.memory -> ring_users.in;
for (i = 0; i < 2; i = i + 1) dut.descriptor_memory -> ring_users.in;
ring_users.out -> rings.port;
"""


@pytest.mark.parametrize("apart", sampled([False, True], 2))
def test_both_halves_at_once(bench: Bench, apart: bool) -> None:
    """Descriptors in NIC memory, or in a memory of their own."""
    dut = Rig(bench, NETLIST + (APART if apart else ""), wire=True)
    there, back = [noise(100 + i, i) for i in range(4)], [noise(200 + i, 50 + i) for i in range(5)]
    script = [write(0, 0x1000), write(1, 0x1000), write(3, 0x1800), write(4, 0x18F8), write(5, 0x4000), write(6, 0x4000), write(7, 0x4000), write(2, 2)]
    rings: list[str] = []
    for i, one in enumerate(there):
        (rings if apart else script).extend(store(0x1000 + 8 * i, struct.pack(">II", 0x9000 + 128 * i, len(one))))
        script += store(0x9000 + 128 * i, one)
    script += [write(0, 0x1020), read(1, 5000), read(3)]
    slots = [line for i in range(5) for line in load(0x1800 + 8 * i, 8, 5500)]
    settings, files = {"ethernet.input": "in", "ethernet.output": "out"}, {"in": pcap(back)}
    if apart:
        settings |= {"requester_rings.script": "rings", "requester_rings.record": "rings.seen"}
        files["rings"] = "".join(line + "\n" for line in [*rings, *slots])
    replies = dut.run(script + ([] if apart else slots), 6500, settings, files=files)
    done = replies if apart else replies[:-5]
    assert [a.data for a in done[-2:]] == [0x1020, 0x1800 + 8 * 5]
    assert [p.data for p in packets.read(dut.last.directory / "out")] == there
    found = (read_replies(dut.last.directory / "rings.seen") if apart else replies)[-5:]
    assert [a.data & 0xFFFF for a in found] == [len(one) + 4 for one in back] and found[0].data >> 32 == 0x4000


ONE_WAY = {
    "outward": """
dut.wire_out -> ethernet.from_device;
instance nothing : sink; ethernet.to_device -> nothing.in;
bank.value["r0"] -> dut.transmit_producer; bank.value["r1"] -> dut.transmit_consumer; bank.value["r2"] -> dut.transmit_state;
""",
    "inward": """
ethernet.to_device -> dut.wire_in; dut.ready -> ethernet.ready;
instance nothing : source; nothing.out -> ethernet.from_device : wire_beat(64);
bank.value["r2"] -> dut.receive_state; bank.value["r3"] -> dut.receive_producer; bank.value["r4"] -> dut.receive_reference;
bank.value["r5"] -> dut.buffer_producer; bank.value["r6"] -> dut.buffer_reference; bank.value["r7"] -> dut.receive_base;
""",
}


@seldom
@pytest.mark.parametrize("direction", ONE_WAY)
def test_one_half_alone(bench: Bench, direction: str) -> None:
    """The other half is left out: one connection to memory and to the registers, and none to the other half of the wire."""
    body = NETLIST[: NETLIST.index("};")] + f"direction = assist_direction.{direction}; }};\ndut.memory -> arbiter.in; dut.registers -> bank.in[\"half\"];\n"
    outward = direction == "outward"
    dut = Rig(bench, body + ONE_WAY[direction], wire=True)
    frames, settings = [noise(100 + i, i) for i in range(3)], {"nothing.count": 0}
    script = [write(3, 0x1800), write(4, 0x18F8), write(5, 0x4000), write(6, 0x4000), write(7, 0x4000), write(0, 0x1000), write(1, 0x1000), write(2, 2)]
    if outward:
        for i, one in enumerate(frames):
            script += store(0x1000 + 8 * i, struct.pack(">II", 0x9000 + 128 * i, len(one))) + store(0x9000 + 128 * i, one)
        dut.run([*script, write(0, 0x1018), read(1, 5000)], 6000, {"ethernet.output": "out"})
        assert [p.data for p in packets.read(dut.last.directory / "out")] == frames
    else:
        replies = dut.run([*script, read(3, 5000), *load(0x4000, 100, 5000)], 6000, settings | {"ethernet.input": "in"}, files={"in": pcap(frames)})
        assert joined(replies, 100) == frames[0] and replies[len(script)].data == 0x1800 + 8 * 3
    paths = {entry["path"] for entry in dut.last.stats["statistics"]}
    assert ("dut.transmit" in paths, "dut.receive" in paths) == (outward, not outward)
