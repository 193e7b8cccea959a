// What options mean together; see request.h.
#include "lss/runtime/engine/request.h"

const char *spinach_writes_once(const spinach_options *options) {
  return options->checkpoint_every                        ? "--checkpoint-every"
         : options->state_hashes                          ? "--state-hashes"
         : options->trace                                 ? "--trace"
         : options->wave                                  ? "--wave"
         : options->record                                ? "--record"
         : options->profile                               ? "--profile"
         : options->check_idle                            ? "--check-idle"
         : options->serve                                 ? "--serve"
         : options->conditions[SPINACH_SAMPLE].kind       ? "--sample"
         : options->conditions[SPINACH_MEASURE_FROM].kind ? "--measure-from"
         : options->conditions[SPINACH_MEASURE_TO].kind   ? "--measure-to"
                                                          : NULL;
}
