"""scsi_bus: times of free, arbitration, selection and bytes to the cycle, who wins, nobody there, reset, random back-pressure."""

import random

import pytest

from tests.modules.disk.scsi import beat, lines, request
from tests.modules.harness import Bench, Ran, collect, happened, read_items
from tests.modules.mips import BundleDevice

FREE, ARBITRATION, SELECTION, BYTE = 8, 24, 10, 5
BODY = f"bus_free = {FREE} ns; arbitration = {ARBITRATION} ns; selection = {SELECTION} ns; byte_time = {BYTE} ns; rate = 400 MB/s;"
PORTS = {
    "device.lines": ("in", 3, "scsi_lines"), "device.request": ("in", 3, "scsi_request"), "device.sent": ("in", 3, "scsi_beat"),
    "device.received": ("out", 3, "scsi_beat"), "device.bus": ("out", 3, "scsi_state"),
}  # fmt: skip
EVENTS = collect("dut", "connection(initiator, target, reselects)", "phase(phase)", "release()")


class Play:
    """What three devices do: their lines from given cycles on, what they want and send."""

    def __init__(self) -> None:
        self.lines: list[list[tuple[int, str]]] = [[(0, lines(id))] for id in (7, 3, 5)]
        self.wants, self.sends = ["", "", ""], ["", "", ""]

    def drive(self, device: int, cycle: int, **what: object) -> None:
        self.lines[device].append((cycle, lines((7, 3, 5)[device], **what)))  # type: ignore[arg-type]

    def want(self, device: int, cycle: int, *what: object, once: bool = False) -> None:
        self.wants[device] += f"{cycle} {request(*what)}{' once' if once else ''}\n"  # type: ignore[arg-type]

    def send(self, device: int, cycle: int, data: bytes) -> None:
        self.sends[device] += f"{cycle} {beat(data)}\n"

    def run(self, bench: Bench, cycles: int, seed: int = 1, **settings: object) -> Ran:
        device = BundleDevice(bench, "scsi_bus", PORTS, BODY, before="import scsi_types;\n", after=EVENTS)
        files, values = {}, {}
        for k in range(3):
            steps, driven = sorted(self.lines[k]), []
            for cycle in range(cycles):
                driven.append(f"{cycle} {[text for at, text in steps if at <= cycle][-1]}\n")
            files |= {f"lines{k}": "".join(driven), f"wants{k}": self.wants[k], f"sends{k}": self.sends[k]}
            values |= {f"device_lines_source[{k}].script": f"lines{k}", f"device_request_source[{k}].script": f"wants{k}", f"device_sent_source[{k}].script": f"sends{k}"}
            values |= {f"device_received_sink[{k}].record": f"received{k}", f"device_bus_sink[{k}].record": f"bus{k}"}
        return bench.run(device.simulator, cycles, values | settings, files=files, seed=seed)


def states(ran: Ran, device: int, word: str) -> list[int]:
    """The cycles in which a device sees this in the bus's state."""
    return [cycle for cycle, text in read_items(ran.directory / f"bus{device}") if word in text]


WON = ARBITRATION + SELECTION  # cycles from a request on a free bus to its acceptance


def test_the_times_of_a_connection(bench: Bench) -> None:
    """Free, arbitration, selection; both see the connection in the next cycle; the bus is free for others when the target has left it."""
    play = Play()
    play.want(0, 20, 3, False, True)
    won = 20 + WON
    play.drive(1, won + 2, busy=True, phase="command")
    play.drive(1, won + 40)
    play.want(1, won + 45, 7, True)
    ran = play.run(bench, 200)
    assert happened(ran, "connection") == [(won, 7, 3, 0), (won + 40 + FREE + WON + 0, 7, 3, 1)]
    assert states(ran, 0, "connected=true")[:1] == [won + 1] and states(ran, 1, "connected=true")[:40] == list(range(won + 1, won + 41))
    assert "phase=message_out" in dict(read_items(ran.directory / "bus0"))[won + 1] and "attention=true" in dict(read_items(ran.directory / "bus1"))[won + 1]
    assert happened(ran, "phase") == [(won + 2, 2)] and happened(ran, "release")[0] == (won + 40,)
    assert states(ran, 2, "connected=true") == []
    counted = ran.counted("dut")
    assert (counted["selections"], counted["reselections"]) == (1, 1)
    assert counted["waited"] == 2 * WON + FREE - 5


def test_cycles_are_counted_while_they_pass(bench: Bench) -> None:
    """During a connection, for which another device waits."""
    play = Play()
    play.want(0, 20, 3, False, True)
    won = 20 + WON
    play.drive(1, won + 2, busy=True, phase="command")
    play.want(1, won + 10, 7, True)
    first, second = (play.run(bench, cycles).counted("dut") for cycles in (won + 30, won + 37))
    assert (second["busy"] - first["busy"], second["waited"] - first["waited"]) == (7, 7)
    assert 30 < first["busy"] <= won + 10 and 30 <= first["waited"] <= won + 10


@pytest.mark.parametrize("late", [0, ARBITRATION, ARBITRATION + 1])
def test_the_highest_address_wins(bench: Bench, late: int) -> None:
    """Among those that want the bus when arbitration ends; the others have it afterwards."""
    play = Play()
    play.want(1, 20, 7, True)
    play.want(2, 20 + late, 7, True)
    for device in (1, 2):
        play.drive(device, 20 + WON + 1, busy=True, phase="message_in")
        play.drive(device, 20 + WON + 30)
    ran = play.run(bench, 300)
    first = happened(ran, "connection")[0]
    assert first == (20 + WON, 7, 3 if late > ARBITRATION else 5, 1) and len(happened(ran, "connection")) >= 2


