"""mac_transmit: frames from memory to the wire, padding, FCS, waiting for data, wrapping, pace."""

import re
import struct
import zlib

import pytest

from harness.net import packets
from tests.modules.assists import Rig, joined, load, noise, read, store, write
from tests.modules.harness import Bench, collect, happened, read_monitor
from tests.sample import sampled, seldom

# Registers: 0 producer, 1 consumer, 2 state, 3 buffer base, 4 its end, 5 end of data, 6 buffer consumer.
NETLIST = """
instance end : sink;
instance dut : mac_transmit { ring_size = 256 B; consumer_offset = 4; buffer_consumer_offset = 24; %s };
dut.memory -> arbiter.in;
dut.registers -> bank.in["assist"];
dut.wire -> ethernet.from_device;
ethernet.to_device -> end.in;

bank.value["r0"] -> dut.producer;
bank.value["r1"] -> dut.consumer;
bank.value["r2"] -> dut.mac_state;
bank.value["r3"] -> dut.buffer_base;
bank.value["r4"] -> dut.buffer_limit;
bank.value["r5"] -> dut.buffer_producer;
"""


def rig(bench: Bench, body: str = "", more: str = "", same_cycle: bool = False) -> Rig:
    return Rig(bench, NETLIST % body + more, wire=True, same_cycle=same_cycle)


def joined_fcs(data: bytes) -> bytes:
    return data + zlib.crc32(data).to_bytes(4, "little")


def sent(dut: Rig) -> list[packets.Packet]:
    return list(packets.read(dut.last.directory / "out"))


def play(dut: Rig, frames: list[bytes], base: int = 0x4000, limit: int = 0x8000, first: int = 0x4000, cycles: int = 30000) -> list[int]:
    """Queues frames, stores them, lets them go; returns consumer and buffer consumer."""
    script = [write(3, base), write(4, limit), write(5, first), write(0, 0x1000), write(1, 0x1000), write(2, 2)]
    at, span = first, limit - base
    for i, one in enumerate(frames):
        script += store(0x1000 + 8 * i, struct.pack(">II", at, len(one)))
        whole = one.ljust((len(one) + 7) // 8 * 8, b"\0")
        for k in range(0, len(whole), 8):
            script += store(base + (at - base + k) % span, whole[k : k + 8])
        at = base + (at - base + len(whole)) % span
    script += [write(0, 0x1000 + 8 * len(frames)), write(5, base + (at - base - (-len(frames[-1]) % 8)) % span)]
    script += [read(1, cycles - 500), read(6)]
    replies = dut.run(script, cycles, {"ethernet.output": "out"})
    assert dut.last.stat("ethernet", "damaged_out") == 0
    return [replies[-2].data, replies[-1].data]


def test_every_short_length(bench: Bench) -> None:
    dut = rig(bench)
    frames = [noise(size, size) for size in (0, 1, 14, 20, 42, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72)]
    consumer, buffers = play(dut, frames)
    assert [p.data for p in sent(dut)] == [one.ljust(60, b"\0") for one in frames]
    assert dut.last.counted("dut") == {"frames": len(frames), "bytes": sum(map(len, frames))}
    assert consumer == 0x1000 + 8 * len(frames) and buffers == 0x4000 + sum((len(one) + 7) // 8 * 8 for one in frames)


def test_frames_that_are_not_aligned_are_sent_and_reported(bench: Bench) -> None:
    """The second of two begins four bytes after a multiple of eight."""
    dut, one = rig(bench), noise(64, 1)
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x4100), write(0, 0x1000), write(1, 0x1000), write(2, 2)]
    script += store(0x1000, struct.pack(">IIII", 0x4000, 64, 0x4044, 64))
    for k in range(0, 64, 8):
        script += store(0x4000 + k, one[k : k + 8])
    dut.run([*script, write(0, 0x1010), read(1, 20000)], 21000, {"ethernet.output": "out"})
    assert [len(p.data) for p in sent(dut)] == [64, 64] and dut.last.stat("dut", "unaligned") == 1
    assert "1 frame did not begin at a multiple of 8 bytes, the first at 0x00004044" in dut.last.err


@pytest.mark.parametrize("burst", sampled([8, 64], 2, 1))
def test_frames_wrap_at_the_end_of_the_buffer(bench: Bench, burst: int) -> None:
    dut = rig(bench, f"burst = {burst};")
    frames = [noise(1000 + i, i) for i in range(3)]
    play(dut, frames, 0x4000, 0x5000, 0x4E08)
    assert [p.data for p in sent(dut)] == frames


