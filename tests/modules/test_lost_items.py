"""Mutants of library modules that lose or repeat an item now and then are noticed by debug builds of machines that use them.

A mutant is a copy of a module with one place of its C changed; HIT is true in one cycle of 97.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.modules import test_lost_instructions
from tests.tree import found

HIT = "(cycle() % 97 == 50)"

ITEMS = """instance a : source { count = 2000; offer = 0.8; };
instance c : sink { ready = 0.7; };
instance b : MODULE
a.out -> b.in : uint32;  b.out -> c.in;
"""
SEVERAL_IN = """instance a[2] : source { count = 2000; offer = 0.8; };
instance c : sink { ready = 0.7; };
instance b : MODULE
a[0].out -> b.in : uint32;  a[1].out -> b.in;  b.out -> c.in;
"""
SEVERAL_OUT = """instance a : source { count = 2000; offer = 0.8; };
instance c[2] : sink { ready = 0.7; };
instance b : MODULE
a.out -> b.in : uint32;  b.out -> c[0].in;  b.out -> c[1].in;
"""
BOTH = """instance a[2] : source { count = 2000; offer = 0.8; };
instance c[2] : sink { ready = 0.7; };
instance b : MODULE
a[0].out -> b.in : uint32;  a[1].out -> b.in;  b.out -> c[0].in;  b.out -> c[1].in;
"""
READ = "return (typeof_port(memory_request)){.op = random & 1 ? mem_op_write : mem_op_read, .size = 8, .tag = (uint32_t)index & 255, .address = (uint32_t)(random >> 8) & 0xff8, .data = random};"
MEMORY = f"""import memory_types;
instance r[REQUESTERS] : memory_source {{ width = 64; outstanding = 4; offer = 0.8; generate = <<< {READ} >>>; }};
instance m[MEMORIES] : memory_state {{ width = WIDTH; size = 8 KiB; }};
instance b : MODULE
"""


def memory(joins: str, requesters: int = 1, memories: int = 1, width: int = 64) -> str:
    return MEMORY.replace("REQUESTERS", str(requesters)).replace("MEMORIES", str(memories)).replace("WIDTH", str(width)) + joins + "\n"


ONE = memory("r[0].memory -> b.in;  b.out -> m[0].port;")
TIMED = memory("r[0].memory -> b.in;  b.memory -> m[0].port;")
TWO = memory("r[0].memory -> b.in;  r[1].memory -> b.in;  b.out -> m[0].port;", requesters=2)
LANES = memory("r[0].memory -> b.in;  r[1].memory -> b.in;  b.out -> m[0].port;  b.out -> m[0].port;", requesters=2)
NARROW = memory("r[0].memory -> b.in;  b.out -> m[0].port;", width=16)
BANKS = memory("r[0].memory -> b.in;  r[1].memory -> b.in;  b.out -> m[0].port;  b.out -> m[1].port;", requesters=2, memories=2)
ROUTED = memory('r[0].memory -> b.in;  b.out["low"] -> m[0].port;  b.out["high"] -> m[1].port;', memories=2)
FILTERED = memory("r[0].memory -> b.in;  r[1].memory -> b.in;  b.scratchpad -> m[0].port;  b.main -> m[1].port;", requesters=2, memories=2)
HELD = memory("r[0].memory -> b.port;").replace("instance m[1] : memory_state { width = 64; size = 8 KiB; };\n", "")


@dataclass(frozen=True)
class Mutant:
    """A module, where it is used, and how its C is changed."""

    module: str
    machine: str
    old: str
    new: str
    body: str = "MODULE;"
    quick: bool = False

    def __str__(self) -> str:
        return f"{self.module}-{re.sub(r'[^a-z]+', '_', self.new.lower())[:40]}"


MUTANTS = [
    Mutant("pipe", ITEMS, "self->full[0] = enters | stays;", "self->full[0] = (enters & !HIT) | stays;", quick=True),
    Mutant("pipe", ITEMS, "stays = some(out) & !acked(out) &", "stays = some(out) & (!acked(out) | HIT) &"),
    Mutant("pipe", ITEMS, "  if (transferred(in)) {\n    uint32_t tail", "  if (transferred(in) && !HIT) {\n    uint32_t tail", "MODULE { depth = 3; };"),
    Mutant("pipe", ITEMS, "  if (transferred(out)) {\n    self->count--;", "  if (transferred(out) && !HIT) {\n    self->count--;", "MODULE { depth = 3; };"),
    Mutant("pipe", ITEMS, "      self->full[head] = enters;", "      self->full[head] = enters & !HIT;", "MODULE { depth = 3; elastic = false; };"),
    Mutant("queue", ITEMS, "if (transferred(in)) {", "if (transferred(in) && !HIT) {"),
    Mutant("queue", ITEMS, "if (transferred(out)) {", "if (transferred(out) && !HIT) {", quick=True),
    Mutant("clock_crossing", ITEMS, "if (transferred(in)) {", "if (transferred(in) && !HIT) {"),
    Mutant("clock_crossing", ITEMS, "if (transferred(out)) {", "if (transferred(out) && !HIT) {"),
    Mutant("monitor", ITEMS, "accept(in, i, acked(out, i));", "accept(in, i, acked(out, i) || HIT);"),
    Mutant("monitor", ITEMS, "enable(out, i, enabled(in, i));", "enable(out, i, enabled(in, i) && !HIT);"),
    Mutant("mux", SEVERAL_IN, "accept(in, i, get(winner) == i && acked(out));", "accept(in, i, (get(winner) == i && acked(out)) || HIT);"),
    Mutant("mux", SEVERAL_IN, "enable(out, committed);", "enable(out, committed && !HIT);"),
    Mutant("demux", SEVERAL_OUT, "accept(in, accepted);", "accept(in, accepted || HIT);", "MODULE { route = <<< return item & 1; >>>; };"),
    Mutant("demux", SEVERAL_OUT, "get(lane) == i && enabled(in));", "get(lane) == i && enabled(in) && !HIT);", "MODULE { route = <<< return item & 1; >>>; };"),
    Mutant("tee", SEVERAL_OUT, "enabled(in) && get(all));", "enabled(in) && get(all) && (i || !HIT));"),
    Mutant("lane_barrier", BOTH, "enable(out, i, every);", "enable(out, i, every && (i || !HIT));"),
    Mutant("memory_delay", ONE, "if (transferred(in_request)) {", "if (transferred(in_request) && !HIT) {", "MODULE { latency = 2; };"),
    Mutant("memory_delay", ONE, "    self->count--;", "    self->count -= !HIT;", "MODULE { latency = 2; };"),
    Mutant("memory_delay", ONE, "if (some(out_reply))", "if (some(out_reply) && !HIT)", "MODULE { latency = 2; };"),
    Mutant("memory_crossing", ONE, "if (transferred(in_request)) {", "if (transferred(in_request) && !HIT) {"),
    Mutant("memory_crossing", ONE, "if (transferred(out_reply)) {", "if (transferred(out_reply) && !HIT) {", quick=True),
    Mutant("memory_crossing", ONE, "    self->offered--;", "    self->offered -= !HIT;"),
    Mutant("memory_arbiter", TWO, "if (get(replied) != i) {", "if (get(replied) != i || HIT) {"),
    Mutant("memory_arbiter", TWO, "accept(in_request, i, get(accepted) == i);", "accept(in_request, i, get(accepted) == i || HIT);"),
    Mutant("memory_gate", LANES, "enable(in_reply, i, enabled(out_reply, i));", "enable(in_reply, i, enabled(out_reply, i) && !HIT);"),
    Mutant("memory_gate", LANES, "acked(out_request, i) & (used < param(ports))", "(acked(out_request, i) & (used < param(ports))) | HIT"),
    Mutant("memory_alias", LANES, "if (some(out_reply, i))", "if (some(out_reply, i) && !HIT)", "MODULE { operation = <<< return op; >>>; map = <<< return address; >>>; };"),
    Mutant("memory_width", NARROW, "if (transferred(in_request)) hold(", "if (transferred(in_request) && !HIT) hold(", "MODULE { from = 64; to = 16; };"),
    Mutant("memory_width", NARROW, "if (transferred(in_reply)) release", "if (transferred(in_reply) && !HIT) release", "MODULE { from = 64; to = 16; };"),
    Mutant("memory_router", ROUTED, "  if (any)\n    send(in_reply", "  if (any && !HIT)\n    send(in_reply", "MODULE { route = <<< return address >> 11 & 1; >>>; };"),
    Mutant("memory_crossbar", BANKS, "send_if(in_reply, i, replies >> i & 1, reply[i]);", "send_if(in_reply, i, (replies >> i & 1) && !HIT, reply[i]);", "MODULE { relative = false; };"),
    Mutant("scratchpad_filter", FILTERED, "    if (replied)\n      send(in_reply", "    if (replied && !HIT)\n      send(in_reply", "MODULE { width = 64; map = <<< return address >> 11 & 1 ? filter_target_main : filter_target_scratchpad; >>>; };"),
    Mutant("sram_controller", TIMED, "self->count = held + accepted - replied;", "self->count = held + (accepted & !HIT) - replied;"),
    Mutant("sram_controller", TIMED, "self->count = held + accepted - replied;", "self->count = held + accepted - (replied & !HIT);"),
    Mutant("dram_controller", TIMED, "if (transferred(in_request)) enter(self, count++, data(in_request));", "if (transferred(in_request) && !HIT) enter(self, count++, data(in_request));"),
    Mutant("memory_controller", TIMED, "if (entered) enter(", "if (entered && !HIT) enter(", "MODULE { width = 64; };"),
    Mutant("memory_state", HELD, "if (!some(port_request, i) || !enabled(port_request, i)) {\n      send_nothing(port_reply, i);", "if (!some(port_request, i) || !enabled(port_request, i) || HIT) {\n      send_nothing(port_reply, i);", "MODULE { size = 8 KiB; };"),
    Mutant("memory_source", ONE, "count(replies);", "if (!HIT) count(replies);", "memory_delay;"),
    Mutant("source", ITEMS, "count(items);", "count(items, HIT ? 2 : 1);", "queue;"),
    Mutant("sink", ITEMS, "count(items);", "if (!HIT) count(items);", "queue;"),
]


def build(mutant: Mutant, build_sim: Callable[..., Path], *options) -> Path:
    return build_sim(mutant.machine.replace("MODULE", mutant.body.replace("MODULE", mutant.module)), "--debug", "-O0", *options)


def check(mutant: Mutant, root: Path, tmp_path: Path, build_sim: Callable[..., Path], run_sim: Callable) -> None:
    (source,) = found(root / "modules", f"{mutant.module}.c")
    for path in source.parent.glob(f"{mutant.module}.*"):
        shutil.copy(path, tmp_path)
    text = source.read_text()
    assert "error" not in run_sim(build(mutant, build_sim), "--cycles", 4000).err
    (tmp_path / source.name).write_text(text.replace(mutant.old, mutant.new.replace("HIT", HIT)))
    done = run_sim(build(mutant, build_sim, "-I", tmp_path), "--cycles", 4000, ok=False)
    assert "error: " in done.err


@pytest.mark.parametrize("mutant", [one for one in MUTANTS if one.quick], ids=str)
def test_a_lost_item_is_found(mutant: Mutant, root: Path, tmp_path: Path, build_sim, run_sim) -> None:
    check(mutant, root, tmp_path, build_sim, run_sim)


@pytest.mark.soak
@pytest.mark.parametrize("mutant", [one for one in MUTANTS if not one.quick], ids=str)
def test_every_lost_item_is_found(mutant: Mutant, root: Path, tmp_path: Path, build_sim, run_sim) -> None:
    check(mutant, root, tmp_path, build_sim, run_sim)


def test_the_places_of_all_mutants_are_there(root: Path) -> None:
    """Also of those that only the soak builds: whoever changes a module changes its mutants at once."""
    texts = {one: found(root / "modules", f"{one.module}.c")[0].read_text() for one in (*MUTANTS, *test_lost_instructions.MUTANTS)}
    assert not [f"{one.module}: {one.old}" for one, text in texts.items() if text.count(one.old) != 1]


def test_the_mutants_are_many() -> None:
    assert len(set(MUTANTS)) >= 40 and len({one.module for one in MUTANTS}) > 20
