"""Kinds of state: each is reached by its own words alone, and what is shown of it does not depend on what is past."""

import json

import pytest

from tests.engine.test_user_code import CODE, MODULE, errors

FIELDS = "state { instant ready; stamp came; counter uint64 held[2]; trace uint32 latest; trace uint32 ring[3]; memory uint32 table[4]; memory uint8 rows[2][8]; }\n  "
INSTANT = "`ready` is an instant: set_until(ready, k) lets it come in k cycles, and until(ready) says in how many"
STAMP = "`came` is a stamp: set_stamp(came, k) puts it k after now, and passed(came, k) says whether it is k ago"
TRACE = "`ring` is a trace: note(ring, v) adds to it, and no behaviour looks at it"
COUNTER = "`held` is a counter: count(held) and count(held, n) add to it, report(held, v) sets it, and in init, statistics and finish it is counted(held)"
MEMORY = "`table` is a memory: load(table, i) and store(table, i, v) are its elements, load_span(table, i, n) and store_span(table, i, n) several of them"


@pytest.mark.parametrize(
    ("use", "name", "message"),
    [
        ("self->ready = cycle();", "ready", INSTANT),
        ("if (self->ready == cycle()) self->full = false;", "ready", INSTANT),
        ("count(ready);", "ready", INSTANT),
        ("set_until(came, 3);", "came", STAMP),
        ("if (self->came) self->full = false;", "came", STAMP),
        ("if (counted(held[0]) > 3) self->full = false;", "held", COUNTER),
        ("self->held[0]++;", "held", COUNTER),
        ("self->ring[0] = 1;", "ring", TRACE),
        ("self->value = self->ring[0];", "ring", TRACE),
        ("store(ring, 0, 1);", "ring", TRACE),
        ("self->table[0] = 1;", "table", MEMORY),
        ("uint32_t *t = self->table; t[0] = 1;", "table", MEMORY),
        ("note(table, 1);", "table", MEMORY),
    ],
)
def test_no_other_word_reaches_a_kind(lss, tmp_path, use, name, message):
    code = CODE.replace("phase_end() {", "phase_end() {\n  " + use)
    found = errors(lss, tmp_path, code, m_lss=MODULE.replace("  phase_start", f"  {FIELDS}phase_start"))
    check = "statistic-read" if message == COUNTER else "state-kind"
    assert f"m.c:4:{use.index(name) + 3}: error[{check}]: {message}" in found
    assert "m.lss:7:" in found and ": note: " in found and found.count("error[") == 1


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("set_until(value, 4);", "m has no instant `value`"),
        ("if (until(redy)) self->full = false;", "m has no instant `redy`"),
        ("if (passed(value, 4)) self->full = false;", "m has no stamp `value`"),
        ("count_cycles(value, true);", "m has no statistic `value`"),
        ("note(value, 4);", "m has no trace `value`"),
        ("store(value, 0, 4);", "m has no memory `value`"),
    ],
)
def test_words_of_kinds_reach_no_behaviour(lss, tmp_path, use, message):
    code = CODE.replace("phase_end() {", "phase_end() {\n  " + use)
    found = errors(lss, tmp_path, code, m_lss=MODULE.replace("  phase_start", f"  {FIELDS}phase_start"))
    assert f"error[unknown-name]: {message}" in found


def test_handlers_change_no_kind(lss, tmp_path):
    for use in ("set_until(ready, 4)", "note(ring, 4)", "store(table, 0, 4)"):
        code = CODE.replace("handler(take) {", "handler(take) { " + use + ";")
        assert "error[c-code]" in errors(lss, tmp_path, code, m_lss=MODULE.replace("  phase_start", f"  {FIELDS}phase_start"))


TIMER = """
module timer {                                  /** Does something every few cycles, and remembers when. */
  state {
    uint32 done;                                /** how often */
    instant ready;                              /** the next time */
    instant seldom[2];                          /** now, and never */
    trace uint32 latest;                        /** when it was last */
    trace uint32 ring[4];                       /** and before */
    counter uint64 spent[2];                    /** cycles with an even and an odd number of times */
    memory uint32 table[8] = [7, 6];            /** filled one after the other */
    memory uint8 rows[2][6];                    /** copied */
  }
  gauge stat uint64 sum "items";                /** Of the table. */
  gauge stat uint64 left "cycles";              /** Until the next. */
  stat uint64 even "cycles";                    /** With an even number of times. */
  stat uint64 odd "cycles";                     /** With an odd number. */
  init;
  phase_end;
  next_event;
  finish;
}
"""
TIMER_C = """#include <string.h>
init() {
  set_until(ready, 3);
  set_until(seldom[1], never());
  store(table, 7, 1000);
}
phase_end() {
  if (until(seldom[1]) != never()) sim_error("never came");
  if (until(ready)) return;
  set_until(ready, 10);
  set_until(seldom[0], 0);
  const uint32_t at = (uint32_t)cycle();
  note(latest, at);
  note(ring, at);
  store(table, self->done % 8, load(table, self->done % 8) + at);
  uint8_t bytes[4] = {1, 2, 3, (uint8_t)self->done}, read[4];
  memcpy(store_span(rows[1], 2, 4), bytes, 4);
  memcpy(read, load_span(rows[1], 2, 4), 4);
  store(rows[0], 0, read[3]);
  count_cycles(spent[self->done % 2], false);
  self->done++;
  count_cycles(spent[self->done % 2], true);
}
statistics() {
  counted(even) = counted(spent[0]) + (self->done % 2 ? 0 : cycle());
  counted(odd) = counted(spent[1]) + (self->done % 2 ? cycle() : 0);
}
next_event() { return after(until(ready)); }
finish() {
  uint64_t sum = 0;
  for (int i = 0; i < 8; i++) sum += load(table, i);
  counted(sum) = sum;
  counted(left) = until(ready);
}
"""


