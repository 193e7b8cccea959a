"""scsi_disk: commands, messages, tags, disconnecting and reselecting on a bus; sense; random commands with their contents; its ports cycle by cycle."""

import random

import pytest

from tests.modules.disk.scsi import INITIATOR, ORDERED, Script, Seen, lines, play
from tests.modules.harness import MOST_CHECKED, Bench, collect, happened
from tests.modules.mips import BundleDevice, struct
from tests.sample import sampled, seldom

SECTORS = 1600
IMAGE = random.Random(9).randbytes(512 * SECTORS)
FAST = "rpm = 6000000; single_seek = 500 ns; average_seek = 2 us; full_seek = 4 us; head_switch = 300 ns; overhead = 100 ns;"
BUS = "bus_free = 8 ns; arbitration = 24 ns; selection = 10 ns; byte_time = 5 ns; rate = 400 MB/s;"
EVENTS = collect("dut", "command(code, initiator, tag, first, count)", "ended(code, tag, status)")
READY = bytes(6)


def read(sector: int, count: int) -> bytes:
    return bytes([0x28, 0, *sector.to_bytes(4, "big"), 0, *count.to_bytes(2, "big"), 0])


def write(sector: int, count: int) -> bytes:
    return bytes([0x2A, 0, *sector.to_bytes(4, "big"), 0, *count.to_bytes(2, "big"), 0])


def run(bench: Bench, script: Script, cycles: int, **more: object) -> list[Seen]:
    arguments = {"bus": BUS, "mechanics": FAST, "after": EVENTS, "disk": "disconnect_after = 200 ns;"} | more
    ran, seen = play(bench, script, cycles, IMAGE, **arguments)  # type: ignore[arg-type]
    run.last = ran
    return seen


def commands(bench: Bench, *each: bytes, ready: bool = True, **more: object) -> list[Seen]:
    """Commands one after the other, without tags; behind one that takes UNIT ATTENTION away."""
    script = Script()
    for k, one in enumerate([READY, *each] if ready else each):
        script.command(3000 * k, one, disconnects=False)
    return run(bench, script, 3000 * (len(each) + 1) + 10_000, **more)[1 if ready else 0 :]


def sense(data: bytes) -> tuple[int, int, int]:
    assert data[0] == 0x70 and data[7] == 10
    return data[2], data[12], data[13]


@seldom
def test_commands_that_need_no_disk(bench: Bench) -> None:
    seen = commands(bench, bytes([0x12, 0, 0, 0, 255, 0]), bytes([0x12, 0, 0, 0, 5, 0]), bytes([0x25, *bytes(9)]), bytes([0x1A, 8, 8, 0, 255, 0]), bytes([0x1A, 0, 0x3F, 0, 4, 0]), bytes([0x1A, 0, 0x48, 0, 255, 0]), bytes([0xA0, *bytes(5), 0, 0, 1, 0, 0, 0]), READY)  # fmt: skip
    assert [one.status for one in seen] == [0] * 8
    inquiry = seen[0].data()
    assert len(inquiry) == 36 and inquiry[:8] == bytes([0, 0, 2, 2, 31, 0, 0, 0x12]) and inquiry[8:] == b"SPINACH DISK            1.0 "
    assert seen[1].data() == inquiry[:5]
    assert seen[2].data() == (SECTORS - 1).to_bytes(4, "big") + (512).to_bytes(4, "big")
    assert seen[3].data() == bytes([15, 0, 0, 0, 8, 10, *bytes(10)])
    assert seen[4].data() == bytes([23, 0, 0, 8])
    assert seen[5].data()[12:15] == bytes([8, 10, 0])
    assert seen[6].data() == bytes([0, 0, 0, 8, *bytes(12)])
    assert [phase for phase, _ in seen[0].phases] == ["message_out", "command", "data_in", "status", "message_in"]
    assert seen[7].messages() == [b"\0"] and all(one.end for one in seen)
    assert run.last.counted("dut")["commands"] == 9


@seldom
@pytest.mark.parametrize(("capacity", "last"), sampled([("3 GiB", 3 * 2**21 - 1), ("2 TiB", 2**32 - 1), ("2049 GiB", None)], 3, 1))
def test_large_disks(bench: Bench, capacity: str, last: int | None) -> None:
    body = f"contents.capacity = {capacity}; contents.padded = true; mechanics.cylinders = 110000000;"
    large = {"after": body, "contents__commit": ""}
    if last is None:
        wanted = r"dut: the disk has 4297064448 sectors, but SCSI commands address only 4294967296 sectors \(2 TiB\)"
        with pytest.raises(AssertionError, match=wanted):
            commands(bench, READY, **large)
        return
    assert commands(bench, bytes([0x25, *bytes(9)]), **large)[0].data() == last.to_bytes(4, "big") + (512).to_bytes(4, "big")


