// core_switch.c: who of two processors has the program; see core_switch.lss.
#include <limits.h>

#include "core/core_switch.h"

#include "emulib/program/image.h"

// The address of a symbol of the program.
static uint32_t find_symbol(self_t *self, const char *name) {
  char error[PATH_MAX + 512] = "";
  if (!param(program)[0]) sim_input_error("no symbol %s without a program: set `program` to its ELF file", name);
  stream file = {0};
  size_t size;
  stream_read_open(&file, param(program));
  const uint8_t *bytes = stream_contents(&file, &size);
  ProgramImage *image = program_image_open(param(program), bytes, size, error, sizeof error);
  if (!image) sim_input_error("%s", error);
  uint32_t address;
  const bool found = program_image_symbol(image, name, &address);
  program_image_free(image);
  if (!found) sim_input_error("%s: there is no symbol %s", param(program), name);
  return address;
}

// The cycles in so many nanoseconds, from the start of the run on.
static uint64_t cycles_of(self_t *self, uint64_t nanoseconds) {
  (void)self;
  const unsigned __int128 ticks = (unsigned __int128)nanoseconds * ticks_per_second() / 1000000000u;
  const unsigned __int128 cycles = (ticks + clock_period() - 1) / clock_period();
  return cycles < never() ? (uint64_t)cycles : never();
}

// What `at` says, from the present cycle on.
static enum core_switch_kind set_limit(self_t *self) {
  const struct core_switch_point point = core_switch_read(param(at));
  self->limit = (core_limit){0};
  set_until(halts, never());
  self->later = cycles_of(self, point.later);
  switch (point.kind) {
  case CORE_SWITCH_WRONG:
    sim_input_error("at = %s: never, start, end, marker(N), marker(N) + TIME, symbol(NAME), instructions(N), or a time "
                    "such as 300 ms",
                    param(at));
    break;
  case CORE_SWITCH_START: self->limit.by_instructions = true; break;
  case CORE_SWITCH_INSTRUCTIONS:
    self->limit.by_instructions = true;
    self->limit.instructions = point.number;
    break;
  case CORE_SWITCH_MARKER:
    self->limit.by_marker = true;
    self->limit.marker = (uint32_t)point.number;
    break;
  case CORE_SWITCH_SYMBOL:
    self->limit.by_pc = true;
    self->limit.pc = find_symbol(self, point.name);
    break;
  case CORE_SWITCH_TIME: {
    const uint64_t at = cycles_of(self, point.number);
    set_until(halts, at > cycle() ? at - cycle() : 0);
    break;
  }
  default: break;
  }
  return point.kind;
}

init() {
  self->alone = set_limit(self) == CORE_SWITCH_NEVER;
  if (self->alone) return;
  self->phase = core_switch_phase_fast;
  count_cycles(fast, true);
}

// Whether the fast processor has the program for the first time.
static inline bool begins(const self_t *self) {
  return self->phase >= core_switch_phase_fast && !self->returned;
}

// In a restored run.  What has been switched stays so.
static void set_anew(self_t *self) {
  if (!begins(self)) return;
  const bool never = set_limit(self) == CORE_SWITCH_NEVER;
  if (never) sim_input_error("at = never: the fast processor has executed already; `end` keeps it");
  self->changed = true;
}

handler(reset, at) {
  set_anew(self);
}

handler(reset, program) {
  set_anew(self);
}

phase_start() {
  const bool rests = self->phase == core_switch_phase_detailed;
  set(rests, rests);
  if (!rests && self->phase >= core_switch_phase_fast)
    send(limit, self->limit);
  else
    send_nothing(limit);
  for (int i = 0; i < width(executes); i++) send(executes, i, rests);
  for (int i = 0; i < width(back); i++) accept(back, i, self->phase == core_switch_phase_resuming);
  for (int i = 0; i < width(onward); i++) accept(onward, i, self->phase == core_switch_phase_fast);
  for (int i = 0; i < width(empty); i++)
    send_if(empty, i, !rests && self->phase == core_switch_phase_emptying && self->emptied == (uint32_t)i, true);
}

// The words of a state, on their way to the detailed processor.

handler(pass) {
  if (!get(rests) && self->phase == core_switch_phase_passing && some(fast_save))
    send(detailed_load, data(fast_save));
  else
    send_nothing(detailed_load);
}

handler(commit_state) {
  enable(detailed_load, enabled(fast_save));
}

handler(take) {
  accept(fast_save, !get(rests) && self->phase == core_switch_phase_passing && acked(detailed_load));
}

// And back.

handler(pass_back) {
  if (!get(rests) && self->phase == core_switch_phase_returning && some(detailed_save))
    send(fast_load, data(detailed_save));
  else
    send_nothing(fast_load);
}

handler(commit_back) {
  enable(fast_load, enabled(detailed_save));
}

handler(take_back) {
  accept(detailed_save, !get(rests) && self->phase == core_switch_phase_returning && acked(fast_load));
}

