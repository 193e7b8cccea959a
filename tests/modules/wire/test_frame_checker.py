"""frame_checker: what is equal passes and is measured; damage, repetition, disorder and uncounted loss stop the run."""

import pytest

from harness.net import udp
from tests.modules.assists import noise, pcap
from tests.modules.harness import MOST_CHECKED, Bench, collect, happened
from tests.sample import seldom

NETLIST = """
import ethernet_types;
clock clk = 100 MHz;
instance dut : frame_checker;
instance a : source;
instance b : source;
instance c : source;
instance d : source;
instance lost : source;
instance early : source;
instance ready[2] : source;
a.out -> dut.host_sent : wire_beat(512);
b.out -> dut.wire_sent : wire_beat(64);
c.out -> dut.wire_received : wire_beat(64);
d.out -> dut.host_received : wire_beat(512);
lost.out -> dut.drops : uint32;
early.out -> dut.ignored : uint32;
ready[0].out -> dut.done : bool;
ready[1].out -> dut.done : bool;
""" + collect("dut", "delivered(to_wire, length)")


def beats(frames: list[tuple[int, bytes]], width: int, faulty: bytes = b"") -> str:
    """Frames as a script; `faulty` is the one whose last beat says so."""
    lines = []
    for cycle, one in frames:
        for i in range(0, len(one), width):
            part = one[i : i + width]
            words = [int.from_bytes(part[k : k + 8], "little") for k in range(0, width, 8)]
            value = f"{words[0]:#x}" if width == 8 else "0x" + part[::-1].hex().rjust(2 * width, "0")
            lines.append(f"{cycle + i // width} {{bytes={value} count={len(part)} start={int(i == 0)} end={int(i + width >= len(one))} error={int(one == faulty and i + width >= len(one))}}} once\n")
    return "".join(lines)


FCS = b"\0\0\0\0"


def check(bench: Bench, sent: list, left: list, came: list, found: list, ok: bool = True, drops: int = 0, ignored: int = 0, faulty: bytes = b"", late: int = 0, netlist: str = NETLIST, until: int = 0, **settings: object):
    """Drops are counted and everybody is done when all frames have passed; or drops are from the start, and the run ends in cycle `until`."""
    files = {"a": beats(sent, 64), "b": beats([(at, one + FCS) for at, one in left], 8), "c": beats([(at, one + FCS) for at, one in came], 8, faulty + FCS), "d": beats(found, 64)}
    over = 1 + max((at for at, _ in [*sent, *left, *came, *found]), default=0)
    first = 0 if until else over
    files |= {"early": "".join(f"{i} {ignored} once\n" for i in range(first, over + 2000))}
    files |= {"lost": "".join(f"{i} {drops} once\n" for i in range(first + late, over + 2000)), "ready": "".join(f"{i} 1 once\n" for i in range(over, over + 2000))}
    values = {f"{name}.script": name for name in "abcd"} | {"lost.script": "lost", "early.script": "early", "ready[0].script": "ready", "ready[1].script": "ready", "dut.timeout": "2 us"}
    return bench.run(bench.build(netlist), until or over + 2500, values | {f"dut.{k}": v for k, v in settings.items()}, files=files, ok=ok)


FRAMES = [*(udp.frame(udp.HOST, udp.PEER, noise(18 + 7 * i, i)) for i in range(4)), noise(88, 4)]
FRAMES[3] = udp.tagged(FRAMES[3], 5)
IN = [(200 * i, one) for i, one in enumerate(FRAMES)]
OUT = [(200 * i + 150, one) for i, one in enumerate(FRAMES)]


def test_equal_frames_pass_and_are_measured(bench: Bench) -> None:
    """The first frame to be delivered is the warm-up."""
    ran = check(bench, IN, OUT, IN, [(at + 20, one) for at, one in OUT])
    assert {name: value for name, value in ran.counted("dut").items() if "latency" not in name} == {
        "sent": 5, "received": 5, "window": 8140, "window_sent": 4, "window_received": 5,
        "window_sent_payload": 25 + 32 + 39, "window_received_payload": 18 + 25 + 32 + 39,
    }  # fmt: skip
    for figure in "min", "median", "p99":
        assert 1450 <= ran.stat("dut", f"latency_sent_{figure}") <= 1600
        assert 1650 <= ran.stat("dut", f"latency_received_{figure}") <= 1800
    assert "delivered" in ran.err
    assert [told[1:] for told in happened(ran, "delivered")] == [(wire, len(one)) for one in FRAMES for wire in (1, 0)]


def bucket(ns: int) -> int:
    """What a histogram of 64 steps an octave makes of a latency."""
    shift = max(0, ns.bit_length() - 7)
    return ns >> shift << shift


