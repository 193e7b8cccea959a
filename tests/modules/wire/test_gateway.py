"""gateway: frames of a wire go to a socket and come from it; when it looks; records that are played again; what it refuses."""

import json
import random
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from harness.net import packets
from tests.modules.assists import beats, noise, tagged
from tests.modules.harness import Bench, Ran, collect, happened
from tests.modules.wire.stations import first_beat, frames_of, with_fcs

NETLIST = """
import ethernet_types;
clock clk = 100 MHz;
instance device : source;
instance dut : gateway { %s };
instance out : sink;
device.out -> dut.from_device : wire_beat(64);
dut.to_device -> out.in;
"""
LOOKS = [0, 2000, 6000, 14000, 30000, 62000, 126000, 226000]  # cycles at which it looks while nothing comes


def script(frames: list[tuple[int, bytes]]) -> str:
    return "".join(line for cycle, one in frames for line in beats(with_fcs(one), cycle))


@dataclass
class Peer:
    """The other end: what came to it, and what it does about each."""

    handle: socket.socket
    reply: Callable[[int, bytes], list[bytes]]
    came: list[bytes] = field(default_factory=list)

    def serve(self) -> None:
        while True:
            try:
                data = self.handle.recv(70000)
            except (ConnectionRefusedError, InterruptedError):
                continue
            except OSError:
                return
            if data == b"end of the test":
                return
            self.came.append(data)
            for one in self.reply(len(self.came), data):
                self.handle.send(one)


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def peer(reply: Callable[[int, bytes], list[bytes]] = lambda number, data: []) -> Iterator[tuple[Peer, str]]:
    """A peer at UDP ports, and the place that leads to it."""
    own = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        handle.bind(("127.0.0.1", 0))
        port = handle.getsockname()[1]
        handle.connect(("127.0.0.1", own))
        made = Peer(handle, reply)
        thread = threading.Thread(target=made.serve, daemon=True)
        thread.start()
        yield made, f"udp:{own}:127.0.0.1:{port}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.bind(("127.0.0.1", own))
            last.sendto(b"end of the test", ("127.0.0.1", port))
        thread.join(20)


def run(bench: Bench, frames: list[tuple[int, bytes]], *options: str, more: str = "", extra: str = "", ok: bool = True, raw: str | None = None, **files: str) -> Ran:
    """Runs it for a second at most, with frames that the device sends in given cycles."""
    simulator = bench.build(NETLIST % more + extra)
    bench.runs += 1
    directory = bench.directory / f"run{bench.runs}"
    directory.mkdir()
    (directory / "script").write_text(script(frames) if raw is None else raw)
    for name, text in files.items():
        (directory / "links").mkdir(exist_ok=True)
        (directory / "links" / f"{name}.frames").write_text(text)
    words = ["--time", "1 s", "--set", "out.record=out", "--stats", "stats.json", *options]
    words += ["--set", "device.script=script"] if frames or raw else ["--set", "device.count=0"]
    done = subprocess.run([simulator, *words], cwd=directory, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert (done.returncode == 0) == ok, done.stderr
    stats = directory / "stats.json"
    return Ran(done.returncode, done.stdout, done.stderr, directory, json.loads(stats.read_text()) if stats.exists() else {})


SENT = [noise(60 + 97 * n, n) for n in range(8)]
TIMES = [(1 + 20000 * n, one) for n, one in enumerate(SENT)]


def until(frames: list[bytes]) -> str:
    """The condition that all beats of these have gone to the device."""
    return f"out.items >= {sum(-(-len(with_fcs(one)) // 8) for one in frames)}"


def echoed(data: bytes) -> bytes:
    return data[6:12] + data[:6] + data[12:]


def test_nothing_is_at_its_end_without_the_option(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST % ""), 4000, {"device.script": "script"}, files={"script": script([(1, SENT[0]), (500, SENT[1])])})
    assert ran.counted("dut") == {"frames_received": 2, "bytes_received": 60 + 157}


