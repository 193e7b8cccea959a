"""scsi_adapter: registers, selections, transfers with and without DMA, messages, interrupts, reselection, as a driver of the 53C9x uses them, with a disk on the bus."""

import random

import pytest

from tests.modules.disk.scsi import beat, connections
from tests.modules.harness import MOST_CHECKED, Bench, Ran, collect, happened, read_monitor, read_replies
from tests.modules.mips import BundleDevice, struct
from tests.sample import sampled, seldom

IMAGE = random.Random(3).randbytes(512 * 1600)
RAM = 0x10000
LOW, MIDDLE, FIFO, COMMAND, STATUS, INTERRUPT, STEP, FLAGS, CONTROL1, CLOCK, TEST, CONTROL2, CONTROL3, CONTROL4, HIGH = range(15)
DMA, START_COUNT, START_ADDRESS, COUNT, ADDRESS, DMA_STATUS, LIST, LIST_ADDRESS = range(16, 24)
RESELECTED, DONE, SERVICE, DISCONNECTED, ILLEGAL, RESET = 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
DATA_OUT, DATA_IN, COMMAND_PHASE, STATUS_PHASE, MESSAGE_OUT, MESSAGE_IN = 0, 1, 2, 3, 6, 7
TO_MEMORY, IDLE, BLAST, ABORT, START, BY_LIST = 0x80, 0, 1, 2, 3, 0x10

NETLIST = (
    """
import memory_types; import bus_types; import disk_types; import scsi_types;
instance software : memory_source { width = 64; };
instance inspector : memory_source { width = 64; };
instance dut : scsi_adapter { reset_time = 50 ns; clock_frequency = 1 GHz; };
instance host : host_bus { memory_size = 64 KiB; cpu_width = 64; bus_frequency = 400 MHz; overhead = 0 percent; };
instance bus : scsi_bus { bus_free = 8 ns; arbitration = 24 ns; selection = 10 ns; byte_time = 5 ns; rate = 400 MB/s; };
instance disk : scsi_disk { id = 3; disconnect_after = 200 ns; };
instance mechanics : disk_mechanics { cylinders = 40; heads = 2; sectors = 20; segment_sectors = 32; rpm = 6000000; single_seek = 500 ns; average_seek = 2 us; full_seek = 4 us; head_switch = 300 ns; overhead = 100 ns; };
instance contents : disk_image { capacity = 800 KiB; };
instance line : monitor; instance end : sink;
software.memory -> dut.in;
inspector.memory -> host.memory;
dut.memory -> host.bus;
dut.bus -> bus.device;
disk.bus -> bus.device;
disk.disk -> mechanics.in;
mechanics.out -> contents.in;
dut.interrupt -> line.in;
line.out -> end.in : uint32;
"""
    + collect("dut", "raised(interrupt, phase, step)", "access(number, value, write)")
    + collect("bus", "connection(initiator, target, reselects)", "phase(phase)", "release()")
)


