"""Cycles that the simulator skips, since nothing but time passes in them, count like those that it steps."""

import pytest

from tests.modules.harness import MOST_CHECKED, Bench
from tests.sample import sampled, seldom

# A requester that waits for its reply, and then for a time, without a word: it lets idle time be skipped.
REQUESTER = """
import memory_types;
module patient_requester {
  outport memory : mem(64);
  state { bool waiting; uint64 next; uint32 sent; }
  always memory.request.enable, memory.reply.ack;
  phase_start -> memory.request.data;
  phase_end;
  next_event;
}
"""
REQUESTER_C = """/* patient_requester.c: one request after the other. */
phase_start() {
  typeof_port(memory_request) request = {.op = mem_op_read, .size = 8, .address = 64 * self->sent};
  send_if(memory_request, !self->waiting && cycle() >= self->next, request);
}
phase_end() {
  if (transferred(memory_request)) {
    self->waiting = true;
    self->sent++;
  }
  if (transferred(memory_reply)) {
    self->waiting = false;
    self->next = cycle() + 5;
  }
}
next_event() { return self->waiting || cycle() > self->next ? never() : self->next; }
"""
AWAKE = "instance awake : source; instance end : sink; awake.out -> end.in : uint32;"  # something happens in every cycle
MEMORY = "instance memory : memory_state { size = 64 KiB; };\n"
ONE = MEMORY + """
instance requester : patient_requester;
instance controller : CONTROLLER;
requester.memory -> controller.in;
controller.memory -> memory.port;
"""
TWO = MEMORY + """
instance requester[2] : patient_requester;
instance crossbar : memory_crossbar { interleave = 0; segment = 65536; };
instance controller : sram_controller { first_access = 20; queue = 1; };
requester[0].memory -> crossbar.in;
requester[1].memory -> crossbar.in;
controller.memory -> memory.port;
"""
MONITOR = """
instance monitor : monitor;
crossbar.out.request -> monitor.in;
monitor.out -> controller.in.request;
controller.in.reply -> crossbar.out.reply;
"""
MACHINES = {
    "sram_controller": (ONE.replace("CONTROLLER", "sram_controller { first_access = 20; }"), "controller", "busy"),
    "dram_controller": (ONE.replace("CONTROLLER", "dram_controller { activate = 20; }"), "controller", "busy"),
    "memory_crossbar": (TWO + "crossbar.out -> controller.in;", "crossbar", "waits"),
    "monitor": (TWO + MONITOR, "monitor", "stalls"),
}


@pytest.mark.parametrize("name", sampled(MACHINES, 2))
def test_skipped_cycles_count(bench: Bench, name: str) -> None:
    (bench.directory / "patient_requester.lss").write_text(REQUESTER)
    (bench.directory / "patient_requester.c").write_text(REQUESTER_C)
    netlist, path, statistic = MACHINES[name]
    skips, steps = (bench.run(bench.build(netlist + more), 1000) for more in ("", AWAKE))
    assert skips.stat(path, statistic) == steps.stat(path, statistic) > 100
    own = [one for one in steps.stats["statistics"] if one["path"] not in ("awake", "end")]
    assert skips.stats["statistics"] == own


CACHED = MEMORY.replace("memory :", "ram :") + """
instance requester : patient_requester;
instance dut : cache { width = 64; line = 32; sets = 4; ways = 1; };
instance delay : memory_delay { latency = 20; };
requester.memory -> dut.in;
dut.memory -> delay.in;
delay.out -> ram.port;
"""


@seldom
def test_a_cache_says_when_it_accepts_what_it_refused(bench: Bench) -> None:
    """Its reply comes with the first beat of a line, and what is asked for then has to wait for the others.  It is looked for idle time in one cycle of many,
    so the first request is tried in all of them."""
    (bench.directory / "patient_requester.lss").write_text(REQUESTER.replace("state {", "runtime init parameter start = 0 : int;\n  init;\n  state {"))
    code = REQUESTER_C.replace("cycle() + 5", "cycle() + 1").replace("phase_start() {", "init() { self->next = (uint64_t)param(start); }\nphase_start() {")
    (bench.directory / "patient_requester.c").write_text(code)
    simulator = bench.build(CACHED)
    for start in range(128):
        ran = bench.run(simulator, MOST_CHECKED + 1 + start, {"requester.start": start})  # so many are not stepped for the check
        assert ran.stat("dut.controller", "misses") > 150, f"requester.start={start}"
