"""interrupt_fanout: each line comes to all that get it, in order of the keys that they name, as the latest level."""

import re

from tests.modules.harness import Bench, read_monitor

NETLIST = """
clock fast = 100 MHz;
clock slow = 50 MHz;
instance a : source on slow { generate = <<< return index / 10 % 2; >>>; };
instance b : source on slow { generate = <<< return index / 15 % 2; >>>; };
instance dut : interrupt_fanout on fast;
instance seen[3] : monitor on fast;
instance k[3] : sink on fast;
a.out -> dut.in["ip4"] : bool;
b.out -> dut.in["ip2"];
dut.out["ip2"] -> seen[0].in;
dut.out["ip4"] -> seen[1].in;
dut.out["ip2"] -> seen[2].in;
for (i = 0; i < 3; i = i + 1) seen[i].out -> k[i].in;
"""


def test_lines_come_to_all_that_get_them(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 200, {f"seen[{i}].record": f"seen{i}" for i in range(3)})
    levels = [[one.value == "true" for one in read_monitor(ran.directory / f"seen{i}")] for i in range(3)]
    assert levels[0] == levels[2] != levels[1]
    assert [k for k in range(1, 100) if levels[1][k] != levels[1][k - 1]] == [21, 41, 61, 81]
    assert [k for k in range(1, 100) if levels[0][k] != levels[0][k - 1]] == [31, 61, 91]


def test_a_line_that_no_device_has(bench: Bench) -> None:
    assert re.search("ip5", bench.refuse(NETLIST.replace('dut.out["ip4"]', 'dut.out["ip5"]')))
