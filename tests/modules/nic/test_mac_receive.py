"""mac_receive: frames from the wire into memory; what does not fit, or is damaged, is dropped and counted."""

import struct
import zlib

import pytest

from tests.modules.assists import LONGEST, TOO_LONG, Rig, joined, load, noise, pcap, read, tagged, write
from tests.modules.harness import Bench, collect, happened, read_monitor
from tests.sample import sampled, seldom

# Registers: 0 producer, 1 reference, 2 state, 3 buffer base, 4 its end, 5 buffer producer, 6 buffer reference.
NETLIST = """
import mac_types;
instance dut : mac_receive { ring_size = 256 B; producer_offset = 0; buffer_producer_offset = 20; counters = [
  { outcome = receive_outcome.no_space, address = 0x100 }, { outcome = receive_outcome.bad_fcs, address = 0x104 }, { outcome = receive_outcome.too_short, address = 0x108 },
  { outcome = receive_outcome.too_long, address = 0x10c }, { outcome = receive_outcome.line_error, address = 0x110 }, { outcome = receive_outcome.kept_unicast, address = 0x114 },
  { outcome = receive_outcome.kept_multicast, address = 0x118 }, { outcome = receive_outcome.kept_broadcast, address = 0x118 }, { outcome = receive_outcome.other_station, address = 0x11c },
  { outcome = receive_outcome.other_group, address = 0x120 } ]; %s };
dut.memory -> arbiter.in;
dut.registers -> bank.in["assist"];
ethernet.to_device -> dut.wire;
dut.ready -> ethernet.ready;
bank.value["r0"] -> dut.producer;
bank.value["r1"] -> dut.reference;
bank.value["r2"] -> dut.mac_state;
bank.value["r3"] -> dut.buffer_base;
bank.value["r4"] -> dut.buffer_limit;
bank.value["r5"] -> dut.buffer_producer;
bank.value["r6"] -> dut.buffer_reference;
instance quiet : source;
quiet.out -> ethernet.from_device;
""" + (collect("dut", "begun", "drop(length, outcome)", "received(address, length)") + collect("ethernet", "played(length)") + collect("arbiter", "won(lane, address)")).replace("%", "%%")


def rig(bench: Bench, body: str = "", same_cycle: bool = False) -> Rig:
    return Rig(bench, NETLIST % body, wire=True, same_cycle=same_cycle)


def start(reference: int = 0x10F8, base: int = 0x4000, limit: int = 0x8000) -> list[str]:
    return [write(3, base), write(4, limit), write(5, base), write(6, base), write(0, 0x1000), write(1, reference), write(2, 2)]


def play(dut: Rig, frames: list[bytes], script: list[str], cycles: int = 30000, **settings: object) -> list:
    values = {"ethernet.input": "in", "ethernet.mode": "rate", "quiet.count": 0} | {k.replace("__", "."): v for k, v in settings.items()}
    return dut.run(script, cycles, values, files={"in": pcap(frames)})


@seldom
@pytest.mark.parametrize(("burst", "width", "split"), sampled([(8, 64, False), (64, 64, False), (64, 64, True), (16, 128, False), (512, 128, True)], every=5, first=2))
def test_frames_lie_behind_each_other(bench: Bench, burst: int, width: int, split: bool) -> None:
    """Memory of either width, descriptors by the same way or by one of their own: the same bytes lie there."""
    netlist = NETLIST % f"burst = {burst}; width = {width};"
    if width != 64:
        adapter = f"instance adapter : memory_width {{ from = {width}; to = 64; big_endian = true; held = 16; }};\nadapter.out -> arbiter.in;\n"
        netlist = adapter + netlist.replace("dut.memory -> arbiter.in;", "dut.memory -> adapter.in;")
    dut = Rig(bench, netlist + ("dut.descriptor_memory -> arbiter.in;\n" if split else ""), wire=True)
    frames = [noise(size, size) for size in (60, 61, 63, 64, 65, 127, 128, 500, 1514)]
    script = start() + [read(0, 8000), read(5)] + load(0x1000, 80)
    replies = play(dut, frames, script)
    at, slots = 0x4000, []
    for one in frames:
        slots.append((at, len(one) + 4))
        at += (len(one) + 4 + 7) // 8 * 8
    producer, buffers = (a.data for a in replies[7:9])
    assert producer == 0x1000 + 8 * len(frames) and buffers == at
    if split:
        assert [address for _, lane, address in happened(dut.last, "won") if lane == 2] == [0x1000 + 8 * k for one in range(len(frames)) for k in (one, one + 1)]
    assert [told[1:] for told in happened(dut.last, "received")] == slots
    assert all(begun < stored for (begun,), (stored, *_) in zip(happened(dut.last, "begun"), happened(dut.last, "received"), strict=True))
    ring = joined(replies, 80)
    assert [struct.unpack(">II", ring[8 * i : 8 * i + 8]) for i in range(len(frames))] == slots
    assert struct.unpack(">I", ring[72:76])[0] == at
    again = play(dut, frames, start() + load(0x4000, at - 0x4000, 8000), 40000)
    memory = joined(again, at - 0x4000)
    assert [memory[place - 0x4000 : place - 0x4000 + len(one)] for (place, _), one in zip(slots, frames, strict=True)] == frames