class Driver:
    """What software does, at given cycles, and what it must read."""

    def __init__(self) -> None:
        self.script, self.cycle = "", 0
        self.wanted: list[tuple[int, int] | None] = []  # what must be read, and which bits of it
        self.memory: dict[int, bytes] = {}

    def at(self, cycle: int) -> "Driver":
        assert cycle >= self.cycle
        self.cycle = cycle
        return self

    def write(self, number: int, value: int, size: int = 1) -> "Driver":
        self.script += f"{self.cycle} write {size} {4 * number} {value}\n"
        self.wanted.append(None)
        self.cycle += 4
        return self

    def read(self, number: int, value: int | None, size: int = 1, mask: int = 0xFFFFFFFF) -> "Driver":
        self.script += f"{self.cycle} read {size} {4 * number}\n"
        self.wanted.append(None if value is None else (value, mask))
        self.cycle += 4
        return self

    def interrupt(self, bits: int, phase: int | None = None, step: int | None = None, more: int = 0) -> "Driver":
        """Status, step, and the interrupt, which is over when it was read; that no bytes are left of the count only where `more` says it."""
        self.read(STATUS, None if phase is None else 0x80 | phase | more, mask=0xFF if more else 0xEF).read(STEP, step).read(INTERRUPT, bits)
        return self

    def set_up(self) -> "Driver":
        self.write(CONTROL1, 7).write(CONTROL2, 0x40).write(INTERRUPT, 1).write(COMMAND, 0x44)
        return self

    def fill(self, data: bytes) -> "Driver":
        self.write(COMMAND, 1)
        for byte in data:
            self.write(FIFO, byte)
        return self

    def dma(self, address: int, count: int, to_memory: bool, command: int = 0x90) -> "Driver":
        way = TO_MEMORY if to_memory else 0
        self.write(DMA, IDLE | way).write(LOW, count & 255).write(MIDDLE, count >> 8 & 255).write(HIGH, count >> 16)
        self.write(START_COUNT, count, 4).write(START_ADDRESS, address, 4).write(COMMAND, command).write(DMA, START | way)
        return self

    def select(self, command: bytes, tag: int | None = None, target: int = 3, disconnects: bool = True) -> "Driver":
        messages = bytes([0x80 | 0x40 * disconnects, *([] if tag is None else [0x20, tag])])
        self.write(STATUS, target).fill(messages + command).write(COMMAND, 0x42 if tag is None else 0x46)
        return self

    def complete(self, status: int) -> "Driver":
        """The status phase was seen: status and message by one command, and the bus is free."""
        self.write(COMMAND, 1).write(COMMAND, 0x11)
        self.at(self.cycle + 60).interrupt(DONE, MESSAGE_IN).read(FIFO, status).read(FIFO, 0).write(COMMAND, 0x12)
        self.at(self.cycle + 40).interrupt(DISCONNECTED).write(COMMAND, 0x44)
        return self

    def ready(self) -> "Driver":
        """A command that takes UNIT ATTENTION."""
        self.select(bytes(6), disconnects=False)
        self.at(self.cycle + 200).interrupt(DONE | SERVICE, STATUS_PHASE, 4)
        return self.complete(2)


