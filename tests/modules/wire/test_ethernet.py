"""ethernet: byte-accurate pace both ways, FCS, packet files in and out, rates, stamps, keeping step."""

import math
import re
import zlib

import pytest

from harness.net import packets
from tests.modules.assists import LONGEST, TOO_LONG, beats, noise, pcap, tagged
from tests.modules.harness import Bench, collect, happened, read_items
from tests.sample import sampled, seldom

NETLIST = """
import ethernet_types;
clock clk = %s;
instance dut : ethernet;
instance far : ethernet;
instance heard : sink;
instance between : queue { depth = 512; };
dut.to_device -> between.in;
between.out -> far.from_device;
far.to_device -> dut.from_device;
dut.offered_beats -> heard.in;
"""
FCS = 4


def play(bench: Bench, frames: list[bytes], cycles: int = 40000, clock: str = "100 MHz", step: int = 1000000, ok: bool = True, **settings: object):
    values = {"dut.input": "in", "far.output": "out", "heard.record": "heard"} | {f"dut.{k}": v for k, v in settings.items()}
    ran = bench.run(bench.build(NETLIST % clock), cycles, values, files={"in": pcap(frames, step)}, ok=ok)
    return ran, list(packets.read(ran.directory / "out")) if ok else []


@seldom
@pytest.mark.parametrize("clock", sampled(["100 MHz", "250 MHz", "99 MHz"], 3, 2))
def test_frames_cross_at_line_rate(bench: Bench, clock: str) -> None:
    """What one link plays another one takes; the distance of two frames is their bytes on the wire, to the nanosecond or so."""
    frames = [noise(size, size) for size in (14, 60, 61, 100, 333, 1514, 60, 60)]
    ran, seen = play(bench, frames, 100000, clock)
    assert [p.data for p in seen] == [one.ljust(60, b"\0") for one in frames]
    assert ran.stat("far", "damaged_out") == 0
    gaps = [b.time - a.time for a, b in zip(seen, seen[1:])]
    assert all(abs(gap - 8 * (max(len(one), 60) + 24)) <= 16 for gap, one in zip(gaps, frames[1:], strict=True))


def test_beats_carry_the_frame_and_its_fcs(bench: Bench) -> None:
    one = noise(70)
    ran, _ = play(bench, [one])
    fields = [dict(word.split("=") for word in text.strip("{}").split()) for _, text in read_items(ran.directory / "heard")]
    data = b"".join(int(f["bytes"], 0).to_bytes(8, "little")[: int(f["count"], 0)] for f in fields)
    assert data == one + zlib.crc32(one).to_bytes(FCS, "little")


def test_a_minimum_frame_takes_84_byte_times(bench: Bench) -> None:
    ran, seen = play(bench, [noise(60, i) for i in range(30)])
    assert {b.time - a.time for a, b in zip(seen, seen[1:])} == {672}
    assert ran.counted("dut") == {"frames_in": 30, "bytes_in": 30 * 60}
    assert ran.counted("far") == {"frames_out": 30, "bytes_out": 30 * 60}
    # Offered when all of a beat has come: behind the preamble, from the first frame on.
    starts = [cycle for cycle, text in read_items(ran.directory / "heard") if re.search("start=(1|true)", text)]
    assert starts == [math.ceil((128 + 672 * i) / 10) for i in range(30)]


@seldom
def test_the_longest_frames(bench: Bench) -> None:
    """A VLAN tag makes a frame longer by its four bytes: what is played, and what comes."""
    ran, seen = play(bench, LONGEST, 100000)
    assert [p.data for p in seen] == LONGEST and ran.stat("far", "damaged_out") == 0
    for frame in TOO_LONG:
        fits = "1518 fit" if len(frame) > 1518 else "1514 fit without a VLAN tag"
        ran, _ = play(bench, [noise(60), frame], ok=False)
        assert f'"in", packet 2: it has {len(frame)} bytes; at most {fits}' in ran.err
    wide = NETLIST.replace("instance dut : ethernet;", "instance dut : ethernet { max_frame = 2000; };")
    for extra, frames, damaged in (("", [*LONGEST, *TOO_LONG], len(TOO_LONG)), ("far.vlan_tag = 0;", [noise(1514), tagged(1514), tagged(1515)], 1)):
        ran = bench.run(bench.build((wide + extra) % "100 MHz"), 150000, {"dut.input": "in"}, files={"in": pcap(frames)})
        assert (ran.stat("far", "frames_out"), ran.stat("far", "damaged_out")) == (len(frames), damaged)


def test_an_offered_rate(bench: Bench) -> None:
    _, seen = play(bench, [noise(60, i) for i in range(20)], mode="rate", offered="100 Mb/s")
    gaps = [b.time - a.time for a, b in zip(seen, seen[1:])]
    assert all(abs(gap - 6720) <= 10 for gap in gaps)


