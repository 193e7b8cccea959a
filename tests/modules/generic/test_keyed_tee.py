"""keyed_tee: every receiver gets what has the key that it names, and inputs do not hold each other up."""

from tests.modules.harness import Bench, moved, read_monitor

NETLIST = """
clock clk = 100 MHz;
instance a : source { count = 9; };
instance b : source { count = 9; generate = <<< return 100 + index; >>>; };
instance dut : keyed_tee;
instance seen[3] : monitor;
instance k[3] : sink;
k[2].ready = 0.5;
a.out -> dut.in["left"] : uint32;
b.out -> dut.in["right"];
dut.out["right"] -> seen[0].in;
dut.out["left"] -> seen[1].in;
dut.out["right"] -> seen[2].in;
for (i = 0; i < 3; i = i + 1) seen[i].out -> k[i].in;
"""


def test_each_gets_what_it_names(bench: Bench) -> None:
    ran = bench.run(bench.build(NETLIST), 100, {f"seen[{i}].record": f"seen{i}" for i in range(3)})
    found = [moved(read_monitor(ran.directory / f"seen{i}")) for i in range(3)]
    assert found[0] == found[2], "all that share an input get an item in the same cycle"
    assert [value for _, value in found[0]] == list(range(100, 109))
    assert found[1] == [(n, n) for n in range(9)], "an input with one receiver goes on while another waits"
    assert ran.stat("k[0]", "items") == 9


def test_keys_that_no_other_side_has(bench: Bench) -> None:
    assert "`dut` has no receiver `left`" in bench.refuse(NETLIST.replace('dut.out["left"]', 'dut.out["right"]'))
    assert "`dut` has no input `middle`" in bench.refuse(NETLIST.replace('dut.out["left"]', 'dut.out["middle"]'))