@seldom
def test_the_longest_frames(bench: Bench) -> None:
    """A VLAN tag makes a frame longer by its four bytes."""
    dut = Rig(bench, NETLIST % "" + "ethernet.max_frame = 2000;\n", wire=True)
    replies = play(dut, [*TOO_LONG, *LONGEST], [*start(), *load(0x4000, 1518, 20000)], 40000, ethernet__mode="fast")
    assert dut.last.counted("dut") == {"frames": 3, "bytes": 1518 + 2 * 1522, "frames_dropped": 4, "damaged": 4, "too_long": 4}
    assert joined(replies, 1518)[:1514] == LONGEST[0]
    dut = Rig(bench, NETLIST % "vlan_tag = 0;", wire=True)
    play(dut, [tagged(1514), tagged(1515)], start())
    assert dut.last.counted("dut") == {"frames": 1, "bytes": 1518, "frames_dropped": 1, "damaged": 1, "too_long": 1}


@seldom
def test_memory_that_is_not_there_stops_the_run_or_is_counted(bench: Bench) -> None:
    dut, script = rig(bench), start(base=0x20000, limit=0x28000)
    values = {"ethernet.input": "in", "ethernet.mode": "rate", "quiet.count": 0, "requester.script": "s"}
    files = {"in": pcap([noise(60, 1)]), "s": "\n".join(script)}
    assert "a request to NIC memory failed: nothing responds near address 0x000200" in bench.run(dut.simulator, 3000, values, files=files, ok=False).err
    ran = bench.run(dut.simulator, 3000, values | {"dut.on_memory_error": "drop"}, files=files)
    assert ran.stat("dut", "memory_errors") > 0 and ran.stat("dut", "frames") == 1


def test_a_full_ring_drops(bench: Bench) -> None:
    dut = rig(bench)
    replies = play(dut, [noise(60, i) for i in range(9)], [*start(0x1030), read(0, 4000), "4000 read 4 0x100"])
    assert replies[-2].data == 0x1028 and replies[-1].data == 4
    assert dut.last.counted("dut") == {"frames": 5, "bytes": 5 * 64, "no_descriptor": 4, "frames_dropped": 4}


def test_a_full_buffer_drops(bench: Bench) -> None:
    dut = rig(bench)
    replies = play(dut, [noise(1000, i) for i in range(9)], [*start(limit=0x5800), read(0, 15000)])
    kept = (replies[-1].data - 0x1000) // 8
    assert kept == 6 and dut.last.counted("dut") == {"frames": 6, "bytes": 6 * 1004, "no_room": 3, "frames_dropped": 3}


def test_a_wrong_fcs_drops(bench: Bench) -> None:
    dut = rig(bench)
    replies = play(dut, [noise(80 + i, i) for i in range(9)], [*start(), read(0, 5000)], ethernet__faults="fcs/4")
    assert replies[-1].data == 0x1000 + 8 * 7 and dut.last.stat("dut", "damaged") == 2


KINDS = {"fcs": "bad_fcs", "fragment": "too_short", "short": "too_short", "long": "too_long", "jabber": "too_long", "error": "line_errors"}
WORDS = {"no_space": 0x100, "bad_fcs": 0x104, "too_short": 0x108, "too_long": 0x10C, "line_errors": 0x110}


