// After a change of the state; see change.h.
#include "lss/runtime/debug/change.h"

#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/next_pc.h"
#include "lss/runtime/debug/stepping.h"
#include "lss/runtime/debug/stops.h"
#include "lss/runtime/files/stream.h"
#include "lss/runtime/observe/balance.h"

void change_state(void) {
  spinach_passing->last_progress = spinach_time.now; // somebody works on it
  history_restart();
  spinach_streams_diverge();
  spinach_machine_table.wake();
  spinach_balance_disturb();
  next_pc_forget();
  stepping_go_on();
  stops_cut_off();
}
