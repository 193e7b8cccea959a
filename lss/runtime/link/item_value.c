// Items of links as values; see item_value.h.
#include "lss/runtime/link/item_value.h"

#include <glib.h>
#include <string.h>

void item_value_copy(const struct spinach_type *type, const void *from, void *to) {
  switch (type->kind) {
  case SPINACH_ARRAY:
    for (uint32_t i = 0; i < type->length; i++) {
      const size_t offset = i * type->element->size;
      item_value_copy(type->element, (const char *)from + offset, (char *)to + offset);
    }
    return;
  case SPINACH_STRUCT:
    for (uint32_t i = 0; i < type->member_count; i++) {
      const size_t offset = type->members[i].offset;
      item_value_copy(type->members[i].type, (const char *)from + offset, (char *)to + offset);
    }
    return;
  default: memcpy(to, from, type->size);
  }
}

char *item_value_shape(const struct spinach_type *type) {
  GString *text = g_string_new(type->name);
  for (uint32_t i = 0; type->kind == SPINACH_STRUCT && i < type->member_count; i++)
    g_string_append_printf(text, "%s%s@%zu:%zu", i ? " " : "{", type->members[i].name, type->members[i].offset,
                           type->members[i].type->size);
  if (type->kind == SPINACH_STRUCT) g_string_append_c(text, '}');
  return g_string_free(text, FALSE);
}
