/* core_switch.c: a fast processor's program goes to a detailed one; see core_switch.lss. */
#include "core/core_switch.h"

#include "emulib/program/image.h"

/* The address of a symbol of the program. */
static uint32_t find_symbol(self_t *self, const char *name) {
  char error[512] = "";
  if (!param(program)[0])
    sim_input_error("no symbol %s without a program: give its ELF file, %s.program", name, path_of_self());
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

/* The cycle in which so many nanoseconds have passed since the start. */
static uint64_t cycle_at(self_t *self, uint64_t nanoseconds) {
  (void)self;
  const unsigned __int128 ticks = (unsigned __int128)nanoseconds * ticks_per_second() / 1000000000u;
  return (uint64_t)((ticks + clock_period() - 1) / clock_period());
}

/* What `at` says, from the present cycle on. */
static enum core_switch_kind set_limit(self_t *self) {
  const struct core_switch_point point = core_switch_read(param(at));
  self->limit = (core_limit){0};
  set_until(halts, never());
  switch (point.kind) {
  case CORE_SWITCH_WRONG:
    sim_input_error("at = %s: never, start, end, marker(N), symbol(NAME), instructions(N), or a time such as 300 ms",
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
    const uint64_t at = cycle_at(self, point.number);
    set_until(halts, at > cycle() ? at - cycle() : 0);
    break;
  }
  default: break;
  }
  return point.kind;
}

init() {
  if (set_limit(self) == CORE_SWITCH_NEVER) return;
  self->phase = core_switch_phase_fast;
  begin_counting(fast);
}

/* In a restored run.  What has been switched stays so. */
static void set_anew(self_t *self) {
  const bool never = set_limit(self) == CORE_SWITCH_NEVER;
  if (never && self->phase != core_switch_phase_detailed)
    sim_input_error("at = never: the fast processor has executed already; `end` keeps it");
  self->changed = true;
}

handler(reset, at) {
  set_anew(self);
}

handler(reset, program) {
  set_anew(self);
}

phase_start() {
  for (int i = 0; i < width(limit); i++) send(limit, i, self->limit);
}

handler(pass) {
  if (__builtin_expect(self->phase == core_switch_phase_passing, false) && some(fast_save))
    send(detailed_load, data(fast_save));
  else
    send_nothing(detailed_load);
}

handler(commit_state) {
  enable(detailed_load, enabled(fast_save));
}

handler(take) {
  accept(fast_save, self->phase == core_switch_phase_passing && acked(detailed_load));
}

handler(command) {
  const core_control halt = {.set_halt = true, .halt = true}, go = {.set_halt = true, .halt = false};
  const bool comes = some(control);
  if (self->phase == core_switch_phase_halting)
    send(fast_control, halt);
  else
    send_if(fast_control, comes && self->phase == core_switch_phase_fast, data(control));
  if (self->phase == core_switch_phase_starting)
    send(detailed_control, go);
  else
    send_if(detailed_control, comes && self->phase == core_switch_phase_detailed, data(control));
}

handler(accept) {
  accept(control, (self->phase == core_switch_phase_fast && acked(fast_control)) ||
                      (self->phase == core_switch_phase_detailed && acked(detailed_control)));
}

handler(commit) {
  const bool enabled = enabled(control);
  enable(fast_control, enabled || self->phase == core_switch_phase_halting);
  enable(detailed_control, enabled || self->phase == core_switch_phase_starting);
}

phase_end() {
  const core_switch_phase before = self->phase;
  switch (before) {
  case core_switch_phase_fast:
    if (self->running && data(fast_status).halted)
      self->phase = core_switch_phase_passing;
    else if (self->running && within(halts, 0))
      self->phase = core_switch_phase_halting;
    break;
  case core_switch_phase_halting:
    if (!transferred(fast_control)) break;
    set_until(halts, never());
    self->phase = core_switch_phase_fast;
    break;
  case core_switch_phase_passing:
    if (transferred(detailed_load)) self->phase = core_switch_phase_starting;
    break;
  case core_switch_phase_starting:
    if (!transferred(detailed_control)) break;
    self->phase = core_switch_phase_detailed;
    end_counting(fast);
    count(switches);
    event(switched, true);
    break;
  default: break;
  }
  const bool commanded = transferred(control) && data(control).set_halt;
  if (commanded) self->running = !data(control).halt;
  self->changed = self->phase != before;
}

statistics() {
  counted(fast_cycles) = counted(fast) + (self->phase == core_switch_phase_detailed ? 0 : cycle());
}

next_event() {
  if (self->changed) return cycle();
  return self->phase == core_switch_phase_fast && self->running ? after(until(halts)) : never();
}