def test_a_frame_waits_until_its_data_are_there(bench: Bench) -> None:
    """The descriptor is read long before; nothing else moves while the assist waits for the end of the data to pass the frame's.
    At first it is the end of the frame before, which was not rounded up."""
    dut, one = rig(bench), noise(100)
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x7FF9), write(0, 0x1000), write(1, 0x1000), *store(0x1000, struct.pack(">II", 0x4000, 100))]
    script += [*store(0x4000, one), write(2, 2), write(0, 0x1008), write(5, 0x4063, 2000), read(1, 2900), write(5, 0x4064, 3000), read(1, 6000)]
    replies = dut.run(script, 7000, {"ethernet.output": "out"})
    assert [a.data for a in replies if a.cycle > 2900 and a.data] == [0x1000, 0x1008]
    [frame] = sent(dut)
    assert frame.data == one and frame.time > 30000 and dut.last.counted("dut") == {"frames": 1, "bytes": 100}


def test_frames_follow_each_other_at_the_pace_of_the_wire(bench: Bench) -> None:
    dut = rig(bench)
    frames = [noise(200 + i, i) for i in range(12)]
    play(dut, frames)
    stamps = [p.time for p in sent(dut)]
    assert [b - a for a, b in zip(stamps, stamps[1:])] == [8 * (len(one) + 24) for one in frames[1:]]


def test_a_full_queue_of_bytes_keeps_the_pace_of_the_wire(bench: Bench) -> None:
    """Six of the longest frames; two and a half fit between memory and wire."""
    dut = rig(bench)
    frames = [noise(1514, i) for i in range(6)]
    play(dut, frames)
    got = sent(dut)
    assert [p.data for p in got] == frames
    assert [b.time - a.time for a, b in zip(got, got[1:])] == [8 * (1514 + 24)] * 5


@seldom
def test_bursts_end_at_multiples_of_the_width_and_leave_a_cycle_to_others(bench: Bench) -> None:
    """A frame of 100 bytes at an odd address, in bursts of 32: a request in every cycle, but for one behind each burst."""
    dut = rig(bench, "burst = 32;", collect("arbiter", "won(lane, address)"), same_cycle=True)
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x5000), write(0, 0x1000), write(1, 0x1000), *store(0x1000, struct.pack(">II", 0x4003, 100))]
    dut.run([*script, *store(0x4000, noise(104)), write(2, 2), write(0, 0x1008)], 2000)
    asked = [(cycle, address) for cycle, lane, address in happened(dut.last, "won") if lane == 1 and address > 0x4000]
    first = asked[0][0]
    assert [address for _, address in asked] == [0x4003, *range(0x4008, 0x4067, 8)]
    assert [cycle - first for cycle, _ in asked] == [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15]


@seldom
def test_registers_may_be_slow(bench: Bench) -> None:
    """Three writes at a time are answered after 300 cycles: the others wait in order, and no frame is sent for whose end there is no room."""
    netlist = NETLIST.replace('dut.registers -> bank.in["assist"];', "instance way : memory_delay { latency = 300; depth = 3; };\ndut.registers -> way.in;\nway.out -> bank.in[\"assist\"];")
    dut = Rig(bench, netlist % "" + collect("bank", "access(lane, offset, value)") + collect("dut", "begun(address, length)", "sent(address, length)"), wire=True)
    frames = [noise(60, i) for i in range(24)]
    play(dut, frames)
    written = [(offset, value) for _, lane, offset, value in happened(dut.last, "access") if lane == 1]
    assert written == [one for i in range(1, 25) for one in ((24, 0x4000 + 64 * i), (4, 0x1000 + 8 * i))]
    assert [p.data for p in sent(dut)] == frames
    begun, gone = happened(dut.last, "begun"), happened(dut.last, "sent")
    assert [told[1:] for told in gone] == [told[1:] for told in begun] == [(0x4000 + 64 * i, 60) for i in range(24)]
    assert all(first[0] < last[0] for first, last in zip(begun, gone))
    stamps = [p.time for p in sent(dut)]
    gaps = [b - a for a, b in zip(stamps, stamps[1:])]
    assert gaps[:8] == [672] * 8 and gaps[9:21] == [2860, 672, 2488] * 4


