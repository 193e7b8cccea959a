// Statistics that a pattern matches, and what they counted since a mark; see window.h.
#include "lss/runtime/observe/window.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/observe/derived.h"
#include "lss/runtime/observe/statistics.h"
#include "lss/runtime/text/pattern.h"

#include <math.h>

static const spinach_machine *const machine = &spinach_machine_table;
static spinach_snapshot *mark;

void spinach_window_mark(void) {
  spinach_window_forget();
  mark = spinach_snapshot_new(spinach_now_fs(), false);
}

void spinach_window_forget(void) {
  g_clear_pointer(&mark, spinach_snapshot_free);
}

bool spinach_window_is_marked(void) {
  return mark != NULL;
}

typedef struct {
  char *pattern; // NULL: all
  Json *json;    // NULL: lines
  GString *out;
  guint count, unchanged;
  const spinach_snapshot *from, *to; // of a window
  GArray *derived;                   // double: values in it
  guint index;                       // of the statistic at hand
} Shown;

static bool is_wanted(const Shown *shown, const spinach_entry *entry) {
  g_autofree char *name = g_strdup_printf("%s%s%s", entry->path, *entry->path ? "." : "", entry->name);
  return !shown->pattern || spinach_path_matches(shown->pattern, entry->path) ||
         spinach_path_matches(shown->pattern, name);
}

static void show(Shown *shown, const spinach_entry *entry, const char *remark) {
  if (shown->json) {
    spinach_entry_write(shown->json, entry);
    return;
  }
  Json value;
  json_start(&value);
  if (isfinite(entry->value.number)) spinach_value_write(&value, &entry->value);
  g_autofree char *text = json_finish(&value);
  g_string_append_printf(shown->out, "%s%s%s = %s%s%s%s\n", entry->path, *entry->path ? "." : "", entry->name,
                         g_strchomp(text), entry->unit && *entry->unit ? " " : "", entry->unit ? entry->unit : "",
                         remark);
}

static void show_now(const spinach_entry *entry, void *data) {
  Shown *shown = data;
  if (!is_wanted(shown, entry)) return;
  shown->count++;
  show(shown, entry, "");
}

static char *wanted_pattern(const char *pattern) {
  return *pattern ? g_strconcat("**.", pattern, NULL) : NULL;
}

guint spinach_window_now(const char *pattern, Json *json, GString *out) {
  g_autofree char *anywhere = wanted_pattern(pattern);
  Shown shown = {.pattern = anywhere, .json = json, .out = out};
  spinach_update_statistics();
  spinach_statistics_each(show_now, &shown);
  spinach_derived_each(show_now, &shown);
  return shown.count;
}

// ---- Since the mark -------------------------------------------------------------------------------------------------

// A statistic that nothing reported at an end of the window had counted nothing by then.
static spinach_value value_at(const spinach_snapshot *end, guint index, const spinach_value *now) {
  const spinach_value *value = spinach_snapshot_value(end, index, now->reported);
  return value ? *value : (spinach_value){.real = now->real, .is_signed = now->is_signed};
}

static spinach_value difference(spinach_value from, spinach_value to) {
  spinach_value value = to;
  value.number = to.number - from.number;
  value.integer = to.integer - from.integer;
  value.is_signed |= !to.real && to.integer < from.integer; // a user may set a count
  return value;
}

// Of one that has a meaning at its instant alone, the value at the end.
static void show_counted(const spinach_entry *entry, void *data) {
  Shown *shown = data;
  const guint index = shown->index++;
  if (!is_wanted(shown, entry)) return;
  const spinach_value from = value_at(shown->from, index, &entry->value),
                      to = value_at(shown->to, index, &entry->value);
  spinach_entry counted = *entry;
  counted.value = entry->gauge ? to : difference(from, to);
  const bool changed = to.real ? to.number != from.number : to.integer != from.integer;
  shown->count++;
  shown->unchanged += !changed;
  if (shown->json || changed) show(shown, &counted, entry->gauge ? " (at the end)" : "");
}

static void show_derived(const spinach_entry *entry, void *data) {
  Shown *shown = data;
  spinach_entry within = *entry;
  within.value.number = g_array_index(shown->derived, double, shown->index++);
  if (!is_wanted(shown, entry)) return;
  const bool counts = isfinite(within.value.number) && within.value.number != 0;
  shown->count++;
  shown->unchanged += !counts;
  if (shown->json || counts) show(shown, &within, "");
}

static guint64 nanoseconds(const spinach_snapshot *end) {
  return (guint64)(end->time_fs / 1000000);
}

// "from 652329 ns to 740511 ns: 88182 ns, 7760 cycles of cpu_clk".
static void append_bounds(const Shown *shown) {
  g_string_append_printf(shown->out,
                         "from %" G_GUINT64_FORMAT " ns to %" G_GUINT64_FORMAT " ns: %" G_GUINT64_FORMAT " ns",
                         nanoseconds(shown->from), nanoseconds(shown->to),
                         (guint64)((shown->to->time_fs - shown->from->time_fs) / 1000000));
  for (uint32_t i = 0; i < machine->clock_count; i++)
    g_string_append_printf(shown->out, ", %" G_GUINT64_FORMAT " cycles of %s",
                           g_array_index(shown->to->cycles, uint64_t, i) -
                               g_array_index(shown->from->cycles, uint64_t, i),
                           machine->clocks[i].name);
  g_string_append_c(shown->out, '\n');
}

guint spinach_window_between(const spinach_snapshot *from, const spinach_snapshot *to, const char *pattern, Json *json,
                             GString *out) {
  g_autofree char *anywhere = wanted_pattern(pattern);
  g_autoptr(GArray) derived = g_array_new(FALSE, FALSE, sizeof(double));
  Shown shown = {.pattern = anywhere, .json = json, .out = out, .from = from, .to = to, .derived = derived};
  spinach_derived_values(from->operands, to->operands, derived);
  const gsize start = out ? out->len : 0;
  if (!json) append_bounds(&shown);
  spinach_statistics_each(show_counted, &shown);
  shown.index = 0;
  spinach_derived_each(show_derived, &shown);
  if (!json && !shown.count) g_string_truncate(out, start);
  if (!json && shown.unchanged)
    g_string_append_printf(out, "(%u %s not change)\n", shown.unchanged,
                           shown.unchanged == 1 ? "statistic did" : "statistics did");
  return shown.count;
}

guint spinach_window_since(const char *pattern, Json *json, GString *out) {
  spinach_snapshot *now = spinach_snapshot_new(spinach_now_fs(), false);
  const bool is_ahead = mark->time_fs > now->time_fs; // the run went back
  const guint count = spinach_window_between(is_ahead ? now : mark, is_ahead ? mark : now, pattern, json, out);
  spinach_snapshot_free(now);
  return count;
}

// ---- Another process ------------------------------------------------------------------------------------------------

GVariant *spinach_window_pack(void) {
  return g_variant_new_maybe(G_VARIANT_TYPE(SNAPSHOT_TYPE), mark ? spinach_snapshot_pack(mark) : NULL);
}

void spinach_window_unpack(GVariant *packed) {
  spinach_window_forget();
  g_autoptr(GVariant) held = g_variant_get_maybe(packed);
  if (held) mark = spinach_snapshot_unpack(held);
}
