"""A crossing whose outputs are driven in phase_start: one function in the C, run in the domain of either port."""

import pytest

from tests.sample import sampled

DECLARATION = """module shelf crossing {
  inport in : 'a;
  outport out : 'a;
  state { 'a item; bool full; uint64 changed; }
  phase_start -> in.ack;
  phase_start -> out.data;
  phase_end in;
  phase_end out;
}
"""
CODE = """phase_start() {
  bool seen = self->changed == 0 || self->changed - 1 < now();
  accept(in, !self->full && seen);
  send_if(out, self->full && seen, self->item);
}
phase_end(in) {
  if (transferred(in)) { self->item = data(in); self->full = true; self->changed = now() + 1; }
}
phase_end(out) {
  if (transferred(out)) { self->full = false; self->changed = now() + 1; }
}
"""
MACHINE = """clock fast = 300 MHz;
clock slow = 70 MHz;
instance s : source on FROM { count = 20; };
instance x : shelf;
instance k : sink on TO { record = "items.txt"; };
s.out -> x.in : uint32;
x.out -> k.in;
"""


@pytest.mark.parametrize(("writer", "reader"), sampled([("fast", "slow"), ("slow", "fast"), ("slow", "slow")], 3, 1))
def test_every_item_crosses_once(build_sim, run_sim, tmp_path, writer, reader):
    (tmp_path / "shelf.lss").write_text(DECLARATION)
    (tmp_path / "shelf.c").write_text(CODE)
    records = []
    for options in ([], ["--debug"], ["-O0"]):
        machine = MACHINE.replace("FROM", writer).replace("TO", reader)
        run_sim(build_sim(machine, "-I", tmp_path, *options), "--time", "3 us")
        records.append((tmp_path / "items.txt").read_text())
    assert records[0] == records[1] == records[2]
    assert [line.split()[1] for line in records[0].splitlines()] == [str(n) for n in range(20)]
