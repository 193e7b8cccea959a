// Statistics of a run; see statistics.h.
#include "lss/runtime/observe/statistics.h"

#include "lss/runtime/engine/names.h"
#include "lss/runtime/observe/derived.h"

#include <math.h>

static const spinach_machine *const machine = &spinach_machine_table;

static void visit_field(const spinach_place *place, spinach_see_entry visit, void *data) {
  const spinach_field *field = place->field;
  for (uint64_t i = 0; i < place->count; i++) {
    const void *value = spinach_element(place, i);
    g_autofree char *name = spinach_element_name(field, i);
    spinach_entry entry = {
        machine->instances[place->instance].path, name, field->unit, field->doc, NULL, field->gauge, {0}};
    if (spinach_is_integer(field->type)) {
      entry.value.integer = (uint64_t)spinach_integer(field->type, value);
      entry.value.is_signed = field->type->kind == SPINACH_INT;
    } else if (field->type->kind == SPINACH_FLOAT) {
      entry.value.real = true;
      entry.value.number = field->type->size == 4 ? (double)*(const float *)value : *(const double *)value;
    } else {
      continue;
    }
    visit(&entry, data);
  }
}

void spinach_statistics_each(spinach_see_entry visit, void *data) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->field_count; k++) {
      const spinach_field *field = &layout->fields[k];
      if (!field->statistic) continue;
      spinach_place place = {(int32_t)i, field, 0, spinach_field_elements(field)};
      visit_field(&place, visit, data);
    }
  }
  uint32_t count;
  const spinach_reported *reports = spinach_reports(&count);
  for (uint32_t i = 0; i < count; i++) {
    g_autofree char *key = g_strdup_printf("%s %s", reports[i].path, reports[i].name);
    spinach_entry entry = {reports[i].path,
                           reports[i].name,
                           reports[i].unit,
                           reports[i].description,
                           NULL,
                           reports[i].gauge,
                           {reports[i].real, false, reports[i].integer, reports[i].number, g_intern_string(key)}};
    visit(&entry, data);
  }
}

void spinach_derived_each(spinach_see_entry visit, void *data) {
  for (uint32_t i = 0; i < machine->derived_count; i++) {
    const spinach_derived *derived = &machine->derived[i];
    const spinach_entry entry = {.path = machine->instances[derived->instance].path,
                                 .name = derived->name,
                                 .unit = derived->unit,
                                 .description = derived->doc,
                                 .formula = derived->formula,
                                 .value = {.real = true, .number = spinach_derived_value(derived)}};
    visit(&entry, data);
  }
}

void spinach_value_write(Json *json, const spinach_value *value) {
  if (value->real)
    json_real(json, value->number);
  else if (value->is_signed)
    json_int(json, (gint64)value->integer);
  else
    json_uint(json, value->integer);
}

static void add_value(const spinach_entry *entry, void *data) {
  g_array_append_val((GArray *)data, entry->value);
}

void spinach_statistics_values(GArray *values) {
  spinach_statistics_each(add_value, values);
}

static void write_named(Json *json, const spinach_entry *entry, bool valued) {
  json_open(json, '{');
  json_member(json, "path", entry->path);
  json_member(json, "name", entry->name);
  if (valued) json_key(json, "value");
  if (valued && isfinite(entry->value.number))
    spinach_value_write(json, &entry->value);
  else if (valued)
    json_string(json, NULL);
  json_member(json, "unit", entry->unit);
  if (entry->formula) json_member(json, "derived", entry->formula);
  if (entry->gauge) json_member_bool(json, "difference", false);
  json_member(json, "description", entry->description);
  json_close(json, '}');
}

void spinach_entry_write(Json *json, const spinach_entry *entry) {
  write_named(json, entry, true);
}

static void write_entry(const spinach_entry *entry, void *data) {
  spinach_entry_write(data, entry);
}

static void write_name(const spinach_entry *entry, void *data) {
  write_named(data, entry, false);
}

void spinach_statistics_entries(Json *json) {
  json_open_member(json, "statistics", '[');
  spinach_statistics_each(write_entry, json);
  json_close(json, ']');
  if (!machine->derived_count) return;
  json_open_member(json, "derived", '[');
  spinach_derived_each(write_entry, json);
  json_close(json, ']');
}

