"""cable: beats leave at the pace of the line and arrive a latency later, between any two clocks; faults, captures."""

import math
import re
import zlib
from dataclasses import dataclass
from fractions import Fraction

import pytest

from harness.net import packets
from tests.modules.assists import LONGEST, TOO_LONG, noise, pcap
from tests.modules.harness import Bench, Ran, collect, happened, read_monitor
from tests.sample import sampled, seldom

NETLIST = """
import ethernet_types;
clock sender_clock = {sender} MHz;
clock receiver_clock = {receiver} MHz;
instance player : ethernet on sender_clock {{ rate = {rate}; max_frame = 9000; }};
instance silent : source on sender_clock;
instance waiting : queue on sender_clock {{ depth = 1024; }};
instance enters : monitor on sender_clock;
instance dut : cable {{ rate = {rate}; {more} }};
instance leaves : monitor on receiver_clock;
instance k : sink on receiver_clock;
silent.out -> player.from_device;
player.to_device -> waiting.in;
waiting.out -> enters.in;
enters.out -> dut.in;
dut.out -> leaves.in;
leaves.out -> k.in;
"""
FRAMES = [noise(size, size) for size in (60, 60, 61, 100, 333, 1514, 67, 68, 60)]
GIGABIT = "1 Gb/s"


@dataclass
class Beat:
    cycle: int
    data: bytes
    start: bool
    end: bool
    error: bool


def beats(path) -> list[Beat]:
    """The beats that were taken at a monitor."""
    seen = []
    for row in read_monitor(path):
        if not row.transferred:
            continue
        word = dict(re.findall(r"(\w+)=(\w+)", row.value or ""))
        data = int(word["bytes"], 0).to_bytes(8, "little")[: int(word["count"], 0)]
        seen.append(Beat(row.cycle, data, *(word[name] in ("1", "true") for name in ("start", "end", "error"))))
    return seen


def frames(seen: list[Beat]) -> list[bytes]:
    """Frames with FCS."""
    whole, data = [], b""
    for beat in seen:
        data = beat.data if beat.start else data + beat.data
        if beat.end:
            whole.append(data)
    return whole


def with_fcs(frame: bytes) -> bytes:
    padded = frame.ljust(60, b"\0")
    return padded + zlib.crc32(padded).to_bytes(4, "little")


def cross(bench: Bench, sent: list[bytes] = FRAMES, cycles: int = 30000, sender: int = 100, receiver: int = 100, rate: str = GIGABIT,
          latency: str = "500 ns", more: str = "", extra: str = "", ok: bool = True, **settings: object) -> Ran:  # fmt: skip
    netlist = extra + NETLIST.format(sender=sender, receiver=receiver, rate=rate, more=f"latency = {latency}; {more}")
    values = {"player.input": "in", "silent.count": 0, "enters.record": "entered", "leaves.record": "left", "dut.capture": "capture"}
    values |= {key.replace("_", ".", 1): value for key, value in settings.items()}
    return bench.run(bench.build(netlist), cycles, values, files={"in": pcap(sent)}, ok=ok)


def arrivals(entered: list[Beat], sender: int, receiver: int, byte: Fraction, latency: Fraction) -> list[int]:
    """The receiver's cycles in which beats must come, by what the page of the module says.  Times are in nanoseconds."""
    line, cycles = Fraction(0), []
    for beat in entered:
        taken = Fraction(1000 * beat.cycle, sender)
        if beat.start:
            line = (taken if taken >= line + Fraction(1000, sender) else line) + 8 * byte
        line += len(beat.data) * byte
        arrival = math.ceil((max(line, taken) + latency) * receiver / 1000)
        cycles.append(max(arrival, cycles[-1] + 1) if cycles else arrival)  # one beat comes in a cycle
        if beat.end:
            line += 12 * byte
    return cycles


CLOCKS = [(100, 100), (100, 88), (88, 100), (100, 25), (66, 125), (200, 50)]


@pytest.mark.parametrize(
    ("clocks", "latency"), sampled([(clocks, latency) for clocks in CLOCKS for latency in ("0 ns", "5 ns", "500 ns", "50 us")], every=5, first=1)
)
def test_beats_arrive_a_latency_after_their_last_byte(bench: Bench, clocks: tuple[int, int], latency: str) -> None:
    ran = cross(bench, sender=clocks[0], receiver=clocks[1], latency=latency)
    entered, left = beats(ran.directory / "entered"), beats(ran.directory / "left")
    number, unit = latency.split()
    exact = arrivals(entered, *clocks, Fraction(8), Fraction(number) * (1000 if unit == "us" else 1))
    assert [beat.cycle for beat in left] == exact
    assert frames(left) == [with_fcs(frame) for frame in FRAMES]
    assert ran.counted("dut") == {"frames": len(FRAMES), "bytes": sum(max(len(frame), 60) for frame in FRAMES)}


@seldom
def test_frames_that_wait_leave_at_line_rate(bench: Bench) -> None:
    """What waits at a cable is distant by its bytes on the wire, and the capture has the times at which it has come."""
    ran = cross(bench, [noise(60, n) for n in range(200)])
    captured = list(packets.read(ran.directory / "capture"))
    assert {b.time - a.time for a, b in zip(captured, captured[1:])} == {672}
    left = [beat.cycle for beat in beats(ran.directory / "left") if beat.end]
    assert [math.ceil(packet.time / 10) for packet in captured] == left
    assert [packet.data for packet in captured] == [noise(60, n) for n in range(200)]


