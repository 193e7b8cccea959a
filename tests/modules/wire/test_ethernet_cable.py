"""ethernet_cable: a line each way, of a rate each."""

from harness.net import packets
from tests.modules.assists import noise, pcap
from tests.modules.harness import Bench


def test_each_end_hears_the_other(bench: Bench) -> None:
    """At the rate of its direction."""
    netlist = """
import ethernet_types;
clock clk = 100 MHz;
instance player[2] : ethernet;
instance silent[2] : source;
instance waiting[2] : queue { depth = 256; };
instance both : ethernet_cable { rate_back = 100 Mb/s; latency = 1 us; };
instance k[2] : sink;
for (n = 0; n < 2; n = n + 1) {
  silent[n].out -> player[n].from_device;
  player[n].to_device -> waiting[n].in;
}
waiting[0].out -> both.a_sent;
waiting[1].out -> both.b_sent;
both.a_received -> k[0].in;
both.b_received -> k[1].in;
"""
    values = {f"silent[{n}].count": 0 for n in range(2)} | {"player[0].input": "in", "player[1].input": "in", "both.to_b.capture": "b", "both.to_a.capture": "a"}
    ran = bench.run(bench.build(netlist), 20000, values, files={"in": pcap([noise(60, n) for n in range(5)])})
    times = [[packet.time for packet in packets.read(ran.directory / name)] for name in "ba"]
    assert {b - a for a, b in zip(times[0], times[0][1:])} == {672} and {b - a for a, b in zip(times[1], times[1][1:])} == {6720}
