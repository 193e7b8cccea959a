/* sink.c: takes items and records them; see sink.lss. */
#include <string.h>

/* Decides whether cycle `when` accepts. */
static void draw_ready(self_t *self, uint64_t when) {
  if (self->length > 0)
    self->accepting = param(pattern)[when % self->length] == '1';
  else if (self->certain)
    self->accepting = true;
  else
    self->accepting = (double)(random_bits(&self->rng) >> 11) * 0x1.0p-53 < param(ready);
}

init() {
  random_seed(&self->rng);
  const char *pattern = param(pattern);
  self->length = strlen(pattern);
  if (strspn(pattern, "01") != self->length) sim_input_error("pattern '%s': a pattern is made of 0 and 1", pattern);
  if (param(record)[0] != '\0') stream_write_open(&self->file, param(record));
  self->certain = self->length == 0 && param(ready) >= 1.0;
  draw_ready(self, 0);
}

phase_start() {
  accept(in, self->accepting);
}

phase_end() {
  if (transferred(in)) {
    self->items++;
    self->count++;
    self->last = cycle();
    event(taken);
    sim_progress();
    if (param(record)[0] != '\0') {
      char text[4096];
      type_print(in, &data(in), text, sizeof text);
      stream_printf(&self->file, "%llu %s\n", (unsigned long long)cycle(), text);
    }
    if (param(limit) > 0 && self->count >= (uint64_t)param(limit))
      sim_stop("%llu items taken", (unsigned long long)self->count);
  }
  if (!self->certain) draw_ready(self, cycle() + 1);
}

next_event() {
  return self->certain ? never() : cycle();
}