def test_nobody_responds(bench: Bench) -> None:
    """The winner keeps the bus until it has waited enough; one that does not respond is as if it were not there."""
    play = Play()
    play.want(0, 20, 2)
    play.drive(0, 20 + WON + 2, busy=True)
    play.drive(0, 150)
    play.drive(1, 100, responds=False)
    play.want(0, 160, 3)
    ran = play.run(bench, 300)
    assert states(ran, 0, "absent=true")[:1] == [20 + WON + 1] and 150 in states(ran, 0, "absent=true") and 151 not in states(ran, 0, "absent=true")
    assert ran.counted("dut")["absent"] == 2 and happened(ran, "connection") == []


def test_a_request_that_is_withdrawn(bench: Bench) -> None:
    play = Play()
    play.want(0, 20, 3, once=True)
    ran = play.run(bench, 200)
    assert happened(ran, "connection") == [] and ran.counted("dut")["busy"] == ARBITRATION
    assert ran.counted("dut")["waited"] == 1


def connected(play: Play, phase: str, cycle: int = 20, period: int = 0) -> int:
    """A connection of devices 0 and 1 in a phase, in whose first cycle it may be used."""
    won = cycle + WON
    play.want(0, cycle, 3)
    play.drive(1, won + 2, busy=True, phase=phase, requests=True, period=period)
    return won + 3


# What a beat takes: of other phases and of data that is not synchronous BYTE each; else the agreed period or the rate.
@pytest.mark.parametrize(
    ("phase", "period", "count", "time"),
    [("command", 0, 1, BYTE), ("status", 25, 1, BYTE), ("message_in", 0, 2, 2 * BYTE), ("data_in", 0, 8, 8 * BYTE), ("data_in", 1, 8, 32), ("data_out", 1, 8, 32), ("data_out", 25, 8, 800), ("data_in", 25, 3, 300)],
)
def test_bytes_take_their_time(bench: Bench, phase: str, period: int, count: int, time: int) -> None:
    """N beats take N times the time of one, less a cycle."""
    play = Play()
    start = connected(play, phase, period=period)
    sender, receiver = (1, 0) if phase in ("data_in", "status", "message_in") else (0, 1)
    data = [bytes(range(8 * k, 8 * k + count)) for k in range(5)]
    for one in data:
        play.send(sender, 0, one)
    ran = play.run(bench, start + 5 * time + 10)
    assert read_items(ran.directory / f"received{receiver}") == [(start + (k + 1) * time - 1, beat(one)) for k, one in enumerate(data)]
    counted = ran.counted("dut")
    assert counted["data_bytes" if "data" in phase else "other_bytes"] == 5 * count
    assert counted.get("data_time", 0) == (5 * time if "data" in phase else 0)


def test_the_rate_bounds_the_period(bench: Bench) -> None:
    play = Play()
    start = connected(play, "data_in", period=1)
    play.send(1, 0, bytes(8))
    ran = play.run(bench, start + 900, **{"dut.rate": "10 MB/s"})
    assert [cycle for cycle, _ in read_items(ran.directory / "received0")] == [start + 799]


def test_the_target_says_when_bytes_are_taken(bench: Bench) -> None:
    """What the initiator offers waits until the target requests it, and until the phase is what both have seen."""
    play = Play()
    start = connected(play, "command")
    play.drive(1, start + 1, busy=True, phase="command")
    play.drive(1, start + 50, busy=True, phase="data_out", requests=True)
    play.send(0, 0, b"a")
    play.send(0, 0, b"b")
    ran = play.run(bench, 200)
    assert [cycle for cycle, _ in read_items(ran.directory / "received1")] == [start + BYTE - 1, start + 51 + BYTE - 1]
    assert states(ran, 0, "requested=true")[0] == start


def test_reset(bench: Bench) -> None:
    """Everybody sees it, a connection is over, and arbitration begins when it has ended."""
    play = Play()
    start = connected(play, "data_in")
    play.send(1, 0, bytes(8))
    play.drive(2, start + 10, reset=True)
    play.drive(2, start + 30)
    play.drive(1, start + 12)
    play.want(0, start + 12, 3)
    ran = play.run(bench, 300)
    for device in range(3):
        assert states(ran, device, " reset=true") == list(range(start + 11, start + 31))
    assert read_items(ran.directory / "received0") == [] and ran.counted("dut")["resets"] == 1
    assert [one[0] for one in happened(ran, "connection")] == [20 + WON, start + 29 + FREE + WON]


@pytest.mark.parametrize("seed", range(3))
def test_random_beats(bench: Bench, seed: int) -> None:
    """Offered, cancelled and refused at random: all bytes arrive, in order, and none faster than the bus."""
    rng = random.Random(seed)
    play = Play()
    start = connected(play, "data_in")
    data = [rng.randbytes(rng.randrange(1, 9)) for _ in range(60)]
    for one in data:
        play.send(1, 0, one)
    shaken = {"device_sent_source[1].offer": 0.5, "device_sent_source[1].cancel": 0.3, "device_received_sink[0].ready": 0.4}
    ran = play.run(bench, start + 5000, seed=seed + 1, **shaken)
    seen = read_items(ran.directory / "received0")
    assert [text for _, text in seen] == [beat(one) for one in data], f"seed {seed}"
    gaps = [(later[0] - first[0], len(one)) for first, later, one in zip(seen, seen[1:], data[1:], strict=False)]
    assert all(gap >= max(BYTE * size, 2) for gap, size in gaps), f"seed {seed}"


def test_what_is_no_bus(bench: Bench) -> None:
    text = "import scsi_types; instance b : scsi_bus; instance d[9] : scsi_disk; for (i = 0; i < 9; i = i + 1) { d[i].bus -> b.device; }"
    assert "at most 8 devices, not 9" in bench.refuse(text)