def test_memory_that_is_not_there_stops_the_run_or_is_counted(bench: Bench) -> None:
    dut = rig(bench)
    script = [write(0, 0x20000), write(1, 0x20000), write(2, 2), write(0, 0x20008)]
    ran = bench.run(dut.simulator, 200, {"requester.script": "s"}, files={"s": "\n".join(script)}, ok=False)
    assert "a request to NIC memory failed: nothing responds near address 0x00000000" in ran.err
    ran = bench.run(dut.simulator, 1000, {"requester.script": "s", "dut.on_memory_error": "drop"}, files={"s": "\n".join(script)})
    assert ran.stat("dut", "memory_errors") > 0 and "it is dropped" in ran.err


@seldom
@pytest.mark.parametrize("width", sampled([64, 128], 2, 1))
def test_the_next_descriptor_is_read_ahead(bench: Bench, width: int) -> None:
    """Frames of all alignments, wrapping, through a port of either width: the same frames, in order, without a gap."""
    netlist = NETLIST % f"width = {width}; read_ahead = true; burst = 512; threshold = 64;"
    if width != 64:
        adapter = f"instance adapter : memory_width {{ from = {width}; to = 64; big_endian = true; held = 16; }};\nadapter.out -> arbiter.in;\n"
        netlist = adapter + netlist.replace("dut.memory -> arbiter.in;", "dut.memory -> adapter.in;")
    dut = Rig(bench, netlist, wire=True)
    frames = [noise(size, size) for size in (60, 61, 100, 15, 1514, 64, 77, 300, 14, 130)]
    consumer, _ = play(dut, frames, 0x4000, 0x5000, 0x4E08)
    got = sent(dut)
    assert [p.data for p in got] == [one.ljust(60, b"\0") for one in frames] and consumer == 0x1000 + 8 * len(frames)
    assert [b.time - a.time for a, b in zip(got, got[1:])] == [8 * (max(60, len(one)) + 24) for one in frames[1:]]


@seldom
def test_memory_that_is_too_slow_spoils_frames_and_says_so(bench: Bench) -> None:
    """A frame is begun with its first 64 bytes here, and the rest does not come in time: the wire, the state register and a counter in memory are told."""
    body = "threshold = 64; state_offset = 8; attention_bit = 0x100; underrun_counter = 0x3004;"
    dut = Rig(bench, NETLIST % body + "slow.first_access = 30;\nslow.next_access = 30;\nslow.queue = 1;\n", wire=True)
    one = noise(400)
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x4000), write(0, 0x1000), write(1, 0x1000), *store(0x1000, struct.pack(">II", 0x4000, 400))]
    script += store(0x3000, struct.pack(">III", 7, 41, 8))
    script += [*store(0x4000, one), write(5, 0x4190), write(2, 2), write(0, 0x1008), read(2, 20000), read(1), write(2, 2), read(2, 21000), *load(0x3000, 12)]
    replies = dut.run(script, 22000, {"ethernet.output": "out"})
    assert dut.last.stat("dut", "underruns") == 1 == dut.last.stat("ethernet", "damaged_out")
    assert [a.data for a in replies[-6:-2]] == [0x102, 0x1008, 0, 2] and joined(replies, 12) == struct.pack(">III", 7, 42, 8)


@seldom
def test_registers_and_counters_may_be_at_zero(bench: Bench) -> None:
    """The same with all of them there: what is written is the state, the buffer's consumer, the ring's; the counter is the first word of memory."""
    netlist = NETLIST.replace("buffer_consumer_offset = 24", "buffer_consumer_offset = 0") % "threshold = 64; state_offset = 0; attention_bit = 0x100; underrun_counter = 0;"
    dut = Rig(bench, netlist + collect("bank", "access(lane, offset, value)") + "slow.first_access = 30;\nslow.next_access = 30;\nslow.queue = 1;\n", wire=True)
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x4000), write(1, 0x1000), *store(0x1000, struct.pack(">II", 0x4000, 400)), write(5, 0x4190)]
    replies = dut.run([*script, write(2, 2), write(0, 0x1008), *load(0, 8, 20000)], 22000)
    assert [(offset, value) for _, lane, offset, value in happened(dut.last, "access") if lane == 1] == [(0, 0x102), (0, 0x4190), (4, 0x1008)]
    assert joined(replies, 8) == struct.pack(">II", 1, 0)


