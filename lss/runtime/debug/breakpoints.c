// Points, and what they are compared with; see breakpoints.h.
#include "lss/runtime/debug/breakpoints.h"

#include "lss/runtime/debug/cores.h"

typedef struct {
  GHashTable *breakpoints; // address to 1: software, 2: hardware
  uint64_t seen;           // retired when it was looked at last
  uint32_t last;           // the address of the latest of them
  uint64_t reported; // how many had retired at its latest stop: that instruction is not reported again on the way on
} Points;

typedef struct {
  guint core;
  uint32_t address, count;
  uint8_t *value;
} Watch;

static Points *points_of; // each core
static GArray *watches;   // Watch
static bool (*until)(void);

// ---- What is met ----------------------------------------------------------------------------------------------------

bool breakpoints_any(void) {
  bool any = watches->len || until;
  for (guint i = 0; i < core_count(); i++) any |= g_hash_table_size(points_of[i].breakpoints) > 0;
  return any;
}

void breakpoints_see(void) {
  for (guint i = 0; i < core_count(); i++) {
    points_of[i].seen = core_retired(i + 1);
    points_of[i].last = (uint32_t)core_get(&core_of(i + 1)->pc);
  }
  for (guint i = 0; i < watches->len; i++) {
    Watch *watch = &g_array_index(watches, Watch, i);
    core_read(core_of(watch->core), watch->address, watch->value, watch->count);
  }
}

void breakpoints_collect(uint64_t before, guint stepped, GArray *found) {
  for (guint i = 0; i < core_count(); i++) {
    Points *points = &points_of[i];
    const uint64_t now = core_retired(i + 1);
    if (now == points->seen) continue;
    const uint64_t count = points->seen; // before it
    points->seen = now;
    const uint32_t pc = (uint32_t)core_get(&core_of(i + 1)->pc), last = points->last;
    points->last = pc;
    const gpointer kind = g_hash_table_lookup(points->breakpoints, GUINT_TO_POINTER(pc));
    Met met = {{.core = i + 1, .hardware = GPOINTER_TO_UINT(kind) == 2}, before, pc};
    if (kind && count != points->reported) {
      met.stop.kind = STOP_BREAKPOINT;
      g_array_append_val(found, met);
    } else if (stepped == i + 1 && !core_in_delay_slot(core_of(i + 1), last, pc)) {
      met.stop.kind = STOP_STEPPED;
      g_array_append_val(found, met);
    }
  }
  uint8_t value[64];
  for (guint i = 0; i < watches->len; i++) {
    Watch *watch = &g_array_index(watches, Watch, i);
    core_read(core_of(watch->core), watch->address, value, watch->count);
    if (memcmp(value, watch->value, watch->count) == 0) continue;
    memcpy(watch->value, value, watch->count);
    const Met met = {{STOP_WATCHPOINT, watch->core, true, watch->address}, before, 0};
    g_array_append_val(found, met);
  }
}

Stop breakpoints_report(Stop stop) {
  if (!stop.core) return stop;
  points_of[stop.core - 1].reported = core_retired(stop.core);
  return stop;
}

bool breakpoints_hit(guint core, uint32_t pc, Stop *stop) {
  const gpointer kind = g_hash_table_lookup(points_of[core - 1].breakpoints, GUINT_TO_POINTER(pc));
  *stop = (Stop){STOP_BREAKPOINT, .core = core, .hardware = GPOINTER_TO_UINT(kind) == 2};
  return kind != NULL;
}

bool breakpoints_reported(guint core) {
  return core_retired(core) == points_of[core - 1].reported;
}

void breakpoints_pass(guint core, uint64_t retired) {
  points_of[core - 1].reported = retired;
}

bool breakpoints_condition(void) {
  return until && until();
}

// ---- What was set ---------------------------------------------------------------------------------------------------

bool breakpoints_set(guint core, uint32_t address, bool hardware, bool set) {
  if (core < 1 || core > core_count()) return false;
  GHashTable *all = points_of[core - 1].breakpoints;
  if (set)
    g_hash_table_insert(all, GUINT_TO_POINTER(address), GUINT_TO_POINTER(hardware ? 2 : 1));
  else
    g_hash_table_remove(all, GUINT_TO_POINTER(address));
  return true;
}

bool breakpoints_watch(guint core, uint32_t address, uint32_t count, bool set) {
  if (core < 1 || core > core_count() || count < 1 || count > 64) return false;
  for (guint i = 0; i < watches->len; i++) {
    const Watch *watch = &g_array_index(watches, Watch, i);
    if (watch->core != core || watch->address != address || watch->count != count) continue;
    if (set) return true;
    g_free(watch->value);
    g_array_remove_index(watches, i);
    return true;
  }
  if (!set || !core_reaches(core_of(core), address, count)) return !set;
  const Watch watch = {core, address, count, g_malloc0(count)};
  g_array_append_val(watches, watch);
  return true;
}

void breakpoints_forget(guint core) {
  for (guint i = 0; i < core_count(); i++)
    if (!core || core == i + 1) g_hash_table_remove_all(points_of[i].breakpoints);
  for (guint i = watches->len; i-- > 0;) {
    const Watch watch = g_array_index(watches, Watch, i);
    if (!core || watch.core == core) breakpoints_watch(watch.core, watch.address, watch.count, false);
  }
  if (!core) until = NULL;
}

void breakpoints_until(bool (*holds)(void)) {
  until = holds;
}

void breakpoints_begin(void) {
  points_of = g_new0(Points, core_count() + 1);
  for (guint i = 0; i < core_count(); i++) {
    points_of[i].breakpoints = g_hash_table_new(NULL, NULL);
    points_of[i].reported = UINT64_MAX;
  }
  watches = g_array_new(FALSE, FALSE, sizeof(Watch));
}
