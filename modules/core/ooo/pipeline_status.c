// pipeline_status.c: whether a context of an out-of-order core is halted and empty; see pipeline_status.lss.
#include "core/ooo/places.h"

// Whether the group that was renamed has an instruction of the context.
static inline bool was_renamed(const typeof_port(renamed) * group) {
  if (param(contexts) == 1) return group->count > 0;
  bool any = false;
  for (int i = 0; i < group->count; i++)
    any |= age_context(group->op[i].age, param(contexts)) == (uint32_t)param(context);
  return any;
}

handler(show) {
  core_status now = {0};
  if (some(fetch) & some(room) & some(renamed) & some(list) & some(drained)) {
    now = data(list);
    now.halted &= data(fetch).halted & (data(room).of[param(context)] == (uint32_t)param(depth)) &
                  !was_renamed(&data(renamed)) & data(drained);
    if (now.pc == 0) now.pc = data(fetch).pc;
  }
  for (int i = 0; i < width(status); i++) send(status, i, now);
  for (int i = 0; i < width(stopped); i++) send(stopped, i, now.halted);
}