def play(bench: Bench, driver: Driver, cycles: int, image: bytes = IMAGE, seed: int = 1, looks: int = RAM, **settings: object) -> tuple[Ran, bytes]:
    """Runs it and compares what it read; the first bytes of memory at the end.  With few of them a run is short enough for what modules
    say of their next event to be checked in each cycle."""
    stores = "".join(f"0 write 8 {at + k} {int.from_bytes(data[k : k + 8], 'little'):#x}\n" for at, data in driver.memory.items() for k in range(0, len(data), 8))
    reads = "".join(f"{cycles} read 8 {k}\n" for k in range(0, looks, 8))
    values: dict[str, object] = {"software.script": "script", "software.record": "accesses", "software.outstanding": 4, "inspector.script": "looks", "inspector.record": "memory", "inspector.outstanding": 8, "contents.image": "disk", "contents.commit": "after", "line.record": "line"}  # fmt: skip
    files: dict[str, str | bytes] = {"script": driver.script, "looks": stores + reads, "disk": image}
    ran = bench.run(bench.build(NETLIST), cycles + looks // 8 + 400, values | settings, files=files, seed=seed)
    (ran.directory / "received").write_text("")
    found = [one.data for one in read_replies(ran.directory / "accesses")]
    assert len(found) == len(driver.wanted)
    lines = driver.script.splitlines()
    compared = [(line, value, wanted) for line, value, wanted in zip(lines, found, driver.wanted, strict=True) if wanted is not None]
    wrong = [f"{line}: {value:#x}, not {right:#x}" for line, value, (right, mask) in compared if value & mask != right]
    assert not wrong, "\n".join([*wrong, *map(str, happened(ran, "raised")), f"in {ran.directory}"])
    return ran, b"".join(one.data.to_bytes(8, "little") for one in read_replies(ran.directory / "memory")[stores.count("\n") :])


def read_sectors(sector: int, count: int) -> bytes:
    return bytes([0x28, 0, *sector.to_bytes(4, "big"), 0, *count.to_bytes(2, "big"), 0])


def write_sectors(sector: int, count: int) -> bytes:
    return bytes([0x2A, 0, *sector.to_bytes(4, "big"), 0, *count.to_bytes(2, "big"), 0])


def test_registers(bench: Bench) -> None:
    """What a driver finds the chip by, what is kept, the FIFO, counts of 16 and 24 bits, sizes of accesses."""
    driver = Driver()
    driver.read(HIGH, 0).write(COMMAND, 2).write(COMMAND, 0x80).read(HIGH, 0x12)
    driver.write(CONTROL2, 0x40).read(CONTROL2, 0x40).write(CONTROL3, 5).read(CONTROL3, 5).write(CONTROL4, 0x80).read(CONTROL4, 0x80).write(CONTROL1, 0x17).read(CONTROL1, 0x17)
    driver.write(LOW, 0x34).write(MIDDLE, 0x12).write(HIGH, 0x56).read(LOW, 0).write(COMMAND, 0x80).at(driver.cycle + 4).read(LOW, 0x34).read(MIDDLE, 0x12).read(HIGH, 0x56)
    driver.write(LOW, 0).write(MIDDLE, 0).write(HIGH, 0).write(COMMAND, 0x80).at(driver.cycle + 4).read(HIGH, 0).read(STATUS, 0).read(COMMAND, 0x80)
    for k in range(18):
        driver.write(FIFO, k)
    driver.read(FLAGS, 16).read(FIFO, 0).read(FIFO, 1).read(FLAGS, 14).write(COMMAND, 1).read(FLAGS, 0).read(FIFO, 0)
    driver.write(START_COUNT, 0x12345678, 4).read(START_COUNT, 0x12345678, 4).read(START_COUNT, 0x78).write(START_ADDRESS, 0xCAFE0000, 4).read(START_ADDRESS, 0xCAFE0000, 4)
    driver.write(LIST, 0x88, 4).read(LIST, 0x88, 4).read(LIST_ADDRESS, 0, 4).read(COUNT, 0, 4).read(ADDRESS, 0, 4).read(TEST, 0).read(15, 0).read(30, 0)
    ran, _ = play(bench, driver, 600)
    assert ran.counted("dut") == {"commands": 5}
    assert [one[1:] for one in happened(ran, "access")][:4] == [(HIGH, 0, 0), (COMMAND, 2, 1), (COMMAND, 0x80, 1), (HIGH, 0x12, 0)]


def test_commands_that_cannot_be(bench: Bench) -> None:
    """Transfers without a connection, and what it does not know; disabling is told."""
    driver = Driver().set_up()
    for command in (0x10, 0x11, 0x20, 0x18):
        driver.write(COMMAND, command).at(driver.cycle + 8).read(DMA_STATUS, 0x10).interrupt(ILLEGAL, 0).read(DMA_STATUS, 0)
    driver.write(COMMAND, 0x45).at(driver.cycle + 8).interrupt(DONE, 0).write(COMMAND, 0x12).at(driver.cycle + 8).interrupt(0)
    ran, _ = play(bench, driver, 400, looks=0)
    assert ran.counted("dut")["interrupts"] == 5
    levels = [line.value for line in read_monitor(ran.directory / "line")]
    assert {"0", "1"} == set(levels)


@seldom
def test_it_sleeps(bench: Bench) -> None:
    """When nothing happens, also behind what did: it resets the bus."""
    text = """
    import memory_types; import scsi_types;
    instance asks : source { count = 0; }; instance told : sink; instance reads : source { count = 0; }; instance requests : sink; instance writes : sink;
    instance dut : scsi_adapter { reset_time = 50 ns; }; instance bus : scsi_bus;
    asks.out -> dut.in.request; dut.in.reply -> told.in; dut.bus -> bus.device;
    dut.memory.request -> requests.in; dut.memory.write_data -> writes.in; reads.out -> dut.memory.read_data;
    """
    ran = bench.run(bench.build(text), 4 * MOST_CHECKED, {"asks.script": "script"}, files={"script": f"100 {{op=write size=1 address={4 * COMMAND} data=3}} once\n"})
    assert ran.counted("dut") == {"commands": 1, "interrupts": 1} and ran.stats["run"]["skipped_cycles"] > 3 * MOST_CHECKED


@seldom
def test_nobody_responds(bench: Bench) -> None:
    """The interrupt comes when the timeout is over, in units of 8,192 times the clock factor: here of 1 GHz."""
    ends = []
    for factor, timeout in ((2, 1), (3, 1), (0, 1), (2, 2)):
        driver = Driver().set_up().write(CLOCK, factor).write(INTERRUPT, timeout).select(bytes(6), target=5)
        asked = driver.cycle
        driver.at(asked + 70_000).interrupt(DISCONNECTED, 0, 0).write(COMMAND, 0x44)
        ran, _ = play(bench, driver, 72_000, looks=0)
        ends.append([one for one in happened(ran, "raised") if one[1] == DISCONNECTED][0][0] - asked)
        assert ran.counted("dut")["timeouts"] == 1 and ran.counted("dut")["selections"] == 1
    first = ends[0] - 2 * 8192
    assert 24 + 10 <= first < 60 and ends == [first + 8192 * units for units in (2, 3, 8, 4)]


def test_a_command_without_data(bench: Bench) -> None:
    """Selection with messages and command from the FIFO, status and message by one command, and then the bus is free."""
    driver = Driver().set_up().ready().select(bytes(6), tag=9)
    driver.at(driver.cycle + 200).interrupt(DONE | SERVICE, STATUS_PHASE, 4).complete(0)
    ran, _ = play(bench, driver, 1500, looks=0)
    assert [phase for one in connections(ran) for phase, _ in one.phases] == 2 * ["message_out", "command", "status", "message_in"]
    assert ran.stat("disk", "tagged") == 1


@pytest.mark.parametrize("count", [36, 5])
def test_data_by_dma(bench: Bench, count: int) -> None:
    """All bytes are in memory when the interrupt comes, also of odd counts and addresses; the counter is zero."""
    driver = Driver().set_up().ready().select(bytes([0x12, 0, 0, 0, count, 0]), disconnects=False)
    driver.at(driver.cycle + 200).interrupt(DONE | SERVICE, DATA_IN, 4)
    driver.dma(0x1003, count, True).at(driver.cycle + 600).interrupt(SERVICE, STATUS_PHASE, more=0x10)
    driver.read(COUNT, 0, 4).read(ADDRESS, 0x1003 + count, 4).read(DMA_STATUS, 0x08).read(FLAGS, 0).write(DMA, IDLE | TO_MEMORY).complete(0)
    ran, memory = play(bench, driver, 3000, looks=0x1080)
    assert memory[0x1003 : 0x1003 + count] == (bytes([0, 0, 2, 2, 31, 0, 0, 0x12]) + b"SPINACH DISK            1.0 ")[:count] and memory[0x1003 + count] == 0
    assert ran.counted("dut")["written_bytes"] == count


def test_fewer_data_than_wanted(bench: Bench) -> None:
    """The target goes on to the status: what is left of the count is shown, and what came is in memory; BLAST has nothing to do."""
    driver = Driver().set_up().ready().select(bytes([0x12, 0, 0, 0, 255, 0]), disconnects=False)
    driver.at(driver.cycle + 200).interrupt(DONE | SERVICE, DATA_IN, 4)
    driver.dma(0x2000, 96, True).at(driver.cycle + 700).interrupt(SERVICE, STATUS_PHASE).read(LOW, 60).read(MIDDLE, 0).read(COUNT, 60, 4)
    driver.write(DMA, BLAST | TO_MEMORY).read(DMA_STATUS, 0x20).read(DMA_STATUS, 0).write(DMA, IDLE | TO_MEMORY).complete(0)
    _, memory = play(bench, driver, 3000, looks=0x2080)
    assert memory[0x2008:0x200F] == b"SPINACH" and memory[0x2024:0x2060] == bytes(60)


def sector_in_pieces(driver: Driver, pieces: list[tuple[int, int]], to_memory: bool) -> None:
    """Data in transfers of their own: between two of them the phase stays."""
    for k, (address, count) in enumerate(pieces):
        driver.dma(address, count, to_memory).at(driver.cycle + 20_000 if k == 0 else driver.cycle + 8000)
        last = k + 1 == len(pieces)
        driver.interrupt(SERVICE, None if last else DATA_IN if to_memory else DATA_OUT)
        driver.write(DMA, IDLE)


def test_reads_and_writes_in_pieces(bench: Bench) -> None:
    """Of any length, to places of any alignment; without leave to disconnect the connection stays."""
    pieces = [(0x3001, 7), (0x4000, 500), (0x5005, 5)]
    driver = Driver().set_up().ready().select(read_sectors(40, 1), disconnects=False)
    driver.at(driver.cycle + 15_000).interrupt(DONE | SERVICE, DATA_IN, 4)
    sector_in_pieces(driver, pieces, True)
    driver.complete(0)
    out = [(0x8003, 9), (0x9000, 503)]
    data = random.Random(4).randbytes(512)
    driver.memory = {0x8000: b"xyz" + data[:9] + bytes(4), 0x9000: data[9:] + bytes(1)}
    driver.select(write_sectors(50, 1), disconnects=False).at(driver.cycle + 500).interrupt(DONE | SERVICE, DATA_OUT, 4)
    sector_in_pieces(driver, out, False)
    driver.complete(0)
    ran, memory = play(bench, driver, driver.cycle + 1000)
    assert b"".join(memory[at : at + count] for at, count in pieces) == IMAGE[40 * 512 : 41 * 512]
    assert (ran.directory / "after").read_bytes() == IMAGE[: 50 * 512] + data + IMAGE[51 * 512 :]
    assert ran.counted("dut")["read_bytes"] >= 512


def test_disconnecting_and_reselecting(bench: Bench) -> None:
    """As Linux does it: DISCONNECT byte by byte; reselected with both addresses and the identification; the tag by DMA; then the data."""
    driver = Driver().set_up().ready().select(read_sectors(40, 1), tag=0x5A)
    driver.at(driver.cycle + 600).interrupt(DONE | SERVICE, MESSAGE_IN, 4)
    driver.write(COMMAND, 1).write(COMMAND, 0x10).at(driver.cycle + 20).interrupt(DONE, MESSAGE_IN).read(FIFO, 4).write(COMMAND, 0x12)
    driver.at(driver.cycle + 40).interrupt(DISCONNECTED).write(COMMAND, 0x44)
    driver.at(driver.cycle + 15_000).interrupt(RESELECTED | DONE, MESSAGE_IN)
    driver.read(FIFO, 0x88).read(FIFO, 0x80).write(COMMAND, 1).write(COMMAND, 0).write(COMMAND, 0x12)
    driver.at(driver.cycle + 40).interrupt(SERVICE, MESSAGE_IN)
    driver.dma(0x7000, 2, True).write(COMMAND, 0x12).at(driver.cycle + 100).interrupt(DONE, MESSAGE_IN, more=0x10).read(FLAGS, 0)
    driver.write(DMA, BLAST | TO_MEMORY).write(DMA, IDLE | TO_MEMORY).at(driver.cycle + 60).interrupt(SERVICE, DATA_IN, more=0x10)
    driver.dma(0x6000, 512, True).at(driver.cycle + 5000).interrupt(SERVICE, STATUS_PHASE, more=0x10).write(DMA, IDLE | TO_MEMORY).complete(0)
    ran, memory = play(bench, driver, driver.cycle + 500)
    assert memory[0x7000:0x7002] == bytes([0x20, 0x5A]) and memory[0x6000:0x6200] == IMAGE[40 * 512 : 41 * 512]
    assert ran.counted("dut")["reselections"] == 1 and ran.stat("disk", "disconnects") == 1


@seldom
def test_reselected_instead_of_selecting(bench: Bench) -> None:
    """What a driver writes meanwhile does not reach the FIFO, and its selection is forgotten."""
    driver = Driver().set_up().ready().select(read_sectors(40, 1), tag=7)
    driver.at(driver.cycle + 600).interrupt(DONE | SERVICE, MESSAGE_IN, 4)
    driver.write(COMMAND, 1).write(COMMAND, 0x10).at(driver.cycle + 20).interrupt(DONE, MESSAGE_IN).read(FIFO, 4).write(COMMAND, 0x12)
    driver.at(driver.cycle + 40).interrupt(DISCONNECTED).write(COMMAND, 0x44)
    driver.at(driver.cycle + 15_000).select(bytes(6), tag=8).at(driver.cycle + 100)
    driver.interrupt(RESELECTED | DONE, MESSAGE_IN).read(FLAGS, 2).read(FIFO, 0x88).read(FIFO, 0x80)
    ran, _ = play(bench, driver, driver.cycle + 500)
    assert ran.counted("dut")["selections"] == 2


@seldom
def test_a_reselection_waits_until_it_is_enabled(bench: Bench) -> None:
    """The interrupt of the bus that became free is told alone, however late it is read, and then nothing comes until the driver allows it."""
    driver = Driver().set_up().ready().select(read_sectors(40, 1), tag=7)
    driver.at(driver.cycle + 600).interrupt(DONE | SERVICE, MESSAGE_IN, 4)
    driver.write(COMMAND, 1).write(COMMAND, 0x10).at(driver.cycle + 20).interrupt(DONE, MESSAGE_IN).read(FIFO, 4).write(COMMAND, 0x12)
    driver.at(driver.cycle + 30_000).interrupt(DISCONNECTED).at(driver.cycle + 1000).read(STATUS, 0).write(COMMAND, 0x44)
    driver.at(driver.cycle + 200).interrupt(RESELECTED | DONE, MESSAGE_IN).read(FIFO, 0x88).read(FIFO, 0x80)
    ran, _ = play(bench, driver, driver.cycle + 500)
    assert ran.counted("dut")["reselections"] == 1 and ran.stat("bus", "absent") > 100


def test_messages_of_the_driver(bench: Bench) -> None:
    """Select and stop, then a message about synchronous data, its reply byte by byte, and the command."""
    driver = Driver().set_up().ready()
    driver.write(STATUS, 3).fill(b"\xc0").write(COMMAND, 0x43).at(driver.cycle + 100).interrupt(DONE | SERVICE, MESSAGE_OUT, 1)
    driver.fill(bytes([1, 3, 1, 25, 15])).write(COMMAND, 0x10).at(driver.cycle + 100).interrupt(SERVICE, MESSAGE_IN).write(COMMAND, 0)
    for byte in (1, 3, 1, 25, 15):
        driver.write(COMMAND, 1).write(COMMAND, 0x10).at(driver.cycle + 20).interrupt(DONE, MESSAGE_IN).read(FIFO, byte).write(COMMAND, 0x12)
        driver.at(driver.cycle + 40).interrupt(SERVICE, COMMAND_PHASE if byte == 15 else MESSAGE_IN)
    driver.fill(bytes(6)).write(COMMAND, 0x10).at(driver.cycle + 100).interrupt(SERVICE, STATUS_PHASE).complete(0)
    play(bench, driver, driver.cycle + 500)


def test_resets(bench: Bench) -> None:
    """Of the bus, with an interrupt unless that is disabled; everything on it begins anew."""
    driver = Driver().set_up().ready().select(read_sectors(40, 1), tag=7)
    driver.at(driver.cycle + 600).interrupt(DONE | SERVICE, MESSAGE_IN, 4).write(COMMAND, 3).at(driver.cycle + 100).interrupt(RESET)
    driver.set_up().write(CONTROL1, 0x47).write(COMMAND, 3).at(driver.cycle + 100).interrupt(0).write(CONTROL1, 7).ready()
    driver.at(driver.cycle + 20_000).interrupt(0).write(COMMAND, 2).read(CONTROL2, 0).read(HIGH, 0x12)
    ran, _ = play(bench, driver, driver.cycle + 100)
    assert ran.stat("bus", "resets") == 2 and ran.stat("disk", "aborts") == 1


def test_dma_that_fails(bench: Bench) -> None:
    """By a list, which is not there; at an address without memory; when it is stopped."""
    driver = Driver().set_up().ready().write(DMA, START | BY_LIST).read(DMA_STATUS, 2).select(write_sectors(50, 1), disconnects=False)
    driver.at(driver.cycle + 500).interrupt(DONE | SERVICE, DATA_OUT, 4).dma(0x7F000000, 512, False).at(driver.cycle + 400).read(DMA_STATUS, 2).write(DMA, ABORT).read(DMA_STATUS, 4)
    ran, _ = play(bench, driver, driver.cycle + 100)
    assert ran.counted("dut")["errors"] == 2


@pytest.mark.parametrize("address", [0xFFFFFFFD, 0xFFFFFFC1])
def test_dma_past_the_last_address_fails(bench: Bench, address: int) -> None:
    """As where there is no memory; nothing of the burst that does not fit is asked for."""
    driver = Driver().set_up().ready().select(write_sectors(50, 1), disconnects=False)
    driver.at(driver.cycle + 500).interrupt(DONE | SERVICE, DATA_OUT, 4).dma(address, 512, False).at(driver.cycle + 400).read(DMA_STATUS, 2)
    ran, _ = play(bench, driver, driver.cycle + 100)
    assert ran.counted("dut")["errors"] == 1 and ran.counted("host").get("reads", 0) == 0


PORTS = {
    "in.request": ("in", 1, "mem_request(64)"), "in.reply": ("out", 1, "mem_reply(64)"), "bus.lines": ("out", 1, "scsi_lines"), "bus.request": ("out", 1, "scsi_request"), "bus.sent": ("out", 1, "scsi_beat"),
    "bus.received": ("in", 1, "scsi_beat"), "bus.bus": ("in", 1, "scsi_state"), "memory.request": ("out", 1, "bus_request"), "memory.write_data": ("out", 1, "bus_beat"), "memory.read_data": ("in", 1, "bus_beat"), "interrupt": ("out", 1, "uint32"),
}  # fmt: skip


def test_a_selection_cycle_by_cycle(bench: Bench) -> None:
    """From the command's write to its interrupt, with a bus that does everything at once."""
    device = BundleDevice(bench, "scsi_adapter", PORTS, before="import memory_types; import bus_types; import scsi_types;\n")

    def access(number: int, value: int) -> str:
        return struct(op="write", size=1, sign=False, combine=False, tag=0, address=4 * number, data=value)

    def state(phase: str = "data_out", connected: bool = True, requested: bool = False) -> str:
        return struct(connected=connected, absent=False, reset=False, attention=False, requested=requested, pending=False, phase=phase, peer=3 if connected else 0)

    reply, nobody = struct(tag=0, error=False, latency=0, data=0), state(connected=False)
    ran = device.check_table(
        f"""
        in_request | bus_bus | in_reply | bus_request | bus_request.ack | bus_sent | bus_sent.ack | interrupt
        {access(FIFO, 0xC0)} | {nobody} | . | . | 0 | . | 0 | 0
        {access(FIFO, 0x5A)} | {nobody} | {reply} | . | 0 | . | 0 | 0
        {access(STATUS, 3)} | {nobody} | {reply} | . | 0 | . | 0 | 0
        {access(COMMAND, 0x42)} | {nobody} | {reply} | . | 0 | . | 0 | 0
        . | {nobody} | {reply} | . | 0 | . | 0 | 0
        . | {nobody} | . | {struct(destination=3, reselects=False, attention=True)} | 0 | . | 0 | 0
        . | {nobody} | . | {struct(destination=3, reselects=False, attention=True)} | 1 | . | 0 | 0
        . | {state("message_out")} | . | . | 0 | . | 0 | 0
        . | {state("message_out", requested=True)} | . | . | 0 | {beat(bytes([0xC0]))} | 0 | 0
        . | {state("message_out", requested=True)} | . | . | 0 | {beat(bytes([0xC0]))} | 1 | 0
        . | {state("message_out")} | . | . | 0 | . | 1 | 0
        . | {state("command", requested=True)} | . | . | 0 | {beat(bytes([0x5A]))} | 1 | 0
        . | {state("command")} | . | . | 0 | . | 1 | 0
        . | {state("status", requested=True)} | . | . | 0 | . | 0 | 0
        . | {state("status", requested=True)} | . | . | 0 | . | 0 | 1
        . | {state("status", requested=True)} | . | . | 0 | . | 0 | 1
        """
    )
    assert ran.counted("dut") == {"commands": 1, "selections": 1, "interrupts": 1}


@pytest.mark.parametrize("seed", sampled(range(2), 2))
def test_random_pieces(bench: Bench, seed: int) -> None:
    """Sectors in transfers of random lengths to random places, both ways, on a bus of memory that others use, too."""
    rng = random.Random(seed)
    driver, places, held, wanted = Driver().set_up().ready(), 0x1000, bytearray(IMAGE), []
    for _ in range(5):
        count, sector = rng.choice([1, 2]), rng.randrange(1500)
        cuts = sorted(rng.sample(range(1, 512 * count), rng.randrange(4)))
        lengths = [b - a for a, b in zip([0, *cuts], [*cuts, 512 * count], strict=True)]
        starts = [places + 0x500 * k + rng.randrange(8) for k in range(len(lengths))]
        places += 0x500 * len(lengths)
        pieces = list(zip(starts, lengths, strict=True))
        if rng.random() < 0.5:
            driver.select(read_sectors(sector, count), disconnects=False).at(driver.cycle + 16_000).interrupt(DONE | SERVICE, DATA_IN, 4)
            wanted.append((pieces, bytes(held[512 * sector : 512 * (sector + count)])))
            sector_in_pieces(driver, pieces, True)
        else:
            data = rng.randbytes(512 * count)
            held[512 * sector : 512 * (sector + count)] = data
            for (start, length), at in zip(pieces, [0, *cuts], strict=True):
                first = start & ~7
                driver.memory[first] = (bytes(start - first) + data[at : at + length]).ljust((start - first + length + 7) & ~7, b"\0")
            driver.select(write_sectors(sector, count), disconnects=False).at(driver.cycle + 500).interrupt(DONE | SERVICE, DATA_OUT, 4)
            sector_in_pieces(driver, pieces, False)
        driver.complete(0)
    ran, memory = play(bench, driver, driver.cycle + 500, seed=seed + 1)
    for pieces, data in wanted:
        assert b"".join(memory[at : at + count] for at, count in pieces) == data, f"seed {seed}"
    assert (ran.directory / "after").read_bytes() == held, f"seed {seed}"


def test_what_it_cannot_be(bench: Bench) -> None:
    assert "one requester, one SCSI bus and one memory" in bench.refuse("import memory_types; import bus_types; import scsi_types; instance a : scsi_adapter; instance b : scsi_bus; a.bus -> b.device;")