def test_frames_go_to_a_peer_and_come_from_it(bench: Bench) -> None:
    with peer(lambda number, data: [echoed(data)]) as (other, place):
        ran = run(bench, TIMES, "--gateway", f"dut={place}", "--until", until(SENT), "--set", "dut.capture=seen")
    assert other.came == SENT
    assert [one.data for one in frames_of(ran)] == [echoed(one) for one in SENT]
    bytes_sent = sum(len(one) for one in SENT)
    assert ran.counted("dut") == {"frames_received": 8, "bytes_received": bytes_sent, "frames_sent": 8, "bytes_sent": bytes_sent}
    captured = [packet.data for packet in packets.read(ran.directory / "seen")]
    assert sorted(captured) == sorted([*SENT, *map(echoed, SENT)])
    assert "warning: frames come from outside at \"dut\": this run is not repeatable (--record-links FOLDER keeps" in ran.err
    assert ran.stats["manifest"]["repeatable"] is False
    assert ran.stats["manifest"]["gateways"] == [{"instance": "dut", "leads_to": place}]


def test_a_device_that_is_not_ready_gets_nothing(bench: Bench) -> None:
    """The first look is in the cycle in which the device is ready for the first time, and no frame is lost before."""
    extra = "instance ready : source { generate = <<< return index >= 5000; >>>; };\nready.out -> dut.ready;\n"
    record = frames_record(f"< 5000 {SENT[0].hex()}")
    ran = run(bench, [], "--replay-links", "links", "--cycles", "20000", "--check-idle", extra=extra, dut=record)
    assert [one.data for one in frames_of(ran)] == SENT[:1] and frames_of(ran)[0].first == first_beat(50000)
    early = run(bench, [], "--replay-links", "links", "--cycles", "20000", ok=False, extra=extra, dut=frames_record("< 4000 ffffffff"))
    assert "the gateway looks for a frame at tick 5000, in the record at tick 4000" in early.err


