"""The Tigon-2 as a card on a PCI bus behind a bridge: probing, its window, DMA both ways, its interrupt."""

from pathlib import Path

import pytest

from tests.modules.harness import Bench, Reply, read_monitor, read_replies
from tests.tigon2.chip import Script, join, register_table
from tests.tigon2.test_contract import noise

NETLIST = """
clock sram_clk = 100 MHz;
instance requester : memory_source;
instance bus : pci_bus { bus_frequency = MHZ MHz; bus_width = BYTES B; };
instance card : tigon2_card { processors = 0; cpu_clock = sram_clk; bus_frequency = bus.bus_frequency; bus_width = bus.bus_width; };
instance bridge : pci_bridge { window_base = 0x1c000000; };
instance configuration : memory_source;
instance window : memory_source;
instance software : memory_source;
instance delay : memory_delay { latency = 20; depth = 8; };
instance arbiter : memory_arbiter;
instance memory : memory_state { size = 64 KiB; };
instance ethernet : ethernet;
instance line : monitor;
instance lines : sink;
requester.memory -> card.requester;
card.master["dma_read"] -> bus.master["dma_read"];
card.master["dma_write"] -> bus.master["dma_write"];
bus.target -> card.target;
bridge.initiator -> bus.initiator;
bus.memory -> bridge.bus;
configuration.memory -> bridge.configuration;
window.memory -> bridge.window;
bridge.memory -> delay.in;
delay.out -> arbiter.in["bridge"];
software.memory -> arbiter.in["software"];
arbiter.out -> memory.port;
card.intx -> line.in;
line.out -> lines.in;
card.wire_out -> ethernet.from_device;
ethernet.to_device -> card.wire_in;
card.ready -> ethernet.ready;
"""
SETUP = ["0 read 4 0x8000", "1 write 4 0x8010 0x1c000000", "2 write 2 0x8004 COMMAND", "3 write 2 0x800c 0x4020", "4 write 1 0x803c 0x13"]
NAMES = ("requester", "configuration", "window", "software")


class Card:
    def __init__(self, bench: Bench, root: Path) -> None:
        self.bench, self.include, self.table = bench, str(root / "examples/tigon2"), register_table(root)

    def run(self, script: Script, cycles: int, window: list[str], software: list[str], command: int = 6, mhz: int = 66, width: int = 8) -> list[list[Reply]]:
        text = NETLIST.replace("MHZ", str(mhz)).replace("BYTES", str(width))
        setup = [line.replace("COMMAND", str(command)) for line in SETUP]
        files = {name: "".join(line + "\n" for line in lines) for name, lines in zip(NAMES, (script.lines, setup, window, software), strict=True)}
        values: dict[str, object] = {f"{name}.script": name for name in NAMES} | {f"{name}.record": f"{name}.seen" for name in NAMES}
        self.last = self.bench.run(self.bench.build(text, "-I", self.include), cycles, values | {"line.record": "line"}, files=files)
        return [read_replies(self.last.directory / f"{name}.seen") for name in NAMES]


@pytest.fixture(scope="session")
def card(bench: Bench, root: Path) -> Card:
    return Card(bench, root)


def dma(table: dict[str, int], size: int) -> tuple[Script, int, list[tuple[int, int]]]:
    """By the direct registers: from 0x1003 of memory, and from there to 0x3007."""
    script = Script(table)
    script.at(500)
    for way, host in (("read", 0x1003), ("write", 0x3007)):
        script.write(f"dma_{way}_host_low", host)
        script.write(f"dma_{way}_length", size)
        script.write(f"dma_{way}_address", 0x2005)
        script.write(f"dma_{way}_state", 4)
        script.at(3000)
    done, parts = script.read("dma_read_state"), script.load(0x2000, (size + 12) // 8 * 8)
    return script, done, parts


def memory_lines(address: int, data: bytes) -> list[str]:
    return [f"0 write {len(data[k : k + 8])} {address + k} {int.from_bytes(data[k : k + 8], 'little'):#x}" for k in range(0, len(data), 8)]


@pytest.mark.parametrize(("mhz", "width", "state"), [(66, 8, 0x80000), (33, 4, 0x100000)])
def test_the_window_and_dma(card: Card, mhz: int, width: int, state: int) -> None:
    """The first accesses of a driver, and what the chip says of the bus that it is on; then data both ways."""
    data = noise(333)
    script, done, parts = dma(card.table, len(data))
    software = memory_lines(0x1003, data) + [f"7500 read 8 {0x3007 + k}" for k in range(0, 336, 8)]
    base = ["30 write 4 0x40 0x08000008", "31 read 4 0x40", "32 write 4 0x40 0x22000022", "33 read 4 0x40", "34 read 4 0x5c", "35 read 4 0x4000", "36 read 4 0x1000"]
    replies, configured, window, seen = card.run(script, 8000, base, software, mhz=mhz, width=width)
    assert configured[0].data == 0x000112AE
    assert window[3].data >> 28 == 6 and window[4].data == state and window[5].error and not window[6].error
    assert replies[done].data == 0 and join(replies, parts)[5 : 5 + len(data)] == data
    assert b"".join(one.data.to_bytes(8, "little") for one in seen[-42:])[: len(data)] == data
    assert card.last.stat("bus", "written_bytes") == card.last.stat("bus", "read_bytes") == len(data)


def test_the_window_shows_the_header(card: Card) -> None:
    """What configuration software has set, whatever is written to the copy, and after a reset of the chip."""
    copies = {0x00: 0x000112AE, 0x04: 0x02800006, 0x08: 0x02000001, 0x0C: 0x4020, 0x10: 0x1C000000, 0x3C: 0x113}
    window = ["100 write 4 0x40 0x22000022", *(f"110 read 4 {at:#x}" for at in copies), *(f"120 write 4 {at:#x} 0xffffffff" for at in copies)]
    window += ["130 write 4 0x40 0x08000008", "131 write 4 0x40 0x22000022", *(f"140 read 4 {at:#x}" for at in copies)]
    _, _, replies, _ = card.run(Script(card.table), 800, window, [])
    assert [one.data for one in replies[1:7]] == [one.data for one in replies[-6:]] == list(copies.values())


def test_no_dma_without_leave_to_be_master(card: Card) -> None:
    script, done, _ = dma(card.table, 64)
    replies, *_ = card.run(script, 5000, [], [], command=2)
    assert replies[done].data == 4 and card.last.stat("bus", "reads") == 0


def test_the_interrupt_is_gone_when_the_driver_has_read_back(card: Card) -> None:
    """It comes 1 us after the firmware raised it; the driver acknowledges it by mailbox 0 and reads that."""
    script = Script(card.table)
    script.at(300)
    script.write("misc_local_ctl", 0x202)
    window = ["100 write 4 0x40 0x22000022", "800 write 4 0x504 0", "801 read 4 0x504"]
    raised, _, replies, _ = card.run(script, 1200, window, [])
    levels = [line.value == "true" for line in read_monitor(card.last.directory / "line")]
    rise, fall = levels.index(True), 800 + levels[800:].index(False)
    assert 100 <= rise - raised[0].cycle <= 104 and fall <= replies[2].cycle and not any(levels[fall:])