def test_the_shortest_latency_the_median_and_the_99th_percentile(bench: Bench) -> None:
    """From the first beat in to the last one out; the frame that is the warm-up had the shortest of all."""
    late = [[20, 700, 150, 430, 280], [60, 90, 650, 120, 380]]
    out = [[(1000 * i + late[d][i], one) for i, one in enumerate(FRAMES)] for d in range(2)]
    sent, came = [(1000 * i, one) for i, one in enumerate(FRAMES)], [(1000 * i, one) for i, one in enumerate(FRAMES)]
    ran = check(bench, sent, out[0], came, out[1])
    for name, size, fcs, d in (("sent", 8, 4, 0), ("received", 64, 0, 1)):
        taken = sorted(10 * (late[d][i] + -(-(len(one) + fcs) // size) - 1) for i, one in enumerate(FRAMES) if d or i)
        found = [ran.stat("dut", f"latency_{name}_{figure}") for figure in ("min", "median", "p99")]
        assert found == [taken[0], bucket(taken[2]), bucket(taken[-1])]


def test_the_warm_up_counts_frames_of_both_directions(bench: Bench) -> None:
    """Of ten frames, sent and received in turn, the first six are not measured; three of the others go to the host last."""
    ran = check(bench, IN, OUT, IN, [(at + 20, one) for at, one in OUT], warmup=6)
    assert [ran.stat("dut", name) for name in ("window_sent", "window_received")] == [2, 2]


@pytest.mark.parametrize("side", ["wire", "host"])
def test_damage_names_the_byte(bench: Bench, side: str) -> None:
    bad = bytearray(FRAMES[2])
    bad[33] ^= 0x10
    out = [*OUT[:2], (OUT[2][0], bytes(bad)), *OUT[3:]]
    ran = check(bench, IN, out if side == "wire" else OUT, IN, out if side == "host" else OUT, ok=False)
    assert "byte 33" in ran.err and "damaged" in ran.err


def test_a_frame_may_end_within_a_beat_that_would_pass_the_longest(bench: Bench) -> None:
    """1514 bytes are 23 beats of the host and 42 bytes, where 64 do not fit; damage there is noticed like any other."""
    longest = NETLIST.replace("frame_checker;", "frame_checker { max_frame = 1518; };")
    frame = noise(1514, 9)
    there, later = [(0, frame)], [(300, frame)]
    ran = check(bench, there, later, there, later, netlist=longest)
    assert [ran.stat("dut", name) for name in ("sent", "received", "missing")] == [1, 1, 0]
    bad = [(300, frame[:1500] + bytes(14))]
    for left, found in ((bad, later), (later, bad)):
        assert "is damaged: byte 1500 of 1514" in check(bench, there, left, there, found, netlist=longest, ok=False).err
    # What is longer is told, whichever way it goes.
    long, early = [(300, noise(1530, 9))], [(0, noise(1530, 9))]
    for sides, words in (
        ((there, long, there, later), "a frame longer than 1518 bytes came out to the wire"),
        ((there, later, there, long), "a frame longer than 1518 bytes came out to the host"),
        ((early, [], there, later), "a frame from host to wire is longer than 1518 bytes"),
        ((there, later, early, []), "a frame from wire to host is longer than 1518 bytes"),
    ):
        assert words in check(bench, *sides, netlist=longest, ok=False).err


def test_a_repeated_frame(bench: Bench) -> None:
    out = [*OUT[:3], (OUT[3][0], FRAMES[1])]
    ran = check(bench, IN, out, IN, OUT, ok=False)
    assert "frame 4 from host to wire is the 2-th that went in once more, or too late" in ran.err


def test_faulty_frames_must_not_come_out_and_are_counted(bench: Bench) -> None:
    """The third frame from the wire is faulty, and longer than any frame may be: it is a drop, and the rest passes."""
    faulty = noise(2000, 99)
    came = [*IN[:2], (IN[2][0], faulty), (IN[2][0] + 300, FRAMES[2]), *[(at + 400, one) for at, one in IN[3:]]]
    found = [*OUT[:2], (OUT[2][0] + 300, FRAMES[2]), *[(at + 400, one) for at, one in OUT[3:]]]
    ran = check(bench, IN, OUT, came, found, drops=1, faulty=faulty)
    assert ran.stat("dut", "faulty") == 1 and ran.stat("dut", "received") == 5 and ran.stat("dut", "missing") == 0
    ran = check(bench, IN, OUT, came, found, drops=0, faulty=faulty, ok=False)
    assert "0 frames from wire to host are missing and 1 were faulty, and the device counted 0 drops and ignored 0" in ran.err
    came = [*IN[:2], (IN[2][0], FRAMES[2]), *IN[3:]]
    ran = check(bench, IN, OUT, came, OUT, faulty=FRAMES[2], ok=False)
    assert "frame 3 from wire to host never went in" in ran.err or "out of order" in ran.err


def test_disorder(bench: Bench) -> None:
    """Two frames are inside when the younger one comes out."""
    sent = [(0, FRAMES[0]), (20, FRAMES[1])]
    ran = check(bench, sent, [(150, FRAMES[1]), (200, FRAMES[0])], IN, OUT, ok=False)
    assert "out of order" in ran.err


def test_a_loss_that_was_counted_passes(bench: Bench) -> None:
    ran = check(bench, IN, OUT, IN, [*OUT[:2], *OUT[3:]], drops=1)
    assert ran.stat("dut", "missing") == 1 == ran.stat("dut", "counted_drops")


def test_a_drop_may_be_counted_a_little_later(bench: Bench) -> None:
    """The run goes on until the counter has it, and not beyond the timeout of 2 us."""
    over = 1 + max(at for at, _ in OUT)
    for late, end in (0, over + 11), (150, over + 151):  # the last of 12 beats; the count
        ran = check(bench, IN, OUT, IN, [*OUT[:2], *OUT[3:]], drops=1, late=late)
        assert ran.stat("dut", "missing") == 1 == ran.stat("dut", "counted_drops")
        assert ran.stats["run"]["cycles"]["clk"] == end
    ran = check(bench, IN, OUT, IN, OUT[:4], drops=1, late=250, ok=False)
    assert "1 frames from wire to host are missing and 0 were faulty, and the device counted 0 drops" in ran.err


def test_frames_that_were_ignored_are_no_drops(bench: Bench) -> None:
    """They came while the device did not receive: the end says so, and no drop hides them."""
    ran = check(bench, IN, OUT, IN, OUT[2:], ignored=2)
    assert ran.stat("dut", "missing") == 2 == ran.stat("dut", "counted_ignored") and ran.stat("dut", "counted_drops") == 0
    assert "but for 2 that came while the device did not receive" in ran.out + ran.err
    ran = check(bench, IN, OUT, IN, OUT[2:], ignored=1, ok=False)
    assert "and the device counted 0 drops and ignored 1" in ran.err


def test_a_run_that_ends_early_has_lost_no_more_than_was_counted(bench: Bench) -> None:
    """Two frames did not come out before the third: drops and what was ignored explain them, together."""
    for drops, ignored in ((1, 1), (2, 0), (0, 2), (2, 1)):
        ran = check(bench, IN, OUT, IN, OUT[2:], drops=drops, ignored=ignored, until=700)
        assert ran.stat("dut", "counted_drops") == drops and ran.stat("dut", "counted_ignored") == ignored
    ran = check(bench, IN, OUT, IN, OUT[2:], drops=1, until=700, ok=False)
    assert "2 frames from wire to host are missing, and the device counted only 1 drops and ignored 0" in ran.err


@pytest.mark.parametrize("gone", [2, 4])
def test_a_loss_that_was_not_counted(bench: Bench, gone: int) -> None:
    ran = check(bench, IN, OUT, IN, [*OUT[:gone], *OUT[gone + 1 :]], ok=False)
    assert "missing" in ran.err


def test_a_loss_towards_the_wire(bench: Bench) -> None:
    ran = check(bench, IN, OUT[:4], IN, OUT, ok=False)
    assert "1 frames from host to wire were lost, the first of them frame 5;" in ran.err
    assert "lost" in ran.err


def test_without_frames_nothing_was_checked(bench: Bench) -> None:
    """That is an error, and the end of a run with frames says how many there were."""
    assert "neither end had a frame to send: nothing was checked" in check(bench, [], [], [], [], ok=False).err
    assert "all frames were delivered (0 to the wire, 1 to the host) or were counted as dropped (0)" in check(bench, [], [], IN[:1], OUT[:1]).err


def test_frames_that_are_only_counted(bench: Bench) -> None:
    """Firmware may answer and consume them: without a comparison, the run ends when no more come out."""
    ran = check(bench, IN[:1], [(at, noise(80, 50 + at)) for at, _ in OUT], IN[:2], OUT[:1], check=False)
    assert [ran.stat("dut", name) for name in ("sent", "received", "missing")] == [5, 1, 0]
    assert "no more frames come out: 5 to the wire and 1 to the host were not compared" in ran.err
    assert "4 frames came out, and were not compared" in check(bench, IN[:1], OUT, [], [], check=False, frames=4).err
    wrong = check(bench, IN[:1], OUT, [], [], ok=False).err
    assert "frame 2 from host to wire never went in (if the firmware makes, changes, or consumes frames, set `check` of this checker to false)" in wrong


def test_the_run_ends_after_so_many_frames(bench: Bench) -> None:
    ran = check(bench, IN, OUT, IN, OUT, frames=4)
    assert ran.stat("dut", "sent") + ran.stat("dut", "received") == 4


@seldom
def test_a_loss_is_found_when_everybody_else_sleeps(bench: Bench) -> None:
    """One frame from the wire that the host never finds: the run is too long to be checked cycle for cycle, and jumps."""
    text = """
clock clk = 100 MHz;
instance dut : frame_checker;  instance link : ethernet;  instance quiet : source { count = 0; };
quiet.out -> link.from_device;  link.to_device -> dut.wire_received;  link.done -> dut.done;
"""
    ran = bench.run(bench.build(text), 2 * MOST_CHECKED, {"link.input": "in", "dut.timeout": "20 us"}, files={"in": pcap([FRAMES[0]])}, ok=False)
    assert "1 frames from wire to host are missing and 0 were faulty, and the device counted 0 drops and ignored 0" in ran.err
