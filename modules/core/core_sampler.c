// core_sampler.c: measured windows of a program; see core_sampler.lss.
#include "core/core_sampler.h"

static void check_sizes(self_t *self) {
  if (param(measure) > param(period))
    sim_input_error("measure = %lld: a window has more instructions than the %lld of a period"
                    " (set `period` to that at least)",
                    (long long)param(measure), (long long)param(period));
}

init() {
  check_sizes(self);
  random_seed(&self->rng);
}

// Windows that were placed with other numbers have another weight.
static void change_sizes(self_t *self) {
  if (self->done > 0 || self->phase == sampler_phase_measures)
    sim_input_error("period = %lld, measure = %lld: the checkpoint has windows of other sizes already"
                    " (restore one from before the first window)",
                    (long long)param(period), (long long)param(measure));
  self->begun = false;
}

handler(reset, period) {
  change_sizes(self);
}

handler(reset, measure) {
  change_sizes(self);
}

phase_start() {
  send_if(back, self->offers, self->distance);
}

// Places the window of a stratum.
static void place(self_t *self) {
  self->start = self->stratum + random_bits(&self->rng) % (uint64_t)(param(period) - param(measure) + 1);
  self->stratum += (uint64_t)param(period);
}

// The detailed processor gets the program: the first time, somewhere in a stratum.
static void arrive(self_t *self, uint64_t skipped) {
  self->away = false;
  if (self->begun) {
    self->position += skipped;
    return;
  }
  self->begun = true;
  self->position = random_bits(&self->rng) % (uint64_t)param(period);
  self->stratum = 0;
  place(self);
  if (self->start < self->position) place(self);
}

static void begin_window(self_t *self, uint64_t earliest) {
  if (self->start < earliest) self->start = earliest;
  self->end = self->start + (uint64_t)param(measure);
  self->phase = sampler_phase_measures;
  self->idle_cycles = 0;
  set_stamp(since, 0);
  event(began, self->done + 1);
}

static void end_window(self_t *self) {
  const uint64_t took = elapsed(since) - self->idle_cycles;
  const double mean = (double)took / (double)(self->end - self->start), difference = mean - self->latest;
  if (self->done > 0) self->squares += difference * difference;
  self->latest = mean;
  self->done++;
  self->phase = self->done == (uint64_t)param(windows) ? sampler_phase_over : sampler_phase_ahead;
  count(sampled);
  count(sampled_instructions, self->end - self->start);
  count(sampled_cycles, took);
  event(ended, self->done, took);
  place(self);
}

// The processor starts or stops waiting for an interrupt.
static void follow_idle(self_t *self, bool idle) {
  if (idle) set_stamp(idle_since, 0);
  if (!idle && self->phase == sampler_phase_measures) {
    const uint64_t waited = elapsed(idle_since), window = elapsed(since);
    self->idle_cycles += waited < window ? waited : window;
  }
  self->idle = idle;
}

// Instructions were completed.  Windows with fewer of them than a cycle completes start and end in one cycle.
static void advance(self_t *self, uint64_t completes) {
  const uint64_t earliest = self->position + 1;
  self->position += completes;
  for (;;) {
    if (self->phase == sampler_phase_ahead && self->position >= self->start)
      begin_window(self, earliest);
    else if (self->phase == sampler_phase_measures && self->position >= self->end)
      end_window(self);
    else
      return;
  }
}

// Whether the program is to go to the fast processor, and for how many instructions.  The detailed one completes some
// more until it has halted.
static void decide(self_t *self, bool executes) {
  const uint64_t stop = self->position + (uint64_t)param(warm) + SAMPLER_SLACK;
  const uint64_t left = self->start > stop ? self->start - stop : 0;
  const bool over = self->phase == sampler_phase_over, wanted = left >= (uint64_t)param(shortest) || !executes;
  self->offers = self->begun && !self->away && (over || (self->phase == sampler_phase_ahead && wanted));
  self->distance = !self->offers ? 0 : over ? UINT64_MAX : left;
}

phase_end() {
  const sampler_phase phase = self->phase;
  const uint64_t distance = self->distance;
  const bool idle = width(waits) > 0 && data(waits), executes = data(executes), offers = self->offers;
  const uint64_t completes =
      width(completed) > 0 ? data(completed) : width(retired) > 0 && transferred(retired) && data(retired);
  const bool arrives = executes && (self->away || !self->begun), turns = idle != self->idle;
  if (turns) follow_idle(self, idle);
  if (arrives) arrive(self, data(skipped));
  if (transferred(back)) self->away = true;
  if (self->begun && completes > 0) advance(self, completes);
  decide(self, executes);
  self->changed =
      arrives || turns || completes > 0 || phase != self->phase || offers != self->offers || distance != self->distance;
}

// Strata have one window each, so their variance is estimated from the differences between neighbours.
statistics() {
  counted(error) = counted(low) = counted(high) = 0;
  if (self->done < 2) return;
  const double n = (double)self->done, size = (double)counted(sampled_instructions) / n;
  const double unmeasured = fmax(0, 1 - size / (double)param(period));
  const double mean = (double)counted(sampled_cycles) / n / size;
  const double error = sqrt(self->squares / (2 * (n - 1)) / n * unmeasured);
  const double half = student_t(sampler_degrees(n)) * error;
  counted(error) = error;
  counted(low) = mean - half;
  counted(high) = mean + half;
}

next_event() {
  return self->changed ? cycle() : never();
}
