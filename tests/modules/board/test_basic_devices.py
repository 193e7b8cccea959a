"""basic_devices: each device is where the map has it, and what has no device is what the map says; one disk at most."""

import pytest

from tests.modules.harness import Bench, read_replies
from tests.sample import sampled

NETLIST = """
import memory_types; import register_types;
clock cpu_clk = 100 MHz;
clock io_clk = 25 MHz;
instance dut : basic_devices on cpu_clk {{
  device_clock = io_clk; disks = [{disks}];
  map = [
    {{ name = "power", base = 0x1f000500, size = 8 }}, {{ name = "uart", base = 0x1f000900, size = 0x40 }},
    {{ name = "rtc", base = 0x1f001000, size = 0x800 }}, {{ name = "virtio", base = 0x1f002000, size = 0x400 }}
  ];
}};
instance cpu : memory_source on cpu_clk;
cpu.memory -> dut.in;
instance k[length(dut.lines)] : sink on io_clk;
for (i = 0; i < length(dut.lines); i = i + 1) dut.interrupt[dut.lines[i]] -> k[i].in;
{more}
"""
RAM = "instance ram : memory_state on io_clk { width = 64; size = 4 KiB; }; dut.sectors -> ram.port;"
SCRIPT = """0 write 1 0x1f000900 0x41
100 read 4 0x1f002000
200 read 4 0x1f003000
300 write 1 0x1f000504 5
400 write 1 0x1f000500 0x42
"""


@pytest.mark.parametrize(("disks", "more", "magic"), sampled([("", "", 0), ("disk_image", RAM, 0x74726976)], 2, 1), ids=["no disk", "a disk"])
def test_devices_are_where_the_map_has_them(bench: Bench, disks: str, more: str, magic: int) -> None:
    simulator = bench.build(NETLIST.format(disks=disks, more=more))
    ran = bench.run(simulator, 5001, {"cpu.script": "script", "cpu.record": "seen"}, files={"script": SCRIPT}, ok=False)
    replies = read_replies(ran.directory / "seen")
    assert (ran.status, ran.out[:1]) == (5, "A") and "switched off with status 5" in ran.err
    assert replies[1].data & 0xFFFFFFFF == magic and [one.error for one in replies[:4]] == [False, False, True, False]


def test_further_disks_are_on_a_card(bench: Bench) -> None:
    said = bench.refuse(NETLIST.format(disks="disk_image, disk_image", more=RAM))
    assert "only one virtio slot may have a disk, not 2: put more disks on a card, cards = [scsi_card(disks = 2)]" in said


NEAR_AND_FAR = """
instance near : memory_delay on cpu_clk; instance near_ram : memory_state on cpu_clk { size = 16 B; };
instance far : memory_delay on io_clk; instance far_ram : memory_state on io_clk { size = 16 B; };
dut.on_bus["near"] -> near.in; near.out -> near_ram.port;
dut.others["far"] -> far.in; far.out -> far_ram.port;
"""


def test_further_devices_are_before_and_after_the_bridge(bench: Bench) -> None:
    """One on the bus replies a cycle after the request, at an offset from its base; the others are where they were."""
    rows = '{ name = "near", base = 0x1f003000, size = 16 }, { name = "far", base = 0x1f004000, size = 16 }, { name = "power"'
    simulator = bench.build(NETLIST.format(disks="", more=NEAR_AND_FAR).replace('{ name = "power"', rows))
    script = "0 write 4 0x1f003004 7\n10 read 4 0x1f003004\n20 write 4 0x1f004008 8\n100 read 4 0x1f004008\n200 read 4 0x1f002000\n300 read 4 0x1f005000\n"
    ran = bench.run(simulator, 1000, {"cpu.script": "script", "cpu.record": "seen"}, files={"script": script})
    replies = read_replies(ran.directory / "seen")
    assert [(one.data, one.error) for one in replies] == [(0, False), (7, False), (0, False), (8, False), (0, False), (0, True)]
    assert [one.cycle for one in replies[:2]] == [1, 11] and replies[3].cycle > 104


@pytest.mark.parametrize(
    ("lane", "why"),
    [
        ('others["fare"]', "`dut` has no other entry of the address map `fare`; did you mean `far`?"),
        ('others["uart"]', "`dut` has no other entry of the address map `uart`; "),
        ('on_bus["uart"]', "`dut` has no other entry of the address map `uart`; "),
        ("others[0]", 'the lanes of `others` are named by keys: `others["…"]`'),
        ("others", 'the lanes of `others` are named by keys: `others["…"]`'),
    ],
)
def test_a_wrong_lane_is_one_error(bench: Bench, lane: str, why: str) -> None:
    """Where it is connected, and not once more wherever it leads to."""
    more = f"instance far : memory_delay on io_clk; instance ram : memory_state on io_clk {{ size = 16 B; }};\ndut.{lane} -> far.in; far.out -> ram.port;"
    said = bench.refuse(NETLIST.format(disks="", more=more).replace('{ name = "power"', '{ name = "far", base = 0x1f004000, size = 16 }, { name = "power"'))
    assert said.count(" error[") == 1 and why in said and f"dut.{lane} -> far.in" in said