@seldom
@pytest.mark.parametrize(("rate", "clock"), [("10 Gb/s", 200), ("100 Mb/s", 100), ("40 Gb/s", 1000)])
def test_rates(bench: Bench, rate: str, clock: int) -> None:
    ran = cross(bench, sender=clock, receiver=clock, rate=rate, cycles=60000, latency="3 us")
    entered = beats(ran.directory / "entered")
    byte = Fraction(8000, int(rate.split()[0]) * (1000 if "G" in rate else 1))
    assert [beat.cycle for beat in beats(ran.directory / "left")] == arrivals(entered, clock, clock, byte, Fraction(3000))
    assert frames(entered) == [with_fcs(frame) for frame in FRAMES]


def test_faults(bench: Bench) -> None:
    """What arrives differs in one bit, or in its mark, and only there."""
    ran = cross(bench, FRAMES, dut_faults="fcs@2,error/4")
    left = beats(ran.directory / "left")
    right = [with_fcs(frame) for frame in FRAMES]
    differ = [n for n, (one, other) in enumerate(zip(frames(left), right, strict=True), 1) if one != other]
    assert differ == [2] and bin(int.from_bytes(frames(left)[1]) ^ int.from_bytes(right[1])).count("1") == 1
    assert [n for n, beat in enumerate((beat for beat in left if beat.end), 1) if beat.error] == [4, 8]
    assert ran.counted("dut") | {"frames": 0, "bytes": 0} == {"frames": 0, "bytes": 0, "faulty_fcs": 1, "faulty_error": 2}


def test_faults_by_chance_are_the_same_in_each_run(bench: Bench) -> None:
    sent = [noise(60, n) for n in range(300)]
    once, again = (cross(bench, sent, dut_faults="fcs%10") for _ in range(2))
    assert once.counted("dut") == again.counted("dut") and 15 < once.stat("dut", "faulty_fcs") < 50


def test_a_rule_that_is_none(bench: Bench) -> None:
    ran = cross(bench, dut_faults="fcs@1,short/3", ok=False)
    assert "dut: faults: 'short/3' is not a rule; rules are KIND@N, KIND/N or KIND%P, kinds fcs and error" in ran.err


@seldom
def test_lengths(bench: Bench) -> None:
    """Frames that are too long are carried and counted; the longest ones are not."""
    ran = cross(bench, [*LONGEST, *TOO_LONG], 200000)
    assert ran.stat("dut", "damaged") == len(TOO_LONG) and ran.stat("dut", "frames") == len(LONGEST) + len(TOO_LONG)
    assert frames(beats(ran.directory / "left")) == [with_fcs(frame) for frame in [*LONGEST, *TOO_LONG]]


def test_events_are_at_the_sender(bench: Bench) -> None:
    """When the first bytes and when all bytes of a frame were sent, which have arrived later."""
    ran = cross(bench, extra=collect("dut", "entering", "entered(length)"))
    entered = beats(ran.directory / "entered")
    assert happened(ran, "entering") == [(beat.cycle,) for beat in entered if beat.start]
    assert happened(ran, "entered") == [(beat.cycle, len(frame)) for beat, frame in zip((one for one in entered if one.end), frames(entered), strict=True)]


def test_a_sender_that_pauses(bench: Bench) -> None:
    """A frame whose next beat does not come in time arrives with an error."""
    script = ["0 {bytes=1 count=8 start=true}", "100 {bytes=2 count=8 end=true}", "200 {bytes=1 count=8 start=true}", "200 {bytes=2 count=4 end=true}"]
    netlist = """
import ethernet_types;
clock clk = 100 MHz;
instance s : source;
instance dut : cable;
instance leaves : monitor;
instance k : sink;
s.out -> dut.in : wire_beat;
dut.out -> leaves.in;
leaves.out -> k.in;
"""
    ran = bench.run(bench.build(netlist), 1000, {"s.script": "script", "leaves.record": "left"}, files={"script": "\n".join(script)})
    assert [beat.error for beat in beats(ran.directory / "left")] == [False, True, False, False]
    assert ran.counted("dut") == {"frames": 2, "bytes": 20, "damaged": 2}


def test_a_receiver_that_is_too_slow(bench: Bench) -> None:
    ran = cross(bench, [noise(1514)] * 4, k_ready=0.01, ok=False)
    assert re.search(r"dut: flying is full: \d+ items are on their way, and the oldest is not taken", ran.err)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("latency = 1 us; preamble = 0; gap = 7;", "preamble and gap have at least 8 bytes together"),
        ("latency = 1 us; max_frame = 10000;", "`max_frame` is 10000, outside its range, 64 to 9216"),
        ("latency = 0 ns - 1 ns;", "`latency` is -1 ns, outside its range, at least 0 s"),
    ],
)
def test_what_is_refused(bench: Bench, wrong: str, said: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(said)):
        bench.build(NETLIST.format(sender=100, receiver=100, rate=GIGABIT, more=wrong))
