// Commands that monitor and --interactive have in common; see state_commands.h.
#include "lss/runtime/debug/state_commands.h"

#include "lss/runtime/engine/names.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/ranges.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

void where_append_time(GString *out) {
  g_string_append_printf(out, "%" G_GUINT64_FORMAT " ns", spinach_now_ns());
  for (uint32_t i = 0; i < machine->clock_count; i++)
    g_string_append_printf(out, ", cycle %" G_GUINT64_FORMAT " of %s", spinach_cycles((int32_t)i),
                           machine->clocks[i].name);
}

void where_append_cores(GString *out, const char *what, uint32_t (*pc_of)(guint core)) {
  for (guint i = 0; i < spinach_cores()->len; i++) {
    const Core *core = spinach_cores()->pdata[i];
    g_autofree char *text = spinach_describe_address(core->context, pc_of(core->number));
    g_string_append_printf(out, "%u  %s  %s%s\n", core->number, core->name, what, text);
  }
}

// What a relation of the state forbids: an identity, or the code of a module.
static char *broken_relation(int32_t instance) {
  char *text = spinach_balance_broken(instance);
  return text ? text : spinach_relations_fault();
}

// It is taken back then, unless something is wrong already.
static char *store(const spinach_place *place, const uint8_t *value) {
  const size_t size = place->field->type->size;
  void *element = spinach_element(place, 0);
  g_autofree char *before = broken_relation(place->instance);
  g_autofree uint8_t *old = g_memdup2(element, size);
  memcpy(element, value, size);
  char *broken = before ? NULL : broken_relation(place->instance);
  if (broken) memcpy(element, old, size);
  return broken;
}

char *state_set(const char *words) {
  const char *equals = strchr(words, '='), *why;
  if (!equals) return g_strdup("set PATH.STATE = VALUE");
  g_autofree char *name = g_strstrip(g_strndup(words, (gsize)(equals - words)));
  g_autofree char *text = g_strstrip(g_strdup(equals + 1));
  spinach_place place;
  char *error = NULL;
  if (!spinach_look_up(name, &place, &error)) return error;
  if (place.count != 1)
    return g_strdup_printf("%s has %" G_GUINT64_FORMAT " elements: name one of them", name, place.count);
  g_autofree uint8_t *value = g_malloc0(place.field->type->size);
  if (!spinach_type_parse(place.field->type, text, value, &why)) return g_strdup_printf("%s: %s", name, why);
  error = spinach_ranges_value_fault(&place, value);
  return error ? error : store(&place, value);
}
