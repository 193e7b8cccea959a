// level_synchronizer.c: a value seen from another clock domain; see level_synchronizer.lss.
#include <string.h>

handler(send_latest) {
  send(out, passed(since, 1) ? self->latest : self->before);
}

phase_end(in) {
  if (!some(in)) return;
  const __auto_type sent = data(in);
  if (memcmp(&sent, &self->latest, sizeof sent) == 0) return; // what was sent since when makes no difference
  self->before = self->latest;
  self->latest = sent;
  set_stamp(since, 0);
}

next_event(in) {
  return never();
}

// What was sent before the latest edge of this side, or at it, is new at the coming one.
next_event(out) {
  return unchanged(passed(since, clock_period() + 1) ? never() : cycle());
}
