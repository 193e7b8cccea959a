"""mac_receive: frames from the wire into memory; what does not fit, or is damaged, is dropped and counted."""

import struct

import pytest

from tests.modules.assists import Rig, joined, load, noise, pcap, read, write
from tests.modules.harness import Bench

# Registers: 0 producer, 1 reference, 2 state, 3 buffer base, 4 its end, 5 buffer producer, 6 buffer reference.
NETLIST = """
instance dut : mac_receive { ring_bytes = 256; producer_offset = 0; buffer_producer_offset = 20; drop_address = 0x100; %s };
dut.memory -> arbiter.in;
dut.registers -> bank.in;
ethernet.to_device -> dut.wire;
dut.ready -> ethernet.ready;
bank.shown -> dut.producer;
bank.shown -> dut.reference;
bank.shown -> dut.mac_state;
bank.shown -> dut.buffer_base;
bank.shown -> dut.buffer_limit;
bank.shown -> dut.buffer_producer;
bank.shown -> dut.buffer_reference;
instance quiet : source;
quiet.out -> ethernet.from_device;
"""


def rig(bench: Bench, body: str = "") -> Rig:
    return Rig(bench, NETLIST % body, [0, 1, 2, 3, 4, 5, 6], wire=True)


def start(reference: int = 0x10F8, base: int = 0x4000, limit: int = 0x8000) -> list[str]:
    return [write(3, base), write(4, limit), write(5, base), write(6, base), write(0, 0x1000), write(1, reference), write(2, 2)]


def play(dut: Rig, frames: list[bytes], script: list[str], cycles: int = 30000, **settings: object) -> list:
    values = {"ethernet.input": "in", "ethernet.mode": "rate", "quiet.count": 0} | {k.replace("__", "."): v for k, v in settings.items()}
    return dut.run(script, cycles, values, files={"in": pcap(frames)})


@pytest.mark.parametrize("burst", [8, 64])
def test_frames_lie_behind_each_other(bench: Bench, burst: int) -> None:
    dut = rig(bench, f"burst = {burst};")
    frames = [noise(size, size) for size in (60, 61, 63, 64, 65, 127, 128, 500, 1514)]
    script = start() + [read(0, 8000), read(5)] + load(0x1000, 80)
    answers = play(dut, frames, script)
    at, slots = 0x4000, []
    for one in frames:
        slots.append((at, len(one) + 4))
        at += (len(one) + 4 + 7) // 8 * 8
    producer, buffers = (a.data for a in answers[7:9])
    assert producer == 0x1000 + 8 * len(frames) and buffers == at
    ring = joined(answers, 80)
    assert [struct.unpack(">II", ring[8 * i : 8 * i + 8]) for i in range(len(frames))] == slots
    assert struct.unpack(">I", ring[72:76])[0] == at
    again = play(dut, frames, start() + load(0x4000, at - 0x4000, 8000), 40000)
    memory = joined(again, at - 0x4000)
    assert [memory[place - 0x4000 : place - 0x4000 + len(one)] for (place, _), one in zip(slots, frames, strict=True)] == frames


def test_a_full_ring_drops(bench: Bench) -> None:
    dut = rig(bench)
    answers = play(dut, [noise(60, i) for i in range(9)], [*start(0x1030), read(0, 4000), "4000 read 4 0x100"])
    assert answers[-2].data == 0x1028 and answers[-1].data == 4
    assert dut.last.stat("dut", "no_descriptor") == 4 == dut.last.stat("dut", "frames_dropped")


def test_a_full_buffer_drops(bench: Bench) -> None:
    dut = rig(bench)
    answers = play(dut, [noise(1000, i) for i in range(9)], [*start(limit=0x5800), read(0, 15000)])
    kept = (answers[-1].data - 0x1000) // 8
    assert kept == 6 and dut.last.stat("dut", "no_room") == 3


def test_a_wrong_fcs_drops(bench: Bench) -> None:
    dut = rig(bench)
    answers = play(dut, [noise(80 + i, i) for i in range(9)], [*start(), read(0, 5000)], ethernet__faults="fcs/4")
    assert answers[-1].data == 0x1000 + 8 * 7 and dut.last.stat("dut", "damaged") == 2


def test_in_a_closed_loop_nothing_is_dropped(bench: Bench) -> None:
    """The wire waits while the ring is full; freed descriptors let it go on."""
    dut = rig(bench)
    frames = [noise(300 + i, i) for i in range(20)]
    script = [*start(0x1040), read(0, 8000), write(1, 0x10C0), write(6, 0x4600), read(0, 20000)]
    answers = play(dut, frames, script, 25000, ethernet__mode="fast")
    assert dut.last.stat("dut", "frames_dropped") == 0
    assert 0x1000 < answers[7].data < 0x1040 and answers[-1].data > 0x1040
