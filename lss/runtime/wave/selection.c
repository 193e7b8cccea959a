// Patterns of signals and states; see selection.h.
#include "lss/runtime/wave/selection.h"

#include "lss/runtime/engine/condition.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/text/pattern.h"

enum { FEW = 64 }; // elements of an array that a pattern with stars shows

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  char *text;         // without the word that says of what
  char *port;         // the part about ports
  const char *signal; // the rest: "", ".data", ".data.pc", ".enable"
  bool ports, states, statistics, used;
} Pattern;

static void pattern_free(gpointer data) {
  Pattern *pattern = data;
  g_free(pattern->text);
  g_free(pattern->port);
  g_free(pattern);
}

static GPtrArray *read_patterns(const char *text) {
  static const char *const words[] = {"port ", "state ", "stat "};
  GPtrArray *patterns = g_ptr_array_new_with_free_func(pattern_free);
  g_auto(GStrv) parts = g_strsplit(text, ",", -1);
  for (char **part = parts; *part; part++) {
    const char *rest = g_strstrip(*part);
    gsize word = G_N_ELEMENTS(words);
    for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
      if (g_str_has_prefix(rest, words[i])) word = i;
    if (word < G_N_ELEMENTS(words)) rest += strlen(words[word]);
    const bool all = word == G_N_ELEMENTS(words);
    Pattern *pattern = g_new0(Pattern, 1);
    pattern->text = g_strdup(g_strchug((char *)rest));
    const gsize length = spinach_port_part(pattern->text);
    pattern->port = g_strndup(pattern->text, length);
    pattern->signal = pattern->text + length;
    pattern->ports = all || word == 0;
    pattern->states = all || word == 1;
    pattern->statistics = all || word == 2;
    g_ptr_array_add(patterns, pattern);
  }
  return patterns;
}

// ---- What is shown

static guint place_for(WaveSelection *selection, GHashTable *known, const WavePlace *wanted) {
  g_autofree char *key = g_strdup_printf("%p %u", (const void *)wanted->at, wanted->size);
  gpointer index;
  if (g_hash_table_lookup_extended(known, key, NULL, &index)) return GPOINTER_TO_UINT(index);
  WavePlace *place = g_memdup2(wanted, sizeof *wanted);
  place->scalars = g_array_new(FALSE, TRUE, sizeof(WaveScalar));
  place->last = g_malloc0(place->size);
  g_ptr_array_add(selection->places, place);
  g_hash_table_insert(known, g_steal_pointer(&key), GUINT_TO_POINTER(selection->places->len - 1));
  return selection->places->len - 1;
}

static guint scalar_for(WavePlace *place, const WaveScalar *wanted) {
  for (guint i = 0; i < place->scalars->len; i++) {
    const WaveScalar *scalar = &g_array_index(place->scalars, WaveScalar, i);
    if (scalar->offset == wanted->offset && scalar->first == wanted->first && scalar->type == wanted->type) return i;
  }
  g_array_append_val(place->scalars, *wanted);
  return place->scalars->len - 1;
}

// Parts of a path: between dots that are in no brackets.
static void split(GPtrArray *parts, const char *path) {
  for (const char *start = path; *start;) {
    const char *end = start;
    for (int depth = 0; *end && (depth || *end != '.'); end++) depth += (*end == '[') - (*end == ']');
    if (end > start) g_ptr_array_add(parts, g_strndup(start, (gsize)(end - start)));
    start = *end ? end + 1 : end;
  }
}

typedef struct {
  WaveSelection *selection;
  GHashTable *known;      // places
  const char *path;       // of the instance
  const char *port;       // behind it; "" for states
  const GPtrArray *parts; // char*: patterns of what is shown of a value; empty: all
  guint place;
  bool few; // long arrays are left out
} Showing;

// Whether a pattern is about a part of a value, or about what it is a part of.
static bool is_wanted(const GPtrArray *patterns, const char *path) {
  for (guint i = 0; i < patterns->len; i++)
    for (gsize length = 1; length <= strlen(path); length++) {
      if (path[length] && !strchr(".[", path[length])) continue;
      g_autofree char *outer = g_strndup(path, length);
      if (spinach_path_matches(patterns->pdata[i], outer)) return true;
    }
  return !patterns->len;
}