def test_recorded_stamps(bench: Bench) -> None:
    _, seen = play(bench, [noise(60, i) for i in range(10)], step=3000, mode="timed")
    assert all(abs(b.time - a.time - 3000) <= 10 for a, b in zip(seen, seen[1:]))


def test_recorded_stamps_do_not_run_backwards(bench: Bench) -> None:
    whole = pcap([noise(60, 1), noise(60, 2)])
    turned = whole[:24] + whole[100:] + whole[24:100]
    ran = bench.run(bench.build(NETLIST % "100 MHz"), 5000, {"dut.input": "in", "dut.mode": "timed"}, files={"in": turned}, ok=False)
    assert "in: the time stamps run backwards at frame 2" in ran.err


STEP = """
import ethernet_types;
clock clk = 100 MHz;
instance dut : ethernet;
instance far : ethernet;
instance other : source { generate = <<< return (uint32_t)(index / 1000); >>>; };
instance device : source { generate = <<< return index >= 500 && (index < 4000 || index >= 7000); >>>; };
instance heard : sink;
instance taken : sink;
instance over : sink;
instance between : queue { depth = 512; };
dut.to_device -> between.in;
between.out -> far.from_device;
far.to_device -> dut.from_device;
other.out -> dut.other_count : uint32;
device.out -> dut.ready : bool;
dut.offered_beats -> heard.in;
far.taken_beats -> taken.in;
dut.done -> over.in;
instance who : source { count = 3; };
who.out -> dut.next : uint32;
""" + collect("dut", "playing(length)", "played(length)")


def begun(ran) -> list[int]:
    """The cycles in which the first beats of frames were there, when their preambles began 13 cycles before."""
    return [cycle - 13 for cycle, text in read_items(ran.directory / "heard") if re.search("start=(1|true)", text)]


@pytest.mark.parametrize(("waits", "third"), [(True, 7000), (False, 6000)])
def test_frames_keep_step_and_wait_for_the_device(bench: Bench, waits: bool, third: int) -> None:
    """Two go for three of the other end, which begins one in 1000 cycles; the device is ready from 500 on, and not from 4000 to 7000."""
    values = {"heard.record": "heard", "taken.record": "taken", "over.record": "over", "dut.payload": 18, "dut.count": 6, "dut.ratio_in": 2}
    ran = bench.run(bench.build(STEP), 8000, values | {"dut.ratio_out": 3, "dut.wait_for_ready": waits})
    assert [at - right for at, right in zip(begun(ran), (500, 567, 3000, 3067, third, third + 67), strict=True)] == pytest.approx([0] * 6, abs=2)
    beats = [[text for _, text in read_items(ran.directory / name)] for name in ("heard", "taken")]
    assert beats[0] == beats[1] and len(beats[0]) == 6 * 8 and ran.stat("far", "damaged_out") == 0
    assert [length for _, length in happened(ran, "played")] == [length for _, length in happened(ran, "playing")] == [64] * 6
    assert [cycle for cycle, _ in happened(ran, "playing")] == pytest.approx(begun(ran), abs=2)
    done = [int(value in ("1", "true")) for _, value in read_items(ran.directory / "over")]
    assert done == sorted(done) and abs(done.index(1) - third - 67 - 72 / 8 * 6.4) < 10


@pytest.mark.parametrize(("mode", "starts"), [("timed", [500, 2500, 4500]), ("rate", [500, 3860, 7220]), ("correlated", [500, 567, 7000])])
def test_only_a_play_without_times_waits_for_the_device(bench: Bench, mode: str, starts: list[int]) -> None:
    """Stamps and rates count from the instant at which it is ready for the first time, in cycle 500; it is not from 4000 to 7000."""
    frames = [noise(60, i) for i in range(3)]
    values = {"heard.record": "heard", "dut.input": "in", "dut.mode": mode, "dut.wait_for_ready": True, "dut.offered": "20 Mb/s", "who.script": "who"}
    ran = bench.run(bench.build(STEP), 8000, values, files={"in": pcap(frames, 20000), "who": "0 0\n0 1\n4100 2\n"})
    assert begun(ran) == pytest.approx(starts, abs=2)


def test_nobody_plays_who_has_no_part_in_a_turn(bench: Bench) -> None:
    ran = bench.run(bench.build(STEP), 2000, {"over.record": "over", "dut.payload": 18, "dut.ratio_in": 0})
    assert ran.stat("dut", "frames_in") == 0 and read_items(ran.directory / "over")[0][1] in ("1", "true")


def test_a_wrong_fcs_is_found(bench: Bench) -> None:
    ran, _ = play(bench, [noise(60, i) for i in range(10)], faults="fcs/5")
    assert ran.stat("far", "damaged_out") == 2


