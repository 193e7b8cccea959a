// Backwards: to a mark, and forwards from it to the last time that something is met; see run_control.h.
#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/breakpoints.h"
#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/groups.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/run_control.h"
#include "lss/runtime/debug/stepping.h"
#include "lss/runtime/debug/stop_conditions.h"
#include "lss/runtime/debug/stops.h"

// What was met last: of conditions in a stretch that is over, too.
static uint64_t latest(uint64_t last, GArray *found) {
  g_autoptr(GArray) true_now = g_array_new(FALSE, FALSE, sizeof(Met));
  stop_conditions_collect_stretch(true_now);
  for (guint i = 0; i < true_now->len; i++) {
    const Met *met = &g_array_index(true_now, Met, i);
    if (last != UINT64_MAX && met->instant < last) continue;
    if (met->instant != last) g_array_set_size(found, 0);
    last = met->instant;
    g_array_append_val(found, *met);
  }
  return last;
}

Stop run_control_backward(guint core, bool stepped) {
  stops_forget();
  Stop within;
  if (groups_go_back(core, stepped, &within)) return within;
  drain_let_go();
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Met));
  for (guint i = 1; i <= core_count(); i++) breakpoints_pass(i, UINT64_MAX);
  stop_conditions_see_backwards();
  for (uint64_t end = spinach_next_instant();;) {
    if (end == 0 || !history_back(end - 1)) {
      history_back(end);
      return (Stop){.kind = STOP_BEGINNING, .core = core};
    }
    const uint64_t start = spinach_next_instant();
    uint64_t last = UINT64_MAX;
    g_autoptr(GArray) met = g_array_new(FALSE, FALSE, sizeof(Met));
    stop_conditions_look();
    breakpoints_see();
    while (spinach_next_instant() < end) {
      const uint64_t before = spinach_next_instant();
      if (stepping_step(true) != STEPPED) break;
      stepping_mark_near();
      g_array_set_size(met, 0);
      breakpoints_collect(before, stepped ? core : 0, true, met);
      if (met->len) {
        last = before;
        g_array_set_size(found, 0);
        g_array_append_vals(found, met->data, met->len);
      }
    }
    last = latest(last, found);
    if (last != UINT64_MAX) {
      stepping_go_to(last);
      return stops_deliver(found, true);
    }
    end = start;
    if (run_control_requested()) {
      stepping_go_to(start);
      return (Stop){.kind = STOP_REQUESTED};
    }
  }
}