static void show_scalar(const Showing *showing, const char *value, const WaveScalar *scalar) {
  if (!is_wanted(showing->parts, value)) return;
  WavePlace *place = showing->selection->places->pdata[showing->place];
  WaveName *name = g_new0(WaveName, 1);
  name->parts = g_ptr_array_new_with_free_func(g_free);
  split(name->parts, showing->path);
  name->modules = name->parts->len;
  split(name->parts, showing->port);
  name->ports = name->parts->len - name->modules;
  split(name->parts, value);
  name->place = showing->place;
  name->scalar = scalar_for(place, scalar);
  g_ptr_array_add(showing->selection->names, name);
}

static void show_members(const Showing *showing, const char *path, const struct spinach_type *type, uint32_t offset) {
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    const WaveScalar scalar = {offset, (uint32_t)type->size, (uint32_t)member->offset, member->bits, 0, member->type};
    g_autofree char *inner = g_strdup_printf("%s.%s", path, member->name);
    show_scalar(showing, inner, &scalar);
  }
}

// Bits of a scalar type in a wave; 0 for a real number.
static uint32_t width_of(const struct spinach_type *type) {
  int64_t most = 0;
  if (type->kind == SPINACH_BOOL) return 1;
  if (type->kind == SPINACH_FLOAT) return 0;
  for (uint32_t i = 0; type->kind == SPINACH_ENUM && i < type->member_count; i++) {
    if (type->members[i].value < 0) return type->bits;
    most = MAX(most, type->members[i].value);
  }
  return type->kind == SPINACH_ENUM ? MAX(1, (uint32_t)g_bit_storage((gulong)most)) : type->bits;
}

// The scalars of a value, "data", and below it "data.pc", "data.bytes[3]".
static void show_value(const Showing *showing, const char *path, const struct spinach_type *type, uint32_t offset) {
  switch (type->kind) {
  case SPINACH_STRUCT:
    for (uint32_t i = 0; i < type->member_count; i++) {
      const struct spinach_member *member = &type->members[i];
      g_autofree char *inner = g_strdup_printf("%s.%s", path, member->name);
      show_value(showing, inner, member->type, offset + (uint32_t)member->offset);
    }
    break;
  case SPINACH_ARRAY:
    for (uint32_t i = 0; i < type->length && !(showing->few && type->length > FEW); i++) {
      g_autofree char *inner = g_strdup_printf("%s[%u]", path, i);
      show_value(showing, inner, type->element, offset + i * (uint32_t)type->element->size);
    }
    break;
  case SPINACH_PACKED: show_members(showing, path, type, offset); break;
  case SPINACH_STRING:
  case SPINACH_STREAM: break;
  default: {
    const WaveScalar scalar = {offset, (uint32_t)type->size, 0, width_of(type), 0, type};
    show_scalar(showing, path, &scalar);
  }
  }
}

// ---- Ports

typedef struct {
  const char *text; // "arb.in[3]"
  uint32_t connection;
  int32_t lane;
} End;

static bool is_visible(uint32_t connection) {
  const spinach_observed *o = machine->observed ? &machine->observed[connection] : NULL;
  return o && (o->some || o->ack || o->enable);
}

static void add_end(GPtrArray **ends, int32_t instance, const char *text, uint32_t connection, int32_t lane) {
  End *end = g_new(End, 1);
  *end = (End){text, connection, lane};
  if (!ends[instance]) ends[instance] = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(ends[instance], end);
}

// lane 2 before lane 10
static gint by_name(gconstpointer a, gconstpointer b) {
  g_autofree char *left = g_utf8_collate_key_for_filename((*(End *const *)a)->text, -1);
  g_autofree char *right = g_utf8_collate_key_for_filename((*(End *const *)b)->text, -1);
  return strcmp(left, right);
}

// Per instance the ends of its connections, in the order of their names.
static GPtrArray **find_ends(void) {
  GPtrArray **ends = g_new0(GPtrArray *, machine->instance_count);
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *c = &machine->connections[i];
    add_end(ends, c->from_instance, c->from, i, c->from_lane);
    add_end(ends, c->to_instance, c->to, i, c->to_lane);
    for (uint32_t k = 0; k < c->passage_count; k++)
      add_end(ends, c->passages[k].instance, c->passages[k].port, i, c->passages[k].lane);
  }
  for (uint32_t i = 0; i < machine->instance_count; i++)
    if (ends[i]) g_ptr_array_sort(ends[i], by_name);
  return ends;
}

static void free_ends(GPtrArray **ends) {
  for (uint32_t i = 0; i < machine->instance_count; i++)
    if (ends[i]) g_ptr_array_unref(ends[i]);
  g_free(ends);
}