@seldom
def test_buffered_writes_are_reported(bench: Bench) -> None:
    assert commands(bench, bytes([0x1A, 8, 8, 0, 255, 0]), disk="write_buffer = true; vendor = \"WE\"; offset = 0;")[0].data()[6] == 4


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (bytes([0xC0, *bytes(9)]), (5, 0x20, 0)), (bytes([0x12, 1, 0x80, 0, 255, 0]), (5, 0x24, 0)), (bytes([0x1A, 0, 1, 0, 255, 0]), (5, 0x24, 0)),
        (bytes([0x1A, 0, 0xC8, 0, 255, 0]), (5, 0x24, 0)), (bytes([0xA0, *bytes(9), 0, 0]), (5, 0x24, 0)), (read(SECTORS, 1), (5, 0x21, 0)), (read(SECTORS - 1, 2), (5, 0x21, 0)),
    ],
)  # fmt: skip
def test_sense(bench: Bench, command: bytes, wanted: tuple[int, int, int]) -> None:
    """CHECK CONDITION, and REQUEST SENSE says why, once."""
    seen = commands(bench, command, bytes([3, 0, 0, 0, 18, 0]), bytes([3, 0, 0, 0, 18, 0]))
    assert [one.status for one in seen] == [2, 0, 0]
    assert sense(seen[1].data()) == wanted and sense(seen[2].data()) == (0, 0, 0)
    assert run.last.counted("dut")["failures"] == 2


def test_unit_attention_and_other_units(bench: Bench) -> None:
    script = Script()
    script.command(0, bytes([0x12, 0, 0, 0, 36, 0]), disconnects=False)  # which does not need it
    script.command(3000, READY, disconnects=False)
    script.command(6000, bytes([3, 0, 0, 0, 18, 0]), disconnects=False)
    script.command(9000, READY, disconnects=False)
    for k, one in enumerate([READY, bytes([0x12, 0, 0, 0, 36, 0]), bytes([3, 0, 0, 0, 18, 0])]):
        script.command(12_000 + 3000 * k, one, disconnects=False, unit=2)
    seen = run(bench, script, 30_000)
    assert [one.status for one in seen] == [0, 2, 0, 0, 2, 0, 0]
    assert sense(seen[2].data()) == (6, 0x29, 0) and seen[5].data()[0] == 0x7F and sense(seen[6].data()) == (5, 0x25, 0)


def test_the_platters_stop_and_start(bench: Bench) -> None:
    seen = commands(bench, bytes([0x1B, 0, 0, 0, 0, 0]), read(0, 1), READY, bytes([3, 0, 0, 0, 18, 0]), bytes([0x1B, 0, 0, 0, 1, 0]), READY)
    assert [one.status for one in seen] == [0, 2, 2, 0, 0, 0] and sense(seen[3].data()) == (2, 4, 2)


@seldom
def test_small_and_large_forms(bench: Bench) -> None:
    """READ (6) of 0 is 256 sectors; of READ (10) it is none."""
    script = Script()
    script.command(0, READY, disconnects=False)
    script.command(3000, bytes([8, 0, 0, 5, 0, 0]), disconnects=False)
    script.command(680_000, read(7, 0), disconnects=False)
    script.command(683_000, bytes([0x0A, 0, 0, 9, 1, 0]), disconnects=False, data=b"w" * 512)
    script.command(710_000, bytes([0x35, *bytes(9)]), disconnects=False)
    script.command(730_000, bytes([8, 0, 0, 9, 1, 0]), disconnects=False)
    seen = run(bench, script, 750_000)[1:]
    assert [one.status for one in seen] == [0] * 5
    assert seen[0].data() == IMAGE[5 * 512 : 261 * 512] and seen[1].data() == b"" and seen[4].data() == b"w" * 512
    counted = run.last.counted("dut")
    assert (counted["reads"], counted["writes"], counted["commands"]) == (3, 1, 6)
    assert [one[1:] for one in happened(run.last, "command")][1] == (8, INITIATOR, 0, 5, 256) and happened(run.last, "ended")[-1][1:] == (8, 0, 0)


