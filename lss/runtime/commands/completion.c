// Names that begin with a word; see completion.h.
#include "lss/runtime/commands/completion.h"

#include "lss/runtime/engine/names.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static GPtrArray *none(void) {
  return g_ptr_array_new_with_free_func(g_free);
}

static void add_once(GPtrArray *names, const char *name, gsize length) {
  g_autofree char *one = g_strndup(name, length);
  if (!g_ptr_array_find_with_equal_func(names, one, g_str_equal, NULL)) g_ptr_array_add(names, g_steal_pointer(&one));
}

// A name up to the next dot behind the word, if it begins with that.
static void add_level(GPtrArray *names, const char *word, const char *name) {
  if (!g_str_has_prefix(name, word)) return;
  const char *dot = strchr(name + strlen(word), '.');
  add_once(names, name, dot ? (gsize)(dot + 1 - name) : strlen(name));
}

typedef enum { INSTANCES, STATES, EVENTS } Kind;

static GPtrArray *names_of(const char *word, Kind kind) {
  GPtrArray *names = none();
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    const char *path = machine->instances[i].path;
    if (kind == INSTANCES) add_level(names, word, path);
    const uint32_t count = !layout || kind == INSTANCES ? 0
                           : kind == STATES             ? layout->field_count
                                                        : layout->event_count;
    for (uint32_t k = 0; k < count; k++) {
      g_autofree char *name =
          g_strdup_printf("%s.%s", path, kind == STATES ? layout->fields[k].name : layout->events[k].name);
      add_level(names, word, name);
    }
  }
  return names;
}

GPtrArray *completion_instances(const char *word) {
  return names_of(word, INSTANCES);
}

GPtrArray *completion_states(const char *word) {
  return names_of(word, STATES);
}

enum { DEEPEST = 16 };

// What a value is like where its text ends: `due` is the type of what comes next; NULL: the name of a member of
// `within`.
typedef struct {
  const struct spinach_type *due, *within[DEEPEST];
  guint depth;
} Position;

static bool has_members(const struct spinach_type *type) {
  return type && (type->kind == SPINACH_STRUCT || type->kind == SPINACH_PACKED);
}

static const struct spinach_type *member_type(const struct spinach_type *type, const char *name, gsize length) {
  for (uint32_t i = 0; i < type->member_count; i++)
    if (strlen(type->members[i].name) == length && !strncmp(type->members[i].name, name, length))
      return type->members[i].type;
  return NULL;
}

static Position position_behind(const struct spinach_type *type, const char *text) {
  Position at = {.due = type};
  for (; *text; text++) {
    const gsize length = strspn(text, G_CSET_a_2_z G_CSET_A_2_Z "0123456789_");
    if (*text == '{' && has_members(at.due) && at.depth < DEEPEST) {
      at.within[at.depth++] = at.due;
      at.due = NULL;
    } else if (*text == '}' && at.depth) {
      at.depth--;
    } else if (length) {
      at.due = text[length] == '=' && at.depth ? member_type(at.within[at.depth - 1], text, length) : NULL;
      text += length - 1;
    }
  }
  return at;
}

GPtrArray *completion_values(const char *state, const char *before) {
  static const char *const truths[] = {"false", "true"};
  GPtrArray *names = none();
  g_autofree char *error = NULL;
  spinach_place place;
  if (!spinach_look_up(state, &place, &error)) return names;
  const Position at = position_behind(place.field->type, before);
  const struct spinach_type *due = at.due, *within = at.depth ? at.within[at.depth - 1] : NULL;
  if (has_members(due)) add_once(names, "{", 1);
  for (guint i = 0; due && due->kind == SPINACH_BOOL && i < G_N_ELEMENTS(truths); i++)
    add_once(names, truths[i], strlen(truths[i]));
  for (uint32_t i = 0; due && due->kind == SPINACH_ENUM && i < due->member_count; i++)
    add_once(names, due->members[i].name, strlen(due->members[i].name));
  for (uint32_t i = 0; !due && within && i < within->member_count; i++) {
    g_autofree char *name = g_strconcat(within->members[i].name, "=", NULL);
    add_once(names, name, strlen(name));
  }
  return names;
}

GPtrArray *completion_conditions(const char *before, const char *word) {
  if (g_str_has_suffix(before, "event(")) return names_of(word, EVENTS);
  if (!*before) {
    static const char *const forms[] = {"cycles(", "event(", "marker("};
    GPtrArray *names = completion_states(word);
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) add_once(names, forms[i], strlen(forms[i]));
    return names;
  }
  GPtrArray *names = none();
  for (uint32_t i = 0; g_str_has_suffix(before, "cycles(") && i < machine->clock_count; i++)
    add_once(names, machine->clocks[i].name, strlen(machine->clocks[i].name));
  return names;
}
