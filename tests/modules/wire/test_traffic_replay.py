"""traffic_replay: recorded conversations between two ends that are joined by a link."""

from pathlib import Path

import pytest

from harness.net import packets
from harness.net.tcp import generate
from tests.modules.assists import noise
from tests.modules.conversations import acknowledged_too_early, segments, tcp
from tests.modules.harness import MOST_CHECKED, Bench, Ran, collect, happened, read_monitor
from tests.sample import seldom

NETLIST = """
import ethernet_types;
clock clk = 100 MHz;
instance dut : traffic_replay { host_width = 64; host_fcs = true; };
instance host : ethernet;
instance wire : ethernet;
instance up : queue { depth = 512; };
instance down : queue { depth = 512; };
host.to_device -> up.in;
up.out -> wire.from_device;
wire.to_device -> down.in;
down.out -> host.from_device;
wire.taken_beats -> dut.wire_received;
host.taken_beats -> dut.host_received;
dut.host_next -> host.next;
dut.wire_next -> wire.next;
""" + collect("dut", "released(from_host, frame)", "responded(at_host, frame, ns)")
CAPTURE = Path(__file__).resolve().parents[3] / "examples" / "tigon2" / "traffic" / "tcp.pcap"
US = 1000
# From the last byte of what is waited for to the last byte of a frame of 60 bytes: preamble, frame, FCS, and a few cycles.
SHORTEST = (8 + 64) * 8


def pcap(tmp_path: Path, frames: list[tuple[int, bytes]]) -> bytes:
    packets.write(tmp_path / "frames.pcap", [packets.Packet(time, data) for time, data in frames])
    return (tmp_path / "frames.pcap").read_bytes()