@pytest.mark.parametrize("same_cycle", sampled([False, True], 2))
@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_counted_as_what_it_is(bench: Bench, kind: str, same_cycle: bool) -> None:
    """Statistics and the words in NIC memory agree; the frames around are stored as they came; however fast memory replies."""
    dut = rig(bench, same_cycle=same_cycle)
    frames = [noise(80 + i, i) for i in range(9)]
    words = [f"20000 read 4 {address:#x}" for address in WORDS.values()]
    replies = play(dut, frames, [*start(), read(0, 20000), *words, *load(0x4000, 88, 20000)], ethernet__faults=f"{kind}@2,{kind}/4")
    counted = {name: dut.last.stat("dut", name) for name in WORDS if name != "no_space"}
    assert counted == {name: 3 * (name == KINDS[kind]) for name in counted}
    assert [a.data for a in replies[8:13]] == [0, *counted.values()]
    assert replies[7].data == 0x1000 + 8 * 6 and dut.last.stat("dut", "damaged") == 3 == dut.last.stat("dut", "frames_dropped")
    assert joined(replies, 88)[:80] == frames[0]
    ends = [happened(dut.last, "played")[k][0] for k in (1, 3, 7)]
    drops = happened(dut.last, "drop")
    assert all(0 < drop[0] - end < 60 for drop, end in zip(drops, ends, strict=True)), "each when it has come to its end"
    assert dut.last.stat("dut", "frames") == 6 and dut.last.stat("dut", "no_descriptor") == 0


def test_a_damaged_frame_without_room_is_damaged(bench: Bench) -> None:
    dut = rig(bench)
    play(dut, [noise(60, i) for i in range(9)], [*start(0x1030)], ethernet__faults="fcs@8,short@9")
    assert [dut.last.stat("dut", name) for name in ("no_descriptor", "bad_fcs", "too_short", "no_room")] == [2, 1, 1, 0]


def test_kept_frames_are_counted_when_there_is_time(bench: Bench) -> None:
    dut = rig(bench)
    to = [b"\xff" * 6, b"\x01\0\x5e\0\0\x01", *[b"\2\0\0\0\0\1"] * 5]
    frames = [address + noise(60, i)[6:] for i, address in enumerate(to)]
    replies = play(dut, frames, [*start(), "20000 read 4 0x114", "20000 read 4 0x118"])
    assert [a.data for a in replies[-2:]] == [5, 2] and dut.last.stat("dut", "frames") == 7


FILTER = """
bank.value["r7"] -> dut.station["high"];
bank.value["r8"] -> dut.station["low"];
for (i = 0; i < 2; i = i + 1) bank.value["r" + string(9 + i)] -> dut.groups[i];
"""


def crc_bit(address: bytes) -> int:
    return zlib.crc32(address) & 127


@seldom
@pytest.mark.parametrize("on", [False, True])
def test_the_filter_passes_what_is_for_this_station(bench: Bench, on: bool) -> None:
    """Own address, broadcast and the groups of the table pass; without the filter, everything does. The table has two words of four."""
    own, other = bytes.fromhex("020304050607"), bytes.fromhex("020304050608")
    groups = [bytes.fromhex("01005e0000") + bytes([k]) for k in range(64)]
    wanted, unwanted = [one for one in groups if 32 <= crc_bit(one) < 64][:2]
    beyond = next(one for one in groups if 64 <= crc_bit(one) < 96)
    dut = Rig(bench, NETLIST % "filter_bits = 8;" + FILTER, wire=True)
    to = [own, other, b"\xff" * 6, wanted, unwanted, beyond, own]
    frames = [address + noise(100, i)[6:] for i, address in enumerate(to)]
    table = [write(7, 0x0203), write(8, 0x04050607), write(9 + crc_bit(wanted) // 32, 1 << crc_bit(wanted) % 32)]
    script = [*start()[:-1], *table, write(2, 10 if on else 2), read(0, 20000), "20000 read 4 0x11c", "20000 read 4 0x120"]
    replies = play(dut, frames, script)
    assert [a.data for a in replies[-3:]] == ([0x1000 + 8 * 4, 1, 2] if on else [0x1000 + 8 * 7, 0, 0])
    assert dut.last.stat("dut", "filtered") == (3 if on else 0)


def test_a_filter_needs_an_address(bench: Bench) -> None:
    refused = bench.refuse("import mac_types; instance dut : mac_receive { producer_offset = 0; buffer_producer_offset = 4; filter_bits = 8; }; instance s : source; s.out -> dut.wire;")
    assert "a filter needs mac_state and the two words of the station's address" in refused


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("buffer_round = 12;", "buffer_round must be a power of two"),
        ("ring_size = 100 B;", "ring_size must be a power of two that holds at least two descriptors, not 100 B"),
        ("at_address = 4;", "at_address = 4 is outside a descriptor of 8 B"),
    ],
)
def test_layouts_that_cannot_work_are_refused(bench: Bench, body: str, words: str) -> None:
    dut = f"instance dut : mac_receive {{ producer_offset = 0; buffer_producer_offset = 4; {body} }};"
    assert words in bench.refuse(dut + "instance s : source; s.out -> dut.wire;")