TAKEN = """
import ethernet_types;
clock clk = 100 MHz;
instance device : source;
instance dut : ethernet;
instance quiet : sink;
instance taken : sink;
device.out -> dut.from_device : wire_beat(64);
dut.to_device -> quiet.in;
dut.taken_beats -> taken.in;
""" + collect("dut", "arriving", "arrived(length)")


@seldom
def test_a_frame_is_damaged_that_does_not_come_at_the_pace_of_the_wire(bench: Bench) -> None:
    """Its FCS is right: it has a gap, two starts, or none; the others around are whole, however long the wire was idle before."""
    whole = noise(60)
    frame = whole + zlib.crc32(whole).to_bytes(FCS, "little")
    script = beats(frame, 0) + beats(frame, 200, late=40) + beats(frame, 600, start=(0, 3)) + beats(frame, 1000, start=()) + beats(frame, 1000)
    ran = bench.run(bench.build(TAKEN), 2000, {"device.script": "s", "dut.output": "out", "taken.record": "taken"}, files={"s": "".join(script)})
    assert ran.counted("dut") == {"frames_out": 5, "bytes_out": 300, "damaged_out": 3}
    assert [length for _, length in happened(ran, "arrived")] == [64] * 5
    assert all(first < last for (first,), (last, _) in zip(happened(ran, "arriving"), happened(ran, "arrived"), strict=True))
    ends = [re.search(r"error=(\w+)", text) for _, text in read_items(ran.directory / "taken") if re.search(r"end=(1|true)", text)]
    assert [end[1] in ("1", "true") for end in ends if end] == [False, True, True, True, False]
    assert [p.time for p in packets.read(ran.directory / "out")] == [586, 2576, 6576, 10576, 11248], "ns, of the last byte"


def heard(ran) -> list[tuple[bytes, bool]]:
    """Bytes, and whether the last beat says that the frame is faulty, of what a checker at `offered_beats` sees."""
    frames: list[tuple[bytes, bool]] = []
    for _, text in read_items(ran.directory / "heard"):
        f = dict(word.split("=") for word in text.strip("{}").split())
        data, faulty = int(f["bytes"], 0).to_bytes(8, "little")[: int(f["count"], 0)], f["error"] in ("1", "true")
        frames = [*frames, (data, False)] if f["start"] in ("1", "true") else [*frames[:-1], (frames[-1][0] + data, faulty)]
    return frames


FAULTS = {"fcs": (104, False), "short": (40, True), "fragment": (40, False), "long": (2000, True), "jabber": (2000, False), "error": (104, True)}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_faulty_frame_has_the_fault_it_should_have(bench: Bench, kind: str) -> None:
    """Length and FCS of the second of three frames, what the others are, who counts it, and what a checker is told."""
    frames = [noise(100, i) for i in range(3)]
    ran, seen = play(bench, frames, faults=f"{kind}@2")
    played = heard(ran)
    length, right = FAULTS[kind]
    assert [faulty for _, faulty in played] == [False, True, False]
    assert [data[:-4] for data, _ in played[::2]] == frames[::2]
    data = played[1][0]
    assert len(data) == length and data[:36] == frames[1][:36]
    assert (zlib.crc32(data[:-4]).to_bytes(4, "little") == data[-4:]) == right
    assert {name: ran.stat("dut", f"faulty_{name}") for name in FAULTS} == {name: int(name == kind) for name in FAULTS}
    assert ran.stat("far", "damaged_out") == 1 and len(seen) == 3


def test_faults_strike_by_number_in_turn_and_by_chance(bench: Bench) -> None:
    frames = [noise(60, i) for i in range(200)]

    def struck(faults: str, seed: int = 1) -> list[int]:
        values = {"dut.input": "in", "heard.record": "heard", "dut.faults": faults}
        ran = bench.run(bench.build(NETLIST % "100 MHz"), 15000, values, files={"in": pcap(frames)}, seed=seed)
        return [k + 1 for k, (_, faulty) in enumerate(heard(ran)) if faulty]

    assert struck("fcs@3, short@7,fcs@200") == [3, 7, 200]
    assert struck("fcs/50,error/80") == [50, 80, 100, 150, 160, 200]
    chance = struck("fcs%10,short%5")
    assert 10 <= len(chance) <= 50 and chance == struck("fcs%10,short%5") != struck("fcs%10,short%5", seed=2)
    assert struck("fcs%0") == [] and struck("short%100") == list(range(1, 201))