handler(command) {
  const core_control halt = {.set_halt = true, .halt = true}, go = {.set_halt = true, .halt = false};
  const bool comes = some(control);
  if (get(rests)) {
    send_nothing(fast_control);
    if (__builtin_expect(comes, false))
      send(detailed_control, data(control));
    else
      send_nothing(detailed_control);
    return;
  }
  switch (self->phase) {
  case core_switch_phase_stopping:
  case core_switch_phase_stepping:
    send_nothing(fast_control);
    send(detailed_control, self->phase == core_switch_phase_stopping ? halt : ((core_control){.step = true}));
    return;
  case core_switch_phase_starting:
    send_nothing(fast_control);
    send(detailed_control, go);
    return;
  case core_switch_phase_fast: send_if(fast_control, comes, data(control)); break;
  case core_switch_phase_halting: send(fast_control, halt); break;
  case core_switch_phase_resuming:
  case core_switch_phase_postponing: send(fast_control, go); break;
  default: send_nothing(fast_control); break;
  }
  send_nothing(detailed_control);
}

handler(accept) {
  if (get(rests))
    accept(control, acked(detailed_control));
  else
    accept(control, self->phase == core_switch_phase_fast && acked(fast_control));
}

// Commands of its own are not taken back.
handler(commit) {
  enable(fast_control, get(rests) || enabled(control) || self->phase != core_switch_phase_fast);
  enable(detailed_control, !get(rests) || enabled(control));
}

// The detailed processor has the program.
static void arrive(self_t *self) {
  count_cycles(fast, false);
  count(switches);
  event(switched, true);
}

// The fast one has it again.
static void arrive_back(self_t *self) {
  self->returned = true;
  count_cycles(fast, true);
  count(switches);
  event(switched, false);
}

// The program is to go back; the fast processor then executes the last number of instructions that was offered.
static void call_back(self_t *self, core_switch_phase before, uint64_t instructions) {
  const bool wanted = before == core_switch_phase_detailed && self->running && !self->alone;
  if (!wanted && (before == core_switch_phase_detailed || before >= core_switch_phase_fast)) return;
  self->limit = (core_limit){.by_instructions = instructions != UINT64_MAX, .instructions = instructions};
  if (!wanted) return;
  self->emptied = 0;
  self->phase = core_switch_phase_stopping;
}

// The phase that follows in what takes the program from one processor to the other.
static core_switch_phase next_phase(const self_t *self, struct core_switch_seen seen) {
  const core_switch_phase phase = self->phase;
  switch (phase) {
  case core_switch_phase_stopping:
  case core_switch_phase_stepping: return seen.obeyed ? core_switch_phase_draining : phase;
  case core_switch_phase_draining:
    if (!seen.halted) return phase;
    return seen.slot ? core_switch_phase_stepping : core_switch_phase_settling;
  case core_switch_phase_settling:
    if (!seen.quiet) return phase;
    return self->emptied < (uint32_t)width(empty) ? core_switch_phase_emptying : core_switch_phase_returning;
  case core_switch_phase_emptying: return seen.emptied ? core_switch_phase_settling : phase;
  case core_switch_phase_returning: return seen.passed ? core_switch_phase_resuming : phase;
  case core_switch_phase_resuming: return seen.obeyed ? core_switch_phase_fast : phase;
  case core_switch_phase_fast:
    if (!self->running) return phase;
    if (seen.halted) return self->later > 0 ? core_switch_phase_postponing : core_switch_phase_passing;
    return within(halts, 0) ? core_switch_phase_halting : phase;
  case core_switch_phase_halting:
  case core_switch_phase_postponing: return seen.obeyed ? core_switch_phase_fast : phase;
  case core_switch_phase_passing: return seen.passed ? core_switch_phase_starting : phase;
  case core_switch_phase_starting: return seen.obeyed ? core_switch_phase_detailed : phase;
  default: return phase;
  }
}

// The marker was passed, and the switch comes some time later.
static void postpone(self_t *self) {
  self->limit = (core_limit){0};
  set_until(halts, self->later);
  self->later = 0;
}

static void go_on(self_t *self, struct core_switch_seen seen) {
  const core_switch_phase before = self->phase, next = next_phase(self, seen);
  self->phase = next;
  if (next == core_switch_phase_postponing && next != before) postpone(self);
  if (before == core_switch_phase_halting && next != before) set_until(halts, never());
  if (before == core_switch_phase_starting && next != before) arrive(self);
  if (before == core_switch_phase_resuming && next != before) arrive_back(self);
}

phase_end() {
  const core_switch_phase before = self->phase;
  if (__builtin_expect(before != core_switch_phase_detailed, false)) {
    const bool back = before < core_switch_phase_fast;
    struct core_switch_seen seen = {.halted = data(fast_status).halted, .quiet = true};
    for (int i = 0; i < width(quiet); i++) seen.quiet &= data(quiet, i);
    for (int i = 0; i < width(empty); i++) seen.emptied |= transferred(empty, i);
    self->emptied += seen.emptied;
    if (back) seen.halted = data(detailed_status).halted, seen.slot = data(detailed_status).slot;
    seen.obeyed = transferred(fast_control) || transferred(detailed_control); // there is one at most
    seen.passed =
        (transferred(fast_load) && data(fast_load).last) || (transferred(detailed_load) && data(detailed_load).last);
    go_on(self, seen);
  }
  if (some(back)) call_back(self, before, data(back));
  if (transferred(onward)) self->limit = (core_limit){.by_instructions = true, .instructions = data(onward)};
  if (some(control) && transferred(control) && data(control).set_halt) self->running = !data(control).halt;
  self->changed = self->phase != before || transferred(onward);
}

statistics() {
  counted(fast_cycles) = counted(fast) + (self->phase < core_switch_phase_fast ? 0 : cycle());
}

next_event() {
  if (self->changed) return cycle();
  return unchanged(self->phase == core_switch_phase_fast && self->running ? after(until(halts)) : never());
}
