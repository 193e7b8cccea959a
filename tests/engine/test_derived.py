"""Statistics that are worked out of others when they are written."""

import csv
import json
import subprocess

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


GAUGES = """
clock clk = 100 MHz;
instance p : source { count = 30; interval = 2; };  instance k : sink;
p.out -> k.in : uint32;
stat rate = k.items / cycles "items per cycle";         /** What is carried. */
stat waits = cycles / (cycles - 2 * k.items) "";
"""


def test_windows_and_samples_have_their_own(build_sim, run_sim, lss, tmp_path):
    """Thirty items in sixty cycles, then none: a value of the whole run would hide both."""
    simulator = build_sim(GAUGES)
    done = run_sim(simulator, "--cycles", "200", "--measure-from", "cycles(clk) >= 40", "--measure-to", "cycles(clk) >= 80",
                   "--sample", "cycles(clk) >= 50")  # fmt: skip
    rate, waits = (next(i for i, entry in enumerate(done.stats["derived"]) if entry["name"] == name) for name in ("rate", "waits"))
    samples, measured = done.stats["samples"], done.stats["measured"]
    items = next(i for i, e in enumerate(done.stats["statistics"]) if (e["path"], e["name"]) == ("k", "items"))
    for before, snapshot in zip([None, *samples], samples, strict=False):
        counted = snapshot["values"][items] - (before["values"][items] if before else 0)
        assert snapshot["derived"][rate] == counted / 50
    assert [sample["derived"][rate] for sample in samples] == [0.5, 0.1, 0, 0]
    assert measured["from"]["derived"][rate] == 0.5 and measured["to"]["derived"][rate] == 0.25
    assert measured["from"]["derived"][waits] is None, "divided by 0"
    assert measured["to"]["derived"][waits] == 2 and done.stats["derived"][rate]["value"] == 0.15


TABLE = {
    "table.lss": """
module table {
  stat uint64 grid[2][3] "items";                       /** Of all pairs. */
  phase_end;
}
""",
    "table.c": "phase_end() { for (int i = 0; i < 6; i++) count(grid[i / 3][i % 3], (uint64_t)i); }\n",
}
TABLES = """
instance t[2] : table;
stat one = t[1].grid[1][0] "items";
stat row = t[0].grid[1][*] "items";
stat column = t[0].grid[*][2] "items";
stat all = t[*].grid[*][*] "items";
"""


def test_elements_have_one_name_everywhere(build_sim, run_sim, lss, tmp_path):
    """In formulas, exports, windows, files and on the command line: an index for each dimension."""
    for file, text in TABLE.items():
        (tmp_path / file).write_text(text)
    done = run_sim(build_sim(TABLES), "--cycles", "10", "--print", "t[1].grid[1][0]", "--measure-from", "t[1].grid[1][0] >= 9")
    names = [(entry["path"], entry["name"]) for entry in done.stats["statistics"]]
    assert names == [(f"t[{n}]", f"grid[{i}][{k}]") for n in range(2) for i in range(2) for k in range(3)]
    assert "t[1].grid[1][0] = 30" in done.out
    values = {f"{entry['path']}.{entry['name']}": entry["value"] for entry in done.stats["statistics"]}
    assert values["t[1].grid[1][0]"] == 30 and values["t[0].grid[0][2]"] == 20
    assert done.stats["measured"]["from"]["values"][names.index(("t[1]", "grid[1][0]"))] == 9
    assert {entry["name"]: entry["value"] for entry in done.stats["derived"]} == {"one": 30, "row": 120, "column": 70, "all": 300}
    (tmp_path / "machine.lss").write_text(TABLES)
    lss("export", tmp_path / "machine.lss", "-o", tmp_path / "machine.json")
    exported = json.loads((tmp_path / "machine.json").read_text())["derived"]
    assert {entry["name"]: entry["expression"] for entry in exported}["column"] == "(t[0].grid[0][2] + t[0].grid[1][2])"
    for wrong in ("grid[2]", "grid[1]", "grid[1][3]", "grid[1][0][0]", "grid"):
        (tmp_path / "wrong.lss").write_text(TABLES + f"stat wrong = t[0].{wrong};\n")
        assert "of an array, name one element" in lss("check", tmp_path / "wrong.lss", ok=False).err, wrong


def test_export_and_list_name_them(build_sim, lss, tmp_path):
    (tmp_path / "machine.lss").write_text(MACHINE)
    lss("export", tmp_path / "machine.lss", "-o", tmp_path / "machine.json")
    exported = json.loads((tmp_path / "machine.json").read_text())["derived"]
    listed = json.loads(subprocess.run([build_sim(MACHINE), "--list=json"], capture_output=True, text=True, check=True).stdout)["derived"]
    assert [e["derived"] for e in listed if e["name"] == "rate"] == ["k.items / cycles"] * 3
    assert [e["expression"] for e in exported if e["name"] == "rate"] == [f"(lanes[{i}].k.items / cycles(clk))" for i in range(3)]
    for key in ("path", "name", "unit"):
        assert [e[key] for e in listed] == [e[key] for e in exported]


@pytest.mark.parametrize("machine", ["rfu_core", "vliw_core", "single_core", "riscv_core"])
def test_every_pipeline_reports_instructions_per_cycle(root, lss, tmp_path, machine):
    lss("export", root / "examples" / machine / f"{machine}.lss", "-o", tmp_path / "machine.json")
    exported = json.loads((tmp_path / "machine.json").read_text())
    writers = [one["path"] for one in exported["instances"] if one["module"] == "core_writeback"]
    [ipc] = [one["expression"] for one in exported["derived"] if one["name"] == "ipc"]
    assert writers and all(f"{path}.instructions" in ipc for path in writers) and "cycles(" in ipc
