// function_unit.c: a combinational function; see function_unit.lss.
//
// The operands are taken together.  Acceptance cannot wait for the operands' enables, so when one sender cancels what
// another commits, an operand would be lost: that stops the run.
#include <string.h>

// Whether an operand that is there always makes a result, so that without one nothing could be taken or committed.
#define EACH (!param(all))

handler(compute) {
  uint64_t present = 0;
  for (int i = 0; i < width(in); i++) present |= (uint64_t)some(in, i) << i;
  const bool has_control = width(control) > 0 && some(control);
  const uint64_t every = ~UINT64_C(0) >> (64 - width(in));
  const bool complete =
      param(all) ? present == every && (width(control) == 0 || has_control) : present != 0 || has_control;
  set(fires, complete);
  if (__builtin_expect(!complete, !param(all))) {
    send_nothing(out);
    return;
  }
  typeof_argument(apply, 0) operands;
  memset(&operands, 0, sizeof operands);
  typeof_port(control) control_value;
  memset(&control_value, 0, sizeof control_value);
  for (int i = 0; i < width(in); i++)
    if (some(in, i)) operands.v[i] = item(in, i);
  if (has_control) control_value = item(control);
  send(out, call(apply, operands, control_value, present));
}

handler(commit) {
  if (EACH && __builtin_expect(!get(fires), 1)) { // when any operand will do, most cycles bring none
    enable(out, true);
    return;
  }
  bool committed = EACH || get(fires);
  for (int i = 0; i < width(in); i++) committed = committed && (!some(in, i) || enabled(in, i));
  if (width(control) > 0 && some(control)) committed = committed && enabled(control);
  enable(out, committed);
}

handler(accept) {
  bool accepted = (EACH || get(fires)) && acked(out);
  for (int i = 0; i < width(in); i++) accept(in, i, accepted);
  accept(control, accepted);
}

phase_end() {
  if (__builtin_expect(!get(fires), !param(all))) return;
  bool taken = width(control) > 0 && transferred(control);
  for (int i = 0; i < width(in); i++) taken = taken || transferred(in, i);
  if (taken && !transferred(out)) sim_error("one operand was cancelled while another was committed");
}

// There is no state.
next_event() {
  return unchanged(never());
}
