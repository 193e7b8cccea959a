// forker.c: forks the run again and again; see forker.lss.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lss/runtime/engine/forks.h"

init() {
  random_seed(&self->rng);
  if (param(input)[0] != '\0') stream_read_open(&self->in, param(input));
  if (param(output)[0] != '\0') stream_write_open(&self->written, param(output));
}

phase_start() {
  if (self->waits || self->silent)
    send_nothing(out);
  else
    send(out, cycle());
}

// Of a fork that is not like the others.
static void end_otherwise(self_t *self) {
  const char *way = param(way);
  if (!strcmp(way, "error")) sim_error("no memory answers at 0x%x", 0xdeadu);
  if (!strcmp(way, "input")) sim_input_error("the line is malformed");
  if (!strcmp(way, "crash")) *(volatile int *)8 = 1;
  if (!strcmp(way, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(way, "leave")) _exit(0);
  if (!strcmp(way, "exit")) sim_exit(3, "the program ended");
  if (!strcmp(way, "again")) fork_begin(self->spinach_id, "trial of a trial", 1);
  if (!strcmp(way, "wait")) self->waits = true;
  if (!strcmp(way, "stick")) self->silent = true, self->left = UINT64_MAX;
  if (!strcmp(way, "hang"))
    for (;;) pause();
}

static void act(self_t *self) {
  char line[64] = "";
  self->last = random_bits(&self->rng);
  event(drew, self->last);
  if (stream_is_open(&self->in) && !stream_line(&self->in, line, sizeof line)) line[0] = '\0';
  if (stream_is_open(&self->written)) stream_printf(&self->written, "%llu %s\n", (unsigned long long)self->last, line);
  self->sum += self->last ^ strlen(line);
}

phase_end() {
  if (self->waits) return;
  act(self);
  if (self->inside) {
    if (--self->left > 0) return;
    if (self->number == (uint64_t)param(odd))
      end_otherwise(self);
    else
      fork_end(&self->sum, sizeof self->sum);
    return;
  }
  if (cycle() % (uint64_t)param(every) != 0 || self->number == (uint64_t)param(most)) return;
  self->number++;
  self->inside = fork_begin(self->spinach_id, "trial", self->number);
  self->left = (uint64_t)param(steps);
  self->sum = 0;
}

statistics() {
  uint64_t result = 0;
  for (fork_outcome outcome; (outcome = fork_take(self->spinach_id, &result, sizeof result)) != FORK_NONE;) {
    if (outcome == FORK_ENDED) {
      counted(ended)++;
      counted(digest) = (counted(digest) ^ result) * 0x100000001b3u;
    }
    counted(failed) += outcome == FORK_FAILED;
    counted(over) += outcome == FORK_OVER;
  }
}

next_event() {
  return self->waits ? never() : cycle();
}
