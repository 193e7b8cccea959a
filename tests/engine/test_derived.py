"""Statistics that are worked out of others when they are written."""

import csv

import pytest

MACHINE = """
module lane {
  instance p : source { count = 30; interval = 2; };  instance k : sink;
  p.out -> k.in : uint32;
  stat rate = k.items / cycles "items per cycle";       /** What the lane carries. */
}
clock clk = 100 MHz;
instance lanes[3] : lane;
stat all = lanes[*].k.items "items";                    /** Of all lanes. */
stat odd = (lanes[0].k.items - 2 * lanes[1].k.items) * 0.5 / 3 "items";
stat never = lanes[0].k.items / (lanes[0].k.items - lanes[1].k.items) "";
"""


def test_derived_statistics(build_sim, run_sim, tmp_path):
    simulator = build_sim(MACHINE)
    done = run_sim(simulator, "--cycles", "40")
    found = {(entry["path"], entry["name"]): entry for entry in done.stats["derived"]}
    assert found["lanes[2]", "rate"] == {"path": "lanes[2]", "name": "rate", "value": 0.5, "unit": "items per cycle",
                                         "derived": "k.items / cycles", "description": "What the lane carries."}  # fmt: skip
    assert found["", "all"]["value"] == 60 and found["", "odd"]["value"] == pytest.approx(-10 / 3)
    assert found["", "never"]["value"] is None
    assert any(line.split()[:3] == ["lanes[0]", "rate", "0.5"] and line.endswith("= k.items / cycles") for line in done.out.splitlines())
    run_sim(simulator, "--cycles", "40", "--stats", "s.csv")
    rows = {(row["path"], row["name"]): row["value"] for row in csv.DictReader((tmp_path / "s.csv").open())}
    assert float(rows["lanes[1]", "rate"]) == 0.5 and rows["", "never"] == ""