SLOW = "slow.first_access = 60;\nslow.next_access = 60;\nslow.queue = 1;\n"


@seldom
def test_memory_that_is_too_slow_loses_frames_and_says_so(bench: Bench) -> None:
    """Each request takes 60 cycles: frames at line rate overrun the queue; what is kept is whole, and the attention bit can be cleared."""
    body = "state_offset = 0; attention_bit = 0x100; max_frame = 600; buffer = 2048;"
    netlist = NETLIST.replace('bank.value["r0"] -> dut.producer', 'bank.value["r7"] -> dut.producer').replace('bank.value["r2"]', 'bank.value["r0"]').replace("producer_offset = 0", "producer_offset = 28", 1)
    dut = Rig(bench, netlist % body + SLOW, wire=True)
    frames = [noise(500, i) for i in range(12)]
    begin = [write(3, 0x4000), write(4, 0x8000), write(5, 0x4000), write(6, 0x4000), write(7, 0x1000), write(1, 0x10F8), write(0, 2)]
    script = [*begin, read(0, 60000), write(0, 2), read(0, 61000), *load(0x4000, 500, 61000)]
    replies = play(dut, frames, script, 80000)
    lost = dut.last.stat("dut", "overruns")
    assert lost > 3 and dut.last.stat("dut", "frames") == 12 - lost == 12 - dut.last.stat("dut", "frames_dropped")
    assert (replies[7].data, replies[9].data) == (0x102, 2) and joined(replies, 500) == frames[0]


@seldom
def test_who_waits_until_there_is_room_loses_nothing(bench: Bench) -> None:
    """The same memory, and a wire that waits until there is room for one more of the longest frames."""
    dut = Rig(bench, NETLIST % "max_frame = 600; buffer = 2048;" + SLOW, wire=True)
    play(dut, [noise(500, i) for i in range(12)], start(), 80000, ethernet__mode="fast")
    assert dut.last.counted("dut") == {"frames": 12, "bytes": 12 * 504}


@seldom
def test_more_short_frames_than_the_queue_has_places_for(bench: Bench) -> None:
    """A hundred and twenty-eight, although the queue has room for the bytes of twice as many; what comes in addition leaves no trace."""
    netlist = NETLIST.replace("ring_size = 256", "ring_size = 2048")
    dut = Rig(bench, netlist % "buffer = 16384;" + SLOW, wire=True)
    frames = [noise(60, i) for i in range(170)]
    script = [*start(0x17F8), *[f"190000 read 8 {0x4000 + 64 * k:#x}" for k in range(150)]]
    replies = play(dut, frames, script, 200000)
    stored, lost = dut.last.stat("dut", "frames"), dut.last.stat("dut", "overruns")
    assert lost > 10 and stored + lost == 170 and dut.last.stat("dut", "frames_dropped") == lost
    updates = [address for _, _, address in happened(dut.last, "won") if address in (0x114, 0x118)]
    assert len(updates) <= 4, "kept frames are counted when there are 64, and when there is time"
    heads = [int.from_bytes(one[:8], "big") for one in frames]
    found = [heads.index(a.data) for a in replies[-150:][:stored]]
    assert found[:128] == list(range(128)) and found == sorted(set(found)) and all(a.data == 0 for a in replies[-150:][stored:])