void spinach_statistics_names(Json *json) {
  json_open_member(json, "statistics", '[');
  spinach_statistics_each(write_name, json);
  json_close(json, ']');
  json_open_member(json, "derived", '[');
  spinach_derived_each(write_name, json);
  json_close(json, ']');
}

const uint64_t *spinach_connection_counts(uint32_t number) {
  const spinach_connection *connection = &machine->connections[number];
  if (!machine->counted || connection->cluster < 0) return NULL;
  return (const uint64_t *)((char *)spinach_cluster_state[connection->cluster] + connection->counts_offset);
}

void spinach_connections_entries(Json *json) {
  static const char *const words[] = {"transferred", "stalled", "cancelled", "idle"};
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const uint64_t *counts = spinach_connection_counts(i);
    if (!counts) continue;
    json_open(json, '{');
    json_member(json, "from", machine->connections[i].from);
    json_member(json, "to", machine->connections[i].to);
    for (gsize k = 0; k < G_N_ELEMENTS(words); k++) {
      json_key(json, words[k]);
      json_uint(json, counts[k]);
    }
    json_close(json, '}');
  }
}

typedef struct {
  FILE *out;
  int path_width, name_width;
  unsigned zeros; // left out
} Table;

static void measure(const spinach_entry *entry, void *data) {
  Table *table = data;
  table->path_width = MAX(table->path_width, (int)strlen(entry->path));
  table->name_width = MAX(table->name_width, (int)strlen(entry->name));
}

static void print_row(const spinach_entry *entry, void *data) {
  Table *table = data;
  if (!isfinite(entry->value.number)) return;
  if (entry->value.real ? entry->value.number == 0 : entry->value.integer == 0) {
    table->zeros++;
    return;
  }
  fprintf(table->out, "%-*s  %-*s  ", table->path_width, entry->path, table->name_width, entry->name);
  if (entry->value.real)
    fprintf(table->out, "%16.6g", entry->value.number);
  else if (entry->value.is_signed)
    fprintf(table->out, "%16" G_GINT64_FORMAT, (gint64)entry->value.integer);
  else
    fprintf(table->out, "%16" G_GUINT64_FORMAT, entry->value.integer);
  fprintf(table->out, "  %s%s%s\n", entry->unit ? entry->unit : "", entry->formula ? "  = " : "",
          entry->formula ? entry->formula : "");
}

// The clocks' cycles, as if each clock were an instance.
static void visit_clocks(spinach_see_entry visit, void *data) {
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    const spinach_entry entry = {.path = machine->clocks[i].name,
                                 .name = "cycles",
                                 .unit = "cycles",
                                 .description = "cycles of this clock",
                                 .value = {.integer = spinach_cycles((int32_t)i)}};
    visit(&entry, data);
  }
}

void spinach_statistics_table(FILE *out) {
  Table table = {out, 0, 0, 0};
  visit_clocks(measure, &table);
  spinach_statistics_each(measure, &table);
  spinach_derived_each(measure, &table);
  visit_clocks(print_row, &table);
  spinach_statistics_each(print_row, &table);
  spinach_derived_each(print_row, &table);
  if (table.zeros) fprintf(out, "(%u more %s 0)\n", table.zeros, table.zeros == 1 ? "is" : "are");
}

static void add_quoted(GString *text, const char *word, char end) {
  g_string_append_c(text, '"');
  for (; word && *word; word++) {
    if (*word == '"') g_string_append_c(text, '"');
    g_string_append_c(text, *word);
  }
  g_string_append_c(text, '"');
  g_string_append_c(text, end);
}

static void add_line(const spinach_entry *entry, void *data) {
  GString *text = data;
  add_quoted(text, entry->path, ',');
  add_quoted(text, entry->name, ',');
  Json json;
  json_start(&json);
  if (isfinite(entry->value.number)) spinach_value_write(&json, &entry->value);
  g_autofree char *value = json_finish(&json);
  g_string_append_printf(text, "%s,", g_strstrip(value));
  add_quoted(text, entry->unit, ',');
  add_quoted(text, entry->description, '\n');
}

char *spinach_statistics_csv(void) {
  GString *text = g_string_new("path,name,value,unit,description\n");
  visit_clocks(add_line, text);
  spinach_statistics_each(add_line, text);
  spinach_derived_each(add_line, text);
  return g_string_free(text, FALSE);
}
