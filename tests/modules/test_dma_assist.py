"""dma_assist: rings of descriptors, direct mode, both directions in one assist, any alignment, separate descriptor memory."""

import struct

import pytest

from tests.modules.assists import Rig, joined, load, noise, read, store, to_host, write
from tests.modules.harness import Bench, read_answers

SHOWN = [0, 2, 1, 3, 4, 5, 6, 7, 8, 9]
NETLIST = """
instance dut : dma_assist { %s
  consumer_offsets = [4, 12]; ring_bytes = 256; state_offset = 20; address_offset = 32; checksum_offset = 40;
  outward_bit = 0x100; advance_bit = 0x20000; advance_offset = 44; advance_round = 8; };
dut.memory -> arbiter.in;
dut.registers -> bank.in;
dut.bus -> host.bus;
bank.shown -> dut.producer;
bank.shown -> dut.producer;
bank.shown -> dut.consumer;
bank.shown -> dut.consumer;
bank.shown -> dut.assist_state;
bank.shown -> dut.direct_state;
bank.shown -> dut.direct_host_high;
bank.shown -> dut.direct_host_low;
bank.shown -> dut.direct_address;
bank.shown -> dut.direct_length;
"""


def rig(bench: Bench, body: str = "", extra: str = "") -> Rig:
    return Rig(bench, NETLIST % body + extra, SHOWN, host=True)


def descriptor(host: int, nic: int, length: int, control: int = 4) -> bytes:
    return struct.pack(">QIHHIIII", host, nic, 0, length, control, 0, 0, 0)


def start(ring: int = 0, base: int = 0x1000) -> list[str]:
    """The assist is stopped while a ring's pointers are set."""
    return [write(4, 0), write(2 * ring + 1, base), write(2 * ring, base)]


@pytest.mark.parametrize("burst", [8, 32, 128])
def test_every_alignment_and_length(bench: Bench, burst: int) -> None:
    """Ten transfers in, between bytes that must stay as they are."""
    dut, data = rig(bench, f"burst = {burst};"), noise(4096)
    script = start()
    sizes = [1, 2, 7, 8, 9, 63, 64, 65, 200, 511]
    model = bytearray(b"\xee" * 4096)
    script += store(0x4000, bytes(model))
    at = 3
    for i, size in enumerate(sizes[:7]):
        script += store(0x1000 + 32 * i, descriptor(0x2000 + 5 * i, 0x4000 + at, size))
        model[at : at + size] = data[5 * i : 5 * i + size]
        at += size + i
    script += [write(4, 1), write(0, 0x1000 + 32 * 7)]
    script += load(0x4000, at + 8, 9000)
    answers = dut.run(script, 12000, software=to_host(0x2000, data))
    assert joined(answers, at + 8) == bytes(model[: at + 8])
    assert dut.last.stat("dut", "transfers") == 7


def test_both_directions_and_both_rings(bench: Bench) -> None:
    dut, data = rig(bench), noise(700)
    script = start() + start(1, 0x1800)
    script += store(0x1000, descriptor(0x2001, 0x4000, 700))
    script += store(0x1800, descriptor(0x6003, 0x4000, 700, 0x104))
    script += [write(4, 1), write(0, 0x1020), write(2, 0x1820, 2000), read(1, 4000), read(3, 4000)]
    software = to_host(0x2001, data) + [f"4500 read {min(64, 700 - i)} {0x6003 + i:#x}" for i in range(0, 700, 64)]
    answers = dut.run(script, 6000, software=software)
    seen = read_answers(dut.last.directory / "software.seen")[-11:]
    got = b"".join(a.data.to_bytes(64, "little")[: min(64, 700 - 64 * i)] for i, a in enumerate(seen))
    assert got == data and answers[-2].data == 0x1020 and answers[-1].data == 0x1820


def test_the_pause_bit_and_the_run_bit(bench: Bench) -> None:
    dut = rig(bench)
    script = [write(1, 0x1000), write(0, 0x1000), *store(0x1000, descriptor(0x2000, 0x4000, 8)), write(0, 0x1020), read(1, 300), write(4, 3), read(1, 600), write(4, 1), read(1, 900)]
    answers = dut.run(script, 1500)
    assert [a.data for a in (answers[-5], answers[-3], answers[-1])] == [0x1000, 0x1000, 0x1020]


def test_direct_mode(bench: Bench) -> None:
    dut, data = rig(bench), noise(100)
    script = [write(7, 0x2000), write(8, 0x4005), write(9, 100), write(5, 0x804), read(5, 600), read(8), read(10), *load(0x4000, 105)]
    answers = dut.run(script, 1500, software=to_host(0x2000, data))
    state, address, checksum = (a.data for a in answers[4:7])
    total = sum(struct.unpack(">50H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    assert state == 0x800 and address == 0x4005 + 100 and checksum == total
    assert joined(answers, 105)[5:] == data


def test_a_failed_transfer_rests_the_assist(bench: Bench) -> None:
    dut = rig(bench)
    script = start() + store(0x1000, descriptor(0x90000000, 0x4000, 8)) + store(0x1020, descriptor(0x2000, 0x4000, 8))
    script += [write(4, 1), write(0, 0x1040), read(5, 600), read(1), write(5, 0), read(1, 1200)]
    answers = dut.run(script, 2000)
    assert answers[-4].data & 0x7F000000 and answers[-3].data == 0x1020 and answers[-1].data == 0x1040
    assert dut.last.stat("dut", "errors") == 1


def test_descriptors_in_a_memory_of_their_own(bench: Bench) -> None:
    extra = """
    instance apart : memory_state { size = 64 KiB; big_endian = true; };
    instance writer : memory_source;
    dut.descriptor_memory -> apart.port;
    writer.memory -> apart.port;
    """
    dut, data = rig(bench, extra=extra), noise(64)
    lines = "".join(line + "\n" for line in store(0x1000, descriptor(0x2000, 0x4000, 64)))
    script = [*start(), write(4, 1), write(0, 0x1020, 200), *load(0x4000, 64, 800)]
    answers = dut.run(script, 2000, {"writer.script": "writer"}, to_host(0x2000, data), {"writer": lines})
    assert joined(answers, 64) == data


def test_parameters_that_cannot_work_are_refused(bench: Bench) -> None:
    told = bench.refuse("import assist_types;\ninstance dut : dma_assist { buffer = 100; };\n")
    assert "power of two" in told
