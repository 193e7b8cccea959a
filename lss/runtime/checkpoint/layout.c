// The layout of the state; see layout.h.
#include "lss/runtime/checkpoint/layout.h"

#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/text/type.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

#define END "end : " // a line of an instance that is one end of a crossing

uint64_t layout_offset(uint32_t instance) {
  return (uint64_t)((const uint8_t *)spinach_instance_state((int32_t)instance) - spinach_arena);
}

int32_t layout_instance(const char *path) {
  for (uint32_t i = 0; i < machine->instance_count; i++)
    if (machine->instances[i].layout && !strcmp(machine->instances[i].path, path)) return (int32_t)i;
  return -1;
}

// A field's line up to its place.
static void append_words(GString *text, const spinach_field *field) {
  g_string_append_printf(text, "%s", field->name);
  for (uint32_t d = 0; d < field->dimension_count; d++) g_string_append_printf(text, "[%u]", field->dimensions[d]);
  g_string_append_printf(text, " : %s @", field->type->name);
}

static void append_field(GString *text, const spinach_field *field) {
  append_words(text, field);
  g_string_append_printf(text, "%" G_GUINT64_FORMAT "\n", field->offset);
}

bool layout_find_field(const char *text, const spinach_field *field, guint64 *offset) {
  g_autoptr(GString) words = g_string_new("\n");
  append_words(words, field);
  const char *line = strstr(text, words->str); // the first line of a text is the module
  if (line) *offset = g_ascii_strtoull(line + words->len, NULL, 10);
  return line;
}

// A line for each part of a type, once: what numbers mean may change where their places do not.
static void append_type(GString *text, GHashTable *seen, const struct spinach_type *type) {
  if (!g_hash_table_add(seen, (gpointer)type)) return;
  if (type->element) append_type(text, seen, type->element);
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    g_string_append_printf(text, "%s.%s", type->name, member->name);
    if (!member->type)
      g_string_append_printf(text, " = %" G_GINT64_FORMAT "\n", member->value);
    else if (!member->bits)
      g_string_append_printf(text, " : %s @%zu\n", member->type->name, member->offset);
    else
      g_string_append_printf(text, " : %s, %u bits from %zu\n", member->type->name, member->bits, member->offset);
  }
  for (uint32_t i = 0; i < type->member_count; i++)
    if (type->members[i].type) append_type(text, seen, type->members[i].type);
}

// A line for each runtime parameter that an instance holds; of all instances at once, since a parameter knows its
// holders and they do not know it.
static const GString *parameters_of(uint32_t instance) {
  static GString **texts;
  if (!texts) {
    texts = g_new0(GString *, machine->instance_count);
    for (uint32_t i = 0; i < machine->parameter_count; i++)
      for (uint32_t k = 0; k < machine->parameters[i].target_count; k++) {
        const spinach_target *target = &machine->parameters[i].targets[k];
        GString **text = &texts[target->instance];
        if (!*text) *text = g_string_new(NULL);
        g_string_append_printf(*text, "parameter : %s @%" G_GUINT64_FORMAT "\n", machine->parameters[i].type,
                               target->offset);
      }
  }
  return texts[instance];
}

uint64_t layout_bytes(uint32_t instance) {
  return machine->instances[instance].layout->id_offset + sizeof(uint32_t);
}

char *layout_of_instance(uint32_t instance) {
  const char *end = spinach_side_of(instance);
  const spinach_layout *layout = machine->instances[instance].layout;
  const GString *parameters = parameters_of(instance);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "module : %s\nclock : %s\n", layout->module,
                         machine->clocks[machine->instances[instance].clock].name);
  if (end) g_string_append_printf(text, "%s%s\n", END, end);
  g_autoptr(GHashTable) types = g_hash_table_new(NULL, NULL);
  for (uint32_t i = 0; i < layout->field_count; i++) append_field(text, &layout->fields[i]);
  for (uint32_t i = 0; i < layout->field_count; i++) append_type(text, types, layout->fields[i].type);
  if (parameters) g_string_append(text, parameters->str);
  g_string_append_printf(text, "bytes : %" G_GUINT64_FORMAT "\n", layout_bytes(instance));
  return g_string_free(text, FALSE);
}

static char *difference(const char *here, const char *there) {
  g_auto(GStrv) own = g_strsplit(here, "\n", -1), other = g_strsplit(there, "\n", -1);
  guint i = 0;
  while (own[i] && other[i] && !strcmp(own[i], other[i])) i++;
  return g_strdup_printf("\"%s\" here, \"%s\" there", own[i] && *own[i] ? own[i] : "nothing",
                         other[i] && *other[i] ? other[i] : "nothing");
}

// ---- Ends of crossings and whole ones

static bool is_end(const char *text) {
  return text && strstr(text, "\n" END);
}

// A line without the place in the state, which ends and whole crossings do not share; NULL: they need not share it.
static char *line_words(const char *line) {
  static const char *const own[] = {"clock : ", END, "bytes : "};
  for (gsize i = 0; i < G_N_ELEMENTS(own); i++)
    if (g_str_has_prefix(line, own[i])) return NULL;
  const char *at = strstr(line, " @");
  return g_strndup(line, at ? (gsize)(at - line) : strlen(line));
}

static void add_lines(GHashTable *lines, const char *text) {
  g_auto(GStrv) all = g_strsplit(text ? text : "", "\n", -1);
  for (char **line = all; *line; line++) {
    char *words = line_words(*line);
    if (words) g_hash_table_add(lines, words);
  }
}

// The first line of a text that is not among those of others.
static char *first_missing(const char *text, const char *one, const char *other) {
  g_autoptr(GHashTable) lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_auto(GStrv) all = g_strsplit(text, "\n", -1);
  add_lines(lines, one);
  add_lines(lines, other);
  for (char **line = all; *line; line++) {
    g_autofree char *words = line_words(*line);
    if (words && !g_hash_table_contains(lines, words)) return g_steal_pointer(&words);
  }
  return NULL;
}

char *layout_misfit(const char *here, const char *there, const char *other) {
  if (!strcmp(here, there)) return NULL;
  const bool gathers = !is_end(here) && is_end(there) && is_end(other), parts = is_end(here) && !is_end(there);
  if (!gathers && !parts) return difference(here, there);
  g_autofree char *missing = first_missing(here, there, other);
  if (missing) return g_strdup_printf("\"%s\" here, nothing there", missing);
  if (parts) return NULL; // the whole crossing has what the other end has, too
  for (int i = 0; i < 2; i++) {
    g_autofree char *more = first_missing(i ? other : there, here, NULL);
    if (more) return g_strdup_printf("nothing here, \"%s\" there", more);
  }
  return NULL;
}

// ---- All of it

char *layout_hash(void) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (uint32_t i = 0; i < machine->clock_count; i++)
    g_string_append_printf(text, "%s %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "\n", machine->clocks[i].name,
                           machine->clocks[i].num, machine->clocks[i].den);
  for (uint32_t i = 0; i < machine->cluster_count; i++)
    g_string_append_printf(text, "%" G_GUINT64_FORMAT "\n", machine->clusters[i].size);
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    if (!machine->instances[i].layout) continue;
    g_autofree char *fields = layout_of_instance(i);
    g_string_append_printf(text, "%s @%" G_GUINT64_FORMAT "\n%s", machine->instances[i].path, layout_offset(i), fields);
  }
  for (const char *const *watch = machine->watches; watch && *watch; watch++)
    g_string_append_printf(text, "%s\n", *watch);
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
}