@pytest.fixture
def timer_text(tmp_path):
    (tmp_path / "timer.lss").write_text(TIMER)
    (tmp_path / "timer.c").write_text(TIMER_C)
    return "instance t : timer;\n"


@pytest.fixture
def timer(timer_text, build_sim):
    return build_sim(timer_text)


def shown(done) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in done.out.splitlines() if " = " in line and line.startswith("t."))


def test_what_the_words_do(timer, run_sim):
    done = run_sim(timer, "--cycles", 56, "--print", "t.*", "--quiet")
    state = shown(done)
    assert state["t.done"] == "6" and state["t.latest"] == "53"
    assert state["t.ring"] == "23 33 43 53", "in the order in which they were noted, the latest last"
    assert state["t.table"] == f"{7 + 3} {6 + 13} 23 33 43 53 0 1000"
    assert state["t.rows"] == "5 0 0 0 0 0 0 0 1 2 3 5"
    assert done.value("t", "sum") == 7 + 3 + 6 + 13 + 23 + 33 + 43 + 53 + 1000
    assert done.value("t", "left") == 63 - 56
    assert done.value("t", "even") == 3 + 10 + 10 + 3 and done.value("t", "odd") == 10 + 10 + 10
    assert not [one for one in done.stats["statistics"] if one["name"].startswith("spent")], "a counter is no statistic"


def test_waves_show_traces_but_not_rings(timer, run_sim, tmp_path):
    run_sim(timer, "--cycles", 20, "--wave", "w.vcd", "--wave-signals", "t.**", "--quiet")
    names = [line.split()[4].split("[")[0] for line in (tmp_path / "w.vcd").read_text().splitlines() if line.lstrip().startswith("$var")]
    assert "latest" in names and "ready" in names
    assert not [name for name in names if name.startswith("ring")]


def test_one_element_of_a_ring(timer, run_sim):
    assert shown(run_sim(timer, "--cycles", 56, "--print", "t.ring[3]", "--quiet")) == {"t.ring[3]": "53"}


def test_past_instants_are_zero(timer, run_sim):
    """Whatever else is asked for, and in the checkpoint too; what comes is the cycle in which it does."""
    for cycles, ready in ((3, "0"), (56, "63"), (63, "0")):
        state = shown(run_sim(timer, "--cycles", cycles, "--print", "t.*", "--quiet", "--checkpoint", f"c{cycles}"))
        assert state["t.ready"] == ready
        assert state["t.seldom"] == "0 0xffffffffffffffff"
    assert run_sim(timer, "--restore", "c56", "--compare", "c63", ok=False).out.splitlines()[-1].split() == ["t.ready", "63", "0"]


def test_what_next_event_says_of_instants_is_kept(timer_text, build_sim, run_sim):
    """The debug build steps every cycle, and stops at one in which something changes that was not named."""
    run_sim(build_sim(timer_text, "--debug"), "--cycles", 100, "--check-idle", "--quiet")


def test_a_restored_run_goes_on(timer, run_sim):
    run_sim(timer, "--cycles", 40, "--checkpoint", "point", "--quiet")
    straight = run_sim(timer, "--cycles", 90, "--print", "t.*", "--quiet")
    restored = run_sim(timer, "--restore", "point", "--cycles", 90, "--print", "t.*", "--quiet")
    assert shown(straight) == shown(restored)


def test_the_netlist_says_the_kinds(lss, tmp_path, timer):
    lss("export", "machine1.lss", "-o", "netlist.json")
    (one,) = [one for one in json.loads((tmp_path / "netlist.json").read_text())["instances"] if one["path"] == "t"]
    kinds = {state["name"]: state["kind"] for state in one["state"]}
    assert list(kinds.items())[:4] == [("done", "behaviour"), ("ready", "instant"), ("seldom", "instant"), ("latest", "trace")]
    assert kinds["table"] == "memory" and kinds["sum"] == "statistic"