def test_disconnecting_and_reselecting(bench: Bench) -> None:
    """When there is nothing for `disconnect_after`; data come in a connection of their own, with the tag; pointers are saved only when data moved."""
    script = Script()
    script.command(0, READY)
    script.command(3000, read(200, 2), tag=77)
    seen = run(bench, script, 40_000)
    first, again, *more = seen[1:]
    assert (first.reselects, again.reselects) == (False, True)
    assert [phase for phase, _ in first.phases] == ["message_out", "command", "message_in"] and first.messages() == [b"\x04"]
    assert again.phases[0] == ("message_in", bytes([0x80, 0x20, 77]))
    assert all(one.messages()[-1] == b"\x02\x04" for one in [again, *more][:-1])
    assert b"".join(one.data() for one in [again, *more]) == IMAGE[200 * 512 : 202 * 512] and [again, *more][-1].status == 0
    assert run.last.counted("dut")["disconnects"] == len(seen) - 2
    assert run.last.counted("dut")["tagged"] == 1


@seldom
def test_the_cycle_of_disconnecting(bench: Bench) -> None:
    """The first byte of the message comes `disconnect_after` behind the last one of the command, and a beat's time."""
    ends = []
    for disconnect_after in (200, 500):
        script = Script()
        script.command(0, READY)
        script.command(3000, read(200, 1))
        seen = run(bench, script, 40_000, disk=f"disconnect_after = {disconnect_after} ns;")
        ends.append(seen[1].end - seen[1].cycle)
    assert ends[1] - ends[0] == 300


@seldom
def test_tags_are_done_as_the_disk_has_them(bench: Bench) -> None:
    """Three reads wait at once; the nearest one is first. An ordered one waits for those before it, and others for it."""
    far, near = 1500, 60
    for kind, order in ((0x20, [1, 3, 2]), (ORDERED, [1, 2, 3])):
        script = Script()
        script.command(0, READY)
        script.command(3000, read(20, 1), tag=1)
        script.command(3100, read(far, 1), tag=2, kind=kind)
        script.command(3200, read(near, 1), tag=3)
        seen = run(bench, script, 40_000, mechanics=FAST + "order = disk_order.nearest;")
        tags = [one.phases[0][1][2] for one in seen if one.reselects]
        assert tags == order
        data = {one.phases[0][1][2]: one.data() for one in seen if one.reselects}
        assert data == {tag: IMAGE[512 * at : 512 * (at + 1)] for tag, at in ((1, 20), (2, far), (3, near))}


@seldom
def test_more_commands_than_wait(bench: Bench) -> None:
    script = Script()
    script.command(0, READY)
    for tag in range(4):
        script.command(3000 + 100 * tag, read(100 * tag + 50, 1), tag=tag)
    seen = run(bench, script, 120_000, disk="queue = 2; disconnect_after = 200 ns;")
    statuses = [one.status for one in seen if any(phase == "status" for phase, _ in one.phases)]
    assert sorted(statuses) == [0, 0, 2, 0x28, 0x28] and run.last.counted("dut")["full"] == 2


@seldom
def test_writes(bench: Bench) -> None:
    """Data are taken at once, in beats of any size; the status comes in a connection of its own when they are on the disk."""
    for each in (8, 5):
        data = random.Random(each).randbytes(3 * 512)
        script = Script()
        script.command(0, READY)
        script.command(3000, write(300, 3), tag=5, data=data, each=each)
        script.command(90_000, read(300, 3), disconnects=False)
        seen = run(bench, script, 150_000)
        assert [phase for phase, _ in seen[1].phases] == ["message_out", "command", "data_out", "message_in"]
        assert seen[1].messages() == [b"\x02\x04"] and seen[2].status == 0 and seen[2].reselects
        assert seen[-1].data() == data
        after = (run.last.directory / "after").read_bytes()
        assert after == IMAGE[: 300 * 512] + data + IMAGE[303 * 512 :]