static void show_bit(const Showing *from, const char *name, const bool *at, int32_t clock) {
  static const struct spinach_type bit = {SPINACH_BOOL, "bool", 1, sizeof(bool), NULL, 0, 0, NULL};
  Showing showing = *from;
  const WavePlace place = {.at = (const uint8_t *)at, .size = sizeof(bool), .clock = clock};
  if (!at) return;
  showing.place = place_for(from->selection, from->known, &place);
  show_value(&showing, name, &bit, 0);
}

static void show_end(WaveSelection *selection, GHashTable *known, const char *path, const End *end,
                     const GPtrArray *patterns) {
  g_autoptr(GPtrArray) parts = g_ptr_array_new(), all = g_ptr_array_new();
  bool data = false, enable = false, ack = false, whole = false;
  for (guint i = 0; i < patterns->len; i++) {
    Pattern *pattern = patterns->pdata[i];
    const char *signal = pattern->signal;
    if (!pattern->ports) continue;
    if (spinach_port_matches(pattern->text, end->text, end->lane))
      data = enable = ack = whole = pattern->used = true;
    else if (*signal && spinach_port_matches(pattern->port, end->text, end->lane)) {
      pattern->used = true;
      enable |= !strcmp(signal, ".enable");
      ack |= !strcmp(signal, ".ack");
      if (!g_str_has_prefix(signal, ".data")) continue;
      data = true;
      g_ptr_array_add(parts, (gpointer)(signal + 1));
    }
  }
  const spinach_connection *c = &machine->connections[end->connection];
  if (!is_visible(end->connection)) return;
  const spinach_observed *o = &machine->observed[end->connection];
  const char *port = end->text + strlen(path) + (*path != '\0');
  Showing showing = {selection, known, path, port, whole ? all : parts, 0, whole};
  if (data && o->data) {
    const WavePlace place = {.at = o->data, .some = o->some, .size = (uint32_t)c->type->size, .clock = c->clock};
    showing.place = place_for(selection, known, &place);
    show_value(&showing, "data", c->type, 0);
    showing.parts = all;
    show_bit(&showing, "valid", o->some, c->clock);
  }
  showing.parts = all;
  if (enable) show_bit(&showing, "enable", o->enable ? o->enable : o->ack, c->clock);
  if (ack) show_bit(&showing, "ack", o->ack, c->clock);
}

// ---- States

static void show_state(WaveSelection *selection, GHashTable *known, const spinach_place *state, bool few) {
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  const struct spinach_type *type = state->field->type;
  const WavePlace place = {.at = spinach_element(state, 0), .size = (uint32_t)(state->count * type->size), .clock = -1};
  if (type->kind == SPINACH_STRING || type->kind == SPINACH_STREAM) return;
  Showing showing = {selection, known, machine->instances[state->instance].path, "", all, 0, few};
  showing.place = place_for(selection, known, &place);
  for (uint64_t i = 0; i < state->count; i++) {
    g_autofree char *name = spinach_element_name(state->field, state->first + i);
    show_value(&showing, name, type, (uint32_t)(i * type->size));
  }
}

// The elements whose indices match "[*][3]".
static bool show_elements(WaveSelection *selection, GHashTable *known, const spinach_place *whole,
                          const char *indices) {
  bool any = false;
  for (uint64_t i = 0; i < whole->count; i++) {
    g_autofree char *name = spinach_element_name(whole->field, i);
    if (!spinach_path_matches(indices, name + strlen(whole->field->name))) continue;
    const spinach_place one = {whole->instance, whole->field, i, 1};
    show_state(selection, known, &one, false);
    any = true;
  }
  return any;
}

static bool show_field(WaveSelection *selection, GHashTable *known, const Pattern *pattern, int32_t instance,
                       const spinach_field *field) {
  g_autofree char *name = g_strdup_printf("%s.%s", machine->instances[instance].path, field->name);
  const char *last = spinach_last_part(pattern->text), *indices = strchr(last, '[');
  g_autofree char *base = indices ? g_strndup(pattern->text, (gsize)(indices - pattern->text)) : NULL, *why = NULL;
  spinach_place place = {instance, field, 0, spinach_field_elements(field)};
  if (field->ring_offset || !spinach_path_matches(base ? base : pattern->text, name)) return false; // no ring
  if (indices && strchr(indices, '*')) return show_elements(selection, known, &place, indices);
  g_autofree char *exact = indices ? g_strconcat(name, indices, NULL) : NULL;
  if (exact && !spinach_look_up(exact, &place, &why)) return false;
  const bool few = !indices && strchr(last, '*');
  if (!few || place.count <= FEW) show_state(selection, known, &place, few);
  return true;
}

