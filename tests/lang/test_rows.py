"""Many alike instances and lanes: their C is a loop, and does what the C of each one by itself would do."""

import json
import re
from pathlib import Path

import pytest

COUNT = 40
CELL = """
module cell {
  parameter tag = 0 : int;                      /** tells its C from that of others */
  runtime parameter step = 1 : int in 0..9;     /** what it adds */
  runtime parameter text = "" : string;         /** what it begins with */
  inport in : uint32;
  outport out : uint32;
  stat uint64 taken "items";
  stat uint64 length "bytes";
  state { uint32 held; bool full; bool moved; instant ready; }
  event passed(uint32 value);
  init;
  handler reset(step);
  handler offer : -> out.data;
  handler take : -> in.ack;
  always out.enable;
  phase_end;
  next_event;
  finish;
}
"""
CELL_C = """
init() { self->held = (uint32_t)param(step); self->full = param(step) % 3 == 1 && param(tag) >= 0; }
handler(reset, step) { self->held += 1000; }
handler(offer) { send_if(out, self->full && within(ready, 1), self->held); }
handler(take) { accept(in, !self->full); }
phase_end() {
  self->moved = transferred(out) || transferred(in);
  if (transferred(out)) self->full = false;
  if (!transferred(in)) return;
  count(taken);
  event(passed, item(in));
  self->held = item(in) + (uint32_t)param(step);
  self->full = true;
  set_until(ready, 2 + item(in) % 5);
}
next_event() { return self->moved ? cycle() : unchanged(self->full && until(ready) ? cycle() + until(ready) - 1 : never()); }
statistics() { report(length, strlen(param(text))); }
awaits() { waits_for(in, 0, "an item"); }
check_state() { sim_check(self->held < 4000000000u, "too much"); }
finish() { report(length, counted(length) + 1); }
"""
HUB = """
struct load { uint32 value; uint32 more[3]; };
module hub {
  keyed inport in : uint32;
  keyed outport out : uint32;
  outport shown : load;
  inport seen : load;
  local bool open[in.width];
  stat uint64 moved[in.width] "items";
  state { uint32 turn; load last[in.width]; }
  handler choose : -> open;
  handler pass : in.data, open -> out.data;
  handler back : out.ack, open -> in.ack;
  handler show : -> shown.data;
  always out.enable, seen.ack, shown.enable;
  phase_end;
}
"""
HUB_C = """
handler(choose) { for (int i = 0; i < width(in); i++) set(open, i, (self->turn + (uint32_t)i) % 3 != 0); }
handler(pass) { for (int i = 0; i < width(in); i++) send_if(out, (i + 7) % width(out), some(in, i) && get(open, i), data(in, i)); }
handler(back) { for (int i = 0; i < width(in); i++) accept(in, i, acked(out, (i + 7) % width(out)) && get(open, i)); }
handler(show) { for (int i = 0; i < width(shown); i++) send_if(shown, i, i != 3, self->last[i]); }
phase_end() {
  self->turn++;
  for (int i = 0; i < width(in); i++) {
    if (transferred(in, i)) { count(moved[i]); self->last[i].value = item(in, i); }
    if (transferred(seen, i)) self->last[i].more[2] += item(seen, i).value;
  }
}
"""
MACHINE = """
import hub;
clock clk = 100 MHz;
instance cell[COUNT] : cell;
instance hub : hub;
for (i = 0; i < COUNT; i = i + 1) {
  cell[i].step = i % 10;
  cell[i].text = string(i * i);
  cell[i].tag = TAG;
  cell[i].out -> hub.in["k" + string(i)];
  hub.out["k" + string(i)] -> cell[ORDER].in;
  hub.shown[i] -> hub.seen[COUNT - 1 - i];
}
"""


@pytest.fixture
def machine(tmp_path: Path):
    """machine(apart, order, count): each cell has C of its own, or all have the same."""
    for name, text in {"cell.lss": CELL, "cell.c": CELL_C, "hub.lss": HUB, "hub.c": HUB_C}.items():
        (tmp_path / name).write_text(("#include <string.h>\n" if name == "cell.c" else "") + text)

    def write(apart: bool, order: str = "i", count: int = COUNT) -> str:
        return MACHINE.replace("ORDER", order).replace("TAG", "i" if apart else "0").replace("COUNT", str(count))

    return write


@pytest.mark.parametrize("options", [[], ["--debug"], ["--collect", "connections"]])
@pytest.mark.parametrize("order", ["i", "COUNT - 1 - i", "(i * 3) % COUNT"])
def test_alike_and_apart_do_the_same(machine, build_sim, run_sim, tmp_path: Path, options: list[str], order: str) -> None:
    shown, counted = [], []
    for apart in (False, True):
        simulator = build_sim(machine(apart, order), *options, "--keep", tmp_path / f"kept{apart}")
        ran = run_sim(simulator, "--cycles", 3000, "--print", "**", "--set", "cell[5].step=3", *(["--check-idle"] if "--debug" in options else []))
        shown.append([line for line in ran.out.splitlines() if " = " in line])
        counted.append(ran.stats["statistics"])
    assert shown[0] == shown[1] and len(shown[0]) > 4 * COUNT
    assert counted[0] == counted[1]
    values = {(one["path"], one["name"]): one["value"] for one in counted[0]}
    assert values["cell[12]", "length"] == 4 and values["cell[7]", "taken"] > 100


def test_a_parameter_that_is_set_anew(machine, build_sim, run_sim, tmp_path: Path) -> None:
    """Of one instance of many, after a restore."""
    simulators = [build_sim(machine(apart)) for apart in (False, True)]
    shown = []
    for number, simulator in enumerate(simulators):
        run_sim(simulator, "--cycles", 500, "--checkpoint", f"{number}.checkpoint")
        ran = run_sim(simulator, "--restore", f"{number}.checkpoint", "--set", "cell[9].step=5", "--cycles", 501, "--print", "**")
        shown.append([line for line in ran.out.splitlines() if " = " in line])
    assert shown[0] == shown[1]


def test_the_code_does_not_grow(machine, build_sim, tmp_path: Path) -> None:
    """With twice the cells, the text that steps them is as long."""
    lengths = []
    for count in (COUNT, 2 * COUNT):
        build_sim(machine(False, count=count), "--keep", tmp_path / f"kept{count}")
        code = (tmp_path / f"kept{count}/root_0.c").read_text()
        body = code[code.index("// ---- hub ----") :]
        lengths.append(len(re.sub(r"// S\d+ is the code of.*|_key_\w+|\"k\d+\", ", "", re.sub(r"enum \{ .*_lane.*\n", "", body))))
    assert abs(lengths[1] - lengths[0]) < 200, json.dumps(lengths)
