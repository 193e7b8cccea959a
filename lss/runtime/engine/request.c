// What options mean together; see request.h.
#include "lss/runtime/engine/request.h"

bool spinach_states_are_looked_at(const spinach_options *options) {
  bool looked_at = options->gdb || options->interactive || options->trace;
  for (int i = 0; i < SPINACH_CONDITIONS; i++) looked_at |= options->conditions[i].kind == SPINACH_AT_STATE;
  return looked_at;
}

const char *spinach_writes_once(const spinach_options *options) {
  return options->checkpoint_every                        ? "--checkpoint-every"
         : options->state_hashes                          ? "--state-hashes"
         : options->trace                                 ? "--trace"
         : options->wave                                  ? "--wave"
         : options->record                                ? "--record"
         : options->profile                               ? "--profile"
         : options->record_links && !options->part.board  ? "--record-links"
         : options->check_idle || options->check_idle_of  ? "--check-idle"
         : options->serve                                 ? "--serve"
         : options->conditions[SPINACH_SAMPLE].kind       ? "--sample"
         : options->conditions[SPINACH_MEASURE_FROM].kind ? "--measure-from"
         : options->conditions[SPINACH_MEASURE_TO].kind   ? "--measure-to"
                                                          : NULL;
}
