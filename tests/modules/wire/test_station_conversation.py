"""station's TCP against a client that is written down here: streams both ways over a wire that loses and reorders.

The client replies to what the station sends, and the station to what the client sends.  So the client is played from the
start on what the station sent in the run before, and the station is run on what the client sends then, until nothing
changes any more: since every reply takes time, each run is right for longer than the one before."""

import heapq
import random
import zlib

import dpkt
import pytest

from tests.modules.assists import noise
from tests.modules.harness import Bench, collect
from tests.modules.wire import stations
from tests.modules.wire.stations import NETLIST, Sent, mss, stream, tcp
from tests.sample import sampled

WATCHED = NETLIST + collect("dut", "tcp_ended(received, received_crc, sent, sent_crc)")
RTO, DELAY, SIZE = 30000, 2000, 1000  # cycles, cycles, bytes
ISN, ISS = 2**32 - 2000, 2**32 - 7000


class Client:
    """Opens a connection, sends `data` with go-back-N, keeps what comes out of order, and closes when it has `wanted` bytes."""

    def __init__(self, data: bytes, wanted: int, loss: float, jitter: int, seed: int) -> None:
        self.data, self.wanted, self.loss, self.jitter, self.seed = data, wanted, loss, jitter, seed
        self.inputs: list[tuple[int, bytes]] = []
        self.events: list[tuple[int, int, str, dpkt.tcp.TCP | None]] = []
        self.una, self.next, self.most, self.window = -1, -1, -1, 0  # of its stream: -1 is SYN
        self.kept: dict[int, bytes] = {}
        self.received, self.finished, self.sent, self.timers, self.expired, self.iss = b"", False, 0, 0, 0, 0

    def lost(self, way: str, number: int) -> tuple[bool, int]:
        rng = random.Random(f"{self.seed} {way} {number}")
        return rng.random() < self.loss, rng.randrange(self.jitter + 1)

    def send(self, now: int, at: int, flags: str = "", data: bytes = b"") -> None:
        gone, later = self.lost("out", self.sent)
        self.sent += 1
        acknowledgment = None if "S" in flags else self.iss + 1 + len(self.received) + self.finished
        options = mss(SIZE) if "S" in flags else b""
        if not gone:
            self.inputs.append((now + DELAY + later, tcp(ISN + 1 + at, acknowledgment, flags, data, options=options)))

    def pump(self, now: int) -> None:
        """Sends what the window permits; FIN when all has come."""
        if self.next < 0:
            self.send(now, -1, "S")
            self.next = 0
        while self.una >= 0 and self.next < len(self.data) and self.next - self.una < min(self.window, 8 * SIZE):
            part = self.data[self.next : min(self.next + SIZE, self.una + self.window)]
            self.send(now, self.next, "P", part)
            self.next += len(part)
        if self.una >= 0 and self.next == len(self.data) and len(self.received) == self.wanted:
            self.send(now, self.next, "F")
            self.next += 1
        self.most = max(self.most, self.next)

    def restart(self, now: int) -> None:
        self.timers += 1
        heapq.heappush(self.events, (now + RTO, self.timers, "timer", None))

    def arrive(self, now: int, t: dpkt.tcp.TCP) -> None:
        if t.flags & dpkt.tcp.TH_SYN:
            self.iss = t.seq
        acknowledged = (t.ack - ISN - 1) & 0xFFFFFFFF
        if self.una < acknowledged <= self.most:
            self.una, self.next = acknowledged, max(self.next, acknowledged)
            self.restart(now)
        self.window = t.win
        at = (t.seq - self.iss - 1) & 0xFFFFFFFF
        if t.data:
            self.kept[at] = t.data
        while (place := next((k for k in self.kept if k <= len(self.received)), None)) is not None:
            part = self.kept.pop(place)
            self.received += part[len(self.received) - place :]
        if t.flags & dpkt.tcp.TH_FIN and at + len(t.data) == len(self.received):
            self.finished = True
        if t.data or t.flags & (dpkt.tcp.TH_FIN | dpkt.tcp.TH_SYN):
            self.send(now, max(self.next, 0))
        self.pump(now)

    def play(self, frames: list[Sent]) -> list[tuple[int, bytes]]:
        """What it sends, if the station sends these."""
        for number, frame in enumerate(frames):
            gone, later = self.lost("in", number)
            if not gone:
                heapq.heappush(self.events, (frame.last + later, 1000000 + number, "segment", frame.ip.data))
        self.pump(1)
        self.restart(1)
        while self.events:
            now, number, kind, segment = heapq.heappop(self.events)
            if segment is not None:
                self.arrive(now, segment)
            elif kind == "timer" and number == self.timers and self.una <= len(self.data) and self.expired < 50:
                self.expired += 1
                self.next = self.una
                self.pump(now)
                self.restart(now)
        return sorted(self.inputs, key=lambda one: one[0])


@pytest.mark.parametrize(("up", "down", "loss", "jitter", "seed"), sampled([(20000, 20000, 0.0, 0, 1), (9000, 30001, 0.1, 0, 2), (20000, 9001, 0.1, 0, 3), (12000, 12000, 0.0, 4000, 4), (7000, 9000, 0.25, 3000, 5)], 3, 1))
def test_both_ends_agree_on_both_streams(bench: Bench, up: int, down: int, loss: float, jitter: int, seed: int) -> None:
    data, frames, inputs = noise(up, seed), [], None
    for _ in range(150):
        client = Client(data, down, loss, jitter, seed)
        before, inputs = inputs, client.play(frames)
        if inputs == before:
            break
        seen = stations.play(bench, WATCHED, inputs, inputs[-1][0] + 20 * RTO, tcp_send=down, tcp_initial_sequence=ISS, tcp_retransmit="200us", tcp_retries=100)
        frames = seen.frames
    assert inputs == before, f"seed {seed}: it never ends"
    assert client.received == stream(down) and client.finished, f"seed {seed}: {len(client.received)} of {down} bytes"
    assert [event[1:] for event in seen.happened("tcp_ended")] == [(up, zlib.crc32(data), down, zlib.crc32(stream(down)))], f"seed {seed}"
    counted = seen.ran.counted("dut")
    assert (counted.get("tcp_retransmitted", 0) > 0) == (loss > 0) and (jitter == 0 or counted["tcp_out_of_order"] > 0)