class Link:
    """Plays (time in ns, frame) lists of both ends."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench, self.folder = bench, folder

    def __call__(
        self, send: list, receive: list, cycles: int = 20000, ok: bool = True, mode: str = "correlated", text: str | None = None, netlist: str = NETLIST,
        more: dict[str, str] | None = None, **settings: object,
    ) -> tuple[list[packets.Packet], list[packets.Packet]]:
        files: dict[str, str | bytes] = {"send": pcap(self.folder, send), "receive": pcap(self.folder, receive)}
        values: dict[str, object] = {"dut.send": "send", "dut.receive": "receive", "host.input": "send", "wire.input": "receive"}
        values |= {f"{one}.mode": mode for one in ("dut", "host", "wire")} | {"wire.output": "sent", "host.output": "received"}
        if text is not None:
            files["who"] = text
            values["dut.dependencies"] = "who"
        for name, content in (more or {}).items():
            files[name.replace(".", "_")] = content
            values[name] = name.replace(".", "_")
        values |= {name.replace("_", ".", 1): value for name, value in settings.items()}
        self.ran: Ran = self.bench.run(self.bench.build(netlist), cycles, values, files=files, ok=ok)
        if not ok:
            return [], []
        return list(packets.read(self.ran.directory / "sent")), list(packets.read(self.ran.directory / "received"))

    def refused(self, send: list, receive: list, **settings: object) -> str:
        self(send, receive, ok=False, **settings)
        assert self.ran.err.count("\n") == 1, self.ran.err
        return self.ran.err


@pytest.fixture
def link(bench: Bench, tmp_path: Path) -> Link:
    return Link(bench, tmp_path)


def test_the_same_trace_played_independently_is_not_causal(link: Link, tmp_path: Path) -> None:
    """What correlation is for: as fast as possible, acknowledgments overtake what they acknowledge."""
    files = packets.split(CAPTURE, "02:00:00:00:00:01", tmp_path)
    send, receive = ([(p.time, p.data) for p in packets.read(file)] for file in files)
    sent, received = link(send, receive, cycles=200000, mode="fast")
    assert len(sent) == len(send) and len(received) == len(receive)
    assert acknowledged_too_early(segments(sent, True), segments(received, False))
    assert link.ran.stat("dut", "conversations") == 0, "it keeps quiet"


@seldom
def test_it_sleeps_until_a_frame_is_due(link: Link) -> None:
    """Thinking takes whole cycles once and once it does not, and a cycle is several ticks; the run is short enough, and the state small enough, for what the
    module says of the time until then to be checked in each."""
    netlist = NETLIST.replace("host_fcs = true;", "host_fcs = true; frames = 16;").replace("clock clk = 100 MHz;", "clock clk = 100 MHz; clock odd = 77 MHz; instance quiet : source on odd { count = 0; }; instance nobody : sink on odd; quiet.out -> nobody.in : bool;")
    send = [(0, tcp(True, 100, None, b"q" * 100)), (13_003, tcp(True, 200, 550))]
    sent, received = link(send, [(7_003, tcp(False, 500, 200, b"a" * 50))], cycles=MOST_CHECKED, netlist=netlist)
    assert len(sent) == 2 and len(received) == 1


def test_question_and_reply(link: Link) -> None:
    """An answer waits for its question and for the time to think; the numbers are those of the link."""
    send = [(0, tcp(True, 100, None, b"q" * 100)), (30 * US, tcp(True, 200, 550))]
    receive = [(10 * US, tcp(False, 500, 200, b"a" * 50))]
    sent, received = link(send, receive)
    question, acknowledgment = (p.time for p in sent)
    (answer,) = (p.time for p in received)
    # It thinks 10 us, from the last byte of the question on, as the trace says; then it takes its own time on the wire.
    assert [told[1:] for told in happened(link.ran, "released")] == [(1, 0), (0, 0), (1, 1)]
    assert [told[1:3] for told in happened(link.ran, "responded")] == [(1, 0), (0, 1)]
    assert [told[3] for told in happened(link.ran, "responded")] == [link.ran.stat("dut", f"round_trip_{end}_min") for end in ("host", "wire")]
    assert 0 <= answer - question - 10 * US - (8 + 108 + 4) * 8 < 100
    assert 0 <= acknowledgment - answer - 20 * US - SHORTEST < 200
    sent, received = link(send, receive, dut_think=0.0)
    assert 0 <= received[0].time - sent[0].time - (8 + 108 + 4) * 8 < 100
    assert link.ran.stat("dut", "round_trips_host") == 1 and link.ran.stat("dut", "round_trips_wire") == 1
    for figure in "median", "p99":
        for least, other in ("round_trip_host_min", f"round_trip_host_{figure}"), ("round_trip_wire_min", f"round_trip_wire_{figure}"):
            assert link.ran.stat("dut", other) == pytest.approx(link.ran.stat("dut", least), rel=1 / 64)
    assert 0 <= link.ran.stat("dut", "round_trip_host_min") - (154 + 24 + 104 + 24) * 8 < 100, "question and answer on the wire"
    assert 0 <= link.ran.stat("dut", "round_trip_wire_min") - (sent[1].time - received[0].time + (8 + 108 + 4) * 8) < 100


def test_conversations_do_not_wait_for_each_other(link: Link) -> None:
    """One whose other end thinks for long; another, whose frames stand behind it in the file, goes on."""
    slow = [(0, tcp(True, 0, None, b"x" * 20, port=1)), (500 * US, tcp(True, 20, 20, b"y" * 20, port=1))]
    quick = [(1 * US, tcp(True, 0, None, b"x" * 30, port=2)), (501 * US, tcp(True, 30, 30, b"y" * 30, port=2))]
    answers = [(400 * US, tcp(False, 0, 20, b"a" * 20, port=1)), (401 * US, tcp(False, 0, 30, b"a" * 30, port=2))]
    text = "dependencies 1\nreceive 1 after send 1 think 120000\nreceive 2 after send 2 think 0\nsend 3 after receive 1 think 0\nsend 4 after receive 2 think 0\n"
    sent, received = link([*slow[:1], *quick[:1], *slow[1:], *quick[1:]], answers, text=text)
    assert [p.data for p in received] == [answers[1][1].ljust(60, b"\0"), answers[0][1].ljust(60, b"\0")]
    assert [p.data.ljust(60, b"\0") for p in sent] == [f[1].ljust(60, b"\0") for f in (slow[0], quick[0], quick[1], slow[1])]
    assert sent[2].time < 10 * US and sent[3].time > 120 * US


@seldom
def test_a_real_capture(link: Link, tmp_path: Path) -> None:
    """TCP between two kernels: every frame arrives as it was, and no acknowledgment leaves before its data have come."""
    files = packets.split(CAPTURE, "02:00:00:00:00:01", tmp_path)
    send, receive = ([(p.time, p.data) for p in packets.read(file)] for file in files)
    for think in (1.0, 0.0):
        sent, received = link(send, receive, cycles=10000000, dut_think=think)
        for given, found in (send, sent), (receive, received):
            padded = sorted(data.ljust(60, b"\0") for _, data in given)
            assert sorted(p.data for p in found) == padded
        there, back = segments(sent, True), segments(received, False)
        assert len(there) > 50 and len(back) > 50
        for given, found, from_host in (send, there, True), (receive, back, False):
            order = segments([packets.Packet(t, d.ljust(60, b"\0")) for t, d in given], from_host)
            for key in {s.key for s in found}:
                assert [s.data for s in found if s.key == key] == [s.data for s in order if s.key == key], "a conversation keeps its order"
        # Times are those of the last byte at the far end: what answers was played later still.
        assert not acknowledged_too_early(there, back) and not acknowledged_too_early(back, there)
        assert link.ran.stat("dut", "conversations") == 5  # four of TCP, and ARP
        assert link.ran.stat("dut", "dependent") > 60
        assert link.ran.stat("dut", "round_trips_host") + link.ran.stat("dut", "round_trips_wire") == link.ran.stat("dut", "dependent")
    assert sent[-1].time < 2_000_000, "nobody thinks"


def test_a_window_is_kept(link: Link) -> None:
    """Behind a window of 1000 bytes, the third segment of 500 waits for the acknowledgment that moves the window on."""
    send = [(0, tcp(True, 0, None, flags="S", scale=0))] + [(2 * US, tcp(True, 1, 1))] + [(3 * US, tcp(True, 1 + 500 * i, 1, b"d" * 500)) for i in range(4)]
    receive = [(1 * US, tcp(False, 0, 1, flags="S", window=1000, scale=0))]
    receive += [(4 * US, tcp(False, 1, 1 + 1000, window=1000)), (5 * US, tcp(False, 1, 1 + 2000, window=1000))]
    sent, received = link(send, receive, dut_think=0.0)
    data, opened, back_to_back = [p.time for p in sent[2:]], received[1].time, (554 + 24) * 8
    assert data[1] < opened < data[2] - back_to_back + 200 and data[2] - data[1] > back_to_back + 500
    assert abs(data[1] - data[0] - back_to_back) < 100 and abs(data[3] - data[2] - back_to_back) < 100
    # Room is no answer: the two acknowledgments of data are, that of the SYN's answer, and the SYN's answer itself.
    assert (link.ran.stat("dut", "round_trips_host"), link.ran.stat("dut", "round_trips_wire")) == (3, 1)
    # With room for all, nobody waits for it.
    wide = [(time, frame.replace((1000).to_bytes(2, "big"), (60000).to_bytes(2, "big"), 1)) for time, frame in receive]
    sent, received = link(send, wide, dut_think=0.0)
    assert all(abs(b.time - a.time - back_to_back) < 100 for a, b in zip(sent[2:], sent[3:]))


def test_what_is_not_tcp_keeps_its_stamps(link: Link) -> None:
    send, receive = [(0, noise(60, 1)), (50 * US, noise(100, 2))], [(20 * US, noise(70, 3))]
    sent, received = link(send, receive)
    assert abs(sent[1].time - sent[0].time - 50 * US - 40 * 8) < 100
    assert abs(received[0].time - sent[0].time - 20 * US - 10 * 8) < 100


def test_generated_conversations(link: Link, tmp_path: Path) -> None:
    """While one thinks the others talk: four conversations take hardly longer than one."""
    ends = {}
    for count in 1, 4:
        files = generate(tmp_path / f"{count}", count, 5, 100, 3000, think=20000)
        send, receive = ([(p.time, p.data) for p in packets.read(file)] for file in files)
        sent, received = link(send, receive, cycles=300000)
        assert len(sent) == len(send) and len(received) == len(receive)
        there, back = segments(sent, True), segments(received, False)
        assert not acknowledged_too_early(there, back) and not acknowledged_too_early(back, there)
        assert link.ran.stat("dut", "conversations") == count
        ends[count] = sent[-1].time
    assert ends[4] < 1.3 * ends[1]


def test_random_conversations_arrive_whole_and_in_order(link: Link) -> None:
    """Generated exchanges of random sizes; the same input gives the same bytes."""
    import random

    seed = 4711
    chance = random.Random(seed)
    send, receive, time = [], [], 0
    at = {port: [chance.getrandbits(32), chance.getrandbits(32)] for port in range(6)}
    for _ in range(150):
        port, from_host = chance.randrange(6), chance.random() < 0.5
        time += chance.randrange(2000)
        mine, far = (0, 1) if from_host else (1, 0)
        data = bytes(chance.randrange(256) for _ in range(chance.choice([0, 1, 7, 300, 1400])))
        frame = tcp(from_host, at[port][mine], at[port][far], data, port=port)
        at[port][mine] += len(data)
        (send if from_host else receive).append((time, frame))
    sent, received = link(send, receive, cycles=300000, dut_think=0.5)
    assert sorted(p.data for p in sent) == sorted(f.ljust(60, b"\0") for _, f in send), f"seed {seed}"
    assert sorted(p.data for p in received) == sorted(f.ljust(60, b"\0") for _, f in receive), f"seed {seed}"
    there, back = segments(sent, True), segments(received, False)
    for data, answers in (back, there), (there, back):
        assert not acknowledged_too_early(answers, data), f"seed {seed}"
    again = link(send, receive, cycles=300000, dut_think=0.5)
    assert again == (sent, received)


QUESTION, ANSWER = tcp(True, 0, None, b"q" * 10), tcp(False, 0, 10, b"a" * 10)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "begins with the line 'dependencies 1'"),
        ("who knows\n", "begins with the line 'dependencies 1'"),
        ("dependencies 1\nsend 2 before receive 1\n", "who:2: expected 'send N after receive M'"),
        ("dependencies 1\nsend 1 after receive 1 think\n", "who:2: expected"),
        ("dependencies 1\nsend 1 after receive 1 then what\n", "who:2: expected"),
        ("dependencies 1\nsend 1 after receive 1 think -5\n", "who:2: expected"),
        ("dependencies 1\nsend 1 after receive 1 think 5x\n", "who:2: expected"),
        ("dependencies 1\nsend 1 after receive 1 think 99999999999999999999\n", "who:2: expected"),
        ("dependencies 1\nsend 1z after receive 1\n", "who:2: expected"),
        ("dependencies 1\nsend 1 after receive 1 think 5 6\n", "who:2: expected"),
        ("dependencies 1\n# all is well\nsend 1 after send 1\n", "who:3: frames of one end keep their order by themselves"),
        ("dependencies 1\nsend 9 after receive 1\n", "who:2: there is no frame 9 to send, there are 1"),
        ("dependencies 1\nreceive 1 after send 0\n", "who:2: there is no frame 0 to send"),
        ("dependencies 1\nsend 1 after receive 1\nreceive 1 after send 1\n", "waits for frame 1 of receive, and that waits for frame 1 of send: no frame can begin"),
    ],
)
def test_wrong_dependencies(link: Link, text: str, said: str) -> None:
    assert said in link.refused([(0, QUESTION)], [(0, ANSWER)], text=text)


def test_wrong_traces(link: Link) -> None:
    late = tcp(True, 10, 4000)
    assert "send: frame 2 acknowledges data that receive never sends (3990 bytes more than there are)" in link.refused([(0, QUESTION), (9, late)], [(5, ANSWER)])
    # Each acknowledges what the other sends: neither can have been the first.
    both = link.refused([(0, tcp(True, 0, 10, b"q" * 10))], [(0, tcp(False, 0, 10, b"a" * 10))])
    assert "frame 1 of send waits for frame 1 of receive, and that waits for frame 1 of send: no frame can begin" in both
    # The same further apart: the first frames of the conversation hold up those that the other end waits for.
    send = [(0, tcp(True, 0, 20, b"q" * 10)), (1, tcp(True, 10, 20, b"q" * 10))]
    both = link.refused(send, [(0, tcp(False, 0, 20, b"a" * 10)), (1, tcp(False, 10, 20, b"a" * 10))])
    assert "no frame can begin" in both and "which comes after frame 1, and that waits for frame" in both
    assert "think: -1.0 is outside its range, at least 0.0" in link.refused([(0, QUESTION)], [(5, ANSWER)], dut_think=-1.0)


def test_one_end_alone_talks(link: Link) -> None:
    """Frames of the other end alone keep their stamps; without a packet file of either end there is nothing to play."""
    frames = [(0, noise(60, 1)), (50 * US, noise(60, 2))]
    values = {f"{one}.mode": "correlated" for one in ("dut", "wire")} | {"dut.receive": "r", "wire.input": "r", "host.output": "out"}
    ran = link.bench.run(link.bench.build(NETLIST), 20000, values, files={"r": pcap(link.folder, frames)})
    found = list(packets.read(ran.directory / "out"))
    assert [p.data for p in found] == [data for _, data in frames] and abs(found[1].time - found[0].time - 50 * US) < 100
    ran = link.bench.run(link.bench.build(NETLIST), 10, {"dut.mode": "correlated"}, ok=False)
    assert "mode correlated needs packet files: give --send and --receive" in ran.err


# What the wire plays is told, so what it corrupts is known at once.  The host's file has faulty frames, too.
TOLD = NETLIST + "wire.offered_beats -> dut.wire_offered;\n"


def at_last(found: list[packets.Packet]) -> list[packets.Packet]:
    """Of frames that came several times the last, which was not faulty."""
    return sorted({p.data: p for p in found}.values(), key=lambda p: p.time)


@seldom
def test_a_lost_segment_is_sent_again(link: Link) -> None:
    """The second of three is lost: the acknowledgment of the third waits for it, and it comes so long after it began."""
    receive = [(0, tcp(False, 10 * i, None, bytes([65 + i]) * 10)) for i in range(3)]
    sent, received = link([(0, tcp(True, 0, 30, b"q"))], receive, netlist=TOLD, wire_faults="fcs@2", dut_resend="20us")
    received = at_last(received)
    assert [receive.index((0, p.data[: len(receive[0][1])])) for p in received] == [0, 2, 1]
    # It was handed over while the one before it, of 88 byte times, was played.
    assert 0 <= received[2].time - received[0].time - 20 * US <= 88 * 8
    assert received[2].time < sent[0].time
    assert link.ran.stat("dut", "resent") == 1 and link.ran.stat("dut", "round_trips_wire") == 1


@pytest.mark.parametrize("faults", ["fcs@2,fcs@4,fcs@5", "fcs%15"])
def test_conversations_with_losses_arrive_whole(link: Link, tmp_path: Path, faults: str) -> None:
    """Every frame with data comes out, once, unchanged, and nothing is acknowledged before it has come."""
    files = generate(tmp_path / "talk", 3, 6, 2000, 4000, think=2000)
    send, receive = ([(p.time, p.data) for p in packets.read(file)] for file in files)
    sent, received = link(send, receive, cycles=400000, netlist=TOLD, wire_faults=faults, dut_resend="30us")
    lost, resent = link.ran.stat("host", "damaged_out"), link.ran.stat("dut", "resent")
    assert lost >= 3 and resent >= 2 and len(sent) == len(send) and len(received) == len(receive) + resent
    there, back = segments(sent, True), segments(at_last(received), False)
    assert len(back) == len(receive)
    assert not acknowledged_too_early(there, back) and not acknowledged_too_early(back, there)


LISTENED = TOLD.replace("dut.wire_next -> wire.next;", "instance listening : monitor;\ndut.wire_next -> listening.in;\nlistening.out -> wire.next;")
COUNTED = "instance device : source { generate = <<< return 0; >>>; };\ndevice.out -> dut.drops : uint32;\n"


@pytest.mark.parametrize(("more", "end"), [("", 160), (COUNTED, 101 + 2000)], ids=["all was played", "a drop would be known"])
def test_the_end_is_reported_when_the_last_frame_cannot_come_any_more(link: Link, more: str, end: int) -> None:
    """A damaged datagram is not played again; where drops are counted, the end is told a time after it began in cycle 101."""
    link([], [(0, noise(60, 1)), (1000, noise(60, 2))], 5000, netlist=LISTENED + more, wire_faults="fcs@2", dut_resend="20us", listening_record="told")
    told = [(one.cycle, int(one.value or "", 0)) for one in read_monitor(link.ran.directory / "told") if one.transferred]
    assert told == [(2, 0), (101, 1), (end, 0xFFFFFFFF)]


DROPPING = NETLIST + "instance device[2] : source;\nfor (i = 0; i < 2; i = i + 1) device[i].out -> dut.drops : uint32;\n" + collect("dut", "missed(from_host, frame)")


def test_what_the_device_drops_is_sent_again(link: Link) -> None:
    """Two of three segments; that they are all which are on their way is known when both lanes have counted, in cycle 1500."""
    receive = [(0, tcp(False, 10 * i, None, bytes([65 + i]) * 10)) for i in range(3)]
    counts = {f"device[{i}].script": "".join(f"{k} {int(k >= since)} once\n" for k in range(4000)) for i, since in enumerate((1000, 1500))}
    _, received = link([(0, tcp(True, 0, 30, b"q"))], receive, 4000, netlist=DROPPING, more=counts, wire_faults="fcs@2,fcs@3", dut_resend="20us")
    assert happened(link.ran, "missed") == [(1500, 0, 1), (1500, 0, 2)] and link.ran.stat("dut", "resent") == 2
    assert [receive.index((0, p.data[: len(receive[0][1])])) for p in received] == [0, 1, 2, 1, 2]
    assert all(20 * US - 704 <= again.time - lost.time <= 20 * US for lost, again in zip(received[1:3], received[3:], strict=True))


def test_it_gives_up(link: Link) -> None:
    said = link.refused([(0, tcp(True, 0, 10, b"q"))], [(0, tcp(False, 0, None, b"a" * 10))], netlist=TOLD, wire_faults="fcs/1", dut_resend="1us")
    assert "frame 1 of receive did not reach the host however often it was sent" in said


def test_a_lost_frame_with_a_reply_ends_the_run(link: Link) -> None:
    """Unless it is sent again; the line names both frames."""
    receive = [(0, tcp(False, 0, None, b"a" * 10)), (10, tcp(False, 10, None, b"b" * 10)), (20, tcp(False, 20, None, b"c" * 10))]
    for netlist in NETLIST, TOLD:
        said = link.refused([(50, tcp(True, 0, 20, b"q"))], receive, netlist=netlist, wire_faults="fcs@2", dut_resend="0us")
        assert "frame 2 of receive did not reach the host, and frame 1 of send responds to it: a conversation cannot continue without" in said
        said = link.refused([(50, tcp(True, 0, 30, b"q"))], receive, netlist=netlist, wire_faults="fcs@2", dut_resend="0us")
        assert "frame 2 of receive did not reach the host, and frame 1 of send responds to what follows it" in said
    # One that nobody answers is only missing.
    sent, _ = link([(50, tcp(True, 0, 10, b"q"))], receive, wire_faults="fcs@2", dut_resend="0us")
    assert len(sent) == 1 and link.ran.stat("host", "damaged_out") == 1 and link.ran.stat("dut", "round_trips_wire") == 1