def test_its_events_and_pace(bench: Bench) -> None:
    """A frame is begun when a look has found it, and played when its last byte is on the line; the line takes the last
    beat of a frame from the device when that beat leaves."""
    events = collect("dut", "playing(length)", "played(length)", "arriving", "arrived(length)")
    sent = [(1, noise(60, 1)), (2, noise(100, 2))]
    line = frames_record(f"< 2000 {noise(200, 3).hex()}", *(f"> {cycle} {one.hex()}" for cycle, one in ((53, sent[0][1]), (152, sent[1][1]))))
    ran = run(bench, sent, "--replay-links", "links", "--cycles", "4000", "--check-idle", extra=events, dut=line)
    assert (happened(ran, "playing"), happened(ran, "played")) == ([(2000, 204)], [(2000 + (8 + 204) * 8 // 10, 204)])
    assert happened(ran, "arrived") == [(53, 64), (152, 104)] and len(happened(ran, "arriving")) == 2


def test_damaged_frames_do_not_go_outside(bench: Bench) -> None:
    right, wrong = with_fcs(SENT[0]), bytearray(with_fcs(SENT[1]))
    wrong[20] ^= 1
    short, long = with_fcs(noise(60))[:40], with_fcs(noise(1515))
    raw = "".join(line for n, one in enumerate([bytes(wrong), short, long, right]) for line in beats(one, 1 + 20000 * n))
    with peer() as (other, place):
        ran = run(bench, [], "--gateway", f"dut={place}", "--until", "dut.frames_received >= 4", raw=raw)
        time.sleep(0.1)
    assert other.came == [SENT[0]]
    assert (ran.stat("dut", "damaged"), ran.stat("dut", "frames_received")) == (3, 4)


def test_what_is_no_frame_is_refused(bench: Bench) -> None:
    longest, with_tag = noise(1514), tagged(1518)
    bad = [b"", noise(13), noise(1515), tagged(1519), noise(9000), noise(65000)]
    good = [noise(14), noise(59), noise(60), longest, with_tag]
    with peer(lambda number, data: [*bad, *good] if number == 1 else []) as (_, place):
        ran = run(bench, TIMES[:1], "--gateway", f"dut={place}", "--until", until(good))
    assert ran.stat("dut", "refused") == len(bad)
    assert [one.data for one in frames_of(ran)] == [one.ljust(60, b"\0") for one in good]


def test_it_waits_for_the_wall_clock(bench: Bench) -> None:
    """An idle second of the simulation takes one, unless that is not wanted."""
    with peer() as (_, place):
        begun = time.monotonic()
        run(bench, [], "--gateway", f"dut={place}")
        assert time.monotonic() - begun > 0.9
        run(bench, [], "--gateway", f"dut={place},no-wait")


def frames_record(*lines: str, begin: str = "frames 1 100000000 0") -> str:
    return "".join(f"{line}\n" for line in (begin, *lines))


def test_a_record_has_what_came_and_went(bench: Bench) -> None:
    """A run of a record is the run that was recorded, and its own results say so."""
    with peer(lambda number, data: [echoed(data), noise(13), noise(100, number)]) as (_, place):
        options = ["--gateway", f"dut={place}", "--record-links", "links"]
        first = run(bench, TIMES, *options, "--until", until([noise(100)] * len(SENT) + SENT))
    assert "but its record is" in first.err
    record = first.directory / "links/dut.frames"
    lines = record.read_text().splitlines()
    assert lines[0] == "frames 1 100000000 0" and len(lines) == 1 + 4 * len(SENT)
    assert [bytes.fromhex(line.split()[2]) for line in lines if line.startswith(">")] == SENT
    cycles = str(first.stats["run"]["cycles"]["clk"])
    again = run(bench, TIMES, "--replay-links", str(record.parent), "--cycles", cycles)
    assert again.stats["statistics"] == first.stats["statistics"]
    assert (again.directory / "out").read_bytes() == (first.directory / "out").read_bytes()
    assert again.stats["manifest"]["repeatable"] is True and "warning" not in again.err
    assert str(record) in [entry["file"] for entry in again.stats["manifest"]["inputs"]]


def test_when_it_looks(bench: Bench) -> None:
    """Each look in vain doubles the time to the next, up to a millisecond; a frame begins it again."""
    one, two = noise(60, 1), noise(200, 2)
    begins = LOOKS[6]
    free = begins + (8 + 64 + 12) * 8 / 10  # cycles at which the line is free again
    next_look = -(-free // 1)
    record = frames_record(f"< {begins} {one.hex()}", f"< {int(next_look)} {two.hex()}", f"! {LOOKS[-1] + 2000000}")
    ran = run(bench, [], "--replay-links", "links", ok=False, dut=record)
    assert re.search(r"error: \"links/dut.frames\": this run is not the recorded one: the gateway looks for a frame at tick \d+, in the record at tick 2226000", ran.err)
    ran = run(bench, [], "--replay-links", "links", dut=record.rsplit("\n", 2)[0] + "\n")
    assert [frame.data for frame in frames_of(ran)] == [one, two]
    assert [frame.first for frame in frames_of(ran)] == [first_beat(10 * begins), first_beat(int(10 * free))]
    assert ran.counted("dut")["frames_sent"] == 2


def sent_record(bench: Bench) -> list[str]:
    """The lines of the record of a run that sends two frames."""
    with peer() as (_, place):
        ran = run(bench, TIMES[:2], "--gateway", f"dut={place},no-wait", "--record-links", "links")
    return (ran.directory / "links/dut.frames").read_text().splitlines()


def test_another_run_than_the_recorded_one_ends(bench: Bench) -> None:
    lines = sent_record(bench)
    instant = int(lines[1].split()[1])
    text = "\n".join(lines) + "\n"
    run(bench, TIMES[:2], "--replay-links", "links", dut=text)
    for frames, said in (
        (TIMES[:1], "a frame is not yet sent at tick"),
        (TIMES[:3], "a frame is sent at tick 40"),
        ([(1, SENT[1]), TIMES[1]], "a frame is sent at tick"),
        ([(1, noise(60, 99)), TIMES[1]], f"another frame is sent at tick {instant}, in the record at tick {instant}"),
    ):
        assert said in run(bench, frames, "--replay-links", "links", ok=False, dut=text).err


WRONG = [
    ("", 'does not begin with "frames 1"'),
    ("frames 2 1 0\n", 'does not begin with "frames 1"'),
    ("frames 10 1 0\n", ":1: a number is missing"),
    ("frames 1 100000000\n", ":1: a number is missing"),
    ("frames 1 100000000 0 0\n", ":1: the line goes on after the numbers"),
    ("frames 1 100000001 0\n", "is the record of a machine with other clocks"),
    ("frames 1 100000000 7\n", "is the record of a run that began at another time: tick 7, and this one at 0"),
    (frames_record("x 1"), ":2: a line begins with <, > or !"),
    (frames_record("<"), ":2: a number is missing"),
    (frames_record("< one 00"), ":2: this is no number of ticks"),
    (frames_record("< 1"), ":2: the bytes of the frame are missing"),
    (frames_record("< 1 "), ":2: no frame has that number of bytes"),
    (frames_record("< 1 abc"), ":2: the bytes of the frame are not hexadecimal"),
    (frames_record("< 1 AB"), ":2: the bytes of the frame are not hexadecimal"),
    (frames_record("! 1 00"), ":2: the line goes on after the number"),
    (frames_record("! 2000", "! 2000"), ":3: the instant is not after the one before"),
    (frames_record("< 1 " + "00" * 70000), ":2: the line has 140004 characters"),
    (frames_record("< 0 " + "00" * 2000), "a frame is too long at tick 0"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=range(len(WRONG)))
def test_records_that_are_wrong(bench: Bench, text: str, said: str) -> None:
    ran = run(bench, [], "--replay-links", "links", ok=False, dut=text)
    assert said in ran.err and ran.err.count("\n") == 1


PLACES = "(write udp:OWN:HOST:PEER, tap:NAME or stream:HOST:PORT, each also with \",no-wait\")"
REFUSED = [
    (["--gateway", "dut"], '--gateway: "dut" lacks where it leads; write --gateway PATH=PLACE'),
    (["--gateway", "dat=tap:x"], '--gateway: there is no instance "dat"; did you mean "dut"?'),
    (["--gateway", "out=tap:spinach_out"], '--gateway: "out" is no gateway; this machine has "dut"'),
    (["--gateway", "dut=tap:a", "--gateway", "dut=tap:b"], '--gateway: "dut" is given twice'),
    (["--gateway", "dut=file:x"], f'--gateway: a gateway cannot lead to "file:x" {PLACES}'),
    (["--gateway", "dut=udp:1"], f'--gateway: a gateway cannot lead to "udp:1" {PLACES}'),
    (["--gateway", "dut=udp:1:2"], f'--gateway: a gateway cannot lead to "udp:1:2" {PLACES}'),
    (["--gateway", "dut=udp:1::2"], f'--gateway: a gateway cannot lead to "udp:1::2" {PLACES}'),
    (["--gateway", "dut=stream:2"], f'--gateway: a gateway cannot lead to "stream:2" {PLACES}'),
    (["--gateway", "dut=udp:0:localhost:2"], 'has no port "0" (write a number from 1 to 65535)'),
    (["--gateway", "dut=udp:1:localhost:65536"], 'has no port "65536" (write a number from 1 to 65535)'),
    (["--gateway", "dut=tap:"], "has no name of an interface (1 to 15 characters, no \"/\")"),
    (["--gateway", "dut=tap:sixteen_letters_"], "has no name of an interface (1 to 15 characters, no \"/\")"),
    (["--gateway", "dut=udp:1:192.0.2.1:2"], 'leads to another computer (allow that with --open)'),
    (["--gateway", "dut=udp:1:no.such.invalid:2"], 'has no host "no.such.invalid": '),
    (["--gateway", "dut=stream:127.0.0.1:9"], "cannot connect: Connection refused (start the other end first; it must listen)"),
    (["--open"], "--open lacks a gateway: --gateway PATH=PLACE"),
    (["--record-links", "x"], "--record-links lacks a gateway: --gateway PATH=PLACE"),
    (["--replay-links", "none"], '--replay-links: the folder "none" has no record of a gateway of this machine'),
    (["--gateway", "dut=tap:x", "--replay-links", "x"], "--replay-links has the frames of an earlier run, and goes without --gateway"),
    (["--gateway", "dut=tap:x", "--record-links", "x", "--gdb", "0"], "--record-links writes down what happens once; with --gdb a run goes backwards, too"),
    (["--gateway", "dut=tap:x", "--record-links", "x", "--interactive"], "--record-links goes not with --interactive"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=range(len(REFUSED)))
def test_options_that_are_wrong(bench: Bench, options: list[str], said: str) -> None:
    ran = run(bench, [], *options, ok=False)
    assert said in ran.err and ran.err.count("\n") == 1
    assert not (ran.directory / "out").exists()


def test_a_port_that_is_in_use(bench: Bench) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        place = f"udp:{other.getsockname()[1]}:127.0.0.1:9"
        ran = run(bench, [], "--gateway", f"dut={place}", ok=False)
    assert f'error: dut: the gateway "{place}" cannot have its own port: Address already in use (name another one)' in ran.err


def test_a_folder_for_records_that_cannot_be_made(bench: Bench) -> None:
    ran = run(bench, [], "--gateway", f"dut=udp:{free_port()}:127.0.0.1:9", "--record-links", "script/x", ok=False)
    assert 'cannot make the folder "script/x": Not a directory' in ran.err


def test_frames_by_tcp(bench: Bench) -> None:
    """Each frame has its length before it, whatever pieces it comes in; a peer that leaves is reported once."""
    came: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            handle, _ = server.accept()
            file = handle.makefile("rb")
            with handle, file:
                while len(came) < len(SENT) and (length := file.read(4)):
                    came.append(file.read(*struct.unpack(">I", length)))
                    data = struct.pack(">I", len(came[-1])) + echoed(came[-1])
                    for at in range(0, len(data), 50):
                        handle.sendall(data[at : at + 50])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        ran = run(bench, TIMES, "--gateway", f"dut=stream:127.0.0.1:{server.getsockname()[1]}")
        thread.join(20)
    assert came == SENT
    assert [one.data for one in frames_of(ran)] == [echoed(one) for one in SENT]
    assert ran.err.count("warning: dut: nothing comes or goes any more: the other end has closed the connection") == 1


def test_a_length_that_no_frame_has_ends_a_connection(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            handle, _ = server.accept()
            with handle:
                handle.sendall(struct.pack(">I", 20) + noise(20) + struct.pack(">I", 1 << 30))
                handle.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        ran = run(bench, [], "--gateway", f"dut=stream:127.0.0.1:{server.getsockname()[1]}")
        thread.join(20)
    assert [one.data for one in frames_of(ran)] == [noise(20).ljust(60, b"\0")]
    assert "nothing comes or goes any more: a length of 1073741824 bytes came; at most 65532 are possible" in ran.err


def test_a_checkpoint_goes_on_without_what_was_under_way(bench: Bench) -> None:
    """A restored run has its own --gateway, or none; numbers go on."""
    times = TIMES[:3] + [(cycle + 50_000_000, one) for cycle, one in TIMES[3:]]  # long after the peer has replied
    with peer(lambda number, data: [echoed(data)]) as (_, place):
        first = run(bench, times, "--gateway", f"dut={place}", "--until", until(SENT[:3]), "--checkpoint", "middle")
    restore = ["--restore", str(first.directory / "middle")]
    alone = run(bench, times, *restore)
    assert (alone.stat("dut", "frames_sent"), alone.stat("dut", "frames_received")) == (3, len(SENT))
    left = SENT[first.stat("dut", "frames_received") :]
    with peer(lambda number, data: [echoed(data)]) as (other, place):
        options = [*restore, "--gateway", f"dut={place}", "--record-links", "links"]
        joined = run(bench, times, *options, "--until", until(SENT[:3] + left))
    assert left and other.came == left
    begin = (joined.directory / "links/dut.frames").read_text().splitlines()[0].split()
    assert begin[:3] == ["frames", "1", "100000000"] and int(begin[3]) > 0
    cycles = str(joined.stats["run"]["cycles"]["clk"])
    again = run(bench, times, *restore, "--replay-links", str(joined.directory / "links"), "--cycles", cycles)
    assert again.stats["statistics"] == joined.stats["statistics"]
    wrong = run(bench, times, "--replay-links", str(joined.directory / "links"), ok=False)
    assert f"began at another time: tick {begin[3]}, and this one at 0 (restore the same checkpoint)" in wrong.err


def test_any_datagrams(bench: Bench) -> None:
    """Whatever comes, it is a frame for the device or refused; nothing else happens."""
    chance = random.Random(5)
    lengths = [chance.choice([0, 1, 13, 14, 15, 59, 60, 61, 1513, 1514, 1515, 1518, 1519, chance.randrange(3000)]) for _ in range(400)]
    sent = [chance.randbytes(length) for length in lengths]
    taken = [one for one in sent if 14 <= len(one) <= 1514 or (len(one) <= 1518 and one[12:14] in (b"\x81\x00", b"\x88\xa8"))]
    burst = iter([sent[at : at + 8] for at in range(0, len(sent), 8)])
    cycles = [(1 + 80000 * n, noise(60, n)) for n in range(len(sent) // 8)]  # the kernel keeps few
    with peer(lambda number, data: next(burst, [])) as (_, place):
        ran = run(bench, cycles, "--gateway", f"dut={place}", "--until", until(taken))
    assert [one.data for one in frames_of(ran)] == [one.ljust(60, b"\0") for one in taken]
    assert len(sent) - len(taken) - 8 <= ran.stat("dut", "refused") <= len(sent) - len(taken)
