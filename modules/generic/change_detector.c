// change_detector.c: passes on what is new; see change_detector.lss.
#include <string.h>

handler(compare) {
  if (!some(in) || !call(counts, data(in)) || (self->any && !call(differs, data(in), self->before))) {
    send_nothing(out);
    return;
  }
  send(out, data(in));
}

handler(commit) {
  enable(out, enabled(in));
}

phase_end() {
  if (__builtin_expect(!some(out), 1) || !transferred(out)) return;
  self->before = data(out);
  self->any = true;
}

// What was refused is sent again as long as it comes in.
next_event() {
  return never();
}