@seldom
def test_an_alarm_is_reported_once_while_frames_are_counted(bench: Bench) -> None:
    """Registers that reply after 230 cycles: meanwhile bad frames are counted in memory, and no reply is lost."""
    body = "state_offset = 8; attention_bit = 0x100; max_frame = 600; buffer = 2048;"
    netlist = NETLIST.replace('dut.registers -> bank.in["assist"];', "instance way : memory_delay { latency = 230; };\ndut.registers -> way.in;\nway.out -> bank.in[\"assist\"];")
    dut = Rig(bench, netlist % body + SLOW, wire=True)
    play(dut, [noise(500, i) for i in range(30)], start(), 200000, ethernet__faults="fcs/2")
    stored, lost = dut.last.stat("dut", "frames"), dut.last.stat("dut", "overruns")
    assert stored + dut.last.stat("dut", "frames_dropped") == 30
    assert len(start()) + 2 * stored < dut.last.stat("bank", "writes") <= len(start()) + 2 * stored + lost


@seldom
def test_ready_says_whether_one_more_of_the_longest_frames_surely_fits(bench: Bench) -> None:
    """Three of them, and a gap of eight bytes, have to fit into the buffer, and two descriptors into the ring; wherever the pointers are."""
    extra = "instance shown : monitor;\ninstance end : sink;\ndut.ready -> shown.in;\nshown.out -> end.in;\n"
    dut = Rig(bench, NETLIST % "" + extra, wire=True)
    base, limit, need = 0x4000, 0x8000, 3 * 1522
    script, right = [write(3, base), write(4, limit), write(0, 0x1000), write(1, 0x10F8), write(2, 2)], []

    def look(now: bool, *registers: str) -> None:
        at = 100 + 100 * len(right)
        script.extend(f"{at} {line.split(' ', 1)[1]}" for line in registers)
        right.append(now)

    look(False, write(5, base + 0x100), write(6, base + 0x100 + need + 7))
    look(True, write(6, base + 0x100 + need + 8))
    look(True, write(5, limit - 0x100), write(6, base + need + 8 - 0x100))
    look(False, write(6, base + need + 7 - 0x100))
    look(True, write(5, base), write(6, base), write(1, 0x1018))
    look(False, write(1, 0x1010))
    look(True, write(0, 0x10F0), write(1, 0x1008))
    look(False, write(1, 0x1000))
    look(True, write(1, 0x1008))
    look(True, write(3, 0), write(4, 0x4000), write(5, 0), write(6, 0))
    look(False, write(5, 0x100), write(6, 0x100 + need + 7))
    look(True, write(6, 0x100 + need + 8))
    look(False, write(2, 0))
    dut.run(script, 1600, {"quiet.count": 0, "shown.record": "ready"})
    shown = {one.cycle: one.value in ("1", "true") for one in read_monitor(dut.last.directory / "ready")}
    assert [shown[190 + 100 * k] for k in range(len(right))] == right


def test_in_a_closed_loop_nothing_is_dropped(bench: Bench) -> None:
    """The wire waits while the ring is full; freed descriptors let it go on."""
    dut = rig(bench)
    frames = [noise(300 + i, i) for i in range(20)]
    script = [*start(0x1040), read(0, 8000), write(1, 0x10C0), write(6, 0x4600), read(0, 20000)]
    replies = play(dut, frames, script, 25000, ethernet__mode="fast")
    assert dut.last.stat("dut", "frames_dropped") == 0
    assert 0x1000 < replies[7].data < 0x1040 and replies[-1].data > 0x1040

@seldom
def test_what_comes_while_receiving_is_off_is_ignored_not_dropped(bench: Bench) -> None:
    """It is on for a while only, among frames that follow each other."""
    extra = "instance shown : monitor;\ninstance end : sink;\ndut.ignored -> shown.in;\nshown.out -> end.in;\n"
    dut = Rig(bench, NETLIST % "" + extra, wire=True)
    script = [*start(), write(2, 4, 800)]
    play(dut, [noise(100 + i, i) for i in range(12)], script, 3000, shown__record="ignored")
    kept, ignored = dut.last.stat("dut", "frames"), dut.last.stat("dut", "ignored")
    assert kept > 2 and ignored > 2 and kept + ignored == 12 and dut.last.stat("dut", "frames_dropped") == 0
    assert [int(seen.value, 0) for seen in read_monitor(dut.last.directory / "ignored")][-1] == ignored
