// Stops that wait to be reported; see stops.h.
#include "lss/runtime/debug/stops.h"

#include "lss/runtime/debug/breakpoints.h"
#include "lss/runtime/debug/next_pc.h"
#include "lss/runtime/debug/stepping.h"
#include "lss/runtime/engine/machine.h"

static GArray *pending; // Met, in one instant
static Met deferred;
static bool waits; // that one does

Stop stops_deliver(GArray *found, bool ahead) {
  g_array_set_size(pending, 0);
  for (guint i = found->len; ahead && i-- > 1;)
    if (!stop_is_of_instruction(&g_array_index(found, Met, i).stop)) g_array_remove_index(found, i);
  for (guint i = 0; i < found->len; i++) {
    const Met *met = &g_array_index(found, Met, i);
    if (stop_is_of_instruction(&met->stop)) next_pc_know(met->stop.core, met->pc, met->stop.within);
    Met later = *met;
    later.instant = spinach_next_instant();
    later.stop.why = g_intern_string(met->stop.why); // it may come true again before it is reported
    if (i) g_array_append_val(pending, later);
  }
  return breakpoints_report(g_array_index(found, Met, 0).stop);
}

bool stops_next(Stop *stop) {
  while (pending->len) {
    const Met met = g_array_index(pending, Met, 0);
    g_array_remove_index(pending, 0);
    if (met.instant != spinach_next_instant()) continue;
    Stop set;
    if (met.stop.kind == STOP_BREAKPOINT && !breakpoints_hit(met.stop.core, met.pc, &set)) continue;
    *stop = breakpoints_report(met.stop);
    return true;
  }
  return false;
}

void stops_drop_others(GArray *found, guint core, StopScope scope) {
  for (guint i = found->len; i-- > 0;) {
    const Met met = g_array_index(found, Met, i);
    if (met.stop.core == core || (!met.stop.core && scope == STOPS_OF_ONE)) continue;
    if (scope == STOPS_OF_ONE_FIRST && !waits) {
      deferred = met;
      deferred.stop.why = g_intern_string(met.stop.why);
      waits = true;
    }
    g_array_remove_index(found, i);
  }
}

bool stops_go_back(Stop *stop) {
  const Met met = deferred;
  if (!waits) return false;
  waits = false;
  if (met.instant >= spinach_next_instant() && !stop_is_of_instruction(&met.stop)) return false; // it is met again
  if (met.instant < spinach_next_instant()) {
    stepping_go_to(met.instant);
    if (!stop_is_of_instruction(&met.stop)) stepping_step(true);
  }
  if (stop_is_of_instruction(&met.stop)) next_pc_know(met.stop.core, met.pc, met.stop.within);
  *stop = breakpoints_report(met.stop);
  return true;
}

void stops_forget(void) {
  g_array_set_size(pending, 0);
  waits = false;
}

void stops_cut_off(void) {
  deferred.instant = UINT64_MAX;
}

void stops_begin(void) {
  pending = g_array_new(FALSE, FALSE, sizeof(Met));
}
