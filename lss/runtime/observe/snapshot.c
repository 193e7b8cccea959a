// What is written down of a run at an instant; see snapshot.h.
#include "lss/runtime/observe/snapshot.h"

#include "lss/runtime/observe/derived.h"
#include "lss/runtime/observe/statistics.h"
#include "lss/runtime/observe/trigger.h"

static const spinach_machine *const machine = &spinach_machine_table;

spinach_snapshot *spinach_snapshot_new(unsigned __int128 time_fs, bool over) {
  if (!over) spinach_update_statistics();
  spinach_snapshot *snapshot = g_new0(spinach_snapshot, 1);
  snapshot->time_fs = time_fs;
  snapshot->cycles = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    uint64_t count = spinach_cycles((int32_t)i);
    g_array_append_val(snapshot->cycles, count);
  }
  snapshot->events = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (int i = 0; machine->watches[i]; i++) {
    uint64_t count = spinach_watch_count(i);
    g_array_append_val(snapshot->events, count);
  }
  snapshot->values = g_array_new(FALSE, FALSE, sizeof(spinach_value));
  spinach_statistics_values(snapshot->values);
  snapshot->operands = g_array_new(FALSE, FALSE, sizeof(double));
  spinach_derived_operands(snapshot->operands);
  snapshot->connections = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint32_t i = 0; i < machine->connection_count; i++)
    if (spinach_connection_counts(i)) g_array_append_vals(snapshot->connections, spinach_connection_counts(i), 4);
  return snapshot;
}

void spinach_snapshot_free(spinach_snapshot *snapshot) {
  if (!snapshot) return;
  GArray *const parts[] = {snapshot->cycles, snapshot->events, snapshot->values, snapshot->connections,
                           snapshot->operands};
  for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) g_array_free(parts[i], TRUE);
  g_free(snapshot);
}

static void write_values(Json *json, const spinach_snapshot *snapshot) {
  const GArray *values = snapshot->values;
  json_key(json, "values");
  json_open_row(json);
  for (guint i = 0; i < values->len; i++) spinach_value_write(json, &g_array_index(values, spinach_value, i));
  json_close(json, ']');
}

const spinach_value *spinach_snapshot_value(const spinach_snapshot *snapshot, guint index, const char *reported) {
  const GArray *values = snapshot->values;
  guint at = index;
  if (at >= values->len || g_array_index(values, spinach_value, at).reported != reported)
    for (at = 0; at < values->len && g_array_index(values, spinach_value, at).reported != reported;) at++;
  return at < values->len ? &g_array_index(values, spinach_value, at) : NULL;
}

// Collectors may say more or less at one time than at another; those of the end say which values there are.
static void write_last_values(Json *json, const spinach_snapshot *snapshot) {
  g_autoptr(GArray) final = g_array_new(FALSE, FALSE, sizeof(spinach_value));
  spinach_statistics_values(final);
  json_key(json, "values");
  json_open_row(json);
  for (guint i = 0; i < final->len; i++) {
    const spinach_value *value = spinach_snapshot_value(snapshot, i, g_array_index(final, spinach_value, i).reported);
    if (value)
      spinach_value_write(json, value);
    else
      json_string(json, NULL);
  }
  json_close(json, ']');
}

static void write_snapshot(Json *json, const spinach_snapshot *snapshot, const spinach_snapshot *before, bool last) {
  json_open(json, '{');
  json_key(json, "time_fs");
  json_wide(json, snapshot->time_fs);
  json_open_member(json, "cycles", '{');
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    json_key(json, machine->clocks[i].name);
    json_uint(json, g_array_index(snapshot->cycles, uint64_t, i));
  }
  json_close(json, '}');
  json_open_member(json, "events", '{');
  for (guint i = 0; i < snapshot->events->len; i++) {
    json_key(json, machine->watches[i]);
    json_uint(json, g_array_index(snapshot->events, uint64_t, i));
  }
  json_close(json, '}');
  (last ? write_last_values : write_values)(json, snapshot);
  spinach_derived_write(json, before ? before->operands : NULL, snapshot->operands);
  if (snapshot->connections->len) json_open_member(json, "connections", '[');
  for (guint i = 0; i < snapshot->connections->len; i++) {
    if (i % 4 == 0) json_open_row(json);
    json_uint(json, g_array_index(snapshot->connections, uint64_t, i));
    if (i % 4 == 3) json_close(json, ']');
  }
  if (snapshot->connections->len) json_close(json, ']');
  json_close(json, '}');
}

