// core_sampler.c: measured windows of a program; see core_sampler.lss.
#include "core/core_sampler.h"

#include "lss/runtime/engine/forks.h"

static void check_sizes(self_t *self) {
  if (param(measure) > param(period))
    sim_input_error("measure = %lld: a window has more instructions than the %lld of a period"
                    " (set `period` to that at least)",
                    (long long)param(measure), (long long)param(period));
}

static void check_ports(self_t *self) {
  if (param(forked) && width(onward) == 0)
    sim_input_error("forked = true: a forked process cannot call the detailed processor (connect `onward`)");
}

init() {
  check_sizes(self);
  check_ports(self);
  random_seed(&self->rng);
}

// Windows that were placed with other numbers have another weight.
static void change_sizes(self_t *self) {
  if (self->done > 0 || self->forked_windows > 0 || self->phase == sampler_phase_measures)
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

// The two kinds of windows leave the program on different processors.
handler(reset, forked) {
  check_ports(self);
  if (self->begun)
    sim_input_error("forked = %s: the checkpoint has windows of the other kind already (restore one from before the"
                    " first switch)",
                    param(forked) ? "true" : "false");
}

// Instructions that the fast processor executes before the warm-up of the window, from where the detailed one stops.
static inline uint64_t distance_of(const self_t *self) {
  const uint64_t left = self->start - self->position, before = (uint64_t)param(warm) + SAMPLER_SLACK;
  return left > before ? left - before : 0;
}

phase_start() {
  send_if(back, self->offers, self->distance);
  if (width(onward) > 0) send_if(onward, self->calls, distance_of(self));
}

// Places the window of a stratum.
static void place(self_t *self) {
  self->start = self->stratum + random_bits(&self->rng) % (uint64_t)(param(period) - param(measure) + 1);
  self->stratum += (uint64_t)param(period);
}

// The program is somewhere in the first stratum; the fast processor has completed so many instructions of it.
static void begin(self_t *self, uint64_t skipped) {
  const uint64_t here = random_bits(&self->rng) % (uint64_t)param(period);
  self->begun = true;
  self->position = here - skipped;
  self->stratum = 0;
  place(self);
  if (self->start < here) place(self);
}

// The detailed processor gets the program.
static void arrive(self_t *self, uint64_t skipped) {
  self->away = false;
  if (self->begun)
    self->position += skipped;
  else
    begin(self, 0);
}

static void begin_window(self_t *self, uint64_t earliest) {
  if (self->start < earliest) self->start = earliest;
  self->end = self->start + (uint64_t)param(measure);
  self->phase = sampler_phase_measures;
  self->idle_cycles = 0;
  set_stamp(since, 0);
  event(began, self->inside ? self->forked_windows : self->done + 1);
}

static void end_window(self_t *self) {
  const struct sampler_result result = {elapsed(since) - self->idle_cycles, self->end - self->start};
  if (self->inside) fork_end(&result, sizeof result);
  const double mean = sampler_mean(result), difference = mean - self->latest;
  if (self->done > 0) self->squares += difference * difference;
  self->latest = mean;
  self->done++;
  self->phase = self->done == (uint64_t)param(windows) ? sampler_phase_over : sampler_phase_ahead;
  count(sampled);
  count(sampled_instructions, result.instructions);
  count(sampled_cycles, result.cycles);
  event(ended, self->done, result.cycles);
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

// Whether this is the run that windows are forked from, in which none is measured.
static inline bool forks_windows(const self_t *self) {
  return param(forked) && !self->inside;
}

// Instructions were completed.  Windows with fewer of them than a cycle completes start and end in one cycle.
static void advance(self_t *self, uint64_t completes) {
  const uint64_t earliest = self->position + 1;
  self->position += completes;
  while (!forks_windows(self)) {
    if (self->phase == sampler_phase_ahead && self->position >= self->start)
      begin_window(self, earliest);
    else if (self->phase == sampler_phase_measures && self->position >= self->end)
      end_window(self);
    else
      return;
  }
}

// A forked process that would never end.
static void check_stall(self_t *self, bool proceeds) {
  if (proceeds || !stamped(latest_completion))
    set_stamp(latest_completion, 0);
  else if (passed(latest_completion, (uint64_t)param(longest_stall)))
    sim_error("no instruction was completed in %llu cycles", (unsigned long long)param(longest_stall));
}

// From here on there are two processes; the run goes on to the next window.
static void fork_window(self_t *self) {
  self->forked_windows++;
  event(forks, self->forked_windows);
  self->inside = self->calls = fork_begin(self->spinach_id, "window", self->forked_windows);
  if (self->inside) return;
  if (self->forked_windows == (uint64_t)param(windows)) self->phase = sampler_phase_over;
  place(self);
}

// The fast processor has completed so many instructions since it started, and may be about to complete those of a step.
// At the latest one step before the warm-up begins, its limit has to be set; a window that is nearer when the fast
// processor starts is not measured.
static void follow_fast(self_t *self, uint64_t skipped) {
  if (!self->begun) begin(self, skipped);
  while (self->phase == sampler_phase_ahead && forks_windows(self) &&
         distance_of(self) <= skipped + 2 * (uint64_t)param(step)) {
    if (distance_of(self) <= skipped + (uint64_t)param(step))
      place(self);
    else
      fork_window(self);
  }
}

// Whether the program is to go to the fast processor, and for how many instructions.  The detailed one completes some
// more until it has halted.
static void decide(self_t *self, bool executes) {
  const uint64_t left = distance_of(self);
  const bool over = self->phase == sampler_phase_over || forks_windows(self),
             wanted = left >= (uint64_t)param(shortest) || !executes;
  self->offers =
      self->begun && !self->away && !self->inside && (over || (self->phase == sampler_phase_ahead && wanted));
  self->distance = !self->offers ? 0 : over ? UINT64_MAX : left;
}

phase_end() {
  const sampler_phase phase = self->phase;
  const uint64_t distance = self->distance;
  const bool idle = width(waits) > 0 && data(waits), executes = data(executes), offers = self->offers,
             calls = self->calls, follows = forks_windows(self) && self->away;
  const uint64_t completes =
      width(completed) > 0 ? data(completed) : width(retired) > 0 && transferred(retired) && data(retired);
  const bool arrives = executes && (self->away || !self->begun), turns = idle != self->idle;
  if (turns) follow_idle(self, idle);
  if (arrives) arrive(self, data(skipped));
  if (transferred(back)) self->away = true;
  if (transferred(onward)) self->calls = false;
  if (self->begun && completes > 0) advance(self, completes);
  if (self->inside && executes) check_stall(self, arrives || completes > 0 || idle);
  if (follows) follow_fast(self, data(skipped));
  decide(self, executes);
  self->changed = arrives || turns || completes > 0 || phase != self->phase || offers != self->offers ||
                  distance != self->distance || calls != self->calls;
}

// Results of forked windows come in the order of these.  Strata have one window each, so their variance is estimated
// from the differences between neighbours.
statistics() {
  struct sampler_result result;
  for (fork_outcome outcome; (outcome = fork_take(self->spinach_id, &result, sizeof result)) != FORK_NONE;) {
    counted(failed) += outcome == FORK_FAILED;
    if (outcome != FORK_ENDED) continue;
    const double latest = sampler_mean(result), difference = latest - counted(returned_latest);
    if (counted(returned) > 0) counted(returned_squares) += difference * difference;
    counted(returned_latest) = latest;
    counted(returned)++;
    counted(sampled)++;
    counted(sampled_instructions) += result.instructions;
    counted(sampled_cycles) += result.cycles;
  }
  counted(error) = counted(low) = counted(high) = 0;
  if (counted(sampled) < 2) return;
  const double n = (double)counted(sampled), size = (double)counted(sampled_instructions) / n;
  const double unmeasured = fmax(0, 1 - size / (double)param(period));
  const double mean = (double)counted(sampled_cycles) / n / size;
  const double squares = self->squares + counted(returned_squares);
  const double error = sqrt(squares / (2 * (n - 1)) / n * unmeasured);
  const double half = student_t(sampler_degrees(n)) * error;
  counted(error) = error;
  counted(low) = mean - half;
  counted(high) = mean + half;
}

next_event() {
  return self->changed ? cycle() : never();
}
