// States as text for people; see print.h.
#include "lss/runtime/observe/print.h"

#include "lss/runtime/engine/request.h"
#include "lss/runtime/text/hexdump.h"
#include "lss/runtime/text/pattern.h"

static const spinach_machine *const machine = &spinach_machine_table;

enum { DUMPED = 16 }; // bytes from which on there is a hexdump

static bool find_all(const char *pattern, GArray *places) {
  const guint before = places->len;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->field_count; k++) {
      const spinach_field *field = &layout->fields[k];
      g_autofree char *name = g_strdup_printf("%s.%s", machine->instances[i].path, field->name);
      if (!spinach_path_matches(pattern, name)) continue;
      const spinach_place place = {(int32_t)i, field, 0, spinach_field_elements(field)};
      g_array_append_val(places, place);
    }
  }
  return places->len > before || spinach_report_error("no state matches \"%s\" (--list shows all)", pattern);
}

bool spinach_print_find(const char *name, GArray *places) {
  if (strchr(name, '*')) return find_all(name, places);
  spinach_place place;
  if (!spinach_find(name, &place)) return false;
  g_array_append_val(places, place);
  return true;
}

// The name of the elements that are meant: "grid", "grid[1]", "grid[1][2]", "bytes[4..7]".
char *spinach_place_name(const spinach_place *place) {
  const spinach_field *field = place->field;
  uint64_t below = spinach_field_elements(field), first = place->first;
  GString *name = g_string_new(machine->instances[place->instance].path);
  g_string_append_printf(name, ".%s", field->name);
  for (uint32_t d = 0; d < field->dimension_count && below > place->count; d++) {
    below /= field->dimensions[d];
    g_string_append_printf(name, "[%" G_GUINT64_FORMAT, first / below);
    if (place->count > below)
      g_string_append_printf(name, "..%" G_GUINT64_FORMAT, first / below + place->count / below - 1);
    g_string_append_c(name, ']');
    first %= below;
  }
  return g_string_free(name, FALSE);
}

void spinach_print_state(FILE *out, const spinach_place *place) {
  const struct spinach_type *type = place->field->type;
  g_autofree char *name = spinach_place_name(place);
  fprintf(out, "%s =", name);
  if (type->kind == SPINACH_UINT && type->size == 1 && place->count >= DUMPED) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (uint64_t k = 0; k < place->count; k++) g_byte_array_append(bytes, spinach_element(place, k), 1);
    g_autofree char *dump = spinach_hexdump(bytes->data, place->count, place->first);
    fprintf(out, "\n%s", dump);
    return;
  }
  for (uint64_t k = 0; k < place->count; k++) {
    g_autofree char *text = place->field->statistic
                                ? spinach_type_text(type, spinach_element(place, k))
                                : spinach_type_shown(type, spinach_element(place, k), place->field->name);
    fprintf(out, " %s", text);
  }
  fprintf(out, "\n");
}
