// sink.c: takes items and records them; see sink.lss.
#include <string.h>

// Accepts in every cycle.
static bool certain(const self_t *self) {
  return !param(pattern)[0] && param(ready) >= 1.0;
}

// Decides whether cycle `when` accepts.
static void draw_ready(self_t *self, uint64_t when) {
  if (param(pattern)[0])
    self->accepting = param(pattern)[when % strlen(param(pattern))] == '1';
  else if (certain(self))
    self->accepting = true;
  else
    self->accepting = (double)(random_bits(&self->rng) >> 11) * 0x1.0p-53 < param(ready);
}

init() {
  random_seed(&self->rng);
  const char *pattern = param(pattern);
  if (strspn(pattern, "01") != strlen(pattern)) sim_input_error("pattern '%s': a pattern is made of 0 and 1", pattern);
  if (param(record)[0] != '\0') stream_write_open(&self->file, param(record));
  draw_ready(self, 0);
}

handler(reset, pattern) {
  draw_ready(self, cycle());
}
handler(reset, ready) {
  draw_ready(self, cycle());
}

phase_start() {
  accept(in, self->accepting);
}

phase_end() {
  self->took = transferred(in);
  if (self->took) {
    count(items);
    self->count++;
    report(last, cycle());
    event(taken);
    sim_progress();
    if (param(record)[0] != '\0') {
      char text[4096];
      type_print(in, &data(in), text, sizeof text);
      stream_printf(&self->file, "%llu %s\n", (unsigned long long)cycle(), text);
    }
    if (param(limit) > 0 && self->count >= (uint64_t)param(limit))
      sim_exit(0, "%llu items taken", (unsigned long long)self->count);
  }
  if (!certain(self) || !self->accepting) draw_ready(self, cycle() + 1);
}

next_event() {
  return certain(self) && self->accepting && !self->took ? unchanged(never()) : cycle();
}