def test_a_vlan_tag_is_put_in(bench: Bench) -> None:
    dut, one = rig(bench), noise(90)
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x4000), write(0, 0x1000), write(1, 0x1000), write(2, 2)]
    script += store(0x1000, struct.pack(">IHH", 0x4000 | 0x40000000, 0x2345, 90)) + store(0x4000, one)
    dut.run([*script, write(5, 0x4000 + 90), write(0, 0x1008)], 3000, {"ethernet.output": "out"})
    assert [p.data for p in sent(dut)] == [one[:12] + bytes.fromhex("81002345") + one[12:]]


@seldom
def test_frames_that_have_their_fcs_from_descriptors_in_two_parts(bench: Bench) -> None:
    """Lengths around the shortest frame's, which beats fill and do not: each beat has bytes, the last one says so, and nothing is appended."""
    body = "add_fcs = false; pad_to = 64; descriptor_size = 16 B; at_address = 4; at_vlan = 8; at_length = 14;"
    wire = "instance watched : monitor;\ndut.wire -> watched.in;\nwatched.out -> ethernet.from_device;"
    netlist = NETLIST.replace("dut.wire -> ethernet.from_device;", wire) % body + "dut.descriptor_memory -> arbiter.in;\n" + collect("arbiter", "won(lane, address)")
    dut = Rig(bench, netlist, wire=True)
    frames = [joined_fcs(noise(length - 4, length)) for length in (64, 72, 65, 128, 80)] + [noise(20)]
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x5000), write(0, 0x1000), write(1, 0x1000), write(2, 2)]
    for i, one in enumerate(frames):
        script += store(0x1000 + 16 * i, struct.pack(">IIIHH", 0x77777777, 0x4000 + 128 * i, 0, 0, len(one))) + store(0x4000 + 128 * i, one)
    replies = dut.run([*script, write(0, 0x1000 + 16 * len(frames)), read(1, 9000)], 9100, {"ethernet.output": "out", "watched.record": "seen.wire"})
    assert [p.data for p in sent(dut)] == [one.ljust(64, b"\0")[:-4] for one in frames] and replies[-1].data == 0x1000 + 16 * len(frames)
    assert dut.last.stat("ethernet", "damaged_out") == 1, "the one that was padded"
    assert [address for _, lane, address in happened(dut.last, "won") if lane == 2] == [0x1000 + 8 * k for k in range(2 * len(frames))]
    beats = [re.search(r"count=(\w+) .*end=(\w+)", one.value) for one in read_monitor(dut.last.directory / "seen.wire") if one.transferred]
    right = [(min(8, max(64, len(one)) - at), at + 8 >= max(64, len(one))) for one in frames for at in range(0, max(64, len(one)), 8)]
    assert [(int(beat[1], 0), beat[2] in ("1", "true")) for beat in beats] == right


def test_nothing_leaves_while_it_is_stopped(bench: Bench) -> None:
    dut = rig(bench)
    script = [write(3, 0x4000), write(4, 0x8000), write(5, 0x5000), write(0, 0x1000), write(1, 0x1000), write(2, 6)]
    script += [*store(0x1000, struct.pack(">II", 0x4000, 60)), write(0, 0x1008), read(1, 1000), write(2, 2), read(1, 2000)]
    replies = dut.run(script, 2500)
    assert replies[-3].data == 0x1000 and replies[-1].data == 0x1008


def test_the_fcs_of_this_bench_is_the_usual_one() -> None:
    """0xdebb20e3 is what CRC-32 leaves after any frame and its FCS, before the final complement."""
    one = noise(77)
    assert zlib.crc32(one + zlib.crc32(one).to_bytes(4, "little")) ^ 0xFFFFFFFF == 0xDEBB20E3


LAYOUTS = [
    ("burst = 0;", "burst must be a multiple of width / 8"),
    ("buffer_round = 0;", "buffer_round must be a power of two"),
    ("descriptor_size = 12 B;", "descriptor_size must be 8, 16, 32 or 64 B, not 12 B"),
    ("ring_size = 8 B;", "ring_size must be a power of two that holds at least two descriptors, not 8 B"),
    ("at_vlan = 7;", "at_vlan = 7 is outside a descriptor of 8 B"),
]


@pytest.mark.parametrize(("body", "words"), LAYOUTS)
def test_parameters_that_cannot_work_are_refused(bench: Bench, body: str, words: str) -> None:
    assert words in bench.refuse(f"instance dut : mac_transmit {{ consumer_offset = 0; {body} }};")
