// Packed words: unsigned integers of which some bits have names, as control words and registers have fields.
#include "lss/base/arena.h"
#include "lss/elab/bounds.h"
#include "lss/elab/elaborate.h"

#include <string.h>

enum { MOST_ENUM_BITS = 32 };

// How many bits hold any of the values of an enum.
static int enum_bits(const Type *type) {
  int64_t most = 1;
  for (guint i = 0; i < type->enumerators->len; i++)
    most = MAX(most, ((Enumerator *)type->enumerators->pdata[i])->value);
  return (int)g_bit_storage((gulong)most);
}

static bool is_negative(const Type *type) {
  for (guint i = 0; i < type->enumerators->len; i++)
    if (((Enumerator *)type->enumerators->pdata[i])->value < 0) return true;
  return false;
}

// How many bits a member needs; 0, with an error, for what none can be.
static int bits_of(const Type *type, const Node *member) {
  switch (type->kind) {
  case TYPE_BOOL: return 1;
  case TYPE_UINT:
  case TYPE_BITS:
    if (type->bits <= 64) return type->bits;
    break;
  case TYPE_ENUM:
    if (!is_negative(type)) return enum_bits(type);
    problem(member->type->location, "packed-member", "`%s` has negative values, which a packed word cannot hold",
            type->name);
    return 0;
  default: break;
  }
  problem(member->type->location, "packed-member",
          "a member of a packed word is a bool, an unsigned integer of at most 64 bits or an enum, not `%s`",
          type->name);
  return 0;
}

// Finds out which bits a member is, among those of `base`.
static bool place_member(Scope *scope, const Node *member, const Type *base, Field *field) {
  Expr *first = member->range->right, *last = member->range->third;
  const int needed = bits_of(field->type, member);
  int64_t from, to;
  if (!needed || !evaluate_int(scope, first, "the first bit of a member", 0, base->bits - 1, &from)) return false;
  to = from + needed - 1;
  if (last && !evaluate_int(scope, last, "the last bit of a member", 0, base->bits - 1, &to)) return false;
  if (to < from) {
    problem(member->range->location, "packed-member", "bits are written from the lowest to the highest: %d..%d",
            (int)to, (int)from);
    return false;
  }
  field->first = (int)from;
  field->bits = (int)(to - from + 1);
  if (to >= base->bits) {
    problem(member->place, "packed-member", "the member `%s` ends at bit %d, and %s has %d bits", member->name, (int)to,
            base->name, base->bits);
    return false;
  }
  const int most = field->type->kind == TYPE_ENUM ? MOST_ENUM_BITS : needed;
  if (field->bits >= needed && field->bits <= most) return true;
  problem(member->range->location, "packed-member", "`%s` has %d bit%s here, and %s %s %d", member->name, field->bits,
          field->bits == 1 ? "" : "s", field->type->name, field->bits < needed ? "needs" : "has at most",
          field->bits < needed ? needed : most);
  return false;
}

static bool overlaps(const GPtrArray *members, const Node *node, const Field *field) {
  for (guint i = 0; i < members->len; i++) {
    const Field *other = members->pdata[i];
    if (field->first >= other->first + other->bits || other->first >= field->first + field->bits) continue;
    problem(node->place, "packed-member", "the members `%s` and `%s` share bit %d", other->name, field->name,
            MAX(field->first, other->first));
    return true;
  }
  return false;
}

// What C calls the functions that read and set a member, and the macro of its bits (lss/emit/types.c).
static void take_c_names(const Node *member, const char *c_name, Type *type) {
  static const char *const accessors[] = {"", "set_", "of_"};
  for (guint i = 0; i < G_N_ELEMENTS(accessors); i++) {
    const char *name = arena_printf("%s_%s%s", c_name, accessors[i], member->name);
    if (g_hash_table_contains(compile->c_names, name))
      problem(member->place, "duplicate-name", "`%s` would be called `%s` in C, as something else is already",
              member->name, name);
    g_hash_table_insert(compile->c_names, (gpointer)name, type);
  }
}

Type *packed_of(Scope *scope, Node *node, const char *name, const char *c_name) {
  Type *base = evaluate_type(scope, node->type);
  GPtrArray *members = arena_array();
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  if (!base) return NULL;
  if ((base->kind != TYPE_UINT && base->kind != TYPE_BITS) || base->bits > 64) {
    problem(node->type->location, "packed-member", "a packed word is an unsigned integer of at most 64 bits, not `%s`",
            base->name);
    return NULL;
  }
  for (guint i = 0; i < node->body->len; i++) {
    Node *member = node->body->pdata[i];
    Field *field = arena_new(Field);
    *field = (Field){.name = member->name, .type = evaluate_type(scope, member->type), .doc = member->doc};
    if (!check_field_name(seen, member) || !field->type || !place_member(scope, member, base, field) ||
        overlaps(members, member, field) || !bounds_of_member(scope, member, field))
      return NULL;
    g_ptr_array_add(members, field);
  }
  Type *type = type_packed(name, c_name, base, members);
  for (guint i = 0; i < node->body->len; i++) take_c_names(node->body->pdata[i], type->c_name, type);
  return type;
}

uint64_t packed_place(const Field *member, uint64_t value) {
  const uint64_t mask = G_MAXUINT64 >> (64 - member->bits);
  return (value & mask) << member->first;
}