void spinach_snapshot_write(Json *json, const spinach_snapshot *snapshot, const spinach_snapshot *before) {
  write_snapshot(json, snapshot, before, false);
}

void spinach_snapshot_write_last(Json *json, const spinach_snapshot *snapshot, const spinach_snapshot *before) {
  if (snapshot)
    write_snapshot(json, snapshot, before, true);
  else
    json_string(json, NULL);
}

// ---- In checkpoints

static GVariant *pack_numbers(const GArray *numbers) {
  return g_variant_new_fixed_array(G_VARIANT_TYPE_UINT64, numbers->data, numbers->len, sizeof(uint64_t));
}

static GVariant *pack_values(const GArray *values) {
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE("a(bbtds)"));
  for (guint i = 0; i < values->len; i++) {
    const spinach_value *value = &g_array_index(values, spinach_value, i);
    g_variant_builder_add(&builder, "(bbtds)", value->real, value->is_signed, value->integer, value->number,
                          value->reported ? value->reported : "");
  }
  return g_variant_builder_end(&builder);
}

GVariant *spinach_snapshot_pack(const spinach_snapshot *snapshot) {
  return g_variant_new("((tt)@at@at@a(bbtds)@at@ad)", (guint64)(snapshot->time_fs >> 64), (guint64)snapshot->time_fs,
                       pack_numbers(snapshot->cycles), pack_numbers(snapshot->events), pack_values(snapshot->values),
                       pack_numbers(snapshot->connections),
                       g_variant_new_fixed_array(G_VARIANT_TYPE_DOUBLE, snapshot->operands->data,
                                                 snapshot->operands->len, sizeof(double)));
}

static GArray *unpack_fixed(GVariant *tuple, gsize child, gsize size) {
  g_autoptr(GVariant) packed = g_variant_get_child_value(tuple, child);
  gsize count;
  gconstpointer numbers = g_variant_get_fixed_array(packed, &count, size);
  GArray *array = g_array_new(FALSE, FALSE, (guint)size);
  return g_array_append_vals(array, numbers, (guint)count);
}

static GArray *unpack_values(GVariant *tuple, gsize child) {
  g_autoptr(GVariant) packed = g_variant_get_child_value(tuple, child);
  GArray *values = g_array_new(FALSE, FALSE, sizeof(spinach_value));
  GVariantIter iterator;
  gboolean real, is_signed;
  guint64 integer;
  double number;
  const char *reported;
  g_variant_iter_init(&iterator, packed);
  while (g_variant_iter_next(&iterator, "(bbtd&s)", &real, &is_signed, &integer, &number, &reported)) {
    spinach_value value = {real, is_signed, integer, number, *reported ? g_intern_string(reported) : NULL};
    g_array_append_val(values, value);
  }
  return values;
}

char *spinach_snapshot_misfit(const spinach_snapshot *snapshot) {
  static const spinach_snapshot *here; // for these numbers alone
  if (!here) here = spinach_snapshot_new(0, true);
  const struct {
    const char *what;
    const GArray *there, *here;
  } numbers[] = {{"clocks", snapshot->cycles, here->cycles},
                 {"events", snapshot->events, here->events},
                 {"counts of connections", snapshot->connections, here->connections},
                 {"operands of derived statistics", snapshot->operands, here->operands}};
  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (numbers[i].there->len != numbers[i].here->len)
      return g_strdup_printf("have %u %s, and this build has %u", numbers[i].there->len, numbers[i].what,
                             numbers[i].here->len);
  return NULL;
}

spinach_snapshot *spinach_snapshot_unpack(GVariant *packed) {
  spinach_snapshot *snapshot = g_new0(spinach_snapshot, 1);
  guint64 high, low;
  g_variant_get_child(packed, 0, "(tt)", &high, &low);
  snapshot->time_fs = (unsigned __int128)high << 64 | low;
  snapshot->cycles = unpack_fixed(packed, 1, sizeof(uint64_t));
  snapshot->events = unpack_fixed(packed, 2, sizeof(uint64_t));
  snapshot->values = unpack_values(packed, 3);
  snapshot->connections = unpack_fixed(packed, 4, sizeof(uint64_t));
  snapshot->operands = unpack_fixed(packed, 5, sizeof(double));
  return snapshot;
}
