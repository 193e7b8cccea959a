// How a processor came to where it is; see jumps.h.  Between two jumps it executed a stretch of instructions.  A ring
// knows what was repeated (lss/runtime/engine/ring.h): these are loops.
#include "lss/runtime/cores/jumps.h"

#include "lss/runtime/cores/stretches.h"
#include "lss/runtime/engine/names.h"

enum { WORD = 4 };

typedef struct {
  uint32_t behind, to;
  uint32_t period; // the last so many jumps were made ...
  uint64_t laps;   // ... so often once more
} Jump;

static GArray *jumps_of(const spinach_debug_role *history) {
  const spinach_field *field = history->state.field;
  const spinach_ring *ring =
      (const void *)((const uint8_t *)spinach_instance_state(history->state.instance) + field->ring_offset);
  const uint32_t count = (uint32_t)spinach_field_elements(field);
  GArray *jumps = g_array_new(FALSE, FALSE, sizeof(Jump));
  spinach_place place = {history->state.instance, field, 0, count};
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *one = spinach_element(&place, i);
    const uint64_t laps = spinach_ring_laps(ring)[(ring->next + i) % count];
    const Jump jump = {(uint32_t)core_number_in(field->type, one, "behind"),
                       (uint32_t)core_number_in(field->type, one, "to"), (uint32_t)(laps % SPINACH_RING_LAP),
                       laps / SPINACH_RING_LAP};
    if (jump.behind || jump.to) g_array_append_val(jumps, jump);
  }
  // What came of a lap that is not over yet is not in the ring once more.
  for (uint32_t i = 0; i < ring->matched && jumps->len >= ring->period; i++) {
    Jump again = g_array_index(jumps, Jump, jumps->len - ring->period);
    again.laps = 0;
    g_array_append_val(jumps, again);
  }
  return jumps;
}

static void add(GArray *stretches, uint32_t from, uint32_t behind) {
  const Stretch stretch = {.from = from, .behind = behind};
  g_array_append_val(stretches, stretch);
}

// A loop of the `period` jumps up to the one at `last`, which follow each other in a circle.  It begins where the last
// of them leads to, if the way into it passed there.  Returns how many of its jumps are made once more behind it.
static uint32_t add_loop(GArray *stretches, const Jump *first, uint32_t period, uint64_t laps) {
  const Jump *last = first + period - 1;
  const guint start = stretches->len;
  Stretch *before = start ? &g_array_index(stretches, Stretch, start - 1) : NULL;
  const bool passed = before && !before->times && before->from <= last->to && last->to < before->behind &&
                      before->behind == first->behind;
  guint at = start;
  if (passed && before->from == last->to) g_array_set_size(stretches, --at);
  if (passed) {
    if (at == start) before->behind = last->to;
    add(stretches, last->to, first->behind);
  }
  for (const Jump *jump = first; jump < last; jump++) add(stretches, jump->to, (jump + 1)->behind);
  if (!passed) add(stretches, last->to, first->behind);
  g_array_index(stretches, Stretch, at).members = period;
  g_array_index(stretches, Stretch, at).times = laps + passed;
  return passed ? 0 : period - 1;
}

// A loop of one stretch that was passed to its end once more before the way out of it.
static bool passes_again(Stretch *loop, uint32_t from, uint32_t behind) {
  if (loop->members != 1 || loop->from != from || behind < loop->behind) return false;
  loop->times++;
  return true;
}

static GArray *stretches_of(const GArray *jumps, uint32_t pc) {
  GArray *stretches = g_array_new(FALSE, FALSE, sizeof(Stretch));
  const Jump *all = (const Jump *)(const void *)jumps->data, *end = all + jumps->len;
  // A loop shows at the last jump of its first lap, which is in the list already.
  for (const Jump *jump = all; jump < end; jump++) {
    const uint32_t behind = jump + 1 < end ? (jump + 1)->behind : pc + WORD;
    if (!jump->laps || jump->period > jump - all + 1) {
      add(stretches, jump->to, behind);
      continue;
    }
    const Jump *first = jump + 1 - jump->period;
    g_array_set_size(stretches, stretches->len - (jump->period - 1));
    const uint32_t again = add_loop(stretches, first, jump->period, jump->laps);
    for (const Jump *one = jump - again; one < jump; one++) add(stretches, one->to, (one + 1)->behind);
    Stretch *loop = &g_array_index(stretches, Stretch, stretches->len - 1);
    if (!passes_again(loop, jump->to, behind))
      add(stretches, jump->to, behind);
    else if (loop->behind < behind)
      add(stretches, loop->behind, behind);
  }
  return stretches;
}

static const Core *core_of_view(const spinach_debug_view *view) {
  const char *path = spinach_machine_table.instances[view->instance].path;
  for (guint i = 1; i <= core_count(); i++)
    if (!strcmp(core_of(i)->path, path)) return core_of(i);
  return NULL;
}

void spinach_print_jumps(FILE *out, const spinach_debug_view *view, const spinach_debug_role *history, uint32_t pc) {
  g_autoptr(GArray) jumps = jumps_of(history);
  g_autoptr(GArray) stretches = stretches_of(jumps, pc);
  fprintf(out, "  how it came here, oldest first:\n");
  spinach_print_stretches(out, core_of_view(view), stretches,
                          jumps->len < spinach_field_elements(history->state.field));
}
