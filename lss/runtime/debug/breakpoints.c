// Points, and what they are compared with; see breakpoints.h.
#include "lss/runtime/debug/breakpoints.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/events.h"
#include "lss/runtime/debug/stop_conditions.h"

typedef struct {
  GHashTable *breakpoints; // address to 1: software, 2: hardware
  uint64_t seen;           // retired when it was looked at last
  uint32_t last;           // the address of the latest of them
  uint64_t reported;       // how many retire before that of its latest stop, which is not reported again on the way on
} Points;

typedef struct {
  guint core;
  WatchKind kind;
  uint32_t address, count;
  uint8_t *value;
  char *why; // the latest access
} Watch;

static Points *points_of; // each core
static GArray *watches;   // Watch

// ---- What is met ----------------------------------------------------------------------------------------------------

static bool has_accesses(void) {
  for (guint i = 0; i < watches->len; i++)
    if (g_array_index(watches, Watch, i).kind != WATCH_VALUE) return true;
  return false;
}

bool breakpoints_each_instant(void) {
  bool any = watches->len || stop_conditions_each_instant();
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
    if (watch->kind == WATCH_VALUE) core_read(core_of(watch->core), watch->address, watch->value, watch->count);
  }
  events_collect(stop_conditions_have_events() || has_accesses());
}

// Whether a watchpoint waits for such an operation; a barrier refers to no address.
static bool waits_for(WatchKind kind, const Event *event) {
  const struct spinach_type *type = event_argument(event, "op");
  const char *name = "";
  int64_t op;
  if (kind == WATCH_VALUE) return false;
  for (uint32_t i = 0; type && event_number(event, "op", &op) && i < type->member_count; i++)
    if (type->members[i].value == op) name = type->members[i].name;
  return strcmp(name, "barrier") != 0 && (kind == WATCH_ACCESSES || !trace_operation_writes(name));
}

// A processor's reference to memory, if that is what the event is.
static void collect_access(const Event *event, uint64_t before, GArray *found) {
  int64_t address, size;
  if (strcmp(event->source->event, "access") != 0 || !event_argument(event, "pc") ||
      !event_number(event, "address", &address) || !event_number(event, "size", &size))
    return;
  const guint core = core_around(event->source->path);
  for (guint i = 0; i < watches->len; i++) {
    Watch *watch = &g_array_index(watches, Watch, i);
    if (watch->core != core || !waits_for(watch->kind, event) ||
        !core_overlap(core_of(core), (uint32_t)address, (uint32_t)size, watch->address, watch->count))
      continue;
    g_free(watch->why);
    watch->why = event_text(event);
    const Stop stop = {STOP_WATCHPOINT, core, true, watch->address, watch->kind, watch->why, 0};
    const Met met = {stop, before, 0};
    g_array_append_val(found, met);
  }
}

static void collect_events(uint64_t before, GArray *found) {
  const GArray *events = events_look();
  for (guint i = 0; i < events->len && has_accesses(); i++)
    collect_access(&g_array_index(events, Event, i), before, found);
  stop_conditions_collect(before, events, found);
}

static Met met_at(guint core, StopKind kind, uint64_t before, uint32_t within, uint32_t pc) {
  const Met met = {{kind, .core = core, .within = within}, before, pc};
  return met;
}

// Of those that retired in one instant the first, or going backwards the last, at which a step ends: gdb is not shown
// delay slots.  Behind the last: there is none.
static uint64_t step_within(guint core, uint64_t all, bool backwards) {
  const Core *processor = core_of(core);
  for (uint64_t k = 0; k < all; k++) {
    const uint64_t within = backwards ? all - 1 - k : k;
    const uint32_t last = within ? core_retired_pc(processor, all - within) : points_of[core - 1].last;
    if (!core_in_delay_slot(processor, last, core_retired_pc(processor, all - 1 - within))) return within;
  }
  return all;
}

// Of instructions that retired in one instant, `count` before them: the first breakpoint that is not reported yet, or
// going backwards the last; else the first of them, or the last, at which a step ends.
static Met met_of(guint core, uint64_t count, uint64_t before, bool backwards) {
  const Points *points = &points_of[core - 1];
  const Core *processor = core_of(core);
  const uint64_t now = core_retired(core), all = processor->retiring ? now - count : 1;
  const bool was_here = count <= points->reported && points->reported < count + all;
  const uint64_t first = was_here ? points->reported + 1 - count : 0;
  for (uint64_t k = first; k < all; k++) {
    const uint64_t within = backwards ? all - 1 - (k - first) : k;
    const uint32_t pc = core_retired_pc(processor, all - 1 - within);
    Met met = met_at(core, STOP_BREAKPOINT, before, (uint32_t)within, pc);
    if (breakpoints_hit(core, pc, &met.stop)) {
      met.stop.within = (uint32_t)within;
      return met;
    }
  }
  const uint64_t within = step_within(core, all, backwards);
  if (within == all) return met_at(0, STOP_STEPPED, before, 0, 0);
  return met_at(core, STOP_STEPPED, before, (uint32_t)within, core_retired_pc(processor, all - 1 - within));
}

