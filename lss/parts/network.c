// network.json: what the parts of a network are, what leads from one to another, and how their names follow from those
// of the simulators (docs/module_reference.md does not need it; the runtime of each part and `spinach network` read
// it).
#include "lss/base/arena.h"
#include "lss/elab/value.h"
#include "lss/parts/parts.h"
#include "lss/runtime/text/json.h"

#include <string.h>

static const char *path_of(const Process *process) {
  return ((Part *)process->parts->pdata[0])->instance->path;
}

static void pair(Json *json, const char *one, const char *other) {
  json_open_row(json);
  json_string(json, one);
  json_string(json, other);
  json_close(json, ']');
}

// ---- Names ---------------------------------------------------------------------------------------------------------

// While both end alike, what is around them may be renamed in their place: the cable, and not its two lines.
static void lift(char *from, char *to) {
  for (;;) {
    char *one = strrchr(from, '.'), *other = strrchr(to, '.');
    if (!one || !other || strcmp(one, other) != 0) return;
    *one = *other = '\0';
  }
}

static void rename_path(Json *json, GHashTable *seen, const char *from, const char *to, bool lifts) {
  g_autofree char *one = g_strdup(from), *other = g_strdup(to);
  if (lifts) lift(one, other);
  g_autofree char *both = g_strdup_printf("%s %s", one, other);
  if (!strcmp(one, other) || !g_hash_table_add(seen, g_strdup(both))) return;
  pair(json, one, other);
}

// Whether one thing around crossings of the representative would get several names.
static bool names_agree(const Process *known, const Process *process) {
  g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; i < process->ends->len; i++) {
    char *one = g_strdup(((BorderEnd *)known->ends->pdata[i])->border->crossing->path),
         *other = g_strdup(((BorderEnd *)process->ends->pdata[i])->border->crossing->path);
    lift(one, other);
    const char *before = g_hash_table_lookup(names, one);
    const bool differ = before && strcmp(before, other) != 0;
    g_hash_table_insert(names, one, other);
    if (differ) return false;
  }
  return true;
}

static void write_names(Json *json, const Process *known, const Process *process) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  const bool lifts = names_agree(known, process);
  json_open_member(json, "renamed", '[');
  if (known != process) {
    rename_path(json, seen, path_of(known), path_of(process), false);
    for (guint i = 0; i < process->ends->len; i++)
      rename_path(json, seen, ((BorderEnd *)known->ends->pdata[i])->border->crossing->path,
                  ((BorderEnd *)process->ends->pdata[i])->border->crossing->path, lifts);
  }
  json_close(json, ']');
}

// ---- Settings ------------------------------------------------------------------------------------------------------

// A value as --set takes it.
static char *setting_text(const Value *value) {
  static const char *const units[] = {[DIM_FREQUENCY] = "Hz", [DIM_TIME] = "fs", [DIM_SIZE] = "B", [DIM_RATE] = "b/s"};
  char real[G_ASCII_DTOSTR_BUF_SIZE];
  int64_t count;
  switch (value->kind) {
  case VALUE_STRING: return g_strdup(value->string);
  case VALUE_BOOL: return g_strdup(value->integer ? "true" : "false");
  case VALUE_FLOAT: return g_strdup(g_ascii_dtostr(real, sizeof real, value->real));
  case VALUE_QUANTITY:
    if (value->dimension == DIM_FRACTION)
      return g_strdup(g_ascii_dtostr(real, sizeof real, (double)value->num / (double)value->den));
    if (!value_base_count(value, false, &count)) count = 0;
    return g_strdup_printf("%" G_GINT64_FORMAT " %s", count, units[value->dimension]);
  default: return g_strdup_printf("%" G_GINT64_FORMAT, value->integer);
  }
}

static void write_setting(Json *json, const char *path, const char *name, const Value *value) {
  g_autofree char *full = g_strdup_printf("%s.%s", path, name), *text = setting_text(value);
  pair(json, full, text);
}

