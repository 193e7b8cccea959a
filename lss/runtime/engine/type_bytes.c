// Values as bytes; see type_bytes.h.
#include "lss/runtime/engine/type_bytes.h"

#include "lss/runtime/files/stream.h"

bool spinach_type_is_dense(const struct spinach_type *type) {
  size_t size = 0;
  switch (type->kind) {
  case SPINACH_STREAM:
  case SPINACH_STRING: return false;
  case SPINACH_ARRAY: return spinach_type_is_dense(type->element);
  case SPINACH_STRUCT:
    for (uint32_t i = 0; i < type->member_count; i++) {
      if (!spinach_type_is_dense(type->members[i].type)) return false;
      size += type->members[i].type->size;
    }
    return size == type->size;
  default: return true;
  }
}

void spinach_type_append_bytes(const struct spinach_type *type, const void *value, GByteArray *bytes) {
  const stream *s = value;
  switch (type->kind) {
  case SPINACH_STRING: return; // a pointer of this process
  case SPINACH_STREAM:
    g_byte_array_append(bytes, (const guint8 *)&s->position, sizeof s->position);
    g_byte_array_append(bytes, (const guint8 *)&s->records, sizeof s->records);
    return;
  case SPINACH_ARRAY:
    for (uint32_t i = 0; i < type->length; i++)
      spinach_type_append_bytes(type->element, (const char *)value + i * type->element->size, bytes);
    return;
  case SPINACH_STRUCT:
    for (uint32_t i = 0; i < type->member_count; i++)
      spinach_type_append_bytes(type->members[i].type, (const char *)value + type->members[i].offset, bytes);
    return;
  default: g_byte_array_append(bytes, value, (guint)type->size);
  }
}

bool spinach_type_equal(const struct spinach_type *type, const void *a, const void *b) {
  if (spinach_type_is_dense(type)) return memcmp(a, b, type->size) == 0;
  g_autoptr(GByteArray) first = g_byte_array_new(), second = g_byte_array_new();
  spinach_type_append_bytes(type, a, first);
  spinach_type_append_bytes(type, b, second);
  return first->len == second->len && memcmp(first->data, second->data, first->len) == 0;
}