void breakpoints_collect(uint64_t before, guint stepped, bool backwards, GArray *found) {
  for (guint i = 0; i < core_count(); i++) {
    Points *points = &points_of[i];
    const uint64_t now = core_retired(i + 1);
    if (now == points->seen) continue;
    const Met met = met_of(i + 1, points->seen, before, backwards);
    points->seen = now;
    points->last = (uint32_t)core_get(&core_of(i + 1)->pc);
    if (met.stop.kind == STOP_BREAKPOINT || (stepped == i + 1 && met.stop.core)) g_array_append_val(found, met);
  }
  uint8_t value[64];
  for (guint i = 0; i < watches->len; i++) {
    Watch *watch = &g_array_index(watches, Watch, i);
    if (watch->kind != WATCH_VALUE) continue;
    core_read(core_of(watch->core), watch->address, value, watch->count);
    if (memcmp(value, watch->value, watch->count) == 0) continue;
    memcpy(watch->value, value, watch->count);
    const Met met = {{STOP_WATCHPOINT, .core = watch->core, .hardware = true, .address = watch->address}, before, 0};
    g_array_append_val(found, met);
  }
  collect_events(before, found);
}

Stop breakpoints_report(Stop stop) {
  if (!stop.core) return stop;
  points_of[stop.core - 1].reported = core_retired(stop.core) + stop.within;
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

bool breakpoints_watch(guint core, WatchKind kind, uint32_t address, uint32_t count, bool set) {
  if (core < 1 || core > core_count() || count < 1 || count > 64) return false;
  for (guint i = 0; i < watches->len; i++) {
    const Watch *watch = &g_array_index(watches, Watch, i);
    if (watch->core != core || watch->kind != kind || watch->address != address || watch->count != count) continue;
    if (set) return true;
    g_free(watch->value);
    g_free(watch->why);
    g_array_remove_index(watches, i);
    return true;
  }
  if (!set || (kind == WATCH_VALUE && !core_reaches(core_of(core), address, count))) return !set;
  const Watch watch = {core, kind, address, count, g_malloc0(count), NULL};
  g_array_append_val(watches, watch);
  return true;
}

void breakpoints_forget(guint core) {
  for (guint i = 0; i < core_count(); i++)
    if (!core || core == i + 1) g_hash_table_remove_all(points_of[i].breakpoints);
  for (guint i = watches->len; i-- > 0;) {
    const Watch watch = g_array_index(watches, Watch, i);
    if (!core || watch.core == core) breakpoints_watch(watch.core, watch.kind, watch.address, watch.count, false);
  }
  if (!core) stop_conditions_clear();
}

GVariant *breakpoints_pack(void) {
  GVariantBuilder points, values, reported;
  g_variant_builder_init(&points, G_VARIANT_TYPE("a(uub)"));
  g_variant_builder_init(&values, G_VARIANT_TYPE("a(uuuu)"));
  g_variant_builder_init(&reported, G_VARIANT_TYPE("at"));
  for (guint i = 0; i < core_count(); i++) {
    GHashTableIter iterator;
    gpointer address, kind;
    g_hash_table_iter_init(&iterator, points_of[i].breakpoints);
    while (g_hash_table_iter_next(&iterator, &address, &kind))
      g_variant_builder_add(&points, "(uub)", i + 1, GPOINTER_TO_UINT(address), GPOINTER_TO_UINT(kind) == 2);
    g_variant_builder_add(&reported, "t", points_of[i].reported);
  }
  for (guint i = 0; i < watches->len; i++) {
    const Watch *watch = &g_array_index(watches, Watch, i);
    g_variant_builder_add(&values, "(uuuu)", watch->core, (guint32)watch->kind, watch->address, watch->count);
  }
  return g_variant_new(BREAKPOINTS_TYPE, &points, &values, &reported);
}

void breakpoints_unpack(GVariant *packed) {
  g_autoptr(GVariantIter) points = NULL, values = NULL, reported = NULL;
  guint32 core, kind, address, count;
  gboolean hardware;
  guint64 retired;
  g_variant_get(packed, BREAKPOINTS_TYPE, &points, &values, &reported);
  while (g_variant_iter_next(points, "(uub)", &core, &address, &hardware))
    breakpoints_set(core, address, hardware, true);
  while (g_variant_iter_next(values, "(uuuu)", &core, &kind, &address, &count))
    breakpoints_watch(core, (WatchKind)kind, address, count, true);
  for (core = 1; core <= core_count() && g_variant_iter_next(reported, "t", &retired); core++)
    breakpoints_pass(core, retired);
}

void breakpoints_begin(void) {
  points_of = g_new0(Points, core_count() + 1);
  for (guint i = 0; i < core_count(); i++) {
    points_of[i].breakpoints = g_hash_table_new(NULL, NULL);
    points_of[i].reported = UINT64_MAX;
  }
  watches = g_array_new(FALSE, FALSE, sizeof(Watch));
}
