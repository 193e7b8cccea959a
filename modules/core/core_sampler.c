/* core_sampler.c: windows of a program; see core_sampler.lss. */
#include "core/core_sampler.h"

phase_start() {
  const bool over = (uint64_t)param(windows) > 0 && self->done >= (uint64_t)param(windows);
  send_if(back, self->phase == sampler_phase_ends, over ? UINT64_MAX : (uint64_t)param(period));
}

static void begin_window(self_t *self) {
  self->phase = sampler_phase_measures;
  self->left = (uint64_t)param(measure);
  self->idle_cycles = 0;
  set_stamp(since, 0);
  event(began, self->done + 1);
}

/* The mean and the squares of the differences from it, with one window more. */
static void end_window(self_t *self, uint64_t instructions) {
  const uint64_t took = elapsed(since) - self->idle_cycles;
  const double before = self->done ? (double)self->cycles / (double)self->done : 0;
  self->done++;
  self->cycles += took;
  self->instructions += instructions;
  const double mean = (double)self->cycles / (double)self->done;
  self->squares += ((double)took - before) * ((double)took - mean);
  self->phase = sampler_phase_ends;
  count(sampled);
  count(sampled_instructions, instructions);
  count(sampled_cycles, took);
  event(ended, self->done, took);
}

/* The processor begins or ends to wait for an interrupt. */
static void follow_idle(self_t *self, bool idle) {
  if (idle) set_stamp(idle_since, 0);
  if (!idle && self->phase == sampler_phase_measures) {
    const uint64_t waited = elapsed(idle_since), window = elapsed(since);
    self->idle_cycles += waited < window ? waited : window;
  }
  self->idle = idle;
}

phase_end() {
  const sampler_phase before = self->phase;
  const bool idle = width(waits) > 0 && data(waits);
  const uint64_t completes =
      width(completed) > 0 ? data(completed) : width(retired) > 0 && transferred(retired) && data(retired);
  if (idle != self->idle) follow_idle(self, idle);
  switch (before) {
  case sampler_phase_idle:
    if (!data(executes)) break;
    set_until(warmed, (uint64_t)param(warm));
    self->phase = sampler_phase_warms;
    break;
  case sampler_phase_warms:
    if (within(warmed, 0)) begin_window(self);
    break;
  case sampler_phase_measures:
    if (completes == 0) break;
    if (completes >= self->left)
      end_window(self, (uint64_t)param(measure) + completes - self->left);
    else
      self->left -= completes;
    break;
  case sampler_phase_ends:
    if (transferred(back)) self->phase = data(back) == UINT64_MAX ? sampler_phase_over : sampler_phase_idle;
    break;
  default: break;
  }
  self->changed = self->phase != before || idle != self->idle;
}

statistics() {
  counted(error) = counted(low) = counted(high) = 0;
  if (self->done < 2) return;
  const double n = (double)self->done, size = (double)self->instructions / n;
  const double mean = (double)self->cycles / n / size, error = sqrt(self->squares / (n - 1) / n) / size;
  const double half = student_t(self->done - 1) * error;
  counted(error) = error;
  counted(low) = mean - half;
  counted(high) = mean + half;
}

next_event() {
  if (self->changed) return cycle();
  return self->phase == sampler_phase_warms ? after(until(warmed)) : never();
}