@seldom
def test_an_error_of_the_disk_behind(bench: Bench) -> None:
    """A unit that is larger than what is behind it cannot be; what the disk behind refuses is a medium error."""
    port = {
        "bus.lines": ("out", 1, "scsi_lines"), "bus.request": ("out", 1, "scsi_request"), "bus.sent": ("out", 1, "scsi_beat"), "bus.received": ("in", 1, "scsi_beat"), "bus.bus": ("in", 1, "scsi_state"),
        "disk.request": ("out", 1, "disk_request"), "disk.data": ("out", 1, "disk_sector"), "disk.reply": ("in", 1, "disk_reply"), "disk.sectors": ("in", 1, "uint64"),
    }  # fmt: skip
    device = BundleDevice(bench, "scsi_disk", port, "id = 3; disconnect_after = 3 ns;", before="import disk_types; import scsi_types;\n")

    def bus(phase: str, **what: object) -> str:
        state = dict.fromkeys(("connected", "absent", "reset", "attention", "requested", "pending"), False) | {"connected": True, "phase": phase, "peer": 7} | what
        return struct(**{name: state[name] for name in ("connected", "absent", "reset", "attention", "requested", "pending", "phase", "peer")})

    def own(**what: object) -> str:
        return lines(3, **what)  # type: ignore[arg-type]

    nobody, free = bus("data_out", connected=False, peer=0), own()
    got = [struct(bytes=byte, count=1, attention=False) for byte in (0xC0, *read(4, 1))]
    rows = ["bus_bus | bus_received | disk_reply | disk_sectors | bus_lines | bus_sent | bus_sent.ack | bus_request | disk_request"]

    def row(state: str, received: str, reply: str, shown: str, sent: str = ".", wants: str = ".", disk: str = ".") -> None:
        rows.append(f"{state} | {received} | {reply} | 8 | {shown} | {sent} | 1 | {wants} | {disk}")

    row(nobody, ".", ".", free)
    row(bus("message_out", attention=True), ".", ".", free)
    row(bus("message_out", attention=True), got[0], ".", own(responds=False, busy=True, requests=True, phase="message_out"))
    for byte in got[1:]:
        row(bus("command"), byte, ".", own(responds=False, busy=True, requests=True, phase="command"))
    # UNIT ATTENTION comes first, as the status and a message.
    waits = own(responds=False, busy=True, phase="command")
    row(bus("command"), ".", ".", own(responds=False, busy=True, phase="status"), struct(bytes=2, count=1, attention=False))
    row(bus("status", pending=True), ".", ".", own(responds=False, busy=True, phase="status"))
    row(bus("status"), ".", ".", own(responds=False, busy=True, phase="status"))
    row(bus("status"), ".", ".", own(responds=False, busy=True, phase="message_in"), struct(bytes=0, count=1, attention=False))
    row(bus("message_in", pending=True), ".", ".", own(responds=False, busy=True, phase="message_in"))
    row(bus("message_in"), ".", ".", own(responds=False, busy=True, phase="message_in"))
    row(bus("message_in"), ".", ".", own(responds=False, phase="message_in"))
    row(nobody, ".", ".", own(responds=False, phase="message_in"))
    row(nobody, ".", ".", own(phase="message_in"))
    # The next time it is carried out, and fails.
    row(bus("message_out"), ".", ".", own(phase="message_in"))
    for byte in got[1:]:
        row(bus("command"), byte, ".", own(responds=False, busy=True, requests=True, phase="command"))
    row(bus("command"), ".", ".", waits, disk=struct(op="read", tag=0, sector=4, count=1))
    row(bus("command"), ".", struct(tag=0, last=True, error=True, bytes="0x0"), waits)
    row(bus("command"), ".", ".", own(responds=False, busy=True, phase="status"), struct(bytes=2, count=1, attention=False))
    ran = device.check_table("\n".join(rows))
    assert ran.counted("dut")["commands"] == 1


@seldom
def test_synchronous_transfer(bench: Bench) -> None:
    """The longer period and the smaller offset are agreed on, and data then move at it; without, each byte has a handshake."""
    durations = {}
    for period, offset in ((0, 0), (25, 15), (12, 8), (50, 99)):
        script = Script()
        script.command(0, READY, disconnects=False)
        script.select(3000)
        script.message(0xC0, 1, 3, 1, period, offset)
        script.send(READY)
        script.command(20_000, read(0, 1), disconnects=False)
        seen = run(bench, script, 170_000, bus="bus_free = 8 ns; arbitration = 24 ns; selection = 10 ns; byte_time = 250 ns; rate = 10 MB/s;", disk="disconnect_after = 200 ns; period = 25;")
        assert seen[1].messages()[0] == bytes([1, 3, 1, max(period, 25), min(offset, 15)]) and seen[1].status == 0
        durations[period] = seen[2].data() == IMAGE[:512] and seen[2].end - seen[2].cycle
    # 64 beats of 8 bytes; what rotation adds is bounded by a revolution.
    assert abs(durations[50] - durations[25] - 512 * 100) <= 10_000 and abs(durations[0] - durations[25] - 512 * 150) <= 10_000 and durations[12] == durations[25]


