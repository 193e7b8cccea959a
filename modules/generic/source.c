// source.c: offers items from a script or a userpoint; see source.lss.
#include <ctype.h>
#include <string.h>

#include "lss/runtime/text/number.h"

// True with probability p.
static bool draw(uint64_t *rng, double p) {
  if (p >= 1.0) return true;
  return (double)(random_bits(rng) >> 11) * 0x1.0p-53 < p;
}

static void next_from_script(self_t *self) {
  char line[4096];
  self->have = false;
  while (stream_line(&self->file, line, sizeof line)) {
    self->line++;
    char *text = line;
    char *comment = strchr(text, '#');
    if (comment) *comment = '\0';
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
    if (length == 0) continue;
    char *value = text + strcspn(text, " \t");
    if (!*value)
      sim_input_error("%s:%llu: a line of a script is CYCLE VALUE [once|cancel], not '%s'", param(script),
                      (unsigned long long)self->line, text);
    *value++ = '\0';
    while (isspace((unsigned char)*value)) value++;
    uint64_t due;
    if (!number_parse(text, UINT64_MAX, &due))
      sim_input_error("%s:%llu: a line of a script is CYCLE VALUE [once|cancel]: '%s' is not a cycle", param(script),
                      (unsigned long long)self->line, text);
    self->only_once = self->cancelled = false;
    char *last = strrchr(value, ' ');
    if (last && strcmp(last + 1, "once") == 0)
      self->only_once = true;
    else if (last && strcmp(last + 1, "cancel") == 0)
      self->only_once = self->cancelled = true;
    if (self->only_once) {
      while (last > value && isspace((unsigned char)last[-1])) last--;
      *last = '\0';
    }
    const char *why;
    if (!type_parse(out, value, &self->item, &why))
      sim_input_error("%s:%llu: '%s' is not a value of this port's type: %s", param(script),
                      (unsigned long long)self->line, value, why);
    if (due < self->due)
      sim_input_error("%s:%llu: cycle %llu after cycle %llu: a script is in rising order", param(script),
                      (unsigned long long)self->line, (unsigned long long)due, (unsigned long long)self->due);
    self->due = due;
    self->have = true;
    return;
  }
}

static void next_generated(self_t *self) {
  self->have = param(count) < 0 || self->index < (uint64_t)param(count);
  if (self->have) self->item = call(generate, self->index);
}

// Draws whether the item is offered in cycle `when`.
static void draw_offer(self_t *self, uint64_t when) {
  bool due = self->have && (self->only_once ? when == self->due : when >= self->due);
  self->offering = due && (self->only_once || draw(&self->rng, param(offer)));
  self->cancelling = self->offering && (self->cancelled || (param(cancel) > 0 && draw(&self->rng, param(cancel))));
}

init() {
  random_seed(&self->rng);
  self->scripted = param(script)[0] != '\0';
  if (self->scripted) {
    stream_read_open(&self->file, param(script));
    next_from_script(self);
  } else {
    next_generated(self);
  }
  draw_offer(self, 0);
}

handler(reset, count) {
  if (!self->scripted) next_generated(self);
  draw_offer(self, cycle());
}
handler(reset, offer) {
  draw_offer(self, cycle());
}
handler(reset, cancel) {
  draw_offer(self, cycle());
}

phase_start() {
  if (self->offering)
    send(out, self->item);
  else
    send_nothing(out);
}

handler(commit) {
  enable(out, acked(out) && !self->cancelling);
}

phase_end() {
  const bool refused = self->offering && !transferred(out);
  self->withdrawn = false;
  if (!self->have) return;
  uint64_t now_cycle = cycle();
  if (refused) {
    event(offered);
    if (param(offer) >= 1.0 && param(cancel) <= 0.0 && !self->only_once) return; // and is again
  }
  if (transferred(out)) {
    count(items);
    self->index++;
    if (self->scripted) {
      next_from_script(self);
    } else {
      next_generated(self);
      self->due = now_cycle + (uint64_t)param(interval);
    }
  } else if (self->have && self->only_once && now_cycle >= self->due) {
    next_from_script(self);
  }
  if (self->have && self->only_once && self->due <= now_cycle)
    sim_input_error("%s:%llu: cycle %llu is already over", param(script), (unsigned long long)self->line,
                    (unsigned long long)self->due);
  draw_offer(self, now_cycle + 1);
  self->withdrawn = refused && !self->offering;
}

next_event() {
  if (self->withdrawn) return cycle();
  if (!self->have) return never();
  // The offer of a cycle is drawn at the end of the one before.
  return unchanged(self->due > cycle() + 1 ? self->due - 1 : cycle());
}
