"""pci_slots: cards are devices of the bus, each with its interrupt, and processors reach them; wrong numbers of devices are refused."""

import pytest

from tests.modules.harness import Bench, read_replies
from tests.sample import sampled

NETLIST = """
import memory_types; import bus_types; import pci_types;
instance dut : pci_slots {{ cards = [{cards}]; window = 0x1c000000; {body} }};
instance configuration : memory_source;
instance memory : memory_source;
instance ram : memory_state {{ width = 64; size = 4 KiB; }};
configuration.memory -> dut.configuration;
memory.memory -> dut.memory;
dut.dma -> ram.port;
instance k[length(dut.lines)] : sink;
for (i = 0; i < length(dut.lines); i = i + 1) dut.interrupt[dut.lines[i]] -> k[i].in;
"""
VENDOR = 0x20201022


@pytest.mark.parametrize(("cards", "found"), sampled([("scsi_card", {1}), ("scsi_card, scsi_card(disks = 2)", {1, 2})], 2, 1))
def test_cards_are_devices_of_the_bus(bench: Bench, cards: str, found: set[int]) -> None:
    simulator = bench.build(NETLIST.format(cards=cards, body=""))
    script = "".join(f"{100 * device} read 4 {device << 15:#x}\n" for device in range(4))
    ran = bench.run(simulator, 1000, {"configuration.script": "script", "configuration.record": "seen", "memory.count": 0}, files={"script": script})
    assert [reply.data & 0xFFFFFFFF for reply in read_replies(ran.directory / "seen")] == [VENDOR if device in found else 0xFFFFFFFF for device in range(4)]


REFUSED = [
    ("scsi_card, scsi_card, scsi_card", "", "a card is device 1 or 2 of the PCI bus, which interrupt by ip3 and ip5, not 3"),
    ("scsi_card", "devices = [3];", "a card is device 1 or 2 of the PCI bus, which interrupt by ip3 and ip5, not 3"),
    ("scsi_card, scsi_card", "devices = [2, 2];", "two cards cannot both be device 2 of the PCI bus"),
    ("scsi_card, scsi_card", "devices = [2];", "devices must have a number for each of the 2 cards, not 1 in all"),
    ("pipe", "", "module `pipe` cannot be `cards` here: it has no `target`"),
]


@pytest.mark.parametrize(("cards", "body", "why"), REFUSED, ids=[f"{one[0]} {one[1]}".strip() for one in REFUSED])
def test_what_is_no_slot(bench: Bench, cards: str, body: str, why: str) -> None:
    assert why in bench.refuse(NETLIST.format(cards=cards, body=body))


def test_no_card_has_a_wire(bench: Bench) -> None:
    wire = "instance w : sink; dut.wire_out -> w.in;"
    assert "0 of the cards have a wire, not 1" in bench.refuse(NETLIST.format(cards="scsi_card", body="") + wire)