static void write_crossing_settings(Json *json, const Instance *known, const Instance *crossing) {
  for (guint i = 0; i < crossing->parameters->len; i++) {
    const Parameter *parameter = crossing->parameters->pdata[i], *other = known->parameters->pdata[i];
    if (parameter->runtime && !parameter->alias_of && parameter->value && !value_equal(parameter->value, other->value))
      write_setting(json, crossing->path, parameter->name, parameter->value);
  }
}

static void write_settings(Json *json, const Process *known, const Process *process) {
  const Part *part = process->parts->pdata[0];
  json_open_member(json, "settings", '[');
  for (guint i = 0; known != process && i < part->settings->len; i++) {
    const PartSetting *setting = part->settings->pdata[i];
    write_setting(json, part->instance->path, setting->name, setting->value);
  }
  for (guint i = 0; known != process && i < process->ends->len; i++)
    write_crossing_settings(json, ((BorderEnd *)known->ends->pdata[i])->border->crossing,
                            ((BorderEnd *)process->ends->pdata[i])->border->crossing);
  json_close(json, ']');
}

// ---- The file ------------------------------------------------------------------------------------------------------

static void write_kinds(Json *json, const Network *network) {
  json_open_member(json, "kinds", '[');
  for (guint i = 0; i < network->kinds->len; i++) {
    const PartKind *kind = network->kinds->pdata[i];
    const Process *process = network->processes->pdata[kind->representative];
    json_open(json, '{');
    json_member(json, "simulator", kind->simulator);
    json_member(json, "representative", path_of(process));
    json_member(json, "module", ((Part *)process->parts->pdata[0])->instance->module_name);
    json_member_int(json, "weight", kind->weight);
    json_member_int(json, "memory", (gint64)kind->memory);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_parts(Json *json, const Network *network) {
  json_open_member(json, "parts", '[');
  for (guint i = 0; i < network->processes->len; i++) {
    const Process *process = network->processes->pdata[i];
    const PartKind *kind = network->kinds->pdata[process->kind];
    const Process *known = network->processes->pdata[kind->representative];
    json_open(json, '{');
    json_member(json, "path", path_of(process));
    json_member_int(json, "kind", process->kind);
    write_names(json, known, process);
    write_settings(json, known, process);
    json_close(json, '}');
  }
  json_close(json, ']');
}

// Whole numbers among the compile-time parameters of a crossing, quantities in the units that module code sees.
static void write_constants(Json *json, const Instance *crossing) {
  json_open_member(json, "parameters", '{');
  for (guint i = 0; i < crossing->parameters->len; i++) {
    const Parameter *parameter = crossing->parameters->pdata[i];
    const Value *value = parameter->runtime ? NULL : parameter->value;
    int64_t number;
    if (value && value->kind == VALUE_QUANTITY && value_base_count(value, false, &number))
      json_member_int(json, parameter->name, number);
    else if (value && value->kind == VALUE_INT)
      json_member_int(json, parameter->name, value->integer);
  }
  json_close(json, '}');
}

static void write_links(Json *json, const Network *network) {
  json_open_member(json, "links", '[');
  for (guint i = 0; i < network->borders->len; i++) {
    const Border *border = network->borders->pdata[i];
    const GPtrArray *state = border->crossing->state;
    for (guint k = 0; k < state->len; k++) {
      const StateField *flight = state->pdata[k];
      if (flight->kind != STATE_FLIGHT) continue;
      const StateField *item = state->pdata[k + 2];
      g_autofree char *path = g_strdup_printf("%s.%s", border->crossing->path, flight->name);
      json_open(json, '{');
      json_member(json, "path", path);
      json_member_int(json, "from", border->from);
      json_member_int(json, "to", border->to);
      json_member_int(json, "cut", (gint64)instance_cut(border->crossing, network->whole->ticks_per_second));
      json_member(json, "type", item->type->name);
      json_member_int(json, "bytes", (gint64)type_size(item->type, NULL));
      json_member_int(json, "slots", g_array_index(item->dimensions, int, 0));
      write_constants(json, border->crossing);
      json_close(json, '}');
    }
  }
  json_close(json, ']');
}

// ---- Clocks --------------------------------------------------------------------------------------------------------

typedef struct {
  const Clock *clock;
  const char *name;
  guint process; // of a representative, or of one like it; G_MAXUINT: of none
} NamedClock;

// The representative in which a clock is; G_MAXUINT: none.
static guint representative_of(const Network *network, const Clock *clock) {
  for (guint i = 0; i < network->kinds->len; i++) {
    const guint process = ((PartKind *)network->kinds->pdata[i])->representative;
    const GPtrArray *parts = ((Process *)network->processes->pdata[process])->parts;
    for (guint k = 0; k < parts->len; k++) {
      const char *path = ((Part *)parts->pdata[k])->instance->path;
      if (g_str_has_prefix(clock->name, path) && clock->name[strlen(path)] == '.') return process;
    }
  }
  return G_MAXUINT;
}

// Behind the last clock of the processes up to this one: so the whole has them.
static guint place_behind(const GArray *clocks, guint process) {
  guint place = 0;
  for (guint i = 0; i < clocks->len; i++)
    if (g_array_index(clocks, NamedClock, i).process <= process) place = i + 1;
  return place;
}

// The clocks of the whole, in its order: those of representatives, and for each part like one of them its own.
static GArray *clocks_of_all(const Network *network) {
  GArray *clocks = g_array_new(FALSE, FALSE, sizeof(NamedClock));
  const GPtrArray *known = network->whole->clocks;
  for (guint i = 0; i < known->len; i++) {
    const NamedClock clock = {known->pdata[i], ((Clock *)known->pdata[i])->name,
                              representative_of(network, known->pdata[i])};
    g_array_append_val(clocks, clock);
  }
  for (guint p = 0; p < network->processes->len; p++) {
    const Process *process = network->processes->pdata[p];
    const guint of = ((PartKind *)network->kinds->pdata[process->kind])->representative;
    const char *from = path_of(network->processes->pdata[of]), *to = path_of(process);
    for (guint i = 0; of != p && i < known->len; i++) {
      const Clock *clock = known->pdata[i];
      if (representative_of(network, clock) != of) continue;
      const NamedClock own = {clock, arena_printf("%s%s", to, clock->name + strlen(from)), p};
      g_array_insert_val(clocks, place_behind(clocks, p), own);
    }
  }
  return clocks;
}

// What all parts can count by, also those that lack the clock.
static void write_clocks(Json *json, const Network *network) {
  g_autoptr(GArray) clocks = clocks_of_all(network);
  json_open_member(json, "clocks", '[');
  for (guint i = 0; i < clocks->len; i++) {
    const NamedClock *named = &g_array_index(clocks, NamedClock, i);
    json_open(json, '{');
    json_member(json, "name", named->name);
    json_member_int(json, "num", named->clock->num);
    json_member_int(json, "den", named->clock->den);
    json_member_int(json, "period", (gint64)named->clock->period);
    json_member_bool(json, "rounded", named->clock->rounded);
    json_close(json, '}');
  }
  json_close(json, ']');
}

// ---- All of it -----------------------------------------------------------------------------------------------------

static char *write_all(const Network *network, const char *hash) {
  Json json;
  json_start(&json);
  json_open(&json, '{');
  json_member_int(&json, "format", 1);
  if (hash) json_member(&json, "hash", hash);
  g_autofree char *file = g_path_get_basename(network->whole->file);
  json_member(&json, "file", file);
  json_member_int(&json, "ticks_per_second", (gint64)network->whole->ticks_per_second);
  json_member_int(&json, "distance", (gint64)network->distance);
  write_clocks(&json, network);
  write_kinds(&json, network);
  write_parts(&json, network);
  write_links(&json, network);
  json_open_member(&json, "order", '[');
  for (guint i = 0; i < network->order->len; i++) json_string(&json, network->order->pdata[i]);
  json_close(&json, ']');
  json_close(&json, '}');
  return json_finish(&json);
}

char *network_text(const Network *network, const char **hash) {
  g_autofree char *rest = write_all(network, NULL), *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, rest, -1);
  *hash = arena_strdup(sum);
  return write_all(network, sum);
}
