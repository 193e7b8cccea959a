// What the sending half of a cut crossing calls; see link_end.h.
#include "lss/runtime/engine/link_end.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"

void spinach_link_send(uint32_t link, uint64_t instant, const void *item) {
  const spinach_link_end *end = &spinach_machine_table.links[link];
  if (instant < spinach_time.now + end->cut)
    spinach_fail("%s: an item arrives at instant %llu, sooner than the cut of %llu ticks after %llu", end->path,
                 (unsigned long long)instant, (unsigned long long)end->cut, (unsigned long long)spinach_time.now);
  spinach_effects++;
  spinach_hooks.send(link, instant, item);
}
