// Types from a file, checked so that printing a value of them touches nothing but its bytes; see trace_types.h.
#include "lss/runtime/trace/trace_types.h"

#include "lss/runtime/trace/format.h"

struct TraceTypes {
  guint count;
  struct spinach_type *types;
  GPtrArray *members; // struct spinach_member[] of each
};

enum { WIDEST = 1 << 16 }; // bits

static bool is_power(gsize size) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

// Members lie one behind another, so that a value has no more text than its bytes allow.
static bool is_sound_struct(const struct spinach_type *type) {
  gsize end = 0;
  for (guint i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    if (!member->type || !member->type->size || member->offset < end || member->offset > type->size ||
        member->type->size > type->size - member->offset)
      return false;
    end = member->offset + member->type->size;
  }
  return true;
}

// Members are numbers that share no bit.
static bool is_sound_packed(const struct spinach_type *type) {
  uint64_t taken = 0;
  for (guint i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    const uint32_t most = 64;
    if (!member->bits || member->bits > most || member->offset > most - member->bits) return false;
    const spinach_kind kind = member->type ? member->type->kind : SPINACH_STREAM;
    const bool number = kind == SPINACH_BOOL || kind == SPINACH_UINT || kind == SPINACH_BITS || kind == SPINACH_ENUM;
    const uint64_t bits = UINT64_MAX >> (most - member->bits) << member->offset;
    if (!number || !is_power(member->type->size) || taken & bits) return false;
    taken |= bits;
  }
  return is_power(type->size);
}

// Whether a value lies within the bytes that it is said to have.
static bool is_sound(const struct spinach_type *type) {
  switch (type->kind) {
  case SPINACH_BOOL: return type->size == 1;
  case SPINACH_INT:
  case SPINACH_UINT:
  case SPINACH_ENUM: return is_power(type->size);
  case SPINACH_BITS:
    if (type->bits <= 64) return is_power(type->size);
    return type->bits <= WIDEST && type->size == (type->bits + 63) / 64 * 8;
  case SPINACH_PACKED: return is_sound_packed(type);
  case SPINACH_FLOAT: return type->size == 4 || type->size == 8;
  case SPINACH_ARRAY:
    return type->element && type->element->size && type->length <= TRACE_BLOCK &&
           type->size / MAX(type->length, 1) >= type->element->size;
  case SPINACH_STRUCT: return is_sound_struct(type);
  default: return false; // pointers of another process
  }
}

static bool read_type(TraceTypes *types, guint number, GVariant *given) {
  struct spinach_type *type = &types->types[number];
  guchar kind;
  gint32 element;
  guint64 size;
  g_autoptr(GVariant) members = NULL;
  g_variant_get(given, "(y&sutiu@a(sutxu))", &kind, &type->name, &type->bits, &size, &element, &type->length, &members);
  type->kind = (spinach_kind)kind;
  const bool contains = kind == SPINACH_STRUCT || kind == SPINACH_PACKED;
  type->size = size;
  if (size > TRACE_BLOCK || element >= (gint64)number) return false;
  if (element >= 0) type->element = &types->types[element];
  type->member_count = (uint32_t)g_variant_n_children(members);
  struct spinach_member *all = g_new0(struct spinach_member, type->member_count + 1);
  g_ptr_array_add(types->members, all);
  type->members = all;
  for (guint i = 0; i < type->member_count; i++) {
    guint32 inner;
    guint64 offset;
    g_variant_get_child(members, i, "(&sutxu)", &all[i].name, &inner, &offset, &all[i].value, &all[i].bits);
    if (contains && inner >= number) return false;
    if (contains) all[i].type = &types->types[inner];
    all[i].offset = offset;
  }
  return is_sound(type);
}

TraceTypes *trace_types_new(GVariant *given) {
  TraceTypes *types = g_new0(TraceTypes, 1);
  types->count = (guint)g_variant_n_children(given);
  types->types = g_new0(struct spinach_type, types->count + 1);
  types->members = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < types->count; i++) {
    g_autoptr(GVariant) one = g_variant_get_child_value(given, i);
    if (read_type(types, i, one)) continue;
    trace_types_free(types);
    return NULL;
  }
  return types;
}

const struct spinach_type *trace_types_get(const TraceTypes *types, guint number) {
  return number < types->count ? &types->types[number] : NULL;
}

void trace_types_free(TraceTypes *types) {
  if (!types) return;
  g_ptr_array_unref(types->members);
  g_free(types->types);
  g_free(types);
}