def test_messages_that_it_does_not_know(bench: Bench) -> None:
    """They are rejected: a wide transfer, one that is reserved; no operation is not."""
    script = Script()
    script.command(0, READY, disconnects=False)
    for k, message in enumerate([(1, 2, 3, 1), (0x15,), (8,)]):
        script.select(3000 * (k + 1))
        script.message(0xC0, *message)
        script.send(READY)
    seen = run(bench, script, 20_000)
    assert [one.messages() for one in seen[1:]] == [[b"\x07", b"\0"], [b"\x07", b"\0"], [b"\0"]]
    assert run.last.counted("dut")["rejects"] == 2


@pytest.mark.parametrize("message", [0x06, 0x0C, 0x0D])
def test_aborts(bench: Bench, message: int) -> None:
    """ABORT and BUS DEVICE RESET end all, ABORT TAG the one; the bus is free at once, and what is aborted never comes back."""
    script = Script()
    script.command(0, READY)
    script.command(3000, read(500, 1), tag=1)
    script.command(3100, read(900, 1), tag=2)
    script.select(3200)
    script.message(0xC0, *([0x20, 2] if message == 0x0D else []), message)
    script.command(60_000, READY, disconnects=False)
    script.command(63_000, read(3, 1), tag=2)
    seen = run(bench, script, 120_000)
    tags = [one.phases[0][1][2] for one in seen if one.reselects]
    assert tags == ([1, 2] if message == 0x0D else [2])
    assert seen[-1].data() == IMAGE[3 * 512 : 4 * 512]
    assert next(one for one in seen if one.cycle > 60_000).status == (2 if message == 0x0C else 0)
    assert run.last.counted("dut")["aborts"] == (1 if message == 0x0D else 2)


@pytest.mark.parametrize("seed", sampled(range(3), 3))
def test_random_commands(bench: Bench, seed: int) -> None:
    """Tagged reads and writes at once, with an initiator that takes and gives at random: all data are right, every command ends once."""
    rng = random.Random(seed)
    script, held, wanted = Script(), bytearray(IMAGE), {}
    script.command(0, READY)
    for tag in range(12):
        count, at = rng.choice([1, 2, 5]), 100 * tag + rng.randrange(90)
        wanted[tag] = bytes(held[512 * at : 512 * (at + count)])
        script.command(3000 + 2000 * tag, read(at, count), tag=tag)
    for tag in range(12, 24):
        count, at = rng.choice([1, 2]), 100 * (tag - 12) + rng.randrange(90)
        data = rng.randbytes(512 * count)
        held[512 * at : 512 * (at + count)] = data
        script.command(-120_000 + 20_000 * tag, write(at, count), tag=tag, data=data, each=rng.choice([8, 8, 3]))
    seen = run(bench, script, 370_000, ready=0.6, seed=seed + 1, sending__offer=0.7, sending__cancel=0.2, wanting__cancel=0.2)
    got: dict[int, bytes] = {}
    statuses: dict[int, list[int]] = {}
    tag = -1
    for one in seen[1:]:
        if one.reselects:
            tag = one.phases[0][1][2]
        else:
            tag = next(number for cycle, _, _, number, *_ in happened(run.last, "command") if one.cycle < cycle)
        got[tag] = got.get(tag, b"") + one.data()
        statuses.setdefault(tag, []).extend(data[0] for phase, data in one.phases if phase == "status" and data)
    assert {tag: got[tag] for tag in wanted} == wanted, f"seed {seed}"
    assert statuses == {tag: [0] for tag in range(24)}, f"seed {seed}"
    assert (run.last.directory / "after").read_bytes() == held, f"seed {seed}"


@seldom
def test_all_in_so_few_cycles_that_each_is_checked(bench: Bench) -> None:
    """A read and a write that disconnect, on a fast bus and a disk that turns fast; what the module says of its next event is compared with what it does."""
    data = random.Random(1).randbytes(512)
    script = Script()
    script.command(0, READY)
    script.command(400, read(20, 1), tag=1)
    script.command(1900, write(40, 1), tag=2, data=data)
    seen = run(bench, script, MOST_CHECKED, bus=BUS.replace("byte_time = 5", "byte_time = 1"), mechanics=FAST.replace("rpm = 6000000", "rpm = 60000000"))
    assert [one.reselects for one in seen] == [False, False, True, False, True] and [seen[k].status for k in (0, 2, 4)] == [2, 0, 0]
    assert seen[2].data() == IMAGE[20 * 512 : 21 * 512] and (run.last.directory / "after").read_bytes()[40 * 512 : 41 * 512] == data


def test_what_it_cannot_be(bench: Bench) -> None:
    assert "a SCSI disk needs one bus and one disk" in bench.refuse("import scsi_types; import disk_types; instance d : scsi_disk; instance b : scsi_bus; d.bus -> b.device;")