@pytest.mark.parametrize("rule", ["runt@1", "fcs", "fcs@", "fcs@0", "fcs@1.5", "fcs/x", "fcs%101", "fcs%-1", "fcs@1,short@2z"])
def test_rules_that_make_no_sense_are_refused(bench: Bench, rule: str) -> None:
    ran, _ = play(bench, [noise(60)], ok=False, faults=rule)
    assert f"faults: '{rule.split(',')[-1]}' is not a rule; rules are KIND@N, KIND/N or KIND%P" in ran.err


@pytest.mark.parametrize(("settings", "words"), [({"short_length": "64 B"}, "short frames have 8 to 63 bytes, not 64"), ({"long_length": "1522 B"}, "long frames have 1523 to 9216 bytes, not 1522"), ({"short_length": "7 B"}, "short frames have 8 to 63 bytes, not 7"), ({"long_length": "9217 B"}, "long frames have 1523 to 9216 bytes, not 9217")])
def test_impossible_lengths_are_refused(bench: Bench, settings: dict, words: str) -> None:
    ran, _ = play(bench, [noise(60)], ok=False, faults="short@1", **settings)
    assert words in ran.err


REFUSED = [
    ({"offered": "0 b/s"}, "the offered rate must be more than 0"),
    ({"payload": 17}, "generated frames have 18 to 1472 bytes of payload, not 17"),
    ({"payload": 1473}, "generated frames have 18 to 1472 bytes of payload, not 1473"),
    ({"payload": 18, "input": "", "mode": "timed"}, "generated frames carry no time stamps: mode timed needs a packet file"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED)
def test_impossible_traffic_is_refused(bench: Bench, settings: dict, words: str) -> None:
    ran, _ = play(bench, [noise(60)], ok=False, **settings)
    assert words in ran.err


def test_the_longest_frames_are_generated(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST % "100 MHz"), 8000, {"dut.payload": 1472, "dut.count": 5, "far.output": "out"})
    assert [len(p.data) for p in packets.read(ran.directory / "out")] == [1514] * 5
    assert ran.counted("dut") == {"frames_in": 5, "bytes_in": 5 * 1514}


def test_generated_frames_are_udp(bench: Bench) -> None:
    values = {"dut.payload": 18, "dut.count": 5, "far.output": "out"}
    ran = bench.run(bench.build(NETLIST % "100 MHz"), 5000, values)
    seen = list(packets.read(ran.directory / "out"))
    assert len(seen) == 5 and all(p.data[42:46] == b"SPNC" for p in seen)
    assert [int.from_bytes(p.data[50:58], "big") for p in seen] == list(range(5))


def test_an_unknown_mode_is_refused(bench: Bench) -> None:
    ran, _ = play(bench, [noise(60)], ok=False, mode="quick")
    assert "fast, rate, timed or correlated" in ran.err


TOLD = NETLIST % "100 MHz" + "instance who : source; who.out -> dut.next : uint32;\ninstance turns : sink;\ndut.own_count -> turns.in;\n"


@seldom
def test_frames_go_in_the_order_that_next_says(bench: Bench) -> None:
    """Whoever is at `next` names frames of the packet file; each is taken when the one before has gone."""
    frames = [noise(60 + i, i) for i in range(4)]
    order = [2, 0, 3, 1]
    script = "".join(f"{10000 * i} {number}\n" for i, number in enumerate(order)) + f"40000 {0xFFFFFFFF}\n"
    values = {"dut.input": "in", "far.output": "out", "dut.mode": "correlated", "who.script": "who"}
    ran = bench.run(bench.build(TOLD), 60000, values, files={"in": pcap(frames, 0), "who": script})
    seen = list(packets.read(ran.directory / "out"))
    assert [p.data for p in seen] == [frames[number] for number in order]
    assert all(abs(b.time - a.time - 100000) < 100 for a, b in zip(seen, seen[1:]))
    # Told at once, they go back to back.
    script = "".join(f"0 {number}\n" for number in order)
    ran = bench.run(bench.build(TOLD), 60000, values, files={"in": pcap(frames, 0), "who": script})
    seen = list(packets.read(ran.directory / "out"))
    assert [p.data for p in seen] == [frames[number] for number in order]
    assert all(abs(b.time - a.time - 8 * (len(b.data) + 24)) <= 16 for a, b in zip(seen, seen[1:]))


def test_next_says_what_is_wrong(bench: Bench) -> None:
    values = {"dut.input": "in", "dut.mode": "correlated", "who.script": "who"}
    ran = bench.run(bench.build(TOLD), 5000, values, files={"in": pcap([noise(60)]), "who": "0 7\n"}, ok=False)
    assert '"in" has 1 packets, there is none with the number 8' in ran.err
    ran = bench.run(bench.build(NETLIST % "100 MHz"), 10, {"dut.input": "in", "dut.mode": "correlated"}, files={"in": pcap([noise(60)])}, ok=False)
    assert "mode correlated needs a packet file and, at port `next`, who says which frame is next" in ran.err
