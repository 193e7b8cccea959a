"""scsi_card: its function on the bus, and the files of its first disk; transfers are tests/modules/disk/test_scsi_adapter.py."""

import pytest

from tests.modules.board.test_pci_slots import NETLIST
from tests.modules.harness import Bench, read_replies


@pytest.mark.parametrize(("settings", "size"), [("", 1024), (", padded = true, capacity = 8 KiB, drive = disk_mechanics(rpm = 10000)", 8192)])
def test_the_window_is_the_adapter(bench: Bench, settings: str, size: int) -> None:
    """Once software has placed it; the registers of the adapter are words of 32 bits."""
    simulator = bench.build(NETLIST.format(cards=f"scsi_card(disks = 2{settings})", body="devices = [2];"))
    there = "0 write 4 0x10010 0x1c000000\n100 write 4 0x10004 6\n200 read 4 0x10008\n"
    looks = "400 read 4 0x38\n500 write 4 0x08 0x12\n600 read 4 0x1c\n"
    given = {"configuration.script": "there", "configuration.record": "got", "memory.script": "looks", "memory.record": "seen", "dut.card[0].image": "disk", "dut.card[0].commit": "after"}
    ran = bench.run(simulator, 1000, given, files={"there": there, "looks": looks, "disk": bytes(range(256)) * 4})
    assert read_replies(ran.directory / "got")[2].data & 0xFFFFFFFF == 0x01000010
    assert read_replies(ran.directory / "seen")[2].data & 0x1F == 1
    assert (ran.directory / "after").read_bytes() == (bytes(range(256)) * 4).ljust(size, b"\0")