static void show_fields(WaveSelection *selection, GHashTable *known, int32_t instance, const GPtrArray *patterns) {
  const spinach_layout *layout = machine->instances[instance].layout;
  for (uint32_t k = 0; k < layout->field_count; k++) {
    const spinach_field *field = &layout->fields[k];
    bool shown = false;
    for (guint i = 0; i < patterns->len; i++) {
      Pattern *pattern = patterns->pdata[i];
      if (!(field->statistic ? pattern->statistics : pattern->states)) continue;
      if (shown && !strchr(spinach_last_part(pattern->text), '[')) {
        g_autofree char *name = g_strdup_printf("%s.%s", machine->instances[instance].path, field->name);
        pattern->used |= spinach_path_matches(pattern->text, name);
      } else if (show_field(selection, known, pattern, instance, field)) {
        pattern->used = shown = true;
      }
    }
  }
}

// ---- Patterns that name nothing

static GPtrArray *candidates; // of candidate_name()
static const char *candidate_name(uint32_t index) {
  return candidates->pdata[index];
}

static bool refuse(const Pattern *pattern) {
  const char *star = strchr(pattern->text, '*');
  g_autofree char *wanted = star ? g_strndup(pattern->text, (gsize)(star - pattern->text)) : g_strdup(pattern->text);
  if (g_str_has_suffix(wanted, ".")) wanted[strlen(wanted) - 1] = '\0';
  candidates = g_ptr_array_new_with_free_func(g_free);
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    g_ptr_array_add(candidates, g_strdup(machine->instances[i].path));
    for (uint32_t k = 0; !star && layout && k < layout->field_count; k++)
      g_ptr_array_add(candidates, g_strdup_printf("%s.%s", machine->instances[i].path, layout->fields[k].name));
  }
  for (uint32_t i = 0; !star && i < machine->connection_count; i++) {
    const spinach_connection *c = &machine->connections[i];
    g_ptr_array_add(candidates, g_strdup(c->from));
    g_ptr_array_add(candidates, g_strdup(c->to));
    for (uint32_t k = 0; k < c->passage_count; k++) g_ptr_array_add(candidates, g_strdup(c->passages[k].port));
  }
  const char *near = *wanted ? spinach_nearest(wanted, candidates->len, candidate_name) : NULL;
  if (near && !*near) near = NULL;
  spinach_report_error("--wave-signals: no port, state or statistic matches \"%s\"%s%s%s", pattern->text,
                       near ? "; did you mean \"" : "", near ? near : "", near ? star ? ".**\"?" : "\"?" : "");
  g_clear_pointer(&candidates, g_ptr_array_unref);
  return false;
}

bool wave_select(const char *text, WaveSelection *selection) {
  g_autoptr(GPtrArray) patterns = read_patterns(text);
  g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray **ends = find_ends();
  *selection = (WaveSelection){g_ptr_array_new(), g_ptr_array_new()};
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    for (guint k = 0; ends[i] && k < ends[i]->len; k++)
      show_end(selection, known, machine->instances[i].path, ends[i]->pdata[k], patterns);
    if (machine->instances[i].layout) show_fields(selection, known, (int32_t)i, patterns);
  }
  free_ends(ends);
  for (guint i = 0; i < patterns->len; i++)
    if (!((Pattern *)patterns->pdata[i])->used) return refuse(patterns->pdata[i]);
  return true;
}

void wave_add_words(const char *text, GPtrArray *words) {
  g_autoptr(GPtrArray) patterns = read_patterns(text);
  for (guint i = 0; i < patterns->len; i++) {
    const Pattern *pattern = patterns->pdata[i];
    bool hidden = false;
    for (uint32_t k = 0; pattern->ports && k < machine->connection_count && !hidden; k++) {
      const spinach_connection *c = &machine->connections[k];
      hidden = !is_visible(k) &&
               (spinach_connection_matches(pattern->text, c) || spinach_connection_matches(pattern->port, c));
    }
    if (!hidden || g_strv_contains(machine->waves, pattern->port)) continue;
    g_ptr_array_add(words, "--wave");
    g_ptr_array_add(words, (gpointer)g_intern_string(pattern->port));
  }
}
